import numpy as np
from sklearn.svm import SVC

from eyelid.attacks.attackers.svm import Svm


def test_votes_are_the_predictions_of_scikit_learn(make_records):
    known, shown = make_records(apart=1.0, seed=1), make_records(apart=1.0, seed=2)
    centre, scale = known.values.mean(axis=0), known.values.std(axis=0)
    theirs = SVC(C=1.0, gamma="scale", break_ties=True).fit((known.values - centre) / scale,
                                                            known.person)  # fmt: skip
    predicted = theirs.predict((shown.values - centre) / scale)
    votes = np.stack([
        np.bincount(predicted[shown.record == record], minlength=6) / 20 for record in range(12)
    ])  # fmt: skip
    assert np.allclose(Svm().learn(known, 0)(shown).votes, votes)

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from eyelid.attacks.attackers.lda import Discriminant


@pytest.mark.parametrize("shrinkage", [0.0, 0.1, 0.7])
def test_posteriors_are_those_of_scikit_learn(shrinkage):
    """Equal class sizes and spherical data: there both shrink towards the same matrix."""
    rng = np.random.default_rng(0)
    classes = np.repeat(np.arange(4), 50)
    values = rng.normal(size=(200, 3)) + rng.normal(size=(4, 3))[classes]
    # scikit-learn shrinks towards the spread of each class, we towards the common one; made equal.
    for k in range(4):
        centred = values[classes == k] - values[classes == k].mean(axis=0)
        whitened = centred @ np.linalg.inv(np.linalg.cholesky(np.cov(centred.T, bias=True))).T
        values[classes == k] += whitened - centred
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(values, classes)
    ours = Discriminant(shrinkage).fit(values, classes)
    assert np.allclose(ours.predict_proba(values), theirs.predict_proba(values), atol=1e-9)


def test_unequal_classes_weigh_by_their_size():
    """With one centre for both classes only their frequencies are left."""
    values = np.array([[-1.0], [1.0], [-1.0], [1.0], [-1.0], [1.0]])
    posterior = Discriminant(0.1).fit(values, np.array([0, 0, 1, 1, 1, 1])).predict_proba(values)
    assert np.allclose(posterior, [1 / 3, 2 / 3])

import numpy as np

from eyelid.attacks.attackers.knn import Knn


def test_votes_are_those_of_a_plain_search(make_records):
    known, shown = make_records(apart=0.7, seed=1), make_records(apart=0.7, seed=2)
    scores = Knn().learn(known, 0)(shown)
    centre, scale = known.values.mean(axis=0), known.values.std(axis=0)
    train, test = (known.values - centre) / scale, (shown.values - centre) / scale
    for record in range(len(shown.owner)):
        votes, shares = np.zeros(6), np.zeros(6)
        rows = test[shown.record == record]
        for row in rows:
            near = np.argsort(((train - row) ** 2).sum(axis=1))[:11]
            counts = np.bincount(known.person[near], minlength=6)
            shares += counts / 11
            winners = counts == counts.max()
            votes += winners / winners.sum()
        assert np.allclose(scores.averaged[record], shares / len(rows))
        assert np.allclose(scores.votes[record], votes / len(rows))


def test_equal_distances_are_settled_by_lot(make_records):
    """Three rows of each of two people at one place: with one neighbour either may be chosen."""
    known = make_records(2, 1, 3, apart=0.0)
    known.values[:] = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    known.values[[0, 3]] += 1.0
    chosen = [Knn(neighbours=1).learn(known, seed)(known).averaged.argmax(axis=1)[0] for seed in
              range(20)]  # fmt: skip
    assert set(chosen) == {0, 1}

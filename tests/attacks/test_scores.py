import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata
from sklearn.metrics import roc_curve

from eyelid.attacks.scores import Scores, cmc, equal_error_rate, fused, named, ranks, relative
from eyelid.errors import InputError

tables = arrays(np.float64, (5, 4), elements=st.integers(-3, 3).map(float))
owners = arrays(np.intp, 5, elements=st.integers(0, 3))


@given(tables, owners)
def test_ranks_are_those_of_scipy(scores, owner):
    expected = [rankdata(-row)[who] for row, who in zip(scores, owner, strict=True)]
    assert ranks(scores, owner).tolist() == expected


@given(tables, owners)
def test_ties_are_drawn_by_lot(scores, owner):
    for row, who, share in zip(scores, owner, named(scores, owner), strict=True):
        winners = [person for person in range(4) if row[person] == max(row)]
        assert share == (1 / len(winners) if who in winners else 0.0)


@given(tables, owners)
def test_the_match_curve_rises_to_one(scores, owner):
    curve = cmc(scores, owner)
    assert np.all(np.diff(curve) >= 0)
    assert curve[-1] == 1.0


def test_equal_error_rate_agrees_with_the_roc_of_scikit_learn():
    rng = np.random.default_rng(0)
    owner = np.arange(60) % 20
    scores = rng.normal(size=(60, 20))
    scores[np.arange(60), owner] += 1.5
    mine = np.eye(20, dtype=bool)[owner]
    false, true, _ = roc_curve(mine.ravel(), relative(scores).ravel(), drop_intermediate=False)
    nearest = np.argmin(np.abs(false - (1 - true)))
    theirs = (false[nearest] + 1 - true[nearest]) / 2
    assert equal_error_rate(scores, owner) == pytest.approx(theirs, abs=0.01)
    assert 0.1 < theirs < 0.35


@given(tables, owners)
def test_the_equal_error_rate_is_a_rate_whatever_the_scores(scores, owner):
    assert 0.0 <= equal_error_rate(scores, owner) <= 1.0


@given(tables, st.floats(0.1, 1e6), st.floats(-1e6, 1e6))
def test_relative_scores_have_no_unit(scores, unit, zero):
    assert np.allclose(relative(scores), relative(scores * unit + zero), atol=1e-6)


def of(averaged, votes=None, owner=(0, 1)):
    return Scores(np.array(averaged), None if votes is None else np.array(votes), np.array(owner))


def test_fused_scores_count_by_their_weights_whatever_their_units():
    one = of([[2.0, 0.0, 1.0], [0.0, 1.0, 0.5]])
    other = of([[0.0, 3.0, 1.5], [9.0, 2.0, 1.0]])
    both = fused(one, other)
    assert np.allclose(both.averaged, 0.4 * relative(one.averaged) + 0.6 * relative(other.averaged))
    louder = of(1000 * other.averaged - 7)
    assert np.allclose(fused(one, louder).averaged, both.averaged)
    # The heavier one decides where they disagree.
    assert both.averaged.argmax(axis=1).tolist() == [1, 0]
    assert both.votes is None


def test_fused_votes_are_shares():
    votes = [[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]]
    both = fused(*[of(np.zeros((2, 2)), v) for v in votes])
    assert np.allclose(both.votes, [[0.4, 0.6], [0.8, 0.2]])


def test_scores_of_other_records_cannot_be_fused():
    with pytest.raises(InputError, match="from the same recordings"):
        fused(of(np.zeros((2, 2))), of(np.zeros((3, 2)), owner=(0, 1, 1)))
    with pytest.raises(InputError, match="from the same recordings"):
        fused(of(np.zeros((2, 2))), of(np.zeros((2, 2)), owner=(1, 0)))


def test_a_fully_tied_attacker_is_right_as_often_as_a_guess_at_every_rank():
    assert cmc(np.zeros((3, 4)), np.array([0, 1, 3])).tolist() == [0.25, 0.5, 0.75, 1.0]

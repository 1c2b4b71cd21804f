"""What a person adds to sums, and how far a replaced person moves rank sums: by brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from eyelid.mechanisms.statistics import ranks
from eyelid.mechanisms.statistics.quantities import DELTA, SUMS, clipped_anywhere, in_steps

# Ties, gaps, both ends and what lies outside: everything that a replaced person can be.
NUMBERS = (0.0, 0.4, 0.5, 1.0, 3.0, np.nan)
numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(NUMBERS))


@pytest.mark.parametrize("name", SUMS)
@given(place=numbers)
def test_a_person_adds_between_nothing_and_delta_whatever_they_are_like(name, place):
    step = SUMS[name](np.array([place])).item()
    assert isinstance(step, int)
    assert 0 <= step <= DELTA


def test_what_a_person_adds_is_their_number():
    places = np.array([0.0, 0.25, 0.5, 1.0, -7.0, np.inf, np.nan])
    shares = {name: (each(places) / DELTA).tolist() for name, each in SUMS.items()}
    assert shares == {
        "mean": [0.0, 0.25, 0.5, 1.0, 0.0, 1.0, 0.5],
        "sd": [1.0, 0.25, 0.0, 1.0, 1.0, 1.0, 0.0],
        "higher": [0.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.5],
        "clipped": [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0],
    }
    people = np.array([[0.5, np.nan], [0.5, 2.0], [-1.0, 2.0]])
    assert (clipped_anywhere(people) / DELTA).tolist() == [0.0, 1.0, 1.0]


def everything(people):
    """All studies of so many people, one number each."""
    return np.array(list(product(NUMBERS, repeat=people)))


def largest_move(studies, statistic, which):
    """The farthest that replacing one person moves a statistic, over all studies."""
    values = statistic(studies).reshape([len(NUMBERS)] * studies.shape[-1])
    return int((values.max(axis=which) - values.min(axis=which)).max())


@pytest.mark.parametrize("people", [2, 3, 4, 5])
def test_signed_ranks_move_by_no_more_than_is_declared_and_by_all_of_it(people):
    moved = largest_move(everything(people), ranks.signed_ranks, 0)
    assert moved == ranks.signed_rank_sensitivity(people) == 2 * people


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 2), (1, 4)])
def test_dominance_moves_by_no_more_than_is_declared_and_by_all_of_it(first, second):
    studies = everything(first + second)

    def dominance(places):
        return ranks.dominance(places[:, :first], places[:, first:])

    moved = [largest_move(studies, dominance, which) for which in (0, first)]
    assert moved == [2 * second, 2 * first]
    assert max(moved) == ranks.dominance_sensitivity(first, second)


@pytest.mark.parametrize("people", [2, 3])
def test_concordance_moves_by_no_more_than_is_declared_and_by_all_of_it(people):
    pairs = everything(2 * people).reshape(-1, people, 2)
    values = ranks.concordance(pairs[..., 0], pairs[..., 1])
    table = values.reshape([len(NUMBERS) ** 2, -1])
    moved = int((table.max(axis=0) - table.min(axis=0)).max())
    assert moved == ranks.concordance_sensitivity(people) == 2 * (people - 1)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=30))
def test_signed_ranks_are_those_of_scipy(places):
    places = np.round(np.array(places), 1)
    differences = np.round(places - 0.5, 1)
    if not differences.any():
        assert ranks.signed_ranks(places) == 0
        return
    size = stats.rankdata(np.abs(differences))
    assert ranks.signed_ranks(places) == round(float((np.sign(differences) * size).sum()))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=25))
def test_concordance_is_the_numerator_of_scipy_s_tau(people):
    x, y = np.array(people, dtype=float).T / 5
    tau = stats.kendalltau(x, y, variant="b").statistic
    found = int(ranks.concordance(x, y))
    pairs = [
        len(x) * (len(x) - 1) / 2
        - sum(n * (n - 1) / 2 for n in np.unique(v, return_counts=True)[1])
        for v in (x, y)
    ]
    if min(pairs) == 0:
        assert found == 0
    else:
        assert found == pytest.approx(tau * np.sqrt(pairs[0] * pairs[1]))


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
    st.lists(st.integers(0, 5), min_size=1, max_size=12),
)
def test_dominance_is_that_of_scipy_s_mann_whitney(first, second):
    first, second = (np.array(group, dtype=float) / 5 for group in (first, second))
    u = stats.mannwhitneyu(first, second, method="asymptotic").statistic
    assert int(ranks.dominance(first, second)) == round(2 * u - first.size * second.size)


def test_many_people_are_compared_in_blocks_with_the_same_result(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 3, 50))
    whole = ranks.concordance(x, y), ranks.dominance(x, y[:, :20])
    monkeypatch.setattr(ranks, "_AT_ONCE", 700)
    parted = ranks.concordance(x, y), ranks.dominance(x, y[:, :20])
    assert all(map(np.array_equal, whole, parted))


@given(st.integers(-(10**9), 10**9), st.integers(0, 10**6), st.integers(1, 10**6))
def test_what_differs_by_the_sensitivity_differs_by_delta_in_steps(total, apart, sensitivity):
    one = in_steps(np.array([total]), sensitivity).item()
    other = in_steps(np.array([total + min(apart, sensitivity)]), sensitivity).item()
    assert 0 <= other - one <= DELTA
    assert one == total * DELTA // sensitivity

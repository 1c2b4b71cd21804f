import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, ttest_1samp

from eyelid.attacks.statistics import (
    Estimate,
    above,
    above_together,
    clopper_pearson,
    holm,
    mean_of_people,
    rate_of_shares,
)


def test_one_of_twenty_is_anything_from_a_thousandth_to_a_quarter():
    low, high = clopper_pearson(1, 20)
    assert float(low) == pytest.approx(0.001, abs=5e-4)
    assert float(high) == pytest.approx(0.249, abs=5e-4)


@pytest.mark.parametrize(("k", "n"), [(0, 20), (20, 20), (3, 50), (500, 1000)])
def test_limits_agree_with_scipy(k, n):
    low, high = clopper_pearson(k, n, alpha=0.01)
    oracle = binomtest(k, n).proportion_ci(0.99, method="exact")
    assert (float(low), float(high)) == pytest.approx((oracle.low, oracle.high))


def test_limits_are_vectorised():
    low, high = clopper_pearson(np.array([0, 5]), 10)
    assert low.shape == high.shape == (2,)


def refuted(draw, bound, tries, alpha=0.05):
    """How often a true rate at the bound is called higher."""
    return np.mean([above(draw(), bound) < alpha for _ in range(tries)])


@pytest.mark.parametrize("people", [5, 20])
@pytest.mark.parametrize("bound", [0.05, 0.125, 0.5])
def test_a_rate_at_its_bound_is_rarely_called_higher(people, bound):
    """Size at most 5%; 2000 tries, so 7% would be four standard errors above it."""
    rng = np.random.default_rng(1)
    assert refuted(lambda: rng.binomial(1, bound, people).astype(float), bound, 2000) <= 0.07


@pytest.mark.parametrize("decisions", [2, 3])
def test_neither_are_shares_of_several_decisions(decisions):
    """People differ, and what is decided about one of them may well be always the same."""
    rng = np.random.default_rng(2)
    chances = np.linspace(0.0, 0.25, 20)

    def alike():
        return rng.binomial(1, chances / 0.75) * rng.choice([1.0, 0.5], 20)

    def independent():
        return rng.binomial(decisions, chances) / decisions

    assert refuted(independent, 0.125, 2000) <= 0.07
    assert refuted(alike, 0.125, 2000) <= 0.07


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.integers(0, 11),
    st.floats(0.0, 1.0),
    st.floats(0.001, 0.999),
)
def test_more_right_decisions_are_never_less_surprising(shares, place, better, bound):
    """As long as shares stay fractional: the two theorems are of different strength."""
    shares = np.array([*shares, 0.5])
    more = shares.copy()
    place %= len(shares) - 1
    more[place] = max(more[place], better)
    assert above(more, bound) <= above(shares, bound) * (1 + 1e-9)


@given(st.integers(1, 30), st.integers(0, 30), st.floats(0.01, 0.99))
def test_plain_successes_are_tested_as_scipy_does(people, right, bound):
    right = min(right, people)
    shares = (np.arange(people) < right).astype(float)
    expected = binomtest(right, people, bound, alternative="greater").pvalue
    found = above(shares, bound)
    # Near the bound, Hoeffding's theorem says nothing.
    assert found == (1.0 if right <= bound * people + 1 else pytest.approx(expected))


def test_fractional_shares_pay_the_factor_of_bentkus():
    """e times the binomial tail, which between two counts is straight on a log scale."""
    whole = np.r_[np.ones(4), 0.5, 0.5, np.zeros(14)]
    tails = binom.sf([4, 5], 20, 0.05)
    assert above(whole, 0.05) == pytest.approx(np.e * tails[0])
    assert above(np.r_[whole[:-1], 0.25], 0.05) == pytest.approx(
        np.e * tails[0] ** 0.75 * tails[1] ** 0.25
    )


@given(st.lists(st.floats(0.0, 1.0), max_size=6))
def test_holm_rejects_what_stepping_down_rejects(p_values):
    adjusted = holm(p_values)
    for alpha in (0.01, 0.05, 0.2, *[a for a in adjusted.tolist() if 0 < a < 1]):
        rejected, left = set(), sorted(range(len(p_values)), key=lambda n: p_values[n])
        while left and p_values[left[0]] * len(left) <= alpha:
            rejected.add(left.pop(0))
        assert {n for n, p in enumerate(adjusted) if p <= alpha} == rejected


SHARES = {
    "even": lambda rng, size: rng.uniform(0, 1, size),
    "rare": lambda rng, size: rng.binomial(1, 0.1, size).astype(float),
    "half": lambda rng, size: rng.binomial(1, 0.5, size).astype(float),
    "thirds": lambda rng, size: rng.binomial(3, 0.3, size) / 3,
    "near one": lambda rng, size: rng.beta(8, 2, size),
}
MEANS = {"even": 0.5, "rare": 0.1, "half": 0.5, "thirds": 0.3, "near one": 0.8}


@pytest.mark.parametrize("people", [10, 20])
@pytest.mark.parametrize("mechanism", SHARES)
def test_limits_of_shares_cover_the_truth(mechanism, people):
    """At least 90%; 400 tries, fixed seed."""
    rng = np.random.default_rng(3)
    rates = [rate_of_shares(SHARES[mechanism](rng, people), 0.1, draws=500) for _ in range(400)]
    covered = np.mean([rate.low <= MEANS[mechanism] <= rate.high for rate in rates])
    assert covered >= 0.9


@pytest.mark.parametrize("people", [5, 20])
def test_limits_of_means_cover_the_truth(people):
    """At least 90% for a normal and for a skewed law; 400 tries, fixed seed."""
    rng = np.random.default_rng(4)
    for draw, truth in (
        (lambda: rng.normal(3.0, 2.0, people), 3.0),
        (lambda: rng.gamma(2.0, 1.0, people), 2.0),
    ):
        found = [mean_of_people(draw(), draws=500) for _ in range(400)]
        assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.9


def test_limits_are_nearly_those_of_student():
    values = np.random.default_rng(5).normal(0.5, 0.1, 20)
    oracle = ttest_1samp(values, 0.0).confidence_interval()
    for found in (mean_of_people(values), rate_of_shares(values, 0.1)):
        assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), abs=0.005)


def test_people_without_a_figure_do_not_count():
    assert mean_of_people(np.array([np.nan, np.nan])) is None
    assert mean_of_people(np.array([np.nan, 4.0])) == Estimate(4.0, None, None, 1)
    assert mean_of_people(np.array([2.0, 2.0])) == Estimate(2.0, 2.0, 2.0, 2)


def test_everybody_recognised_is_not_everybody_for_certain():
    rate = rate_of_shares(np.ones(20), 0.05)
    assert (rate.rate, rate.high) == (1.0, 1.0)
    assert rate.low == pytest.approx(0.025 ** (1 / 20))


@pytest.mark.parametrize("people", [3, 4, 6])
def test_the_chance_of_many_right_together_covers_random_permutations(people):
    """At ε = 0 the worst attacker's right decisions are fixed points of a random permutation."""
    rng = np.random.default_rng(people)
    orders = rng.permuted(np.tile(np.arange(people), (20_000, 1)), axis=1)
    right = (orders == np.arange(people)).sum(axis=1)
    for count in range(1, people + 1):
        # Four standard errors of the simulation.
        share = (right >= count).mean()
        allowed = above_together(count, people, 1 / people)
        assert share <= allowed + 4 * np.sqrt(allowed / len(right))

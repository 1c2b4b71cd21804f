"""Limits over people and runs hold the truth where one draw of the noise serves everybody."""

import numpy as np
import pytest
from scipy import stats

from eyelid.attacks.statistics import rate_of_shares
from eyelid.comparisons.limits import is_constant, rate_of_runs

PEOPLE = 20


def studies(rng, runs, shared, own=0.05):
    """Shares around 0.5: what people differ in, what a draw does to all, what it does to each."""
    who = rng.normal(0, 0.05, (1, PEOPLE))
    return 0.5 + who + rng.normal(0, shared, (runs, 1)) + rng.normal(0, own, (runs, PEOPLE))


def held(limits, runs=3, shared=0.1, times=400):
    """In how many of so many studies the limits hold the truth."""
    rng = np.random.default_rng(5)
    found = (limits(studies(rng, runs, shared)) for _ in range(times))
    return sum(rate.low <= 0.5 <= rate.high for rate in found)


def test_three_draws_that_serve_everybody_hold_the_truth_in_95_of_100_studies():
    """Of 400 fewer than 365 hold it with a chance below 0.1 % at a coverage of 95 %."""
    assert held(lambda shares: rate_of_runs(shares, 1 / 3, one_for_all=True)) >= 365
    # Over people alone, as if each had noise of their own, they do not.
    assert held(lambda shares: rate_of_shares(shares.mean(axis=0), 1 / 3), times=100) < 60


def test_noise_of_ones_own_leaves_limits_about_as_wide_as_over_people():
    rng = np.random.default_rng(2)
    wider = []
    for _ in range(30):
        shares = studies(rng, 5, 0.0)
        over_people = rate_of_shares(shares.mean(axis=0), 1 / 3)
        found = rate_of_runs(shares, 1 / 3)
        wider.append((found.high - found.low) / (over_people.high - over_people.low))
    assert np.median(wider) < 1.1


def test_where_people_are_alike_but_for_the_draw_limits_are_students():
    means = np.array([0.42, 0.5, 0.55])
    shares = means[:, None] + np.tile([-1e-6, 1e-6], PEOPLE // 2)
    expected = stats.t.interval(0.95, 2, means.mean(), stats.sem(means))
    found = rate_of_runs(shares, 1 / 3, one_for_all=True)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-4)


def test_always_the_same_answer_has_no_spread_and_everybody_right_has():
    third = np.full((2, PEOPLE), 1 / 3)
    assert is_constant(third, 1 / 3)
    same = rate_of_runs(third, 1 / 3)
    assert same.low == same.rate == same.high
    right = np.ones((1, PEOPLE))
    assert not is_constant(right, 1 / 3)
    assert rate_of_runs(right, 1 / 3).low == pytest.approx(0.025 ** (1 / PEOPLE))

"""Distributions without an effect against scipy and enumeration; THEORY's power."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats

from eyelid.errors import InputError
from eyelid.mechanisms.statistics import ranks
from eyelid.mechanisms.statistics.power import (
    effect_found,
    noise_of_test,
    power,
    statistics_under,
)
from eyelid.mechanisms.statistics.significance import critical_value, null_of, p_value
from eyelid.mechanisms.statistics.spread import NoiseOfOne

NONE = NoiseOfOne(0.0)
PEOPLE = {"sign": (20,), "signed-rank": (20,), "superiority": (12, 9), "tau": (20,)}


def test_signed_ranks_without_an_effect_are_those_of_all_signs():
    found = [
        ranks.signed_ranks(0.5 + np.array(s) * [1, 2, 3, 4, 5]) for s in product((-1, 1), repeat=5)
    ]
    null = null_of("signed-rank", 5)
    counted = [np.isclose(np.array(found) / 15, value).mean() for value in null.values]
    np.testing.assert_allclose(null.masses, counted)


def test_concordance_without_an_effect_is_that_of_all_orders():
    orders = np.array(list(permutations(range(5)))) / 5
    found = ranks.concordance(np.broadcast_to(np.arange(5) / 5, orders.shape), orders) / 10
    null = null_of("tau", 5)
    np.testing.assert_allclose(
        null.masses, [np.isclose(found, value).mean() for value in null.values]
    )


@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (8, 2), (30, 40)])
def test_dominance_without_an_effect_is_scipy_s(sizes):
    null = null_of("superiority", *sizes)
    rng = np.random.default_rng(sum(sizes))
    first, second = rng.random(sizes[0]), rng.random(sizes[1])
    exact = stats.mannwhitneyu(first, second, method="exact").pvalue
    apart = ranks.dominance(first, second) / (sizes[0] * sizes[1])
    tail = null.masses[np.abs(null.values) >= abs(apart) - 1e-9].sum()
    assert tail == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("test", PEOPLE)
def test_spread_without_an_effect_is_that_of_the_distribution(test):
    null = null_of(test, *PEOPLE[test])
    assert null.masses.sum() == pytest.approx(1.0)
    assert (null.masses * null.values**2).sum() == pytest.approx(null.sd**2)


@pytest.mark.parametrize("test", PEOPLE)
def test_p_values_are_even_without_an_effect(test):
    """Of 5,000 simulated studies; refuted once in a million."""
    people = PEOPLE[test]
    noise = noise_of_test(test, 1.0, *people, numbers=3)
    rng = np.random.default_rng(4)
    shown = statistics_under(test, 0.0, 5_000, rng, *people) + noise.draw((5_000,), rng)
    p = null_of(test, *people).beyond(shown, noise)
    assert stats.kstest(p, "uniform").pvalue > 1e-6
    assert p_value(test, float(shown[0]), noise, *people) == pytest.approx(p[0])


@pytest.mark.parametrize("test", PEOPLE)
def test_many_people_are_next_to_normal(test):
    sizes = {"superiority": (75, 75)}.get(test, (150,))
    more = {"superiority": (76, 75)}.get(test, (151,))
    noise = noise_of_test(test, 1.0, *sizes)
    assert critical_value(test, noise, *more) == pytest.approx(
        critical_value(test, noise, *sizes), rel=0.02
    )


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_tails_of_many_people_are_as_heavy_as_their_noise(epsilon):
    """Against draws: what one in ten thousand studies exceeds has p = 1e-4."""
    sizes = (75, 80)
    noise, null = noise_of_test("superiority", epsilon, *sizes), null_of("superiority", *sizes)
    rng = np.random.default_rng(3)
    drawn = np.abs(rng.normal(0, null.sd, 1_000_000) + noise.draw((1_000_000,), rng))
    for wanted in (0.01, 1e-3, 1e-4):
        found = null.beyond(np.array([np.quantile(drawn, 1 - wanted)]), noise)[0]
        assert found == pytest.approx(wanted, rel=0.35)


@pytest.mark.parametrize(
    ("test", "people", "wanted"),
    [
        *(("sign", (n,), w) for n, w in ((20, 0.61), (30, 0.84), (50, 0.98))),
        *(("signed-rank", (n,), w) for n, w in ((20, 0.50), (30, 0.82), (50, 0.99))),
        *(("superiority", (n, n), w) for n, w in ((10, 0.16), (15, 0.30), (25, 0.60), (50, 0.92))),
    ],
)
def test_power_is_that_of_the_theory(test, people, wanted):
    found = power(test, 0.8, noise_of_test(test, 1.0, *people), *people)
    assert found == pytest.approx(wanted, abs=0.03)


def test_the_effect_that_is_found_has_the_wanted_power():
    noise = noise_of_test("signed-rank", 1.0, 40)
    effect = effect_found("signed-rank", noise, 40)
    assert power("signed-rank", effect, noise, 40) == pytest.approx(0.8, abs=0.03)
    assert effect_found("sign", NoiseOfOne(5.0, 1), 20) is None


def test_the_noise_of_one_correlation_is_four_over_the_number_of_people():
    assert noise_of_test("tau", 1.0, 95).sd == pytest.approx(np.sqrt(2) * 4 / 95)


def test_an_unknown_test_is_refused():
    with pytest.raises(InputError, match="no test 'anova'"):
        null_of("anova", 5)
    with pytest.raises(InputError, match="no test 'anova'"):
        noise_of_test("anova", 1.0, 5)

"""Golden numbers of THEORY section 13."""

import math

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.mechanisms.statistics import planning
from eyelid.mechanisms.statistics.planning import plan
from eyelid.mechanisms.statistics.spread import NoiseOfOne


@pytest.mark.parametrize(
    ("people", "k", "error", "at_three"),
    [
        (20, 1.35, 0.43, 0.77),
        (45, 1.8, 0.24, 0.34),
        (100, 2.2, 0.13, 0.16),
        (535, 2.95, 0.03, 0.03),
    ],
)
def test_the_range_is_as_wide_as_is_best_for_so_many_people(people, k, error, at_three):
    best = plan(people, 3, 1.0)
    assert best.k == pytest.approx(k, abs=0.03)
    assert best.error == pytest.approx(error, abs=0.005)
    assert plan(people, 3, 1.0, k=3.0).error == pytest.approx(at_three, abs=0.006)


@pytest.mark.parametrize(
    ("epsilon", "times", "first"), [(1, 2.18, 51), (2, 2.30, 57), (4, 2.46, 66)]
)
def test_gaussian_noise_overtakes_the_box_where_it_is_said_to(epsilon, times, first):
    gaussian = planning.gaussian_noise_of(50, 8, epsilon, 1e-6, 3.0).sd
    box = planning.box_noise(50, 8, epsilon, 3.0).sd
    assert gaussian / box == pytest.approx(times, abs=0.01)
    kinds = [plan(50, numbers, epsilon, 1e-6, k=3.0).mechanism for numbers in range(1, 81)]
    assert kinds.index("summary-gaussian") + 1 == first
    assert set(kinds[first - 1 :]) == {"summary-gaussian"}
    # Ranks and moments keep to the box, and so does who wants no δ.
    assert plan(50, 80, epsilon, 1e-6, moments=1).mechanism == "summary-box"
    assert plan(50, 80, epsilon, 0.0).mechanism == "summary-box"


def test_ranges_are_as_wide_as_theory_says():
    spreads = [planning.box_noise(people, 3, 1.0, 0.5).sd for people in (20, 45, 100, 535)]
    assert [planning.best_k(spread) for spread in spreads] == [1.35, 1.8, 2.2, 2.95]


def test_bias_by_clipping_is_that_of_simulated_people():
    rng = np.random.default_rng(0)
    people = rng.normal(1.0, 1.5, 400_000)
    for k in (1.0, 2.0, 3.0):
        wanted = 1.0 - np.clip(people, -k, k).mean()
        assert planning.clipping_bias(k, 1.0, 1.5) == pytest.approx(wanted, abs=0.01)


def test_the_width_is_that_of_both_in_quantiles():
    assert planning.width_of(NoiseOfOne(0.0), 1.0) == pytest.approx(2 * 1.959964, rel=1e-4)
    rng = np.random.default_rng(1)
    noise = NoiseOfOne(0.3, 5)
    drawn = np.abs(noise.draw((200_000,), rng) + rng.normal(0, 0.4, 200_000))
    assert planning.width_of(noise, 0.4) == pytest.approx(2 * np.quantile(drawn, 0.95), rel=0.02)


def test_what_nothing_can_be_planned_for_is_refused():
    for given, words in (
        ((1, 3, 1.0), "at least 2 people, got 1"),
        ((30, 0, 1.0), "at least one number, got 0"),
        ((30, 3, -1.0), "got -1"),
        ((30, 3, math.inf), "got inf"),
    ):
        with pytest.raises(InputError, match=words):
            plan(*given)

"""The randomised test: how many people are enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.mechanisms.synthetic.deniability import fewest_people
from eyelid.privacy.noise import randomness


def test_the_golden_numbers_of_the_theorem_are_met_with_no_more_people() -> None:
    # THEORY: k = 50, γ = 2, ε₀ = 1, t = 38 gives (1.0513, 6.14e-6).
    assert 1 + math.log1p(2 / 38) == pytest.approx(1.0513, abs=5e-5)
    assert math.exp(-12) == pytest.approx(6.14e-6, rel=1e-2)
    found = fewest_people(1.0513, 6.14e-6, weight=2.0, people=1000)
    assert found.k <= 50
    assert found.epsilon_each <= 1.0513
    assert found.delta_each <= 6.14e-6


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0])
@pytest.mark.parametrize("weight", [1.01, 2.0, 30.0])
def test_no_row_costs_more_than_it_may(epsilon: float, weight: float) -> None:
    found = fewest_people(epsilon, 1e-8, weight, people=10**6)
    assert found.epsilon_each <= epsilon
    assert found.delta_each <= 1e-8
    assert 1 <= found.others < found.k
    noise = 2**20 / found.scale
    # The coin makes up for what one of N adds to the rows that have no seed.
    share = found.coin_chance
    added = share / (10**6 * (1 - share))
    assert math.exp(noise) + added <= math.exp(noise) * (1 + weight / found.others) * (1 + 1e-9)


def test_counts_pass_as_often_as_is_computed() -> None:
    """Six standard errors, with a fixed seed."""
    found = fewest_people(1.0, 1e-3, 2.0, people=100)
    for count in (found.k - 5, found.k - 1, found.k, found.k + 3):
        chance = float(found.chance(np.array([count]))[0])
        rate = found.passes(np.full(40_000, count), randomness(count)).mean()
        assert abs(rate - chance) < 6 * math.sqrt(chance * (1 - chance) / 40_000)


def test_an_endless_crowd_is_refused() -> None:
    with pytest.raises(InputError, match="fewer rows"):
        fewest_people(1e-9, 1e-9, 2.0, people=100)

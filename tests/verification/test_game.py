"""The game on distributions whose loss is known."""

import numpy as np
import pytest

from eyelid.mechanisms import mechanism_named
from eyelid.privacy import PERSON, Guarantee, Kind, Neighbours, Trust, randomness
from eyelid.verification.game import _lower_bound, attack_digits, finest_bit


def claim(**numbers):
    facts = {"kind": Kind.PURE, "epsilon": 1.0} | numbers
    return Guarantee(unit=PERSON, neighbours=Neighbours.REPLACE_ONE, trust=Trust.LOCAL, **facts)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_laplace_loss_is_found_from_below(epsilon):
    rng = np.random.default_rng(1)
    null, alternative = rng.laplace(0, 1 / epsilon, 200_000), rng.laplace(1, 1 / epsilon, 200_000)
    bound = _lower_bound(null, alternative, claim(), 1e-6)
    assert 0.8 * epsilon < bound <= epsilon


@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_a_gaussian_loss_is_found_from_below(mu):
    rng = np.random.default_rng(2)
    null, alternative = rng.normal(0, 1, 200_000), rng.normal(mu, 1, 200_000)
    bound = _lower_bound(null, alternative, claim(mu=mu, delta=1e-6), 1e-6)
    assert 0.85 * mu < bound <= mu


def test_an_atom_that_gives_everything_away_is_found():
    """A score that is usually silent and sometimes certain."""
    rng = np.random.default_rng(3)
    null = np.zeros(100_000)
    alternative = np.where(rng.random(100_000) < 0.2, 1.0, 0.0)
    assert _lower_bound(null, alternative, claim(), 1e-6) > 5


def test_identical_worlds_give_no_bound():
    rng = np.random.default_rng(4)
    bound = _lower_bound(rng.normal(size=100_000), rng.normal(size=100_000), claim(), 1e-6)
    assert bound < 0.05


def test_finest_bits_are_those_of_the_binary_digits():
    values = np.array([1.0, 0.75, 6.0, 2.0**-60, 0.0, -0.1])
    assert finest_bit(values)[:5].tolist() == [0, -2, 1, -60, 1024]
    assert finest_bit(values)[5] <= -52


@pytest.mark.parametrize("name", ["laplace", "gaussian"])
def test_digits_of_exact_noise_give_nothing_away(name):
    mechanism = mechanism_named(name, epsilon=1.0)
    pair = next(mechanism.neighbour_pairs(PERSON))
    assert attack_digits(mechanism, pair, 20_000, randomness(5)).lower_bound == 0.0

"""Error rates: each chi-square test at 1e-6 with a fixed seed."""

from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest

from eyelid.errors import InputError
from eyelid.privacy.noise import DiscreteGaussian, DiscreteLaplace, randomness
from eyelid.verification.samplers import chi_square

LAWS = [DiscreteLaplace, DiscreteGaussian]


@pytest.mark.parametrize("mechanism", LAWS)
@pytest.mark.parametrize("scale", [1, 2, 3, 5, 8, 33, 1000, 2**33 + 1, 2**46])
def test_draws_follow_the_law(mechanism, scale):
    sampler = mechanism(scale)
    result = chi_square(sampler, sampler.draw, 200_000, randomness(scale), "")
    assert result.p_value > 1e-6


@pytest.mark.parametrize("mechanism", LAWS)
@pytest.mark.parametrize("scale", [1, 3, 40])
def test_probabilities_sum_to_one_and_have_the_stated_variance(mechanism, scale):
    sampler = mechanism(scale)
    k = np.arange(-60 * scale, 60 * scale + 1)
    mass = np.exp(sampler.log_mass(k))
    assert mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert (mass * k**2).sum() <= sampler.variance * (1 + 1e-9)


@pytest.mark.parametrize("mechanism", LAWS)
def test_doubtful_comparisons_are_settled_without_bias(mechanism):
    """With very few leading bits nearly every draw takes the slow, exact road."""

    class Doubting(mechanism):
        inversion_bits = 3
        acceptance_bits = 1

    sampler = Doubting(9)
    settled = []
    settle = sampler._settle_block
    sampler._settle_block = lambda *a: settled.append(1) or settle(*a)
    # They depend on the number of bits alone, which is nearly always the same.
    sampler.thresholds = cache(lambda bits: list(mechanism.thresholds(sampler, bits)))
    draws = sampler.draw(20_000, randomness(4))
    assert len(settled) > 7_000
    k = np.arange(-400, 401)
    below = np.cumsum(np.exp(sampler.log_mass(k)))
    jittered = draws + np.random.default_rng(0).random(draws.size)
    ends = np.append(k, 401)
    assert kstest(jittered, lambda v: np.interp(v, ends, np.append(0, below))).pvalue > 1e-6


@pytest.mark.parametrize("mechanism", LAWS)
def test_the_block_table_covers_every_word(mechanism):
    table = mechanism(12_345)._table
    assert table[-1] == 2**64 - 1
    assert (np.diff(table.astype(object)) >= 0).all()


def test_likelihood_ratios_of_the_laplace_never_exceed_its_epsilon():
    sampler = DiscreteLaplace(10)
    k = np.arange(-2000, 2001)
    ratio = sampler.log_mass(k) - sampler.log_mass(k - 7)
    assert np.abs(ratio).max() == pytest.approx(0.7)


@pytest.mark.parametrize("mechanism", LAWS)
def test_shapes_and_types(mechanism):
    assert mechanism(5).draw((2, 3)).shape == (2, 3)
    assert mechanism(5).draw(0).shape == (0,)
    assert mechanism(5).draw(4).dtype == np.int64


@pytest.mark.parametrize("mechanism", LAWS)
@pytest.mark.parametrize("scale", [0, -3, 2**46 + 1])
def test_a_scale_outside_the_integers_range_is_an_error(mechanism, scale):
    with pytest.raises(InputError, match="noise scale must be between"):
        mechanism(scale)


def test_a_seed_repeats_and_the_system_does_not():
    mechanism = DiscreteLaplace(1000)
    assert (mechanism.draw(50, randomness(1)) == mechanism.draw(50, randomness(1))).all()
    assert (mechanism.draw(50) != mechanism.draw(50)).any()

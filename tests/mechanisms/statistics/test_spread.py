"""The noise of one number against simulation and quadrature. Error rates: 1e-6, seeds fixed."""

import numpy as np
import pytest
from scipy import stats

from eyelid.mechanisms.statistics.spread import NoiseOfOne
from eyelid.privacy.noise import DiscreteBox, randomness

NOISES = [NoiseOfOne(0.7), NoiseOfOne(0.5, 1), NoiseOfOne(0.2, 4), NoiseOfOne(0.05, 40)]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_noise_with_sampling_has_the_distribution_of_simulated_sums(noise):
    rng = np.random.default_rng(3)
    for sd in (0.01, 0.5, 3.0):
        drawn = noise.draw((20_000,), rng) + rng.normal(0, sd, 20_000)
        assert stats.kstest(drawn, lambda x, sd=sd: noise.below(x, sd)).pvalue > 1e-6
        assert drawn.std() == pytest.approx(np.hypot(noise.sd, sd), rel=0.05)


@pytest.mark.parametrize("dimension", [1, 3, 8])
def test_it_is_the_noise_that_is_drawn(dimension):
    draws = DiscreteBox(2**20, dimension).draw((20_000, dimension), randomness(1))[:, 0] / 2**20
    noise = NoiseOfOne(1.0, dimension)
    assert stats.kstest(draws, lambda x: 1 - noise.at_least(x)).pvalue > 1e-6
    assert float(noise.beyond(2.0)) == pytest.approx((np.abs(draws) >= 2).mean(), abs=0.02)


def test_without_noise_only_sampling_is_left():
    none = NoiseOfOne(0.0)
    assert none.below(1.0, 2.0) == pytest.approx(stats.norm.cdf(0.5))
    assert none.at_least([-1.0, 0.0, 1.0]).tolist() == [1.0, 0.5, 0.0]
    assert (none.draw((3,), np.random.default_rng(0)) == 0).all()


def test_a_factor_stretches_it():
    noise = NoiseOfOne(0.5, 3).times(2)
    assert noise == NoiseOfOne(1.0, 3)
    assert noise.sd == pytest.approx(2.582, abs=1e-3)

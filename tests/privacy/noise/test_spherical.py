"""Spherical Laplace noise in grid steps."""

import numpy as np
import pytest
from scipy import stats

from eyelid.privacy import randomness
from eyelid.privacy.noise.continuous import SphericalLaplace

SCALE = 2**32


@pytest.mark.parametrize("dimension", [1, 2, 9, 300])
def test_lengths_are_gamma_and_directions_uniform(dimension):
    vectors = SphericalLaplace(SCALE, dimension).draw((4000, dimension), randomness(1)) / SCALE
    lengths = np.linalg.norm(vectors, axis=1)
    # Each refutes a true sampler once in ten thousand seeds; the seed is fixed.
    assert stats.kstest(lengths, stats.gamma(dimension).cdf).pvalue > 1e-4
    shares = (vectors[:, 0] / lengths) ** 2
    if dimension > 1:
        mechanism = stats.beta(0.5, (dimension - 1) / 2)
        assert stats.kstest(shares, mechanism.cdf).pvalue > 1e-4
    assert stats.binomtest(int((vectors[:, 0] > 0).sum()), 4000).pvalue > 1e-4


@pytest.mark.parametrize("dimension", [1, 6, 50])
def test_the_variance_is_that_of_a_coordinate(dimension):
    mechanism = SphericalLaplace(SCALE, dimension)
    draws = mechanism.draw((20_000, dimension), randomness(2)).astype(float)
    assert (draws**2).mean() / mechanism.variance == pytest.approx(1, abs=0.05)


def test_every_lowest_step_is_used():
    draws = SphericalLaplace(SCALE, 4).draw((10_000, 4), randomness(3))
    assert stats.chisquare(np.bincount(draws.ravel() & 15, minlength=16)).pvalue > 1e-4


def test_shares_of_the_density_add_up_to_the_length():
    mechanism = SphericalLaplace(SCALE, 6)
    steps = np.random.default_rng(4).normal(0, SCALE, (5, 2, 3, 2))
    halves = np.linalg.norm(steps.reshape(10, 6), axis=1).reshape(5, 2).sum(axis=1)
    np.testing.assert_allclose(mechanism.log_mass(steps).sum(axis=(1, 2, 3)), -halves / SCALE)
    odd = steps.reshape(5, 12)[:, :5]
    np.testing.assert_allclose(
        mechanism.log_mass(odd).sum(axis=1), -np.linalg.norm(odd, axis=1) / SCALE
    )
    assert (mechanism.log_mass(np.zeros((2, 6))) == 0).all()


def test_in_one_dimension_it_is_laplace():
    draws = SphericalLaplace(SCALE, 1).draw(5000, randomness(5)) / SCALE
    assert stats.kstest(draws, stats.laplace.cdf).pvalue > 1e-4

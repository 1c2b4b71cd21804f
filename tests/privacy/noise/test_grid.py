import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.privacy import (
    gaussian_noise,
    laplace_noise,
    planar_laplace_noise,
    spherical_laplace_noise,
)
from eyelid.privacy.noise.grid import _whole_steps, grid_step

NOISES = [laplace_noise, gaussian_noise]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [1e-9, 0.3, 1.0, 7.5, 1e12])
def test_draws_are_whole_multiples_of_a_public_power_of_two(noise, scale):
    step = grid_step(scale)
    steps = noise(scale, 1000, 3) / step
    assert math.frexp(step)[0] == 0.5
    assert (steps == np.rint(steps)).all()
    assert np.abs(steps).max() < 2**53


@given(st.floats(1e-200, 1e200))
def test_the_noise_is_never_smaller_than_asked(scale):
    step = grid_step(scale)
    assert _whole_steps(scale, step) * step >= scale
    assert step <= scale * 2.0**-32


@pytest.mark.parametrize(
    ("noise", "variance"), [(laplace_noise, 2.0), (gaussian_noise, 1.0)], ids=["laplace", "gauss"]
)
def test_variance_is_that_of_the_law(noise, variance):
    draws = noise(3.0, 400_000, 1)
    assert draws.var() / 9 == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("scale", [0.0, -1.0, math.inf, math.nan])
def test_a_bad_scale_is_named(noise, scale):
    with pytest.raises(InputError, match="must be positive and finite"):
        noise(scale, 3)


@pytest.mark.parametrize("dimension", [1, 2, 5, 127])
def test_spherical_energy_is_that_of_theory(dimension):
    draws = spherical_laplace_noise(2.0, dimension, 20_000, 1)
    energy = (draws**2).sum(axis=1).mean() / 4
    assert energy == pytest.approx(dimension * (dimension + 1), rel=0.06)


def test_planar_noise_has_no_preferred_direction_and_gamma_radius():
    from scipy.stats import kstest

    draws = planar_laplace_noise(1.5, 20_000, 2)
    radius = np.hypot(*draws.T) / 1.5
    angle = (np.arctan2(draws[:, 1], draws[:, 0]) + np.pi) / (2 * np.pi)
    assert kstest(radius, "gamma", args=(2,)).pvalue > 1e-6
    assert kstest(angle, "uniform").pvalue > 1e-6


def test_spherical_noise_lands_on_the_grid():
    draws = spherical_laplace_noise(1.0, 3, 100, 2) / grid_step(1.0)
    assert (draws == np.rint(draws)).all()


def test_spherical_noise_needs_a_dimension():
    with pytest.raises(InputError, match="dimension must be at least 1, got 0"):
        spherical_laplace_noise(1.0, 0, 3)

"""Error rates: each chi-square test at 1e-6 with a fixed seed."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from eyelid.errors import InputError
from eyelid.privacy.noise import DiscreteBox, DiscreteLaplace, randomness
from eyelid.privacy.noise.box import MAX_DIMENSION, box_tail
from eyelid.verification.samplers import box_chi_squares, check_samplers, faulty_samplers

# THEORY, noise of one coordinate in units of range/N at ε = 1.
STANDARD_DEVIATIONS = {
    1: 1.414,
    3: 2.582,
    5: 3.742,
    8: 5.477,
    10: 6.633,
    20: 12.41,
    40: 23.96,
}


def grid(reach, dimension):
    """All points of the cube {−reach…reach}^d, the last axis going over coordinates."""
    axis = np.arange(-reach, reach + 1)
    return np.stack(np.meshgrid(*[axis] * dimension, indexing="ij"), axis=-1)


@pytest.mark.parametrize(
    ("scale", "dimension"),
    [(1, 1), (1, 2), (3, 3), (7, 12), (50, 5), (2**20, 3), (2**31 + 5, 20), (2**46, 2)],
)
def test_draws_follow_the_law(scale, dimension):
    box = DiscreteBox(scale, dimension)
    draws = box.draw((40_000, dimension), randomness(scale + dimension))
    assert min(result.p_value for result in box_chi_squares(box, draws)) > 1e-6


@pytest.mark.parametrize(("scale", "dimension", "reach"), [(1, 1, 60), (2, 2, 90), (1, 3, 45)])
def test_masses_add_up_and_have_the_stated_margin(scale, dimension, reach):
    box = DiscreteBox(scale, dimension)
    mass = np.exp(box.log_mass(grid(reach, dimension)))
    assert mass.sum() == pytest.approx(1.0, abs=1e-9)
    one = mass.sum(axis=tuple(range(1, dimension)))
    k = np.arange(-reach, reach + 1)
    np.testing.assert_allclose(box.marginal_above(k), 1 - np.cumsum(one), atol=1e-9)
    assert (one * k**2).sum() <= box.variance


def test_draws_of_small_boxes_have_the_masses_of_all_points():
    box = DiscreteBox(2, 2)
    draws = box.draw((100_000, 2), randomness(4))
    inside = (np.abs(draws) <= 4).all(axis=1)
    counts = np.bincount((draws[inside] + 4) @ [9, 1], minlength=81)
    mass = np.exp(box.log_mass(grid(4, 2))).ravel()
    expected = np.append(mass, 1 - mass.sum()) * 100_000
    assert stats.chisquare(np.append(counts, (~inside).sum()), expected).pvalue > 1e-6


def test_neighbours_within_the_box_are_told_apart_by_no_more_than_epsilon():
    box = DiscreteBox(10, 2)
    here, there = grid(60, 2), grid(60, 2) - np.array([7, -7])
    loss = np.abs(box.log_mass(here) - box.log_mass(there))
    assert loss.max() == pytest.approx(0.7)
    # Independent Laplace noise of the same scale loses as much for each number.
    laplace = DiscreteLaplace(10)
    assert np.abs(
        (laplace.log_mass(here) - laplace.log_mass(there)).sum(axis=-1)
    ).max() == pytest.approx(1.4)


@pytest.mark.parametrize("dimension", range(1, 41))
def test_the_standard_deviation_is_that_of_the_theory(dimension):
    box = DiscreteBox(2**30, dimension)
    found = math.sqrt(box.variance) / 2**30
    assert found == pytest.approx(math.sqrt((dimension + 1) * (dimension + 2) / 3), rel=1e-9)
    if dimension in STANDARD_DEVIATIONS:
        assert found == pytest.approx(STANDARD_DEVIATIONS[dimension], rel=5e-4)


@pytest.mark.parametrize("dimension", [1, 3, 8, 40])
def test_the_margin_is_that_of_independent_integration(dimension):
    """P(z > x) by quadrature over the cube's half width, instead of the closed form."""
    for x in (0.0, 0.3, 2.0, 15.0):
        wanted, _ = integrate.quad(
            lambda r, x=x: stats.gamma(dimension + 1).pdf(r) * (1 - x / r) / 2, x, 400, limit=400
        )
        assert float(box_tail(x, dimension)) == pytest.approx(wanted, abs=1e-8)


def test_the_margin_is_nearly_the_same_by_summation_and_by_integration():
    summed, integral = DiscreteBox(4095, 5), DiscreteBox(4096, 5)
    k = np.array([-9000, -1, 0, 3, 5000])
    np.testing.assert_allclose(summed.marginal_above(k), integral.marginal_above(k), rtol=2e-3)


@pytest.mark.parametrize(
    ("scale", "dimension", "rate", "room"),
    # THEORY: 1 − 4e-6 at Δ/ε = 2²⁰, .94 at 2⁶, .027 at 1, all at d = 8.
    [(2**20, 8, 1 - 4e-6, 1e-6), (2**6, 8, 0.94, 0.005), (1, 8, 0.027, 0.001)],
)
def test_the_acceptance_rate_is_that_of_the_theory(scale, dimension, rate, room):
    m = np.arange(scale * 200) if scale < 1000 else np.arange(0, 60 * scale, scale // 64)
    log_mass = stats.nbinom(dimension + 1, -math.expm1(-1 / scale)).logpmf(m)
    places = np.arange(1, dimension + 1)
    accepted = np.prod((2 * m[:, None] + 1) / (2 * m[:, None] + 2 * places), axis=1)
    weights = np.exp(log_mass)
    assert (weights * accepted).sum() / weights.sum() == pytest.approx(rate, abs=room)


def test_every_lowest_step_is_used():
    draws = DiscreteBox(2**32, 4).draw((10_000, 4), randomness(3))
    assert stats.chisquare(np.bincount(draws.ravel() & 15, minlength=16)).pvalue > 1e-4


def test_shapes_and_types():
    assert DiscreteBox(5, 3).draw((2, 7, 3)).shape == (2, 7, 3)
    assert DiscreteBox(5, 3).draw(6).shape == (6,)
    assert DiscreteBox(5, 3).draw((0, 3)).shape == (0, 3)
    assert DiscreteBox(5, 3).draw(6).dtype == np.int64


@pytest.mark.parametrize(("scale", "dimension"), [(0, 1), (2**46 + 1, 1), (5, 0)])
def test_what_cannot_be_drawn_is_refused(scale, dimension):
    with pytest.raises(InputError, match="got"):
        DiscreteBox(scale, dimension)
    with pytest.raises(InputError, match="1024"):
        DiscreteBox(5, MAX_DIMENSION + 1)


def test_the_checks_of_samplers_pass_the_true_ones_and_see_every_planted_fault():
    tested = list(check_samplers(100_000, randomness(8)))
    assert not [result for result in tested if result.refuted]
    assert sum("box" in result.sampler for result in tested) == 28
    faults = list(faulty_samplers(100_000, randomness(9)))
    assert sum("box" in sampler for sampler, *_ in faults) == 5
    assert all(result.refuted for *_, result in faults)

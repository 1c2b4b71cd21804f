"""How high noise alone rises: against noise that is drawn."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from eyelid.gaze.maps.gaze_map import presented
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.noise_peaks import CHANCE, contrast_peak, noise_peak
from eyelid.gaze.maps.spread import spread, spread_error

DRAWS = 1000
# A share of 5% is more than 7.6% of 1000 draws with a chance of 2e-4, less than 2.7% with 2e-4.
MOST, LEAST = 0.076, 0.027


def drawn(mechanism: str, grid: Grid, seed: int = 4) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    size = (grid.rows, grid.columns)
    if mechanism == "laplace":
        return [rng.laplace(0, math.sqrt(0.5), size) for _ in range(DRAWS)]
    return [rng.normal(size=size) for _ in range(DRAWS)]


def share_above(mechanism: str, grid: Grid, sigma_px: float) -> float:
    """Of maps of noise alone on which some px is farther from nothing than it should be."""
    most = noise_peak(grid, sigma_px, laplace=mechanism == "laplace")
    error = spread_error(grid, sigma_px, 1.0)
    above = [np.abs(spread(c, grid, sigma_px) / error).max() > most for c in drawn(mechanism, grid)]
    return float(np.mean(above))


GRIDS = [
    ((64, 40, 7, 5), 2.0),
    ((64, 40, 14, 9), 0.0),
    ((64, 40, 14, 9), 8.0),
    ((64, 40, 64, 40), 3.0),
    ((40, 30, 40, 30), 0.0),
    ((100, 8, 9, 1), 2.0),
    ((20, 20, 1, 1), 1.0),
]


@pytest.mark.parametrize(("grid", "sigma_px"), GRIDS)
def test_gaussian_noise_rises_higher_on_one_map_of_twenty(grid, sigma_px):
    assert LEAST < share_above("gaussian", Grid(*grid), sigma_px) < MOST


@pytest.mark.parametrize(("grid", "sigma_px"), GRIDS)
def test_laplace_noise_rises_higher_on_no_more_than_one_map_of_twenty(grid, sigma_px):
    assert share_above("laplace", Grid(*grid), sigma_px) < MOST


def share_above_average(mechanism: str, grid: Grid, sigma_px: float) -> float:
    """Of maps of noise alone on which some px is too far above the average of its page."""
    most = contrast_peak(grid, sigma_px, laplace=mechanism == "laplace")
    cells = drawn(mechanism, grid)
    error = np.std([spread(each - each.mean(), grid, sigma_px) for each in cells], axis=0)
    # What is left of noise is known exactly; as it turned out is near enough, and simpler.
    above = [(spread(c - c.mean(), grid, sigma_px) / error).max() > most for c in cells]
    return float(np.mean(above))


@pytest.mark.parametrize(("grid", "sigma_px"), [*GRIDS[:-1], ((60, 60, 2, 2), 3.0)])
def test_noise_lifts_a_place_above_the_average_of_its_page_on_one_map_of_twenty(grid, sigma_px):
    assert LEAST < share_above_average("gaussian", Grid(*grid), sigma_px) < MOST
    assert share_above_average("laplace", Grid(*grid), sigma_px) < MOST


def test_nothing_is_above_the_average_of_one_cell():
    assert contrast_peak(Grid(20, 20, 1, 1), 1.0) == 0.0


def test_a_picture_that_is_blurred_into_one_has_little_to_be_above():
    grid = Grid(64, 40, 7, 5)
    assert contrast_peak(grid, 60.0) < contrast_peak(grid, 8.0) < contrast_peak(grid, 2.0)


def test_one_cell_is_a_single_number():
    one = Grid(30, 20, 1, 1)
    assert noise_peak(one, 4.0) == pytest.approx(norm.isf(CHANCE / 2), abs=1e-5)
    # Of Laplace noise of variance 1: exp(-√2·t).
    laplace = -math.log(CHANCE) / math.sqrt(2)
    assert noise_peak(one, 4.0, laplace=True) == pytest.approx(laplace, abs=1e-5)


def test_pixels_that_are_not_blurred_are_each_a_chance_of_their_own():
    pixels = Grid.of_pixels(40, 30)
    assert noise_peak(pixels, 0.0) == pytest.approx(norm.isf(CHANCE / 2 / 1200), abs=1e-5)


def test_more_cells_and_less_blur_leave_more_places_for_noise():
    few, many = Grid(90, 60, 3, 2), Grid(90, 60, 9, 6)
    assert noise_peak(few, 4.0) < noise_peak(many, 4.0)
    assert noise_peak(many, 20.0) < noise_peak(many, 4.0)
    assert noise_peak(many, 4.0) < noise_peak(many, 4.0, laplace=True)
    # In pixels a point spread is over so many cells that both laws are alike.
    pixels = Grid.of_pixels(90, 60)
    gap = noise_peak(pixels, 10.0, laplace=True) - noise_peak(pixels, 10.0)
    assert 0 < gap < 0.05


def test_a_presented_map_knows_its_own():
    grid = Grid(60, 40, 6, 4)
    for laplace in (False, True):
        found = presented(np.zeros((4, 6)), grid, 3.0, 0.1, "", 5, laplace=laplace)
        assert found.sure_errors == noise_peak(grid, 3.0, laplace=laplace)
    # Never less than what is called reliable.
    assert presented(np.zeros((1, 1)), Grid(9, 9, 1, 1), 3.0, 0.1, "", 5).sure_errors == 2.0

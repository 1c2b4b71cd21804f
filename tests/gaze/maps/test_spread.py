"""The point spread against scipy's filter, and cells against plain interpolation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import GazeMap
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.spread import point_spread, spread, spread_error


def filtered(values, sigma):
    """Scipy's, with a kernel that reaches from end to end."""
    return gaussian_filter(values, sigma, mode="constant", radius=int(12 * sigma) + 1)


@pytest.mark.parametrize("sigma", [0.1, 0.3, 1.0, 5.0, 40.0, 90.0, 300.0])
@pytest.mark.parametrize("size", [(211, 160), (1, 90), (37, 1)], ids=str)
def test_a_heatmap_is_what_scipy_s_filter_gives(sigma, size):
    rng = np.random.default_rng(3)
    counts = rng.poisson(0.01, size).astype(float)
    counts[0, 0], counts[-1, -1] = 20.0, 5.0
    expected = filtered(counts, sigma)
    np.testing.assert_allclose(point_spread(counts, sigma), expected, atol=1e-9 * expected.max())


def test_the_paper_s_size_and_spread_are_within_a_millionth_of_the_peak():
    rng = np.random.default_rng(4)
    counts = np.zeros((1050, 1680))
    counts[rng.integers(0, 1050, 400), rng.integers(0, 1680, 400)] = 1.0
    expected = gaussian_filter(counts, 40.0, mode="constant", truncate=8.0)
    assert np.abs(point_spread(counts, 40.0) - expected).max() < 1e-6 * expected.max()


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0.0, 60.0))
def test_looks_never_become_negative_or_more(height, width, sigma):
    counts = np.random.default_rng(height * 41 + width).poisson(0.3, (height, width)).astype(float)
    spread_out = point_spread(counts, sigma)
    assert spread_out.min() >= 0
    assert spread_out.sum() <= counts.sum() * (1 + 1e-12)


def test_rounding_far_from_a_single_look_does_not_make_less_than_nothing():
    counts = np.zeros((300, 300))
    counts[10, 10] = 1e6
    assert point_spread(counts, 3.0).min() == 0.0


def test_the_total_is_kept_away_from_the_border():
    counts = np.zeros((200, 200))
    counts[90:110, 100] = 2.0
    assert point_spread(counts, 10.0).sum() == pytest.approx(40.0, rel=1e-9)


@pytest.mark.parametrize("sigma", [0.0, 1e-9])
def test_without_a_point_spread_the_map_stays_what_it_was(sigma):
    counts = np.random.default_rng(5).random((9, 11))
    np.testing.assert_array_equal(point_spread(counts, sigma), counts)


@pytest.mark.parametrize("sigma", [-1.0, np.nan, np.inf])
def test_an_impossible_point_spread_is_refused(sigma):
    for action in (
        lambda: point_spread(np.ones((2, 2)), sigma),
        lambda: spread(np.ones((2, 2)), Grid(8, 8, 2, 2), sigma),
        lambda: spread_error(Grid(8, 8, 2, 2), sigma, 1.0),
    ):
        with pytest.raises(InputError, match="0 px or more"):
            action()


def test_a_gaze_map_knows_its_point_spread_and_is_not_spread_out_twice():
    counts = GazeMap(np.eye(20), "page", 3)
    heat = point_spread(counts, 2.0)
    assert (heat.name, heat.people, heat.sigma_px) == ("page", 3, 2.0)
    np.testing.assert_array_equal(heat.values, point_spread(np.eye(20), 2.0))
    with pytest.raises(InputError, match="spread out by 2 px already"):
        point_spread(heat, 2.0)


SHAPES = [Grid(30, 20, 7, 3), Grid(16, 16, 16, 16), Grid(16, 12, 16, 5), Grid(9, 9, 1, 1)]


@pytest.mark.parametrize("grid", SHAPES, ids=str)
@pytest.mark.parametrize("sigma", [0.0, 2.5])
def test_cells_are_interpolated_bilinearly_and_then_spread_out(grid, sigma):
    cells = np.random.default_rng(6).random((grid.rows, grid.columns))
    cells[0, 0] = -1.0

    def fine(length, parts):
        """Each px's mean over 2000 places of the interpolation between middles, by numpy."""
        if length == parts:
            return np.eye(length)
        middles = (np.arange(parts) + 0.5) * length / parts
        places = (np.arange(length * 2000) + 0.5) / 2000
        columns = [np.interp(places, middles, one) for one in np.eye(parts)]
        return np.array(columns).reshape(parts, length, 2000).mean(axis=2).T * parts / length

    plain = fine(grid.height_px, grid.rows) @ cells @ fine(grid.width_px, grid.columns).T
    expected = filtered(plain, sigma) if sigma else plain
    np.testing.assert_allclose(spread(cells, grid, sigma), expected, atol=2e-7)


@pytest.mark.parametrize("grid", SHAPES, ids=str)
def test_spreading_cells_keeps_their_total_and_an_even_map_even(grid):
    cells = np.random.default_rng(7).random((grid.rows, grid.columns))
    assert spread(cells, grid, 0.0).sum() == pytest.approx(cells.sum())
    even = np.full_like(cells, 1 / grid.cells)
    np.testing.assert_allclose(
        spread(even, grid, 0.0), 1 / (grid.width_px * grid.height_px), rtol=1e-9
    )


@pytest.mark.parametrize("grid", SHAPES, ids=str)
@pytest.mark.parametrize("sigma", [0.0, 1.5, 30.0])
def test_the_error_is_that_of_independent_noise_in_every_cell(grid, sigma):
    units = np.eye(grid.cells).reshape(-1, grid.rows, grid.columns)
    variance = sum(spread(one, grid, sigma) ** 2 for one in units)
    np.testing.assert_allclose(
        spread_error(grid, sigma, 0.3), 0.3 * np.sqrt(variance), rtol=1e-6, atol=1e-12
    )


def test_cells_of_another_grid_are_refused():
    with pytest.raises(InputError, match="3 × 2 cells do not fit a grid of 2 × 3"):
        spread(np.ones((3, 2)), Grid(9, 9, 3, 2), 1.0)

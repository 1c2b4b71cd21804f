"""Cells have their left and upper border, to the last bit, and lost gaze is in none."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.maps import grid as grid_module
from eyelid.gaze.maps.grid import Grid, counted


def exact_cell(grid, x, y):
    """The cell by fractions, which do not round."""
    if not (np.isfinite(x) and np.isfinite(y)):
        return -1
    column = Fraction(x) * grid.columns // grid.width_px
    row = Fraction(y) * grid.rows // grid.height_px
    if not (0 <= column < grid.columns and 0 <= row < grid.rows):
        return -1
    return int(row * grid.columns + column)


@st.composite
def grids(draw):
    width, height = draw(st.integers(1, 3000)), draw(st.integers(1, 3000))
    return Grid(width, height, draw(st.integers(1, width)), draw(st.integers(1, height)))


@st.composite
def places(draw, length, parts):
    """Anywhere, and often on a border or the next float before or after it."""
    border = float(Fraction(draw(st.integers(-1, parts + 1)) * length, parts))
    near = st.sampled_from([border, np.nextafter(border, -np.inf), np.nextafter(border, np.inf)])
    odd = st.sampled_from([0.0, -0.0, -0.5, -1e-300, np.nan, np.inf, -np.inf, 1e300, -3e9, 2.0**32])
    return float(draw(st.one_of(near, odd, st.floats(-10.0, length + 10.0))))


@given(st.data())
def test_a_place_is_in_the_cell_that_exact_arithmetic_says(data):
    grid = data.draw(grids())
    x = data.draw(st.lists(places(grid.width_px, grid.columns), min_size=1, max_size=8))
    y = [data.draw(places(grid.height_px, grid.rows)) for _ in x]
    expected = [exact_cell(grid, *place) for place in zip(x, y, strict=True)]
    assert grid.cell_of(np.array(x), np.array(y)).tolist() == expected


@pytest.mark.parametrize("length", [1680, 1050, 800, 601])
@pytest.mark.parametrize("parts", [3, 7, 14, 49, 107, 359, 600])
def test_all_borders_and_the_floats_beside_them_are_on_the_right_side(length, parts):
    borders = np.arange(parts + 1) * length / parts
    x = np.concatenate([borders, np.nextafter(borders, -1.0), np.nextafter(borders, 1e9)])
    grid = Grid(length, 1, parts, 1)
    expected = [exact_cell(grid, place, 0.0) for place in x]
    assert grid.cell_of(x, np.zeros(len(x))).tolist() == expected


@pytest.mark.parametrize("grid", [Grid.of_pixels(7, 5), Grid(7, 5, 3, 2)], ids=["px", "coarse"])
def test_gaze_before_the_first_px_is_not_in_it(grid):
    just_before = np.array([-0.5, -1e-12, 0.0, 0.0])
    assert grid.cell_of(just_before, np.zeros(4)).tolist() == [-1, -1, 0, 0]
    assert grid.cell_of(np.zeros(4), just_before).tolist() == [-1, -1, 0, 0]


def test_the_last_place_before_the_border_of_the_picture_is_on_it():
    grid = Grid(1680, 1050, 14, 9)
    x, y = np.nextafter([1680.0, 1680.0], 0.0), np.nextafter([1050.0, 1050.0], 0.0)
    assert grid.cell_of(x, y).tolist() == [125, 125]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("grid", [Grid.of_pixels(40, 30), Grid(40, 30, 7, 4)], ids=["px", "coarse"])
def test_counting_is_what_bincount_gives_over_many_chunks(grid, weighted, monkeypatch):
    monkeypatch.setattr(grid_module, "_CHUNK", 97)
    rng = np.random.default_rng(1)
    x, y = rng.normal(20, 15, 1000), rng.normal(15, 12, 1000)
    x[::50], y[25::50] = np.nan, np.inf
    weight = rng.random(1000) if weighted else None
    cell = np.array([exact_cell(grid, *place) for place in zip(x, y, strict=True)])
    inside = cell >= 0
    expected = np.bincount(cell[inside], weight[inside] if weighted else None, grid.cells)
    found = counted(grid, x, y, weight)
    assert found.shape == (grid.rows, grid.columns)
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-14)


def test_counting_takes_columns_of_a_larger_array():
    points = np.random.default_rng(2).random((500, 3)) * 9
    grid = Grid.of_pixels(8, 8)
    expected, _, _ = np.histogram2d(points[:, 1], points[:, 0], bins=8, range=((0, 8), (0, 8)))
    np.testing.assert_array_equal(counted(grid, points[:, 0], points[:, 1]), expected)


def test_nothing_to_count_is_a_map_of_nothing():
    assert not counted(Grid(4, 4, 2, 2), np.empty(0), np.empty(0)).any()
    assert Grid(4, 4, 2, 2).cell_of(np.empty(0), np.empty(0)).size == 0


@given(grids())
def test_the_centre_of_a_cell_is_in_that_cell(grid):
    if grid.cells <= 10_000:
        wide, high = grid.cell_px
        x, y = np.meshgrid(np.arange(grid.columns) * wide, np.arange(grid.rows) * high)
        found = grid.cell_of(x.ravel() + wide / 2, y.ravel() + high / 2)
        assert found.tolist() == list(range(grid.cells))


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((0, 5, 1, 1), "at least 1 px"),
        ((5, 5, 6, 1), "columns of the grid must be between 1 and the picture's 5 px, got 6"),
        ((5, 5, 1, 0), "rows of the grid must be between 1 and the picture's 5 px, got 0"),
        ((100_000, 100_000, 100_000, 100_000), "too large"),
    ],
)
def test_an_impossible_grid_is_refused_in_words(sizes, words):
    with pytest.raises(InputError, match=words):
        Grid(*sizes)

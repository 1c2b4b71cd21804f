"""How high noise alone rises somewhere on a map, in standard errors.

What is measured, over its standard error, is a field of variance 1 along two paths of unit vectors:
the weights of rows of cells for each px down, of columns for each px across. Of the lengths L and M
of both paths the expected number of its peaks above t follows (Adler & Taylor 2007, the expected
Euler characteristic of a Gaussian field on a rectangle):

    Q(t) + (L + M)·e^(−t²/2)/2π + L·M·t·e^(−t²/2)/(2π)^1.5

with Q the normal tail. It bounds the chance of any peak closely, edges and grid included; where
hardly anything is blurred, the number of px times Q(t) is less, and bounds it too.

Less the average of its page, the noise at a px has the weights w − (Σw/n)·1 over the n cells: what
it has in common with the average is projected out. These directions are no product of two paths, so
that the lengths of the border and the area of the sheet they span are added up along a mesh:

    Q(t) + (border/2)·e^(−t²/2)/2π + area·t·e^(−t²/2)/(2π)^1.5
"""

from __future__ import annotations

import functools
import math

import numpy as np

from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.spread import shares

CHANCE = 1 / 20
_HIGHEST, _CLOSE = 40.0, 1e-6
_LAPLACE_KURTOSIS = 3.0
# Meshes have at least so many lines for each cell, or standard deviation of the point spread.
_LINES = 8
# Rows of a mesh that are looked at together.
_AT_ONCE = 256
# Where less than this share of the noise is not that of the average, there is nothing to test.
NOTHING = 1e-9


@functools.lru_cache(maxsize=64)
def noise_peak(grid: Grid, sigma_px: float, *, laplace: bool = False) -> float:
    """Noise alone is farther from nothing, to either side, on at most 1 map of 20.

    Args:
        grid: of the cells.
        sigma_px: standard deviation of the point spread, in px.
        laplace: the noise in cells is Laplace's, not Gaussian.

    >>> round(noise_peak(Grid(50, 50, 1, 1), 3.0), 2), round(noise_peak(Grid(50, 50, 9, 9), 3.0), 2)
    (1.96, 3.65)
    """
    down, across = shares(grid, sigma_px)
    high, wide = _length(down), _length(across)
    peak = _reached(grid, high + wide, high * wide, CHANCE / 2)
    if not laplace:
        return peak
    return _heavier(peak, _concentration(down) * _concentration(across))


@functools.lru_cache(maxsize=64)
def contrast_peak(grid: Grid, sigma_px: float, *, laplace: bool = False) -> float:
    """Noise alone lifts a place higher above the average of its page on at most 1 map of 20.

    In standard errors of the difference from that average, which noise moves as well. A single cell
    is its own average, and nothing can be above it: 0.

    Args:
        grid: of the cells.
        sigma_px: standard deviation of the point spread, in px.
        laplace: the noise in cells is Laplace's, not Gaussian.

    >>> round(contrast_peak(Grid(50, 50, 1, 1), 3.0), 2)
    0.0
    >>> round(contrast_peak(Grid(50, 50, 9, 9), 3.0), 1)
    3.5
    """
    if grid.cells == 1:
        return 0.0
    down, across = shares(grid, sigma_px)
    border, area = _sheet(grid, sigma_px, down, across)
    peak = _reached(grid, border / 2, area, CHANCE)
    if not laplace:
        return peak
    return _heavier(peak, _contrast_concentration(down, across))


def _reached(grid: Grid, lines: float, area: float, chance: float) -> float:
    """What peaks of a field with such borders and area reach with that chance, to one side."""
    pixels = grid.width_px * grid.height_px
    low, high = 0.0, _HIGHEST
    while high - low > _CLOSE:
        middle = (low + high) / 2
        often = min(_peaks(middle, lines, area), pixels * _tail(middle)) > chance
        low, high = (middle, high) if often else (low, middle)
    return high


def _heavier(peak: float, concentration: float) -> float:
    """The peak of Laplace noise, from that of Gaussian noise."""
    # Cornish and Fisher's term for tails that are heavier; never more than those of a single cell.
    heavier = peak + (peak**3 - 3 * peak) * _LAPLACE_KURTOSIS * concentration / 24
    return max(peak, min(heavier, -math.log(2 * _tail(peak)) / math.sqrt(2)))


def _peaks(t: float, lines: float, area: float) -> float:
    """How many peaks above t are expected."""
    normal = math.exp(-(t**2) / 2)
    return (
        _tail(t) + lines * normal / (2 * math.pi) + area * t * normal / math.sqrt(2 * math.pi) ** 3
    )


def _tail(t: float) -> float:
    """How probable a standard normal variable above t is."""
    return math.erfc(t / math.sqrt(2)) / 2


def _length(weights: Floats) -> float:
    """How long the path of directions from the first px to the last is, in radians."""
    unit = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    steps = np.linalg.norm(np.diff(unit, axis=0), axis=1)
    return float(np.sum(2 * np.arcsin(np.minimum(steps / 2, 1.0))))


def _concentration(weights: Floats) -> float:
    """1 where some px has all of its noise from one row or column, near 0 where from many."""
    return float(np.max(np.sum(weights**4, axis=1) / np.sum(weights**2, axis=1) ** 2))


def _contrast_concentration(down: Floats, across: Floats) -> float:
    """`_concentration` of the weights of all cells, without their mean."""
    cells = down.shape[1] * across.shape[1]
    sums = [
        np.outer(*(np.sum(weights**power, axis=1) for weights in (down, across)))
        for power in range(5)
    ]
    mean = sums[1] / cells
    fourth = sums[4] - 4 * mean * sums[3] + 6 * mean**2 * sums[2] - 3 * cells * mean**4
    square = sums[2] - cells * mean**2
    tested = square > NOTHING * sums[2]
    return float(np.max(fourth[tested] / square[tested] ** 2, initial=0.0))


def _sheet(grid: Grid, sigma_px: float, down: Floats, across: Floats) -> tuple[float, float]:
    """Length of the border and area of the sheet of directions, less the average of the page."""
    wide_px, high_px = grid.cell_px
    rows = _mesh(down, max(sigma_px, high_px) / _LINES)
    columns = _mesh(across, max(sigma_px, wide_px) / _LINES)
    area = border = 0.0
    for first in range(0, max(1, len(rows) - 1), _AT_ONCE):
        sides, part = _strip(rows[first : first + _AT_ONCE + 1], columns)
        area += part
        border += sides
    for edge in (rows[:1], rows[-1:]):
        # Turned round, the upper and the lower border are sides.
        border += _strip(columns, edge)[0] / 2
    return border, area


def _mesh(weights: Floats, step: float) -> Floats:
    """Weights of every few px, the first and the last among them."""
    places = np.arange(0, len(weights), max(1, int(step)))
    return np.asarray(weights[np.unique(np.append(places, len(weights) - 1))])


def _strip(rows: Floats, columns: Floats) -> tuple[float, float]:
    """Length of both sides and area of the directions at the knots of some rows of a mesh."""

    def products(one: Floats, other: Floats, left: Floats, right: Floats) -> Floats:
        """Products of weights at one and at another knot, without their means."""
        common = np.outer(one.sum(axis=1) * other.sum(axis=1), left.sum(axis=1) * right.sum(axis=1))
        both = np.outer(np.sum(one * other, axis=1), np.sum(left * right, axis=1))
        return np.asarray(both - common / (one.shape[1] * left.shape[1]))

    square = products(rows, rows, columns, columns)
    whole = np.outer(np.sum(rows**2, axis=1), np.sum(columns**2, axis=1))
    flat = square <= NOTHING * whole
    norm = np.sqrt(np.where(flat, 1.0, square))
    upper, lower, left, right = rows[:-1], rows[1:], columns[:-1], columns[1:]
    down = products(upper, lower, columns, columns) / (norm[:-1] * norm[1:])
    down[flat[:-1] | flat[1:]] = 1.0
    sides = float(np.sum(np.arccos(np.clip(down[:, [0, -1]], -1.0, 1.0))))
    across = products(rows, rows, left, right) / (norm[:, :-1] * norm[:, 1:])
    athwart = products(upper, lower, left, right) / (norm[:-1, 1:] * norm[1:, :-1])
    one, other = 2 - 2 * across[:-1], 2 - 2 * down[:, :-1]
    inner = athwart - across[:-1] - down[:, :-1] + 1
    areas = np.sqrt(np.maximum(one * other - inner**2, 0.0))
    areas[(flat[:-1, :-1] | flat[:-1, 1:] | flat[1:, :-1])] = 0.0
    return sides, float(areas.sum())

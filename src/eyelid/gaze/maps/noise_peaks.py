"""How high noise alone rises somewhere on a map, in standard errors.

What is measured, over its standard error, is a field of variance 1 along two paths of unit vectors:
the weights of rows of cells for each px down, of columns for each px across. Of the lengths L and M
of both paths the expected number of its peaks above t follows (Adler & Taylor 2007, the expected
Euler characteristic of a Gaussian field on a rectangle):

    Q(t) + (L + M)·e^(−t²/2)/2π + L·M·t·e^(−t²/2)/(2π)^1.5

with Q the normal tail. It bounds the chance of any peak closely, edges and grid included; where
hardly anything is blurred, the number of px times Q(t) is less, and bounds it too.
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
    lengths = _length(down), _length(across)
    pixels = grid.width_px * grid.height_px
    low, high = 0.0, _HIGHEST
    while high - low > _CLOSE:
        middle = (low + high) / 2
        often = 2 * min(_peaks(middle, *lengths), pixels * _tail(middle)) > CHANCE
        low, high = (middle, high) if often else (low, middle)
    if not laplace:
        return high
    # Cornish and Fisher's term for tails that are heavier; never more than those of a single cell.
    kurtosis = _LAPLACE_KURTOSIS * _concentration(down) * _concentration(across)
    heavier = high + (high**3 - 3 * high) * kurtosis / 24
    return min(heavier, -math.log(2 * _tail(high)) / math.sqrt(2))


def _peaks(t: float, down: float, across: float) -> float:
    """How many peaks above t are expected."""
    normal = math.exp(-(t**2) / 2)
    lines = (down + across) * normal / (2 * math.pi)
    return _tail(t) + lines + down * across * t * normal / math.sqrt(2 * math.pi) ** 3


def _tail(t: float) -> float:
    """Of a normal variable above t."""
    return math.erfc(t / math.sqrt(2)) / 2


def _length(weights: Floats) -> float:
    """Of the path of directions from the first px to the last, in radians."""
    unit = weights / np.linalg.norm(weights, axis=1, keepdims=True)
    steps = np.linalg.norm(np.diff(unit, axis=0), axis=1)
    return float(np.sum(2 * np.arcsin(np.minimum(steps / 2, 1.0))))


def _concentration(weights: Floats) -> float:
    """1 where some px has all of its noise from one row or column, near 0 where from many."""
    return float(np.max(np.sum(weights**4, axis=1) / np.sum(weights**2, axis=1) ** 2))

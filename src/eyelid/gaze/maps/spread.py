"""From counts to a heatmap: the Gaussian point spread, and cells spread out over their picture."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, overload

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.grid import Floats, Grid

if TYPE_CHECKING:
    from eyelid.gaze.maps.gaze_map import GazeMap

# Below this a point spread moves nothing: its neighbours get less than e^-50.
_LEAST_SIGMA_PX = 0.1
# A Gaussian is below 1e-10 of its peak beyond so many standard deviations, and so is its spectrum.
_REACH = 7.0


@overload
def point_spread(map: GazeMap, sigma_px: float) -> GazeMap: ...
@overload
def point_spread(map: Floats, sigma_px: float) -> Floats: ...
def point_spread(map: GazeMap | Floats, sigma_px: float) -> GazeMap | Floats:
    """A map with every gaze point spread out as a Gaussian; outside the picture there is nothing.

    NOT private: it hides nobody. For a heatmap to share see `eyelid.heatmap`.

    The total is kept, but for what leaves the picture. A spread of 0 changes nothing.

    Args:
        map: a `GazeMap` that is not spread out yet, or height × width values.
        sigma_px: standard deviation of the point spread, in px.

    >>> spread_out = point_spread(np.eye(5), 1.0)
    >>> bool(spread_out[2, 2] > spread_out[1, 3] > spread_out[0, 4] > 0)
    True
    """
    _check_sigma(sigma_px)
    if not isinstance(map, np.ndarray):
        if map.sigma_px is not None:
            raise InputError(
                f"this map is spread out by {map.sigma_px:g} px already: spread out its counts"
            )
        return replace(map, values=point_spread(map.values, sigma_px), sigma_px=sigma_px)
    values = _point_spread(map.astype(np.float64, copy=False), sigma_px)
    # Rounding must not make gaze points of less than nobody.
    return np.maximum(values, 0.0) if map.min(initial=0.0) >= 0 else values


def spread(cells: Floats, grid: Grid, sigma_px: float) -> Floats:
    """Height × width, density per px of a mass in each cell: linear in ``cells``.

    Bilinear between the centres of cells, level beyond the outermost, averaged over each px; then
    the point spread. The total is kept, but for what leaves the picture.

    Args:
        cells: rows × columns, the mass in each.
        grid: their grid.
        sigma_px: standard deviation of the point spread, in px.

    >>> spread(np.array([[1.0, 3.0]]), Grid(4, 1, 2, 1), 0.0)
    array([[0.5 , 0.75, 1.25, 1.5 ]])
    """
    _check_sigma(sigma_px)
    if cells.shape != (grid.rows, grid.columns):
        raise InputError(
            f"{' × '.join(map(str, cells.shape))} cells do not fit a grid of "
            f"{grid.rows} × {grid.columns}"
        )
    if grid == Grid.of_pixels(grid.width_px, grid.height_px):
        return _point_spread(cells, sigma_px)
    down, across = shares(grid, sigma_px)
    return np.asarray(down @ cells @ across.T)


def spread_error(grid: Grid, sigma_px: float, cell_sd: float) -> Floats:
    """Height × width, standard deviation of `spread` of independent noise in every cell, exactly.

    Args:
        grid: of the cells.
        sigma_px: standard deviation of the point spread, in px.
        cell_sd: standard deviation of the noise in each cell.
    """
    _check_sigma(sigma_px)
    down, across = (np.sqrt(np.sum(weights**2, axis=1)) for weights in shares(grid, sigma_px))
    return np.asarray(cell_sd * np.outer(down, across))


def _check_sigma(sigma_px: float) -> None:
    if not (math.isfinite(sigma_px) and sigma_px >= 0):
        raise InputError(f"the point spread must be 0 px or more, got {sigma_px}")


def shares(grid: Grid, sigma_px: float) -> tuple[Floats, Floats]:
    """Height × rows and width × columns: what each px gets of each row and column of cells."""
    down = _blurred_down(_interpolation(grid.height_px, grid.rows), sigma_px)
    across = _blurred_down(_interpolation(grid.width_px, grid.columns), sigma_px)
    return down, across


def _interpolation(length: int, parts: int) -> Floats:
    """Length × parts: the share of each part's mass in each px, linear between their middles."""
    if parts == length:
        return np.eye(length)
    middles = (np.arange(parts) + 0.5) * (length / parts)
    away = (np.arange(length + 1)[:, None] - middles) * (parts / length)
    away = np.clip(away, -1.0, 1.0)
    # The integral of the tent 1 - |away|, without its slopes at the two ends of the picture.
    slope = away * np.abs(away) / 2
    slope[:, 0][away[:, 0] < 0] = 0.0
    slope[:, -1][away[:, -1] > 0] = 0.0
    return np.diff(away - slope, axis=0)


def _point_spread(values: Floats, sigma_px: float) -> Floats:
    """Convolved with a Gaussian that sums to 1; nothing comes in from outside."""
    if sigma_px < _LEAST_SIGMA_PX:
        return values
    from scipy import fft

    width = values.shape[1]
    padded, gain = _gain(width, sigma_px)
    spectrum = fft.rfft(values, padded, axis=1)[:, : len(gain)] * gain
    # Downwards while it is a spectrum across: few frequencies are left of many columns.
    spectrum = _blurred_down(spectrum.view(np.float64), sigma_px).view(np.complex128)
    return np.asarray(fft.irfft(spectrum, padded, axis=1)[:, :width])


def _blurred_down(values: Floats, sigma_px: float) -> Floats:
    """Convolved with a Gaussian that sums to 1, along the first axis only."""
    if sigma_px < _LEAST_SIGMA_PX:
        return values
    from scipy import fft

    padded, gain = _gain(len(values), sigma_px)
    spectrum = fft.rfft(values, padded, axis=0)[: len(gain)] * gain[:, None]
    return np.asarray(fft.irfft(spectrum, padded, axis=0)[: len(values)])


def _gain(length: int, sigma_px: float) -> tuple[int, Floats]:
    """A length with room for what leaves at the ends, and what is left of its frequencies.

    High frequencies of which nothing is left are not in it.
    """
    from scipy import fft

    far = math.ceil(_REACH * sigma_px)
    weights = np.exp(-0.5 * (np.arange(-far, far + 1) / sigma_px) ** 2)
    # Further than from end to end nothing needs to go.
    reach = min(far, length - 1)
    padded = fft.next_fast_len(length + reach, real=True)
    kernel = np.zeros(padded)
    kernel[np.arange(-reach, reach + 1) % padded] = weights[far - reach : far + reach + 1]
    gain = fft.rfft(kernel / weights.sum()).real
    if reach < far:
        return padded, gain
    return padded, gain[: 1 + math.ceil(_REACH * padded / (2 * math.pi * sigma_px))]

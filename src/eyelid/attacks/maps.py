"""How much of a heatmap or gaze map is left: Pearson correlation and squared error.

Liu et al. (2019) report both. They warn, and so do we, that a map can score well cell by cell and
still look wrong: look at it too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError


@dataclass(frozen=True)
class MapError:
    """A released map beside its original.

    Attributes:
        correlation: Pearson's, over cells; None where the release is the same everywhere, so that
            there is nothing to correlate.
        mse: mean squared difference, in squared units of the map.
        nmse: the same over the original's variance: 1 is what a blank map at the right mean gives.
    """

    correlation: float | None
    mse: float
    nmse: float


def map_error(original: ArrayLike, released: ArrayLike) -> MapError:
    """Correlation and squared error of a released map, cell by cell.

    >>> error = map_error([[0.0, 1.0], [2.0, 3.0]], [[1.0, 2.0], [3.0, 4.0]])
    >>> error.correlation, error.mse, error.nmse
    (1.0, 1.0, 0.8)
    """
    ours, theirs = _checked(original, "original"), _checked(released, "released")
    if ours.shape != theirs.shape:
        raise InputError(
            f"the original map has {_size(ours)} cells and the released one {_size(theirs)}: "
            "bring both to one grid first"
        )
    if _constant(ours):
        raise InputError(
            f"the original map is {ours.flat[0]:g} in every cell, so there is nothing in it to "
            "keep: choose a map that somebody has looked at"
        )
    mse = float(np.mean((ours - theirs) ** 2))
    return MapError(
        correlation=None if _constant(theirs) else _pearson(ours, theirs),
        mse=mse,
        nmse=mse / float(ours.var()),
    )


CENTRE_VARIANCE = (0.22, 0.22 * 0.45)
"""Of gaze on any picture, across and down, in squares of half its width (Clarke & Tatler 2014)."""


def centre_bias(width_px: int, height_px: int) -> NDArray[np.float64]:
    """Where people look on any picture, as shares of gaze: what a map must beat to tell anything.

    A Gaussian about as wide as Clarke & Tatler (2014) recommend for scenes: in half widths of the
    picture, a variance of 0.22 across and 0.45 times that down.

    >>> blob = centre_bias(8, 6)
    >>> round(float(blob.sum()), 6), blob.argmax()
    (1.0, np.int64(19))
    """
    x, y = (
        (np.arange(length) + 0.5 - length / 2) * (2 / width_px) for length in (width_px, height_px)
    )
    across, down = CENTRE_VARIANCE
    blob = np.exp(-0.5 * (x**2 / across + y[:, None] ** 2 / down))
    return np.asarray(blob / blob.sum())


def _pearson(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    # Each scaled to its largest difference, so that no square overflows or vanishes.
    first, second = (values.ravel() - values.mean() for values in (one, other))
    first, second = first / np.abs(first).max(), second / np.abs(second).max()
    ratio = float(first @ second) / float(np.linalg.norm(first) * np.linalg.norm(second))
    return min(1.0, max(-1.0, ratio))


def _constant(values: NDArray[np.float64]) -> bool:
    """Whether all cells are the same but for rounding."""
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


def _checked(values: ArrayLike, which: str) -> NDArray[np.float64]:
    cells = np.asarray(values, dtype=np.float64)
    if cells.size == 0:
        raise InputError(f"the {which} map has no cells")
    bad = int(np.count_nonzero(~np.isfinite(cells)))
    if bad:
        raise InputError(
            f"the {which} map has {bad} cells that are no numbers: a cell that nobody looked at "
            "is 0, not missing"
        )
    return cells


def _size(values: NDArray[np.float64]) -> str:
    return " × ".join(str(length) for length in values.shape)

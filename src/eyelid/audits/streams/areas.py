"""Areas of interest: which part of the picture a sample is in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.study import Study

Areas = NDArray[np.intp]
Polygon = NDArray[np.float64]

COLUMNS, ROWS = 4, 3
# Of gaze whose screen is not known, without the outermost samples.
_MIDDLE = (0.01, 0.99)


def polygons_of(aois: Sequence[ArrayLike]) -> list[Polygon]:
    """The corners of each area, checked."""
    if not len(aois):
        raise InputError("there are no areas of interest: give at least one polygon, or None")
    polygons = [np.asarray(corners, dtype=np.float64) for corners in aois]
    for number, corners in enumerate(polygons):
        wrong = corners.ndim != 2 or corners.shape[-1] != 2 or len(corners) < 3
        if wrong or not np.isfinite(corners).all():
            raise InputError(
                f"area of interest {number} must be three or more corners (x, y), got an array of "
                f"shape {corners.shape}"
            )
    return polygons


def within(polygons: Sequence[Polygon], x: Floats, y: Floats) -> Areas:
    """The first polygon that holds each sample; -1 where none does.

    >>> triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> within([triangle], np.array([1.0, 3.0]), np.array([1.0, 3.0])).tolist()
    [0, -1]
    """
    found = np.full(len(x), -1, dtype=np.intp)
    for number, corners in reversed(list(enumerate(polygons))):
        inside = np.zeros(len(x), dtype=bool)
        # A ray to the right crosses the border an odd number of times.
        for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if y0 != y1:
                at = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
                inside ^= ((y0 <= y) != (y1 <= y)) & (x < at)
        found[inside] = number
    return found


def cells(edges: tuple[Floats, Floats], x: Floats, y: Floats) -> Areas:
    """The cell of a grid that each sample is in; the outer cells go on for ever."""
    column, row = (np.searchsorted(e, v, side="right") for e, v in zip(edges, (x, y), strict=True))
    return np.asarray(row * COLUMNS + column)


def screen_grid(study: Study) -> tuple[Floats, Floats] | None:
    """The inner borders of a grid over the screen; None where the screen's size is not known."""
    screen = study.screen
    if study.units == "fraction":
        width, height = 1.0, 1.0
    elif study.units == "px" and screen and screen.width_px and screen.height_px:
        width, height = float(screen.width_px), float(screen.height_px)
    else:
        return None
    start = 0.5 if study.xy_origin == "centre" else 0.0
    return tuple(  # type: ignore[return-value]
        (np.arange(1, parts) / parts - start) * size
        for parts, size in ((COLUMNS, width), (ROWS, height))
    )


def gaze_grid(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The inner borders of a grid over where one recording's gaze went."""

    def borders(values: Floats, parts: int) -> Floats:
        low, high = np.quantile(values, _MIDDLE)
        return np.asarray(low + (high - low) * np.arange(1, parts) / parts)

    return borders(x, COLUMNS), borders(y, ROWS)

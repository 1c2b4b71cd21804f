"""A grid of areas for those who name none: which part of the screen a sample is in."""

from __future__ import annotations

import numpy as np

from eyelid.gaze.areas import Places
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.study import Study

COLUMNS, ROWS = 4, 3
# Of gaze whose screen is not known, without the outermost samples.
_MIDDLE = (0.01, 0.99)


def cells(edges: tuple[Floats, Floats], x: Floats, y: Floats) -> Places:
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

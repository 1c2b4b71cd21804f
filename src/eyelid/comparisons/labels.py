"""Words beside points of a picture, where they hide neither points nor each other."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from eyelid.releases.drawing import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A letter, a line, and how far from its point a label may be: in typographic points.
_LETTER, _TALL = 5.0, 8.0
_REACHES, _DIRECTIONS = (9.0, 14.0, 20.0, 28.0, 37.0, 48.0, 60.0), 24
_LETTERS_A_LINE = 24


def labelled(
    axis: Axes,
    places: Sequence[tuple[float, float]],
    labels: Iterable[tuple[str, str]],
    others: Sequence[tuple[float, float]] = (),
) -> None:
    """Words beside points, where they hide neither points nor each other; a line leads to them."""
    dots = [axis.transData.transform(place) * 72 / axis.figure.dpi for place in (*places, *others)]
    frame = axis.get_window_extent()
    edges = [edge * 72 / axis.figure.dpi for edge in (frame.x0, frame.y0, frame.x1, frame.y1)]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in dots]
    for place, (x, y), (words, colour) in zip(places, dots, labels, strict=False):
        lines = words.splitlines()
        wide, tall = _LETTER * (max(map(len, lines)) + 1), _TALL * len(lines)
        away = _away(x, y, wide, taken, edges, tall)
        centre = x + away[0], y + away[1]
        taken.append(_around(*centre, wide, tall))
        far = math.hypot(*away) > 1.5 * _REACHES[0] + wide / 2
        axis.annotate(
            words,
            place,
            xytext=away,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SMALL,
            fontweight="bold",
            color=colour,
            zorder=5,
            bbox={"facecolor": "white", "alpha": 0.75, "pad": 0.4, "lw": 0},
            arrowprops={"arrowstyle": "-", "lw": 0.6, "color": colour, "alpha": 0.6, "shrinkB": 3}
            if far
            else None,
        ).set_in_layout(False)


def _away(
    x: float,
    y: float,
    wide: float,
    taken: Sequence[tuple[float, float, float, float]],
    edges: Sequence[float],
    tall: float = _TALL,
) -> tuple[float, float]:
    """The nearest free spot for some words; where there is none, straight above."""
    for reach in _REACHES:
        for turn in range(_DIRECTIONS):
            angle = math.pi / 2 - 2 * math.pi * turn / _DIRECTIONS
            dx = (reach + wide / 2 - _LETTER) * math.cos(angle)
            dy = (reach + (tall - _TALL) / 2) * math.sin(angle)
            left, low, right, high = _around(x + dx, y + dy, wide, tall)
            inside = left > edges[0] and low > edges[1] and right < edges[2] and high < edges[3]
            if inside and not any(
                left < x1 and right > x0 and low < y1 and high > y0 for x0, y0, x1, y1 in taken
            ):
                return dx, dy
    return 0.0, _REACHES[0]


def _around(
    x: float, y: float, wide: float, tall: float = _TALL
) -> tuple[float, float, float, float]:
    return x - wide / 2, y - tall / 2, x + wide / 2, y + tall / 2


def ranges(numbers: Sequence[int]) -> str:
    """Numbers that follow each other as one, in short lines.

    >>> ranges([1, 2, 3, 5, 7, 8])
    '1–3, 5, 7, 8'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return textwrap.fill(", ".join(words), _LETTERS_A_LINE)

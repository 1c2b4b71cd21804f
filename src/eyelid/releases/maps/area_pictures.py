"""A picture of tables over areas of interest, and of the areas on what was looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from eyelid.gaze.areas import Area
from eyelid.gaze.maps.gaze_map import RELIABLE_ERRORS
from eyelid.gaze.maps.grid import Floats
from eyelid.releases.drawing import BLUE, GREY, INK, SMALL
from eyelid.releases.maps.page import VEIL, WIDEST, Page, styled
from eyelid.releases.maps.pictures import Picture, draw_grey, short
from eyelid.spelling import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNITS = {
    "dwell": "dwell: share of all gaze",
    "visits": "visits: how many a person",
    "transitions": "transitions: how many a person, from the area at the left to the one above",
    "order": "order: share of people who came to the area as their first, second, … one",
}
# More than fit a picture are in the file of tables.
_MOST_BARS, _MOST_IN_MATRIX, _MOST_LAYERS = 40, 16, 6
_BAR, _HEADING, _AXIS = 0.25, 0.3, 0.4
_WIDEST_PAGE, _HIGHEST_PAGE = 5.0, 4.0


@dataclass(frozen=True)
class _Block:
    """A part of the picture: a table, or the areas on the page.

    Attributes:
        height: in inches, with its heading.
        draw: on a page, so many inches below the top of its body.
    """

    height: float
    draw: Callable[[Page, float], None]


def draw_tables(
    tables: pl.DataFrame,
    legend: str,
    *,
    areas: Sequence[Area] = (),
    pictures: Sequence[Picture | None] = (),
    title: str = "",
) -> Figure:
    """Every table of every layer, with two standard errors to both sides, and the areas.

    Args:
        tables: as `AoiTables.presented` gives them.
        legend: whom they protect; see `guarantee_legend`.
        areas: outlined on each picture.
        pictures: one a layer, or one for all; None where there is none.
        title: what was looked at.
    """
    layers = tables["layer"].unique(maintain_order=True).to_list()
    shown = layers[:_MOST_LAYERS]
    blocks: list[_Block] = []
    for number, layer in enumerate(shown):
        picture = pictures[number] if number < len(pictures) else None
        name = layer if len(layers) > 1 else ""
        if picture is not None:
            blocks.append(_page_block(areas, picture, name if len(pictures) > 1 else ""))
        of_layer = tables.filter(pl.col("layer") == layer)
        for _, rows in of_layer.group_by("table", maintain_order=True):
            blocks.append(_table_block(rows, name))
    notes = [
        f"Lines and ±: {RELIABLE_ERRORS:g} standard errors of the noise. Grey: within them of "
        "nothing, not to be trusted."
    ]
    if len(shown) < len(layers) or tables.height > tables.filter(_fits()).height:
        notes.append(
            f"Of {plural(len(layers), 'picture or stretch', 'pictures or stretches')} at most "
            f"{_MOST_LAYERS} are drawn, of a table at most {_MOST_BARS} bars, of transitions "
            f"{_MOST_IN_MATRIX} areas; areas.csv has all."
        )
    with styled():
        height = sum(block.height for block in blocks)
        page = Page(WIDEST, height, legend, title, notes, beside=0.1, below=0.0)
        top = 0.0
        for block in blocks:
            block.draw(page, top)
            top += block.height
    return page.figure


def _fits() -> pl.Expr:
    """Rows of tables that are drawn whole."""
    most = pl.when(pl.col("table") == "transitions").then(_MOST_IN_MATRIX**2).otherwise(_MOST_BARS)
    return pl.len().over("layer", "table") <= most


def _page_block(areas: Sequence[Area], picture: Picture, name: str) -> _Block:
    """The areas, outlined on what was looked at."""
    high, wide = picture.shape[:2]
    inches = min(_WIDEST_PAGE / wide, _HIGHEST_PAGE / high)
    above = _HEADING if name else 0.0

    def draw(page: Page, top: float) -> None:
        axes = page.axes(0.0, top + above, wide * inches, high * inches, frame=True)
        if name:
            axes.set_title(name, fontsize=9, loc="left", weight="bold")
        draw_grey(axes, picture)
        for area in areas:
            corners = np.vstack([area.corners, area.corners[:1]])
            for colour, width in (("white", 3.0), (BLUE, 1.4)):
                axes.plot(*corners.T, color=colour, linewidth=width)
            # Within the picture, wherever the area begins.
            x, y = np.clip(area.corners.min(axis=0), 0, (0.95 * wide, 0.95 * high))
            axes.text(
                x,
                y,
                short(area.name, 24),
                fontsize=SMALL,
                color="white",
                va="top",
                clip_on=True,
                bbox={"facecolor": BLUE, "edgecolor": "none", "pad": 1.5},
            )
        axes.set(xlim=(-0.5, wide - 0.5), ylim=(high - 0.5, -0.5))

    return _Block(above + high * inches + 0.2, draw)


def _table_block(rows: pl.DataFrame, layer: str) -> _Block:
    """One table of one layer."""
    table = rows["table"][0]
    heading = f"{layer}, {UNITS[table]}" if layer else UNITS[table]
    if table == "transitions":
        return _matrix_block(rows, heading)
    rows = rows.head(_MOST_BARS)
    names = [
        short(area, 30) if rank is None else f"{short(area, 30)}, as no. {rank}"
        for area, rank in rows.select("area", "rank").iter_rows()
    ]
    high = _BAR * len(names) + 0.1
    aside = 0.2 + 0.066 * max(map(len, names))

    def draw(page: Page, top: float) -> None:
        axes = page.axes(aside, top + _HEADING, WIDEST - aside, high)
        _head(page, top, heading)
        _draw_bars(axes, names, rows["measured"].to_numpy(), rows["standard_error"].to_numpy())

    return _Block(_HEADING + high + _AXIS, draw)


def _draw_bars(axes: Axes, names: Sequence[str], values: Floats, errors: Floats) -> None:
    reach = RELIABLE_ERRORS * errors
    places = np.arange(len(names))[::-1]
    axes.barh(places, values, 0.68, color=list(np.where(np.abs(values) > reach, BLUE, VEIL)))
    axes.errorbar(values, places, xerr=reach, fmt="none", ecolor=INK, capsize=2.5, elinewidth=1.0)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_yticks(places, names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _matrix_block(rows: pl.DataFrame, heading: str) -> _Block:
    """Transitions as a square of numbers, the darker the more."""
    names = rows["area"].unique(maintain_order=True).to_list()
    count = len(names)
    values, errors = (
        rows[what].to_numpy().reshape(count, count)[:_MOST_IN_MATRIX, :_MOST_IN_MATRIX]
        for what in ("measured", "standard_error")
    )
    names = [short(name, 18) for name in names[:_MOST_IN_MATRIX]]
    room = 0.2 + 0.066 * max(map(len, names))
    side = min(0.75, (WIDEST - room) / len(names))
    high = min(0.45, side)
    body = len(names) * high

    def draw(page: Page, top: float) -> None:
        from eyelid.plotting import LinearSegmentedColormap

        _head(page, top, f"{heading} (each ± {RELIABLE_ERRORS * errors.max():.2g})")
        axes = page.axes(room, top + _HEADING + room, len(names) * side, body)
        trusted = np.abs(values) > RELIABLE_ERRORS * errors
        most = float(np.abs(values).max()) or 1.0
        axes.set_facecolor("#eceeef")
        colours = LinearSegmentedColormap.from_list("white to blue", ["white", BLUE])
        axes.imshow(
            np.ma.masked_array(values, ~trusted), cmap=colours, vmin=0.0, vmax=most, aspect="auto"
        )
        size = min(SMALL, 72 * side / 4)
        for (row, column), value in np.ndenumerate(values):
            dark = trusted[row, column] and value > 0.6 * most
            colour = "white" if dark else INK if trusted[row, column] else GREY
            axes.text(
                column, row, f"{value:.2f}", ha="center", va="center", fontsize=size, color=colour
            )
        axes.xaxis.tick_top()
        axes.set_xticks(range(len(names)), names, rotation=90)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0)

    return _Block(_HEADING + room + body + 0.25, draw)


def _head(page: Page, top: float, words: str) -> None:
    """A heading above a table."""
    axes = page.axes(0.0, top, WIDEST, _HEADING)
    axes.axis("off")
    axes.text(0.0, 0.45, words, fontsize=9, weight="bold", va="center")

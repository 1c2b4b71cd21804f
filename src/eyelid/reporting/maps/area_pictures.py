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
from eyelid.io.pictures import Picture
from eyelid.reporting.drawing import BLUE, GREY, INK, SMALL
from eyelid.reporting.maps.page import VEIL, WIDEST, Page, styled
from eyelid.reporting.maps.pictures import draw_grey, short
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
_DRAWN = ("measured", "lower", "upper")
# More than fit a picture are in the file of tables.
_MOST_BARS, _MOST_IN_MATRIX, _MOST_LAYERS = 40, 16, 6
_BAR, _HEADING, _AXIS = 0.25, 0.3, 0.4
_HIGHEST_PAGE = 4.0
# Names beside a picture: how high, how far from it, and of how many letters.
_TAG, _LEADER, _TAG_LETTERS = 0.16, 0.15, 18


@dataclass(frozen=True)
class _Block:
    """A part of the picture: a table, or the areas on the page.

    Attributes:
        height: in inches, with its heading.
        draw: on a page, so many inches below the top of its body.
    """

    height: float
    draw: Callable[[Page, float], None]


@dataclass(frozen=True)
class _Tag:
    """The name of an area, and where on its outline a line to it ends."""

    name: str
    x: float
    y: float


def draw_tables(
    tables: pl.DataFrame,
    legend: str,
    *,
    areas: Sequence[Area] = (),
    pictures: Sequence[Picture | None] = (),
    title: str = "",
) -> Figure:
    """Every table of every layer, with two standard errors to both sides, and the areas.

    What noise made negative is drawn as zero, with what is possible of its interval.

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
        f"Lines and ±: {RELIABLE_ERRORS:g} standard errors of the noise, as far as they are "
        "possible. Grey: within them of nothing, not to be trusted. What noise made negative is "
        "drawn as 0; areas.csv has it as it was measured."
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
    """The areas, outlined on what was looked at; their names stand beside it."""
    high, wide = picture.shape[:2]
    left, right = _sides(areas[:_MOST_BARS], wide, high)
    rooms = [_room(each) for each in (left, right)]
    inches = min((WIDEST - sum(rooms)) / wide, _HIGHEST_PAGE / high)
    above = _HEADING if name else 0.0
    # Where names are many, they reach below a flat picture.
    tall = max(high * inches, _TAG * max(len(left), len(right)))

    def draw(page: Page, top: float) -> None:
        axes = page.axes(rooms[0], top + above, wide * inches, high * inches, frame=True)
        if name:
            axes.set_title(name, fontsize=9, loc="left", weight="bold")
        draw_grey(axes, picture)
        for area in areas:
            corners = np.vstack([area.corners, area.corners[:1]])
            for colour, width, alpha in (("white", 2.6, 0.6), (BLUE, 1.3, 1.0)):
                axes.plot(*corners.T, color=colour, linewidth=width, alpha=alpha)
        axes.set(xlim=(-0.5, wide - 0.5), ylim=(high - 0.5, -0.5))
        for tags, side in ((left, -1), (right, 1)):
            _draw_tags(axes, tags, side, tall / inches, 1 / inches)

    return _Block(above + tall + 0.2, draw)


def _sides(areas: Sequence[Area], wide: int, high: int) -> tuple[list[_Tag], list[_Tag]]:
    """Names of areas at the nearer side of the picture, from above, and where each area begins."""
    sides: tuple[list[_Tag], list[_Tag]] = ([], [])
    for area in areas:
        corners = np.clip(area.corners, 0, (wide - 1.0, high - 1.0))
        to_right = corners[:, 0].min() + corners[:, 0].max() > wide
        ends = corners[:, 0].max() if to_right else corners[:, 0].min()
        # The middle of what is nearest to that side.
        near = corners[np.isclose(corners[:, 0], ends, atol=0.5), 1]
        y = (near.min() + near.max()) / 2
        sides[int(to_right)].append(_Tag(short(area.name, _TAG_LETTERS), float(ends), float(y)))
    for tags in sides:
        tags.sort(key=lambda tag: tag.y)
    return sides


def _room(tags: Sequence[_Tag]) -> float:
    """What names need beside a picture, in inches."""
    return _LEADER + 0.066 * (1 + max(len(tag.name) for tag in tags)) if tags else 0.0


def _draw_tags(axes: Axes, tags: Sequence[_Tag], side: int, tall: float, inch: float) -> None:
    """Names beside a picture, each with a thin line to its area.

    Args:
        axes: of the picture, in px of it.
        tags: from above.
        side: -1 at its left, 1 at its right.
        tall: how far down names may reach, in px.
        inch: how many px it is.
    """
    edge = -0.5 if side < 0 else axes.get_xlim()[1]
    places = _apart(np.array([tag.y for tag in tags]), _TAG * inch, tall)
    for tag, place in zip(tags, places, strict=True):
        x = [edge + side * _LEADER * inch, edge, tag.x]
        y = [place, tag.y if abs(edge - tag.x) < 1 else place, tag.y]
        axes.plot(x, y, color=BLUE, linewidth=0.7, clip_on=False)
        axes.plot(tag.x, tag.y, "o", color=BLUE, mec="white", ms=3.5, clip_on=False)
        axes.text(
            x[0] + side * 0.03 * inch,
            place,
            tag.name,
            fontsize=SMALL,
            color=BLUE,
            ha="right" if side < 0 else "left",
            va="center",
        )


def _apart(wanted: Floats, gap: float, tall: float) -> Floats:
    """Places near the wanted ones, in their order, at least a gap from each other and the ends.

    >>> _apart(np.array([1.0, 1.0, 9.0]), 2.0, 10.0).tolist()
    [1.0, 3.0, 9.0]
    """
    places = np.maximum(wanted, gap / 2)
    for number in range(1, len(places)):
        places[number] = max(places[number], places[number - 1] + gap)
    last = tall - gap / 2
    for number in reversed(range(len(places))):
        places[number] = min(places[number], last)
        last = places[number] - gap
    return places


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
        _draw_bars(axes, names, *(rows[which].to_numpy() for which in _DRAWN))

    return _Block(_HEADING + high + _AXIS, draw)


def _draw_bars(
    axes: Axes, names: Sequence[str], measured: Floats, lower: Floats, upper: Floats
) -> None:
    """Bars from zero, what is negative as zero, each with its interval."""
    values = np.clip(measured, 0.0, upper)
    places = np.arange(len(names))[::-1]
    axes.barh(places, values, 0.68, color=list(np.where(lower > 0, BLUE, VEIL)))
    reach = np.maximum([values - lower, upper - values], 0.0)
    axes.errorbar(values, places, xerr=reach, fmt="none", ecolor=INK, capsize=2.5, elinewidth=1.0)
    axes.axvline(0.0, color=INK, linewidth=0.8)
    axes.set_xlim(0.0, 1.05 * float(upper.max()) or 1.0)
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
    values = np.maximum(values, 0.0)
    names = [short(name, 18) for name in names[:_MOST_IN_MATRIX]]
    room = 0.2 + 0.066 * max(map(len, names))
    side = min(0.75, (WIDEST - room) / len(names))
    high = min(0.45, side)
    body = len(names) * high

    def draw(page: Page, top: float) -> None:
        from eyelid.plotting import LinearSegmentedColormap

        _head(page, top, f"{heading} (each ± {RELIABLE_ERRORS * errors.max():.2g})")
        axes = page.axes(room, top + _HEADING + room, len(names) * side, body)
        trusted = values > RELIABLE_ERRORS * errors
        most = float(values.max()) or 1.0
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

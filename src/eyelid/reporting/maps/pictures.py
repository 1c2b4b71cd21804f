"""Pictures of gaze maps: heat alone, over what was looked at, and what of it can be trusted.

Every function returns a figure that `save` writes. Under each picture stands whom it protects, or,
in a colour that cannot be missed, that it protects nobody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import RELIABLE_ERRORS, GazeMap, difference
from eyelid.io.pictures import Picture
from eyelid.reporting.drawing import BLUE, INK, ORANGE, SMALL
from eyelid.reporting.maps.page import (
    DPI,
    HIGHEST,
    LINE,
    MARGIN,
    VEIL,
    WIDEST,
    Page,
    noise_remark,
    styled,
)
from eyelid.reporting.maps.reliability import difference_sentence
from eyelid.spelling import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Floats = NDArray[np.float64]

MOST_LAYERS = 24

# Both read in grey and for every eye. Alone, lightness grows with heat; over a picture, which is
# light, darkness does, so that what nobody looked at fades into it.
HEAT, HEAT_OVER = "viridis", "YlOrRd"
_GROUND = "#f4f4f2"
_UNIT, _OF_ALL = "density of gaze, % of the hottest place", " of all maps"
_HATCHED = (
    f"Hatched: less than {RELIABLE_ERRORS:g} standard errors of the noise from zero, not to be "
    "trusted."
)
_LINES = (
    "Solid line: clearly more gaze than the average of the page, tested over the whole map (on an "
    "evenly viewed page noise draws one in at most 1 of 20 maps). Dashed: above that average by "
    f"{RELIABLE_ERRORS:g} standard errors, may be noise. {_HATCHED}"
)
_LINES_BETWEEN = (
    "Solid line: differs clearly from zero (noise alone draws one in at most 1 of 20 maps). "
    f"Dashed: differs by {RELIABLE_ERRORS:g} standard errors, may be noise. {_HATCHED}"
)
# So that a page can be read: as many px as it has, up to these.
_WIDEST_PX, _HIGHEST_PX = 2400, 4800
_DARKEST = 0.25
_NAMED = 40
# A line around an area needs no more columns than that.
_OUTLINE_COLUMNS = 420


def draw_heatmap(gaze_map: GazeMap, legend: str, *, degree_px: float | None = None) -> Figure:
    """The map alone.

    Args:
        gaze_map: released, or not.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
    """
    heat, most = _relative([gaze_map])
    with styled():
        page, axes = _map_page(gaze_map, legend, degree_px, remark=noise_remark([gaze_map]))
        drawn = axes.imshow(heat[0], cmap=HEAT, vmin=0.0, vmax=most, aspect="auto")
        page.colour_bar(drawn, _UNIT)
        _say_empty(axes, gaze_map, "white")
    return page.figure


def draw_overlay(
    gaze_map: GazeMap, picture: Picture | None, legend: str, *, degree_px: float | None = None
) -> Figure:
    """The heat over what was looked at; where nobody looked, the picture shows.

    Args:
        gaze_map: released, or not.
        picture: (height, width, 3), as large as the map; None for a plain ground.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
    """
    heat, most = _relative([gaze_map])
    with styled():
        page, axes = _map_page(
            gaze_map, legend, degree_px, picture=picture, remark=noise_remark([gaze_map])
        )
        _draw_ground(axes, gaze_map, picture)
        page.colour_bar(_draw_over(axes, heat[0], most), _UNIT)
        _say_empty(axes, gaze_map, INK)
    return page.figure


def draw_reliable(
    gaze_map: GazeMap,
    picture: Picture | None,
    legend: str,
    *,
    degree_px: float | None = None,
    sentence: str = "",
) -> Figure:
    """The heat where it lies above two standard errors of the noise; the rest under a veil.

    Args:
        gaze_map: with its standard error; one without has no noise, and no veil.
        picture: (height, width, 3), as large as the map; None for a plain ground.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
        sentence: how wide hotspots must be to be trusted, for the notes below.
    """
    heat, most = _relative([gaze_map])
    if gaze_map.error is None:
        notes = ["No noise was added, so there is nothing to veil."]
    else:
        notes = [_LINES, sentence]
    with styled():
        page, axes = _map_page(gaze_map, legend, degree_px, notes, picture=picture)
        _draw_ground(axes, gaze_map, picture)
        page.colour_bar(_draw_trusted(axes, heat[0], most, gaze_map), _UNIT)
        if not gaze_map.reliable.any():
            _say(axes, "Nothing here rises above the noise:\nno hotspot can be trusted.", INK)
    return page.figure


def draw_difference(
    first: GazeMap,
    second: GazeMap,
    picture: Picture | None,
    legend: str,
    *,
    degree_px: float | None = None,
    title: str = "",
) -> Figure:
    """Where one group looked more than the other, and where that is more than noise.

    Args:
        first: of one group, called like it.
        second: of the other, as large.
        picture: (height, width, 3), as large as the maps; None for a plain ground.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
        title: what they looked at.
    """
    more, less = difference(first, second), difference(second, first)
    hottest = max(float(_measured(item).max()) for item in (first, second))
    share = _measured(more) * (100.0 / hottest if hottest > 0 else 1.0)
    shown = more.reliable | less.reliable
    most = float(np.abs(share).max(where=shown, initial=0.0)) or 100.0
    names = first.name, second.name
    by = [f"more looked at by {short(name, 24)}" for name in names]
    notes = [
        difference_sentence(first, second),
        f"Blue: {by[0]}. Orange: {by[1]}. {_LINES_BETWEEN}",
    ]
    heading = f"{title}: {names[0]} and {names[1]}" if title else f"{names[0]} and {names[1]}"
    with styled():
        page, axes = _map_page(more, legend, degree_px, notes, heading, picture)
        _draw_ground(axes, more, picture)
        colours = _diverging(translucent=picture is not None)
        drawn = axes.imshow(
            np.ma.masked_array(share, ~shown), cmap=colours, vmin=-most, vmax=most, aspect="auto"
        )
        _draw_veil(axes, np.maximum(more.above(RELIABLE_ERRORS), less.above(RELIABLE_ERRORS)))
        for item, name in zip((more, less), names, strict=True):
            _draw_lines(axes, item)
            _name_places(axes, item, name)
        page.colour_bar(drawn, f"← {by[1]}\n% of the hottest place of both maps\n{by[0]} →", abs)
        if not shown.any():
            _say(axes, "The two maps differ nowhere\nby more than the noise.", INK)
    return page.figure


def draw_layers(
    maps: Sequence[GazeMap],
    legend: str,
    picture: Picture | Sequence[Picture | None] | None = None,
    most: int = MOST_LAYERS,
    *,
    reliable_only: bool = False,
    degree_px: float | None = None,
    title: str = "",
    sentence: str = "",
) -> Figure:
    """Several pictures or stretches of time, small, side by side, in one scale of colours.

    Args:
        maps: one a layer.
        legend: whom they protect; see `guarantee_legend`.
        picture: below all of them, or one for each; None for the heat alone.
        most: how many are drawn; the legend says how many are not.
        reliable_only: veil what lies below two standard errors of the noise.
        degree_px: how many px one degree of visual angle takes, where known.
        title: what all of them are of.
        sentence: how wide hotspots must be to be trusted, for the notes below.
    """
    if not maps:
        raise InputError("there is no map to draw: give at least one")
    shown = list(maps[:most])
    below = [picture] * len(maps) if isinstance(picture, np.ndarray) else picture
    heat, top = _relative(shown)
    columns = min(len(shown), max(3, math.ceil(math.sqrt(len(shown)))))
    rows = math.ceil(len(shown) / columns)
    high, wide = shown[0].values.shape
    width = (WIDEST + 1.0 - MARGIN * (columns - 1)) / columns
    width = min(width, 3.2, 2.6 * wide / high)
    height = width * high / wide
    step = height + 1.6 * LINE
    left_out = len(maps) - len(shown)
    few, many = (extreme(item.people for item in maps) for extreme in (min, max))
    notes = [_facts(shown[0], _people(many) if few == many else f"{few} to {many} people each")]
    if reliable_only:
        notes += [_LINES, sentence]
    if left_out:
        notes.append(f"The first {len(shown)} of {len(maps)} maps; {left_out} are not shown.")
    with styled():
        body = columns * width + (columns - 1) * MARGIN
        tall = rows * step - 0.3 * LINE
        dpi = DPI if below is None else _dpi(columns * wide, rows * high, body, tall)
        remark = "" if reliable_only else noise_remark(shown)
        page = Page(body, tall, legend, title, notes, beside=1.2, dpi=dpi, remark=remark)
        page.scale_bar(wide, degree_px, width)
        for place, (item, values) in enumerate(zip(shown, heat, strict=True)):
            row, column = divmod(place, columns)
            axes = page.axes(
                column * (width + MARGIN), row * step + 1.3 * LINE, width, height, frame=True
            )
            if below is not None or reliable_only:
                _draw_ground(axes, item, None if below is None else below[place])
            empty, colour = not values.any(), INK
            if reliable_only:
                drawn, empty = _draw_trusted(axes, values, top, item), not item.reliable.any()
            elif below is not None:
                drawn = _draw_over(axes, values, top)
            else:
                drawn = axes.imshow(values, cmap=HEAT, vmin=0.0, vmax=top, aspect="auto")
                colour = "white"
            name = short(item.name, max(6, int(width * 72 / (SMALL * 0.62))))
            axes.set_title(name, fontsize=SMALL, loc="left", pad=2)
            if empty:
                _say(axes, "nothing above\nthe noise", colour, SMALL)
        page.colour_bar(drawn, _UNIT + _OF_ALL)
    return page.figure


def draw_grey(axes: Axes, picture: Picture) -> None:
    """What was looked at, in grey, so that colours say something else."""
    grey = picture @ np.array([0.2126, 0.7152, 0.0722]) / 255.0
    seen = _DARKEST + (1.0 - _DARKEST) * grey
    axes.imshow(seen, cmap="gray", vmin=0.0, vmax=1.0, aspect="auto")


def short(name: str, letters: int) -> str:
    """A name of at most so many letters, on one line.

    >>> short("a long name", 8), short("a name", 8)
    ('a long…', 'a name')
    """
    line = " ".join(name.split())
    return line if len(line) <= letters else line[: letters - 1].rstrip() + "…"


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, with its short title and nothing about who drew it, when or where."""
    metadata = {"Software": None, "Title": figure.get_label() or None}
    from eyelid.plotting import styled

    with styled({}):
        try:
            figure.savefig(path, format="png", dpi="figure", metadata=metadata, facecolor="white")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def _map_page(
    gaze_map: GazeMap,
    legend: str,
    degree_px: float | None,
    notes: Sequence[str] = (),
    title: str | None = None,
    picture: Picture | None = None,
    remark: str = "",
) -> tuple[Page, Axes]:
    """A page for one map, and the axes that it fills; as fine as the picture in it."""
    high, wide = gaze_map.values.shape
    inches = min(WIDEST / wide, HIGHEST / high)
    name = gaze_map.name if title is None else title
    said = [_facts(gaze_map, _people(gaze_map.people)), *notes]
    dpi = DPI if picture is None else _dpi(wide, high, wide * inches, high * inches)
    page = Page(wide * inches, high * inches, legend, name, said, dpi=dpi, remark=remark)
    page.scale_bar(wide, degree_px)
    return page, page.axes(0.0, 0.0, wide * inches, high * inches, frame=True)


def _dpi(wide: int, high: int, width: float, height: float) -> float:
    """As many dots as there are px, where that is more than usual and not too many.

    >>> _dpi(1920, 1080, 7.0, 3.9375) * 7.0
    1920.0
    """
    return max(DPI, min(min(wide, _WIDEST_PX) / width, min(high, _HIGHEST_PX) / height))


def _facts(gaze_map: GazeMap, people: str) -> str:
    """What is public about a map: its size, its observers, its blur."""
    said = [f"{_size(gaze_map.values)} px", people]
    if gaze_map.sigma_px:
        said.append(f"point spread of sd {gaze_map.sigma_px:.3g} px")
    return " · ".join(said)


def _relative(maps: Sequence[GazeMap]) -> tuple[list[Floats], float]:
    """Heat in % of the hottest place of all the maps, and what that has."""
    most = max(float(item.values.max()) for item in maps)
    return [item.values * (100.0 / most if most > 0 else 0.0) for item in maps], 100.0


def _measured(gaze_map: GazeMap) -> Floats:
    return gaze_map.values if gaze_map.measured is None else gaze_map.measured


def _draw_ground(axes: Axes, gaze_map: GazeMap, picture: Picture | None) -> None:
    """What was looked at, or a plain ground."""
    if picture is None:
        axes.set_facecolor(_GROUND)
        return
    if picture.shape[:2] != gaze_map.values.shape:
        raise InputError(
            f"the picture is {_size(picture)} px and the map {_size(gaze_map.values)}: give the "
            "picture in the size that the map was made for"
        )
    draw_grey(axes, picture)


def _draw_over(axes: Axes, heat: Floats, most: float) -> AxesImage:
    """Heat that lets the ground through where there is little of it."""
    return axes.imshow(heat, cmap=_translucent(), vmin=0.0, vmax=most, aspect="auto")


def _draw_trusted(axes: Axes, heat: Floats, most: float, gaze_map: GazeMap) -> AxesImage:
    """Draw a map where it is above the noise, and a veil over the rest."""
    drawn = _draw_over(axes, np.ma.masked_array(heat, ~gaze_map.reliable), most)
    _draw_veil(axes, gaze_map.above(RELIABLE_ERRORS))
    _draw_lines(axes, gaze_map)
    return drawn


def _draw_lines(axes: Axes, gaze_map: GazeMap) -> None:
    """Around what stands out by two standard errors, and around what does so for certain."""
    _outline(axes, gaze_map.standing_out_by(RELIABLE_ERRORS), "dashed", 0.9)
    if gaze_map.certain_errors is not None:
        _outline(axes, gaze_map.standing_out_by(gaze_map.certain_errors), "solid", 1.4)


def _name_places(axes: Axes, gaze_map: GazeMap, name: str) -> None:
    """Whose each place is, so that two colours differ in grey."""
    from scipy.ndimage import label, maximum_position

    places, count = label(gaze_map.reliable)
    found = maximum_position(_measured(gaze_map), places, np.arange(1, min(count, _NAMED) + 1))
    for y, x in found:
        axes.text(
            x,
            y,
            short(name, 12),
            fontsize=SMALL,
            color=INK,
            ha="center",
            va="center",
            clip_on=True,
            bbox={"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1},
        )


def _translucent() -> Colormap:
    """The colours of heat, the more opaque the hotter."""
    from eyelid.plotting import ListedColormap, colormaps

    share = np.linspace(0.0, 1.0, 256)
    colours = colormaps[HEAT_OVER](0.25 + 0.75 * share)
    colours[:, 3] = 0.75 * share**0.5
    return ListedColormap(colours, name="heat over a picture")


def _diverging(*, translucent: bool = False) -> Colormap:
    """Orange, almost white, blue: the two ends are as dark as each other."""
    from eyelid.plotting import LinearSegmentedColormap, to_rgba

    colours = [ORANGE, "#f5c9a8", "#f7f7f7", "#a9cfe6", BLUE]
    return LinearSegmentedColormap.from_list(
        "orange to blue", [to_rgba(each, 0.7 if translucent else 1.0) for each in colours]
    )


def _draw_veil(axes: Axes, above: Floats) -> None:
    """A grey, hatched veil where something is not above nothing."""
    below = above <= 0
    if not below.any():
        return
    from eyelid.plotting import ListedColormap

    veil = np.ma.masked_array(np.ones(below.shape), ~below)
    axes.imshow(veil, cmap=ListedColormap([VEIL]), alpha=0.45, aspect="auto")
    x, y, field = _thinned(above)
    axes.contourf(x, y, -field, levels=[0.0, 2.0], colors="none", hatches=["////"])


def _outline(axes: Axes, above: Floats, style: str, width: float) -> None:
    """A line where something begins to be above nothing."""
    if above.min() < 0 < above.max():
        x, y, field = _thinned(above)
        axes.contour(x, y, field, levels=[0.0], colors=INK, linewidths=width, linestyles=style)


def _thinned(field: Floats) -> tuple[Floats, Floats, Floats]:
    """Places and values of about as many cells as a line needs, out to the frame; at most 1."""
    step = max(1, -(-max(field.shape) // _OUTLINE_COLUMNS))
    across, down = (np.unique(np.r_[0:length:step, length - 1]) for length in field.shape[::-1])
    values = np.pad(field[np.ix_(down, across)] / (np.abs(field).max() or 1.0), 1, mode="edge")
    x, y = (np.r_[-0.5, places, places[-1] + 0.5] for places in (across, down))
    return x, y, values


def _say_empty(axes: Axes, gaze_map: GazeMap, colour: str) -> None:
    if not gaze_map.values.any():
        noisy = "Nothing rises above the noise:\nthe map is empty."
        _say(axes, "Nobody looked here." if gaze_map.error is None else noisy, colour)


def _say(axes: Axes, words: str, colour: str, size: float = 13.0) -> None:
    """Words in the middle, on a light ground where they are dark."""
    box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none"} if colour == INK else None
    axes.text(
        0.5,
        0.5,
        words,
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=size,
        color=colour,
        weight="bold",
        bbox=box,
    )


def _people(count: int) -> str:
    return plural(count, "person", "people")


def _size(values: NDArray[Any]) -> str:
    """Width × height."""
    return f"{values.shape[1]:,} × {values.shape[0]:,}"

"""Pictures of gaze maps: heat alone, over what was looked at, and what of it can be trusted.

Every function returns a figure that `save` writes. Under each picture stands whom it protects, or,
in a colour that cannot be missed, that it protects nobody.
"""

from __future__ import annotations

import math
import struct
import textwrap
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import RELIABLE_ERRORS, GazeMap
from eyelid.privacy.guarantee import Guarantee, rounded_up
from eyelid.releases.drawing import BLUE, INK, ORANGE, SMALL
from eyelid.releases.maps.page import (
    HIGHEST,
    LINE,
    MARGIN,
    NO_GUARANTEE,
    VEIL,
    WIDEST,
    Page,
    styled,
)
from eyelid.releases.words import FORMAL_ONLY, formal_only, plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Floats = NDArray[np.float64]
Picture = NDArray[np.uint8]

MOST_LAYERS = 24
MOST_PX = 100_000_000

# Both read in grey and for every eye. Alone, lightness grows with heat; over a picture, which is
# light, darkness does, so that what nobody looked at fades into it.
HEAT, HEAT_OVER = "viridis", "YlOrRd"
_GROUND = "#f4f4f2"
_UNIT = "share of gaze, in units of an even spread"
_VEILED = (
    f"Hatched: below {RELIABLE_ERRORS:g} standard errors of the noise, not to be trusted. "
    "Noise alone would show in about 2 % of the picture."
)
_DPI = 160
# A line around an area needs no more columns than that.
_OUTLINE_COLUMNS = 420
_AT_MOST = f"at most {MOST_PX // 1_000_000} million px are read, scale it down"
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")


def guarantee_legend(guarantee: Guarantee, people: int) -> str:
    """Whom a map protects, and how much, for the line below its picture.

    >>> from eyelid.privacy.guarantee import Kind
    >>> from eyelid.privacy.unit import PERSON, Neighbours, Trust
    >>> pure = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.CENTRAL, epsilon=1.0)
    >>> guarantee_legend(pure.broken("its noise was seeded"), 5)
    'NO PRIVACY GUARANTEE for the 5 people in this map: its noise was seeded.'
    """
    if not guarantee.holds or not guarantee.kind.differential:
        why = "; ".join(guarantee.reasons) or "the mechanism gives none"
        return f"{NO_GUARANTEE} for the {_people(people)} in this map: {why}."
    epsilon = math.inf if guarantee.epsilon is None else guarantee.epsilon
    factor = rounded_up(math.exp(epsilon), 3) if epsilon < 20 else f"e^{rounded_up(epsilon)}"
    addition = f", plus {rounded_up(guarantee.delta)}" if guarantee.delta else ""
    text = (
        f"Protects each of {_people(people)}: wherever else one of them had looked, any map would "
        f"still be as likely, up to a factor of {factor}{addition} ({guarantee.numbers()}; unit "
        f"{guarantee.unit}, {guarantee.neighbours}). That these {_people(people)} took part is "
        "public."
    )
    return f"{text} {FORMAL_ONLY}" if formal_only(guarantee) else text


def draw_heatmap(gaze_map: GazeMap, legend: str, *, degree_px: float | None = None) -> Figure:
    """The map alone.

    Args:
        gaze_map: released, or not.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
    """
    heat, most = _relative([gaze_map])
    with styled():
        page, axes = _map_page(gaze_map, legend, degree_px)
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
        page, axes = _map_page(gaze_map, legend, degree_px)
        _draw_ground(axes, gaze_map, picture)
        page.colour_bar(_draw_over(axes, heat[0], most), _UNIT)
        _say_empty(axes, gaze_map, INK)
    return page.figure


def draw_reliable(
    gaze_map: GazeMap, picture: Picture | None, legend: str, *, degree_px: float | None = None
) -> Figure:
    """The heat where it lies above two standard errors of the noise; the rest under a veil.

    Args:
        gaze_map: with its standard error; one without has no noise, and no veil.
        picture: (height, width, 3), as large as the map; None for a plain ground.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
    """
    heat, most = _relative([gaze_map])
    above = _above_noise(gaze_map)
    note = "No noise was added, so there is nothing to veil." if gaze_map.error is None else _VEILED
    with styled():
        page, axes = _map_page(gaze_map, legend, degree_px, note)
        _draw_ground(axes, gaze_map, picture)
        page.colour_bar(_draw_trusted(axes, heat[0], most, above), _UNIT)
        if above.max() <= 0:
            _say(axes, "Nothing here rises above the noise:\nno hotspot can be trusted.", INK)
    return page.figure


def draw_difference(
    first: GazeMap, second: GazeMap, legend: str, *, degree_px: float | None = None
) -> Figure:
    """Where one group looked more than the other, and where that is more than noise.

    Args:
        first: of one group.
        second: of the other, as large.
        legend: whom it protects; see `guarantee_legend`.
        degree_px: how many px one degree of visual angle takes, where known.
    """
    if first.values.shape != second.values.shape:
        raise InputError(
            f"the maps are {_size(first.values)} and {_size(second.values)} px: two maps are "
            "compared place by place, make both of one size"
        )
    one, other = (_measured(item) for item in (first, second))
    mean = float(np.mean([np.maximum(values, 0.0).mean() for values in (one, other)])) or 1.0
    difference = (one - other) / mean
    error = np.hypot(*(_error(item) for item in (first, second))) / mean
    above = np.abs(difference) - RELIABLE_ERRORS * error
    most = float(np.abs(difference).max(where=above > 0, initial=0.0)) or 1.0
    names = first.name or "the first group", second.name or "the second group"
    note = (
        f"Blue, solid line: more in {names[0]}. Orange, dashed line: more in {names[1]}. Hatched: "
        f"the difference is below {RELIABLE_ERRORS:g} of its standard errors, not to be trusted. "
        "Noise alone would show in about 5 % of the picture."
    )
    title = f"{names[0]} less {names[1]}"
    with styled():
        page, axes = _map_page(first, legend, degree_px, note, title, first.people + second.people)
        axes.set_facecolor(_GROUND)
        shown = np.ma.masked_array(difference, above <= 0)
        drawn = axes.imshow(shown, cmap=_diverging(), vmin=-most, vmax=most, aspect="auto")
        _draw_veil(axes, above)
        _outline(axes, np.where(difference > 0, above, -np.abs(above)), "solid")
        _outline(axes, np.where(difference < 0, above, -np.abs(above)), "dashed")
        page.colour_bar(drawn, "difference, in units of the mean of both maps")
        if above.max() <= 0:
            _say(axes, "The two maps differ nowhere\nby more than the noise.", INK)
    return page.figure


def draw_layers(
    maps: Sequence[GazeMap],
    legend: str,
    picture: Picture | Sequence[Picture | None] | None = None,
    most: int = MOST_LAYERS,
    *,
    reliable_only: bool = False,
) -> Figure:
    """Several pictures or stretches of time, small, side by side, in one scale of colours.

    Args:
        maps: one a layer.
        legend: whom they protect; see `guarantee_legend`.
        picture: below all of them, or one for each; None for the heat alone.
        most: how many are drawn; the legend says how many are not.
        reliable_only: veil what lies below two standard errors of the noise.
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
        notes.append(_VEILED)
    if left_out:
        notes.append(f"The first {len(shown)} of {len(maps)} maps; {left_out} are not shown.")
    letters = max(6, int(width * 72 / (SMALL * 0.62)))
    with styled():
        body = columns * width + (columns - 1) * MARGIN
        page = Page(body, rows * step - 0.3 * LINE, legend, notes=notes, below=0.0)
        for place, (item, values) in enumerate(zip(shown, heat, strict=True)):
            row, column = divmod(place, columns)
            axes = page.axes(
                column * (width + MARGIN), row * step + 1.3 * LINE, width, height, frame=True
            )
            if below is not None or reliable_only:
                _draw_ground(axes, item, None if below is None else below[place])
            empty, colour = not values.any(), INK
            if reliable_only:
                above = _above_noise(item)
                drawn, empty = _draw_trusted(axes, values, top, above), above.max() <= 0
            elif below is not None:
                drawn = _draw_over(axes, values, top)
            else:
                drawn = axes.imshow(values, cmap=HEAT, vmin=0.0, vmax=top, aspect="auto")
                colour = "white"
            name = textwrap.shorten(item.name, letters, placeholder="…") or item.name[:letters]
            axes.set_title(name, fontsize=SMALL, loc="left", pad=2)
            if empty:
                _say(axes, "nothing above\nthe noise", colour, SMALL)
        page.colour_bar(drawn, _UNIT)
    return page.figure


def draw_areas(
    names: Sequence[str],
    values: Sequence[float],
    errors: Sequence[float] | None,
    legend: str,
    *,
    unit: str = "share of gaze",
    title: str = "",
) -> Figure:
    """A table over areas of interest as bars, with two standard errors to both sides.

    Args:
        names: of the areas.
        values: one an area.
        errors: standard errors of the noise; None where none was added.
        legend: whom it protects; see `guarantee_legend`.
        unit: of the values, in words.
        title: above the bars.
    """
    heights = np.asarray(values, dtype=np.float64)
    spread = np.zeros_like(heights) if errors is None else np.asarray(errors, dtype=np.float64)
    if not len(names) == heights.size == spread.size or not names:
        raise InputError(
            f"a picture of areas needs a name, a value and an error each, got {len(names)} names, "
            f"{heights.size} values and {spread.size} errors"
        )
    reach = RELIABLE_ERRORS * spread
    colours = np.where(np.abs(heights) > reach, BLUE, VEIL)
    places = np.arange(len(names))[::-1]
    words = [textwrap.shorten(name, 34, placeholder="…") or name[:34] for name in names]
    notes = []
    if errors is not None:
        notes.append(
            f"Lines: ± {RELIABLE_ERRORS:g} standard errors of the noise. Grey bars are within "
            "them, not to be trusted."
        )
    aside, high = 0.2 + 0.066 * max(map(len, words)), 0.27 * len(names) + 0.1
    with styled():
        page = Page(WIDEST, high, legend, title, notes, beside=0.1, below=0.45)
        axes = page.axes(aside, 0.0, WIDEST - aside, high)
        axes.barh(places, heights, 0.68, color=list(colours))
        if errors is not None:
            axes.errorbar(
                heights, places, xerr=reach, fmt="none", ecolor=INK, capsize=2.5, elinewidth=1.0
            )
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_yticks(places, words)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_xlabel(unit)
    return page.figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, with its short title and nothing about who drew it, when or where."""
    metadata = {"Software": None, "Title": figure.get_label() or None}
    with warnings.catch_warnings():
        # Names may have letters that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing")
        try:
            figure.savefig(path, format="png", dpi=_DPI, metadata=metadata, facecolor="white")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from error


def read_picture(path: Path) -> Picture:
    """A picture file as (height, width, 3), the right way up, what is transparent over white.

    Args:
        path: PNG, JPEG, GIF (its first picture), BMP, TIFF or WebP.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    with warnings.catch_warnings():
        # What a file says about itself beside its pixels is of no matter here.
        warnings.simplefilter("ignore")
        try:
            with Image.open(path, formats=_FORMATS) as image:
                _check_size(path, *image.size)
                upright = ImageOps.exif_transpose(image)
                return _in_colours(path, upright)
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            raise InputError(f"cannot open the picture {path}: {error.strerror}") from error
        except UnidentifiedImageError as error:
            raise InputError(
                f"{path} is no picture that can be read: give a PNG, JPEG, GIF, BMP, TIFF or WebP"
            ) from error
        except Image.DecompressionBombError as error:
            raise InputError(f"the picture {path} is far too large: {_AT_MOST}") from error
        except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
            raise InputError(
                f"the picture {path} is cut off or damaged ({error}): copy or save it again"
            ) from error


def _check_size(path: Path, width: int, height: int) -> None:
    if width < 1 or height < 1 or width * height > MOST_PX:
        raise InputError(f"the picture {path} says it is {width:,} × {height:,} px: {_AT_MOST}")


def _in_colours(path: Path, image: Any) -> Picture:
    """Three bytes a pixel, from whatever kinds of pixel a file has."""
    from PIL import Image

    if image.mode == "F":
        raise InputError(f"the picture {path} has floating-point pixels: save it with 8 bits")
    if image.mode.startswith("I"):
        # Sixteen bits: the upper eight.
        grey = np.clip(np.asarray(image, dtype=np.int64) >> 8, 0, 255).astype(np.uint8)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.has_transparency_data:
        over = image.convert("RGBA")
        white = Image.new("RGBA", over.size, "white")
        image = Image.alpha_composite(white, over)
    return np.asarray(image.convert("RGB"), dtype=np.uint8)


def _map_page(
    gaze_map: GazeMap,
    legend: str,
    degree_px: float | None,
    note: str = "",
    title: str | None = None,
    people: int | None = None,
) -> tuple[Page, Axes]:
    """A page for one map, and the axes that it fills."""
    high, wide = gaze_map.values.shape
    inches = min(WIDEST / wide, HIGHEST / high)
    name = gaze_map.name if title is None else title
    notes = [_facts(gaze_map, _people(gaze_map.people if people is None else people)), note]
    page = Page(wide * inches, high * inches, legend, name, [words for words in notes if words])
    page.scale_bar(wide, degree_px)
    return page, page.axes(0.0, 0.0, wide * inches, high * inches, frame=True)


def _facts(gaze_map: GazeMap, people: str) -> str:
    """What is public about a map: its size, its observers, its blur."""
    said = [f"{_size(gaze_map.values)} px", people]
    if gaze_map.sigma_px:
        said.append(f"point spread of sd {gaze_map.sigma_px:.3g} px")
    return " · ".join(said)


def _relative(maps: Sequence[GazeMap]) -> tuple[list[Floats], float]:
    """Heat in units of an even spread over all the maps, and the largest there is."""
    mean = float(np.mean([item.values.mean() for item in maps]))
    heat = [item.values / mean if mean > 0 else np.zeros(item.values.shape) for item in maps]
    return heat, max(float(values.max()) for values in heat) or 1.0


def _measured(gaze_map: GazeMap) -> Floats:
    return gaze_map.values if gaze_map.measured is None else gaze_map.measured


def _error(gaze_map: GazeMap) -> Floats:
    return np.zeros_like(gaze_map.values) if gaze_map.error is None else gaze_map.error


def _draw_ground(axes: Axes, gaze_map: GazeMap, picture: Picture | None) -> None:
    """What was looked at, in light grey, so that colours are heat and nothing else."""
    if picture is None:
        axes.set_facecolor(_GROUND)
        return
    if picture.shape[:2] != gaze_map.values.shape:
        raise InputError(
            f"the picture is {_size(picture)} px and the map {_size(gaze_map.values)}: give the "
            "picture in the size that the map was made for"
        )
    grey = picture @ np.array([0.2126, 0.7152, 0.0722]) / 255.0
    axes.imshow(0.45 + 0.55 * grey, cmap="gray", vmin=0.0, vmax=1.0, aspect="auto")


def _draw_over(axes: Axes, heat: Floats, most: float) -> AxesImage:
    """Heat that lets the ground through where there is little of it."""
    return axes.imshow(heat, cmap=_translucent(), vmin=0.0, vmax=most, aspect="auto")


def _draw_trusted(axes: Axes, heat: Floats, most: float, above: Floats) -> AxesImage:
    """The same where it is above the noise, and a veil over the rest."""
    drawn = _draw_over(axes, np.ma.masked_array(heat, above <= 0), most)
    _draw_veil(axes, above)
    _outline(axes, above, "solid")
    return drawn


def _above_noise(gaze_map: GazeMap) -> Floats:
    """By how much a map is above two standard errors; without noise it is everywhere."""
    if gaze_map.error is None:
        return np.ones_like(gaze_map.values)
    return _measured(gaze_map) - RELIABLE_ERRORS * gaze_map.error


def _translucent() -> Colormap:
    """The colours of heat, the more opaque the hotter."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    share = np.linspace(0.0, 1.0, 256)
    colours = colormaps[HEAT_OVER](0.25 + 0.75 * share)
    colours[:, 3] = 0.85 * share**0.5
    return ListedColormap(colours, name="heat over a picture")


def _diverging() -> Colormap:
    """Orange, almost white, blue: the two ends are as dark as each other."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = [ORANGE, "#f5c9a8", "#f7f7f7", "#a9cfe6", BLUE]
    return LinearSegmentedColormap.from_list("orange to blue", colours)


def _draw_veil(axes: Axes, above: Floats) -> None:
    """A grey, hatched veil where something is not above nothing."""
    below = above <= 0
    if not below.any():
        return
    from matplotlib.colors import ListedColormap

    veil = np.ma.masked_array(np.ones(below.shape), ~below)
    axes.imshow(veil, cmap=ListedColormap([VEIL]), alpha=0.45, aspect="auto")
    x, y, field = _thinned(above)
    axes.contourf(x, y, -field, levels=[0.0, 2.0], colors="none", hatches=["////"])


def _outline(axes: Axes, above: Floats, style: str) -> None:
    """A line where something begins to be above nothing."""
    if above.min() < 0 < above.max():
        x, y, field = _thinned(above)
        axes.contour(x, y, field, levels=[0.0], colors=INK, linewidths=0.9, linestyles=style)


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

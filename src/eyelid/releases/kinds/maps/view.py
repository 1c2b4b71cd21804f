"""What was looked at: which stimuli, their pictures, how large, and where on the screen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.remote import check_here
from eyelid.errors import InputError
from eyelid.gaze.maps.placement import (
    Placement,
    default_sigma_px,
    on_screen,
    point_spread_px,
)
from eyelid.gaze.study import Screen, Study
from eyelid.io.pictures import Picture, read_picture
from eyelid.io.pieces import StudyInPieces, in_pieces
from eyelid.spelling import plural

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
_SHOWN = 5
# Of the gaze: with more beyond a screen, its size is not that of the coordinates.
_MOST_BEYOND = 0.05
# Of the screen: gaze from its corner to where a larger picture ends is gaze all over it.
_MOST_COVERED = 0.8
# A place that has less of the gaze is no advice.
_MOSTLY = 0.5

_RAW = " (shares of the raw gaze, for you alone)"

Size = tuple[int, int]
Places = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class View:
    """What a map is of: all of it public.

    Attributes:
        stimuli: by the names that the data have for them; None where the data name none.
        pictures: one a stimulus, None where there is none.
        width_px: of every picture.
        height_px: of every picture.
        placement: of the pictures on the screen.
        sigma_px: of the point spread.
        degree_px: px of the picture that one degree takes; None where it is not known.
        notes: what was taken for granted.
    """

    stimuli: tuple[str, ...] | None
    pictures: tuple[Picture | None, ...]
    width_px: int
    height_px: int
    placement: Placement
    sigma_px: float
    degree_px: float | None
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> Size:
        """Width and height."""
        return self.width_px, self.height_px


def check_usable(study: Study) -> None:
    """Refuse what has no gaze, or is a release.

    Args:
        study: that a map is asked of.
    """
    if study.released:
        raise InputError(
            "this is a released dataset already: release from the original study, whose ledger "
            "counts these people"
        )
    if study.kind == "features":
        raise InputError(
            "a heatmap is made of gaze, and this is a study of features: start from the recordings"
        )


def view_of(
    study: Study | StudyInPieces,
    stimuli: Sequence[str | Path] = (),
    *,
    images: Sequence[str | Path] = (),
    size: Size | None = None,
    at: tuple[float, float] | None = None,
    scale: float | None = None,
    blur: float | str | None = None,
) -> View:
    """What the user means to make a map of; whatever does not fit together is refused.

    Args:
        study: its stimuli and its screen.
        stimuli: names of stimuli, or picture files that are called like them.
        images: a picture file for each of them, in the same order.
        size: width and height of the picture, where there is no file of it.
        at: px of the screen where the picture's top left lay.
        scale: px of the screen that one px of the picture took.
        blur: standard deviation of the point spread, in px or as ``1deg``.
    """
    cut = in_pieces(study) if isinstance(study, Study) else study
    screen = cut.head.screen
    found, notes = _stimuli(cut.stimuli, [str(name) for name in stimuli])
    if images:
        if len(images) != len(found):
            raise InputError(
                f"every `image` is of the `stimulus` in its place: got "
                f"{plural(len(images), 'image')} and {plural(len(found), 'stimulus', 'stimuli')}"
            )
        for file in images:
            check_here(file, "a picture")
        found = [(name, Path(file)) for (name, _), file in zip(found, images, strict=True)]
    pictures = tuple(None if path is None else read_picture(path) for _, path in found)
    width_px, height_px = _size([path for _, path in found], pictures, size, screen)
    gaze = partial(_gaze, cut, [name for name, _ in found if name is not None])
    placement, more = _placement((width_px, height_px), screen, at, scale, gaze)
    degree_px = point_spread_px(1.0, screen, placement)
    default = default_sigma_px(width_px, screen, placement)
    sigma_px = parsed_blur(blur, degree_px, default, (width_px, height_px))
    names = tuple(name for name, _ in found if name is not None)
    return View(
        stimuli=names or None,
        pictures=pictures,
        width_px=width_px,
        height_px=height_px,
        placement=placement,
        sigma_px=sigma_px,
        degree_px=degree_px,
        notes=(*notes, *more),
    )


def parsed_size(text: str) -> Size:
    """``1680x1050``.

    >>> parsed_size("1680x1050")
    (1680, 1050)
    """
    found = re.fullmatch(r"([1-9]\d*)[x×]([1-9]\d*)", text.strip())
    if not found:
        raise InputError(f"a size is WIDTHxHEIGHT in px, such as 1680x1050, got '{text}'")
    return int(found[1]), int(found[2])


def parsed_place(text: str) -> tuple[float, float]:
    """``120,80``.

    >>> parsed_place("120,80.5")
    (120.0, 80.5)
    """
    try:
        x_px, y_px = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"`at` takes X,Y in px of the screen, such as 120,80, got '{text}'"
        ) from None
    return x_px, y_px


def parsed_blur(
    blur: float | str | None, degree_px: float | None, default: float, size: Size
) -> float:
    """The point spread in px, from ``40`` or ``1deg``, for a picture of this size.

    >>> parsed_blur("1.5deg", 40.0, 30.0, (800, 600)), parsed_blur("25", None, 30.0, (800, 600))
    (60.0, 25.0)
    """
    sigma_px = default if blur is None else _sigma_px(blur, degree_px)
    if sigma_px > math.hypot(*size):
        what = "a degree is" if blur is None else f"`blur={blur}` is"
        raise InputError(
            f"{what} {sigma_px:.4g} px here, more than a picture of {_by(size)} px is long: choose "
            f"a point spread of at most {math.floor(math.hypot(*size))} px with `blur`"
        )
    return sigma_px


def _sigma_px(blur: float | str, degree_px: float | None) -> float:
    text = str(blur).strip().lower()
    in_degrees = text.endswith(("deg", "°"))
    number = text.removesuffix("deg").removesuffix("°").removesuffix("px")
    try:
        amount = float(number)
    except ValueError:
        amount = math.nan
    if not (math.isfinite(amount) and amount >= 0):
        raise InputError(f"`blur` takes px (40) or degrees (1deg), at least 0, got '{blur}'")
    if not in_degrees:
        return amount
    if degree_px is None:
        raise InputError(
            f"`blur={blur}` needs the screen's geometry: say it in px, or give "
            "`map='screen=1920x1080,screen_m=0.53x0.30,distance_m=0.65'` with its own numbers"
        )
    return amount * degree_px


def _stimuli(
    known: Sequence[str], asked: Sequence[str]
) -> tuple[list[tuple[str | None, Path | None]], list[str]]:
    """The data's name for each stimulus that was asked for, and its picture file if it is one."""
    if not asked:
        if len(known) > 1:
            raise InputError(
                f"people looked at {len(known)} stimuli ({_some(known)}): name one with `stimulus`"
            )
        return [(known[0] if known else None, None)], []
    found: list[tuple[str | None, Path | None]] = []
    notes = []
    for name in asked:
        path = Path(name)
        last = re.split(r"[\\/]", name)[-1]
        alike = [each for each in (name, last, Path(last).stem) if each in known]
        is_picture = path.is_file() and (not alike or path.suffix.lower() in _PICTURES)
        if alike:
            found.append((alike[0], path if is_picture else None))
        elif not is_picture:
            file = f", and there is no file {name}" if path.suffix.lower() in _PICTURES else ""
            raise InputError(
                f"no stimulus is called '{name}'{file}: the data have {_some(known)}"
                if known
                else f"the data name no stimulus, so not '{name}' either{file}: give the picture "
                "file, or leave `stimulus` out"
            )
        elif len(known) > 1:
            raise InputError(
                f"no stimulus is called like the picture {path.name}: the data have "
                f"{_some(known)}; write `stimulus=…` `image={name}`"
            )
        else:
            found.append((known[0] if known else None, path))
            notes.append(
                f"the data's only stimulus is '{known[0]}': taken for {path.name}"
                if known
                else f"the data name no stimulus: all of their gaze is taken for {path.name}"
            )
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise InputError(f"a stimulus is named twice ({', '.join(map(str, names))}): name it once")
    return found, notes


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _size(
    paths: Sequence[Path | None],
    pictures: Sequence[Picture | None],
    asked: Size | None,
    screen: Screen | None,
) -> Size:
    """Width and height of all the pictures."""
    sizes: dict[Size, Any] = {}
    for path, picture in zip(paths, pictures, strict=True):
        if picture is not None:
            sizes.setdefault((picture.shape[1], picture.shape[0]), path)
    if asked is not None:
        sizes.setdefault(asked, "`size`")
    if len(sizes) > 1:
        sentence = ", ".join(f"{name} {_by(size)}" for size, name in sizes.items())
        raise InputError(f"all pictures of one map must be of one size, got {sentence} px")
    if sizes:
        return next(iter(sizes))
    known = _size_of(screen)
    if known is None:
        raise InputError(
            "how large the picture is is not known: give it with `image=…`, or `size=…`"
        )
    return known


def _placement(
    size: Size,
    shown_on: Screen | None,
    at: tuple[float, float] | None,
    scale: float | None,
    gaze: Callable[[], Places],
) -> tuple[Placement, list[str]]:
    """Where the picture lay; never guessed where the screen has another size."""
    placement = Placement(*(at or (0.0, 0.0)), scale=1.0 if scale is None else scale)
    screen = _size_of(shown_on)
    shown = tuple(length * placement.scale for length in size)
    if screen is None and at is None:
        return placement, [
            f"the screen's size is not known: the picture of {_by(size)} px is taken to begin at "
            "the coordinates' 0, 0 (otherwise say `at=…` and `scale=…`)"
        ]
    if screen is None:
        return placement, []
    if at is not None:
        sides = zip(at, shown, screen, strict=True)
        if any(start >= most or start + length <= 0 for start, length, most in sides):
            raise InputError(
                f"a picture of {_by(size)} px at {at[0]:g},{at[1]:g} lies outside the screen of "
                f"{_by(screen)}, where nobody could look at it: `at` takes its top left in px of "
                "the screen"
            )
        return placement, []
    if all(math.isclose(a, b, abs_tol=0.5) for a, b in zip(shown, screen, strict=True)):
        return placement, []
    raise InputError(
        f"the picture is {_by(size)} px{'' if scale is None else f' at scale {scale:g}'} and the "
        f"screen {_by(screen)}: {_advice(size, screen, scale, gaze())}"
    )


def _gaze(cut: StudyInPieces, stimuli: Sequence[str]) -> Places:
    """Where the first people looked, in px of the screen; nothing where that is not known."""
    for piece in cut.pieces:
        study = piece.read(cut.head)
        data = study.data
        if stimuli and "stimulus" in data.columns:
            data = data.filter(pl.col("stimulus").is_in(stimuli))
        try:
            x, y = data["x"].to_numpy(), data["y"].to_numpy()
            places = on_screen(x, y, study.screen, study.units, study.xy_origin)
        except InputError:
            break
        found = np.stack(places, axis=1)
        found = found[np.isfinite(found).all(axis=1)]
        if len(found):
            return found
    return np.empty((0, 2))


def _advice(size: Size, screen: Size, scale: float | None, gaze: Places) -> str:
    """What to write, as far as gaze and the screen agree on it; otherwise what is not known.

    Shares of the gaze are raw: for its owner's terminal, and for no file.
    """
    asked = (
        "say where the picture's top left lay and how many px of the screen one of its px took "
        "(`at=…` `scale=…`)"
    )
    if not len(gaze):
        return f"{asked}; neither is known, and there is no gaze to tell it by"
    beyond = 1 - _share_on(gaze, Placement(), screen)
    px_for_px = _share_on(gaze, Placement(), size)
    if beyond > _MOST_BEYOND:
        fits = px_for_px >= 1 - _MOST_BEYOND
        relative = "; if x and y are px of the picture itself, write `at=0,0` `scale=1`" * fits
        return (
            f"but {beyond:.0%} of the gaze lies beyond that screen, so that its size is not that "
            "of x and y, and where the picture lay is not known: give the right one "
            f"when the recordings are read (`map='screen=WIDTHxHEIGHT'`){relative}{_RAW}"
        )
    options = _options(size, screen, scale)
    on = {words: _share_on(gaze, place, size) for words, place in options.items()}
    covered = math.prod(min(length, most) for length, most in zip(size, screen, strict=True))
    cornered = px_for_px >= 1 - _MOST_BEYOND and covered < _MOST_COVERED * math.prod(screen)
    if cornered and on.get("in its middle", 0.0) < px_for_px - _MOST_BEYOND:
        return (
            f"but {px_for_px:.0%} of the gaze lies within {_by(size)} px from 0, 0, as if x and y "
            "were px of the picture itself, and whether they are is not known: if so write "
            f"`at=0,0` `scale=1`, else {asked}{_RAW}"
        )
    usual = [
        f"{words}: `at={round(place.x_px, 2):g},{round(place.y_px, 2):g}` `scale={place.scale:g}` "
        f"({on[words]:.0%} of the gaze is on it then)"
        for words, place in options.items()
        if on[words] > _MOSTLY
    ]
    if not usual:
        elsewhere = "in the middle of the screen it did not lie, most of the gaze is elsewhere"
        return f"{asked}; {elsewhere}{_RAW}"
    return f"{asked}; {'; '.join(usual)}{_RAW}"


def _options(size: Size, screen: Size, scale: float | None) -> dict[str, Placement]:
    """Usual places of a picture, in words."""
    scales = {}
    if scale is not None or all(length <= most for length, most in zip(size, screen, strict=True)):
        scales["in its middle"] = 1.0 if scale is None else scale
    if scale is None:
        fitting = min(screen[0] / size[0], screen[1] / size[1])
        scales["in its middle and as large as fits"] = float(f"{fitting:.6g}")
    return {
        words: Placement(
            (screen[0] - factor * size[0]) / 2, (screen[1] - factor * size[1]) / 2, factor
        )
        for words, factor in scales.items()
    }


def _share_on(gaze: Places, placement: Placement, size: Size) -> float:
    """The share of the gaze that lies on a picture of that size."""
    x_px, y_px = placement.on_picture(gaze[:, 0], gaze[:, 1])
    return float(np.mean((x_px >= 0) & (x_px < size[0]) & (y_px >= 0) & (y_px < size[1])))


def _size_of(screen: Screen | None) -> Size | None:
    if screen is None or not (screen.width_px and screen.height_px):
        return None
    return screen.width_px, screen.height_px


def _by(size: Size) -> str:
    return f"{size[0]} × {size[1]}"

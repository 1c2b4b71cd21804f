"""Where a picture lay on the screen, and where on the picture people looked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from eyelid.errors import InputError, unknown
from eyelid.gaze.maps.grid import Floats
from eyelid.gaze.study import UNITS, XY_ORIGINS, Screen

FALLBACK_SHARE = 1 / 42
"""Share of the picture's width: a point spread of 40 px at 1680, where degrees are not known."""


@dataclass(frozen=True)
class Placement:
    """Where the picture was shown.

    Attributes:
        x_px: of the picture's left border, in px of the screen from its left border.
        y_px: of its upper border, from the screen's upper border.
        scale: how many px of the screen one px of the picture takes.

    >>> Placement(100.0, 50.0, 2.0).on_picture(np.array([300.0]), np.array([60.0]))
    (array([100.]), array([5.]))
    """

    x_px: float = 0.0
    y_px: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.x_px) and math.isfinite(self.y_px)):
            raise InputError(f"the picture must be somewhere, got {self.x_px}, {self.y_px} px")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"the scale of the picture must be positive, got {self.scale}")

    def on_picture(self, x_screen_px: Floats, y_screen_px: Floats) -> tuple[Floats, Floats]:
        """From px of the screen to px of the picture, both from the top left."""
        return (x_screen_px - self.x_px) / self.scale, (y_screen_px - self.y_px) / self.scale


def on_screen(
    x: ArrayLike, y: ArrayLike, screen: Screen | None, units: str | None, xy_origin: str | None
) -> tuple[Floats, Floats]:
    """From x and y as a study has them to px of the screen from its top left.

    Degrees are the reverse of `eyelid.gaze.geometry.degrees_on_screen`; from a corner they are
    counted from the direction of that corner. Gaze that cannot meet the screen is at infinity.

    Args:
        x: places from left to right; NaN where the eye was lost, and so is the result.
        y: places down or up, as ``xy_origin`` says.
        screen: as far as it is known.
        units: ``px``, ``fraction`` or ``deg``.
        xy_origin: where x and y are zero: ``top-left``, ``bottom-left`` or ``centre``.

    >>> screen = Screen(1000, 500, 1.0, 0.5, 0.5)
    >>> x, y = on_screen([0.0, 45.0], [0.0, 26.565], screen, "deg", "centre")
    >>> x.round().tolist(), y.round().tolist()
    ([500.0, 1000.0], [250.0, 0.0])
    """
    screen = screen or Screen()
    _check(screen, units, xy_origin)
    width, height = screen.width_px or 0, screen.height_px or 0
    right, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if xy_origin == "top-left":
        up = -up
    if units == "deg":
        distance_m = screen.distance_m or 0.0
        right = _along(right, width, screen.width_m or 0.0, distance_m, xy_origin, from_start=True)
        up = _along(
            up, height, screen.height_m or 0.0, distance_m, xy_origin, xy_origin == "bottom-left"
        )
        return right + width / 2, height / 2 - up
    if units == "fraction":
        right, up = right * width, up * height
    if xy_origin == "centre":
        return right + width / 2, height / 2 - up
    return right, -up if xy_origin == "top-left" else height - up


def _along(
    angle_deg: Floats,
    size_px: int,
    size_m: float,
    distance_m: float,
    xy_origin: str | None,
    from_start: bool,
) -> Floats:
    """How many px from the middle of the screen, along an axis to the right or up."""
    if xy_origin != "centre":
        border_deg = math.degrees(math.atan2(size_m / 2, distance_m))
        angle_deg = angle_deg - border_deg if from_start else angle_deg + border_deg
    with np.errstate(invalid="ignore"):
        px = np.tan(np.radians(angle_deg)) * (distance_m / size_m * size_px)
    # Behind a right angle the tangent comes back from the other side.
    return np.where(np.abs(angle_deg) >= 90, np.copysign(np.inf, angle_deg), px)


def _check(screen: Screen, units: str | None, xy_origin: str | None) -> None:
    if units is None:
        raise InputError(
            "gaze on a picture needs the units of x and y, which are not known: say them with "
            "`map='units=px'` (or fraction, deg)"
        )
    if units not in UNITS:
        raise unknown("units", units, UNITS)
    if units == "normalised":
        raise InputError(
            "x and y are places of the pupil in an eye camera (normalised), not of gaze on a "
            "picture: calibrate them to the screen first"
        )
    if xy_origin is None:
        raise InputError(
            "gaze on a picture needs to know where x and y are zero: say it with "
            "`map='xy_origin=top-left'` (or bottom-left, centre)"
        )
    if xy_origin not in XY_ORIGINS:
        raise unknown("xy_origin", xy_origin, XY_ORIGINS)
    if units == "px" and xy_origin == "top-left":
        return
    needed = {"screen=1920x1080 (its size in px)": screen.width_px and screen.height_px}
    if units == "deg":
        needed["screen_m=0.53x0.30 (its size in metres)"] = bool(screen.width_m and screen.height_m)
        needed["distance_m=0.65 (from the eyes)"] = bool(screen.distance_m)
    missing = [name for name, known in needed.items() if not known]
    if missing:
        raise InputError(
            f"x and y in {units} from {xy_origin} need the screen to become places on a picture: "
            f"say `map='{', '.join(missing)}'`, with its own numbers"
        )


def point_spread_px(degrees: float, screen: Screen | None, placement: Placement) -> float | None:
    """How many px of the picture so many degrees are straight ahead; None where it is not known.

    >>> round(point_spread_px(1.0, Screen(1920, 1080, 0.53, 0.3, 0.65), Placement()), 1)
    41.1
    """
    screen = screen or Screen()
    if not (screen.width_px and screen.width_m and screen.distance_m):
        return None
    metres = math.tan(math.radians(degrees)) * screen.distance_m
    return metres / screen.width_m * screen.width_px / placement.scale


def default_sigma_px(
    width_px: int, screen: Screen | None = None, placement: Placement | None = None
) -> float:
    """The point spread when nobody says one: 1° where that is known, else width / 42.

    It follows from public facts alone.

    >>> default_sigma_px(1680)
    40.0
    """
    spread_px = point_spread_px(1.0, screen, placement or Placement())
    return width_px * FALLBACK_SHARE if spread_px is None else spread_px

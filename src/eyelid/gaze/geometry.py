"""Where gaze is: from places on a screen to degrees, and directions as unit vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.study import Screen

Floats = NDArray[np.float64]
Vectors = tuple[Floats, Floats, Floats]

_ON_SCREEN = ("px", "fraction")

# How large a degree is where the screen does not say: pixels are those of a desktop screen, a
# fraction is of 1920 of them, and normalised are pupil positions in an eye camera image.
PER_DEGREE = {"deg": 1.0, "px": 35.0, "fraction": 35.0 / 1920, "normalised": 1 / 150}


def in_units(degrees: float, units: str) -> float:
    """About as much in other units.

    >>> in_units(2.0, "px")
    70.0
    """
    if units not in PER_DEGREE:
        raise unknown("units", units, PER_DEGREE)
    return degrees * PER_DEGREE[units]


def missing_for_degrees(screen: Screen | None, units: str | None, xy_origin: str | None) -> str:
    """What is not known and would be needed to turn x and y into degrees; empty when all is."""
    if units not in _ON_SCREEN:
        return f"units of x and y on a screen (px or fraction), not {units or 'unknown'}"
    screen = screen or Screen()
    needed = {
        "screen (its size in px)": units != "px" or (screen.width_px and screen.height_px),
        "screen_m (its size in metres)": screen.width_m and screen.height_m,
        "distance_m (from the eyes)": screen.distance_m,
        "xy_origin": xy_origin,
    }
    return ", ".join(name for name, known in needed.items() if not known)


def degrees_on_screen(
    x: ArrayLike, y: ArrayLike, screen: Screen | None, units: str | None, xy_origin: str | None
) -> tuple[Floats, Floats]:
    """Degrees from straight ahead, x to the right and y up, of places on a screen.

    The eyes are before the middle of the screen.

    >>> screen = Screen(1000, 500, 1.0, 0.5, 0.5)
    >>> x, y = degrees_on_screen([500, 1000], [500, 0], screen, "px", "top-left")
    >>> x.round(1).tolist(), y.round(1).tolist()
    ([0.0, 45.0], [-26.6, 26.6])
    """
    missing = missing_for_degrees(screen, units, xy_origin)
    if missing:
        raise InputError(f"degrees need the screen's geometry; not known: {missing}")
    assert screen is not None
    # A fraction is a place on a screen one unit wide and high.
    sizes = (screen.width_px, screen.height_px) if units == "px" else (1.0, 1.0)
    middle = 0.0 if xy_origin == "centre" else 0.5

    def turned(place: ArrayLike, size: float | None, size_m: float | None) -> Floats:
        share = np.asarray(place, dtype=np.float64) / (size or 1.0) - middle
        return np.degrees(np.arctan2(share * (size_m or 0.0), screen.distance_m or 0.0))

    right = turned(x, sizes[0], screen.width_m)
    down = turned(y, sizes[1], screen.height_m)
    return right, -down if xy_origin == "top-left" else down


def direction(azimuth_deg: ArrayLike, elevation_deg: ArrayLike) -> Vectors:
    """Unit vectors from angles: azimuth to the right, elevation up, z straight ahead.

    >>> [float(v) for v in np.round(direction(90.0, 0.0), 6)]
    [1.0, 0.0, 0.0]
    """
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    flat = np.cos(elevation)
    return flat * np.sin(azimuth), np.sin(elevation), flat * np.cos(azimuth)


def angles(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Floats, Floats]:
    """Azimuth and elevation in degrees of vectors of any length: the reverse of `direction`.

    A vector of length 0, as trackers write it where the eye was lost, points nowhere: NaN.

    >>> [float(a) for a in np.round(angles(*direction(30.0, 10.0)), 6)]
    [30.0, 10.0]
    >>> [float(a) for a in angles(0.0, 0.0, 0.0)]
    [nan, nan]
    """
    flat = np.hypot(x, z)
    somewhere = np.where((flat == 0) & (np.asarray(y) == 0), np.nan, 1.0)
    azimuth, elevation = np.arctan2(x, z), np.arctan2(y, flat)
    return np.degrees(azimuth) * somewhere, np.degrees(elevation) * somewhere


def in_head(world: Vectors, head: Vectors, roll_deg: ArrayLike = 0.0) -> Vectors:
    """Directions in the world as seen from a head that looks along ``head``, y up in the world.

    Args:
        world: unit vectors of gaze in the world.
        head: unit vectors of where the head points.
        roll_deg: how far the head is tilted clockwise, seen from behind.

    >>> ahead = direction(30.0, 10.0)
    >>> [float(v) for v in np.round(in_head(ahead, ahead), 6)]
    [0.0, 0.0, 1.0]
    """
    gaze = np.stack(np.broadcast_arrays(*world), axis=-1)
    x, y, z = (np.sum(gaze * axis, axis=-1) for axis in _head_axes(head, roll_deg))
    return x, y, z


def in_world(gaze: Vectors, head: Vectors, roll_deg: ArrayLike = 0.0) -> Vectors:
    """Directions in the head as seen from outside: the reverse of `in_head`.

    >>> ahead = direction(30.0, 10.0)
    >>> [float(a) for a in np.round(angles(*in_world(direction(5.0, 0.0), ahead)), 2)]
    [35.08, 9.96]
    """
    axes = _head_axes(head, roll_deg)
    turned = sum(np.asarray(v)[..., np.newaxis] * axis for v, axis in zip(gaze, axes, strict=True))
    x, y, z = np.moveaxis(np.asarray(turned), -1, 0)
    return x, y, z


def _head_axes(head: Vectors, roll_deg: ArrayLike) -> Vectors:
    """Right, up and front of a head, as vectors in the world along the last axis."""
    front = np.stack(np.broadcast_arrays(*head), axis=-1)
    up = np.array([0.0, 1.0, 0.0])
    right = np.cross(np.broadcast_to(up, front.shape), front)
    length = np.linalg.norm(right, axis=-1, keepdims=True)
    # Looking straight up or down, right is a matter of convention.
    level = np.where(length > 1e-9, right / np.maximum(length, 1e-9), np.array([1.0, 0.0, 0.0]))
    above = np.cross(front, level)
    roll = np.radians(np.asarray(roll_deg, dtype=np.float64))[..., np.newaxis]
    sideways = level * np.cos(roll) - above * np.sin(roll)
    upwards = level * np.sin(roll) + above * np.cos(roll)
    return sideways, upwards, front

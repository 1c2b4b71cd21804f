"""What everybody in a study could look at: from the public screen, never from the gaze."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.mechanisms.streams.scene import DIRECTION, Scene
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.noise import Randomness

ON_SURFACE = ("x", "y")
DIRECTIONS = ("gaze_x", "gaze_y", "gaze_z")
# The window and the radius that are named as examples.
USUAL_WINDOW_MS = 500
_RADII_OF_SCENE = 20


def gaze_columns(study: Study) -> tuple[str, ...]:
    """The columns that say where a person looked: on a surface, or in which direction."""
    for columns in (ON_SURFACE, DIRECTIONS):
        if set(columns) <= set(study.data.columns):
            return columns
    raise InputError("the data have neither x and y nor gaze_x, gaze_y and gaze_z: name them")


def coordinates_of(study: Study) -> str:
    """What gaze is measured in, as filters call it."""
    if gaze_columns(study) == DIRECTIONS:
        return DIRECTION
    if study.units is None:
        raise InputError(
            "the study does not say the units of x and y: say them (`map='units=px'`, or deg, "
            "fraction, normalised)"
        )
    return study.units


def scene_of(study: Study) -> str:
    """The rectangle that the screen takes; empty where the study does not say.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"person": ["a"], "recording": ["1"], "time_ms": [0.0]})
    >>> gaze = rows.with_columns(x=0.0, y=0.0)
    >>> scene_of(Study("samples", gaze, rows, units="px", screen=Screen(1920, 1080)))
    '0,0,1920,1080'
    """
    units, screen = coordinates_of(study), study.screen or Screen()
    if units == "px":
        sizes = screen.width_px, screen.height_px
    elif units == "fraction":
        sizes = 1, 1
    elif units == "deg" and study.xy_origin and screen.distance_m:
        sizes = tuple(  # type: ignore[assignment]
            size and math.degrees(2 * math.atan(size / 2 / screen.distance_m))
            for size in (screen.width_m, screen.height_m)
        )
    else:
        return ""
    width, height = sizes
    if not width or not height:
        return ""
    start = -0.5 if study.xy_origin == "centre" else 0.0
    corners = (start * width, start * height, (1 + start) * width, (1 + start) * height)
    return ",".join(f"{corner:.12g}" for corner in corners)


def usual_window(rate_hz: float) -> int:
    """As many samples as half a second can have.

    >>> usual_window(25.0), usual_window(60.0)
    (13, 30)
    """
    return max(1, math.ceil(round(rate_hz * USUAL_WINDOW_MS / 1000, 6)))


def usual_radius(scene: Scene) -> float:
    """A twentieth of the scene, in one digit."""
    return float(f"{scene.diameter / _RADII_OF_SCENE:.1g}")


def filtered(mechanism: StreamMechanism, taken: Study, noise: Randomness) -> Study:
    """Every recording as a stream of its own through a filter; nothing is lost any more."""
    columns, place, parts = gaze_columns(taken), mechanism.place, []
    for recording in taken.recordings():
        x, y = place.to_plane(*(recording[name] for name in columns))
        parts.append(place.from_plane(*mechanism.start(noise).push_many(x, y)))
    together = [np.concatenate(part) for part in zip(*parts, strict=True)]
    values = [pl.Series(name, part) for name, part in zip(columns, together, strict=True)]
    return replace(taken, data=taken.data.with_columns(values))

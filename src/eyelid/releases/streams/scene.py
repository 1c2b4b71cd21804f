"""What everybody in a study could look at: from the public screen, never from the gaze."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study
from eyelid.mechanisms.mechanism import Mechanism, find, mechanism
from eyelid.mechanisms.streams.scene import DIRECTION, Scene
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.bounds import Bounds, BoundsSource

ON_SURFACE = ("x", "y")
DIRECTIONS = ("gaze_x", "gaze_y", "gaze_z")
# The window and the radius that are named as examples.
_WINDOW_MS = 500
_RADII_OF_SCENE = 20


def is_filter(asked: str | Mechanism) -> bool:
    """Whether a mechanism takes gaze sample by sample."""
    kind = find(asked) if isinstance(asked, str) else type(asked)
    return issubclass(kind, StreamMechanism)


def gaze_columns(study: Study) -> tuple[str, ...]:
    """The columns that say where somebody looked: on a surface, or in which direction."""
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
            "the study does not say the units of x and y: say them (--map units=px, or deg, "
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


def build_filter(
    asked: str | Mechanism, study: Study | None = None, **parameters: Any
) -> StreamMechanism:
    """A filter from what was asked for; units and scene are the study's where nobody says.

    Args:
        asked: its name, or a filter with its parameters set.
        study: whose gaze it is for; without one the scene must be told.
        parameters: None for what is left to its default.
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(asked, StreamMechanism):
        if given:
            raise InputError(
                f"{asked.name} has its parameters set already: leave out {', '.join(given)}"
            )
        made = asked
    else:
        name = asked if isinstance(asked, str) else asked.name
        if study is not None:
            given.setdefault("coordinates", coordinates_of(study))
            if not given.get("scene"):
                given["scene"] = scene_of(study)
        scene = Scene.of(str(given.get("coordinates", "px")), given.get("scene"))
        _check_asked(find(name), given, scene, study)
        made = mechanism(name, **given)  # type: ignore[assignment]
    if study is not None and made.coordinates != coordinates_of(study):
        raise InputError(
            f"{made.name} is set for gaze in {made.coordinates}, and the study has gaze in "
            f"{coordinates_of(study)}"
        )
    return made


def _check_asked(
    kind: type[Mechanism], given: dict[str, Any], scene: Scene, study: Study | None
) -> None:
    """Refuse a filter without its window or its radius, and say what they might be."""
    required = [item.name for item in fields(kind) if item.default is MISSING]
    if "window" in required and "window" not in given:
        rate_hz = (study.rate_hz if study else None) or 60.0
        samples = usual_window(rate_hz)
        raise InputError(
            f"{kind.name} needs window, the samples in a row that are hidden together: {_WINDOW_MS}"
            f" ms are {samples} samples at {rate_hz:g} Hz, --set window={samples}"
        )
    if "radius" in required and "radius" not in given:
        raise InputError(
            f"{kind.name} needs radius, how far each of them may have been elsewhere, in "
            f"{scene.spoken_units}: --set radius={usual_radius(scene):g}, say"
        )


def usual_window(rate_hz: float) -> int:
    """Half a second, in samples."""
    return max(1, round(rate_hz * _WINDOW_MS / 1000))


def usual_radius(scene: Scene) -> float:
    """A twentieth of the scene, in one digit."""
    return float(f"{scene.diameter / _RADII_OF_SCENE:.1g}")


def bounds_of(law: StreamMechanism, told: bool) -> Bounds:
    """Where released gaze lies: the scene; unit vectors in their own numbers.

    Args:
        law: the filter.
        told: whether somebody said so, and not the study.
    """
    place = law.place
    x0, y0, x1, y1 = place.plane
    source = BoundsSource.FILE if told else BoundsSource.PUBLIC
    if not place.directions:
        return Bounds({"x": (x0, x1), "y": (y0, y1)}, source)
    ends = [math.radians(end) for end in (x0, y0, x1, y1)]
    return Bounds({"gaze_x": (ends[0], ends[2]), "gaze_y": (ends[1], ends[3])}, source)

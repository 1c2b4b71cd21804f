"""Filters for a study: its units and its screen where nobody says others."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.mechanisms.mechanism import Mechanism, find, mechanism
from eyelid.mechanisms.streams.scene import Scene
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import (
    USUAL_WINDOW_MS,
    coordinates_of,
    scene_of,
    usual_radius,
    usual_window,
)
from eyelid.privacy.bounds import Bounds, BoundsSource


def is_filter(asked: str | Mechanism) -> bool:
    """Whether a mechanism takes gaze sample by sample."""
    kind = find(asked) if isinstance(asked, str) else type(asked)
    return issubclass(kind, StreamMechanism)


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
        rate_hz = study.rate_hz if study else None
        samples = usual_window(rate_hz or 60.0)
        at_rate = (
            f"{samples} samples at {rate_hz:g} Hz, --set window={samples}"
            if rate_hz is not None
            else f"{samples} samples at 60 Hz (--set window={samples}) and {usual_window(10.0)} at "
            f"10 Hz (--set window={usual_window(10.0)}); count by the fastest recording"
        )
        raise InputError(
            f"{kind.name} needs window, the samples in a row that are hidden together: "
            f"{USUAL_WINDOW_MS} ms are {at_rate}"
        )
    if "radius" in required and "radius" not in given:
        raise InputError(
            f"{kind.name} needs radius, how far each of them may have been elsewhere, in "
            f"{scene.spoken_units}: --set radius={usual_radius(scene):g}, say"
        )


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

"""Sidecars: which of them speak about a file, and what they state about its gaze.

They speak in BIDS' own words, and in eyelid's where BIDS has none.
"""

from __future__ import annotations

import json
import math
from collections import ChainMap, Counter
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from eyelid.engine.files import content_of
from eyelid.errors import InputError
from eyelid.gaze.study import PUPIL_UNITS, UNITS, XY_ORIGINS, Screen, Study
from eyelid.io.bids.entities import Entity, Name, name_of
from eyelid.spelling import json_text

Json = dict[str, Any]

Said = Mapping[str, Any]
"""What sidecars say about a file: one of them, or several that were not copied together."""

OWN = "Eyelid"
"""The key of a sidecar that holds what BIDS has no words for."""

ADDED = "EyelidAdded"
"""Marks a column that BIDS needs and the study does not have."""

NAMES = "EyelidNames"
"""What people are called whose names are no labels."""

ORIGIN, SIMULATED, RELEASED = "EyelidOrigin", "EyelidSimulated", "EyelidReleased"
CHOSEN = "EyelidPeopleChosen"
"""What eyelid says about the dataset."""

FACTS = ("units", "xy_origin", "pupil_unit", "screen")
"""What sidecars state that is true of the whole study."""

UNITS_IN_BIDS = {"deg": "deg", "px": "pixel", "fraction": "fraction", "normalised": "normalised"}
PUPIL_UNITS_IN_BIDS = {"mm": "mm", "px": "pixel", "arbitrary": "arbitrary"}
CORNERS_IN_BIDS = {
    "top-left": ["top", "left"],
    "bottom-left": ["bottom", "left"],
    "centre": ["center", "center"],
}
MS_PER_UNIT = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1000.0),
    **dict.fromkeys(("ms", "msec", "millisecond", "milliseconds"), 1.0),
    **dict.fromkeys(("us", "µs", "μs", "microsecond", "microseconds"), 1e-3),
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-6),
}
_UNITS = {
    **dict.fromkeys(("deg", "degree", "degrees", "°", "dva"), "deg"),
    **dict.fromkeys(("px", "pix", "pixel", "pixels"), "px"),
    "fraction": "fraction",
    **dict.fromkeys(("normalised", "normalized"), "normalised"),
}
_PUPIL_UNITS = {
    **dict.fromkeys(("mm", "millimeter", "millimetre", "millimeters", "millimetres"), "mm"),
    **dict.fromkeys(("px", "pix", "pixel", "pixels"), "px"),
    **dict.fromkeys(("arbitrary", "arbitrary units", "a.u.", "au"), "arbitrary"),
}
# No screen is as large or as far: these are centimetres or millimetres.
_FARTHEST_M = 10.0
_MOST_SIDES, _LONGEST = 3, 40


def read_json(path: Path) -> Json:
    """A JSON object from a file."""
    try:
        content = json.loads(content_of(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} must hold a JSON object")
    return content


class Sidecars:
    """The sidecars of a dataset, each read once.

    A sidecar speaks about all files in its folder and below whose names have its entities. Where
    two speak about the same thing, the nearer one, or the one with more entities, is right.
    """

    def __init__(self, root: Path) -> None:
        """The sidecars of the dataset in the folder ``root``."""
        self._root = root
        self._folders: dict[Path, _Folder] = {}
        self._contents: dict[Path, Json] = {}

    def of(self, path: Path, suffix: str) -> Said:
        """All that sidecars with this suffix say about a file.

        Nothing is copied: one large sidecar may speak about many files.
        """
        name = name_of(path)
        found: list[Json] = []
        for folder in reversed([up for up in path.parents if up.is_relative_to(self._root)]):
            if folder not in self._folders:
                self._folders[folder] = _Folder(folder)
            found += map(self._content, self._folders[folder].about(name, suffix))
        return ChainMap(*reversed(found))

    def _content(self, sidecar: Path) -> Json:
        if sidecar not in self._contents:
            self._contents[sidecar] = read_json(sidecar)
        return self._contents[sidecar]


class _Folder:
    """The sidecars in a folder, found by their rarest entity: each file may have one of its own."""

    def __init__(self, folder: Path) -> None:
        found = [(name_of(file), file) for file in sorted(folder.glob("*.json"))]
        found.sort(key=lambda each: len(each[0].entities))
        often = Counter(entity for name, _ in found for entity in name.entities)
        self._by_rarest: dict[Entity | None, list[tuple[int, Name, Path]]] = {}
        for place, (name, file) in enumerate(found):
            rarest = min(name.entities, key=lambda entity: often[entity], default=None)
            self._by_rarest.setdefault(rarest, []).append((place, name, file))

    def about(self, name: Name, suffix: str) -> list[Path]:
        """The sidecars that speak about a file, the ones with more entities last."""
        entities = set(name.entities)
        found = [
            (place, file)
            for entity in (None, *entities)
            for place, other, file in self._by_rarest.get(entity, ())
            if other.suffix == suffix and entities.issuperset(other.entities)
        ]
        return [file for _, file in sorted(found)]


def json_content(content: Mapping[str, Any]) -> bytes:
    """A JSON object as it stands in a file."""
    # Numbers of numpy are written as floats.
    return json_text(content, default=float, allow_nan=True).encode()


def part(sidecar: Mapping[str, Any], key: str) -> Json:
    """An object inside a sidecar, such as the description of a column; empty where none is."""
    found = sidecar.get(key)
    return found if isinstance(found, dict) else {}


def number(value: object) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def positive(value: object) -> float | None:
    """A finite positive number, or None."""
    found = number(value)
    return found if found is not None and found > 0 else None


def word(value: object) -> str:
    """A word in lower case; empty where it is none."""
    return value.strip().lower() if isinstance(value, str) else ""


def stated(sidecar: Said, events: Said) -> Json:
    """The `FACTS` in BIDS' own words.

    Args:
        sidecar: of the samples.
        events: the sidecar of the events of the same recording, which describes the screen.
    """
    units = _UNITS.get(
        word(part(sidecar, "x_coordinate").get("Units"))
        or word(sidecar.get("SampleCoordinateUnits"))
    )
    if units == "normalised" and sidecar.get("SampleCoordinateSystem") == "gaze-on-screen":
        units = "fraction"
    presentation = _presentation(sidecar, events)
    return {
        "units": units,
        "xy_origin": _origin(presentation, sidecar),
        "pupil_unit": _pupil_unit(part(sidecar, "pupil_size")),
        "screen": _screen(presentation),
    }


def _origin(presentation: Said, sidecar: Said) -> str | None:
    corner = presentation.get("ScreenOrigin")
    if not isinstance(corner, list):
        # So in drafts of the standard.
        corner = word(sidecar.get("EnvironmentCoordinates")).split("-")
    where = {word(each) for each in corner[:_MOST_SIDES]}
    return next((o for o, words in CORNERS_IN_BIDS.items() if set(words) == where), None)


def _pupil_unit(column: Json) -> str | None:
    about = word(column.get("Description"))
    if "area" in about and "diameter" not in about:
        return "arbitrary"
    return _PUPIL_UNITS.get(word(column.get("Units")))


def _screen(presentation: Said) -> Screen | None:
    distance = presentation.get("ScreenDistance")
    if isinstance(distance, list):
        # Across, up and ahead: the last one is from the plane of the screen.
        distance = distance[-1] if distance else None
    width_px, height_px = _pair(presentation.get("ScreenResolution"))
    width_m, height_m = _pair(presentation.get("ScreenSize"))
    screen = Screen(
        width_px=round(width_px) if width_px else None,
        height_px=round(height_px) if height_px else None,
        width_m=_metres(width_m),
        height_m=_metres(height_m),
        distance_m=_metres(positive(distance)),
    )
    return None if screen == Screen() else screen


def _pair(value: object) -> tuple[float | None, float | None]:
    if not isinstance(value, list) or len(value) != 2:
        return None, None
    return positive(value[0]), positive(value[1])


def _metres(value: float | None) -> float | None:
    return value if value is None or value <= _FARTHEST_M else None


def doubts(sidecar: Said, events: Said) -> list[str]:
    """What is said about the screen and cannot be true."""
    presentation = _presentation(sidecar, events)
    found = []
    for key, setting in (("ScreenDistance", "distance_m"), ("ScreenSize", "screen_m")):
        value = presentation.get(key)
        values = value if isinstance(value, list) else [value]
        # What is longer is no size, whatever it says; and a sidecar speaks about many files.
        if any((number(each) or 0.0) > _FARTHEST_M for each in values[:_MOST_SIDES]):
            shown = str(value) if len(values) <= _MOST_SIDES else f"a list of {len(values):,}"
            found.append(
                f"{key} is {shown}, where BIDS has metres, and was left out: say "
                f"`map='{setting}=…'`"
            )
    return found


def _presentation(sidecar: Said, events: Said) -> Said:
    """What is said about the screen; in drafts of the standard, beside all the rest."""
    return part(events, "StimulusPresentation") or sidecar


def presentation_of(screen: Screen | None, xy_origin: str | None) -> Json:
    """The screen in BIDS' words, as far as it is known."""
    said: Json = {}
    if screen is not None and screen.distance_m:
        said["ScreenDistance"] = screen.distance_m
    if xy_origin in CORNERS_IN_BIDS:
        said["ScreenOrigin"] = CORNERS_IN_BIDS[xy_origin]
    if screen is not None and screen.width_px and screen.height_px:
        said["ScreenResolution"] = [screen.width_px, screen.height_px]
    if screen is not None and screen.width_m and screen.height_m:
        said["ScreenSize"] = [screen.width_m, screen.height_m]
    return said


def unsaid(study: Study, sidecar: Json, events: Json) -> Json:
    """The facts of a study that BIDS' own words leave out or say otherwise, for `OWN`."""
    known = stated(sidecar, events)
    facts = {name: getattr(study, name) for name in FACTS}
    return {
        name: asdict(fact) if isinstance(fact, Screen) else fact
        for name, fact in facts.items()
        if known[name] != fact
    }


def facts_of(sidecar: Said, events: Said, path: Path) -> Json:
    """The `FACTS` in BIDS' words and eyelid's.

    Args:
        sidecar: of the samples.
        events: the sidecar of their events.
        path: of the file that they describe, for errors.
    """
    facts, own = stated(sidecar, events), part(sidecar, OWN)
    for name, choices in (("units", UNITS), ("xy_origin", XY_ORIGINS), ("pupil_unit", PUPIL_UNITS)):
        if name in own:
            if own[name] is not None and own[name] not in choices:
                raise InputError(
                    f"the sidecar of {path} says {name} {repr(own[name])[:_LONGEST]}, which is "
                    f"none of {', '.join(choices)}"
                )
            facts[name] = own[name]
    if "screen" in own:
        facts["screen"] = _own_screen(own["screen"], path)
    return facts


def _own_screen(said: object, path: Path) -> Screen | None:
    if said is None:
        return None
    names = [field.name for field in fields(Screen)]
    if not isinstance(said, dict) or not set(said) <= set(names):
        raise InputError(f"the sidecar of {path} must describe a screen by {', '.join(names)}")
    sizes: Json = {name: number(value) for name, value in said.items()}
    return Screen(**{k: round(v) if v and k.endswith("_px") else v for k, v in sizes.items()})

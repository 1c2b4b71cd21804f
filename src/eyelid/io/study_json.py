"""What study.json may say: fields of known types, finite, of sizes that recordings have.

Others may have written it. What passes here can be computed with, printed and written again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from eyelid.engine.foreign import content_of
from eyelid.errors import InputError
from eyelid.gaze.study import (
    CHOSEN_BY_LIST,
    EVERY_TASK,
    PUPIL_UNITS,
    SAW,
    UNITS,
    XY_ORIGINS,
    Derivation,
    Kind,
    Screen,
)

SCHEMA = "eyelid/study/1"

Check = Callable[[str, Any], None]
"""Fails unless a value may stand under a key."""

_KINDS = get_args(Kind)
# Far beyond what there is: faster trackers, longer recordings, larger rooms, wider bounds.
_FASTEST_HZ, _LONGEST_MS, _FARTHEST_M, _MOST_PIXELS = 1e6, 1e12, 1e4, 10**7
_MOST_ROWS, _LARGEST_BOUND = 10**9, 1e30
_SMALLEST = 1e-9
_MOST_FEATURES = 10_000
_LONGEST_TEXT, _LONGEST_PATH, _LONGEST_NAME = 10_000, 4096, 100
_MOST_SETTINGS = 100
_SHOWN = 40


def read_about(path: Path) -> dict[str, Any]:
    """What a study.json says, checked.

    Args:
        path: of the file.
    """
    try:
        about = json.loads(content_of(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot read {path}: {error}") from None
    if not isinstance(about, dict) or about.get("kind") not in _KINDS:
        raise InputError(f"{path} must be an object whose kind is one of {', '.join(_KINDS)}")
    if about.get("schema", SCHEMA) != SCHEMA:
        raise InputError(
            f"{path} has the schema {_shown(about['schema'])}, this eyelid reads '{SCHEMA}': use "
            "the eyelid that wrote it"
        )
    try:
        _check_fields("", about, _FIELDS)
    except ValueError as error:
        raise InputError(f"{path} is not as expected: {error}") from None
    return about


def _check_fields(where: str, said: Mapping[str, Any], known: Mapping[str, Check]) -> None:
    """Fail unless each known field is null or fit; others are nobody's business."""
    for key, check in known.items():
        if said.get(key) is not None:
            check(where + key, said[key])


def _shown(value: object) -> str:
    """A value in an error: its beginning, whatever it is."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _unfit(key: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"{key} must be {wanted}, got {_shown(value)}")


def _one_of(choices: Collection[str]) -> Check:
    def check(key: str, value: Any) -> None:
        if not isinstance(value, str) or value not in choices:
            raise _unfit(key, f"one of {', '.join(choices)}", value)

    return check


def _number(least: float, most: float) -> Check:
    def check(key: str, value: Any) -> None:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # Integers of any length are compared exactly; what is not a number is in no range.
        if not number or not least <= value <= most:
            raise _unfit(key, f"a number from {least:g} to {most:g}", value)

    return check


def _whole(most: int) -> Check:
    def check(key: str, value: Any) -> None:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= most:
            raise _unfit(key, f"a whole number from 1 to {most:,}", value)

    return check


def _truth(key: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise _unfit(key, "true or false", value)


def _text(longest: int) -> Check:
    def check(key: str, value: Any) -> None:
        if not isinstance(value, str):
            raise _unfit(key, "text", value)
        if len(value) > longest:
            raise _unfit(key, f"at most {longest:,} characters long", value)
        # Halves of a character are in no file that can be written.
        if any("\ud800" <= letter <= "\udfff" for letter in value):
            raise _unfit(key, "text", value)

    return check


def _path(key: str, value: Any) -> None:
    _text(_LONGEST_PATH)(key, value)
    if not value.isprintable():
        raise _unfit(key, "a path", value)


def _screen(key: str, value: Any) -> None:
    names = [field.name for field in fields(Screen)]
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise _unfit(key, f"an object with {', '.join(names)}", value)
    for name, size in value.items():
        if size is not None:
            _SIZES[name.rsplit("_", 1)[-1]](f"{key}.{name}", size)


def _derived(key: str, value: Any) -> None:
    names = [field.name for field in fields(Derivation)]
    if not isinstance(value, dict) or not {"kind", "method"} <= set(value) <= set(names):
        raise _unfit(key, f"an object with kind and method, and of {', '.join(names)}", value)
    for name in ("kind", "method"):
        _name(f"{key}.{name}", value[name])
    _check_fields(f"{key}.", value, _DERIVED)


def checked_choice(said: Any) -> tuple[str, ...]:
    """How people were chosen, as a file says it; fails where it is nothing that eyelid writes.

    Args:
        said: a list.
    """
    try:
        _people_chosen("people_chosen", said)
    except ValueError as error:
        raise InputError(str(error)) from None
    return tuple(said)


def _people_chosen(key: str, value: Any) -> None:
    if not isinstance(value, list) or len(value) > _MOST_SETTINGS:
        raise _unfit(key, f"a list of at most {_MOST_SETTINGS}", value)
    for each in value:
        _text(_LONGEST_PATH)(key, each)
        if each not in (CHOSEN_BY_LIST, EVERY_TASK) and not each.startswith(SAW):
            raise _unfit(key, f"of {CHOSEN_BY_LIST}, {EVERY_TASK} or {SAW}STIMULUS", value)


def _settings(key: str, value: Any) -> None:
    if not isinstance(value, dict) or len(value) > _MOST_SETTINGS:
        raise _unfit(key, f"an object of at most {_MOST_SETTINGS} settings", value)
    for name, setting in value.items():
        _name(f"{key} has a name, which", name)
        if isinstance(setting, str):
            _name(f"{key}.{name}", setting)
        else:
            _number(-_LARGEST_BOUND, _LARGEST_BOUND)(f"{key}.{name}", setting)


def _features(key: str, value: Any) -> None:
    if not isinstance(value, list) or len(value) > _MOST_FEATURES:
        raise _unfit(key, f"a list of at most {_MOST_FEATURES:,}", value)
    for number, feature in enumerate(value):
        where = f"{key}[{number}]"
        if not isinstance(feature, dict) or not isinstance(feature.get("name"), str):
            raise _unfit(where, "an object with a name", feature)
        _check_fields(f"{where}.", feature, _FEATURE)
        lower, upper = feature.get("lower"), feature.get("upper")
        if lower is not None and upper is not None and lower > upper:
            raise _unfit(f"{where}.lower", f"at most upper, {upper:g}", lower)
    names = [feature["name"] for feature in value]
    if len(set(names)) < len(names):
        raise ValueError(f"{key} has two of one name")


def _parts(key: str, value: Any) -> None:
    if not isinstance(value, list):
        raise _unfit(key, "a list", value)
    for number, part in enumerate(value):
        where = f"{key}[{number}]"
        if not isinstance(part, dict) or not {"file", "sha256"} <= set(part):
            raise _unfit(where, "an object with file and sha256", part)
        _text(_LONGEST_PATH)(f"{where}.file", part["file"])
        _text(_LONGEST_PATH)(f"{where}.sha256", part["sha256"])


_SIZES: dict[str, Check] = {"px": _whole(_MOST_PIXELS), "m": _number(_SMALLEST, _FARTHEST_M)}
_MS = _number(_SMALLEST, _LONGEST_MS)
_SECONDS = _number(0, _LONGEST_MS)
_name = _text(_LONGEST_NAME)
_DERIVED: dict[str, Check] = {
    "settings": _settings,
    "min_seconds": _SECONDS,
    "window_s": _SECONDS,
    "step_s": _SECONDS,
    "version": _name,
}
_FEATURE: dict[str, Check] = {
    "name": _text(_LONGEST_TEXT),
    "unit": _text(_LONGEST_TEXT),
    "definition": _text(_LONGEST_TEXT),
    "lower": _number(-_LARGEST_BOUND, _LARGEST_BOUND),
    "upper": _number(-_LARGEST_BOUND, _LARGEST_BOUND),
}
_FIELDS: dict[str, Check] = {
    "origin": _text(_LONGEST_TEXT),
    "ledger": _path,
    "units": _one_of(UNITS),
    "xy_origin": _one_of(XY_ORIGINS),
    "pupil_unit": _one_of(PUPIL_UNITS),
    "rate_hz": _number(_SMALLEST, _FASTEST_HZ),
    "screen": _screen,
    "step_ms": _MS,
    "window_ms": _MS,
    "planned_ms": _MS,
    "planned_rows": _whole(_MOST_ROWS),
    "features": _features,
    "parts": _parts,
    "simulated": _truth,
    "released": _truth,
    "derived": _derived,
    "people_chosen": _people_chosen,
}

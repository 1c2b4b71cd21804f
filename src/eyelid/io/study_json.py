"""What study.json may say: fields of known types, finite, of sizes that recordings have.

Others may have written it. What passes here can be computed with, printed and written again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from eyelid.engine.files import content_of
from eyelid.errors import InputError, cannot_read
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
    with cannot_read(path, OSError, ValueError, RecursionError):
        about = json.loads(content_of(path))
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


def _require(fit: bool, key: str, wanted: str, value: object) -> None:
    if not fit:
        raise ValueError(f"{key} must be {wanted}, got {_shown(value)}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _one_of(choices: Collection[str]) -> Check:
    def check(key: str, value: Any) -> None:
        fit = isinstance(value, str) and value in choices
        _require(fit, key, f"one of {', '.join(choices)}", value)

    return check


def _number(least: float, most: float) -> Check:
    def check(key: str, value: Any) -> None:
        # Integers of any length are compared exactly; what is not a number is in no range.
        fit = _is_number(value) and least <= value <= most
        _require(fit, key, f"a number from {least:g} to {most:g}", value)

    return check


def _whole(most: int) -> Check:
    def check(key: str, value: Any) -> None:
        fit = _is_number(value) and isinstance(value, int) and 0 < value <= most
        _require(fit, key, f"a whole number from 1 to {most:,}", value)

    return check


def _truth(key: str, value: Any) -> None:
    _require(isinstance(value, bool), key, "true or false", value)


def _text(longest: int) -> Check:
    def check(key: str, value: Any) -> None:
        _require(isinstance(value, str), key, "text", value)
        _require(len(value) <= longest, key, f"at most {longest:,} characters long", value)
        # Halves of a character are in no file that can be written.
        halves = any("\ud800" <= letter <= "\udfff" for letter in value)
        _require(not halves, key, "text", value)

    return check


def _path(key: str, value: Any) -> None:
    _text(_LONGEST_PATH)(key, value)
    _require(value.isprintable(), key, "a path", value)


def _screen(key: str, value: Any) -> None:
    names = [field.name for field in fields(Screen)]
    fit = isinstance(value, dict) and set(value) <= set(names)
    _require(fit, key, f"an object with {', '.join(names)}", value)
    _check_fields(f"{key}.", value, {name: _SIZES[name.rsplit("_", 1)[-1]] for name in value})


def _derived(key: str, value: Any) -> None:
    names = [field.name for field in fields(Derivation)]
    fit = isinstance(value, dict) and {"kind", "method"} <= set(value) <= set(names)
    _require(fit, key, f"an object with kind and method, and of {', '.join(names)}", value)
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
    fit = isinstance(value, list) and len(value) <= _MOST_SETTINGS
    _require(fit, key, f"a list of at most {_MOST_SETTINGS}", value)
    for each in value:
        _text(_LONGEST_PATH)(key, each)
        fit = each in (CHOSEN_BY_LIST, EVERY_TASK) or each.startswith(SAW)
        _require(fit, key, f"of {CHOSEN_BY_LIST}, {EVERY_TASK} or {SAW}STIMULUS", value)


def _settings(key: str, value: Any) -> None:
    fit = isinstance(value, dict) and len(value) <= _MOST_SETTINGS
    _require(fit, key, f"an object of at most {_MOST_SETTINGS} settings", value)
    for name, setting in value.items():
        _name(f"{key} has a name, which", name)
        check = _name if isinstance(setting, str) else _BOUND
        check(f"{key}.{name}", setting)


def _features(key: str, value: Any) -> None:
    fit = isinstance(value, list) and len(value) <= _MOST_FEATURES
    _require(fit, key, f"a list of at most {_MOST_FEATURES:,}", value)
    for number, feature in enumerate(value):
        where = f"{key}[{number}]"
        fit = isinstance(feature, dict) and isinstance(feature.get("name"), str)
        _require(fit, where, "an object with a name", feature)
        _check_fields(f"{where}.", feature, _FEATURE)
        lower, upper = feature.get("lower"), feature.get("upper")
        if lower is not None and upper is not None:
            _require(lower <= upper, f"{where}.lower", f"at most upper, {upper:g}", lower)
    names = [feature["name"] for feature in value]
    if len(set(names)) < len(names):
        raise ValueError(f"{key} has two of one name")


def _parts(key: str, value: Any) -> None:
    _require(isinstance(value, list), key, "a list", value)
    for number, part in enumerate(value):
        where = f"{key}[{number}]"
        fit = isinstance(part, dict) and {"file", "sha256"} <= set(part)
        _require(fit, where, "an object with file and sha256", part)
        _text(_LONGEST_PATH)(f"{where}.file", part["file"])
        _text(_LONGEST_PATH)(f"{where}.sha256", part["sha256"])


_SIZES: dict[str, Check] = {"px": _whole(_MOST_PIXELS), "m": _number(_SMALLEST, _FARTHEST_M)}
_MS = _number(_SMALLEST, _LONGEST_MS)
_SECONDS = _number(0, _LONGEST_MS)
_BOUND = _number(-_LARGEST_BOUND, _LARGEST_BOUND)
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
    "lower": _BOUND,
    "upper": _BOUND,
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

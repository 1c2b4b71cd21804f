"""What the user says about columns and units: ``--map KEY=VALUE,…``, a TOML file, or a preset."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from eyelid.engine.remote import check_here
from eyelid.errors import InputError, cannot_read, unknown
from eyelid.gaze.study import PUPIL_UNITS, UNITS, XY_ORIGINS, Screen, Study
from eyelid.io.formats.vr import PRESETS
from eyelid.io.layout import (
    EACH_SCREEN,
    EACH_STIMULUS,
    HEAD,
    MAP_NAME,
    MEASURES,
    MS_PER,
    NOTHING_SAID,
    ROLES,
    Layout,
    read_toml,
)

_CHOICES: dict[str, tuple[str, ...]] = {
    "kind": ("samples", "fixations"),
    "units": UNITS,
    "xy_origin": XY_ORIGINS,
    "pupil_unit": PUPIL_UNITS,
    "time_unit": tuple(MS_PER),
    "repeats": ("first", "spread"),
    "backwards": ("sort",),
    "decimal": (".", ","),
}
_SCREEN = ("screen", "screen_m", "distance_m")
_FILES = ("names", "people")
_NAMED = ("tab", "space", "comma", "semicolon")
_SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


_PAIR = re.compile(r"""((?:[^,=]*=\s*(?:"[^"]*"|'[^']*')\s*(?=,))|[^,]*),""")
_IN_QUOTES = re.compile(r""""[^"]*"|'[^']*'""")

Map = Layout | Mapping[str, Any] | str | Path | None
"""In what ways users may say what columns mean."""

_FARTHEST_M = 20.0


def understood(said: Map) -> Layout:
    """What the user says about columns, in whichever way."""
    if said is None:
        return NOTHING_SAID
    if isinstance(said, Layout):
        return said
    if isinstance(said, Mapping):
        return layout_from_dict(said)
    return layout_from_pairs([str(said)])


def layout_from_pairs(pairs: Iterable[str]) -> Layout:
    """What ``--map`` says: ``KEY=VALUE,…``, a TOML file, a preset, or several of them.

    >>> layout_from_pairs(["person=Participant,x=X", "units=px"]).columns["person"]
    'Participant'
    """
    said: dict[str, Any] = {}
    result = NOTHING_SAID
    for text in pairs:
        if "=" not in text:
            preset = PRESETS.get(text.strip().lower())
            result = result.under(preset or layout_from_file(Path(text)))
            continue
        for pair in _pairs(text):
            key, _, value = (word.strip() for word in pair.partition("="))
            if not key or not value:
                raise InputError(f"--map takes KEY=VALUE,… or a TOML file, got '{pair}'")
            if key in said:
                raise InputError(f"--map says {key} twice: say it once")
            said[key] = value[1:-1] if _IN_QUOTES.fullmatch(value) else value
    return result.under(layout_from_dict(said))


def _pairs(text: str) -> list[str]:
    """``KEY=VALUE`` between commas; a value in quotes may hold commas.

    >>> _pairs('x="Gaze X, px",y=b')
    ['x="Gaze X, px"', 'y=b']
    """
    return _PAIR.findall(text + ",")


def layout_from_file(path: Path) -> Layout:
    """What a TOML file says: settings, a table ``[columns]``, and one ``[screen]`` if known.

    A table ``[study]`` is for `eyelid.io.csv_folder`.
    """
    check_here(path, "a file for --map")
    if not path.is_file():
        raise InputError(
            f"--map: no file {path}; write KEY=VALUE,…, or name a TOML file or a preset "
            f"({', '.join(PRESETS)})"
        )
    with cannot_read(f"the column map {path}", OSError, ValueError, RecursionError):
        said = read_toml(path)
    flat = {key: value for key, value in said.items() if key not in ("columns", "screen", "study")}
    columns = said.get("columns", {})
    if not isinstance(columns, dict):
        raise InputError(f"{path}: [columns] must be a table, got {columns}")
    layout = layout_from_dict(flat | columns)
    if "screen" in said:
        layout = replace(layout, screen=_screen_from_table(said["screen"], path))
    # Files are named from where the map is.
    beside = {
        name: path.parent / value for name in _FILES if (value := getattr(layout, name)) is not None
    }
    return replace(layout, **beside)


def layout_of_folder(folder: Path, said: Layout) -> Layout:
    """What the map in a folder of recordings says, where the user does not say otherwise.

    Others may have written it: the files that it names must be in the folder, wherever links lead.

    Args:
        folder: with a map in it.
        said: what the user says.
    """
    own = layout_from_file(folder / MAP_NAME)
    for name in _FILES:
        file = getattr(own, name)
        if file is None or getattr(said, name) is not None:
            continue
        if not file.resolve().is_relative_to(folder.resolve()):
            raise InputError(
                f"{folder / MAP_NAME} names {file} as {name}, which is not in that folder: copy it "
                f"there, or say so yourself with --map {name}=FILE"
            )
    return own.under(said)


def layout_from_dict(said: Mapping[str, Any]) -> Layout:
    """Columns and settings by name, checked."""
    found: dict[str, Any] = {"columns": {}}
    screen: dict[str, Any] = {}
    for key, value in said.items():
        if (key, value) == ("task", EACH_STIMULUS):
            found["each_stimulus"] = True
        elif (key, value) == ("screen", EACH_SCREEN):
            found["each_screen"] = True
        elif key in ROLES or re.fullmatch(r"label_\w+", key):
            found["columns"][key] = str(value)
        elif key in _SCREEN:
            screen |= _screen_setting(key, value)
        elif key in _SETTINGS:
            found[key] = _SETTINGS[key](key, value)
        else:
            raise unknown("column or setting", key, (*ROLES, "label_…", *_SETTINGS, *_SCREEN))
    if screen:
        found["screen"] = Screen(**screen)
    return Layout(**found)


def _choice(key: str, value: Any) -> Any:
    if value not in _CHOICES[key]:
        raise unknown(key, str(value), _CHOICES[key])
    return value


def _file(key: str, value: Any) -> Path:
    check_here(str(value), f"--map: the file of {key}")
    return Path(str(value))


def _text(key: str, value: Any) -> str:
    return str(value)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else str(value).split(";")


def _numbers(key: str, value: Any) -> tuple[float, ...]:
    return tuple(_number(key, each) for each in _listed(value))


def _names(key: str, value: Any) -> tuple[str, ...]:
    names = tuple(str(each).strip() for each in _listed(value))
    if "person" in names:
        raise InputError("person is no attribute of people: leave it out of attributes")
    return names


def _measures(key: str, value: Any) -> tuple[str, ...]:
    names = tuple(str(each).strip() for each in _listed(value))
    for name in names:
        if name not in (known := (*MEASURES, *HEAD)):
            raise unknown(f"measure ({key})", name, known)
    return names


def _lines(key: str, value: Any) -> int:
    return int(_number(key, value))


def _number(key: str, value: Any) -> float:
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):
        raise InputError(f"{key} must be a number, got '{value}'") from None
    if key != "lost" and not 0 <= number < float("inf"):
        raise InputError(f"{key} must be positive and finite, got {value}")
    if key == "rate_hz" and number == 0:
        raise InputError("rate_hz must be positive, got 0")
    return number


def _count(key: str, value: Any) -> int:
    number = _number(key, value)
    if number < 1 or number != int(number):
        raise InputError(f"{key} must be a whole number from 1, got {value}")
    return int(number)


def _separator(key: str, value: Any) -> str:
    letter = _SEPARATORS.get(str(value), str(value))
    if len(letter) != 1 or letter in '"\r\n' or not letter.isascii():
        raise InputError(
            f"separator must be one letter, or {', '.join(_NAMED)}, got '{str(value)[:20]}'"
        )
    return letter


def _yes_or_no(key: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("yes", "true", "no", "none", "false"):
        return str(value).lower() in ("yes", "true")
    raise InputError(f"header must be yes or no, got '{value}'")


def _screen_setting(key: str, value: Any) -> dict[str, Any]:
    if key == "distance_m":
        return {key: _metres(key, value)}
    sides = str(value).lower().split("x")
    if len(sides) != 2:
        raise InputError(f"{key} must be WIDTHxHEIGHT, such as 1920x1080, got '{value}'")
    if key == "screen":
        width, height = (_positive(key, side) for side in sides)
        return {"width_px": round(width), "height_px": round(height)}
    width, height = (_metres(key, side) for side in sides)
    return {"width_m": width, "height_m": height}


def _metres(key: str, value: Any) -> float:
    number = _positive(key, value)
    if number > _FARTHEST_M:
        raise InputError(f"{key} is in metres, got {value}: is that cm or mm?")
    return number


def _positive(key: str, value: Any) -> float:
    number = _number(key, value)
    if number == 0:
        raise InputError(f"{key} must be positive, got {value}")
    return number


def _screen_from_table(said: Any, path: Path) -> Screen:
    names = [item.name for item in fields(Screen)]
    if not isinstance(said, dict):
        raise InputError(f"{path}: [screen] must be a table of {', '.join(names)}")
    for key in said:
        if key not in names:
            raise unknown(f"entry of [screen] in {path}", key, names)
    sizes: dict[str, Any] = {key: _positive(key, value) for key, value in said.items()}
    return Screen(**{k: round(v) if k.endswith("px") else v for k, v in sizes.items()})


_FACTS = ("units", "xy_origin", "pupil_unit", "rate_hz")
# How --map spells the sizes of a screen.
_SPELT = {"width_px": "screen", "height_px": "screen"}
_SPELT |= {"width_m": "screen_m", "height_m": "screen_m"}


def with_said_facts(study: Study, said: Layout, where: str) -> Study:
    """The study with facts that it lacks; what contradicts it, or says nothing to it, is refused.

    Args:
        study: as its folder has it, with or without its rows.
        said: what the user says.
        where: the folder, for messages.

    >>> import polars as pl
    >>> rows = pl.DataFrame({"person": ["a"], "recording": ["1"], "time_ms": [0.0], "x": [1.0]})
    >>> study = Study("samples", rows, rows.select("person"), screen=Screen(width_px=1920))
    >>> said = with_said_facts(study, Layout(units="px", screen=Screen(distance_m=0.6)), "study")
    >>> said.units, said.screen.width_px, said.screen.distance_m
    ('px', 1920, 0.6)
    """
    given = [
        item.name
        for item in fields(Layout)
        if getattr(said, item.name) != getattr(NOTHING_SAID, item.name)
    ]
    if not given:
        return study
    known = (*_FACTS, "screen", "kind")
    strange = [name for name in given if name not in known]
    if "each_stimulus" in strange:
        raise InputError(
            f"{where} is a study folder: convert makes each of its stimuli a task "
            "('eyelid convert IN OUT --map task=each-stimulus'), and then go on with that"
        )
    if strange:
        names = [*said.columns] if strange[0] == "columns" else strange
        raise InputError(
            f"{where} is a study folder, whose columns and people are known: --map says its "
            f"{', '.join(known[:-1])} there where they are missing, and not {', '.join(names)}"
        )
    _agreed("kind", study.kind, said.kind, where)
    if said.kind is not None and given == ["kind"]:
        return study
    if study.kind == "features" or study.released:
        what = "a release" if study.released else "a study of features"
        raise InputError(f"{where} is {what}, to which --map has nothing to add: leave it out")
    facts: dict[str, Any] = {
        name: _agreed(name, getattr(study, name), getattr(said, name), where) for name in _FACTS
    }
    if said.screen is not None:
        own, stated = asdict(study.screen or Screen()), asdict(said.screen)
        sizes = {n: _agreed(_SPELT.get(n, n), own[n], stated[n], where) for n in own}
        facts["screen"] = Screen(**sizes)
    return replace(study, **facts)


def _agreed(name: str, own: Any, said: Any, where: str) -> Any:
    """What the study says or, where it says nothing, what the user says."""
    if own is None or said is None or own == said:
        return said if own is None else own
    raise InputError(
        f"{where} says {name}={own}, and --map says {said}: leave {name} out of --map, or mend "
        "study.json if that is wrong"
    )


_SETTINGS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(_CHOICES, _choice),
    **dict.fromkeys(_FILES, _file),
    "file": _text,
    "glob": _text,
    "separator": _separator,
    "header": _yes_or_no,
    "lost": _numbers,
    "attributes": _names,
    "without": _measures,
    "planned_rows": _count,
    "skip_lines": _lines,
    "rate_hz": _number,
}
"""What is said besides columns and the screen, and how it is read."""

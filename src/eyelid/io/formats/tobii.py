"""Tobii: exports of Pro Lab, and the tables that its SDK gives, such as of a TX300."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import RECORDING_KEY, Screen
from eyelid.io.columns import (
    events_of_kinds,
    number,
    without,
)
from eyelid.io.files import Head
from eyelid.io.formats.any_table import columns_called
from eyelid.io.layout import MS_PER, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import (
    cells,
    header_of,
    separator_of,
)
from eyelid.io.tables import read_table

NAME = "Tobii"

_SIDES = {"left": "L", "right": "R"}
_SDK = {"x": "GazePos2dx", "y": "GazePos2dy", "pupil": "PupilDm"}
_EVENTS = ("fixation", "saccade")
# In which units positions may be: on the screen before on a picture, and px before shares.
_PLACES = {"": "px", "dacspx": "px", "mcspx": "px", "mcsnorm": "fraction"}
_TIME_UNITS = {"ms": "ms", "μs": "us", "µs": "us", "us": "us"}
_KEYS = {
    "person": ("participant name",),
    "recording": ("recording name",),
    "stimulus": ("presented stimulus name", "presented media name"),
}
# Columns that come along as labels, and are taken out again when they have been used.
_ASIDE = {
    "label__event": ("eye movement type",),
    "label__index": ("eye movement type index",),
    "label__lasted_ms": ("gaze event duration", "eye movement event duration"),
    "label__width_px": ("recording resolution width",),
    "label__height_px": ("recording resolution height",),
}
_LASTED = "duration of the fixation"
_PUPIL = "mean pupil diameter"
# A tracker takes more than 10 and less than 10 000 samples a second.
_LONGEST_STEP_MS = 100.0

Columns = dict[str, dict[str, str]]


def recognises(head: Head) -> bool:
    """Whether the header is one of Pro Lab's, or of the SDK's."""
    names = header_of(head)
    return _is_of_sdk(names) or _is_of_pro_lab(_columns(names))


def _is_of_sdk(names: list[str]) -> bool:
    return any({f"{side}GazePos2dx", f"{side}GazePos2dy"} <= set(names) for side in "LR")


def _is_of_pro_lab(found: Columns) -> bool:
    besides = ("sensor", "participant name", "recording name", "eye movement type", "gaze point x")
    return "recording timestamp" in found and any(name in found for name in besides)


def read(head: Head, said: Layout) -> Part:
    """Samples of both eyes; fixations where an export has no gaze points."""
    names = header_of(head)
    if _is_of_sdk(names):
        return read_table(head, _sdk_layout(names).under(said))
    return _read_pro_lab(head, said, names)


def _sdk_layout(names: list[str]) -> Layout:
    """Shares of the screen; a validity of 0 or 1 means that the eye was seen."""
    columns = {
        f"{role}_{side}": letter + name
        for side, letter in _SIDES.items()
        for role, name in _SDK.items()
        if letter + name in names
    }
    clock = next((name for name in ("Time", "RelTimestamp") if name in names), None)
    if clock is not None:
        columns["time"] = clock
    validity = tuple(name for name in ("LValidity", "RValidity") if name in names)

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        for flag in validity:
            raw = without(raw, [flag[0] + name for name in _SDK.values()], number(flag) > 1)
        for pupil in ("LPupilDm", "RPupilDm"):
            raw = without(raw, [pupil], pl.col(pupil) <= 0)
        return raw

    return Layout(
        format=NAME,
        columns=columns,
        units="fraction",
        xy_origin="top-left",
        pupil_unit="mm",
        time_unit="us" if clock == "Time" else "ms",
        lost=(-1.0,),
        extra=validity,
        prepare=prepared,
    )


def _columns(names: list[str]) -> Columns:
    """The columns of an export by their name and unit, however its version writes them.

    >>> _columns(["Gaze point X [MCS px]", "Gaze point X", "Gaze point left X (DACSmm)"])
    ... # doctest: +NORMALIZE_WHITESPACE
    {'gaze point x': {'mcspx': 'Gaze point X [MCS px]', '': 'Gaze point X'},
     'gaze point left x': {'dacsmm': 'Gaze point left X (DACSmm)'}}
    """
    found: Columns = {}
    for column in names:
        name, _, unit = column.replace("(", "[").partition("[")
        plain = re.sub(r"[\s\])]", "", unit).lower()
        found.setdefault(name.strip().lower(), {}).setdefault(plain, column)
    return found


def _of_any_unit(found: Columns) -> dict[str, str]:
    """The first column of each name, in whatever unit."""
    return {name: next(iter(units.values())) for name, units in found.items()}


def _of_sides(found: Columns, what: str) -> dict[str, str]:
    """The columns of a quantity of each eye."""
    return columns_called({side: (f"{what} {side}",) for side in _SIDES}, _of_any_unit(found))


def _read_pro_lab(head: Head, said: Layout, names: list[str]) -> Part:
    found = _columns(names)
    what, place = _where(found)
    columns = {} if place is None else _of_eyes(found, what, place)
    columns |= columns_called(_KEYS | _ASIDE, _of_any_unit(found))
    unit, columns["time"] = next(iter(found["recording timestamp"].items()))
    time_unit = said.time_unit or _TIME_UNITS.get(unit)
    notes, guessed = [], time_unit is None
    if time_unit is None:
        time_unit = _plausible_time_unit(head, names, columns["time"], said)
        notes.append(
            f"the export does not say the unit of '{columns['time']}': it was taken as {time_unit} "
            "by its steps; if that is wrong, say it with `map='time_unit=…'`"
        )
    layout = Layout(
        format=NAME,
        columns=columns,
        units=None if place is None else _PLACES[place],
        xy_origin=None if place is None else "top-left",
        time_unit=time_unit,
    )
    if what == "gaze point":
        part = _samples(head, said, layout, found, guessed=guessed)
    elif "label__event" in columns:
        layout = _fixations_layout(head, layout.under(said), found, guessed=guessed)
        part = read_table(head, layout)
    else:
        raise InputError(
            f"{head.path} has neither gaze points nor types of eye movement: export 'Gaze point X' "
            "and 'Gaze point Y' with it"
        )
    if place is not None and place.startswith("mcs"):
        notes.append("positions are on the picture shown, or the scene camera's, not on the screen")
    if any(name.startswith(("aoi hit", "mapped ")) for name in found):
        notes.append("columns of AOI hits and of mapped gaze were left out")
    own = _screen(head, part.data, said) if place in ("", "dacspx") else None
    return replace(
        part,
        data=part.data.drop(*_ASIDE, strict=False),
        screen=Layout(screen=own).under(said).screen,
        notes=(*part.notes, *notes),
    )


def _where(found: Columns) -> tuple[str, str | None]:
    """Whether there are gaze points or only fixation points, and in which unit."""
    for what in ("gaze point", "fixation point"):
        for unit in _PLACES:
            if _of_eyes(found, what, unit):
                return what, unit
    return "fixation point", None


def _of_eyes(found: Columns, what: str, unit: str) -> dict[str, str]:
    """The columns of x and y of each eye and of both, in one unit; empty when there are none."""
    columns: dict[str, str] = {}
    for suffix, side in (("", ""), ("_left", " left"), ("_right", " right")):
        x, y = (found.get(f"{what}{side} {axis}", {}).get(unit) for axis in "xy")
        if x is not None and y is not None:
            columns |= {f"x{suffix}": x, f"y{suffix}": y}
    return columns


def _plausible_time_unit(head: Head, names: list[str], column: str, said: Layout) -> str:
    """The unit of time, by the steps between the first samples."""
    separator = said.separator or separator_of(head.lines[:50])
    rows = [cells(line, separator) for line in head.lines[1:]]
    rows = [row for row in rows if len(row) == len(names)]
    if "Sensor" in names:
        sensor = names.index("Sensor")
        rows = [row for row in rows if row[sensor].lower() == "eye tracker"] or rows
    at = names.index(column)
    times = [float(row[at]) for row in rows if re.fullmatch(r"\d{1,15}(\.\d*)?", row[at])]
    steps = np.diff(times)
    steps = steps[steps > 0]
    if not rows:
        raise NoRows(f"{head.path} has a header and no rows")
    if not len(steps):
        raise InputError(
            f"{head.path} does not say the unit of '{column}', and it has too few rows to tell: "
            "give it with `map='time_unit=ms'` (or us)"
        )
    return _unit_of(float(np.median(steps)))


def _unit_of(step: float) -> str:
    """The unit of time in which the usual step between two samples is plausible."""
    return "ms" if step <= _LONGEST_STEP_MS else "us"


def _check_unit(head: Head, raw: pl.DataFrame, layout: Layout) -> None:
    """Fail where some recording's steps tell another unit: nobody's may decide it for others.

    Args:
        head: of the file.
        raw: the rows of the eye tracker.
        layout: with the unit that was taken.
    """
    keys = [layout.columns[role] for role in RECORDING_KEY if role in layout.columns]
    step = pl.col(layout.columns["time"]).diff()
    usual = step.filter(step > 0).median().alias("step")
    found = raw.group_by(keys).agg(usual) if keys else raw.select(usual)
    if any(_unit_of(each) != layout.time_unit for each in found["step"].drop_nulls()):
        raise InputError(
            f"{head.path} does not say the unit of '{layout.columns['time']}', and by their steps "
            "recordings differ in it: say it with `map='time_unit=ms'` (or us)"
        )


def _tracked(head: Head, raw: pl.DataFrame, found: Columns) -> pl.DataFrame:
    """The rows of the eye tracker: no other sensors' rows, and no events'."""
    whose = _whose(found)
    if "sensor" in whose:
        named = pl.col(whose["sensor"]).cast(pl.String).str.strip_chars().str.to_lowercase()
        raw = raw.filter(named == "eye tracker")
        if raw.is_empty():
            raise NoRows(f"{head.path} has no rows of the sensor 'Eye Tracker'")
    elif "event" in whose:
        raw = raw.filter(pl.col(whose["event"]).is_null())
    return raw


def _whose(found: Columns) -> dict[str, str]:
    """The columns that tell whether a row is the eye tracker's."""
    return columns_called({name: (name,) for name in ("sensor", "event")}, _of_any_unit(found))


def _samples(head: Head, said: Layout, layout: Layout, found: Columns, *, guessed: bool) -> Part:
    pupils, validity = _of_sides(found, "pupil diameter"), _of_sides(found, "validity")
    averaged = bool(pupils) and not {"x_left", "x_right"} & set(layout.columns)
    own = {"pupil": _PUPIL} if averaged else {f"pupil_{s}": name for s, name in pupils.items()}
    extra = (*validity.values(), *(pupils.values() if averaged else ()), *_whose(found).values())
    layout = replace(
        layout,
        columns={**layout.columns, **own},
        pupil_unit="mm" if pupils else None,
        extra=extra,
        made=(_PUPIL,) if averaged else (),
    ).under(said)

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        raw = _tracked(head, raw, found)
        if guessed:
            _check_unit(head, raw, layout)
        for side, flag in validity.items():
            said_so = pl.col(flag).cast(pl.String).str.to_lowercase() == "invalid"
            invalid = said_so | (number(flag) > 1)
            raw = without(raw, (layout.columns.get(f"{r}_{side}", "") for r in _SDK), invalid)
        if averaged:
            mean = pl.mean_horizontal(number(column) for column in pupils.values())
            raw = raw.with_columns(mean.alias(_PUPIL))
        return raw

    part = read_table(head, replace(layout, prepare=prepared))
    note = "the export has gaze of both eyes together: their pupils were averaged"
    notes = (*part.notes, note) if averaged else part.notes
    return replace(part, events=events_of_kinds(part.data, _EVENTS), notes=notes)


def _fixations_layout(head: Head, layout: Layout, found: Columns, *, guessed: bool) -> Layout:
    """The layout of an export without gaze: its rows become one for each fixation."""
    columns = layout.columns
    same = (*RECORDING_KEY, "label__event", "label__index")
    keys = [columns[role] for role in same if role in columns]
    time, event = pl.col(columns["time"]), pl.col(columns["label__event"])
    spanned = time.last() - time.first()
    ms_per = MS_PER[layout.time_unit or "ms"]

    def prepared(raw: pl.DataFrame) -> pl.DataFrame:
        raw = _tracked(head, raw, found)
        if guessed:
            _check_unit(head, raw, layout)
        lasted = spanned
        if "label__lasted_ms" in columns:
            stated = number(columns["label__lasted_ms"]).first() / ms_per
            lasted = pl.coalesce(stated, spanned)
        raw = (
            raw.with_columns(pl.struct(keys).rle_id().alias("run of rows"))
            .filter(event.str.to_lowercase() == "fixation")
            .group_by("run of rows", maintain_order=True)
            .agg(pl.exclude("run of rows").first(), lasted.alias(_LASTED))
        )
        if raw.is_empty():
            raise NoRows(f"{head.path} has neither gaze points nor fixations")
        return raw

    return replace(
        layout,
        kind="fixations",
        columns={"duration": _LASTED, **columns},
        extra=tuple(_whose(found).values()),
        made=(_LASTED,),
        prepare=prepared,
    )


def _screen(head: Head, data: pl.DataFrame, said: Layout) -> Screen | None:
    """The screen that rows state; refused where they state several and nobody says which."""
    sides = ("label__width_px", "label__height_px")
    if not set(sides) <= set(data.columns):
        return None
    stated = data.select(number(side).cast(pl.Int64, strict=False) for side in sides)
    sizes = stated.drop_nulls().unique(maintain_order=True)
    if len(sizes) > 1 and not said.each_screen and not (said.screen and said.screen.width_px):
        each = ", ".join(f"{width} x {height}" for width, height in sizes.rows())
        raise InputError(
            f"{head.path} states several screens ({each}): say it for all with "
            "`map='screen=WIDTHxHEIGHT'`, or `map='screen=each'` if the study has no one screen"
        )
    if len(sizes) != 1 or min(sizes.row(0)) <= 0:
        return None
    return Screen(*sizes.row(0))

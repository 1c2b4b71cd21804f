"""Tables of samples or fixations, by a layout: rows with the columns of a study."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from types import MappingProxyType

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import EYES, RECORDING_KEY, tasks_apart
from eyelid.io.files import Head
from eyelid.io.layout import DIRECTION, HEAD, HEAD_DIRECTION, KEYS, MEASURES, MS_PER, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import (
    columns_in_words,
    few_in_words,
    first_values,
    names_in_words,
    raw_table,
)
from eyelid.spelling import in_quotes, plural

# No digit is given back, or a long row of them would be gone through from each of them.
_ONE_NUMBER = re.compile(r"[-+]?(?:\d++[.,]?\d*+|[.,]\d++)(?:e[-+]?\d++)?", re.IGNORECASE)
_A_NAME = re.compile(r"[^\W\d][^\"{}\[\]:]*")
# Directions are written with two decimals at times.
_UNIT_TOLERANCE = 0.05


def read_table(
    head: Head,
    layout: Layout,
    rows: pl.DataFrame | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    recordings: pl.DataFrame | None = None,
) -> Part:
    """The content of a table, with the columns of a study.

    A person who has rows before a format prepares them, and none afterwards, keeps one without
    values.

    Args:
        head: of the file.
        layout: what its columns mean.
        rows: its columns of numbers and text, where a format has read them; else it is text or
            Parquet.
        names: person, recording, task and stimulus besides, where the format knows them.
        recordings: what columns say of each recording, where some may have no rows.
    """
    there = columns_in_words(head, layout) if rows is None else names_in_words(rows.columns)
    if not layout.columns:
        raise InputError(
            f"{head.path} is a table whose columns say nothing known: name them with "
            f"`map='time=COLUMN,x=COLUMN,y=COLUMN,units=px,…'`{there}; "
            f"{_without_gaze(head, layout)}"
        )
    kind = layout.kind or ("fixations" if "duration" in layout.columns else "samples")
    if (kind == "samples" or layout.kind is None) and not has_gaze(layout):
        raise InputError(
            f"{head.path} has no gaze that is known: name its columns with "
            "`map='x=COLUMN,y=COLUMN'`"
            ", or of unit vectors gaze_x=COLUMN,gaze_y=COLUMN,gaze_z=COLUMN"
            f"{there}; {_without_gaze(head, layout)}"
        )
    layout = replace(layout, extra=(*layout.extra, *layout.attributes))
    raw = raw_table(head, layout, rows)
    clocks = frozenset(name for name in raw.columns if raw.schema[name] == pl.Datetime)
    if clocks:
        raw = raw.with_columns(pl.col(clocks).dt.epoch("us").cast(pl.Float64) / 1000.0)
    columns = dict(layout.columns)
    keys = {role: columns[role] for role in KEYS if role in columns}
    whose = named_in(raw, keys)
    if recordings is not None:
        whose = pl.concat([named_in(recordings, keys), whose], how="diagonal")
        whose = whose.unique(maintain_order=True)
    try:
        raw = raw if layout.prepare is None else layout.prepare(raw)
        if raw.is_empty():
            raise NoRows(f"{head.path} has a header and no rows")
    except NoRows as error:
        known = pl.DataFrame([dict(names)]) if whose.is_empty() and names else whose
        raise NoRows(str(error), known) from None
    selected = index_of(layout, time_of(head, layout, raw, clocks, there))
    if "duration" in columns:
        selected.append(
            (number_in(columns["duration"]) * _ms_per(head, layout, "duration")).alias(
                "duration_ms"
            )
        )
    numbers = [*HEAD, *(feature.name for feature in layout.features)]
    selected += [number_in(columns[role]).alias(role) for role in numbers if role in columns]
    data = _directed(head, layout, _of_eyes(raw, layout, selected))
    seen = _steady(head, layout, data)
    data = with_everybody(seen, whose)
    return Part(
        format=layout.format or "table",
        data=data,
        kind=kind,
        units=layout.units,
        xy_origin=layout.xy_origin,
        pupil_unit=layout.pupil_unit,
        rate_hz=layout.rate_hz,
        screen=layout.screen,
        features=layout.features,
        people=attributes_of(layout, raw),
        names=dict(names),
        notes=(*without_gaze_remarks(head, len(data) - len(seen)), *_behind_remarks(data)),
    )


def without_gaze_remarks(head: Head, recordings: int) -> tuple[str, ...]:
    """A remark on recordings whose rows are no gaze, for the owner's eyes: it is private.

    Args:
        head: of the file.
        recordings: how many there are.
    """
    if not recordings:
        return ()
    have, count = ("has", "counts") if recordings == 1 else ("have", "count")
    return (
        f"from the raw data, never in a release: {plural(recordings, 'recording')} in "
        f"{head.path.name} {have} rows, but none of gaze, of people who have no other there, and "
        f"{count} without values",
    )


def named_in(rows: pl.DataFrame, keys: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Person, recording, task and stimulus of each recording; nothing where there is no name.

    Args:
        rows: of a table.
        keys: the column that each of them stands in, where that is called otherwise.
    """
    keys = {role: role for role in KEYS} if keys is None else keys
    there = {role: column for role, column in keys.items() if column in rows.columns}
    if "person" not in there:
        return pl.DataFrame()
    named = rows.select(
        pl.col(column).cast(pl.String).fill_null("").alias(role) for role, column in there.items()
    )
    named = named.filter(pl.col("person").str.strip_chars() != "")
    return named.unique([role for role in RECORDING_KEY if role in there], maintain_order=True)


def with_everybody(data: pl.DataFrame, whose: pl.DataFrame) -> pl.DataFrame:
    """Rows and, of each person who has none, a row without values in each of their recordings.

    Args:
        data: with columns of a study.
        whose: keys of all recordings, of which some may be lost. People come in their order here,
            who has lost what.
    """
    if whose.is_empty() or "person" not in data.columns:
        return data
    lost = whose.join(data.select("person").unique(), on="person", how="anti")
    if not lost.is_empty():
        data = pl.concat([data, without_values(lost)], how="diagonal_relaxed")
    people = whose["person"].unique(maintain_order=True)
    places = {person: place for place, person in enumerate(people)}
    order = data["person"].replace_strict(places, default=len(places), return_dtype=pl.Int64)
    return data if order.is_sorted() else data.sort(order, maintain_order=True)


def without_values(recordings: pl.DataFrame) -> pl.DataFrame:
    """A row without values for each recording: that its person took part counts."""
    return recordings.with_columns(pl.lit(0.0).alias("time_ms"))


def with_unread_remarks(part: Part, names: Sequence[str], layout: Layout) -> Part:
    """The content of a table of gaze, with a remark on the columns that have no role in it.

    Args:
        part: as `read_table` made it.
        names: of all columns of the table.
        layout: by which it did.
    """
    read = layout.read_columns
    rest = [name for name in names if name and name not in read]
    if not rest:
        return part
    note = f"columns that are not mapped were left out: {few_in_words(rest, 6)}"
    return replace(part, notes=(*part.notes, note))


def attributes_of(layout: Layout, raw: pl.DataFrame) -> pl.DataFrame | None:
    """What a table says of people besides; None where nobody asks for it."""
    if not layout.attributes:
        return None
    columns = {name: name for name in layout.attributes}
    if "person" in layout.columns:
        columns["person"] = layout.columns["person"]
    named = [pl.col(column).cast(pl.String).alias(name) for name, column in columns.items()]
    return raw.select(named).unique(maintain_order=True)


def _without_gaze(head: Head, layout: Layout) -> str:
    """How a table that has measures instead of gaze becomes a study."""
    roles = {"person": "COLUMN", **layout.columns}
    told = ",".join(f"{role}={roles[role]}" for role in ("person", "task") if role in roles)
    mapped = {*layout.columns.values()}
    held = first_values(head, layout)
    measured = [name for name, values in held.items() if all(map(_ONE_NUMBER.fullmatch, values))]
    # The cells of what is no table, such as JSON, are no names.
    named = (name for name in reversed(measured) if _A_NAME.fullmatch(name) and name not in mapped)
    measure = next(named, "NAME")
    said = f"{measure},UNIT,LOWER,UPPER,WHAT IT IS"
    way = in_quotes(
        f"eyelid convert {quote(str(head.path))} STUDY --map {quote(told)} --features features.csv"
    )
    return (
        "if a row is a trial, a sentence or a word with measures of its own, make a study of "
        f"features: {way}, where features.csv has the line "
        f"'name,unit,lower,upper,definition' and one for each measure, such as '{said}', with "
        "bounds that are known without the data"
    )


def has_gaze(layout: Layout) -> bool:
    """Whether columns are places or directions of gaze."""
    sides = ("", *(f"_{eye}" for eye in EYES[:2]))
    needed = (("x", "y"), ("gaze_x", "gaze_y", "gaze_z"))
    return any(all(n + side in layout.columns for n in names) for side in sides for names in needed)


def number_in(column: str) -> pl.Expr:
    """A column of numbers, null where nothing was measured."""
    return pl.col(column).cast(pl.Float64).fill_nan(None)


def _ms_per(head: Head, layout: Layout, role: str) -> float:
    """Milliseconds in a unit of time: as said, or as the name of the column ends."""
    unit = layout.time_unit
    if unit is None:
        unit = unit_in(layout.columns.get(role, ""))
        if unit is None:
            raise InputError(
                f"{head.path} does not say the unit of time of {layout.columns.get(role, role)!r}: "
                "give it with `map='time_unit=ms'` (or s, us, ns)"
            )
    return MS_PER[unit]


def unit_in(column: str) -> str | None:
    """The unit of time that the name of a column ends with."""
    named = re.search(r"(?:[\[(_ ]|^)(ns|us|µs|ms|s|sec|seconds)[\])]?$", column.lower())
    return {"µs": "us", "sec": "s", "seconds": "s"}.get(named[1], named[1]) if named else None


def time_of(
    head: Head, layout: Layout, raw: pl.DataFrame, clocks: Collection[str], columns: str
) -> pl.Expr:
    """Time in ms: as it stands, or by counting samples; of ``clocks`` it is in ms already."""
    if "time" in layout.columns:
        column = layout.columns["time"]
        unknown = raw[column].is_null().arg_true()
        if len(unknown):
            raise InputError(f"{head.path}: row {unknown[0] + 1} has no time in column '{column}'")
        return number_in(column) * (1.0 if column in clocks else _ms_per(head, layout, "time"))
    if "duration" in layout.columns:
        # Fixations that follow each other at once, as far as the table tells.
        ends = (
            number_in(layout.columns["duration"]) * _ms_per(head, layout, "duration")
        ).fill_null(0.0)
        return _within(layout, ends.cum_sum() - ends)
    if layout.rate_hz is None:
        raise InputError(
            f"{head.path} has no time: name its column with `map='time=COLUMN'`, or the rate of "
            "the "
            f"samples with `map='rate_hz=60'`{columns}"
        )
    # Samples of two eyes in turn share a time.
    count = pl.int_range(pl.len())
    if "eye" in layout.columns:
        return _within(layout, count, layout.columns["eye"]) * (1000.0 / layout.rate_hz)
    return _within(layout, count) * (1000.0 / layout.rate_hz)


def _within(layout: Layout, counted: pl.Expr, *more: str) -> pl.Expr:
    keys = [layout.columns[role] for role in ("person", "recording") if role in layout.columns]
    return counted.over([*keys, *more]) if keys or more else counted


def index_of(layout: Layout, time_ms: pl.Expr) -> list[pl.Expr]:
    """The keys of rows as text, their time, and their labels.

    Args:
        layout: what columns mean.
        time_ms: the time, by the columns of the table.
    """
    keys = [(role, layout.columns[role]) for role in KEYS if role in layout.columns]
    labels = [pair for pair in layout.columns.items() if pair[0].startswith("label_")]
    return [
        *[pl.col(column).cast(pl.String).fill_null("").alias(role) for role, column in keys],
        time_ms.alias("time_ms"),
        *[_label(layout, role, column) for role, column in labels],
    ]


def _label(layout: Layout, role: str, column: str) -> pl.Expr:
    values = layout.label_values.get(role)
    label = pl.col(column)
    if values is None:
        return label.alias(role)
    names = {str(key): name for key, name in values.items()}
    return label.cast(pl.String).replace_strict(names, default=None).alias(role)


def _of_eyes(raw: pl.DataFrame, layout: Layout, selected: list[pl.Expr]) -> pl.DataFrame:
    """Long format: one row a sample and eye, the columns of each eye under the same names."""
    columns = layout.columns

    def measured(suffix: str) -> list[pl.Expr]:
        found = {m: columns[m + suffix] for m in MEASURES if m + suffix in columns}
        if not {"x", "y"} <= set(found) and not {"gaze_x", "gaze_y", "gaze_z"} <= set(found):
            # A pupil alone says nothing about where a person looked.
            found = {} if suffix else found
        if not layout.lost or not {"x", "y"} <= set(found):
            return [number_in(column).alias(m) for m, column in found.items()]
        lost = pl.any_horizontal(number_in(found[axis]).is_in(layout.lost) for axis in "xy")
        lost = lost.fill_null(False)
        # A pupil may be known of an eye that looks nowhere, but not by such a value.
        gone = {
            m: lost if m in ("x", "y") else lost & number_in(column).is_in(layout.lost)
            for m, column in found.items()
            if m in ("x", "y", "pupil")
        }
        return [
            pl.when(~gone[m]).then(number_in(c)).alias(m) if m in gone else number_in(c).alias(m)
            for m, c in found.items()
        ]

    sides = [(side, measured(f"_{side}")) for side in EYES[:2]]
    sides = [(side, found) for side, found in sides if found]
    both = measured("")
    pupils = [
        number_in(columns[f"pupil_{side}"]) for side in EYES[:2] if f"pupil_{side}" in columns
    ]
    if both and pupils and not sides and "pupil" not in columns:
        # One place of two eyes: their pupils are one, as far as each was seen.
        seen = [pl.when(pupil > 0).then(pupil) for pupil in pupils]
        both.append(pl.mean_horizontal(seen).alias("pupil"))
    if "eye" in columns:
        eye = pl.col(columns["eye"]).cast(pl.String).str.to_lowercase().str.slice(0, 1)
        names = {name[0]: name for name in EYES} | {"b": "cyclopean"}
        return raw.select(*selected, eye.replace_strict(names, default="").alias("eye"), *both)
    if not sides:
        return raw.select(*selected, *both)
    if both:
        sides.append(("cyclopean", both))
    frames = [raw.select(*selected, pl.lit(side).alias("eye"), *found) for side, found in sides]
    return pl.concat(frames, how="diagonal")


def _directed(head: Head, layout: Layout, data: pl.DataFrame) -> pl.DataFrame:
    """Rows whose directions are directions: where a vector has no length, the eye was lost."""
    for names in (DIRECTION, HEAD_DIRECTION):
        if not set(names) <= set(data.columns):
            continue
        length = pl.sum_horizontal([pl.col(n) ** 2 for n in names], ignore_nulls=False).sqrt()
        points = length > 0
        data = data.with_columns(pl.when(points).then(pl.col(names)))
        usual = data.select(length.median()).item()
        if usual is not None and abs(usual - 1) > _UNIT_TOLERANCE:
            said = ", ".join(layout.columns.get(name, name) for name in names)
            raise InputError(
                f"{head.path}: {said} are no unit vectors, half of them are shorter than "
                f"{usual:.2g}: {names[0]}, {names[1]} and {names[2]} are a direction (x to the "
                "right, y up, z straight ahead), neither angles nor a rotation"
            )
    return data


def _behind_remarks(data: pl.DataFrame) -> tuple[str, ...]:
    """A remark on directions most of which point backwards: others' z points there."""
    ahead = DIRECTION[-1]
    known = data[ahead].drop_nulls() if ahead in data.columns else pl.Series(dtype=pl.Float64)
    if 2 * (known < 0).sum() <= len(known):
        return ()
    return (
        f"most directions of gaze point backwards ({ahead} is negative): here z is straight ahead, "
        f"and in some systems it is behind; if so in yours, change the sign of {ahead}",
    )


def _steady(head: Head, layout: Layout, data: pl.DataFrame) -> pl.DataFrame:
    """Time stamps that increase in each recording, as far as the user said how to make them."""
    key: list[str] = [name for name in ("person", "recording", "eye") if name in data.columns]
    if layout.backwards is not None:
        data = data.sort(*key, "time_ms", maintain_order=True)
    # Tasks become recordings of their own (`by_task`), and so do stimuli where clocks restart.
    data, key = data.with_columns(tasks_apart(data)), [*key, "apart"]
    step = pl.col("time_ms").diff().over(key)
    if layout.backwards is None:
        back = data.select(step < 0).to_series().fill_null(False).arg_true()
        if len(back):
            row = data.row(back[0], named=True)
            raise InputError(
                f"{head.path}: time runs backwards at row {back[0] + 1} (to {row['time_ms']:g} "
                "ms); if several recordings stand in one file, say which column tells them apart "
                "with `map='recording=COLUMN'`; to sort by time, `map='backwards=sort'`"
            )
    if layout.repeats is None:
        return data.drop("apart")
    groups = [*key, "time_ms"]
    if layout.repeats == "first":
        return data.unique(groups, keep="first", maintain_order=True).drop("apart")
    count, place = pl.len().over(groups), pl.int_range(pl.len()).over(groups)
    # Each track by its own interval: one person's data must not move another's.
    steps = data.with_columns(step.alias("step"))
    usual = pl.when(pl.col("step") > 0).then(pl.col("step")).median()
    interval = usual.over(key).fill_null(0.0)
    spread = pl.col("time_ms") + place * (interval / count)
    return steps.with_columns(spread).drop("step", "apart")

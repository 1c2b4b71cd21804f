"""Recordings of files: whose each is, and one study of all of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.study import RECORDING_KEY, Screen, Study, check
from eyelid.io.file_names import (
    names_of_file,
    read_listing,
)
from eyelid.io.layout import HEAD, KEYS, MEASURES, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.remarks import (
    beyond_bounds,
    known_rates,
    odd_places,
    one_rate,
    outside_of,
    places_of,
    range_in_words,
    without_rows,
)
from eyelid.io.row_changes import (
    by_task,
    check_stimuli,
    with_home,
)
from eyelid.io.tables import without_values

_LEADING = ("person", "recording", "task", "stimulus", "time_ms", "duration_ms", "eye")


def named_without_rows(path: Path, error: NoRows, layout: Layout) -> Part:
    """The recordings of a file that has no rows, each with one without values.

    A person who lost all recordings stays in the study.

    Args:
        path: of the file.
        error: that it has none, with what it says of whose it is.
        layout: with the user's pattern or list.
    """
    keys = error.whose if error.whose.height > 1 else pl.DataFrame()
    own = error.whose.row(0, named=True) if error.whose.height == 1 else {}
    if "person" not in {*keys.columns, *names_of_file(path, layout, own)}:
        raise InputError(
            f"{error}, and does not say whose it is, so that its person would be missing: say it "
            "with a file-name pattern (`map='file={person}_{recording}'`) or a list "
            "(`map='names=FILE.csv'`)"
        )
    rows = without_values(keys) if keys.height else pl.DataFrame({"time_ms": [0.0]})
    part = Part(format="", data=rows, names=own)
    return replace(named(path, part, layout, alone=False), blank=True)


def named(path: Path, part: Part, layout: Layout, *, alone: bool) -> Part:
    """Give the rows of a file their person, recording, task and stimulus.

    Columns of the file come first, then what the user says about its name, then what its format
    says about it. A file that is read alone is one person's.
    """
    own = {name: value for name, value in part.names.items() if value}
    known = names_of_file(path, layout, own)
    said = layout.file is not None or layout.names is not None
    here = {
        name: value
        for name, value in known.items()
        # A person's own pattern outranks a column that they did not name.
        if name not in part.data.columns or (said and name not in layout.columns)
    }
    _check_pattern(path, part, here)
    part = replace(part, data=part.data.drop(layout.without, strict=False))
    nameless = alone and "recording" not in {*here, *part.data.columns}
    stem = path.name[: len(path.name) - len("".join(path.suffixes))] or path.name
    if "person" not in here and "person" not in part.data.columns:
        if not alone:
            raise InputError(
                f"{path.name} does not say whose it is, and a wrong guess would be a wrong promise:"
                " say it with a file-name pattern (`map='file={person}_{recording}'`), a column "
                "(`map='person=COLUMN'`) or a list (`map='names=FILE.csv'`); if every file is "
                "another "
                "person's, `map='file={person}'`"
            )
        here["person"] = stem
    if part.kind == "features" and "recording" not in part.data.columns:
        part = replace(part, data=_with_recordings(part.data, here.pop("recording", None), stem))
    if "recording" not in here and "recording" not in part.data.columns:
        here["recording"] = stem if said or "task" not in here else here["task"]
        if said and not alone:
            # The pattern's other fields tell the files of a person apart, or the name does.
            rest = [known[name] for name in ("task", "stimulus") if name in known]
            here["recording"] = "-".join(rest) or stem
    frames = [part.data] if part.events is None else [part.data, part.events]
    full = [
        frame.with_columns(pl.lit(value).alias(name) for name, value in here.items())
        for frame in frames
    ]
    people = part.people
    if people is None:
        people = full[0].select("person").unique(maintain_order=True)
    elif "person" not in people.columns:
        people = people.with_columns(pl.lit(here["person"]).alias("person"))
    whole = replace(
        part,
        path=path,
        data=full[0],
        events=full[1] if len(full) > 1 else None,
        people=people,
        places=places_of(part),
        outside=outside_of(part),
    )
    return by_task(whole, alone=nameless and part.kind != "features")


def _with_recordings(data: pl.DataFrame, said: str | None, stem: str) -> pl.DataFrame:
    """A table of features whose recordings are told by what else tells rows apart.

    Args:
        data: of a file that does not name its recordings.
        said: what the name of the file says of them.
        stem: of its name.
    """
    parts = [pl.lit(said)] if said else []
    parts += [pl.col(name) for name in ("task", "stimulus") if name in data.columns]
    return data.with_columns(
        (pl.concat_str(parts, separator="-") if parts else pl.lit(stem)).alias("recording")
    )


def _check_pattern(path: Path, part: Part, here: dict[str, str]) -> None:
    """Keep a name for the whole file from swallowing what the file itself tells apart."""
    for name in ("person", "recording"):
        if name not in here or name not in part.data.columns:
            continue
        inside = part.data[name].unique(maintain_order=True)
        if len(inside) > 1:
            many = "people" if name == "person" else "recordings"
            raise InputError(
                f"{path} holds several {many} ({', '.join(map(str, inside.head(3)))}, …): leave "
                f"{{{name}}} out of the file-name pattern"
            )


def joined(parts: Sequence[Part], layout: Layout) -> Study:
    """One study of the contents of some files.

    Args:
        parts: the files, in order.
        layout: with the user's list of people, where there is one.
    """
    if not parts:
        raise InputError("there is nothing to read")
    for each in parts:
        check_everybody(each)
    _check_apart(parts)
    # What has no rows says nothing about units, rates and screens.
    whole, parted = [each for each in parts if not each.blank], with_tasks(parts, layout)
    if not whole:
        raise InputError(f"{parts[0].path} has no rows, nor has any other of {len(parts)} files")
    parts, first = whole, whole[0]
    notes = list(dict.fromkeys(note for each in parts for note in each.notes))
    for field in ("kind", "units", "xy_origin", "pupil_unit"):
        for each in parts[1:]:
            here, there = getattr(first, field), getattr(each, field)
            if here != there:
                raise InputError(
                    f"{parts[0].path.name} and {each.path.name} differ in {field} ({here} and "
                    f"{there}): read them apart, or say it for all with `map='{field}=…'`"
                )
    _check_alike(parts, layout)
    rates = [rate for each in parts for rate in known_rates(each)]
    rate_hz = one_rate(rates)
    stated = {each.rate_hz for each in parts if each.rate_hz}
    if first.kind == "samples" and stated - set(rates):
        notes.append(
            f"{range_in_words(sorted(stated - set(rates)))} Hz is stated, and time stamps show "
            f"{range_in_words([r for r in rates if r])} Hz: they are believed"
        )
    if rate_hz is None and any(rates):
        notes.append(f"rates differ: {range_in_words([r for r in rates if r])} Hz")
    geometry = first.screen and first.screen.distance_m and first.screen.width_m
    if geometry and first.units in ("px", "fraction") and first.xy_origin is None:
        notes.append(
            "xy_origin is not stated, so places on the screen do not become degrees: say it with "
            "`map='xy_origin=top-left'`"
        )
    notes += without_rows(parted)
    notes += odd_places(parts, first)
    notes += beyond_bounds(parts)
    if layout.planned_rows is not None and first.kind != "features":
        raise InputError("planned_rows is about tables of features: leave it out of `map`")
    if layout.feature_columns and layout.planned_rows is None:
        notes.append(
            "how many rows a recording has by design is not said, so releases take 20 of each: if "
            "that was fixed before the first participant, say it with `map='planned_rows=N'`"
        )
    data = pl.concat([each.data for each in parted], how="diagonal_relaxed")
    events = [each.events for each in parts if each.events is not None]
    study = Study(
        kind=first.kind,
        data=filled(data),
        people=_people(parted, layout),
        units=first.units,
        rate_hz=rate_hz if first.kind == "samples" else None,
        screen=None if layout.each_screen else first.screen,
        xy_origin=first.xy_origin,
        pupil_unit=first.pupil_unit,
        planned_rows=layout.planned_rows,
        features=tuple(dict.fromkeys(f for each in parts for f in each.features)),
        events=pl.concat(events, how="diagonal_relaxed") if events else None,
        notes=tuple(notes),
        read_as=tuple(dict.fromkeys(each.format for each in parts)),
    )
    return check(check_stimuli(study) if layout.each_stimulus else study)


def _check_alike(parts: Sequence[Part], layout: Layout) -> None:
    """Fail where files differ in what decides how everybody's are read.

    What most of them have, or the first, or any, would be one person's to change: a participant
    recorded otherwise would take the screen, or give a measure, to everybody.

    Args:
        parts: files with rows.
        layout: what the user says about all of them.
    """
    first = parts[0]
    measured = [_measured_in(each) for each in parts]
    for each, columns in zip(parts, measured, strict=True):
        if each.screen != first.screen and not layout.each_screen:
            raise InputError(
                f"{first.path.name} and {each.path.name} differ in their screen "
                f"({_screen_in_words(first.screen)} and {_screen_in_words(each.screen)}): say it "
                "for all with `map='screen=WIDTHxHEIGHT'` (likewise screen_m, distance_m), or "
                "`map='screen=each'` if the study has no one screen; `units='deg'` then makes "
                "degrees of each file by its own"
            )
        if each.features != first.features:
            raise InputError(
                f"{first.path.name} and {each.path.name} differ in their features: read them apart"
            )
        for name in sorted(columns ^ measured[0]):
            has, lacks = (each, first) if name in columns else (first, each)
            raise InputError(
                f"{has.path.name} has {name}, and {lacks.path.name} has not: one file must not "
                "decide what all are measured by; add the column there (empty where nothing was "
                f"measured), or leave it out of all with `map='without={name}'`"
            )


def _measured_in(part: Part) -> set[str]:
    """What a file measures, but for which eyes."""
    return {*MEASURES, *HEAD} & set(part.data.columns)


def _screen_in_words(screen: Screen | None) -> str:
    known = {} if screen is None else {k: v for k, v in vars(screen).items() if v is not None}
    return ", ".join(f"{name} {size:g}" for name, size in known.items()) or "none"


def with_tasks(parts: Sequence[Part], layout: Layout) -> list[Part]:
    """Files of which those without rows have a task that others have, if any has one.

    A task without a name would show in releases that a person has no rows. They are taken for the
    first task by name: no value tells otherwise.

    Args:
        parts: all files of a study.
        layout: whether each stimulus is a task of its own, which a file without rows may not tell.
    """
    tasks: set[str] = set()
    for each in parts:
        if not each.blank and "task" in each.data.columns:
            tasks |= {str(task) for task in each.data["task"].unique() if task}
    if not tasks:
        return list(parts)
    first = pl.lit(min(tasks))

    def placed(each: Part) -> Part:
        rows = each.data
        own = pl.col("task") if "task" in rows.columns else pl.lit("")
        unknown = own.fill_null("") == ""
        if each.blank and layout.each_stimulus:
            return with_home(each, tasks)
        if not each.blank or not rows.select(unknown.any()).item():
            return each
        task = pl.when(unknown).then(first).otherwise(own)
        return replace(each, data=rows.with_columns(task.alias("task")))

    return [placed(each) for each in parts]


def _ordered_columns(data: pl.DataFrame) -> pl.DataFrame:
    labels = [name for name in data.columns if name.startswith("label_")]
    leading = [name for name in _LEADING if name in data.columns]
    rest = [name for name in data.columns if name not in leading and name not in labels]
    return data.select(*leading, *rest, *labels)


def filled(data: pl.DataFrame) -> pl.DataFrame:
    """Text keys without gaps; an eye that is not known is an empty name."""
    text = [name for name in (*KEYS, "eye") if name in data.columns]
    absent = [name for name in ("task", "stimulus") if name not in data.columns]
    done = data.with_columns(
        *[pl.col(name).cast(pl.String).fill_null("") for name in text],
        *[pl.lit("").alias(name) for name in absent],
    )
    return _ordered_columns(done)


def check_everybody(each: Part) -> None:
    """Fail when rows are nobody's: some of them may be of people who are there by name."""
    nobody = (each.data["person"].str.strip_chars() == "").fill_null(True)
    if nobody.any():
        raise InputError(
            f"{each.path}: {nobody.sum():,} rows do not say whose they are: give every row its "
            "person, or leave these rows out"
        )


def _check_apart(parts: Sequence[Part]) -> None:
    """Fail when two files claim to be the same recording."""
    owners: dict[tuple[str, str], Path] = {}
    for each in parts:
        for key in each.data.select(RECORDING_KEY).unique(maintain_order=True).iter_rows():
            if key in owners:
                raise InputError(
                    f"{owners[key]} and {each.path} are both recording '{key[1]}' of person "
                    f"'{key[0]}': tell them apart with a pattern such as "
                    "`map='file={person}_{recording}'`"
                )
            owners[key] = each.path


def _people(parts: Sequence[Part], layout: Layout) -> pl.DataFrame:
    """One row a person, with the attributes that a file or the user's list gives."""
    frames = [each.people for each in parts if each.people is not None]
    everybody = pl.concat(frames, how="diagonal_relaxed").with_columns(
        pl.col("person").cast(pl.String)
    )
    if layout.attributes:
        everybody = _one_value_each(everybody, layout.attributes)
    everybody = everybody.unique("person", keep="first", maintain_order=True)
    if layout.people is None:
        return everybody
    listed = read_listing(layout.people, "person").drop_nulls("person")
    listed = listed.unique("person", maintain_order=True)
    labels = listed["person"].str.strip_prefix("sub-")
    if not set(listed["person"]) & set(everybody["person"]) and labels.is_unique().all():
        # In BIDS sub-01 is a name with a mark before it.
        listed = listed.with_columns(labels)
    if not set(listed["person"]) & set(everybody["person"]):
        raise InputError(
            f"nobody in {layout.people} ({', '.join(listed['person'].head(3).to_list())}, …) is "
            f"among the people of the recordings ({', '.join(everybody['person'].head(3))}, …)"
        )
    return everybody.join(_typed(listed), on="person", how="left", maintain_order="left")


def _one_value_each(people: pl.DataFrame, attributes: Sequence[str]) -> pl.DataFrame:
    """One row a person, with the one value of each attribute that rows of tables have."""
    absent = [name for name in attributes if name not in people.columns]
    if absent:
        raise InputError(
            f"attributes are columns of tables, and there is none called '{absent[0]}': leave it "
            "out of `map`, or give a list of people (`map='people=FILE.csv'`)"
        )
    each = people.group_by("person", maintain_order=True)
    for name in attributes:
        values = each.agg(pl.col(name).drop_nulls().unique(maintain_order=True))
        several = values.filter(pl.col(name).list.len() > 1)
        if len(several):
            person, found = several.row(0)
            raise InputError(
                f"person '{person}' has several values of attribute '{name}' "
                f"({', '.join(found[:3])}{', …' if len(found) > 3 else ''}): an attribute is the "
                f"same in all rows of a person; what differs is a task, a stimulus or a label "
                f"(`map='label_{re.sub(r'[^a-z0-9]+', '_', name.lower())}={name}'`)"
            )
    one = each.agg(pl.exclude("person").drop_nulls().first())
    return _typed(one)


def _typed(listed: pl.DataFrame) -> pl.DataFrame:
    """Attributes that are numbers as numbers."""

    def typed(name: str) -> pl.Series:
        column = listed[name]
        if column.dtype != pl.String:
            return column
        for kind in (pl.Int64, pl.Float64):
            numbers = column.cast(kind, strict=False)
            if numbers.null_count() == column.null_count():
                return numbers
        return column

    return listed.with_columns(typed(name) for name in listed.columns if name != "person")

"""Frames of polars, pandas and Arrow as studies and tables of features.

A frame says nothing of what its columns are: the caller does. Columns that are called
as eyelid calls them (``person``, ``recording``, ``task``, ``stimulus``, ``time_ms``) need no word.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from eyelid.errors import InputError, unknown
from eyelid.gaze.other_frames import polars_frame as polars_frame
from eyelid.gaze.sources import library_of
from eyelid.gaze.study import INDEX_COLUMNS, Bound, Feature, Study, check, of_one_task, ordered
from eyelid.gaze.table import FeatureTable
from eyelid.spelling import plural

MS = {"ms": 1.0, "s": 1e3, "us": 1e-3, "ns": 1e-6}
"""Milliseconds in a unit of time."""

_EXAMPLE = "bounds={'fixation_rate': (0.0, 10.0, '1/s')}"
_WHY = "from what the feature means, never from these data"


@dataclass(frozen=True)
class Columns:
    """Which columns of a frame are keys; None is the one that eyelid would call so, if any.

    Attributes:
        person: whose row it is.
        recording: which of theirs.
        task: what they did.
        stimulus: what they looked at.
        time: of the row within the recording.
        time_unit: of that: ``ms``, ``s``, ``us`` or ``ns``.
    """

    person: str | None = None
    recording: str | None = None
    task: str | None = None
    stimulus: str | None = None
    time: str | None = None
    time_unit: str = "ms"

    def within(self, frame: pl.DataFrame) -> dict[str, str]:
        """The column of each key, by its name in a study.

        Args:
            frame: that they are of.
        """
        said = dict(
            zip(
                INDEX_COLUMNS,
                (self.person, self.recording, self.task, self.stimulus, self.time),
                strict=True,
            )
        )
        found = {}
        for key, column in said.items():
            if column is not None:
                check_there(frame, {key.removesuffix("_ms"): column})
            if column is not None or key in frame.columns:
                found[key] = column or key
        if "person" not in found:
            raise InputError(
                f"nobody says whose rows these are: name the column, person='…' "
                f"(there are {_few(frame.columns)})"
            )
        # The number of a trial may say what was looked at, in which order, and in which recording.
        whose = found["person"]
        if list(found.values()).count(whose) > 1:
            raise InputError(f"column '{whose}' is named for two things: name two columns")
        return found

    @property
    def asked(self) -> set[str | None]:
        """Columns that are named, or would be found by their own names."""
        said = self.person, self.recording, self.task, self.stimulus, self.time
        return {*said, *INDEX_COLUMNS}

    def keys(self, frame: pl.DataFrame, found: Mapping[str, str]) -> pl.DataFrame:
        """The key columns as a study has them, one row a row of the frame.

        Args:
            frame: that they are of.
            found: the column of each key, from `within`.
        """
        text: dict[str, pl.Series | pl.Expr]
        text = {key: _names(frame[found[key]], key) for key in INDEX_COLUMNS[:-1] if key in found}
        # Who has no names for recordings has one of each task, and who has no tasks one of each.
        recording = text.get("recording", text.get("task", pl.lit("1")))
        text = {
            "recording": recording,
            "task": recording,
            "stimulus": pl.lit(""),
        } | text
        keys = frame.select(text[key].alias(key) for key in INDEX_COLUMNS[:-1])
        if "time_ms" in found:
            return _from_dates(keys.with_columns(_time_ms(frame[found["time_ms"]], self.time_unit)))
        order = pl.int_range(pl.len()).over("person", "recording", "task").cast(pl.Float64)
        return keys.with_columns(order.alias("time_ms"))


def check_there(frame: pl.DataFrame, columns: Mapping[str, str]) -> None:
    """Refuse names of columns that a frame has not.

    Args:
        frame: to look in.
        columns: by the parameter that named each.
    """
    for parameter, column in columns.items():
        if column not in frame.columns:
            raise unknown(f"column ({parameter})", column, frame.columns)


def _names(column: pl.Series, key: str) -> pl.Series:
    """Names as text; whole numbers without the point that a missing one gave them."""
    if column.null_count():
        row = column.is_null().arg_true()[0] + 1
        raise InputError(
            f"column '{column.name}' ({key}) has no value in row {row}: every row needs one; "
            "leave such rows out"
        )
    if column.dtype.is_float() and (column == column.round(0)).all():
        column = column.cast(pl.Int64)
    return column.cast(pl.String).rename(key)


def _time_ms(column: pl.Series, unit: str) -> pl.Series:
    """Time in ms; dates as they are."""
    if unit not in MS:
        raise unknown("unit of time (time_unit)", unit, MS)
    if column.null_count():
        row = column.is_null().arg_true()[0] + 1
        raise InputError(f"column '{column.name}' (time) has no value in row {row}")
    if isinstance(column.dtype, pl.Datetime):
        return column.rename("time_ms")
    if not column.dtype.is_numeric():
        raise InputError(
            f"column '{column.name}' (time) is {column.dtype}: give numbers, in ms or with "
            "time_unit='s'"
        )
    return (column.cast(pl.Float64) * MS[unit]).rename("time_ms")


def _from_dates(keys: pl.DataFrame) -> pl.DataFrame:
    """Keys with dates as ms since the recording began: nobody's date may move others' times."""
    if not isinstance(keys.schema["time_ms"], pl.Datetime):
        return keys
    date = pl.col("time_ms")
    since = (date - date.min().over("person", "recording")).dt.total_microseconds() / 1000.0
    return keys.with_columns(since)


def people_of(
    names: pl.Series, frame: pl.DataFrame, people: object, person: str, attributes: Sequence[str]
) -> pl.DataFrame:
    """One row a person: their names alone, a frame that was given, or attributes of their rows.

    Args:
        names: of everybody, a row each.
        frame: of the rows.
        people: a frame with everybody's attributes; None without one.
        person: the column that says whose a row is, of both frames.
        attributes: columns of the rows that are of a person, and the same in each of theirs.
    """
    if people is not None and attributes:
        raise InputError("people has everybody's attributes: leave out attributes, or people")
    if people is not None:
        given = polars_frame(people, "people", {person, "person"})
        column = person if person in given.columns else "person"
        check_there(given, {"people": column})
        named = _names(given[column], "person")
        known = set(named.to_list())
        if absent := [name for name in names.unique(maintain_order=True) if name not in known]:
            raise InputError(f"people has no row of person '{absent[0]}': add one")
        return given.select(named, pl.exclude("person", column))
    for name in attributes:
        check_there(frame, {"attributes": name})
    of_rows = frame.select(names, *attributes)
    varied = of_rows.group_by("person", maintain_order=True).n_unique()
    for name in attributes:
        if (many := varied.filter(pl.col(name) > 1)).height:
            raise InputError(
                f"attribute '{name}' has {many[name][0]} values in the rows of person "
                f"'{many['person'][0]}', and an attribute is of a person: make it a label or a "
                "feature"
            )
    return of_rows.unique("person", keep="first", maintain_order=True)


def features_of(
    frame: pl.DataFrame,
    bounds: Mapping[str, Bound] | None,
    others: Sequence[str],
) -> tuple[Feature, ...]:
    """The features of a frame; every column that is no other has to have public bounds.

    Args:
        frame: of rows.
        bounds: the least and the most that each can be, by its column.
        others: columns that are keys, labels, attributes, or to be left out.
    """
    said = dict(bounds or {})
    for name in said:
        check_there(frame, {"bounds": name})
    without = [name for name in frame.columns if name not in said and name not in others]
    if without or not said:
        names = _few(without) if without else "any feature"
        example = ", ".join(f"'{name}': (lower, upper)" for name in without[:3]) or "…"
        raise InputError(
            f"no bounds for {names}: give bounds={{{example}}}, the least and the most that is "
            f"possible, {_WHY}; a column that is no feature goes into labels, attributes or drop"
        )
    return tuple(_feature(frame[name], bound) for name, bound in said.items())


def _feature(column: pl.Series, bound: Bound) -> Feature:
    name = column.name
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(
            f"feature '{name}' is {column.dtype}: features are numbers; a text that says "
            "what a row is goes into labels"
        )
    if isinstance(bound, Feature):
        feature = bound
    else:
        try:
            ends, unit = bound[:2], bound[2] if len(bound) > 2 else ""
            lower, upper = (float(end) for end in ends)
            if len(bound) > 3 or not isinstance(unit, str):
                raise ValueError(unit)
        except (TypeError, ValueError):
            raise InputError(
                f"the bounds of '{name}' are {bound!r}: give two numbers and, where there is one, "
                f"the unit, such as {_EXAMPLE}"
            ) from None
        feature = Feature(name, unit, "", lower, upper)
    if not (math.isfinite(feature.lower) and math.isfinite(feature.upper)):
        raise InputError(f"the bounds of '{name}' must be finite, {_WHY}")
    if feature.lower >= feature.upper:
        raise InputError(
            f"the lower bound of '{name}' is {feature.lower:g} and the upper one "
            f"{feature.upper:g}: it must be larger"
        )
    return feature


def numbers_of(frame: pl.DataFrame, features: Sequence[Feature], missing: str) -> pl.DataFrame:
    """The columns of features, in order; refused where values are missing, unless that is meant.

    Args:
        frame: of rows.
        features: of it.
        missing: ``refuse`` or ``keep``.
    """
    if missing not in ("refuse", "keep"):
        raise unknown("word for missing", missing, ("refuse", "keep"))
    values = frame.select(pl.col(feature.name).cast(pl.Float64) for feature in features)
    for column in values:
        if column.is_infinite().any():
            raise InputError(f"feature '{column.name}' has infinite values: mend them, or drop it")
        if missing == "refuse" and column.null_count():
            row = column.is_null().arg_true()[0] + 1
            count = column.null_count()
            raise InputError(
                f"feature '{column.name}' has {plural(count, 'missing value')} (NaN), the first in "
                f"row {row}: fill them, leave these rows out, or write missing='keep' (a "
                "release takes the middle of the bounds for them)"
            )
    return values


def _few(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def table_of_frame(
    frame: object,
    columns: Columns,
    bounds: Mapping[str, Bound] | None,
    *,
    labels: Sequence[str] = (),
    people: object = None,
    attributes: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: str = "refuse",
    **design: Any,
) -> FeatureTable:
    """A table of features made of a frame; see `FeatureTable.from_frame`.

    Args:
        frame: of rows.
        columns: which of it are keys.
        bounds: of its features.
        labels: columns that say what a row is.
        people: everybody's attributes.
        attributes: columns of the frame that are attributes of people.
        drop: columns to leave out.
        missing: what a missing value is.
        design: what else a table knows.
    """
    asked = {*columns.asked, *(bounds or {}), *labels, *attributes}
    rows = polars_frame(frame, asked=asked)
    found = columns.within(rows)
    for parameter, names in (("labels", labels), ("drop", drop)):
        for name in names:
            check_there(rows, {parameter: name})
    own = [name for name in rows.columns if name.startswith("label_")]
    named = {name: f"label_{name}" for name in labels if name not in own}
    features = features_of(rows, bounds, [*found.values(), *own, *named, *attributes, *drop])
    keys = columns.keys(rows, found)
    data = pl.concat(
        [
            keys,
            numbers_of(rows, features, missing),
            rows.select(*[pl.col(name).alias(label) for name, label in named.items()], *own),
        ],
        how="horizontal",
    )
    study = Study(
        kind="features",
        data=of_one_task(data),
        people=people_of(keys["person"], rows, people, found["person"], attributes),
        features=features,
        **design,
    )
    return FeatureTable.of(study)


def study_of_frame(
    frame: object,
    columns: Columns,
    measured: Mapping[str, str | None],
    *,
    people: object = None,
    attributes: Sequence[str] = (),
    **known: Any,
) -> Study:
    """A study of samples or fixations made of a frame; see `Study.from_frame`.

    Args:
        frame: of rows.
        columns: which of it are keys.
        measured: the column of each thing that is measured; None where it is called so, or absent.
        people: everybody's attributes.
        attributes: columns of the frame that are attributes of people.
        known: what else a study knows.
    """
    rows = polars_frame(frame, asked={*columns.asked, *measured.values(), *attributes})
    if columns.time is None and "time_ms" not in rows.columns:
        raise InputError(
            f"samples need a time: name its column, time='…' (there are {_few(rows.columns)})"
        )
    found = columns.within(rows)
    check_there(rows, {name: column for name, column in measured.items() if column is not None})
    taken = {name: column or name for name, column in measured.items()}
    taken = {name: column for name, column in taken.items() if column in rows.columns}
    for name, column in taken.items():
        if name != "eye" and not rows[column].dtype.is_numeric():
            raise InputError(f"column '{column}' ({name}) is {rows[column].dtype}: give numbers")
    if not {"x", "y"} <= set(taken) and not {"gaze_x", "gaze_y", "gaze_z"} <= set(taken):
        raise InputError(
            "samples need places: name their columns, x='…' and y='…' "
            f"(there are {_few(rows.columns)})"
        )
    keys = columns.keys(rows, found)
    labels = [name for name in rows.columns if name.startswith("label_")]
    used = {*found.values(), *taken.values(), *attributes, *labels}
    left = [name for name in rows.columns if name not in used]
    note = (f"columns that nobody named were left out: {_few(left, 20)}",) * bool(left)
    values = rows.select(
        *[
            pl.col(column).cast(pl.String if name == "eye" else pl.Float64).alias(name)
            for name, column in taken.items()
        ],
        *labels,
    )
    places = [name for name in values.columns if name != "eye"]
    if values.select(pl.any_horizontal(pl.selectors.float().is_infinite().any())).item():
        raise InputError(f"{_few(places)}: some values are infinite; mend them, or leave them out")
    return check(
        Study(
            data=ordered(of_one_task(pl.concat([keys, values], how="horizontal"))),
            people=people_of(keys["person"], rows, people, found["person"], attributes),
            notes=note,
            **known,
        )
    )


def check_polars(**frames: object) -> None:
    """Refuse frames of other libraries where those of a study belong, with the call to write.

    Args:
        frames: by the parameter.
    """
    for parameter, frame in frames.items():
        if not isinstance(frame, pl.DataFrame):
            raise InputError(
                f"{parameter} is a {type(frame).__name__} of {library_of(frame)}, not a frame of "
                "polars: eyelid.Study.from_frame or eyelid.FeatureTable.from_frame take those of "
                "polars, pandas and Arrow"
            )

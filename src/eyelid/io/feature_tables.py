"""Tables of features: the file that names them, with their public bounds, and the table itself."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.remote import check_here
from eyelid.errors import InputError
from eyelid.gaze.study import INDEX_COLUMNS, Feature
from eyelid.io.entry_files import EntryFile, number
from eyelid.io.files import Head
from eyelid.io.layout import KEYS, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import columns_in_words, few_in_words, header_of, raw_table
from eyelid.io.tables import attributes_of, index_of, number_in, time_of, unit_in

HEADER = "name,unit,lower,upper,definition"
"""The first line of such a csv; a column ``column`` may be added."""

_FILE = EntryFile(
    things="features",
    key="name",
    known=("name", "unit", "lower", "upper", "definition", "column"),
    header=HEADER,
    wordy="definition",
    example="lower = … and upper = …",
    # A file of bounds calls it so.
    also={"feature": "name"},
)
_RESERVED = (*INDEX_COLUMNS, "eye", "duration_ms")
_WHY = (
    "bounds are public facts, from what the measure is (a share lies between 0 and 1, a reading "
    "time between 0 and the longest that was allowed): bounds taken from the data would show the "
    "most extreme participant's value"
)


def with_features(said: Layout, file: Path | str) -> Layout:
    """What is said about a table of features: its columns, and which of them are features.

    Args:
        said: what the user says about the other columns.
        file: csv or TOML with name, lower and upper of each feature, and where known unit,
            definition, and the ``column`` of the table where that has another name.
    """
    check_here(file, "a file of features")
    path = Path(file)
    if said.kind is not None:
        raise InputError(
            f"`features` makes a study of features, and `map` says kind={said.kind}: leave out one"
        )
    found = [_checked(entry, path) for entry in _FILE.entries(path)]
    if not found:
        raise InputError(f"{path} names no features: its first line is '{HEADER}'")
    names = [feature.name for feature, _ in found]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InputError(f"{path} names feature '{twice}' twice: name it once")
    return replace(
        said,
        kind="features",
        features=tuple(feature for feature, _ in found),
        feature_columns={feature.name: column for feature, column in found},
        features_file=path,
    )


def _checked(entry: Mapping[str, Any], path: Path) -> tuple[Feature, str]:
    """A feature and the column that it is in."""
    name = str(entry.get("name", "")).strip()
    if not name:
        raise InputError(f"{path}: a feature has no name: every one needs it")
    if name in _RESERVED or re.match(r"label_", name):
        raise InputError(
            f"{path}: a feature cannot be called '{name}', as a column of every study is: give it "
            f"another name, and say column={entry.get('column', name)}"
        )
    lower, upper = (_bound(entry, end, name, path) for end in ("lower", "upper"))
    if lower >= upper:
        raise InputError(
            f"{path}: the lower bound of feature '{name}' is {lower:g} and the upper one "
            f"{upper:g}: it must be larger"
        )
    unit, definition = (str(entry.get(key, "")) for key in ("unit", "definition"))
    feature = Feature(name, unit, definition, lower, upper)
    return feature, str(entry.get("column") or name)


def _bound(entry: Mapping[str, Any], end: str, name: str, path: Path) -> float:
    value = entry.get(end)
    if value is None or value == "":
        raise InputError(f"{path}: feature '{name}' has no {end} bound: {_WHY}")
    found = number(value)
    if found is None:
        raise InputError(f"{path}: the {end} bound of feature '{name}' is '{value}', no number")
    if not math.isfinite(found):
        raise InputError(f"{path}: the {end} bound of feature '{name}' is {value}: {_WHY}")
    return found


def read_feature_table(head: Head, layout: Layout) -> Part:
    """A table with a row a trial, sentence or whatever, and a column a feature.

    Without a time, rows are counted in the order in which they stand; a time without a unit is such
    an order too.

    Args:
        head: of the file.
        layout: which columns are keys, features and attributes.
    """
    columns = {
        role: column
        for role, column in layout.columns.items()
        if role in (*KEYS, "time") or role.startswith("label_")
    }
    others = [role for role in layout.columns if role not in columns]
    if others:
        raise InputError(
            f"{others[0]} is no column of a table of features: leave it out of `map`, or name it "
            f"in {layout.features_file}"
        )
    if "person" not in columns and layout.file is None and layout.names is None:
        raise InputError(
            f"{head.path} does not say whose rows these are, and a wrong guess would be a wrong "
            f"promise: name the column with `map='person=COLUMN'`{columns_in_words(head, layout)}"
        )
    named = {f"feature {name}": column for name, column in layout.feature_columns.items()}
    wanted = replace(layout, columns=columns | named, extra=layout.attributes)
    raw = raw_table(head, wanted)
    if raw.is_empty():
        raise NoRows(f"{head.path} has a header and no rows")
    index = replace(layout, columns=columns)
    data = raw.select(
        *index_of(index, _order(head, index, raw)),
        *[number_in(layout.feature_columns[f.name]).alias(f.name) for f in layout.features],
    )
    if "time" in columns:
        _check_once(head, data, columns["time"])
    return Part(
        format=layout.format or "table of features",
        data=data,
        kind="features",
        features=layout.features,
        people=attributes_of(layout, raw),
        notes=_left_out(head, layout, raw),
    )


def _order(head: Head, layout: Layout, raw: pl.DataFrame) -> pl.Expr:
    """Time in ms, or the place of each row in the order of its recording."""
    # Without recordings of their own, stimuli tell rows apart as tasks do.
    roles = KEYS[:-1] if "recording" in layout.columns else KEYS
    keys = [layout.columns[role] for role in roles if role in layout.columns]
    if "time" not in layout.columns:
        count = pl.int_range(pl.len())
        return (count.over(keys) if keys else count).cast(pl.Float64)
    column = layout.columns["time"]
    if isinstance(raw.schema[column], pl.Datetime):
        return pl.col(column).dt.epoch("us").cast(pl.Float64) / 1000.0
    if layout.time_unit is None and unit_in(column) is None:
        layout = replace(layout, time_unit="ms")
    return time_of(head, layout, raw, (), "")


def _check_once(head: Head, data: pl.DataFrame, time: str) -> None:
    """Fail where two rows have the same keys."""
    keys = [name for name in (*KEYS, "time_ms") if name in data.columns]
    again = data.select(pl.struct(keys).is_duplicated()).to_series().arg_true()
    if not len(again):
        return
    row = data.row(again[0], named=True)
    same = data.select(pl.all_horizontal(pl.col(name) == row[name] for name in keys)).to_series()
    first, second = same.arg_true()[:2]
    said = ", ".join(f"{name} '{row[name]}'" for name in keys[:-1])
    raise InputError(
        f"{head.path}: rows {first + 1} and {second + 1} are both {said} at {row['time_ms']:g} in "
        f"column '{time}': name the column that tells them apart (`map='recording=COLUMN'`), or "
        "leave time out, and rows count in their order"
    )


def _left_out(head: Head, layout: Layout, raw: pl.DataFrame) -> tuple[str, ...]:
    """A remark on the columns that nobody mapped, where there is a header to tell them by."""
    if layout.header is False or layout.skip_lines or layout.comment:
        return ()
    rest = [name for name in header_of(head, layout.separator) if name and name not in raw.columns]
    names = few_in_words(rest, 20)
    return (f"columns that are neither mapped nor features were left out: {names}",) * bool(rest)

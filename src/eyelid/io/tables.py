"""Tables of samples, fixations or features: csv, tsv and parquet, by a layout."""

from __future__ import annotations

import csv
import difflib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

import polars as pl

from eyelid.engine.foreign import opened
from eyelid.errors import InputError
from eyelid.gaze.study import EYES, RECORDING_KEY
from eyelid.io.head import Head
from eyelid.io.layout import DIRECTION, HEAD, HEAD_DIRECTION, KEYS, MEASURES, MS_PER, Layout
from eyelid.io.parquet import check_size, check_sound, rows_of, scan
from eyelid.io.part import NoRows, Part
from eyelid.io.unpacking import text_table
from eyelid.spelling import in_quotes, plural

_SEPARATORS = "\t;,|"
MISSING = ["", "NaN", "nan", "NAN", "NA", "N/A", "n/a", ".", "-", "null", "None"]
"""What stands in a cell of text where nothing was measured."""

_SNIFFED_LINES = 50
# Gaze may be lost for a while before the first decimal.
_SEARCHED_LINES = 1000
_PARQUET = b"PAR1"
_MOST_NAMED, _FEW_NAMED = 20, 6
_UNIT = re.compile(r"[\[(]?[^\W\d][\w°/²³^%*. -]{0,19}[\])]?|[°%]|[\[(][^\])]{0,20}[\])]")
_ISO_8601 = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")

# No digit is given back, or a long row of them would be gone through from each of them.
_ONE_NUMBER = re.compile(r"[-+]?(?:\d++[.,]?\d*+|[.,]\d++)(?:e[-+]?\d++)?", re.IGNORECASE)
# Directions are written with two decimals at times.
_UNIT_TOLERANCE = 0.05

MOST_COLUMNS = 10_000
"""No table of recordings has more; each takes its time, however little is in it."""


def check_width(path: Path, columns: int) -> None:
    """Fail where there are more columns than a table of recordings has.

    Args:
        path: of the file.
        columns: how many it has.
    """
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{path} has {columns:,} columns, more than {MOST_COLUMNS:,}: is it a table of "
            "recordings?"
        )


def is_parquet(head: Head) -> bool:
    """Whether the file is a Parquet table."""
    return head.raw.startswith(_PARQUET)


def separator_of(lines: Sequence[str]) -> str:
    """The separator that occurs equally often in most lines; a space where none does.

    >>> separator_of(["a;b;c", "0,5;1;2", "0,6;1;2"])
    ';'
    """
    best, most = " ", 0.0
    for candidate in _SEPARATORS:
        counts = Counter(line.count(candidate) for line in lines if line.strip())
        count, lines_alike = max(counts.items(), key=lambda c: (c[1], c[0]), default=(0, 0))
        if count and lines_alike * (1 + count / 100) > most:
            best, most = candidate, lines_alike * (1 + count / 100)
    return best


def cells(line: str, separator: str) -> list[str]:
    """The cells of one line, without quotes and spaces around them.

    >>> cells('time , "x, px"', ",")
    ['time', 'x, px']
    """
    if separator == " ":
        return line.split()
    try:
        row = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        row = line.split(separator)
    return [cell.strip() for cell in row]


def header_of(head: Head, separator: str | None = None) -> list[str]:
    """The first line of a text table as column names; empty when it holds numbers or nothing."""
    if is_parquet(head):
        check_sound(head.path)
        try:
            return list(scan(head.path).collect_schema())
        except pl.exceptions.PolarsError as error:
            raise InputError(f"cannot read {head.path}: {first_line(error)}") from None
    lines = head.lines[:_SNIFFED_LINES]
    if not lines:
        return []
    names = cells(lines[0], separator or separator_of(lines))
    return [] if _all_numbers(names) else names


def _all_numbers(row: Sequence[str]) -> bool:
    numbers = [cell for cell in row if cell not in MISSING]
    return all(re.fullmatch(r"[-+]?[\d.,]+(e[-+]?\d+)?", cell, re.IGNORECASE) for cell in numbers)


def read_table(
    head: Head,
    layout: Layout,
    rows: pl.DataFrame | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    recordings: pl.DataFrame | None = None,
) -> Part:
    """The content of a table, with the columns of a study.

    Whoever has rows before a format prepares them, and none afterwards, keeps one without values.

    Args:
        head: of the file.
        layout: what its columns mean.
        rows: its columns of numbers and text, where a format has read them; else it is text or
            Parquet.
        names: person, recording, task and stimulus besides, where the format knows them.
        recordings: what columns say of each recording, where some may have no rows.
    """
    told = _columns_told(head, layout) if rows is None else _names_told(rows.columns)
    if not layout.columns:
        raise InputError(
            f"{head.path} is a table whose columns say nothing known: name them with --map "
            f"time=COLUMN,x=COLUMN,y=COLUMN,units=px,…{told}; {_without_gaze(head, layout)}"
        )
    kind = layout.kind or ("fixations" if "duration" in layout.columns else "samples")
    if (kind == "samples" or layout.kind is None) and not has_gaze(layout):
        raise InputError(
            f"{head.path} has no gaze that is known: name its columns with --map x=COLUMN,y=COLUMN"
            ", or of unit vectors gaze_x=COLUMN,gaze_y=COLUMN,gaze_z=COLUMN"
            f"{told}; {_without_gaze(head, layout)}"
        )
    layout = replace(layout, extra=(*layout.extra, *layout.attributes))
    raw = _raw_table(head, layout, rows)
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
    labels = {role: column for role, column in columns.items() if role.startswith("label_")}
    selected = [
        *[
            pl.col(column).cast(pl.String).fill_null("").alias(role)
            for role, column in keys.items()
        ],
        _time(head, layout, raw, clocks, told).alias("time_ms"),
        *[_label(layout, role, column) for role, column in labels.items()],
    ]
    if "duration" in columns:
        selected.append(
            (_number(columns["duration"]) * _ms_per(head, layout, "duration")).alias("duration_ms")
        )
    numbers = [*HEAD, *(feature.name for feature in layout.features)]
    selected += [_number(columns[role]).alias(role) for role in numbers if role in columns]
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
        people=_attributes(layout, raw),
        names=dict(names),
        notes=(*without_gaze_told(head, len(data) - len(seen)), *_behind_told(data)),
    )


def without_gaze_told(head: Head, recordings: int) -> tuple[str, ...]:
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
    """Person, recording, task and stimulus of each recording; nothing where nobody is named.

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
            whoever has lost what.
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
            f"{others[0]} is no column of a table of features: leave it out of --map, or name it "
            f"in {layout.features_file}"
        )
    if "person" not in columns and layout.file is None and layout.names is None:
        raise InputError(
            f"{head.path} does not say whose rows these are, and a wrong guess would be a wrong "
            f"promise: name the column with --map person=COLUMN{_columns_told(head, layout)}"
        )
    named = {f"feature {name}": column for name, column in layout.feature_columns.items()}
    wanted = replace(layout, columns=columns | named, extra=layout.attributes)
    raw = _raw_table(head, wanted, None)
    if raw.is_empty():
        raise NoRows(f"{head.path} has a header and no rows")
    keys = [columns[role] for role in KEYS if role in columns]
    selected = [
        *[
            pl.col(columns[role]).cast(pl.String).fill_null("").alias(role)
            for role in KEYS
            if role in columns
        ],
        _order(head, replace(layout, columns=columns), raw, keys).alias("time_ms"),
        *[_label(layout, role, columns[role]) for role in columns if role.startswith("label_")],
        *[_number(layout.feature_columns[f.name]).alias(f.name) for f in layout.features],
    ]
    data = raw.select(selected)
    if "time" in columns:
        _check_once(head, data, columns["time"])
    return Part(
        format=layout.format or "table of features",
        data=data,
        kind="features",
        features=layout.features,
        people=_attributes(layout, raw),
        notes=_left_out(head, layout, raw),
    )


def _order(head: Head, layout: Layout, raw: pl.DataFrame, keys: Sequence[str]) -> pl.Expr:
    """Time in ms, or the place of each row in the order of its recording."""
    if "time" not in layout.columns:
        count = pl.int_range(pl.len())
        return (count.over(keys) if keys else count).cast(pl.Float64)
    column = layout.columns["time"]
    if isinstance(raw.schema[column], pl.Datetime):
        return pl.col(column).dt.epoch("us").cast(pl.Float64) / 1000.0
    if layout.time_unit is None and _unit_in(column) is None:
        layout = replace(layout, time_unit="ms")
    return _time(head, layout, raw, (), "")


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
        f"column '{time}': name the column that tells them apart (--map recording=COLUMN), or "
        "leave time out, and rows count in their order"
    )


def _left_out(head: Head, layout: Layout, raw: pl.DataFrame) -> tuple[str, ...]:
    """A remark on the columns that nobody mapped, where there is a header to tell them by."""
    if layout.header is False or layout.skip_lines or layout.comment:
        return ()
    rest = [name for name in header_of(head, layout.separator) if name and name not in raw.columns]
    told = _few_told(rest, _MOST_NAMED)
    return (f"columns that are neither mapped nor features were left out: {told}",) * bool(rest)


def with_unread_told(part: Part, names: Sequence[str], layout: Layout) -> Part:
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
    note = f"columns that are not mapped were left out: {_few_told(rest, _FEW_NAMED)}"
    return replace(part, notes=(*part.notes, note))


def _few_told(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def _attributes(layout: Layout, raw: pl.DataFrame) -> pl.DataFrame | None:
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
    person = layout.columns.get("person", "COLUMN")
    mapped = {*layout.columns.values()}
    held = _first_values(head, layout)
    measured = [name for name, values in held.items() if all(map(_ONE_NUMBER.fullmatch, values))]
    measure = next((name for name in reversed(measured) if name and name not in mapped), "NAME")
    said = f"{measure},UNIT,LOWER,UPPER,WHAT IT IS"
    way = in_quotes(
        f"eyelid convert {quote(str(head.path))} STUDY --map {quote(f'person={person}')} "
        "--features features.csv"
    )
    return (
        "if a row is a trial, a sentence or a word with measures of its own, make a study of "
        f"features: {way}, where features.csv has the line "
        f"'name,unit,lower,upper,definition' and one for each measure, such as '{said}', with "
        "bounds that are known without the data"
    )


def _first_values(head: Head, layout: Layout) -> dict[str, list[str]]:
    """What the first cells of each column of a text table say, those left out that are missing."""
    names = header_of(head, layout.separator) if layout.header is not False else []
    if is_parquet(head):
        return {name: [] for name in names}
    lines = head.lines[:_SNIFFED_LINES]
    separator = layout.separator or (separator_of(lines) if lines else ",")
    rows = [cells(line, separator) for line in lines[1:]]
    return {
        name: [row[at] for row in rows if at < len(row) and row[at] not in MISSING]
        for at, name in enumerate(names)
    }


def has_gaze(layout: Layout) -> bool:
    """Whether columns are places or directions of gaze."""
    sides = ("", *(f"_{eye}" for eye in EYES[:2]))
    needed = (("x", "y"), ("gaze_x", "gaze_y", "gaze_z"))
    return any(all(n + side in layout.columns for n in names) for side in sides for names in needed)


def _columns_told(head: Head, layout: Layout) -> str:
    """The columns that there are, for whoever has to name them."""
    names = header_of(head, layout.separator) if layout.header is not False else []
    if not names:
        return "; it has no header, so columns are numbers, from 1 (--map header=no,x=1,…)"
    return _names_told(names)


def _names_told(names: Sequence[str]) -> str:
    return f"; it has the columns {', '.join(names[:20])}"


def _raw_table(head: Head, layout: Layout, rows: pl.DataFrame | None) -> pl.DataFrame:
    """The columns that are needed, those of numbers as numbers."""
    columns = dict(layout.columns)
    named = dict.fromkeys([*columns.values(), *layout.extra])
    needed = [name for name in named if name not in layout.made]
    text_roles = {"eye", *KEYS, *(role for role in columns if role.startswith("label_"))}
    # A column that is both a label and a number is a number.
    numbers = {column for role, column in columns.items() if role not in text_roles}
    numeric = [name for name in needed if name in numbers]
    if rows is not None:
        _check_there(head, needed, rows.columns, layout)
        return _as_numbers(head, rows.select(needed), numeric, False, columns.get("time"))
    if is_parquet(head):
        table = _from_parquet(head, needed, layout)
        return _as_numbers(head, table, numeric, False, columns.get("time"))
    lines = [line for line in head.lines[layout.skip_lines or 0 :] if not _comment(line, layout)]
    if not lines:
        raise NoRows(f"{head.path} is empty or has no complete line")
    separator = layout.separator or separator_of(lines[:_SNIFFED_LINES])
    first = cells(lines[0], separator)
    check_width(head.path, len(first))
    has_header = layout.header if layout.header is not None else not _all_numbers(first)
    names = first if has_header else [str(number) for number in range(1, len(first) + 1)]
    absent = [name for name in needed if name not in names]
    if absent:
        what = "columns " + ", ".join(names[:40]) if has_header else f"columns 1 to {len(names)}"
        near = _near(absent[0], names, layout)
        raise InputError(f"{head.path} has no column '{absent[0]}'{near}: it has the {what}")
    _check_whole(head, separator, len(names))
    decimal_comma = layout.decimal == "," or (
        layout.decimal is None
        and separator != ","
        and _decimal_commas(lines, separator, [names.index(name) for name in numeric])
    )
    source = _text_source(head, layout, separator)
    options: dict[str, Any] = {
        "separator": "\t" if separator == " " else separator,
        "has_header": has_header,
        "null_values": MISSING,
        "decimal_comma": decimal_comma,
    }
    try:
        # Polars has names of its own for columns without one, and for repeated ones.
        its_names = text_table(source, n_rows=0, infer_schema=False, **options).columns
        if len(its_names) != len(names):
            raise InputError(f"{head.path}: the first lines differ in their number of columns")
        found = dict(zip(names, its_names, strict=True))
        wanted = {found[name]: name for name in needed}
        overrides = {found[n]: pl.Float64 if n in numeric else pl.String for n in needed}
        try:
            table = text_table(source, columns=list(wanted), schema_overrides=overrides, **options)
        except pl.exceptions.ComputeError:
            table = text_table(source, columns=list(wanted), infer_schema=False, **options)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InputError(f"cannot read {head.path} as a table: {first_line(error)}") from None
    table = table.rename(wanted).select(needed)
    return _as_numbers(head, table, numeric, decimal_comma, columns.get("time"))


def _from_parquet(head: Head, needed: list[str], layout: Layout) -> pl.DataFrame:
    check_sound(head.path)
    try:
        names = list(scan(head.path).collect_schema())
        check_width(head.path, len(names))
        _check_there(head, needed, names, layout)
        check_size(head.path, columns=needed)
        return rows_of(head.path, columns=needed)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot read {head.path}: {first_line(error)}") from None


def _check_there(head: Head, needed: Sequence[str], names: Sequence[str], layout: Layout) -> None:
    absent = [name for name in needed if name not in names]
    if absent:
        near = _near(absent[0], names, layout)
        raise InputError(
            f"{head.path} has no column '{absent[0]}'{near}: it has the columns "
            f"{', '.join(names[:40])}"
        )


def _near(absent: str, names: Sequence[str], layout: Layout) -> str:
    """What a column that is not there is for, and the nearest one that is."""
    near = difflib.get_close_matches(absent, names, n=1, cutoff=0.7)
    told = [f"did you mean '{near[0]}'?"] if near else []
    if absent in layout.feature_columns.values():
        told.insert(0, f"which {layout.features_file} names as a feature")
        told.append("a feature of another name than its column says so in a column 'column'")
    return f" ({'; '.join(told)})" if told else ""


def first_line(error: Exception) -> str:
    """The first line of what a library says, or the kind of its error where it says nothing."""
    text = str(error).strip().splitlines()
    return text[0] if text else type(error).__name__


def _comment(line: str, layout: Layout) -> bool:
    return layout.comment is not None and line.startswith(layout.comment)


def _text_source(head: Head, layout: Layout, separator: str) -> bytes:
    """The bytes of the table as UTF-8, from its header on, with one separator between columns."""
    content = head.content()
    if head.encoding != "utf-8":
        content = head.text().encode()
    first = 0
    for _ in range(layout.skip_lines or 0):
        first = content.find(b"\n", first) + 1
        if not first:
            return b""
    content = content[first:]
    if layout.comment is not None:
        begin = re.escape(layout.comment.encode())
        content = re.sub(rb"(?m)^" + begin + rb"[^\n]*(\n|\Z)", b"", content)
    if separator == " ":
        content = re.sub(rb"[ \t]+", b"\t", content)
        content = re.sub(rb"(?m)^\t|\t$", b"", content)
    return content


def _check_whole(head: Head, separator: str, width: int) -> None:
    """Fail when the last line was cut short, as in an interrupted copy."""
    tail = head.raw if head.whole else _tail(head)
    encoding = head.encoding if head.whole else "latin-1"
    last = tail.decode(encoding, errors="replace").rsplit("\n", 1)[-1]
    found = len(cells(last, separator))
    if last.strip() and found < width:
        raise InputError(
            f"{head.path} ends in the middle of a line ({found} of {width} columns): it may be "
            "truncated; get a whole copy, or remove the last line"
        )


def _tail(head: Head, size: int = 1 << 14) -> bytes:
    if head.gzipped or head.encoding.startswith("utf-16"):
        return b"\n"
    with opened(head.path) as file:
        file.seek(-min(size, head.path.stat().st_size), 2)
        return file.read()


def _decimal_commas(lines: Sequence[str], separator: str, columns: Sequence[int]) -> bool:
    """Whether numbers in these columns are written like 0,5 and none like 0.5."""
    rows = (cells(line, separator) for line in lines[1:_SEARCHED_LINES])
    found = [row[column] for row in rows for column in columns if column < len(row)]
    commas = sum(re.fullmatch(r"-?\d+,\d+", cell) is not None for cell in found)
    points = sum(re.fullmatch(r"-?\d+\.\d+", cell) is not None for cell in found)
    return commas > 0 and points == 0


def _as_numbers(
    head: Head,
    table: pl.DataFrame,
    numeric: Sequence[str],
    decimal_comma: bool,
    time: str | None = None,
) -> pl.DataFrame:
    """Columns of numbers as such, or an error that names the first cell that is none.

    The column ``time`` may hold dates with times of day instead.
    """
    done = []
    for name in numeric:
        column = table[name]
        if column.dtype.is_numeric():
            done.append(_finite(column.cast(pl.Float64)))
            continue
        if column.dtype == pl.Boolean:
            done.append(column.cast(pl.Float64))
            continue
        if name == time:
            clock = _as_clock(head, column)
            if clock is not None:
                done.append(clock)
                continue
        if column.dtype.is_temporal():
            raise InputError(f"{head.path}: column '{name}' holds dates, where numbers are needed")
        text = column.cast(pl.String).str.strip_chars()
        if decimal_comma:
            text = text.str.replace(",", ".", literal=True)
        text = text.set(text.is_in(MISSING), None)
        numbers = text.cast(pl.Float64, strict=False)
        bad = (numbers.is_null() & text.is_not_null()).arg_true()
        if len(bad):
            cell = " ".join(text[bad[0]].split())[:40]
            raise InputError(
                f"{head.path}: row {bad[0] + 1} of column '{name}' is '{cell}', no number"
                f"{_of_units(table, numeric) if list(bad) == [0] else ''}"
            )
        done.append(_finite(numbers))
    return table.with_columns(done)


def _of_units(table: pl.DataFrame, numeric: Sequence[str]) -> str:
    """That the first row is one of units, where it is, and what to do about it."""
    first = [str(table[name][0] or "").strip() for name in numeric]
    if not all(_UNIT.fullmatch(cell) for cell in first if cell):
        return ""
    places = ",".join(f"{table.columns.index(name) + 1}" for name in numeric)
    return (
        ", and looks like a row of units under the header: take that line out, or skip it with "
        "the header and name columns by number, --map header=no,skip_lines=2,time=1,x=2,y=3 (here "
        f"{', '.join(numeric)} are {places}), with what it says as units=… and time_unit=…"
    )


def _as_clock(head: Head, column: pl.Series) -> pl.Series | None:
    """A column of dates with times of day (ISO 8601), as such; None where it is none."""
    if isinstance(column.dtype, pl.Datetime):
        return column.dt.convert_time_zone("UTC") if column.dtype.time_zone else column
    if column.dtype != pl.String:
        return None
    text = column.str.strip_chars()
    text = text.set(text.is_in(MISSING), None)
    first = text.drop_nulls().head(1)
    if first.is_empty() or not _ISO_8601.match(first[0]):
        return None
    zoned = _ZONE.search(first[0]) is not None
    pattern = "%Y-%m-%dT%H:%M:%S%.f" + ("%#z" if zoned else "")
    clock = text.str.replace(" ", "T", literal=True).str.to_datetime(
        pattern, time_unit="us", strict=False, time_zone="UTC" if zoned else None
    )
    bad = (clock.is_null() & text.is_not_null()).arg_true()
    if len(bad):
        raise InputError(
            f"{head.path}: row {bad[0] + 1} of column '{column.name}' is "
            f"'{text[bad[0]][:40]}', no time like '{first[0][:40]}'"
        )
    return clock


def _finite(numbers: pl.Series) -> pl.Series:
    """What is not a finite number was not measured."""
    return numbers.set(~numbers.is_finite(), None)


def _number(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64).fill_nan(None)


def _ms_per(head: Head, layout: Layout, role: str) -> float:
    """Milliseconds in a unit of time: as said, or as the name of the column ends."""
    unit = layout.time_unit
    if unit is None:
        unit = _unit_in(layout.columns.get(role, ""))
        if unit is None:
            raise InputError(
                f"{head.path} does not say the unit of time: give it with --map time_unit=ms "
                "(or s, us, ns)"
            )
    return MS_PER[unit]


def _unit_in(column: str) -> str | None:
    """The unit of time that the name of a column ends with."""
    named = re.search(r"(?:[\[(_ ]|^)(ns|us|µs|ms|s|sec|seconds)[\])]?$", column.lower())
    return {"µs": "us", "sec": "s", "seconds": "s"}.get(named[1], named[1]) if named else None


def _time(
    head: Head, layout: Layout, raw: pl.DataFrame, clocks: Collection[str], told: str
) -> pl.Expr:
    """Time in ms: as it stands, or by counting samples; of ``clocks`` it is in ms already."""
    if "time" in layout.columns:
        column = layout.columns["time"]
        unknown = raw[column].is_null().arg_true()
        if len(unknown):
            raise InputError(f"{head.path}: row {unknown[0] + 1} has no time in column '{column}'")
        return _number(column) * (1.0 if column in clocks else _ms_per(head, layout, "time"))
    if "duration" in layout.columns:
        # Fixations that follow each other at once, as far as the table tells.
        ends = (_number(layout.columns["duration"]) * _ms_per(head, layout, "duration")).fill_null(
            0.0
        )
        return _within(layout, ends.cum_sum() - ends)
    if layout.rate_hz is None:
        raise InputError(
            f"{head.path} has no time: name its column with --map time=COLUMN, or the rate of the "
            f"samples with --map rate_hz=60{told}"
        )
    # Samples of two eyes in turn share a time.
    count = pl.int_range(pl.len())
    if "eye" in layout.columns:
        return _within(layout, count, layout.columns["eye"]) * (1000.0 / layout.rate_hz)
    return _within(layout, count) * (1000.0 / layout.rate_hz)


def _within(layout: Layout, counted: pl.Expr, *more: str) -> pl.Expr:
    keys = [layout.columns[role] for role in ("person", "recording") if role in layout.columns]
    return counted.over([*keys, *more]) if keys or more else counted


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
            # A pupil alone says nothing about where somebody looked.
            found = {} if suffix else found
        if not layout.lost or not {"x", "y"} <= set(found):
            return [_number(column).alias(m) for m, column in found.items()]
        lost = pl.any_horizontal(_number(found[axis]).is_in(layout.lost) for axis in "xy")
        lost = lost.fill_null(False)
        # A pupil may be known of an eye that looks nowhere, but not by such a value.
        gone = {
            m: lost if m in ("x", "y") else lost & _number(column).is_in(layout.lost)
            for m, column in found.items()
            if m in ("x", "y", "pupil")
        }
        return [
            pl.when(~gone[m]).then(_number(c)).alias(m) if m in gone else _number(c).alias(m)
            for m, c in found.items()
        ]

    sides = [(side, measured(f"_{side}")) for side in EYES[:2]]
    sides = [(side, found) for side, found in sides if found]
    both = measured("")
    pupils = [_number(columns[f"pupil_{side}"]) for side in EYES[:2] if f"pupil_{side}" in columns]
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


def _behind_told(data: pl.DataFrame) -> tuple[str, ...]:
    """A remark on directions most of which point backwards: others' z points there."""
    ahead = DIRECTION[-1]
    known = data[ahead].drop_nulls() if ahead in data.columns else pl.Series(dtype=pl.Float64)
    if 2 * (known < 0).sum() <= len(known):
        return ()
    return (
        f"most directions of gaze point backwards ({ahead} is negative): here z is straight ahead, "
        f"and in some systems it is behind; if so in yours, change the sign of {ahead}",
    )


def _told_apart(layout: Layout, data: pl.DataFrame) -> pl.DataFrame:
    """Rows with the recording that they are of, where clocks start anew with each task or stimulus.

    No column says which recording a row is of, and in the order of the file time runs backwards;
    within a task and stimulus it does not.
    """
    labels = [name for name in ("task", "stimulus") if name in data.columns]
    if "recording" in data.columns or not labels or layout.backwards is not None:
        return data
    key = [name for name in ("person", "eye") if name in data.columns]

    def runs_back(by: Sequence[str]) -> bool:
        step = pl.col("time_ms").diff()
        return bool(data.select(((step.over(by) if by else step) < 0).any()).item())

    if not runs_back(key) or runs_back([*key, *labels]):
        return data
    each = [pl.col(name).cast(pl.String).fill_null("") for name in labels]
    return data.with_columns(pl.concat_str(each, separator="-").alias("recording"))


def _steady(head: Head, layout: Layout, data: pl.DataFrame) -> pl.DataFrame:
    """Time stamps that increase in each recording, as far as somebody said how to make them."""
    data = _told_apart(layout, data)
    key = [name for name in ("person", "recording", "eye") if name in data.columns]
    step = pl.col("time_ms").diff()
    step = step.over(key) if key else step
    if layout.backwards is None:
        back = data.select(step < 0).to_series().fill_null(False).arg_true()
        if len(back):
            row = data.row(back[0], named=True)
            raise InputError(
                f"{head.path}: time runs backwards at row {back[0] + 1} (to {row['time_ms']:g} "
                "ms); if several recordings stand in one file, say which column tells them apart "
                "with --map recording=COLUMN; to sort by time, --map backwards=sort"
            )
    else:
        data = data.sort(*key, "time_ms", maintain_order=True)
    if layout.repeats is None:
        return data
    groups = [*key, "time_ms"]
    if layout.repeats == "first":
        return data.unique(groups, keep="first", maintain_order=True)
    count, place = pl.len().over(groups), pl.int_range(pl.len()).over(groups)
    # Each track by its own interval: one person's data must not move another's.
    steps = data.with_columns(step.alias("step"))
    usual = pl.when(pl.col("step") > 0).then(pl.col("step")).median()
    interval = (usual.over(key) if key else usual).fill_null(0.0)
    spread = pl.col("time_ms") + place * (interval / count)
    return steps.with_columns(spread).drop("step")

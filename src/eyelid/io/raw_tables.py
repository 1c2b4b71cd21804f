"""A table as it stands in a file, text or Parquet: what is needed of it, numbers as numbers."""

from __future__ import annotations

import csv
import difflib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.files import opened
from eyelid.errors import InputError, cannot_read
from eyelid.io.files import Head, text_table
from eyelid.io.layout import KEYS, Layout
from eyelid.io.parquet import check_size, check_sound, rows_of, scan
from eyelid.io.part import NoRows

_SEPARATORS = "\t;,|"
MISSING = ["", "NaN", "nan", "NAN", "NA", "N/A", "n/a", ".", "-", "null", "NULL", "None"]
MISSING += ["#N/A", "#NULL!"]
"""What stands in a cell of text where nothing was measured; what spreadsheets write comes last."""

_SNIFFED_LINES = 50
# Gaze may be lost for a while before the first decimal.
_SEARCHED_LINES = 1000
_PARQUET = b"PAR1"
_UNIT = re.compile(r"[\[(]?[^\W\d][\w°/²³^%*. -]{0,19}[\])]?|[°%]|[\[(][^\])]{0,20}[\])]")
_ISO_8601 = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_ZONE = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")


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
        with cannot_read(head.path, pl.exceptions.PolarsError):
            return list(scan(head.path).collect_schema())
    lines = head.lines[:_SNIFFED_LINES]
    if not lines:
        return []
    names = cells(lines[0], separator or separator_of(lines))
    return [] if _all_numbers(names) else names


def _all_numbers(row: Sequence[str]) -> bool:
    numbers = [cell for cell in row if cell not in MISSING]
    return all(re.fullmatch(r"[-+]?[\d.,]+(e[-+]?\d+)?", cell, re.IGNORECASE) for cell in numbers)


def raw_table(head: Head, layout: Layout, rows: pl.DataFrame | None = None) -> pl.DataFrame:
    """The columns that are needed, those of numbers as numbers.

    Args:
        head: of the file.
        layout: which columns are needed, and what they mean.
        rows: the table, where a format has read it; else it is text or Parquet.
    """
    columns = dict(layout.columns)
    named = dict.fromkeys([*columns.values(), *layout.extra])
    needed = [name for name in named if name not in layout.made]
    text_roles = {"eye", *KEYS, *(role for role in columns if role.startswith("label_"))}
    # A column that is both a label and a number is a number.
    numbers = {column for role, column in columns.items() if role not in text_roles}
    numeric = [name for name in needed if name in numbers]
    decimal_comma = False
    if rows is not None:
        _check_there(head, needed, rows.columns, layout)
        table = rows.select(needed)
    elif is_parquet(head):
        table = _from_parquet(head, needed, layout)
    else:
        table, decimal_comma = _from_text(head, needed, numeric, layout)
    return _as_numbers(head, table, numeric, decimal_comma, columns.get("time"))


def _from_text(
    head: Head, needed: Sequence[str], numeric: Sequence[str], layout: Layout
) -> tuple[pl.DataFrame, bool]:
    """Columns of a text table, and whether its numbers have a decimal comma."""
    lines = [line for line in head.lines[layout.skip_lines or 0 :] if not _comment(line, layout)]
    if not lines:
        raise NoRows(f"{head.path} is empty or has no complete line")
    separator = layout.separator or separator_of(lines[:_SNIFFED_LINES])
    first = cells(lines[0], separator)
    check_width(head.path, len(first))
    has_header = layout.header if layout.header is not None else not _all_numbers(first)
    names = first if has_header else [str(number) for number in range(1, len(first) + 1)]
    _check_there(head, needed, names, layout, "" if has_header else f"1 to {len(names)}")
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
    with cannot_read(f"{head.path} as a table", pl.exceptions.PolarsError, ValueError):
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
    return table.rename(wanted).select(needed), decimal_comma


def _from_parquet(head: Head, needed: list[str], layout: Layout) -> pl.DataFrame:
    check_sound(head.path)
    with cannot_read(head.path, pl.exceptions.PolarsError):
        names = list(scan(head.path).collect_schema())
        check_width(head.path, len(names))
        _check_there(head, needed, names, layout)
        check_size(head.path, columns=needed)
        return rows_of(head.path, columns=needed)


def _check_there(
    head: Head, needed: Sequence[str], names: Sequence[str], layout: Layout, shown: str = ""
) -> None:
    """Fail where a column is not there; ``shown`` tells of those that are, if not by name."""
    absent = [name for name in needed if name not in names]
    if absent:
        near = _near(absent[0], names, layout)
        raise InputError(
            f"{head.path} has no column '{absent[0]}'{near}: it has the columns "
            f"{shown or ', '.join(names[:40])}"
        )


def _near(absent: str, names: Sequence[str], layout: Layout) -> str:
    """What a column that is not there is for, and the nearest one that is."""
    near = difflib.get_close_matches(absent, names, n=1, cutoff=0.7)
    hints = [f"did you mean '{near[0]}'?"] if near else []
    entry, _, number = absent.rpartition(".")
    if number == "0" and f"{entry}.1" in names:
        # Of an entry that is counted from 0, the nearest name is any other.
        hints = [f"entries of a list count from 1: the first is '{entry}.1'"]
    if absent in layout.feature_columns.values():
        hints.insert(0, f"which {layout.features_file} names as a feature")
        hints.append("a feature of another name than its column says so in a column 'column'")
    return f" ({'; '.join(hints)})" if hints else ""


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
        "the header and name columns by number, `map='header=no,skip_lines=2,time=1,x=2,y=3'` "
        "(here "
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


def columns_in_words(head: Head, layout: Layout) -> str:
    """The columns that there are, for users who have to name them."""
    names = header_of(head, layout.separator) if layout.header is not False else []
    if not names:
        return "; it has no header, so columns are numbers, from 1 (`map='header=no,x=1,…'`)"
    return names_in_words(names)


def names_in_words(names: Sequence[str]) -> str:
    """The first columns of a table, for users who have to name them."""
    return f"; it has the columns {', '.join(names[:20])}"


def few_in_words(names: Sequence[str], most: int) -> str:
    """So many names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def first_values(head: Head, layout: Layout) -> dict[str, list[str]]:
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

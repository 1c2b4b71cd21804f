"""JSON: one document or one a line, with the samples as a list somewhere inside.

Rows are the objects of the longest list and of all lists in its place (those of other trials, say)
or with its columns, or lists of equal length side by side. What stands beside and above such a list
is the same in each of its rows. A field of a field is called
``gaze.x``, an entry of a short list ``gaze.1``, ``gaze.2``, ….
"""

from __future__ import annotations

import json
import re
from collections import ChainMap, Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from eyelid.errors import InputError
from eyelid.io.files import Head
from eyelid.io.formats.any_table import usual_layout
from eyelid.io.layout import HEAD, KEYS, MEASURES, ROLES, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.raw_tables import check_width
from eyelid.io.tables import (
    has_gaze,
    read_table,
    with_unread_remarks,
)

NAME = "JSON"

_BEGINS = re.compile(r"\s*(?:\{\s*[\"}]|\[\s*[\[{\]\d\"-])")
# Its objects take some twenty times as much memory.
# A table has that many cells before anyone asks how many of them are empty.
_CELLS_ALWAYS, _TIMES = 1 << 22, 100
_LARGEST = 1 << 27
# A list this short in a row is a place or a direction, and not the rows themselves.
_MOST_ENTRIES = 16
_DEEPEST = 8

Scalar = str | int | float | bool | None


class _Object(NamedTuple):
    """What an object says, with what stands above it.

    Attributes:
        path: the names on the way to it.
        fields: by name.
        bare: whether there is no list in it.
    """

    path: tuple[str, ...]
    fields: Mapping[str, Scalar]
    bare: bool


class _List(NamedTuple):
    """Rows, or columns of equal length, with what stands above them.

    Attributes:
        path: the names on the way to it; empty for a list in a list.
        names: of its own columns.
        size: how many rows it has.
        rows: the rows, or the columns by name.
        above: what is the same in every row; not in ``rows``, where it would be written as often.
    """

    path: tuple[str, ...]
    names: frozenset[str]
    size: int
    rows: Sequence[dict[str, Scalar]] | dict[str, list[Scalar]]
    above: Mapping[str, Scalar]


def recognises(head: Head) -> bool:
    """Whether this is JSON, by its first letters."""
    return not head.binary and _BEGINS.match(_beginning(head)) is not None


def _beginning(head: Head) -> str:
    return head.raw[:4096].decode(head.encoding, errors="replace")


def read(head: Head, said: Layout) -> Part:
    """The rows of the longest list, by their usual names where the map says nothing."""
    documents = _documents(head)
    objects: list[_Object] = []
    found = list(_tables(documents, ChainMap(), (), objects))
    if not found:
        if not any(documents):
            raise NoRows(f"{head.path} is JSON without any rows")
        raise InputError(
            f"{head.path} is JSON without a list of samples in it: it begins with "
            f"'{' '.join(_beginning(head).split())[:40]}'"
        )
    return _part(head, found, objects, Layout(format=NAME), said)


def read_trials(head: Head, trials: Sequence[Mapping[str, Any]], said: Layout, name: str) -> Part:
    """The rows of the longest lists that trials have.

    Args:
        head: of the file.
        trials: what each says, one or more of them with a list of objects.
        said: what the user's map says.
        name: of the format.
    """
    objects: list[_Object] = []
    found = [each for each in _tables(trials, ChainMap(), ("",), objects) if each.path != ("",)]
    if not found:
        raise NoRows(f"{head.path} has trials, but no samples in them")
    return _part(head, found, objects, Layout(format=name), said)


def _part(
    head: Head,
    found: Sequence[_List],
    objects: Sequence[_Object],
    layout: Layout,
    said: Layout,
) -> Part:
    """The rows of the longest list, with their roles by name or by a map."""
    longest, like, left_out = _like_the_longest(found)
    tables = [_side_by_side(head, each.rows) for each in like]
    pairs = list(zip(tables, like, strict=True))
    names = dict.fromkeys(name for table, each in pairs for name in (*each.above, *table.columns))
    check_width(head.path, len(names))
    layout = layout.under(usual_layout(list(names)).under(said))
    _check_alike(head, found, like, layout)
    needed = layout.read_columns
    rows = _together(head, [_under(table, each.above, needed) for table, each in pairs])
    # What nobody needs is known by its name alone, and takes no memory.
    rows = rows.select(name if name in rows else pl.lit(None).alias(name) for name in names)
    keys = [layout.columns[role] for role in KEYS if role in layout.columns]
    # Whose trials have no samples took part all the same.
    trials = [
        each.fields
        for each in objects
        if longest[: len(each.path)] == each.path != longest
        and (each.bare or each.path == longest[:-1])
    ]
    named = {key: [trial.get(key) for trial in trials] for key in keys}
    whose = pl.DataFrame([_column(key, values) for key, values in named.items()])
    part = read_table(head, layout, rows, recordings=whose)
    part = with_unread_remarks(part, rows.columns, layout)
    if not left_out:
        return part
    note = f"of the lists in JSON the longest is read; left out: {', '.join(left_out)}"
    return replace(part, notes=(*part.notes, note))


def _like_the_longest(
    found: Sequence[_List],
) -> tuple[tuple[str, ...], list[_List], tuple[str, ...]]:
    """Where the longest list is, it with those like it, and the names of lists left out."""
    sizes: Counter[tuple[str, ...]] = Counter()
    for each in found:
        sizes[each.path] += each.size
    longest = max(sizes, key=lambda path: sizes[path])
    # Lists in the same place are of one kind, whatever stands above each; so are lists of the same
    # columns in other places.
    kinds = {each.names for each in found if each.path == longest}
    like = [each for each in found if each.path == longest or each.names in kinds]
    rest = sizes.keys() - {each.path for each in like}
    return longest, like, tuple(sorted(filter(None, map(_dotted, rest))))


def _check_alike(head: Head, found: Sequence[_List], like: Sequence[_List], layout: Layout) -> None:
    """Fail where people of one file differ in what is measured, or in which list is the longest.

    Args:
        head: of the file.
        found: all lists.
        like: those that are read.
        layout: with the columns that have a role.
    """
    column = layout.columns.get("person")
    roles = {*MEASURES, *HEAD, *(role for role in ROLES if role.endswith(("_left", "_right")))}
    measures = {name for role, name in layout.columns.items() if role in roles}
    has: dict[Scalar, set[str]] = {}
    for each in like:
        for person, names in _named_by(each, column):
            has.setdefault(person, set()).update(names & measures)
    for names in has.values():
        for name in sorted(names ^ next(iter(has.values()))):
            raise InputError(
                f"{head.path}: some people have '{name}' and others have not: nobody's data may "
                "decide what all are measured by; write null where nothing was measured, or leave "
                "it out of all"
            )
    if column is None:
        return
    sizes: dict[Scalar, Counter[tuple[str, ...]]] = {}
    for each in found:
        if any(each is one for one in like) or _is_gaze(each, layout):
            sizes.setdefault(each.above.get(column), Counter())[each.path] += each.size
    for person, of_person in sizes.items():
        if max(of_person, key=lambda path: of_person[path]) not in {each.path for each in like}:
            raise InputError(
                f"{head.path}: of the lists in JSON the longest is read, and of '{person}' it is "
                "another one than of others: leave only the gaze in the file"
            )


def _named_by(each: _List, column: str | None) -> Iterator[tuple[Scalar, set[str]]]:
    """Whom the rows of a list are of, and the names that they have."""
    if isinstance(each.rows, dict) or column in each.above or column is None:
        yield each.above.get(column or ""), {*each.names, *each.above}
        return
    for row in each.rows:
        yield row.get(column), {*row, *each.above}


def _is_gaze(each: _List, layout: Layout) -> bool:
    """Whether a list might be of gaze, too, by the names of its columns."""
    there = {role: name for role, name in layout.columns.items() if name in each.names}
    return has_gaze(Layout(columns=there))


def _under(table: pl.DataFrame, above: Mapping[str, Scalar], needed: set[str]) -> pl.DataFrame:
    """A table with those columns of what stands above it that are needed."""
    return table.with_columns(
        _column(name, [above[name]]).new_from_index(0, table.height)
        for name in above
        if name in needed and name not in table.columns
    )


def _together(head: Head, tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    try:
        return pl.concat(tables, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot read {head.path} as a table: {error}") from None


def _dotted(path: Sequence[str]) -> str:
    return ".".join(filter(None, path))


def _documents(head: Head) -> list[Any]:
    """What is in the file: one document, or one a line."""
    text = text_of(head)
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError) as error:
        whole = error
    documents = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            documents.append(json.loads(line))
        except (ValueError, RecursionError):
            if number == 1:
                raise InputError(f"{head.path} is no JSON: {reason_of(whole)}") from None
            raise InputError(
                f"{head.path}: line {number} is no JSON: it may be truncated; get a whole copy, or "
                "remove the line"
            ) from None
    # Lines are the rows, unless each has rows of its own.
    if documents and all(isinstance(each, dict) and not _lists(each) for each in documents):
        return [documents]
    return documents


def text_of(head: Head) -> str:
    """The text of a file, unless it is too large to hold objects in memory."""
    if (head.path.stat().st_size if not head.whole else 0) > _LARGEST:
        raise InputError(
            f"{head.path} is larger than {_LARGEST >> 20} MiB, too large for JSON: write the "
            "samples as csv or Parquet"
        )
    text = head.text()
    if len(text) > _LARGEST:
        raise InputError(f"{head.path} is larger than {_LARGEST >> 20} MiB when it is unpacked")
    return text


def reason_of(error: Exception) -> str:
    """Why something is no JSON."""
    return str(error) if isinstance(error, json.JSONDecodeError) else "it is nested too deep"


def _tables(
    values: Sequence[Any],
    above: ChainMap[str, Scalar],
    path: tuple[str, ...],
    objects: list[_Object],
) -> Iterator[_List]:
    """Every list of rows, or of columns of equal length, with what stands above it.

    Objects on the way are put into ``objects``, in their order.
    """
    if len(path) > _DEEPEST:
        return
    rows = []
    for value in values:
        if isinstance(value, list):
            yield from _tables(value if _has_objects(value) else [], above, (*path, ""), objects)
        if not isinstance(value, dict):
            continue
        flat = _flat(value)
        own = ChainMap(flat, *above.maps)
        lists = _lists(value)
        objects.append(_Object(path, own, not lists))
        columns = {name: each for name, each in lists.items() if not _has_objects(each)}
        inner = {name: each for name, each in lists.items() if _has_objects(each)}
        for name, each in inner.items():
            yield from _tables(each, own, (*path, name), objects)
        if len({len(each) for each in columns.values()}) == 1:
            size = len(next(iter(columns.values())))
            yield _List((*path, ""), frozenset(columns), size, columns, own)
        elif not lists:
            rows.append(flat)
    if len(rows) > 1 or (rows and path):
        names = {name for row in rows for name in row} - above.keys()
        yield _List(path, frozenset(names), len(rows), rows, above)


def _has_objects(items: Sequence[Any]) -> bool:
    return any(isinstance(item, dict | list) for item in items)


def _lists(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, list[Any]]:
    """The lists of an object that are too long for a place, also of objects in it."""
    found: dict[str, list[Any]] = {}
    for name, item in value.items():
        if isinstance(item, dict) and depth < _DEEPEST:
            found |= _lists(item, f"{prefix}{name}.", depth + 1)
        elif isinstance(item, list) and (_has_objects(item) or len(item) > _MOST_ENTRIES):
            found[f"{prefix}{name}"] = item
    return found


def _flat(value: Mapping[str, Any], prefix: str = "", depth: int = 0) -> dict[str, Scalar]:
    """The fields of an object, those of objects and short lists in it by dotted names."""
    found: dict[str, Scalar] = {}
    for name, item in value.items():
        if isinstance(item, dict):
            if depth < _DEEPEST:
                found |= _flat(item, f"{prefix}{name}.", depth + 1)
        elif isinstance(item, list):
            if len(item) <= _MOST_ENTRIES and not _has_objects(item):
                found |= {f"{prefix}{name}.{at}": one for at, one in enumerate(item, start=1)}
        else:
            found[f"{prefix}{name}"] = item
    return found


def _side_by_side(
    head: Head, rows: Sequence[dict[str, Scalar]] | dict[str, list[Scalar]]
) -> pl.DataFrame:
    """Rows or columns as a table; a column that is not all numbers is text."""
    if not isinstance(rows, dict):
        names = dict.fromkeys(name for row in rows for name in row)
        # Before there are cells: objects with keys of their own would be mostly empty columns.
        check_width(head.path, len(names))
        if len(names) * len(rows) > max(_CELLS_ALWAYS, _TIMES * sum(map(len, rows))):
            raise InputError(f"{head.path}: the objects in its list have different keys")
        rows = {name: [row.get(name) for row in rows] for name in names}
    return pl.DataFrame({name: _column(name, values) for name, values in rows.items()})


def _column(name: str, values: Sequence[Scalar]) -> pl.Series:
    for kind, held in ((int, pl.Int64), (int | float, pl.Float64)):
        if all(v is None or (isinstance(v, kind) and not isinstance(v, bool)) for v in values):
            try:
                return pl.Series(name, values, held)
            except (OverflowError, TypeError):
                continue
    texts = [None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, texts, pl.String)

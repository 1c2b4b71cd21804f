"""Whose a file is: by a pattern for its name, or by a list."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eyelid.errors import InputError, cannot_read, unknown
from eyelid.io.files import (
    check_cells,
    head_of,
    text_table,
)
from eyelid.io.layout import KEYS, PERSON_COLUMNS, Layout, plain_name
from eyelid.io.raw_tables import separator_of

_MOST_PARTS = 50
_MOST_TRIES = 200_000


def names_from_pattern(pattern: str, path: Path) -> dict[str, str] | None:
    """The fields of a pattern in a file's name, or None when the name does not match.

    ``{person}`` stands for some characters, ``*`` and ``{}`` for any. A pattern without a slash
    is about the file's name, one with slashes also about its folders; without an ending it fits
    any. A name that fits in several ways is refused: it could be two people's.

    >>> names_from_pattern("Data_P{person}_R{recording}", Path("a/Data_P3_R1.csv"))
    {'person': '3', 'recording': '1'}
    >>> names_from_pattern("{person}/{task}.tsv", Path("a/ann/comic.tsv"))
    {'person': 'ann', 'task': 'comic'}
    """
    depth = pattern.count("/") + 1
    name = "/".join(path.parts[-depth:])
    ending = "." in pattern.rsplit("/", 1)[-1]
    if not ending:
        name = name[: len(name) - len("".join(path.suffixes))]
    steps = _steps(pattern)
    found = _matched(steps, name, pattern, longest=False)
    if found is None:
        return None
    longest = _matched(steps, name, pattern, longest=True)
    if longest is not None and longest != found:
        first, other = (", ".join(f"{k}={v}" for k, v in m.items()) for m in (found, longest))
        raise InputError(
            f"{path} fits the file-name pattern '{pattern}' in more than one way ({first}; or "
            f"{other}): write more of the name into the pattern, or give a list "
            "(`map='names=FILE'`)"
        )
    return found


@dataclass(frozen=True)
class _Step:
    """A part of a pattern.

    Attributes:
        text: that stands for itself.
        field: whose value is some characters; None for text and for ``*``.
        free: whether any characters may stand here.
        again: whether the field has its value from before.
    """

    text: str = ""
    field: str | None = None
    free: bool = False
    again: bool = False


def _steps(pattern: str) -> list[_Step]:
    """The parts of a pattern, in order."""
    parts, at, seen = [], 0, set()
    for match in re.finditer(r"\{(\w*)\}|\*", pattern):
        if match.start() > at:
            parts.append(_Step(pattern[at : match.start()]))
        name = match[1]
        if not name:
            parts.append(_Step(free=True))
        else:
            if name not in KEYS and not name.startswith("label_"):
                raise unknown("field of a file-name pattern", name, [*KEYS, "label_…"])
            parts.append(_Step(field=name, again=name in seen))
            seen.add(name)
        at = match.end()
    if len(parts) > _MOST_PARTS:
        raise InputError(
            f"a file-name pattern has at most {_MOST_PARTS} parts, got {len(parts)}: write a "
            "shorter one, or give a list (`map='names=FILE'`)"
        )
    return [*parts, _Step(pattern[at:])]


def _matched(
    steps: Sequence[_Step], name: str, pattern: str, *, longest: bool
) -> dict[str, str] | None:
    """The value of each field, by trying: what failed once is not tried again.

    A regular expression would try for years where a pattern of others is made for that.

    Args:
        steps: of the pattern.
        name: of the file.
        pattern: for errors.
        longest: whether fields get as many characters as they can, not as few.

    Returns:
        None where the name does not fit.
    """
    repeated = {step.field for step in steps if step.again}
    failed: set[tuple[int, int, tuple[str, ...]]] = set()
    tries = iter(range(_MOST_TRIES))

    def fit(number: int, at: int, found: dict[str, str]) -> dict[str, str] | None:
        if next(tries, None) is None:
            raise InputError(
                f"the file-name pattern '{pattern}' fits in too many ways: write more of the "
                "name into it, or give a list (`map='names=FILE'`)"
            )
        if number == len(steps):
            return found if at == len(name) else None
        tried = (number, at, tuple(v for k, v in found.items() if k in repeated))
        if tried in failed:
            return None
        for end, known in _ways(steps[number], name, at, found, longest):
            done = fit(number + 1, end, known)
            if done is not None:
                return done
        failed.add(tried)
        return None

    return fit(0, 0, {})


def _ways(
    step: _Step, name: str, at: int, found: dict[str, str], longest: bool
) -> Iterator[tuple[int, dict[str, str]]]:
    """Where a step may end, in order of preference, and the fields that are known then."""
    if step.again or not (step.free or step.field):
        text = found[step.field] if step.field else step.text
        if name.startswith(text, at):
            yield at + len(text), found
        return
    slash = name.find("/", at)
    ends = range(at + 1 if step.field else at, (len(name) if slash < 0 else slash) + 1)
    for end in reversed(ends) if longest and step.field else ends:
        yield end, found | {step.field: name[at:end]} if step.field else found


def names_of_file(path: Path, layout: Layout, own: dict[str, str]) -> dict[str, str]:
    """What is known about a file from its name, or from the user's list.

    Args:
        path: the file.
        layout: with the user's pattern or list.
        own: what follows from the name in the file's own format.
    """
    if layout.names is not None:
        return own | _listed(layout.names, path)
    if layout.file is None:
        return own
    found = names_from_pattern(layout.file, path)
    if found is None:
        raise InputError(f"{path} does not fit the file-name pattern '{layout.file}'")
    return own | found


def _listed(listing: Path, path: Path) -> dict[str, str]:
    try:
        about = listing.stat()
    except OSError as error:
        raise InputError(f"cannot read {listing}: {error.strerror or error}") from None
    listed = _rows_by_file(listing.absolute(), about.st_size, about.st_mtime_ns)
    # Whole parts of the path: 1.csv is not the end of 11.csv.
    ends = (path.parts[-depth:] for depth in range(1, len(path.parts) + 1))
    rows = [row for end in ends for row in listed.get(end, ())]
    if not rows:
        raise InputError(f"{path} is not in the list {listing}: add a row for it")
    if len(rows) > 1:
        raise InputError(f"{path} is in the list {listing} {len(rows)} times: keep one row for it")
    return dict(rows[0])


@functools.lru_cache(maxsize=4)
def _rows_by_file(
    listing: Path, size: int, changed_ns: int
) -> Mapping[tuple[str, ...], Sequence[Mapping[str, str]]]:
    """What a list says of each file, by the parts of its path; read once for all files.

    Size and time make a changed list another.
    """
    rows: dict[tuple[str, ...], list[Mapping[str, str]]] = {}
    table = read_listing(listing, "file")
    kept = [name for name in table.columns if name in KEYS or name.startswith("label_")]
    for row in table.select("file", *kept).iter_rows(named=True):
        if row["file"]:
            said = {name: row[name] for name in kept if row[name] is not None}
            rows.setdefault(Path(row["file"]).parts, []).append(said)
    return rows


def read_listing(path: Path, key: str) -> pl.DataFrame:
    """A csv or tsv that the user wrote, all text, with the column ``key``."""
    head = head_of(path)
    separator = separator_of(head.lines[:50])
    with cannot_read(path, pl.exceptions.PolarsError, ValueError):
        content = head.text().encode()
        check_cells(content, separator)
        table = text_table(content, separator=separator, infer_schema=False)
        table = table.rename({name: name.strip() for name in table.columns})
    if key in table.columns:
        return table
    plain = {plain_name(name): name for name in reversed(table.columns)}
    near = next((plain[name] for name in _USUAL[key] if name in plain), None)
    if near is None:
        raise InputError(f"{path} has no column {key}: add one")
    return table.rename({near: key})


_USUAL = {"person": PERSON_COLUMNS, "file": ("file", "fileid", "filename")}

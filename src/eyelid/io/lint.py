"""Leaks besides the gaze, in whatever somebody is about to share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.foreign import content_of, opened
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.column_map import Map
from eyelid.io.head import Head, head_of
from eyelid.io.leaks import Finding, is_clock, leak_of_field, leaks_in_text, short
from eyelid.io.parquet import ROWS_AT_ONCE, check_sound, scan
from eyelid.io.reading import is_heatmap, read
from eyelid.io.remote import all_here
from eyelid.io.scrub import findings
from eyelid.io.tables import MOST_COLUMNS, cells, check_width, is_parquet, separator_of
from eyelid.io.unpacking import most_bytes, too_large

_LEAVES_OUT = "leaves it out"
_CLOCK = "starts every recording at 0"
# Beginnings of lines that are no samples: headers, comments, messages.
_REMARK = re.compile(r"(?:\*\*|##?|%|//|MSG\b|[^\t\n]*\tMSG\t)")
# What trackers write by themselves; anything else in a message was somebody's own words.
_OWN_MESSAGES = re.compile(
    r"!(?:CAL|MODE|CMD)|RECCFG|ELCL|GAZE_COORDS|DISPLAY_COORDS|THRESHOLDS|VALIDATE|"
    r"CAMERA_LENS|PUPIL_DATA_TYPE|PRESCALER|VPRESCALER|RETRACE_INTERVAL|TRACKER_TIME|DRIFTCORRECT|"
    r"ELCLCFG|DISPLAY_RESOLUTION|SYNCTIME|\d+$"
)
_GZIP_NAME, _GZIP_FLAGS, _GZIP_TIME = 0x08, 3, slice(4, 8)
_MOST_VALUES = 100_000
_MEASURED = ("x", "y", "pupil", "confidence")
# Lines are numbered in the beginning of a file only: nobody looks up a larger number.
_COUNTED = 1 << 20
_MOST_PER_KIND = 100
# How pages that eyelid writes begin, and what the figures of audits call themselves.
_PAGE, _AUDIT = b"<title>eyelid ", "eyelid/audit/"
_BEGINNING = 4096
_OF_RAW_DATA = "figures of raw data, an audit's or the like"
_NOT_A_STUDY = "participants, tasks and times not looked at: no study could be read"
_NOT_LOOKED_AT = "not looked at: it cannot be read"
_CANNOT = "cannot read it either"
_REASON = 200
_REMOVE = "leaves it out: remove it, audits belong beside a release"


def lint(path: Path | str, map: Map = None) -> list[Finding]:
    """What gives people away besides their gaze, in any input that eyelid reads.

    Looks at the names of files, headers, remarks, messages, sidecars, the headers of gzipped files,
    columns of text, files of audits, which are made of raw data, and the study that all of it
    makes. The findings show what they found: they are for the owner's eyes. An empty list is no
    promise that gaze itself is safe to share.

    Args:
        path: a study folder, a recording, a folder of recordings, or a release.
        map: what you say about its columns, as for `eyelid.read`.
    """
    path = all_here(path)
    if is_heatmap(path):
        return leaks_of(path, None)
    try:
        study = read(path, map)
    except InputError as error:
        # What is no recording to eyelid may be one to others.
        found = leaks_of(path, None) if path.exists() else []
        if all(finding.what == _NOT_LOOKED_AT for finding in found):
            raise
        return [Finding(path.name, _NOT_A_STUDY, short(str(error), _REASON), _CANNOT), *found]
    return leaks_of(path, study)


def leaks_of(path: Path, study: Study | None) -> list[Finding]:
    """The same, of what was read already, or could not be."""
    return all_leaks(path, study, (leaks_of_file(file, path) for file in files_at(path)))


def all_leaks(
    path: Path, study: Study | None, of_files: Iterable[Iterable[Finding]]
) -> list[Finding]:
    """The same, where somebody looks at the files.

    Args:
        path: what was read.
        study: made of it, or an excerpt of that (`eyelid.io.excerpt`).
        of_files: what `leaks_of_file` gives, in the order of `files_at`.
    """
    found = [] if study is None else list(findings(study, path.name))
    if _is_of_nobody(path):
        found = [finding for finding in found if finding.where != f"{path.name}, person"]
    if path.is_dir():
        for what, value in leaks_in_text(path.resolve().name):
            found.append(Finding(f"{path.name}, its name", what, value, "names folders anew"))
    for each in of_files:
        found += each
    return _fewer(found)


def files_at(path: Path) -> list[Path]:
    """The files that are looked at, in order."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))


def leaks_of_file(file: Path, root: Path, *, sound: bool = False) -> list[Finding]:
    """What a file gives away by itself.

    Args:
        file: any.
        root: what it is part of, or itself.
        sound: whether it was read before, so that it need not be tried out.
    """
    name = file.name if file == root else file.relative_to(root).as_posix()
    found: list[Finding] = []
    try:
        found.extend(_of_file(file, name, sound))
    except InputError as error:
        # One damaged file must not hide what the others give away.
        found.append(Finding(name, _NOT_LOOKED_AT, short(str(error), _REASON), _LEAVES_OUT))
    return _fewer(found)


def _is_of_nobody(folder: Path) -> bool:
    """Whether this is a release of groups or made-up people, whom eyelid has named itself."""
    try:
        told = json.loads(content_of(folder / "certificate.json"))
        return bool(told["guarantee"]["trust"] == "central")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _fewer(found: Iterable[Finding]) -> list[Finding]:
    """Each thing once, and not more than a hundred of a kind in one place."""
    count: dict[tuple[str, str], int] = {}
    kept: dict[Finding, None] = {}
    for finding in found:
        key = (re.sub(r"(line|row) \d+", "", finding.where), finding.what)
        count[key] = count.get(key, 0) + (finding not in kept)
        if count[key] <= _MOST_PER_KIND:
            kept[finding] = None
    return list(kept)


def _of_file(path: Path, name: str, sound: bool) -> Iterator[Finding]:
    for what, value in leaks_in_text(name):
        yield Finding(f"{name}, its name", what, value, "names files anew")
    if path.suffix == study_folder.LEDGER_SUFFIX:
        yield Finding(
            name, "a ledger, which holds names", "", "leaves it where it is: do not share it"
        )
        return
    head = head_of(path)
    if _PAGE in head.raw[:_BEGINNING]:
        yield Finding(name, _OF_RAW_DATA, "", _REMOVE)
        return
    if is_parquet(head):
        if not sound:
            check_sound(path)
        yield from _of_columns(_texts_of_parquet(path), name)
        return
    if head.gzipped:
        yield from _of_gzip(path, name)
    if head.binary:
        yield from _of_mat(head, name)
        return
    if path.suffix == ".json":
        yield from _of_json(head, name)
        return
    yield from _of_remarks(head, name)
    yield from _of_table(head, name)


def _of_gzip(path: Path, name: str) -> Iterator[Finding]:
    """A gzip header holds the time of packing and the name of what was packed."""
    with opened(path) as file:
        header = file.read(512)
    remedy = "packs files without them"
    if any(header[_GZIP_TIME]):
        yield Finding(
            f"{name}, its gzip header", "a date or time of day", "time of packing", remedy
        )
    if header[_GZIP_FLAGS] & _GZIP_NAME:
        packed = header[10:].split(b"\0", 1)[0].decode("latin-1")
        yield Finding(f"{name}, its gzip header", "a file name", short(packed), remedy)


def _of_mat(head: Head, name: str) -> Iterator[Finding]:
    """A MATLAB file begins with a sentence that holds a date."""
    if head.raw.startswith(b"MATLAB"):
        for what, value in leaks_in_text(head.raw[:116].decode("latin-1")):
            yield Finding(f"{name}, its header", what, value, _LEAVES_OUT)


def _of_json(head: Head, name: str) -> Iterator[Finding]:
    try:
        content = json.loads(head.text())
    except (ValueError, RecursionError):
        # Not JSON, or folded too deep for anybody: what is in it is there all the same.
        for what, words in leaks_in_text(head.text()):
            yield Finding(name, what, short(words), _LEAVES_OUT)
        return
    if isinstance(content, dict) and str(content.get("schema")).startswith(_AUDIT):
        yield Finding(name, _OF_RAW_DATA, "", _REMOVE)
        return
    for key, value in _leaves(content):
        yield from _of_field(f"{name}, {key}", key.rsplit(".", 1)[-1], str(value))


def _leaves(content: Any) -> Iterator[tuple[str, Any]]:
    """Every value of a JSON document, with its dotted key, in order."""
    waiting = [("", content)]
    while waiting:
        key, this = waiting.pop()
        if isinstance(this, dict):
            inside = [
                (f"{key}.{name}" if key else str(name), value) for name, value in this.items()
            ]
            waiting += reversed(inside)
        elif isinstance(this, list):
            waiting += [(key, value) for value in reversed(this)]
        elif isinstance(this, str | int | float) and not isinstance(this, bool):
            yield key, this


def _of_field(where: str, field: str, value: str, *, personal: bool = False) -> Iterator[Finding]:
    """A named field: by its name, or by what stands in it."""
    what = leak_of_field(field, personal=personal)
    if what is not None and re.search(r"\w", value) and value.lower() not in ("none", "n/a"):
        yield Finding(where, what, short(value), _LEAVES_OUT)
        return
    for kind, words in leaks_in_text(value):
        yield Finding(where, kind, short(words), _LEAVES_OUT)


def _of_remarks(head: Head, name: str) -> Iterator[Finding]:
    """Headers, comments and messages, which may stand anywhere in a file."""
    text = head.text()
    messages = []
    line_number, counted = 1, 0
    for found in re.finditer(rf"(?m)^{_REMARK.pattern}[^\n]*", text):
        line = found[0]
        said = re.match(r"(?:MSG\s+[\d.]+|[^\t\n]*\tMSG\t[^\t\n]*)\s*(?:-?\d+\s+)?(.*)", line)
        where = name
        if found.start() < _COUNTED:
            line_number += text.count("\n", counted, found.start())
            counted = found.start()
            where += f", line {line_number}"
        if said is not None:
            leaks = list(leaks_in_text(said[1]))
            if leaks:
                yield Finding(where, leaks[0][0], short(leaks[0][1]), _LEAVES_OUT)
            elif said[1] and not _OWN_MESSAGES.match(said[1]):
                messages.append(said[1])
            continue
        field = re.match(r"[*#%/\s@]*([A-Za-z][\w \[\]/-]*?)(?::|\t| FROM )\s*(.*)", line)
        plain = re.match(r"\*\* CONVERTED FROM (.*)", line)
        if plain is not None:
            yield Finding(where, "where a file came from", short(plain[1]), _LEAVES_OUT)
        elif field is not None:
            yield from _of_field(where, field[1], field[2], personal=True)
        else:
            for what, words in leaks_in_text(line):
                yield Finding(where, what, short(words), _LEAVES_OUT)
    if messages:
        yield Finding(
            f"{name}, {len(messages)} messages", "free text", short(messages[0]), _LEAVES_OUT
        )


def _of_table(head: Head, name: str) -> Iterator[Finding]:
    """Columns that hold what they should not, by their names and by their text."""
    lines = [line for line in head.lines if not _REMARK.match(line) and line.strip()]
    if not lines:
        return
    separator = separator_of(lines[:50])
    columns = cells(lines[0], separator)
    if len(columns) > MOST_COLUMNS:
        # Too many to look at each: what is in them is looked for where it stands.
        for what, words in leaks_in_text(head.text()):
            yield Finding(name, what, short(words), _LEAVES_OUT)
        return
    has_header = not any(re.fullmatch(r"[-\d.,]+", column) for column in columns)
    if has_header:
        for column in columns:
            for what, value in leaks_in_text(column):
                yield Finding(f"{name}, the header {short(column, 30)}", what, value, _LEAVES_OUT)
    yield from _of_columns(_text_columns(head, separator, lines[0], has_header), name)


def _of_columns(columns: Iterable[pl.Series], name: str) -> Iterator[Finding]:
    """Columns of text, by their names and by what stands in them."""
    for texts in columns:
        if texts.null_count() == len(texts):
            continue
        column, values = texts.name, texts.drop_nulls().unique(maintain_order=True)
        values = values.head(_MOST_VALUES)
        clean = values.str.strip_chars().filter(values.str.strip_chars() != "")
        known = leak_of_field(column)
        if known is not None and len(clean):
            remedy = "gives pseudonyms and numbers" if known == "a name" else _LEAVES_OUT
            yield Finding(f"{name}, column {column}", known, short(clean[0]), remedy)
            continue
        seconds = re.search("unix|utc|epoch", column.lower()) is not None
        if (seconds or "time" in column.lower()) and is_clock(clean.head(1), seconds=seconds):
            yield Finding(
                f"{name}, column {column}", "a date or time of day", short(clean[0]), _CLOCK
            )
            continue
        numbers = clean.cast(pl.Float64, strict=False)
        for value in clean.filter(numbers.is_null()):
            for kind, words in leaks_in_text(value):
                yield Finding(f"{name}, column {column}", kind, short(words), _LEAVES_OUT)


def _texts_of_parquet(path: Path) -> Iterator[pl.Series]:
    """The columns of text, and those that may be clocks, as text; each value once.

    Of numbers only the first is looked at, so that large files need not be in memory.
    """
    lazy = scan(path)
    check_width(path, len(lazy.collect_schema()))
    most = most_bytes(path.stat().st_size)
    count = lazy.select(pl.len()).collect().item()
    for name, kind in lazy.collect_schema().items():
        if kind.is_nested() or kind == pl.Binary or name in _MEASURED:
            continue
        enough = 1 if kind.is_numeric() else _MOST_VALUES
        values = pl.Series(name, [], kind)
        for first in range(0, count, ROWS_AT_ONCE):
            rows = lazy.select(name).slice(first, ROWS_AT_ONCE).collect()[name].drop_nulls()
            some = rows.head(1) if enough == 1 else rows.unique(maintain_order=True)
            values = pl.concat([values, some]).unique(maintain_order=True).head(enough)
            if kind == pl.String and (values.str.len_bytes().sum() or 0) > most:
                raise too_large(path, most)
            if len(values) == enough:
                break
        yield values.cast(pl.String)


def _text_columns(head: Head, separator: str, header: str, has_header: bool) -> pl.DataFrame:
    """The table from its header on, all text; nothing where it is no table."""
    text = head.text()
    try:
        return pl.read_csv(
            text[text.index(header) :].encode(),
            separator=separator,
            has_header=has_header,
            infer_schema=False,
            truncate_ragged_lines=True,
            quote_char='"',
        )
    except (pl.exceptions.PolarsError, ValueError):
        return pl.DataFrame()

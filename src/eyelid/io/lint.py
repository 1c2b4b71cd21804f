"""Leaks besides the gaze, in whatever somebody is about to share."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.foreign import opened
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.column_map import Map, understood
from eyelid.io.feature_file import with_features
from eyelid.io.head import Head, head_of
from eyelid.io.leaks import (
    LEAK,
    USER_AGENT,
    WARNING,
    Finding,
    browser_and_screen,
    is_clock,
    is_clock_column,
    is_code,
    is_ip_address,
    is_user_agent,
    leak_of_field,
    leaks_in_name,
    leaks_in_text,
    names_in_table,
    short,
)
from eyelid.io.parquet import ROWS_AT_ONCE, check_columns, check_sound, scan
from eyelid.io.quasi_identifiers import person_column, warnings_of_files, warnings_of_study
from eyelid.io.reading import Place, place_of, read_place, read_readable
from eyelid.io.release_folder import (
    CERTIFICATE,
    MAP_FILES,
    RELEASED_FILES,
    STANDARD_ERRORS,
    has_certificate,
    is_certified,
    is_heatmap,
    statement,
    strange_files,
)
from eyelid.io.remote import all_here
from eyelid.io.scrub import findings
from eyelid.io.tables import MOST_COLUMNS, cells, check_width, is_parquet, separator_of
from eyelid.io.unpacking import most_bytes, text_table, too_large

_LEAVES_OUT = "leaves it out"
_KEEPS_EMPTY = "keeps a recording without values, where the name tells whose"
_PSEUDONYMS = "gives pseudonyms and numbers"
_CLOCK = "starts every recording at 0"
# Beginnings of lines that are no samples: headers, comments, messages.
_REMARK = re.compile(r"(?:\*\*|##?|%|//|MSG\b|[^\t\n]*\tMSG\t)")
# What trackers write by themselves; anything else in a message was somebody's own words.
_OWN_MESSAGES = re.compile(
    r"!(?:CAL|MODE|CMD)|RECCFG|ELCL|GAZE_COORDS|DISPLAY_COORDS|THRESHOLDS|VALIDATE|"
    r"CAMERA_LENS|PUPIL_DATA_TYPE|PRESCALER|VPRESCALER|RETRACE_INTERVAL|TRACKER_TIME|DRIFTCORRECT|"
    r"ELCLCFG|DISPLAY_RESOLUTION|SYNCTIME|\d+$"
)
_MAT_HEADER = 116
_GZIP_NAME, _GZIP_FLAGS, _GZIP_TIME = 0x08, 3, slice(4, 8)
_MOST_VALUES, _FEW = 100_000, 100
_MEASURED = ("x", "y", "pupil", "confidence")
# Lines are numbered in the beginning of a file only: nobody looks up a larger number.
_COUNTED = 1 << 20
_MOST_PER_KIND = 100
# How pages that eyelid writes begin, and what the figures of audits call themselves.
_PAGE, _AUDIT = b"<title>eyelid ", "eyelid/audit/"
_BEGINNING = 4096
_OF_RAW_DATA = "figures of raw data, an audit's or the like"
_NOT_A_STUDY = "participants, tasks and times not looked at: no study could be read"
_NOT_IN_STUDY = "participants, tasks and times not looked at: no study could be made of it"
_UNSEEN = "not looked at"
_NOT_LOOKED_AT = f"{_UNSEEN}: it cannot be read"
_BINARY = f"{_UNSEEN}: it is no text that eyelid can read"
_NOT_OF_THESE_DATA = "a certificate that is not of these data"
_NO_RELEASE_HAS_IT = "what no release has"
_EMPTY = "an empty file"
# What says nothing of the data that are there.
_NOTHING_SEEN = (_UNSEEN, _EMPTY)
_CANNOT = "cannot read it either"
_IP = "an IP address"
_QUASI, _MAY_KEEP = "a quasi-identifier", "keeps it only as an attribute of people: drop it there"
_REASON = 200
_REMOVE = "leaves it out: remove it, audits belong beside a release"
_NOT_IN_RELEASES = "does not take releases: remove it before you share the folder"
# Of a binary file so many bytes are searched for readable words.
_MOST_BINARY = 1 << 24
_READABLE = re.compile(rb"[\t\x20-\x7e]{6,}")
# Shorter ones are found in any compressed file, by chance.
_SHORTEST_WORDS = {"an e-mail address": 10, "a path": 12}
# Cells of a table, by its lines and its header, that are held at once although most are not there.
_MOST_CELLS = 1 << 22
# Of names that files give, in the place of a finding.
_LONGEST_NAME, _LONGEST_KEY = 80, 200
# Numbers of one column, or under one key, by which a clock is recognised.
_CLOCK_VALUES, _MOST_KEYS, _LARGEST_CLOCK = 1000, 10_000, 1e20
_JSON = (".json", ".jsonl", ".ndjson")
# A table has as many cells in most lines as in the first; in the lines that are looked at.
_LINES, _MOST_LINES_ALIKE = 50, 0.5
_ABOUT_DATA = re.compile(r"(?:^|/)(?:licen[cs]e|copying|citation|change(?:s|log))\b[^/]*$", re.I)
# Lines with words, days or times of day: long lines of numbers would look like days by chance.
_WORDS = re.compile(rf"(?m)^(?!{_REMARK.pattern})[^\n]*(?:[^\W\d_]{{2}}|\d[-/:]\d)[^\n]*")


def lint(path: Path | str, map: Map = None, *, features: Path | str | None = None) -> list[Finding]:
    """What gives people away besides their gaze, in any input that eyelid reads.

    Looks at the names of files and folders, headers, remarks, messages, sidecars, the headers of
    gzipped files, text, JSON, columns of text and clocks, files of audits, which are made of raw
    data, and the study that all of it makes; in a release also for files that no release has. Files
    that cannot be looked into, such as archives, are findings. What singles participants out
    without a name, such as their attributes together, is a warning (`Finding.severity`). The
    findings show what they found: they are for the owner's eyes. An empty list is no promise that
    gaze itself is safe to share.

    Args:
        path: a study folder, a recording, a folder of recordings, or a release.
        map: what you say about its columns, as for `eyelid.read`.
        features: a file that names the measures of a table, as for `eyelid.convert`.
    """
    return list(looked_at(path, map, features=features).findings)


@dataclass(frozen=True)
class Lint:
    """What was found in some data, and what they are.

    Attributes:
        findings: as of `lint`.
        release: whether they are a release, by a certificate that is of these data.
        convertible: whether ``convert`` reads them.
        unread: why no study could be read, or not of every file, so that files were only looked at
            by themselves.
        left_out: how many files no study could be made of, empty ones too.
    """

    findings: tuple[Finding, ...]
    release: bool
    convertible: bool = False
    unread: str = ""
    left_out: int = 0

    @property
    def leaks(self) -> tuple[Finding, ...]:
        """What gives participants away."""
        return tuple(finding for finding in self.findings if finding.severity == LEAK)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What may single them out, and is to be judged by the owner."""
        return tuple(finding for finding in self.findings if finding.severity == WARNING)


def looked_at(path: Path | str, map: Map = None, *, features: Path | str | None = None) -> Lint:
    """The findings of `lint`, and whether the data are a release.

    Args:
        path: as for `lint`.
        map: as for `lint`.
        features: as for `lint`.
    """
    path = all_here(path)
    if is_heatmap(path):
        return Lint(tuple(leaks_of(path, None)), release=True)
    said = map if features is None else with_features(understood(map), features)
    try:
        study, left_out = _read(place_of(path, said))
    except InputError as error:
        # What is no recording to eyelid may be one to others.
        found = leaks_of(path, None) if path.exists() else []
        found += warnings_of_files(files_at(path), path) if path.exists() else []
        if all(finding.what.startswith(_NOTHING_SEEN) for finding in found):
            raise
        reason = Finding(path.name, _NOT_A_STUDY, short(str(error), _REASON), _CANNOT, WARNING)
        return Lint((reason, *found), release=False, unread=str(error))
    # An empty file has no participants to look at; of any other nobody knows.
    unread = {file: reason for file, reason in left_out if not _is_empty_file(file)}
    beside = [
        Finding(
            file.relative_to(path).as_posix(), _NOT_IN_STUDY, short(why, _REASON), _CANNOT, WARNING
        )
        for file, why in unread.items()
    ]
    return Lint(
        (*leaks_of(path, study, unread), *beside, *_warnings(path, study, unread)),
        release=is_certified(study),
        convertible=not study.released,
        unread=next(iter(unread.values()), ""),
        left_out=len(left_out),
    )


def _read(place: Place) -> tuple[Study, list[tuple[Path, str]]]:
    """The study at a place, and the files that are not in it because they cannot be read."""
    if place.is_whole or not place.path.is_dir():
        return read_place(place), []
    return read_readable(place)


def _is_empty_file(file: Path) -> bool:
    """Whether a file has nothing in it; not where nobody can look."""
    try:
        return _is_empty(head_of(file))
    except InputError:
        return False


def _is_empty(head: Head) -> bool:
    return head.whole and not head.raw.strip()


def _warnings(path: Path, study: Study, unread: Iterable[Path]) -> list[Finding]:
    """What singles participants out in a study, and in the files beside it."""
    stated = statement(path) if is_certified(study) else None
    # Groups and synthetic participants are nobody to single out.
    if stated is not None and all(map(stated.has_named, study.people["person"])):
        return []
    found = list(warnings_of_study(study, path.name))
    if len(study.people.columns) == 1 and not study_folder.recognises(path):
        found += warnings_of_files(files_at(path), path, lists=True)
    known = {finding.where for finding in found}
    found += (each for each in warnings_of_files(unread, path) if each.where not in known)
    return _fewer(found)


def leaks_of(path: Path, study: Study | None, unread: Collection[Path] = ()) -> list[Finding]:
    """What `lint` finds in what was read already, or could not be.

    Args:
        path: what was to be read.
        study: made of it; None where none could be.
        unread: files that are not in the study because they could not be read.
    """
    of_release: tuple[Path, ...] = ()
    if _is_release(path, study):
        of_release = tuple(path / name for name in (*RELEASED_FILES, STANDARD_ERRORS, *MAP_FILES))
    found = (
        leaks_of_file(file, path, ours=file in of_release, people=study is None or file in unread)
        for file in files_at(path)
    )
    return all_leaks(path, study, found)


def all_leaks(
    path: Path, study: Study | None, of_files: Iterable[Iterable[Finding]]
) -> list[Finding]:
    """What `lint` finds, with what was found in each file.

    Args:
        path: what was read.
        study: made of it, or an excerpt of that (`eyelid.io.excerpt`).
        of_files: what `leaks_of_file` gives, in the order of `files_at`.
    """
    found = [] if study is None else list(findings(study, path.name))
    release = _is_release(path, study)
    if release and (stated := statement(path)) is not None:
        found = [
            finding
            for finding in found
            if finding.where != f"{path.name}, person" or not stated.has_named(finding.value)
        ]
        found += [
            Finding(name, _NO_RELEASE_HAS_IT, "", _NOT_IN_RELEASES) for name in strange_files(path)
        ]
    elif path.is_dir() and has_certificate(path):
        found.append(Finding(CERTIFICATE, _NOT_OF_THESE_DATA, "", _LEAVES_OUT))
    if path.is_dir():
        for what, value in leaks_in_name(path.resolve().name):
            found.append(Finding(f"{path.name}, its name", what, value, "names folders anew"))
        for folder in sorted(each for each in path.rglob("*") if each.is_dir()):
            name = folder.relative_to(path).as_posix()
            for what, value in leaks_in_name(folder.name):
                found.append(Finding(f"{name}, its name", what, value, "names folders anew"))
    for each in of_files:
        found += each
    return _fewer(found)


def files_at(path: Path) -> list[Path]:
    """The files that are looked at, hidden ones too, in order."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if not p.is_dir())


def _is_release(path: Path, study: Study | None) -> bool:
    """Whether this is a release, by a certificate that is of these data."""
    return is_heatmap(path) if study is None else path.is_dir() and is_certified(study)


def leaks_of_file(
    file: Path, root: Path, *, sound: bool = False, ours: bool = False, people: bool = False
) -> list[Finding]:
    """What a file gives away by itself.

    Args:
        file: any.
        root: what it is part of, or itself.
        sound: whether it was read before, so that it need not be tried out.
        ours: whether a release has such a file, which may be binary.
        people: whether to look who the participants of a table are, because no study says so.
    """
    name = file.name if file == root else file.relative_to(root).as_posix()
    found: list[Finding] = []
    try:
        found.extend(_of_file(file, name, sound, ours, people))
    except InputError as error:
        # One damaged file must not hide what the others give away.
        found.append(Finding(name, _NOT_LOOKED_AT, short(str(error), _REASON), _LEAVES_OUT))
    return _fewer(found)


def _fewer(found: Iterable[Finding]) -> list[Finding]:
    """Each thing once, and not more than a hundred of a kind in one place."""
    count: dict[tuple[str, str], int] = {}
    kept: dict[Finding, None] = {}
    for finding in found:
        place = re.sub(r"(line|row) \d+", "", finding.where)
        # Of files that cannot be looked into there may be thousands, which are all alike.
        key = ("" if finding.what == _BINARY else place, finding.what)
        count[key] = count.get(key, 0) + (finding not in kept)
        if count[key] <= _MOST_PER_KIND:
            kept[finding] = None
    return list(kept)


def _of_file(path: Path, name: str, sound: bool, ours: bool, people: bool) -> Iterator[Finding]:
    # A day may be told by folders in folders.
    for what, value in dict.fromkeys((*leaks_in_text(name), *leaks_in_name(path.name))):
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
        columns = list(scan(path).collect_schema())
        yield from _of_columns(_texts_of_parquet(path), name, columns)
        return
    if head.gzipped:
        yield from _of_gzip(path, name)
    if _is_empty(head):
        # What is hidden keeps its place, such as .gitkeep.
        if not path.name.startswith("."):
            yield Finding(name, _EMPTY, "", _KEEPS_EMPTY, WARNING)
        return
    if head.binary:
        yield from _of_binary(head, name, ours)
        return
    if path.suffix.lower() in _JSON or head.raw.lstrip()[:1] == b"{":
        yield from _of_json(head, name)
        return
    yield from _of_remarks(head, name)
    yield from _of_table(head, name, people)


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


def _of_binary(head: Head, name: str, ours: bool) -> Iterator[Finding]:
    """What is readable in a file that is no text; a MATLAB file begins with a date."""
    if head.raw.startswith(b"MATLAB"):
        for what, value in leaks_in_text(head.raw[:_MAT_HEADER].decode("latin-1")):
            yield Finding(f"{name}, its header", what, value, _LEAVES_OUT)
        content = _beginning(head)[_MAT_HEADER:]
    else:
        content = _beginning(head)
        if not ours:
            yield Finding(name, _BINARY, "", _LEAVES_OUT)
    # Without zeros, text of two bytes a letter is readable too.
    for some in (content, content.replace(b"\0", b"")):
        text = b"\n".join(_READABLE.findall(some)).decode("ascii")
        for what, words in leaks_in_text(text):
            if len(words) >= _SHORTEST_WORDS.get(what, 0):
                yield Finding(f"{name}, its bytes", what, short(words), _LEAVES_OUT)


def _beginning(head: Head) -> bytes:
    """The first bytes of a binary file, unpacked if it is gzipped."""
    if head.whole:
        return head.raw
    try:
        with gzip.open(head.path) if head.gzipped else open(head.path, "rb") as file:
            return file.read(_MOST_BINARY)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read {head.path}: {error}") from None


def _of_json(head: Head, name: str) -> Iterator[Finding]:
    """What stands in JSON: one value, or one in each line."""
    text = head.text()
    content = _parsed(text)
    if content is None:
        content = []
        for line in filter(str.strip, text.splitlines()):
            one = _parsed(line)
            content.append(one)
            if one is None:
                # Not JSON, or folded too deep for anybody: what is in it is there all the same.
                for what, words in leaks_in_text(line):
                    yield Finding(name, what, short(words), _LEAVES_OUT)
    if isinstance(content, dict) and str(content.get("schema")).startswith(_AUDIT):
        yield Finding(name, _OF_RAW_DATA, "", _REMOVE)
        return
    numbers: dict[tuple[str, str], list[float]] = {}
    fields: dict[str, None] = {}
    for place, field, value in _leaves(content):
        where = f"{name}, {place}" if place else name
        if value is None:
            for what, words in leaks_in_text(field):
                yield Finding(where, what, short(words), _LEAVES_OUT)
            if len(fields) < _MOST_KEYS:
                fields[short(field, _LONGEST_NAME)] = None
            continue
        counts = not isinstance(value, str) and abs(value) < _LARGEST_CLOCK
        if counts and (len(numbers) < _MOST_KEYS or (place, field) in numbers):
            under = numbers.setdefault((place, field), [])
            if len(under) < _CLOCK_VALUES:
                under.append(float(value))
        yield from _of_field(where, field, str(value))
    for (place, field), values in numbers.items():
        if leak_of_field(field) is None and is_clock_column(field, pl.Series(values)):
            first = f"{values[0]:.0f}"
            where = f"{name}, {place}" if place else name
            yield Finding(where, "a date or time of day", first, _CLOCK)
    yield from _of_browser(fields, name)


def _of_browser(fields: Iterable[str], name: str) -> Iterator[Finding]:
    """Fields that tell of a browser and its screen: together they are a fingerprint."""
    told = [short(field, _LONGEST_NAME) for field in browser_and_screen(fields)]
    if told:
        value = short(f"a browser and its screen: {', '.join(told)}", _REASON)
        yield Finding(name, _QUASI, value, _MAY_KEEP, WARNING)


def _parsed(text: str) -> Any:
    """JSON, if it is; None otherwise."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(content: Any) -> Iterator[tuple[str, str, str | int | float | None]]:
    """Everything in a JSON document, in order: its dotted key, cut short, its own key, its value.

    A key itself comes before what it has, with the value None.
    """
    waiting: list[tuple[str, str, Any]] = [("", "", content)]
    while waiting:
        place, field, this = waiting.pop()
        if isinstance(this, dict):
            inside = []
            for key, value in this.items():
                # What each leaf repeats must not be as long as others made it.
                own = short(key, _LONGEST_NAME)
                dotted = f"{place}.{own}" if place else own
                if len(dotted) > _LONGEST_KEY:
                    dotted = "…" + dotted[1 - _LONGEST_KEY :]
                inside.append((dotted, key, value))
                yield dotted, key, None
            waiting += reversed(inside)
        elif isinstance(this, list):
            waiting += [(place, field, value) for value in reversed(this)]
        elif isinstance(this, str | int | float) and not isinstance(this, bool):
            yield place, field, this


def _of_field(where: str, field: str, value: str, *, personal: bool = False) -> Iterator[Finding]:
    """A named field: by its name, or by what stands in it."""
    what = leak_of_field(field, personal=personal)
    if what is not None and re.search(r"\w", value) and value.lower() not in ("none", "n/a"):
        yield Finding(where, what, short(value), _LEAVES_OUT)
        return
    if is_ip_address(value):
        yield Finding(where, _IP, value, _LEAVES_OUT)
    if is_user_agent(field, value):
        yield Finding(where, _QUASI, f"a browser's user agent: {short(value)}", _MAY_KEEP, WARNING)
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
        plain = re.match(r"\*\* (?:CONVERTED FROM|RECORDED BY)[ :]+(\S.*)", line)
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


def _of_table(head: Head, name: str, people: bool) -> Iterator[Finding]:
    """Columns that hold what they should not, by their names and by their text."""
    lines = [line for line in head.lines if not _REMARK.match(line) and line.strip()]
    if not lines:
        return
    separator = separator_of(lines[:_LINES])
    columns = cells(lines[0], separator)
    if not _is_table(lines[:_LINES], separator):
        yield from _of_words(head.text(), name)
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
    text = head.text()
    if len(columns) * text.count("\n") > max(_MOST_CELLS, len(text)):
        # Most cells are not there, and would fill the memory: what is there is one text.
        for column in columns if has_header else ():
            known = leak_of_field(column)
            if known is not None:
                where = f"{name}, column {short(column, _LONGEST_NAME)}"
                yield Finding(where, known, "", _LEAVES_OUT)
        for what, words in leaks_in_text(text):
            yield Finding(name, what, short(words), _LEAVES_OUT)
        return
    table = _text_columns(text, separator, lines[0], has_header)
    if table.width:
        person = person_column(columns) if people and has_header else None
        yield from _of_columns(table, name, columns if has_header else (), person)
        # Cells beyond the last column are in no column.
        beyond = (
            rf"(?m)^(?:[^{re.escape(separator)}\n]*+{re.escape(separator)}){{{len(columns)}}}[^\n]+"
        )
        yield from _of_words("\n".join(found[0] for found in re.finditer(beyond, text)), name)
    else:
        yield from _of_words(text, name)


def _is_table(lines: Sequence[str], separator: str) -> bool:
    """Whether most lines have as many cells as the first."""
    counts = [len(cells(line, separator)) for line in lines]
    return counts.count(counts[0]) > _MOST_LINES_ALIKE * len(counts)


def _of_words(text: str, name: str) -> Iterator[Finding]:
    """What text that is no table gives away."""
    for what, words in leaks_in_text("\n".join(found[0] for found in _WORDS.finditer(text))):
        # Days of licences and versions are nobody's.
        if what not in ("a date", "a time of day") or not _ABOUT_DATA.search(name):
            yield Finding(name, what, short(words), _LEAVES_OUT)
    agent = USER_AGENT.search(text)
    if agent is not None:
        told = f"a browser's user agent: {agent[0]}…"
        yield Finding(name, _QUASI, told, _MAY_KEEP, WARNING)


def _of_columns(
    texts_of: Iterable[pl.Series], name: str, columns: Sequence[str], person: str | None = None
) -> Iterator[Finding]:
    """Columns of text, by their names and by what stands in them.

    Args:
        texts_of: the columns.
        name: of the file.
        columns: what all of them are called.
        person: the one whose values are participants, where nobody else looks at them.
    """
    yield from _of_browser(columns, name)
    names = names_in_table(columns)
    for texts in texts_of:
        if texts.null_count() == len(texts):
            continue
        column, values = texts.name, texts.drop_nulls().unique(maintain_order=True)
        where = f"{name}, column {short(column, _LONGEST_NAME)}"
        values = values.head(_MOST_VALUES)
        clean = values.str.strip_chars().filter(values.str.strip_chars() != "")
        known = leak_of_field(column)
        if known is None and column in names and not all(map(is_code, clean.head(_FEW))):
            known = "a name"
        if known is not None and len(clean):
            remedy = _PSEUDONYMS if known == "a name" else _LEAVES_OUT
            yield Finding(where, known, short(clean[0]), remedy)
            continue
        seconds = re.search("unix|utc|epoch", column.lower()) is not None
        if (seconds or "time" in column.lower()) and is_clock(clean.head(1), seconds=seconds):
            yield Finding(where, "a date or time of day", short(clean[0]), _CLOCK)
            continue
        if is_clock_column(column, clean.head(_CLOCK_VALUES)):
            yield Finding(where, "a date or time of day", short(clean[0]), _CLOCK)
        if column == person:
            # Codes of studies have a number in them.
            for value in clean.filter(clean.str.contains(r"^\D*\p{L}{3}\D*$")).head(_FEW):
                yield Finding(where, "what may be a name", short(value), _PSEUDONYMS)
        named = is_user_agent(column, "")
        agents = clean if named else clean.filter(clean.str.contains(USER_AGENT.pattern))
        if len(agents):
            told = f"a browser's user agent: {short(agents[0])}"
            yield Finding(where, _QUASI, told, _MAY_KEEP, WARNING)
        numbers = clean.cast(pl.Float64, strict=False)
        for value in clean.filter(numbers.is_null()):
            if is_ip_address(value):
                yield Finding(where, _IP, value, _LEAVES_OUT)
            for kind, words in leaks_in_text(value):
                yield Finding(where, kind, short(words), _LEAVES_OUT)


def _texts_of_parquet(path: Path) -> Iterator[pl.Series]:
    """The columns of text, and those that may be clocks, as text; each value once.

    Of numbers only the first are looked at, so that large files need not be in memory.
    """
    lazy = scan(path)
    check_width(path, len(lazy.collect_schema()))
    most = most_bytes(path.stat().st_size)
    count = lazy.select(pl.len()).collect().item()
    looked_at = {
        name: kind
        for name, kind in lazy.collect_schema().items()
        if not (kind.is_nested() or kind == pl.Binary or name in _MEASURED)
    }
    check_columns(path, [name for name, kind in looked_at.items() if not kind.is_numeric()])
    for name, kind in looked_at.items():
        enough = _CLOCK_VALUES if kind.is_numeric() else _MOST_VALUES
        values = pl.Series(name, [], kind)
        for first in range(0, count, ROWS_AT_ONCE):
            rows = lazy.select(name).slice(first, ROWS_AT_ONCE).collect()[name].drop_nulls()
            some = rows.head(enough) if kind.is_numeric() else rows.unique(maintain_order=True)
            values = pl.concat([values, some]).unique(maintain_order=True).head(enough)
            if kind == pl.String and (values.str.len_bytes().sum() or 0) > most:
                raise too_large(path, most)
            if len(values) == enough or (kind.is_numeric() and len(values)):
                break
        yield values.cast(pl.String)


def _text_columns(text: str, separator: str, header: str, has_header: bool) -> pl.DataFrame:
    """The table from its header on, all text; nothing where it is no table."""
    try:
        return text_table(
            text[text.index(header) :].encode(),
            separator=separator,
            has_header=has_header,
            infer_schema=False,
            truncate_ragged_lines=True,
            quote_char='"',
        )
    except (pl.exceptions.PolarsError, ValueError):
        return pl.DataFrame()

"""What a single file gives away besides gaze: by its name, its header, its text and its columns."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.files import opened
from eyelid.errors import InputError, cannot_read
from eyelid.io import study_folder
from eyelid.io.files import Head, head_of
from eyelid.io.leaks import (
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
from eyelid.io.parquet import check_sound, scan
from eyelid.io.quasi_identifiers import person_column
from eyelid.io.raw_tables import (
    MOST_COLUMNS,
    cells,
    is_parquet,
    separator_of,
)
from eyelid.io.release_folder import RESULTS
from eyelid.io.text_columns import CLOCK_VALUES, MOST_VALUES, text_columns, texts_of_parquet

LEAVES_OUT = "leaves it out"
"""What ``convert`` does about most findings."""
UNSEEN = "not looked at"
"""How a finding begins that says that nobody could look."""
EMPTY = "an empty file"
"""What a file is called in which there is nothing."""
LONGEST_REASON = 200
"""Characters that are shown of what went wrong with a file."""

_KEEPS_EMPTY = "keeps a recording without values, where the name tells whose"
_PSEUDONYMS = "gives pseudonyms and numbers"
_CLOCK, _TIME = "starts every recording at 0", "a date or time of day"
# Beginnings of lines that are no samples: headers, comments, messages.
_REMARK = re.compile(r"(?:\*\*|##?|%|//|MSG\b|[^\t\n]*\tMSG\t)")
# What trackers write by themselves; anything else in a message was the user's own words.
_OWN_MESSAGES = re.compile(
    r"!(?:CAL|MODE|CMD)|RECCFG|ELCL|GAZE_COORDS|DISPLAY_COORDS|THRESHOLDS|VALIDATE|"
    r"CAMERA_LENS|PUPIL_DATA_TYPE|PRESCALER|VPRESCALER|RETRACE_INTERVAL|TRACKER_TIME|DRIFTCORRECT|"
    r"ELCLCFG|DISPLAY_RESOLUTION|SYNCTIME|\d+$"
)
_MAT_HEADER = 116
_GZIP_NAME, _GZIP_FLAGS, _GZIP_TIME = 0x08, 3, slice(4, 8)
_FEW = 100
# Lines are numbered in the beginning of a file only: nobody looks up a larger number.
_COUNTED = 1 << 20
_MOST_PER_KIND = 100
# How pages that eyelid writes begin, and what the figures of audits call themselves.
_PAGE, _AUDIT = b"<title>eyelid ", "eyelid/audit/"
_BEGINNING = 4096
_OF_RAW_DATA = "figures of raw data, an audit's or the like"
_BINARY = f"{UNSEEN}: it is no text that eyelid can read"
_IP = "an IP address"
_QUASI, _MAY_KEEP = "a quasi-identifier", "keeps it only as an attribute of people: drop it there"
_REMOVE = "leaves it out: remove it, audits belong beside a release"
# Of a binary file so many bytes are searched for readable words.
_MOST_BINARY = 1 << 24
_READABLE = re.compile(rb"[\t\x20-\x7e]{6,}")
# Shorter ones are found in any compressed file, by chance.
_SHORTEST_WORDS = {"an e-mail address": 10, "a path": 12}
# Cells of a table, by its lines and its header, that are held at once although most are not there.
_MOST_CELLS = 1 << 22
# Of names that files give, in the place of a finding.
_LONGEST_NAME, _LONGEST_KEY = 80, 200
# Keys under which numbers are looked at for clocks, and the largest that may be one.
_MOST_KEYS, _LARGEST_CLOCK = 10_000, 1e20
_NOTES = ("note",)
_JSON = (".json", ".jsonl", ".ndjson")
# A table has as many cells in most lines as in the first; in the lines that are looked at.
_LINES, _MOST_LINES_ALIKE = 50, 0.5
_ABOUT_DATA = re.compile(r"(?:^|/)(?:licen[cs]e|copying|citation|change(?:s|log))\b[^/]*$", re.I)
# Lines with words, days or times of day: long lines of numbers would look like days by chance.
_WORDS = re.compile(rf"(?m)^(?!{_REMARK.pattern})[^\n]*(?:[^\W\d_]{{2}}|\d[-/:]\d)[^\n]*")


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
        reason = short(str(error), LONGEST_REASON)
        found.append(Finding(name, f"{UNSEEN}: it cannot be read", reason, LEAVES_OUT))
    return fewer(found)


def fewer(found: Iterable[Finding]) -> list[Finding]:
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


def is_empty(head: Head) -> bool:
    """Whether a file has nothing in it but blanks."""
    return head.whole and not head.raw.strip()


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
    if head.gzipped and not is_parquet(head) and _PAGE not in head.raw[:_BEGINNING]:
        yield from _of_gzip(path, name)
    yield from _of_content(head, name, sound, ours, people)


def _of_content(head: Head, name: str, sound: bool, ours: bool, people: bool) -> Iterator[Finding]:
    """What stands in a file, by what kind of file it is."""
    path = head.path
    if _PAGE in head.raw[:_BEGINNING]:
        yield Finding(name, _OF_RAW_DATA, "", _REMOVE)
    elif is_parquet(head):
        if not sound:
            check_sound(path)
        yield from _of_columns(texts_of_parquet(path), name, list(scan(path).collect_schema()))
    elif is_empty(head):
        # What is hidden keeps its place, such as .gitkeep.
        if not path.name.startswith("."):
            yield Finding(name, EMPTY, "", _KEEPS_EMPTY, WARNING)
    elif head.binary:
        yield from _of_binary(head, name, ours)
    elif path.suffix.lower() in _JSON or head.raw.lstrip()[:1] == b"{":
        yield from _of_json(head, name)
    else:
        yield from _of_remarks(head, name)
        # What eyelid itself notes of a result stands in a column that is called so.
        yield from _of_table(head, name, people, _NOTES if ours and name == RESULTS else ())


def _in_text(where: str, text: str) -> Iterator[Finding]:
    """What a piece of free text gives away."""
    for what, words in leaks_in_text(text):
        yield Finding(where, what, short(words), LEAVES_OUT)


def _user_agent(where: str, text: str) -> Finding:
    return Finding(where, _QUASI, f"a browser's user agent: {text}", _MAY_KEEP, WARNING)


def _of_gzip(path: Path, name: str) -> Iterator[Finding]:
    """A gzip header holds the time of packing and the name of what was packed."""
    with opened(path) as file:
        header = file.read(512)
    where, remedy = f"{name}, its gzip header", "packs files without them"
    if any(header[_GZIP_TIME]):
        yield Finding(where, _TIME, "time of packing", remedy)
    if header[_GZIP_FLAGS] & _GZIP_NAME:
        packed = header[10:].split(b"\0", 1)[0].decode("latin-1")
        yield Finding(where, "a file name", short(packed), remedy)


def _of_binary(head: Head, name: str, ours: bool) -> Iterator[Finding]:
    """What is readable in a file that is no text; a MATLAB file begins with a date."""
    if head.raw.startswith(b"MATLAB"):
        for what, value in leaks_in_text(head.raw[:_MAT_HEADER].decode("latin-1")):
            yield Finding(f"{name}, its header", what, value, LEAVES_OUT)
        content = _beginning(head)[_MAT_HEADER:]
    else:
        content = _beginning(head)
        if not ours:
            yield Finding(name, _BINARY, "", LEAVES_OUT)
    # Without zeros, text of two bytes a letter is readable too.
    for some in (content, content.replace(b"\0", b"")):
        text = b"\n".join(_READABLE.findall(some)).decode("ascii")
        for what, words in leaks_in_text(text):
            if len(words) >= _SHORTEST_WORDS.get(what, 0):
                yield Finding(f"{name}, its bytes", what, short(words), LEAVES_OUT)


def _beginning(head: Head) -> bytes:
    """The first bytes of a binary file, unpacked if it is gzipped."""
    if head.whole:
        return head.raw
    bad = cannot_read(head.path, OSError, EOFError, zlib.error)
    with bad, gzip.open(head.path) if head.gzipped else open(head.path, "rb") as file:
        return file.read(_MOST_BINARY)


def _of_json(head: Head, name: str) -> Iterator[Finding]:
    """What stands in JSON: one value, or one in each line."""
    text = head.text()
    content = _parsed(text)
    if content is None:
        lines = list(filter(str.strip, text.splitlines()))
        content = list(map(_parsed, lines))
        for line, one in zip(lines, content, strict=True):
            if one is None:
                # Not JSON, or nested too deep to read: what is in it is there all the same.
                yield from _in_text(name, line)
    if isinstance(content, dict) and str(content.get("schema")).startswith(_AUDIT):
        yield Finding(name, _OF_RAW_DATA, "", _REMOVE)
        return
    numbers: dict[tuple[str, str], list[float]] = {}
    fields: dict[str, None] = {}
    for place, field, value in _leaves(content):
        where = f"{name}, {place}" if place else name
        if value is None:
            yield from _in_text(where, field)
            if len(fields) < _MOST_KEYS:
                fields[short(field, _LONGEST_NAME)] = None
            continue
        counts = not isinstance(value, str) and abs(value) < _LARGEST_CLOCK
        if counts and (len(numbers) < _MOST_KEYS or (where, field) in numbers):
            under = numbers.setdefault((where, field), [])
            if len(under) < CLOCK_VALUES:
                under.append(float(value))
        yield from _of_field(where, field, str(value))
    for (where, field), values in numbers.items():
        if leak_of_field(field) is None and is_clock_column(field, pl.Series(values)):
            yield Finding(where, _TIME, f"{values[0]:.0f}", _CLOCK)
    yield from _of_browser(fields, name)


def _of_browser(fields: Iterable[str], name: str) -> Iterator[Finding]:
    """Fields that tell of a browser and its screen: together they are a fingerprint."""
    fields_shown = [short(field, _LONGEST_NAME) for field in browser_and_screen(fields)]
    if fields_shown:
        value = short(f"a browser and its screen: {', '.join(fields_shown)}", LONGEST_REASON)
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
        yield Finding(where, what, short(value), LEAVES_OUT)
        return
    if is_ip_address(value):
        yield Finding(where, _IP, value, LEAVES_OUT)
    if is_user_agent(field, value):
        yield _user_agent(where, short(value))
    yield from _in_text(where, value)


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
                yield Finding(where, leaks[0][0], short(leaks[0][1]), LEAVES_OUT)
            elif said[1] and not _OWN_MESSAGES.match(said[1]):
                messages.append(said[1])
            continue
        field = re.match(r"[*#%/\s@]*([A-Za-z][\w \[\]/-]*?)(?::|\t| FROM )\s*(.*)", line)
        plain = re.match(r"\*\* (?:CONVERTED FROM|RECORDED BY)[ :]+(\S.*)", line)
        if plain is not None:
            yield Finding(where, "where a file came from", short(plain[1]), LEAVES_OUT)
        elif field is not None:
            yield from _of_field(where, field[1], field[2], personal=True)
        else:
            yield from _in_text(where, line)
    if messages:
        yield Finding(
            f"{name}, {len(messages)} messages", "free text", short(messages[0]), LEAVES_OUT
        )


def _of_table(
    head: Head, name: str, people: bool, known_columns: Collection[str]
) -> Iterator[Finding]:
    """Columns that hold what they should not, by their names and by their text.

    Args:
        head: of the file.
        name: of it.
        people: as for `leaks_of_file`.
        known_columns: whose names say nothing.
    """
    lines = [line for line in head.lines if not _REMARK.match(line) and line.strip()]
    if not lines:
        return
    text, separator = head.text(), separator_of(lines[:_LINES])
    columns = cells(lines[0], separator)
    if not _is_table(lines[:_LINES], separator):
        yield from _of_words(text, name)
    if len(columns) > MOST_COLUMNS:
        # Too many to look at each: what is in them is looked for where it stands.
        yield from _in_text(name, text)
        return
    header = [] if any(re.fullmatch(r"[-\d.,]+", column) for column in columns) else columns
    for column in header:
        for what, value in leaks_in_text(column):
            yield Finding(f"{name}, the header {short(column, 30)}", what, value, LEAVES_OUT)
    if len(columns) * text.count("\n") > max(_MOST_CELLS, len(text)):
        # Most cells are not there, and would fill the memory: what is there is one text.
        known = {column: leak_of_field(column) for column in header}
        for column, leak in known.items():
            if leak is not None:
                where = f"{name}, column {short(column, _LONGEST_NAME)}"
                yield Finding(where, leak, "", LEAVES_OUT)
        yield from _in_text(name, text)
        return
    table = text_columns(text, separator, lines[0], bool(header))
    if table.width:
        person = person_column(header) if people else None
        yield from _of_columns(table, name, header, person, known_columns)
        # Cells beyond the last column are in no column.
        beyond = (
            rf"(?m)^(?:[^{re.escape(separator)}\n]*+{re.escape(separator)}){{{len(columns)}}}[^\n]+"
        )
        text = "\n".join(found[0] for found in re.finditer(beyond, text))
    yield from _of_words(text, name)


def _is_table(lines: Sequence[str], separator: str) -> bool:
    """Whether most lines have as many cells as the first."""
    counts = [len(cells(line, separator)) for line in lines]
    return counts.count(counts[0]) > _MOST_LINES_ALIKE * len(counts)


def _of_words(text: str, name: str) -> Iterator[Finding]:
    """What text that is no table gives away."""
    words = "\n".join(found[0] for found in _WORDS.finditer(text))
    for finding in _in_text(name, words):
        # Days of licences and versions are nobody's.
        if finding.what not in ("a date", "a time of day") or not _ABOUT_DATA.search(name):
            yield finding
    agent = USER_AGENT.search(text)
    if agent is not None:
        yield _user_agent(name, f"{agent[0]}…")


def _of_columns(
    texts_of: Iterable[pl.Series],
    name: str,
    columns: Sequence[str],
    person: str | None = None,
    known_columns: Collection[str] = (),
) -> Iterator[Finding]:
    """Columns of text, by their names and by what stands in them.

    Args:
        texts_of: the columns.
        name: of the file.
        columns: what all of them are called.
        person: the one whose values are participants, where nobody else looks at them.
        known_columns: whose names say nothing.
    """
    yield from _of_browser(columns, name)
    names = names_in_table(columns)
    for texts in texts_of:
        if texts.null_count() < len(texts):
            values = texts.drop_nulls().unique(maintain_order=True).head(MOST_VALUES)
            clean = values.str.strip_chars().filter(values.str.strip_chars() != "")
            where = f"{name}, column {short(texts.name, _LONGEST_NAME)}"
            known = None if texts.name in known_columns else leak_of_field(texts.name)
            if known is None and texts.name in names and not all(map(is_code, clean.head(_FEW))):
                known = "a name"
            if known is not None and len(clean):
                remedy = _PSEUDONYMS if known == "a name" else LEAVES_OUT
                yield Finding(where, known, short(clean[0]), remedy)
            else:
                yield from _of_values(clean, where, texts.name == person)


def _of_values(values: pl.Series, where: str, people: bool) -> Iterator[Finding]:
    """What stands in a column, each value once."""
    column = values.name.lower()
    seconds = re.search("unix|utc|epoch", column) is not None
    if (seconds or "time" in column) and is_clock(values.head(1), seconds=seconds):
        yield Finding(where, _TIME, short(values[0]), _CLOCK)
        return
    if is_clock_column(values.name, values.head(CLOCK_VALUES)):
        yield Finding(where, _TIME, short(values[0]), _CLOCK)
    if people:
        # Codes of studies have a number in them.
        for value in values.filter(values.str.contains(r"^\D*\p{L}{3}\D*$")).head(_FEW):
            yield Finding(where, "what may be a name", short(value), _PSEUDONYMS)
    named = is_user_agent(values.name, "")
    agents = values if named else values.filter(values.str.contains(USER_AGENT.pattern))
    if len(agents):
        yield _user_agent(where, short(agents[0]))
    for value in values.filter(values.cast(pl.Float64, strict=False).is_null()):
        if is_ip_address(value):
            yield Finding(where, _IP, value, LEAVES_OUT)
        yield from _in_text(where, value)

"""What gives people away besides their gaze: names, dates, serial numbers, paths, ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import polars as pl

_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_MONTHS = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"

# Looked for in lines of any length: no part without a limit may begin at every letter of one.
PATTERNS: dict[str, re.Pattern[str]] = {
    "an e-mail address": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{0,190}[a-zA-Z]"),
    "a path": re.compile(
        r"(?<![\w])[A-Za-z]:[\\/](?![\\/])[^\s\"']+|\\\\[\w.-]+\\[^\s\"']+"
        r"|(?<![\w/.:])/(?:home|Users|mnt|media|data|srv|tmp|var|opt|root|Volumes)/[^\s\"']+"
    ),
    "a date": re.compile(
        rf"(?<!\d)(?:19|20)\d\d([-/._]){_MONTH}\1{_DAY}(?!\d)"
        rf"|(?<!\d)(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?!\d)"
        rf"|(?<![\d.]){_DAY}([./_-]){_MONTH}\2(?:19|20)\d\d(?!\d)"
        rf"|\b{_MONTHS}\.? +{_DAY}\b[^\n]{{0,20}}?\b(?:19|20)\d\d\b"
        rf"|\b{_DAY}\.? +{_MONTHS}\.? +(?:19|20)\d\d\b"
    ),
    "a time of day": re.compile(r"(?<![\d:])(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?![\d:])"),
    "a crowd worker's id": re.compile(
        r"(?<!\w)A(?=[0-9A-Z]*\d)[0-9A-Z]{12,13}(?!\w)|(?<!\w)[0-9a-f]{24}(?!\w)"
    ),
    "a unique id": re.compile(r"(?<!\w)[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?!\w)"),
}

# Without one of these letters a pattern finds nothing, and need not look.
_NEEDED = {
    "an e-mail address": "@",
    "a path": "/\\",
    "a time of day": ":",
    "a unique id": "-",
}

# What the fields of headers, sidecars and tables are called, in lower case letters alone.
_FIELDS: dict[str, tuple[str, ...]] = {
    "a name": (
        "participantname",
        "recordingname",
        "subjectname",
        "firstname",
        "lastname",
        "surname",
        "fullname",
        "initials",
        "operator",
        "experimenter",
    ),
    "a telephone number or address": ("phone", "telephone", "mobile", "address", "postcode", "zip"),
    "free text": ("notes", "note", "comments", "remarks"),
    "an e-mail address": ("email", "mail", "emailaddress"),
    "a date or time of day": (
        "date",
        "recordingdate",
        "recordingdateutc",
        "recordingstarttime",
        "recordingstarttimeutc",
        "exportdate",
        "starttimeutc",
        "acqtime",
        "acquisitiontime",
        "acquisitiondate",
        "acquisitiondatetime",
        "birthdate",
        "birthday",
        "dateofbirth",
        "dob",
    ),
    "a serial number": (
        "serial",
        "serialnumber",
        "deviceserialnumber",
        "cameraconfig",
        "stationname",
        "hardwareserialnumber",
    ),
    "where a file came from": ("convertedfrom", "inputfile", "sourcefile", "recordedby"),
    "a crowd worker's id": ("workerid", "prolificpid", "prolificid", "assignmentid"),
    "a precise recording length": ("recordingduration", "numberofsamples"),
}
_OF_FIELD = {field: what for what, names in _FIELDS.items() for field in names}
# What is called so in a tracker's header or a list of people is about somebody.
_PERSONAL = {
    "name": "a name",
    "subject": "a name",
    "description": "free text",
    "comment": "free text",
}

_CODE = re.compile(
    r"(?:p|pp|s|sub|subj|subject|participant|person|user|anon|id)?[-_ ]?\d{1,5}", re.IGNORECASE
)
_TAKE = re.compile(
    r"(?:r|rec|recording|run|trial|t|s|ses|session|part|block|round|rate)?\d{0,5}", re.IGNORECASE
)
# No field has a longer name, and what brackets hold is looked for from each of them.
_LONGEST_FIELD = 1000
# Milliseconds since 1970, from 2001 to 2033: what clocks show, and hardly a tracker counts up to.
_CLOCK_MS = (1e12, 2e12)


@dataclass(frozen=True)
class Finding:
    """One leak.

    Attributes:
        where: the file, and the line, column or field in it.
        what: what kind of thing it is.
        value: the thing itself, cut short; for the owner's eyes.
        remedy: what ``convert`` does about it.
    """

    where: str
    what: str
    value: str
    remedy: str


def leaks_in_text(text: str) -> Iterator[tuple[str, str]]:
    """What a piece of free text gives away: kinds and the words.

    >>> list(leaks_in_text("converted from C:/IDF/ann.idf on 03.08.2009"))
    [('a path', 'C:/IDF/ann.idf'), ('a date', '03.08.2009')]
    """
    for what, pattern in PATTERNS.items():
        needed = _NEEDED.get(what)
        if needed is not None and not any(letter in text for letter in needed):
            continue
        for found in pattern.finditer(text):
            yield what, found[0]


def leak_of_field(name: str, *, personal: bool = False) -> str | None:
    """What a field of that name gives away, if anything.

    Args:
        name: of the field.
        personal: whether the field is one of a person or a recording, where a mere name is
            somebody's.

    >>> leak_of_field("** SERIAL NUMBER"), leak_of_field("x")
    ('a serial number', None)
    """
    begin = name[:_LONGEST_FIELD].lower()
    plain = re.sub(r"[^a-z]", "", re.sub(r"\(.*?\)|\[.*?\]", "", begin))
    return _OF_FIELD.get(plain) or (_PERSONAL.get(plain) if personal else None)


def is_code(person: str) -> bool:
    """Whether a person's name is a mere number, such as P01 or sub-3, and so nobody's name.

    >>> is_code("P01"), is_code("sub-3"), is_code("17"), is_code("ann")
    (True, True, True, False)
    """
    return _CODE.fullmatch(person) is not None


def is_pseudonym(person: str) -> bool:
    """Whether a name looks like the pseudonyms that eyelid gives.

    >>> is_pseudonym("anon01"), is_pseudonym("ann")
    (True, False)
    """
    return re.fullmatch(r"anon\d+", person) is not None


def is_plain_take(recording: str, known: Iterable[str], *, numbers: bool = True) -> bool:
    """Whether the name of a recording says no more than its number, task or stimulus.

    Args:
        recording: its name.
        known: the names of tasks and stimuli.
        numbers: whether numbers say nothing, because everybody has the same.

    >>> is_plain_take("comic-2", ["comic"]), is_plain_take("ann_smith", ["comic"])
    (True, False)
    """
    return are_plain_takes([recording], known, numbers=numbers)


def are_plain_takes(
    recordings: Iterable[str], known: Iterable[str], *, numbers: bool = True
) -> bool:
    """Whether the names of all recordings say no more than their numbers, tasks or stimuli.

    Args:
        recordings: their names.
        known: as for `is_plain_take`, and read once for all of them.
        numbers: as for `is_plain_take`.
    """
    words = {word.lower() for name in known for word in _words(name)}

    def is_plain(recording: str) -> bool:
        if all(word.lower() in words for word in _words(recording)):
            return True
        if not numbers or any(leaks_in_text(recording)):
            return False
        return is_code(recording) or all(
            _TAKE.fullmatch(word) or word.lower() in words for word in _words(recording)
        )

    return all(map(is_plain, recordings))


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[-_ .]+", name) if word]


def is_clock(values: pl.Series, *, seconds: bool = False) -> bool:
    """Whether times count from 1970, in ms, µs or ns, so that they tell the day and the hour.

    Args:
        values: of which the first is looked at.
        seconds: whether they may be seconds; other clocks run as far.

    >>> is_clock(pl.Series([1.7e12])), is_clock(pl.Series([5000.0]))
    (True, False)
    """
    numbers = values.cast(pl.Float64, strict=False).drop_nulls()
    if numbers.is_empty():
        return bool(len(values)) and any(leaks_in_text(str(values[0])))
    units = [1e-6, 1e-3, 1.0] + [1e3] * seconds
    return any(_CLOCK_MS[0] <= float(numbers[0]) * ms < _CLOCK_MS[1] for ms in units)


def short(value: str, length: int = 60) -> str:
    """A value as it is shown in a finding."""
    one_line = " ".join(value.split())
    return one_line if len(one_line) <= length else one_line[: length - 1] + "…"

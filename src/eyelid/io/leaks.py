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
        # An underline is no part of an id: many stand between others in names of files.
        r"(?<![^\W_])A(?=[0-9A-Z]*\d)[0-9A-Z]{12,13}(?![^\W_])|(?<![^\W_])[0-9a-f]{24}(?![^\W_])"
    ),
    "a unique id": re.compile(
        r"(?<![^\W_])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![^\W_])"
    ),
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
# Columns of times, by their names; those that are surely no counter of a tracker.
_TIME_FIELD = re.compile(r"time|clock|stamp|start|begin|end|onset|offset|^ts?$|_ts?$|^t_")
_DATE_FIELD = re.compile(r"unix|utc|epoch|date|created|submitted|recorded|completed|_at$")
# Trackers that count microseconds do not count in smaller steps than these.
_LONGEST_STEP_S = 100.0
_LOOKED_AT, _FEWEST_DAYS = 1000, 3
_YYYYMMDD = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\.0+)?")

# Parts of the names of files. No name is longer, wherever it comes from.
_LONGEST_FILE_NAME, _SHORTEST_WORD = 1000, 3
# Digits that are a day, with or without a time; or a clock's seconds or milliseconds.
_STAMP = re.compile(
    r"[A-Za-z]{0,20}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
    r"(?:T?(?:[01]\d|2[0-3])(?:[0-5]\d){1,2})?Z?|1\d{9}|1\d{12}"
)
_SHORT_DAY = re.compile(
    r"(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])[0-3]\d|[0-3]\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
)
_LONG_NUMBER = re.compile(r"[A-Za-z]{0,3}[1-9]\d{6,15}|[A-Za-z]{1,3}[1-9]\d{5}")
_HEX = re.compile(r"(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])[0-9a-fA-F]{16,128}")
_MIXED = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[0-9A-Za-z]{10,128}")
# What counts something: P01S02, session1trial12.
_COUNTERS = re.compile(
    r"(?:(?:p{1,2}|s|sub|subj|subject|participant|person|user|vp|ses|sess|session|r|run|rec|"
    r"recording|t|tr|trial|task|b|bl|block|c|cond|condition|v|ver|version|i|img|image|vid|video|q|"
    r"item|part|page|text|day|d|e|exp|n|no|id|g|group|l|level|m|f|k|list|set|w|h|x|y|z|hz|px|ms)"
    r"[0-9]{1,4}){1,12}[a-z]{0,12}",
    re.IGNORECASE,
)
# Names of pictures and films are those of stimuli, which are often long numbers.
_OF_STIMULI = re.compile(
    r"\.(?:png|jpe?g|gif|bmp|tiff?|svg|webp|mp4|avi|mov|mkv|webm|wav|mp3)$", re.I
)


LEAK, WARNING = "leak", "warning"


@dataclass(frozen=True)
class Finding:
    """One leak, or a warning.

    Attributes:
        where: the file, and the line, column or field in it.
        what: what kind of thing it is.
        value: the thing itself, cut short; for the owner's eyes.
        remedy: what ``convert`` does about it.
        severity: `LEAK`, or `WARNING` for what is to be judged: it singles participants out, and
            may be wanted.
    """

    where: str
    what: str
    value: str
    remedy: str
    severity: str = LEAK


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


def leaks_in_name(name: str) -> Iterator[tuple[str, str]]:
    """What the name of a file or folder gives away: kinds and the parts of it.

    Numbers of participants, recordings and tasks are none: see `is_code`.

    >>> list(leaks_in_name("A2MJ8CN0P4XQ1Z_task.json"))
    [("a crowd worker's id", 'A2MJ8CN0P4XQ1Z')]
    >>> list(leaks_in_name("smith_050723.asc")), list(leaks_in_name("s1234567.csv"))
    ([('a date', '050723')], [('what may be a personal number', 's1234567')])
    >>> list(leaks_in_name("sub-03_task-reading_run-1.tsv")), list(leaks_in_name("P1_R2.csv"))
    ([], [])
    """
    name = name[:_LONGEST_FILE_NAME]
    found = list(leaks_in_text(name))
    yield from found
    known = " ".join(value for _, value in found)
    of_stimulus = _OF_STIMULI.search(name) is not None
    words = re.findall(r"[0-9A-Za-z]+", re.sub(r"\.[A-Za-z]\w{0,9}$", "", name))
    # Six digits by themselves are any number; beside a name or another word they are a day.
    beside_word = any(len(word) >= _SHORTEST_WORD and word.isalpha() for word in words)
    for word in words:
        if word in known:
            continue
        what = "a date" if beside_word and _SHORT_DAY.fullmatch(word) else _kind_of_word(word)
        if what is not None and not (of_stimulus and what in (_PERSONAL_NUMBER, _UNIQUE)):
            yield what, word


_PERSONAL_NUMBER, _UNIQUE = "what may be a personal number", "a unique id"


def _kind_of_word(word: str) -> str | None:
    """What a part of a file name is, between whatever is neither a letter nor a digit."""
    if _STAMP.fullmatch(word):
        return "a date or time of day"
    if _LONG_NUMBER.fullmatch(word):
        return _PERSONAL_NUMBER
    if _HEX.fullmatch(word):
        return _UNIQUE
    if _MIXED.fullmatch(word) and not _COUNTERS.fullmatch(word):
        changes = len(re.findall(r"(?<=[A-Za-z])\d|(?<=\d)[A-Za-z]", word))
        # Words with a number have one or two: letters and digits at random change all the time.
        if changes >= 3 and 3 * changes >= len(word):
            return _UNIQUE
    return None


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


def is_clock_column(name: str, values: pl.Series) -> bool:
    """Whether a column of numbers tells days or times of day.

    That is so of milliseconds, microseconds and nanoseconds since 1970 under any name, of seconds
    where the name says so or the steps are those of seconds, and of days like 20230705.

    Args:
        name: of the column.
        values: some of its values, as text or numbers, in their order.

    >>> is_clock_column("t", pl.Series([1689081190.123, 1689081190.14]))
    True
    >>> is_clock_column("Time", pl.Series([1689081190, 1689085357]))  # a tracker's microseconds
    False
    """
    numbers = values.cast(pl.Float64, strict=False).drop_nulls()
    numbers = numbers.filter(numbers.is_finite())
    if numbers.is_empty():
        return False
    plain = name[:_LONGEST_FIELD].lower()
    if is_clock(numbers.head(1)):
        return True
    texts = values.cast(pl.String).drop_nulls()
    if all(_YYYYMMDD.fullmatch(text) for text in texts.head(_LOOKED_AT)):
        return _DATE_FIELD.search(plain) is not None or len(texts.unique()) >= _FEWEST_DAYS
    if not numbers.is_between(_CLOCK_MS[0] / 1e3, _CLOCK_MS[1] / 1e3).all():
        return False
    if _DATE_FIELD.search(plain):
        return True
    if not _TIME_FIELD.search(plain):
        return False
    steps = numbers.unique().sort().diff().drop_nulls()
    return bool((numbers != numbers.floor()).any()) or bool(
        len(steps) and (steps.median() or 0.0) <= _LONGEST_STEP_S  # type: ignore[operator]
    )


def short(value: str, length: int = 60) -> str:
    """A value as it is shown in a finding."""
    one_line = " ".join(value.split())
    return one_line if len(one_line) <= length else one_line[: length - 1] + "…"

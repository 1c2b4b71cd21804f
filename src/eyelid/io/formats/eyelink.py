"""EyeLink recordings as text: what SR Research's EDF2ASC writes, usually named ``.asc``.

Lines that begin with a number are samples; the others say in words what samples are, what the
tracker saw in them, and what the experiment sent. The millions of the first kind are handled as
bytes, the thousands of the second one by one. Every line is known by its place in the file, so that
what a line says can be looked up for everything that comes after it.
"""

from __future__ import annotations

import codecs
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.study import Kind, Screen
from eyelid.io.files import Head, text_table
from eyelid.io.layout import Layout
from eyelid.io.part import NoRows, Part

NAME = "EyeLink"

_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]
"""Mostly where lines begin: the number of bytes before them."""

_CHUNK_BYTES = 1 << 22
_TAB, _NEWLINE = b"\t\n"
_BLANKS_TO_TABS = bytes.maketrans(b" \r", b"\t\t")
_WORDS_BEGIN_WITH = np.frombuffer(b"EMS", np.uint8)
_MEASURES = ("x", "y", "pupil")
_EYES: list[tuple[str, ...]] = [(), ("left",), ("right",), ("left", "right")]
_EVENTS = {"EFIX": "fixation", "ESACC": "saccade", "EBLINK": "blink"}
_FROM_MESSAGES = "msg:"
_KEYS_FROM_MESSAGES = ("recording", "task", "stimulus")

_PREAMBLE = re.compile(r"\*\* .*(EDF_FILE|EYELINK|edfapi)")
_OPENING = re.compile(r"START\s+[\d.]+\s+((LEFT|RIGHT)\s+)+(SAMPLES|EVENTS)|MSG\s+\d[\d.]*\s")
_COORDS = re.compile(r"\b(GAZE|DISPLAY)_COORDS" + r"[\s=:,(]+(-?\d{1,6}(?:\.\d*)?)" * 4)

_CUT = "the last line of a file is cut off and was left out"
_NO_END = "a recording has no END line: its file may be truncated"
_OUTSIDE = "samples outside of START … END were left out"
_SHARED = "samples that share a time stamp were put evenly between stamps, as EyeLink takes them"
_SHIFTED = "the screen's first pixel was not at 0, 0: positions were shifted so that it is"
_UNCLEAR_SCREEN = "messages state several or impossible screens, so none is known"


def recognises(head: Head) -> bool:
    """Whether the file begins as EDF2ASC begins one, or with lines as it writes them.

    >>> recognises(Head(Path("a.txt"), b"** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED", True))
    True
    """
    lines = [line for line in head.lines[:50] if line.strip()] or [""]
    if lines[0].startswith("**"):
        return any(_PREAMBLE.match(line) for line in lines)
    return _OPENING.match(lines[0]) is not None


def read(head: Head, said: Layout) -> Part:
    r"""The samples of the file and the events it lists; without samples, its fixations.

    Args:
        head: of the file.
        said: may take keys and labels from messages: ``stimulus=msg:TRIALID (\S+)`` gives every
            sample the group in the last message before it that fits.
    """
    wide = head.encoding.startswith("utf-16")
    content = head.text().encode() if wide else head.content().removeprefix(codecs.BOM_UTF8)
    script = _Script(head.path, content, _patterns(head.path, said), said.lost)
    pieces = [piece for at, chunk in script.chunks() for piece in _samples(script, at, chunk)]
    script.close()
    if pieces and said.kind != "fixations":
        samples = pl.concat(pieces, how="diagonal")
        begins = _recording_begins(script, samples)
        rows = _by_eye(script, _timed(script, samples, begins))
        return _part(script, said, "samples", rows, begins)
    fixations = _events(script).filter(pl.col("name") == "fixation")
    if len(fixations) and said.kind != "samples":
        begins = _recording_begins(script, fixations)
        return _part(script, said, "fixations", _fixations(script, fixations, begins), begins)
    raise NoRows(
        f"{head.path} is an EyeLink file without {said.kind or 'samples or fixations'}: convert "
        "the EDF file again, with samples or events"
    )


def _patterns(path: Path, said: Layout) -> dict[str, re.Pattern[str]]:
    """What to look for in messages, per role."""
    found = {}
    for role, column in said.columns.items():
        possible = role in _KEYS_FROM_MESSAGES or role.startswith("label_")
        if not possible or not column.startswith(_FROM_MESSAGES):
            raise InputError(
                f"{path} is an EyeLink file, whose columns have no names, so {role}={column} "
                f"cannot be: {', '.join(_KEYS_FROM_MESSAGES)} and label_… can come from messages, "
                r"as in stimulus=msg:TRIALID (\S+)"
            )
        pattern = column.removeprefix(_FROM_MESSAGES)
        try:
            found[role] = re.compile(pattern)
            # Who looks in the messages knows a little less, and cannot be made to look for ever.
            pl.Series([""]).str.contains(pattern)
        except (re.error, OverflowError, RecursionError, pl.exceptions.PolarsError) as error:
            why = str(error).strip().splitlines()[-1]
            raise InputError(
                f"{role}={column}: no regular expression after {_FROM_MESSAGES} ({why})"
            ) from None
    return found


@dataclass(frozen=True)
class _Stretch:
    """What holds from one line on; outside of START … END there are no eyes.

    Attributes:
        at: the place of the line.
        eyes: that are recorded.
        rate_hz: of samples.
        samples: what their positions are: GAZE, HREF or PUPIL; empty where nobody says.
        events: what positions in events are.
    """

    at: int = 0
    eyes: tuple[str, ...] = ()
    rate_hz: float | None = None
    samples: str = ""
    events: str = ""

    def described(self, at: int, words: Sequence[str]) -> _Stretch:
        """What holds after a line SAMPLES or EVENTS."""
        rate = _number(words[words.index("RATE") + 1]) if "RATE" in words[:-1] else None
        kind = next((word for word in words[1:2] if word in ("GAZE", "HREF", "PUPIL")), "")
        now = replace(self, at=at, rate_hz=rate if rate and rate > 0 else self.rate_hz)
        if words[0] == "EVENTS":
            return replace(now, events=kind)
        return replace(now, samples=kind, eyes=_eyes(words) or self.eyes)


@dataclass
class _Script:
    """What the lines in words say, as far as the file has been read.

    Attributes:
        path: of the file.
        content: its bytes.
        patterns: to look for in messages, per role.
        lost: a position that means that the eye was lost, if there is one.
        stretches: in their order.
        events: that the tracker saw, with the place of their lines.
        said: places and texts of messages, where something is looked for in them.
        coords: left, top, right and bottom pixel of the screen, by GAZE and DISPLAY.
        notes: for people.
        open: whether there was a START and no END since.
    """

    path: Path
    content: bytes
    patterns: Mapping[str, re.Pattern[str]]
    lost: tuple[float, ...]
    stretches: list[_Stretch] = field(default_factory=lambda: [_Stretch()])
    events: list[tuple[Any, ...]] = field(default_factory=list)
    said: list[tuple[int, str]] = field(default_factory=list)
    coords: dict[str, set[tuple[float, ...]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    open: bool = False

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines, some megabytes at a time, and their place."""
        at = 0
        while at < len(self.content):
            end = self.content.find(b"\n", at + _CHUNK_BYTES) + 1 or len(self.content)
            chunk = self.content[at:end]
            yield at, chunk if chunk.endswith(b"\n") else chunk + b"\n"
            at = end

    def unended(self, at: int) -> bool:
        """Whether this is the last line and has no end, so that it may be cut."""
        return self.content.find(b"\n", at) < 0

    def wrong(self, at: int, what: str) -> InputError:
        """The error about a line."""
        line = self.content.count(b"\n", 0, at) + 1
        return InputError(f"{self.path}, line {line}: {what}")

    def take(self, at: int, line: bytes) -> None:
        """Read on by one line."""
        words = line.decode("latin-1").split()
        kind = words[0]
        if kind == "MSG":
            self._take_message(at, line)
        elif kind in _EVENTS:
            self._take_event(at, words)
        elif kind == "START":
            self.close()
            self.open = True
            self.stretches.append(_Stretch(at, _eyes(words)))
        elif kind == "END":
            self.open = False
            self.stretches.append(_Stretch(at))
        elif kind in ("SAMPLES", "EVENTS"):
            self.stretches.append(self.stretches[-1].described(at, words))

    def close(self) -> None:
        """Say so if an END is missing here."""
        if self.open:
            self.notes.append(_NO_END)

    def _take_message(self, at: int, line: bytes) -> None:
        try:
            message = line.decode()
        except UnicodeDecodeError:
            message = line.decode("latin-1")
        coords = _COORDS.search(message)
        if coords:
            self.coords.setdefault(coords[1], set()).add(tuple(map(float, coords.groups()[1:])))
        if self.patterns:
            self.said.append((at, " ".join(message.split(maxsplit=2)[2:]).rstrip()))

    @cached_property
    def messages(self) -> dict[str, list[tuple[int, str | None]]]:
        """Places and findings, per role, once the file is read; a pattern may be others'."""
        said = pl.DataFrame(self.said, {"at": pl.Int64, "text": pl.String}, orient="row")
        text = pl.col("text").str
        return {
            role: said.filter(text.contains(pattern.pattern))
            .select("at", text.extract(pattern.pattern, min(pattern.groups, 1)))
            .rows()
            for role, pattern in self.patterns.items()
        }

    def _take_event(self, at: int, words: Sequence[str]) -> None:
        name, eye, onset, offset, _, *means = [*words, *[""] * 8][:8]
        if self.unended(at) and len(words) < (8 if name == "EFIX" else 5):
            self.notes.append(_CUT)
            return
        onset_ms, offset_ms = _number(onset), _number(offset)
        if eye not in ("L", "R") or onset_ms is None or offset_ms is None or offset_ms < onset_ms:
            seen = f"{name} {eye} {onset} {offset}".strip()
            raise self.wrong(at, f"'{seen[:60]}' is no event with an eye, onset and offset")
        side = "left" if eye == "L" else "right"
        self.events.append((at, _EVENTS[name], onset_ms, offset_ms, side, *map(_number, means)))

    def stretch_of(self, at: _Integers) -> _Integers:
        """The number of the stretch in which a line stands."""
        return np.searchsorted([s.at for s in self.stretches], at, side="right") - 1


def _eyes(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in ("LEFT", "RIGHT") if word in words)


def _number(word: str) -> float | None:
    """A finite number, or None."""
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _samples(script: _Script, at: int, chunk: bytes) -> Iterator[pl.DataFrame]:
    """Take the words in some lines, and yield the samples: one table a run of the same eyes."""
    plain = np.frombuffer(chunk.translate(_BLANKS_TO_TABS), np.uint8)
    ends = np.flatnonzero(plain == _NEWLINE) + 1
    starts = np.concatenate(([0], ends[:-1]))
    first = plain[starts]
    for line in np.flatnonzero(np.isin(first, _WORDS_BEGIN_WITH)).tolist():
        script.take(at + int(starts[line]), chunk[starts[line] : ends[line]])
    is_number = ((first >= ord("0")) & (first <= ord("9"))) | (first == ord("-"))
    eyes = np.array([_EYES.index(stretch.eyes) for stretch in script.stretches])
    eyes = np.where(is_number, eyes[script.stretch_of(at + starts)], 0)
    wanted = eyes > 0
    if (is_number & ~wanted).any():
        script.notes.append(_OUTSIDE)
    if not wanted.any():
        return
    places, eyes = at + starts[wanted], eyes[wanted]
    cells = _single_tabs(plain, np.repeat(wanted, ends - starts))
    ends = np.flatnonzero(cells == _NEWLINE) + 1
    starts = np.concatenate(([0], ends[:-1]))
    whole = _whole_lines(script, places, eyes, np.add.reduceat(cells == _TAB, starts, dtype=int))
    changes = (np.flatnonzero(np.diff(eyes[:whole])) + 1).tolist()
    for begin, end in itertools.pairwise((0, *changes, whole)):
        if begin < end:
            lines = cells[starts[begin] : ends[end - 1]]
            yield _table(script, _EYES[eyes[begin]], lines, places[begin:end])


def _single_tabs(plain: NDArray[np.uint8], wanted: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The wanted bytes, with one tab between two cells and none at the end of a line."""
    tab = plain == _TAB
    needless = np.zeros(len(plain), bool)
    needless[:-1] = tab[:-1] & (tab[1:] | (plain[1:] == _NEWLINE))
    return plain[wanted & ~needless]


def _whole_lines(script: _Script, places: _Integers, eyes: _Integers, tabs: _Integers) -> int:
    """How many lines have their cells: all of them, or all but a last one that is cut."""
    needed = np.array([len(_MEASURES) * len(sides) for sides in _EYES])[eyes]
    whole = len(places)
    # Without an end, the last cell may lack digits.
    if script.unended(int(places[-1])) and tabs[-1] <= needed[-1]:
        script.notes.append(_CUT)
        whole -= 1
    short = np.flatnonzero(tabs[:whole] < needed[:whole])
    if len(short):
        at = int(short[0])
        raise script.wrong(
            int(places[at]),
            f"a sample of the {' and '.join(_EYES[eyes[at]])} eye begins with {needed[at] + 1} "
            f"numbers, this line has {tabs[at] + 1} cells",
        )
    return whole


def _table(
    script: _Script, eyes: Sequence[str], lines: NDArray[np.uint8], places: _Integers
) -> pl.DataFrame:
    """Time, then position and pupil of each eye; the columns after them are left alone."""
    names = ["time_ms", *(f"{measure}_{eye}" for eye in eyes for measure in _MEASURES)]
    source = b"".join(("\t".join(names).encode(), b"\n", lines.data))
    options: dict[str, Any] = {"null_values": [".", "NA"], "truncate_ragged_lines": True}
    options |= {"separator": "\t", "quote_char": None}
    try:
        table = text_table(source, schema_overrides=dict.fromkeys(names, pl.Float64), **options)
    except pl.exceptions.PolarsError:
        cells = text_table(source, infer_schema=False, encoding="utf8-lossy", **options)
        raise _no_number(script, cells, places) from None
    measured = [column for eye in eyes for column in _measured(script, f"_{eye}")]
    return table.select(pl.Series("at", places), "time_ms", *measured)


def _measured(script: _Script, suffix: str) -> list[pl.Expr]:
    """Position and pupil of one eye, null where it was lost."""
    x, y, pupil = (pl.col(f"{measure}{suffix}") for measure in _MEASURES)
    seen = x.is_finite() & y.is_finite()
    for value in script.lost:
        seen &= (x != value) & (y != value)
    found = pupil.is_finite() & (pupil != 0)
    return [pl.when(seen).then(x), pl.when(seen).then(y), pl.when(found).then(pupil)]


def _no_number(script: _Script, cells: pl.DataFrame, places: _Integers) -> InputError:
    """The error about the first cell that is no number."""
    wrong = cells.select(pl.all().cast(pl.Float64, strict=False).is_null() & pl.all().is_not_null())
    row = int(wrong.select(pl.any_horizontal(pl.all()).arg_max()).item())
    cell = next((c for c, w in zip(cells.row(row), wrong.row(row), strict=True) if w), cells[0, 0])
    return script.wrong(int(places[row]), f"'{cell[:40]}' is no number")


def _used(script: _Script, rows: pl.DataFrame) -> list[_Stretch]:
    """The stretches that have rows."""
    numbers = np.flatnonzero(np.bincount(script.stretch_of(rows["at"].to_numpy())))
    return [script.stretches[number] for number in numbers]


def _recording_begins(script: _Script, rows: pl.DataFrame) -> _Integers:
    """Where a recording begins after another one, since the rate changes."""
    pairs = itertools.pairwise(_used(script, rows))
    return np.array([now.at for then, now in pairs if now.rate_hz != then.rate_hz], dtype=int)


def _timed(script: _Script, samples: pl.DataFrame, begins: _Integers) -> pl.DataFrame:
    """Samples of which each has its own time."""
    at, time_ms = samples["at"].to_numpy(), samples["time_ms"].to_numpy().copy()
    recording = np.searchsorted(begins, at, side="right")
    rates = np.array([stretch.rate_hz or 0.0 for stretch in script.stretches])
    rate_hz = rates[script.stretch_of(at[1:])]
    # EDF2ASC writes whole milliseconds unless told otherwise, so each of them twice at 2000 Hz.
    shared = (np.diff(time_ms) == 0) & (np.diff(recording) == 0) & (rate_hz > 1000)
    if shared.any():
        script.notes.append(_SHARED)
        time_ms[1:][shared] += 1000 / rate_hz[shared]
    _check_time(script, time_ms, at, recording)
    return samples.with_columns(pl.Series("time_ms", time_ms))


def _check_time(script: _Script, time_ms: _Floats, at: _Integers, track: _Integers) -> None:
    """Fail where time does not go on in a run of rows of one track."""
    stuck = ~np.isfinite(time_ms)
    stuck[1:] |= (np.diff(time_ms) <= 0) & (np.diff(track) == 0)
    if stuck.any():
        row = int(stuck.argmax())
        before = f" after {time_ms[row - 1]:.12g}" if row else ""
        raise script.wrong(
            int(at[row]),
            f"time must increase, but here is {time_ms[row]:.12g} ms{before}: if several "
            "recordings were put into one file, part them",
        )


def _by_eye(script: _Script, samples: pl.DataFrame) -> pl.DataFrame:
    """One row a sample and eye, the rows of an eye together."""
    number = script.stretch_of(samples["at"].to_numpy())
    found = []
    for eye in ("left", "right"):
        seen = np.array([eye in stretch.eyes for stretch in script.stretches])[number]
        if seen.any():
            measured = [pl.col(f"{measure}_{eye}").alias(measure) for measure in _MEASURES]
            rows = samples if seen.all() else samples.filter(seen)
            found.append(rows.select("at", "time_ms", pl.lit(eye).alias("eye"), *measured))
    return pl.concat(found)


def _fixations(script: _Script, fixations: pl.DataFrame, begins: _Integers) -> pl.DataFrame:
    """Fixations as rows, those of an eye together."""
    rows = fixations.sort("eye", maintain_order=True)
    at = rows["at"].to_numpy()
    track = 2 * np.searchsorted(begins, at, side="right") + (rows["eye"] == "right").to_numpy()
    _check_time(script, rows["onset_ms"].to_numpy(), at, track)
    time_ms = pl.col("onset_ms").alias("time_ms")
    return rows.select("at", time_ms, "duration_ms", "eye", *_measured(script, ""))


def _events(script: _Script) -> pl.DataFrame:
    """Everything that the tracker saw."""
    schema = {"at": pl.Int64, "name": pl.String, "onset_ms": pl.Float64, "offset_ms": pl.Float64}
    schema |= {"eye": pl.String} | dict.fromkeys(_MEASURES, pl.Float64)
    events = pl.DataFrame(script.events, schema, orient="row")
    return events.with_columns(duration_ms=pl.col("offset_ms") - pl.col("onset_ms"))


def _part(script: _Script, said: Layout, kind: Kind, rows: pl.DataFrame, begins: _Integers) -> Part:
    """The rows, with all that is known about them."""
    used = _used(script, rows)
    screen, first_pixel = _screen(script)
    rate_hz = None if len(begins) else used[0].rate_hz
    own = Layout(pupil_unit="arbitrary", rate_hz=rate_hz, screen=screen)
    positions = {each.samples if kind == "samples" else each.events for each in used}
    if positions != {"GAZE"}:
        stated = " and ".join(sorted(positions - {""})) or "of no stated kind"
        script.notes.append(f"positions are {stated}, not GAZE on the screen: give their units")
    else:
        own = replace(own, units="px", xy_origin="top-left" if first_pixel else None)
        if first_pixel and any(first_pixel) and said.xy_origin is None:
            script.notes.append(_SHIFTED)
            rows = rows.with_columns(pl.col("x") - first_pixel[0], pl.col("y") - first_pixel[1])
    unmatched = [role for role, messages in script.messages.items() if not messages]
    script.notes.extend(f"no message fits {role}={said.columns[role]}" for role in unmatched)
    layout = own.under(said)
    events = _events(script).drop(_MEASURES)
    keys = [role for role in _KEYS_FROM_MESSAGES if role in script.patterns]
    return Part(
        format=NAME,
        data=_keyed(script, rows, begins, list(script.patterns)),
        kind=kind,
        units=layout.units,
        xy_origin=layout.xy_origin,
        pupil_unit=layout.pupil_unit,
        rate_hz=layout.rate_hz,
        screen=layout.screen,
        events=_keyed(script, events, begins, keys) if len(events) else None,
        notes=tuple(dict.fromkeys(script.notes)),
    )


def _screen(script: _Script) -> tuple[Screen | None, tuple[float, float] | None]:
    """The screen and its first pixel, as far as messages agree; coordinates are of the last one."""
    stated = script.coords.get("GAZE") or script.coords.get("DISPLAY") or set()
    if not stated:
        return None, (0.0, 0.0)
    first_pixels = {(left, top) for left, top, _, _ in stated}
    possible = all(left < right and top < bottom for left, top, right, bottom in stated)
    first_pixel = first_pixels.pop() if possible and len(first_pixels) == 1 else None
    if first_pixel is None or len(stated) > 1:
        script.notes.append(_UNCLEAR_SCREEN)
        return None, first_pixel
    left, top, right, bottom = next(iter(stated))
    return Screen(width_px=round(right - left) + 1, height_px=round(bottom - top) + 1), first_pixel


def _keyed(
    script: _Script, rows: pl.DataFrame, begins: _Integers, roles: Sequence[str]
) -> pl.DataFrame:
    """The rows with the names of their recordings and what messages say, by their places."""
    at = rows["at"].to_numpy()
    columns = []
    if len(begins) and "recording" not in roles:
        stem = script.path.name.partition(".")[0]
        names = pl.Series("recording", [f"{stem}-{n}" for n in range(1, len(begins) + 2)])
        columns.append(names.gather(np.searchsorted(begins, at)))
    for role in roles:
        messages = script.messages[role]
        before = None if role.startswith("label_") else ""
        texts = pl.Series(role, [before, *(text or before for _, text in messages)], pl.String)
        columns.append(texts.gather(np.searchsorted([place for place, _ in messages], at)))
    return rows.drop("at").with_columns(columns)

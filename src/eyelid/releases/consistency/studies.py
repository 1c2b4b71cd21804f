"""Small simulated studies, and what a participant's data may be replaced by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature, Screen, Study
from eyelid.mechanisms.mechanism import Form

Floats = NDArray[np.float64]

RARE = "hand"
"""An attribute whose second value one participant alone has."""
GROUPED = "gender"
"""An attribute whose values several participants share."""
_FREE = "age"
_FEATURES = (
    Feature("fixation_rate", "1/s", "fixations per second", 0.0, 10.0),
    Feature("blink_rate", "1/s", "blinks per second", 0.0, 2.0),
    Feature("pupil_mean", "mm", "mean pupil diameter", 1.5, 9.0),
)
_LABEL = "label_tired"
_WIDTH_PX, _HEIGHT_PX = 64, 48
_STEP_MS, _RATE_HZ = 500.0, 60.0
_FIXATION_MS = (60.0, 600.0)
# The one whose data are replaced: neither the first nor the last, and no piece begins with them.
_REPLACED = 4


@dataclass(frozen=True, eq=False)
class Track:
    """One recording.

    Attributes:
        recording: its name.
        task: what the participant did.
        stimulus: what was shown.
        time_ms: of each row.
        columns: what was measured, by name; NaN where it was lost.
    """

    recording: str
    task: str
    stimulus: str
    time_ms: NDArray[np.floating[Any]]
    columns: Mapping[str, Floats]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.time_ms)


@dataclass(frozen=True, eq=False)
class Participant:
    """One participant.

    Attributes:
        name: in the study.
        attributes: by name.
        tracks: their recordings, in order.
    """

    name: str
    attributes: Mapping[str, str]
    tracks: tuple[Track, ...]


@dataclass(frozen=True, eq=False)
class SmallStudy:
    """A study that is quickly released.

    Attributes:
        head: everything about it but rows and people.
        participants: in order.
        pieces: how many values a piece has, such that there are several.
    """

    head: Study
    participants: tuple[Participant, ...]
    pieces: int

    @property
    def replaced(self) -> Participant:
        """The participant whose data differ in a neighbour."""
        return self.participants[_REPLACED]

    def with_other(self, other: Participant) -> SmallStudy:
        """A neighbour: the same study with other data of one participant."""
        return replace(
            self,
            participants=tuple(
                other if each.name == other.name else each for each in self.participants
            ),
        )

    def varied(self) -> SmallStudy:
        """A copy in which some participants have other recordings, lengths and losses."""
        form, found = Form("any", recordings=True, lengths=True), self
        ways = (LESS, MORE, OTHER)
        last = len(self.participants) - 1
        for place, way in zip((1, 5, min(8, last)), ways, strict=True):
            found = found.with_other(way.of(self.participants[place], form, self))
        return found

    def exchanged(self, one: int, other: int) -> SmallStudy:
        """A neighbour in which two participants have each other's recordings.

        Args:
            one: place of one of them.
            other: place of the other.
        """
        first, second = self.participants[one], self.participants[other]
        swapped = self.with_other(replace(first, tracks=second.tracks))
        return swapped.with_other(replace(second, tracks=first.tracks))

    def study(self) -> Study:
        """The study itself, to be written."""
        rows = [_rows(each, track) for each in self.participants for track in each.tracks]
        people = [{"person": each.name, **each.attributes} for each in self.participants]
        return replace(self.head, data=pl.concat(rows), people=pl.DataFrame(people))


def _rows(participant: Participant, track: Track) -> pl.DataFrame:
    keys = {
        "person": participant.name,
        "recording": track.recording,
        "task": track.task,
        "stimulus": track.stimulus,
    }
    row = np.arange(track.rows)
    # Trackers write both: nothing, and a number that is none.
    columns = [
        pl.Series(name, values).set(pl.Series(np.isnan(values) & (row % 2 == 0)), None)
        for name, values in track.columns.items()
    ]
    return pl.DataFrame({"time_ms": track.time_ms}).select(
        *[pl.lit(text).alias(name) for name, text in keys.items()], "time_ms", *columns
    )


@cache
def feature_study() -> SmallStudy:
    """Eleven participants, two tasks, recordings of unequal length, three features and a label."""
    rng = np.random.default_rng(3)
    lower, upper = (np.array([getattr(f, end) for f in _FEATURES]) for end in ("lower", "upper"))

    def track(number: int) -> Track:
        rows = int(rng.integers(9, 15))
        values = rng.uniform(lower, upper, size=(rows, len(_FEATURES)))
        values[rng.uniform(size=values.shape) < 0.05] = np.nan
        columns = {f.name: values[:, j] for j, f in enumerate(_FEATURES)}
        columns[_LABEL] = rng.integers(0, 2, size=rows).astype(np.float64)
        task = ("look", "read")[number - 1]
        return Track(str(number), task, "", np.arange(rows) * _STEP_MS, columns)

    head = Study(
        "features",
        pl.DataFrame(),
        pl.DataFrame(),
        features=_FEATURES,
        step_ms=_STEP_MS,
        window_ms=3 * _STEP_MS,
    )
    return SmallStudy(head, _participants("P{:02d}", 11, track), pieces=700)


@cache
def gaze_study() -> SmallStudy:
    """Seven participants who looked at two pictures on a screen of a few px."""
    rng = np.random.default_rng(4)

    def track(number: int) -> Track:
        rows = int(rng.integers(30, 50))
        x, y = rng.uniform(0, [_WIDTH_PX, _HEIGHT_PX], size=(rows, 2)).T
        lost = rng.uniform(size=rows) < 0.1
        x[lost], y[lost] = np.nan, np.nan
        columns = {"x": x, "y": y, "pupil": rng.uniform(2, 6, size=rows)}
        times = np.arange(rows) * (1000.0 / _RATE_HZ)
        return Track(str(number), "look", f"picture{number}", times, columns)

    head = Study(
        "samples",
        pl.DataFrame(),
        pl.DataFrame(),
        units="px",
        rate_hz=_RATE_HZ,
        screen=Screen(_WIDTH_PX, _HEIGHT_PX),
        xy_origin="top-left",
        pupil_unit="mm",
    )
    return SmallStudy(head, _participants("P{}", 7, track), pieces=2000)


@cache
def fixation_study() -> SmallStudy:
    """Seven participants whose fixations on two pictures are reported, and no samples."""
    rng = np.random.default_rng(6)

    def track(number: int) -> Track:
        rows = int(rng.integers(6, 12))
        x, y = rng.uniform(0, [_WIDTH_PX, _HEIGHT_PX], size=(rows, 2)).T
        lasting = rng.uniform(*_FIXATION_MS, size=rows)
        times = np.cumsum(lasting + 30.0) - lasting
        columns = {"x": x, "y": y, "duration_ms": lasting}
        return Track(str(number), "look", f"picture{number}", times, columns)

    head = replace(gaze_study().head, kind="fixations", rate_hz=None)
    return SmallStudy(head, _participants("P{}", 7, track), pieces=100)


@cache
def reading_study() -> SmallStudy:
    """Six simulated participants, long enough for a few windows of half a minute."""
    made = simulate(people=6, tasks=("comic", "textbook"), rate_hz=30.0, minutes=0.65, seed=5)
    measured = ("x", "y", "pupil")
    everybody = []
    for number, name in enumerate(made.people["person"], start=1):
        parts = made.data.filter(pl.col("person") == name).partition_by(
            "recording", maintain_order=True
        )
        tracks = [
            Track(
                recording=part["recording"][0],
                task=part["task"][0],
                stimulus=part["stimulus"][0],
                time_ms=part["time_ms"].to_numpy(),
                columns={each: part[each].fill_null(np.nan).to_numpy() for each in measured},
            )
            for part in parts
        ]
        everybody.append(Participant(name, _attributes(number), tuple(tracks)))
    head = replace(made, data=pl.DataFrame(), people=pl.DataFrame(), events=None, simulated=False)
    return SmallStudy(head, tuple(everybody), pieces=64_000)


@cache
def clocked_study() -> SmallStudy:
    """Participants who read one text after the other by one clock, which others start anew."""
    made = reading_study()

    def clocked(each: Participant) -> Participant:
        first, *rest = each.tracks
        step = first.time_ms[-1] + 40.0
        later = [
            replace(track, time_ms=track.time_ms + number * step)
            for number, track in enumerate(rest, start=1)
        ]
        return replace(each, tracks=(first, *later))

    return replace(made, participants=tuple(map(clocked, made.participants)))


def _participants(name: str, people: int, track: Callable[[int], Track]) -> tuple[Participant, ...]:
    """So many of them, of two recordings each."""
    return tuple(
        Participant(name.format(number), _attributes(number), (track(1), track(2)))
        for number in range(1, people + 1)
    )


def _attributes(number: int) -> dict[str, str]:
    return {
        GROUPED: "fm"[number % 2],
        RARE: "left" if number == 2 else "right",
        _FREE: str(20 + number),
    }


@dataclass(frozen=True)
class Replacement:
    """How a participant's data are replaced; what may not change stays.

    Attributes:
        name: in a few words.
        rows: how many a recording has, from how many it had.
        recordings: how many there are of each task; 0 for one recording in all.
        low: the least value, in ranges above the lower end.
        high: the most.
        lost: the share of values that are missing.
        gaps: the share of rows after which time stamps jump.
        aside: whether only attributes, labels and columns that are never released differ.
        seed: of all that is drawn.
    """

    name: str
    rows: Callable[[int], int] = field(default=lambda rows: rows)
    recordings: int = 1
    low: float = 0.0
    high: float = 1.0
    lost: float = 0.0
    gaps: float = 0.0
    aside: bool = False
    seed: int = 1

    def of(self, participant: Participant, form: Form, study: SmallStudy) -> Participant:
        """Other data of a participant, of the form that is allowed.

        Args:
            participant: of the study.
            form: what may differ, besides values.
            study: whose ranges values are in.
        """
        rng = np.random.default_rng(self.seed)
        tracks = list(participant.tracks)
        attributes = {**participant.attributes, _FREE: str(60 + self.seed)}
        if self.aside:
            made = tuple(self._aside(each, study, rng) for each in tracks)
            return Participant(participant.name, attributes, made)
        if form.recordings:
            tracks = self._recordings(tracks)
        made = tuple(self._track(each, form, study, rng) for each in tracks)
        return Participant(participant.name, attributes, made)

    def _recordings(self, tracks: Sequence[Track]) -> list[Track]:
        if not self.recordings:
            return [replace(tracks[-1], recording="1")]
        again = [each for each in tracks for _ in range(self.recordings)]
        return [replace(each, recording=str(n)) for n, each in enumerate(again, start=1)]

    def _aside(self, track: Track, study: SmallStudy, rng: np.random.Generator) -> Track:
        released = {"x", "y", "duration_ms", *(feature.name for feature in study.head.features)}
        columns = {
            name: values if name in released else rng.uniform(size=track.rows)
            for name, values in track.columns.items()
        }
        return replace(track, columns=columns)

    def _track(
        self, track: Track, form: Form, study: SmallStudy, rng: np.random.Generator
    ) -> Track:
        rows = max(1, self.rows(track.rows)) if form.lengths else track.rows
        columns = {}
        for name, before in track.columns.items():
            lower, upper = _range_of(name, study)
            share = rng.uniform(self.low, self.high, size=rows)
            values = lower + share * (upper - lower)
            columns[name] = values if form.times else np.where(np.isnan(before), np.nan, values)
        times = track.time_ms
        if form.times:
            for values in columns.values():
                values[rng.uniform(size=rows) < self.lost] = np.nan
            step = float(np.median(np.diff(track.time_ms))) if track.rows > 1 else _STEP_MS
            jumps = rng.uniform(size=rows) < self.gaps
            times = np.cumsum(np.where(jumps, 7.0, 1.0)) * step - step
        elif rows != track.rows:
            times = np.arange(rows) * float(track.time_ms[1] - track.time_ms[0])
        return replace(track, time_ms=times, columns=columns)


def _range_of(name: str, study: SmallStudy) -> tuple[float, float]:
    """What a column can be at all."""
    public = {feature.name: (feature.lower, feature.upper) for feature in study.head.features}
    deg = study.head.units == "deg"
    places = {"x": (0.0, 40.0 if deg else _WIDTH_PX), "y": (0.0, 25.0 if deg else _HEIGHT_PX)}
    places["duration_ms"] = _FIXATION_MS
    return (public | places).get(name, (2.0, 6.0) if name == "pupil" else (0.0, 1.0))


LESS = Replacement("broke off", rows=lambda rows: 1, recordings=0, low=0.0, high=0.0, lost=1.0)
MORE = Replacement(
    "far more of everything", rows=lambda rows: 5 * rows + 2, recordings=3, low=-1e3, high=1e3
)
OTHER = Replacement("other values, gaps and losses", lost=0.3, gaps=0.2, seed=2)
ASIDE = Replacement("attributes, labels and columns that are left out", aside=True)
REPLACEMENTS = (LESS, MORE, OTHER)

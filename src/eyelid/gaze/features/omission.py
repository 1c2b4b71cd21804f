"""From recordings to rows, and what stands in the place of those that cannot be summarised.

A recording that is too short or too slow keeps one row without any value. So its person, and the
recording, count as all others do: what a release shows does not depend on how long a person
was recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.events import recordings_of_gaze
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.sampling import LEAST_USEFUL_HZ
from eyelid.gaze.study import INDEX_COLUMNS, RECORDING_KEY, Feature, Recording, Study
from eyelid.gaze.table import FeatureTable
from eyelid.spelling import plural

LEAST_EVENTS_S = 1.0
"""Seconds that a recording has at least whose events are described: about three fixations."""
# Lengths and rates are computed from time stamps, which are rounded.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Omissions:
    """How many recordings of a study are left out, and why. For the owner's eyes: it is private.

    Attributes:
        recordings: how many there are.
        short: left out because they are too short.
        slow: left out because there are too few samples a second.
        empty: left out because there is no event of the kind in them.
        people: how many people have no other recording.
        longest_s: length of the longest recording, in seconds.
    """

    recordings: int = 0
    short: int = 0
    slow: int = 0
    empty: int = 0
    people: int = 0
    longest_s: float = 0.0

    @classmethod
    def of(cls, verdicts: Iterable[tuple[str, str, float]]) -> Omissions:
        """The omissions among the recordings of some whole people.

        Args:
            verdicts: of each recording: its person, ``short``, ``slow``, ``empty`` or nothing, and
                its length in seconds.
        """
        recordings = list(verdicts)
        left = [why for _, why, _ in recordings]
        everybody = {person for person, _, _ in recordings}
        return cls(
            recordings=len(recordings),
            short=left.count("short"),
            slow=left.count("slow"),
            empty=left.count("empty"),
            people=len(everybody - {person for person, why, _ in recordings if not why}),
            longest_s=max((length for _, _, length in recordings), default=0.0),
        )

    def __add__(self, other: Omissions) -> Omissions:
        """The omissions of these and of other people together."""
        counts = {
            item.name: getattr(self, item.name) + getattr(other, item.name)
            for item in fields(Omissions)
            if item.name != "longest_s"
        }
        return Omissions(**counts, longest_s=max(self.longest_s, other.longest_s))

    @property
    def count(self) -> int:
        """How many recordings are left out."""
        return self.short + self.slow + self.empty

    def to_dict(self) -> dict[str, int]:
        """Counts by reason, for JSON."""
        return {
            "recordings": self.count,
            "short": self.short,
            "slow": self.slow,
            "empty": self.empty,
            "people": self.people,
        }

    def in_words(self, least_s: float) -> str:
        """How many and why, in a sentence; empty where none is left out.

        Args:
            least_s: what a recording had to last.

        >>> print(Omissions(recordings=12, short=2, people=1).in_words(30.0))
        from the raw data, never in a release: 2 of 12 recordings are left out (2 shorter than \
30 s); 1 person has no other, and counts all the same
        """
        if not self.count:
            return ""
        are = "is" if self.count == 1 else "are"
        text = (
            f"from the raw data, never in a release: {self.count:,} of "
            f"{plural(self.recordings, 'recording')} {are} left out ({self._why(least_s)})"
        )
        return text + _without_others(self.people)

    def check_some(self, least_s: float, how: str) -> None:
        """Fail where every recording is left out.

        Args:
            least_s: what a recording had to last.
            how: to make more of them fit, in words.
        """
        if not self.count or self.count < self.recordings:
            return
        lasts = f"{self.longest_s:.1f}" if self.longest_s >= 1 else f"{self.longest_s:.2g}"
        longest = f"; the longest lasts {lasts} s" if self.short else ""
        if self.slow == self.count:
            how = "no fixation can be told at such a rate; a heatmap needs none"
        raise InputError(
            f"no recording can be summarised, of {self.recordings:,} ({self._why(least_s)}"
            f"{longest}): {how}"
        )

    def _why(self, least_s: float) -> str:
        """The counts of each reason that there is, in words."""
        reasons = {
            f"{self.short:,} shorter than {least_s:g} s": self.short,
            f"{self.slow:,} below {LEAST_USEFUL_HZ:g} samples a second": self.slow,
            f"{self.empty:,} without such an event": self.empty,
        }
        return ", ".join(text for text, many in reasons.items() if many)


def _without_others(people: int) -> str:
    if not people:
        return ""
    who = "1 person has" if people == 1 else f"{people:,} people have"
    return f"; {who} no other, and {'counts' if people == 1 else 'count'} all the same"


def length_s(recording: Recording) -> float:
    """How long a recording lasts.

    Its last sample stands for one more sampling interval, its last fixation lasts as long as it
    does.
    """
    last_ms = (
        float(np.nan_to_num(recording["duration_ms"][-1]))
        if "duration_ms" in recording.columns
        else _interval_ms(recording)
    )
    return float(recording.time_ms[-1] - recording.time_ms[0] + last_ms) / 1000.0


def _interval_ms(recording: Recording) -> float:
    """The usual time from one row to the next, 0 where there is one row only."""
    return float(np.median(np.diff(recording.time_ms))) if len(recording.time_ms) > 1 else 0.0


def _why_omitted(recording: Recording, least_s: float) -> str:
    """``short`` or ``slow`` for a recording that cannot be summarised; empty for others."""
    if length_s(recording) < least_s * (1 - _ROUNDING):
        return "short"
    # Fixations are as far apart as they are long.
    sampled = "duration_ms" not in recording.columns
    longest_ms = 1000.0 / LEAST_USEFUL_HZ * (1 + _ROUNDING)
    return "slow" if sampled and _interval_ms(recording) > longest_ms else ""


def outline_of(
    study: Study,
    features: Sequence[Feature],
    step_ms: float | None = None,
    window_ms: float | None = None,
    planned_rows: int | None = None,
) -> FeatureTable:
    """The table of the same people, before there are rows in it."""
    keys = [name for name in INDEX_COLUMNS[:-1] if name in study.data.columns]
    numbers = ["time_ms", *[feature.name for feature in features]]
    schema = dict.fromkeys(keys, pl.String) | dict.fromkeys(numbers, pl.Float64)
    about = study.derive(
        data=pl.DataFrame(schema=schema),
        features=tuple(features),
        step_ms=step_ms,
        window_ms=window_ms,
        planned_rows=planned_rows,
    )
    return FeatureTable.outline(about)


Rows = tuple[Floats, Mapping[str, Floats]]
"""The times of the rows of one recording, and the values of each feature, NaN where unknown."""


def summarised(
    study: Study,
    outline: FeatureTable,
    least_s: float,
    describe: Callable[[Recording, str], Rows | None],
    without_rows: str = "short",
) -> tuple[FeatureTable, Omissions]:
    """The table with the rows of every recording, a blank one for each that is left out.

    Args:
        study: whole people.
        outline: of the table.
        least_s: what a recording has to last.
        describe: the rows of a recording whose x and y are in some units; None if it has none.
        without_rows: why it has none, see `Omissions.of`.
    """
    nothing = np.zeros(1), {feature.name: np.full(1, np.nan) for feature in outline.features}
    frames, verdicts = [], []
    for recording, units in recordings_of_gaze(study):
        why = _why_omitted(recording, least_s)
        rows = None if why else describe(recording, units)
        reason = "" if rows else why or without_rows
        verdicts.append((recording.person, reason, length_s(recording)))
        frames.append(_rows_of(study, recording, outline.features, *(rows or nothing)))
    return replace(outline, data=pl.concat(frames)), Omissions.of(verdicts)


def _rows_of(
    study: Study,
    recording: Recording,
    features: Sequence[Feature],
    time_ms: Floats,
    values: Mapping[str, Floats],
) -> pl.DataFrame:
    """The rows of one recording, cut off at the public bounds."""
    # Of many short recordings, a query for every key would take longest.
    keys = {
        name: pl.Series([getattr(recording, name)], dtype=pl.String).new_from_index(0, len(time_ms))
        for name in INDEX_COLUMNS[:-1]
        if name in study.data.columns
    }
    columns = {f.name: np.clip(values[f.name], f.lower, f.upper) for f in features}
    return pl.DataFrame(keys | {"time_ms": time_ms} | columns, nan_to_null=True)


def blank_recordings(table: FeatureTable) -> pl.DataFrame:
    """Person and recording of each recording of which no feature has a value.

    Args:
        table: with its rows, or its outline.
    """
    return table.recordings.filter(pl.Series(table.blank)).select(RECORDING_KEY)


@dataclass(frozen=True)
class Blanks:
    """How many recordings of a table have no value. For the owner's eyes: it is private.

    Attributes:
        recordings: how many there are.
        blank: how many of them have no value.
        people: how many people have no other recording.
    """

    recordings: int = 0
    blank: int = 0
    people: int = 0

    @classmethod
    def of(cls, table: FeatureTable) -> Blanks:
        """The blank recordings of a table of whole people, or of its outline."""
        person = table.recordings["person"]
        lost = person.n_unique() - person.filter(pl.Series(~table.blank)).n_unique()
        return cls(len(person), int(table.blank.sum()), lost)

    def in_words(self) -> str:
        """How many, in a sentence; empty where there is none."""
        if not self.blank:
            return ""
        have, counts = ("has", "counts") if self.blank == 1 else ("have", "count")
        return (
            f"from the raw data, never in a release: {self.blank:,} of "
            f"{plural(self.recordings, 'recording')} {have} no value (too short, below "
            f"{LEAST_USEFUL_HZ:g} samples a second, or nothing was seen), and {counts} as missing"
            f"{_without_others(self.people)}"
        )


def without_blanks(table: FeatureTable) -> FeatureTable:
    """The table without recordings of which no feature has a value, and their people with them.

    What is released is never made of this: who is missing would show. Attacks and comparisons on
    the owner's side are, which learn nothing from such a row.
    """
    return without(table, blank_recordings(table))


def without(table: FeatureTable, recordings: pl.DataFrame) -> FeatureTable:
    """The table without some recordings.

    Args:
        table: any.
        recordings: person and recording of each that goes.
    """
    if recordings.is_empty():
        return table
    rest = table.data.join(recordings, on=RECORDING_KEY, how="anti", maintain_order="left")
    return replace(table, data=rest)

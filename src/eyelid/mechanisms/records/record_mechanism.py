"""Mechanisms that measure feature signals with noise: public coordinates, a public grid, and back.

A person's values, in spans above their lower bounds, are turned into coordinates, these into whole
grid steps, and integer noise of one distribution is added to each: that is the measurement, and all
that is ever seen of the person. Released values are rebuilt from it and from public facts alone.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.differential import Integers, NoisyMechanism, noise_of
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import (
    SAME_FORM,
    Form,
    NeighbourPair,
    PublicFacts,
    Values,
    parameter,
)
from eyelid.mechanisms.release_kind import Execution, Gaps, ReleaseKind
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, RECORDING, Unit

_BLOCK_VALUES = 1 << 18
# Standard deviations that differ by less are the same but for floating point.
_SAME = 1e-9


@dataclass(frozen=True)
class RecordMechanism(NoisyMechanism, FeatureMechanism):
    """Integer noise on public coordinates of each person's feature signals.

    Arrays of values have the axes (…, recordings, rows, features), those of coordinates
    (…, recordings, coordinates, features).
    """

    family: ClassVar[str] = "records"
    takes: ClassVar[str] = "features"
    release: ClassVar[ReleaseKind] = ReleaseKind.RECORDS
    execution: ClassVar[Execution] = Execution.PER_PERSON
    predictable: ClassVar[bool] = True
    gaps: ClassVar[Gaps] = Gaps.MIDPOINT
    measures: ClassVar[bool] = True
    shows_measured: ClassVar[bool] = True
    """Whether what is shown is what was rebuilt from the measurement, and nothing made of it."""
    times: ClassVar[int] = 1
    """The scale of the noise over that which ε needs."""

    length: int | str = parameter(
        "rows kept of every recording: a number chosen beforehand, public (as planned, else "
        "five minutes, or 20 rows without a step), shortest or longest",
        default="public",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.length, int):
            if self.length < 1:
                raise InputError(f"length must be at least 1, got {self.length}")
        elif self.length not in ("public", "shortest", "longest"):
            raise InputError(
                f"length must be a number, public, shortest or longest, got '{self.length}'"
            )

    @property
    def length_is_public(self) -> bool:
        """Whether the released length is known without a look at the recordings."""
        return isinstance(self.length, int) or self.length == "public"

    @property
    def may_differ(self) -> Form:
        """The lengths of people and recordings are hidden too, where the released one is public.

        A smaller unit is some rows: with one row more, others move.
        """
        if not self.length_is_public or self.unit not in (PERSON, RECORDING):
            return SAME_FORM
        return Form("with the same recordings (task, stimulus), of any length,", lengths=True)

    @abstractmethod
    def blocks(self, facts: PublicFacts, unit: Unit) -> int:
        """How many separately protected pieces one unit covers; losses add over these."""

    @abstractmethod
    def step(self, facts: PublicFacts) -> Any:
        """The grid step of each coordinate, in its own unit; broadcasts over the last two axes."""

    @abstractmethod
    def analyse(self, values: Values, facts: PublicFacts) -> Values:
        """The coordinates of values, unclipped, such that ``analyse(rebuild(x)) == x``."""

    @abstractmethod
    def rebuild(self, coordinates: Values, facts: PublicFacts) -> Values:
        """Values from coordinates and public facts alone; affine in the coordinates."""

    def bias_of_span(self, facts: PublicFacts) -> float:
        """What clipping of coordinates may move values by at worst: no mean over people helps."""
        return 0.0

    def error_in_mean(self, error: float, divisor: float, facts: PublicFacts) -> float:
        """An expected error when a mean divides the noise; what clipping moved stays as it is."""
        bias = self.bias_of_span(facts)
        return math.hypot(math.sqrt(max(0.0, error**2 - bias**2)) / divisor, bias)

    def clip(self, values: Values) -> Values:
        """Values in spans above the lower bound, inside [0, 1], missing ones at the midpoint."""
        return np.clip(np.where(np.isnan(values), 0.5, values), 0.0, 1.0)

    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """The coordinates of the clipped values as whole steps."""
        steps = self.analyse(self.clip(values), facts) / self.step(facts)
        return np.asarray(np.rint(steps), dtype=np.int64)

    def randomise(self, values: Values, facts: PublicFacts, noise: Randomness) -> Values:
        """Values in spans above the lower bound, made private: measured, and rebuilt."""
        measured = self.perturb(self.query(values, facts), facts, noise)
        return self.rebuild(measured * self.step(facts), facts)

    def facts(self, table: FeatureTable) -> PublicFacts:
        """The public facts: N, the most recordings of a person, the common length, F."""
        lengths = table.recordings
        # Recordings of one person stand together.
        people = (lengths["person"] != lengths["person"].shift()).fill_null(True).arg_true()
        recordings = np.diff(people.to_numpy().astype(np.int64), append=len(lengths))
        return PublicFacts(
            people=recordings.size,
            recordings=int(recordings.max()),
            length=self.common_rows(table),
            features=len(table.features),
            window=window_rows(table),
        )

    def common_rows(self, table: FeatureTable) -> int:
        """Rows that are measured of every recording of a table."""
        if isinstance(self.length, int):
            return self.length
        if self.length == "public":
            return self.public_length(table)
        rows = table.recordings["rows"].to_numpy()
        return int(rows.min() if self.length == "shortest" else rows.max())

    def public_length(self, table: FeatureTable) -> int:
        """The length that would be set for a table by those who know its public facts alone."""
        return table.public_rows

    def settled(self, table: FeatureTable) -> Self:
        """The mechanism with the public length as a number, which a certificate then states."""
        if self.length != "public":
            return self
        return replace(self, length=self.public_length(table))

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The table made private, every recording cut or padded to one length.

        Time stamps are rewritten to the public step, labels are dropped: neither is protected.
        """
        return self.present(self.perturbed(table, noise))

    def apply_to_some(
        self, people: FeatureTable, facts: PublicFacts, noise: Randomness
    ) -> FeatureTable:
        """Some people's records made private, as among everybody's."""
        return self.present(self._perturbed(people, facts, noise))

    def set_for_outputs(self) -> Iterator[Self]:
        """The mechanism, as `verify` looks at its output, in each way in which it takes data."""
        yield self

    def present(self, private: FeatureTable) -> FeatureTable:
        """What is shown of a table that is private already: by default all of it."""
        return private

    def perturbed(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The table with its values measured and rebuilt."""
        return self._perturbed(table, self.facts(table), noise)

    def _perturbed(
        self, table: FeatureTable, facts: PublicFacts, noise: Randomness
    ) -> FeatureTable:
        bounds = Bounds({f.name: (f.lower, f.upper) for f in table.features})
        lowers, spans = bounds.lowers(), bounds.spans()
        per_block = max(1, _BLOCK_VALUES // (facts.recordings * facts.length * facts.features))
        parts = []
        for people in track(list(_blocks_of_people(table, per_block)), "adding noise"):
            dense = people.values(table, facts)
            private = self.randomise((dense - lowers) / spans, facts, noise)
            released = private[people.owner, people.place] * spans + lowers
            parts.append(frame(people.recordings, released, table))
        return replace(table, data=pl.concat(parts, rechunk=False))

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """From the noise's variance and how `rebuild` spreads each coordinate over the values."""
        return float(np.sqrt((self._spread(facts) ** 2).sum() / facts.length))

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """Expected error of the mean over a recording's rows, as a share of the feature's range."""
        return float(np.sqrt((self._spread(facts).mean(axis=1) ** 2).sum()))

    def _spread(self, facts: PublicFacts) -> Values:
        """One standard deviation of each coordinate, rebuilt on its own: coordinates × rows."""
        alone = replace(facts, recordings=1, features=1)
        count = self.analyse(np.zeros((1, facts.length, 1)), alone).shape[-2]
        sigma = math.sqrt(noise_of(self, facts).variance) * np.broadcast_to(
            np.asarray(self.step(facts), dtype=np.float64), (count, facts.features)
        )
        # Features may have steps of their own: the mean square over them.
        each = np.eye(count)[:, None, :, None] * np.sqrt((sigma**2).mean(axis=1))[:, None]
        nothing = self.rebuild(np.zeros((1, count, 1)), alone)
        spread: Values = (self.rebuild(each, alone) - nothing)[:, 0, :, 0]
        return spread

    def noise_sd_of_span(self, facts: PublicFacts, averaged: int = 1) -> tuple[Values, float]:
        """The standard deviation of the noise, exact, from public facts alone, in spans.

        Args:
            facts: the public facts.
            averaged: how many people the noisy sum is divided by.

        Returns:
            Of the values of each row, of which there is one where all have the same; and of the
            mean over the rows of a recording.
        """
        count = self.analyse(np.zeros((1, facts.length, 1)), facts).shape[-2]
        sigma = math.sqrt(noise_of(self, facts).variance) / averaged
        steps = np.broadcast_to(np.asarray(self.step(facts), dtype=np.float64), (count, 1))
        nothing = self.rebuild(np.zeros((1, count, 1)), facts)
        variance, of_mean = np.zeros(facts.length), 0.0
        block = max(1, _BLOCK_VALUES // max(count, facts.length))
        for first in range(0, count, block):
            some = np.arange(first, min(count, first + block))
            each = np.zeros((some.size, 1, count, 1))
            each[np.arange(some.size), 0, some, 0] = sigma * steps[some, 0]
            moved = (self.rebuild(each, facts) - nothing)[:, 0, :, 0]
            variance += (moved**2).sum(axis=0)
            of_mean += float((moved.mean(axis=1) ** 2).sum())
        rows = np.sqrt(variance)
        same = float(np.ptp(rows)) <= _SAME * float(rows.max())
        return (rows[:1] if same else rows), math.sqrt(of_mean)

    def person_total(self, facts: PublicFacts) -> str:
        """How the person-level total follows from the unit's, in words."""
        counts = {"recording": facts.recordings, "row": facts.length, "feature": facts.features}
        whole = " × ".join(f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
        if self.unit == PERSON:
            return f"calibrated to the person: {whole} together"
        times = self.blocks(facts, PERSON) / self.blocks(facts, self.unit)
        return f"sequential composition: a person has {whole}, {times:.10g} times one {self.unit}"

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the released table shows besides the protected values."""
        facts = self.facts(table)
        how = "known beforehand" if self.length_is_public else f"read off the {self.length} one"
        return [
            f"the number of people ({facts.people}) and that each of them took part",
            "which recordings each person has, with their task and stimulus names, and their order",
            f"the common length of the recordings ({facts.length} rows, {how})",
            "the names of the people as the study has them, and their order",
        ]

    def within(self, facts: PublicFacts, unit: Unit) -> tuple[slice, slice, slice]:
        """Recordings, rows and features of the first unit there is."""
        whole, first = slice(None), slice(0, 1)
        return {
            "person": (whole, whole, whole),
            "recording": (first, whole, whole),
            "record": (first, first, whole),
            "chunk": (first, slice(0, unit.length), first),
        }[unit.name]

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Few recordings, rows and features, of each sometimes one."""
        recordings, features = (int(count) for count in rng.integers(1, 7, size=2))
        return PublicFacts(1, recordings, self.fewest_rows + int(rng.integers(0, 6)), features)

    def game_facts(self) -> Iterator[PublicFacts]:
        """Small datasets in which the whole loss shows."""
        # Few values: it shows only when every value's noise points the same way.
        yield PublicFacts(1, 2, 1, 1)
        yield PublicFacts(1, 2, 2, 1)
        yield PublicFacts(1, 2, 1, 2)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """All of the unit's values at one bound against the other, from inside and outside."""
        ends = (
            ("from one bound to the other", 0.0, 1.0),
            ("far outside the bounds", -1e4, 1e4),
            ("missing against present", np.nan, 1.0),
        )
        for (name, low, high), facts in zip(ends, self.game_facts(), strict=True):
            one = np.full((facts.recordings, facts.length, facts.features), 0.25)
            other = one.copy()
            where = self.within(facts, unit)
            one[where], other[where] = low, high
            yield NeighbourPair(name, facts, unit, one, other)

    def apart(self, pair: NeighbourPair, name: str, change: Values) -> NeighbourPair:
        """Neighbours whose signals lie a change below and above the midpoint, where they differ."""
        where = self.within(pair.facts, pair.unit)
        sides = []
        for side in (0.5 - change, 0.5 + change):
            values = np.full_like(pair.one, 0.25)
            values[where] = np.broadcast_to(side, values.shape)[where]
            sides.append(values)
        return replace(pair, name=name, one=sides[0], other=sides[1])

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Each run is a person with the same data: records are made private independently."""
        features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(facts.features)]
        table = table_from_arrays(np.broadcast_to(values, (runs, *values.shape)), features)
        table = replace(table, window_ms=facts.window * (table.step_ms or 1.0))
        released = self.perturbed(table, noise)
        outputs: Values = released.data.select(released.names).to_numpy().reshape(runs, -1)
        return outputs

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise, the best test there is."""
        distribution = noise_of(self, pair.facts)
        measured = self.measured(outputs.reshape(len(outputs), *pair.one.shape), pair.facts)
        other = distribution.log_mass(measured - self.query(pair.other, pair.facts))
        one = distribution.log_mass(measured - self.query(pair.one, pair.facts))
        ratio: Values = (other - one).reshape(len(outputs), -1).sum(axis=1)
        return ratio

    def measured(self, values: Values, facts: PublicFacts) -> Values:
        """The noisy integers behind released values, in spans above the lower bound."""
        return np.asarray(self.analyse(values, facts) / self.step(facts))


def beyond_rows(mechanism: RecordMechanism, table: FeatureTable, rows: int) -> list[str]:
    """What a promise about so many rows leaves open about a moment of gaze, in words."""
    shown = []
    what = "row" if rows == 1 else "chunk"
    if table.step_ms is None:
        shown.append(
            f"what moves between rows: a change of gaze may move every later row by one, and every "
            f"later {what} with it"
        )
    if mechanism.length != "shortest":
        shown.append("how long each recording was: its padding shows over many rows")
    touched = math.ceil((window_rows(table) - 1) / rows) + 1
    if window_rows(table) > 1:
        each = (
            "" if mechanism.unit.name == "record" else f" of each of {len(table.features)} features"
        )
        shown.append(
            f"a moment of gaze beyond one {what}: windows overlap, so it is in at least about "
            f"{touched} {what}s{each} and costs at least about as many times the ε of one"
        )
    return shown


def check_coefficients(k: int | str, window: int | None, words: tuple[str, ...]) -> None:
    """Refuse a k that is neither a number nor one of the words, or a window of no rows."""
    if isinstance(k, int):
        if k < 1:
            raise InputError(f"k must be at least 1, got {k}")
    elif k not in words:
        *first, last = ("a number", *words)
        raise InputError(f"k must be {', '.join(first)} or {last}, got '{k}'")
    if window is not None and window < 1:
        raise InputError(f"window must be at least 1, got {window}")


def cut_off(kept: int, all_of_them: int, rows: float) -> str:
    """That coefficients are left out, in a sentence; empty if none are.

    >>> cut_off(20, 600, 60.0)[:62]
    'Of each signal 20 of 600 coefficients are kept: what comes and'
    """
    if kept >= all_of_them:
        return ""
    return (
        f"Of each signal {kept} of {all_of_them} coefficients are kept: what comes and goes within "
        f"fewer than about {rows:.0f} rows is cut off, and that error comes on top."
    )


def window_rows(table: FeatureTable) -> int:
    """Rows that one window of a table covers; 1 where rows are no windows."""
    if not table.window_ms or not table.step_ms:
        return 1
    return max(1, math.ceil(table.window_ms / table.step_ms))


@dataclass(frozen=True, eq=False)
class _People:
    """Some whole people of a table.

    Attributes:
        recordings: theirs, one row each, with ``start`` and ``rows`` in the table.
        owner: whose each recording is, from 0.
        place: its place among that person's recordings.
    """

    recordings: pl.DataFrame
    owner: NDArray[np.intp]
    place: NDArray[np.intp]

    def values(self, table: FeatureTable, facts: PublicFacts) -> Values:
        """People × recordings × length × features, cut at the length; NaN for what is not there."""
        starts = self.recordings["start"].to_numpy()
        counts = self.recordings["rows"].to_numpy()
        rows = table.data[int(starts[0]) : int(starts[-1] + counts[-1])].select(table.names)
        flat = rows.cast(pl.Float64).to_numpy()
        row = np.arange(facts.length)
        index = np.minimum((starts - starts[0])[:, None] + row, len(flat) - 1)
        each = flat[index]
        each[row >= counts[:, None]] = np.nan
        people, most = int(self.owner[-1]) + 1, int(self.place.max()) + 1
        if len(each) == people * most:
            # Nobody lacks a recording.
            return np.asarray(each.reshape(people, most, *each.shape[1:]))
        dense = np.full((people, most, *each.shape[1:]), np.nan)
        dense[self.owner, self.place] = each
        return dense


def _blocks_of_people(table: FeatureTable, per_block: int) -> Iterator[_People]:
    """The table's people in order, so many at a time."""
    recordings = table.recordings
    rows = recordings["rows"].to_numpy()
    recordings = recordings.with_columns(pl.Series("start", np.cumsum(rows) - rows))
    begins = (recordings["person"] != recordings["person"].shift()).fill_null(True).to_numpy()
    owner = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    place = np.arange(len(owner)) - first[owner]
    for start in range(0, len(first), per_block):
        low = int(first[start])
        high = int(first[start + per_block]) if start + per_block < len(first) else len(owner)
        yield _People(recordings[low:high], owner[low:high] - start, place[low:high])


def frame(recordings: pl.DataFrame, values: Values, table: FeatureTable) -> pl.DataFrame:
    """Rows of the released table for some recordings."""
    count, length, width = values.shape
    keys = [c for c in ("person", "recording", "task", "stimulus") if c in recordings.columns]
    repeated = recordings.select(keys)[np.repeat(np.arange(count), length)]
    time_ms = np.tile(np.arange(length) * (table.step_ms or 1.0), count)
    flat = values.reshape(-1, width)
    return repeated.with_columns(
        pl.Series("time_ms", time_ms),
        *[pl.Series(name, np.ascontiguousarray(flat[:, j])) for j, name in enumerate(table.names)],
    )

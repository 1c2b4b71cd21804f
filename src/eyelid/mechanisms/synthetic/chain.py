"""The model behind seeded rows: a chain over discrete features, measured under Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.differential import GAUSSIAN, SCALE, Distribution, Integers, Total, noise_of
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.synthetic.binning import MOST_BINS, Bins, Codes
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit

_MOST_STEPS = 2.0**61
# In games: what all others' values are.
_OTHERS = (0.25, np.nan)


@dataclass(frozen=True, eq=False)
class Chain:
    """Odds in whole numbers, so that what is drawn has exactly the probability that is computed.

    Attributes:
        weights: (features, bins, bins): out of 2³⁰, how often a feature is in the last axis' bin
            when the feature before it is in the one of the axis before. Of the first feature row 0
            counts, whatever came before.
    """

    BITS: ClassVar[int] = 30

    weights: NDArray[np.int64]

    @classmethod
    def of(cls, tables: Values, noise_sd: float) -> Chain:
        """The chain behind noisy counts of neighbouring features, (features, bins, bins).

        Knows nothing but the noisy counts and the scale of their noise. What stands out of the
        noise by a standard error is kept; a bin about which nothing is known follows the feature's
        own distribution, and that the even one.

        Args:
            tables: how often a feature was in a bin (last axis) with the one before it in another.
            noise_sd: standard deviation of the noise of each count.
        """
        bins = tables.shape[-1]
        own = tables.sum(axis=1, keepdims=True)
        own = np.maximum(own - noise_sd * np.sqrt(bins), 0.0) + noise_sd / bins + 1e-300
        own /= own.sum(axis=-1, keepdims=True)
        counts = np.maximum(tables - noise_sd, 0.0) + (noise_sd + 1e-12) * own
        return cls(whole_odds(counts, cls.BITS))

    @property
    def bins(self) -> int:
        """Values that a feature can have."""
        return int(self.weights.shape[-1])

    def drawn(self, start: Codes, kept: NDArray[np.intp], noise: Randomness) -> Codes:
        """Rows that keep the first so many features of a start; the others are drawn in order.

        Args:
            start: (rows, features), of which the first are kept.
            kept: how many, of each row.
            noise: where the draws come from.
        """
        rows, features = start.shape
        made = start.copy()
        ends = np.cumsum(self.weights, axis=-1)
        top = np.uint64(64 - self.BITS)
        for j in range(features):
            draw = (noise.words(rows) >> top).astype(np.int64)
            before = made[:, j - 1] if j else np.zeros(rows, dtype=np.uint8)
            found = (ends[j, before] <= draw[:, None]).sum(axis=1).astype(np.uint8)
            made[:, j] = np.where(kept > j, made[:, j], found)
        return made

    def log_chance(self, rows: Codes) -> Values:
        """The logarithm of each feature's odds given the one before, (rows, features)."""
        before = np.concatenate([np.zeros_like(rows[:, :1]), rows[:, :-1]], axis=1)
        found = self.weights[np.arange(rows.shape[1]), before, rows]
        chances: Values = np.log(found) - self.BITS * np.log(2.0)
        return chances


def whole_odds(counts: Values, bits: int) -> NDArray[np.int64]:
    """Odds in proportion to counts, over the last axis: whole, at least 1, exactly 2^bits in all.

    >>> whole_odds(np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 5.0]]), 10).tolist()
    [[256, 256, 512], [1, 1, 1022]]
    """
    total = 1 << bits
    shares = counts / counts.sum(axis=-1, keepdims=True)
    odds: NDArray[np.int64] = np.maximum(np.floor(shares * total), 1).astype(np.int64)
    # The largest takes what rounding left; it is so large that it does not feel it.
    largest = odds.argmax(axis=-1)[..., None]
    rest = total - odds.sum(axis=-1, keepdims=True)
    np.put_along_axis(odds, largest, np.take_along_axis(odds, largest, axis=-1) + rest, axis=-1)
    return odds


@dataclass(frozen=True)
class ChainMarginals(Total):
    """Counts of every feature together with the one before it, one noise for all of them."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "Counts of every feature together with the one before it, one noise for all of them."
        ),
        takes="""of each person and task at most T records of F features, as public bins; a missing
        value is in the bin of the midpoint. Each record counts U/T in one cell of each of the F
        tables of its task: the first feature alone, every other with the one before it.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="""a person counts at most U in each of the R·F tables, never less than nothing. So one
        person's counts have a squared norm of at most R·F·U², those of another the same, and what
        has no negative entries is at most √(2·R·F)·U apart. U is whole and such that this is μ
        times the σ of the noise, or less; sums are integers, with discrete Gaussian noise.""",
        paper="""marginals under Gaussian noise as in McKenna, Miklau & Sheldon 2021, with
        everybody's rows weighted so that the person is the unit.""",
    )
    name: ClassVar[str] = "seeded model"
    distribution: ClassVar[Distribution] = GAUSSIAN
    takes: ClassVar[str] = "features"
    paper: ClassVar[str] = (
        "McKenna, Miklau & Sheldon (2021), Winning the NIST contest: a scalable and general "
        "approach to differentially private synthetic data"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 4.0, "delta": 1e-5, "bins": 2},)

    bins: int = parameter("bins of each feature", default=8)
    records: int = parameter("rows of a person and task that count", default=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.bins <= MOST_BINS:
            raise InputError(f"bins must be 2 to {MOST_BINS}, got {self.bins}")
        if self.records < 1:
            raise InputError(f"records must be at least 1, got {self.records}")

    def cells(self, facts: PublicFacts) -> int:
        """Cells of all tables together."""
        return facts.recordings * facts.features * self.bins**2

    def whole(self, facts: PublicFacts) -> int:
        """U: what a person counts in one table, in steps; a multiple of T."""
        tables = facts.recordings * facts.features
        each = self.mu(facts) * SCALE / math.sqrt(2 * tables) / self.records
        if each < 1:
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for: choose "
                "a larger one"
            )
        if each * self.records * facts.people + 64 * SCALE > _MOST_STEPS:
            raise InputError(
                f"{facts.people} people at epsilon {self.epsilon:g} add up to more than there are "
                "numbers for: choose a smaller ε"
            )
        return math.floor(each) * self.records

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """√(2·R·F)·U."""
        return self.whole(facts) * math.sqrt(2 * facts.recordings * facts.features)

    def person_total(self, facts: PublicFacts) -> str:
        """Calibrated to the person."""
        return f"calibrated to the person: {facts.recordings * facts.features} tables together"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        sd = SCALE / self.whole(facts)
        return (
            f"discrete Gaussian, scale {SCALE} steps or {sd:.4g} people, in each of "
            f"{self.cells(facts)} cells"
        )

    def noise_of_person(self, facts: PublicFacts) -> float:
        """Standard deviation of the noise in a cell, in people."""
        return SCALE / self.whole(facts)

    def coded(self, values: Values) -> Codes:
        """The bins of values in spans above the lower bound."""
        features = values.shape[-1]
        return Bins(np.zeros(features), np.ones(features), self.bins).codes(values)

    def total(self, codes: Codes, there: NDArray[np.bool_], facts: PublicFacts) -> Integers:
        """What people count together, tasks × cells of a table × features.

        Args:
            codes: (people, tasks, records, features).
            there: (people, tasks, records), which records there are; no more than T in a task.
            facts: the public facts.
        """
        _, tasks, records, features = codes.shape
        if records > self.records:
            raise InputError(f"{records} records of a task, but only {self.records} may count")
        cells = self.bins**2
        task = np.broadcast_to(np.arange(tasks)[:, None], there.shape)[there]
        table = (task[:, None] * features + np.arange(features)) * cells + self._cell(codes[there])
        found = np.bincount(table.ravel(), minlength=tasks * features * cells)
        counted = found.reshape(tasks, features, cells).swapaxes(-1, -2)
        return counted.astype(np.int64) * (self.whole(facts) // self.records)

    def _cell(self, codes: Codes) -> NDArray[np.int64]:
        """The cell of each feature with the one before it; of the first, its own bin."""
        wide = codes.astype(np.int64)
        before = np.concatenate([np.zeros_like(wide[..., :1]), wide[..., :-1]], axis=-1)
        return before * self.bins + wide

    def tables(self, noisy: Integers, facts: PublicFacts) -> Values:
        """Noisy sums as counts of people: tasks × features × bins × bins."""
        people = noisy / self.whole(facts)
        return people.swapaxes(-1, -2).reshape(*noisy.shape[:-2], -1, self.bins, self.bins)

    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """One person's counts from values (…, tasks, records, features); rows of NaN are none."""
        flat = values.reshape(-1, *values.shape[-3:])
        there, codes = np.asarray(~np.isnan(flat).all(axis=-1)), self.coded(flat)
        each = [self.total(codes[i : i + 1], there[i : i + 1], facts) for i in range(len(flat))]
        return np.stack(each).reshape(
            *values.shape[:-3], values.shape[-3], self.bins**2, values.shape[-1]
        )

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Few tasks and features."""
        tasks, features = (int(count) for count in rng.integers(1, 5, size=2))
        return PublicFacts(1, tasks, self.records, features, window=1)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """All in one bin against all in another; far outside; not there at all."""
        ends = (
            ("from one bound to the other", 0.0, 1.0),
            ("far outside the bounds", -1e4, 1e4),
            ("missing against present", np.nan, 1.0),
        )
        for name, low, high in ends:
            facts = PublicFacts(1 + len(_OTHERS), 1, self.records, 2, window=1)
            one = np.full((1, self.records, 2), low)
            yield NeighbourPair(name, facts, unit, one, np.full_like(one, high))

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Noisy sums over a person with these values and others who stay the same."""
        total = self._with_others(values, facts)
        noisy = self.perturb(np.broadcast_to(total, (runs, *total.shape)), facts, noise)
        return noisy.reshape(runs, -1).astype(np.float64)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise."""
        distribution = noise_of(self, pair.facts)
        one, other = (
            distribution.log_mass(outputs - self._with_others(side, pair.facts).ravel())
            for side in (pair.one, pair.other)
        )
        ratio: Values = (other - one).sum(axis=1)
        return ratio

    def _with_others(self, values: Values, facts: PublicFacts) -> Integers:
        everybody = np.stack([values, *[np.full_like(values, fixed) for fixed in _OTHERS]])
        summed: Integers = self.query(everybody, facts).sum(axis=0)
        return summed

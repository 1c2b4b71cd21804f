"""What is counted of people for synthetic ones, in rounds: each under Gaussian noise of its own.

All of a person's rows together count no more than U in any table or number of a round. A round may
ask what the noisy answers of those before it suggest: of the whole, μ² is the sum of theirs.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.differential import GAUSSIAN, SCALE, Distribution, Integers, Total, noise_of
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.synthetic.binning import Bins, Codes
from eyelid.mechanisms.synthetic.games import pairs_of_rows, with_others
from eyelid.mechanisms.synthetic.sequences import (
    BEND,
    LENGTH_BINS,
    Sequences,
    lags_of,
    length_bin,
    sequences_of_values,
)
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit

QUARTERS = 4
"""Parts into which the values of a feature are put for each task."""
TRENDS = 2
"""Waves over a recording, of half a period and of a whole one, that trends are made of."""

Lookup = NDArray[Any]
"""What becomes of a bin; the last entry is of what is missing. May have axes in front."""

_MOST_STEPS = 2.0**61
_WAVE = 1 << 8


@dataclass(frozen=True)
class Round(Total):
    """One noisy sum over everybody.

    Of a shape, ``recordings`` are the tasks and ``length`` the rows of each that count.
    """

    distribution: ClassVar[Distribution] = GAUSSIAN
    takes: ClassVar[str] = "features"
    paper: ClassVar[str] = (
        "McKenna, Miklau & Sheldon (2021), Winning the NIST contest: a scalable and general "
        "approach to differentially private synthetic data"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 4.0, "delta": 1e-5, "bins": 8},)

    bins: int = parameter("bins of each feature", default=64)
    share: float = parameter("of μ², that this round has", default=1.0)
    elsewhere: int = parameter("numbers with noise in the other rounds", default=0)

    @property
    def with_lengths(self) -> bool:
        """Whether lengths of recordings are measured, too."""
        return False

    @property
    def parents(self) -> tuple[int, ...]:
        """The feature before each one in the tree, where what is asked follows one."""
        return ()

    @abstractmethod
    def reach(self, facts: PublicFacts) -> float:
        """How far a person who is replaced can move the sum, in units of U."""

    @abstractmethod
    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """What each person adds, (…, people, cells), in steps.

        Args:
            sequences: people's bins.
            facts: the public facts.
            lookup: what becomes of a bin, by what is known already; an even one if not given.
        """

    def mu(self, facts: PublicFacts) -> float:
        """μ of this round."""
        whole = self.mu_for(facts.people, self.cells(facts) + self.elsewhere)
        return whole * math.sqrt(self.share)

    @abstractmethod
    def terms(self, facts: PublicFacts) -> int:
        """How many terms the finest of its numbers is a mean of."""

    def whole(self, facts: PublicFacts) -> int:
        """U: the most that a person counts in one table or number, in steps."""
        found = math.floor(self.mu(facts) * SCALE / self.reach(facts))
        if found < self.terms(facts):
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for, with "
                f"{facts.length} records of each task: choose a larger ε, or fewer records"
            )
        if found * facts.people + 64 * SCALE > _MOST_STEPS:
            raise InputError(
                f"{facts.people} people at epsilon {self.epsilon:g} add up to more than there are "
                "numbers for: choose a smaller ε"
            )
        return found

    def each(self, facts: PublicFacts, terms: int) -> int:
        """What one of so many terms counts."""
        return self.whole(facts) // terms

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """The reach of a person."""
        return self.reach(facts) * self.whole(facts)

    def noise_of_person(self, facts: PublicFacts) -> float:
        """Standard deviation of the noise, in people."""
        return SCALE / self.whole(facts)

    def total(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """The sum over everybody, (…, cells)."""
        each = (self.counted(block, facts, lookup).sum(axis=-2) for block in sequences.blocks())
        return np.asarray(functools.reduce(np.add, each))

    def in_people(self, noisy: Integers, facts: PublicFacts) -> Values:
        """Noisy sums, counted in people."""
        found: Values = noisy / self.whole(facts)
        return found

    def person_total(self, facts: PublicFacts) -> str:
        """Calibrated to the person."""
        return f"calibrated to the person, with {self.share:.4g} of μ²"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        return (
            f"discrete Gaussian, scale {SCALE} steps or {self.noise_of_person(facts):.4g} people, "
            f"in each of {self.cells(facts)} numbers"
        )

    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """One person's counts from values (…, tasks, rows, features)."""
        flat = values.reshape(-1, *values.shape[-3:])
        found = self.counted(self.sequences(flat, facts), facts)
        return found.reshape(*values.shape[:-3], 1, 1, -1)

    def sequences(self, values: Values, facts: PublicFacts) -> Sequences:
        """People's values in spans (people, tasks, rows, features) as bins."""
        features = values.shape[-1]
        bins = Bins(np.zeros(features), np.ones(features), self.bins, BEND)
        return sequences_of_values(values, bins, facts.length, lags_of(facts.window))

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Few tasks, rows and features."""
        tasks, rows, features = (int(count) for count in rng.integers(1, 5, size=3))
        return PublicFacts(1, tasks, rows, features, window=1)

    def any_lookup(self, facts: PublicFacts, rng: np.random.Generator) -> Lookup | None:
        """What noisy answers might suggest to ask, for the fuzz; None where nothing is looked up.

        Args:
            facts: the public facts.
            rng: by which it is drawn.
        """
        return None

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """All at one bound against all at the other; far outside; not there at all."""
        return pairs_of_rows(unit)

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Noisy sums over a person with these values and others who stay the same."""
        total = self.total(self.sequences(with_others(values), facts), facts)
        noisy = self.perturb(np.broadcast_to(total, (runs, *total.shape)), facts, noise)
        return noisy.reshape(runs, -1).astype(np.float64)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise."""
        distribution = noise_of(self, pair.facts)
        one, other = (
            distribution.log_mass(
                outputs - self.total(self.sequences(people, pair.facts), pair.facts)
            )
            for people in (with_others(pair.one), with_others(pair.other))
        )
        ratio: Values = (other - one).sum(axis=1)
        return ratio


@dataclass(frozen=True)
class Levels(Round):
    """How values are distributed: one table a feature, over all tasks together."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="How values are distributed: one table a feature, over all tasks together.",
        takes="""T rows of each person and task; a row counts U/(R·T) in the bin of each of its
        features, a missing value nowhere.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="""a person counts at most U in each of F tables, never less than nothing: the squared
        norm is at most F·U², and two such are at most √(2F)·U apart.""",
        paper="""marginals under Gaussian noise as in McKenna, Miklau & Sheldon 2021, with
        everybody's rows weighted so that the person is the unit.""",
    )
    name: ClassVar[str] = "synthetic levels"

    def cells(self, facts: PublicFacts) -> int:
        """Bins of all features."""
        return facts.features * self.bins

    def reach(self, facts: PublicFacts) -> float:
        """√(2F)."""
        return math.sqrt(2 * facts.features)

    def terms(self, facts: PublicFacts) -> int:
        """Rows of all tasks."""
        return facts.recordings * facts.length

    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """Everybody's histograms, features × bins; nothing is looked up."""
        codes = sequences.codes[..., 0, :]
        people, features = len(codes), codes.shape[-1]
        width = sequences.missing + 1
        place = codes.reshape(people, -1, features).astype(np.int64)
        place += np.arange(people)[:, None, None] * (features * width)
        place += np.arange(features) * width
        found = np.bincount(place.ravel(), minlength=people * features * width)
        table = found.reshape(people, features, width)[..., :-1]
        return table.reshape(people, -1) * self.each(facts, self.terms(facts))


@dataclass(frozen=True)
class Shares(Round):
    """How much of each task lies in which quarter of a feature, and how long recordings are."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "How much of each task lies in which quarter of a feature, and how long recordings are."
        ),
        takes="""a public table that puts each bin in a quarter. A row counts U/T in one quarter of
        each feature of its task; the length of a task counts U in one of the public bins of
        lengths.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="""a person counts at most U in each of R·F tables of quarters and R of lengths, never
        less than nothing: two people are at most √(2·R·(F + 1))·U apart. Public groups of people
        have tables of their own; a person is in one group.""",
        paper="as for the levels.",
    )
    name: ClassVar[str] = "synthetic shares"

    with_lengths: bool = parameter("whether lengths are measured", default=True)
    pieces: int = parameter("parts into which a feature is put", default=QUARTERS)

    def cells(self, facts: PublicFacts) -> int:
        """How many numbers of one group have noise."""
        lengths = LENGTH_BINS * self.with_lengths
        return facts.recordings * (facts.features * self.pieces + lengths)

    def reach(self, facts: PublicFacts) -> float:
        """√(2·R·(F + 1))."""
        return math.sqrt(2 * facts.recordings * (facts.features + self.with_lengths))

    def terms(self, facts: PublicFacts) -> int:
        """Rows of a task."""
        return facts.length

    def any_lookup(self, facts: PublicFacts, rng: np.random.Generator) -> Lookup:
        """Any quarter of each bin; no quarter of what is missing."""
        quarters = rng.integers(0, self.pieces, size=(facts.features, self.bins))
        return _with_missing(quarters, self.pieces)

    def total(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """The sums over the people of each group, (…, groups, cells)."""
        sums: Integers | None = None
        groups = int(sequences.group.max()) + 1
        for block in sequences.blocks():
            each = self.counted(block, facts, lookup)
            if sums is None:
                sums = np.zeros((*each.shape[:-2], groups, each.shape[-1]), dtype=np.int64)
            for group in np.unique(block.group):
                sums[..., group, :] += each[..., block.group == group, :].sum(axis=-2)
        assert sums is not None, "there are people"
        return sums

    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """Everybody's shares: tasks × features × quarters, then tasks × bins of lengths.

        The lookup is the quarter of each bin, (…, features, bins + 1).
        """
        codes = sequences.codes[..., 0, :]
        if lookup is None:
            even = np.arange(sequences.missing + 1) * self.pieces // sequences.missing
            lookup = np.broadcast_to(even, (codes.shape[-1], even.size))
        place = np.arange(codes.shape[-1]) * lookup.shape[-1] + codes
        found = np.take(lookup.reshape(*lookup.shape[:-2], -1), place, axis=-1)
        shares = [(found == part).sum(axis=-2, dtype=np.int64) for part in range(self.pieces)]
        table = np.stack(shares, axis=-1) * self.each(facts, self.terms(facts))
        flat = table.reshape(*table.shape[:-3], -1)
        if not self.with_lengths:
            return flat
        place = length_bin(sequences.lengths)[..., None] == np.arange(LENGTH_BINS)
        lengths = place.reshape(len(place), -1) * np.int64(self.whole(facts))
        return np.concatenate(
            [flat, np.broadcast_to(lengths, (*flat.shape[:-1], lengths.shape[-1]))], axis=-1
        )


@dataclass(frozen=True)
class Signs(Round):
    """What goes together: features with each other, with themselves later, and with time."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "What goes together: features with each other, with themselves later, and with time."
        ),
        takes="""a public table that says of each task and bin whether it is high (1), low (−1) or
        neither (0), and a public tree of features. Each number is a mean over a person's rows and
        tasks, from −U to U: of the product of a feature with its parent in the tree; of a feature
        with itself some rows later; of its means in two tasks; of its product with a wave over the
        recording.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="of m numbers none moves by more than 2U: two people are at most 2·√m·U apart.",
        paper="""two-way marginals of halves; orthant probabilities of a Gaussian copula give its
        correlations.""",
    )
    name: ClassVar[str] = "synthetic signs"
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "bins": 8, "parents": (-1, 0)},
    )

    parents: tuple[int, ...] = parameter("of each feature, the one before it in the tree", ())

    def numbers(self, facts: PublicFacts) -> tuple[int, int, int, int]:
        """How many there are of pairs, of lags, of tasks, of waves."""
        features = facts.features
        return (
            features - 1,
            features * len(lags_of(facts.window)),
            features * (facts.recordings > 1),
            features * TRENDS,
        )

    def cells(self, facts: PublicFacts) -> int:
        """All numbers."""
        return sum(self.numbers(facts))

    def reach(self, facts: PublicFacts) -> float:
        """2·√m."""
        return 2 * math.sqrt(self.cells(facts))

    def terms(self, facts: PublicFacts) -> int:
        """Pairs of rows of two tasks, or the whole numbers that waves are at most."""
        return facts.recordings * facts.length * max(facts.length, _WAVE)

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """As many features as the tree has."""
        return replace(super().random_facts(rng), features=len(self.parents))

    def any_lookup(self, facts: PublicFacts, rng: np.random.Generator) -> Lookup:
        """Any sign of each bin; none of what is missing."""
        return any_signs(self.bins, facts, rng)

    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """Everybody's numbers: pairs, lags × features, features over tasks, waves × features.

        The lookup is 1, −1 or 0 of each bin, (…, groups, tasks, features, bins + 1).
        """
        signs = signs_of(sequences, sequences.codes, lookup)
        now, later = signs[..., 0, :], signs[..., 1:, :]
        rows = facts.recordings * facts.length
        over_rows = (-3, -2)
        child = np.arange(1, facts.features)
        parent = np.array(self.parents[1:], dtype=np.intp)
        pairs = (now[..., child] * now[..., parent]).sum(axis=over_rows, dtype=np.int64)
        lags = (now[..., None, :] * later).sum(axis=(-4, -3), dtype=np.int64)
        parts = [
            pairs * self.each(facts, rows),
            lags.reshape(*lags.shape[:-2], -1) * self.each(facts, rows),
        ]
        if facts.recordings > 1:
            sums = now.sum(axis=-2, dtype=np.int64)
            across = (sums * np.roll(sums, 1, axis=-2)).sum(axis=-2)
            parts.append(across * self.each(facts, rows * facts.length))
        waves = whole_waves(facts.length)
        moved = np.einsum("...rtf,kt->...kf", now.astype(np.int64), waves)
        terms = facts.recordings * np.abs(waves).sum(axis=1)
        steps = np.array([self.each(facts, int(many)) for many in terms])
        parts.append((moved * steps[:, None]).reshape(*moved.shape[:-2], -1))
        return np.concatenate(parts, axis=-1)


@dataclass(frozen=True)
class AllPairs(Round):
    """How much all features go together, to choose a tree or to draw them by."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="How much all features go together, to choose a tree or to draw them by.",
        takes="""as for the signs; a number for each two features, a mean over a person's rows and
        tasks of the product of their signs.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="""let s be the signs of a row, each −1, 0 or 1, and M the mean of s·sᵀ over a person's
        rows, M' that of another. Neither has a norm above F, and their inner product is a mean of
        (s·s')², not below 0: they are at most √2·F apart, and the half above the diagonal F.""",
        paper="a noisy matrix of products as in Dwork, Talwar, Thakurta & Zhang 2014.",
    )
    name: ClassVar[str] = "synthetic choice"
    paper: ClassVar[str] = "Dwork, Talwar, Thakurta & Zhang (2014), Analyze Gauss"

    def cells(self, facts: PublicFacts) -> int:
        """Pairs of features."""
        return facts.features * (facts.features - 1) // 2

    def reach(self, facts: PublicFacts) -> float:
        """F."""
        return float(facts.features)

    def terms(self, facts: PublicFacts) -> int:
        """Rows of all tasks."""
        return facts.recordings * facts.length

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """At least two features."""
        facts = super().random_facts(rng)
        return replace(facts, features=max(2, facts.features))

    def any_lookup(self, facts: PublicFacts, rng: np.random.Generator) -> Lookup:
        """Any sign of each bin; none of what is missing."""
        return any_signs(self.bins, facts, rng)

    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """Everybody's products, of each two features in order; the lookup is that of the signs."""
        signs = signs_of(sequences, sequences.codes[..., :1, :], lookup)
        flat = signs.reshape(*signs.shape[:-4], -1, facts.features).astype(np.float64)
        # Whole numbers far below 2⁵³: exact in floating point, and matrix products are fast there.
        products = np.swapaxes(flat, -1, -2) @ flat
        first, second = np.triu_indices(facts.features, 1)
        steps = self.each(facts, self.terms(facts))
        return products[..., first, second].astype(np.int64) * steps


def any_signs(bins: int, facts: PublicFacts, rng: np.random.Generator) -> Lookup:
    """Any sign of each bin, the same for all groups; none of what is missing."""
    signs = rng.choice([-1, 1], size=(1, facts.recordings, facts.features, bins))
    return _with_missing(signs, 0)


def _with_missing(found: Lookup, nothing: int) -> Lookup:
    """A lookup with an entry for what is missing."""
    last = np.full((*found.shape[:-1], 1), nothing)
    return np.concatenate([found, last], axis=-1)


def signs_of(sequences: Sequences, codes: Codes, lookup: Lookup | None) -> NDArray[Any]:
    """Whether bins (people, tasks, rows, …, features) are high or low, by group and task.

    Without a lookup high is what lies above the middle bin.
    """
    if lookup is None:
        even = np.where(np.arange(sequences.missing + 1) * 2 < sequences.missing, -1, 1)
        even[-1] = 0
        return np.asarray(even.astype(np.int8)[codes])
    tasks, features, bins = lookup.shape[-3:]
    table = sequences.group[:, None] * tasks + np.arange(tasks)
    first = table[..., None, None, None] * features + np.arange(features)
    # One flat table and one place in it are several times as fast as an index for each axis.
    flat = lookup.reshape(*lookup.shape[:-4], -1)
    return np.asarray(np.take(flat, first * bins + codes, axis=-1))


def whole_waves(rows: int) -> NDArray[np.int64]:
    """Cosines of half a period and of a whole one over a recording, in whole numbers."""
    middle = (np.arange(rows) + 0.5) / rows
    waves = [np.cos(np.pi * (k + 1) * middle) for k in range(TRENDS)]
    found = np.rint(np.array(waves) * _WAVE).astype(np.int64)
    # With one or two rows a wave may be nothing but its middle.
    return np.where(np.abs(found).sum(axis=1, keepdims=True) == 0, 1, found)

"""Sums over people, and maps of them: counts within public limits, in integers, exact noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.differential import SCALE, Integers, Total, noise_of
from eyelid.mechanisms.maps.map_mechanism import (
    ANY_GAZE,
    MapFacts,
    MapMechanism,
    cleaned,
    with_others,
)
from eyelid.mechanisms.mechanism import Form, NeighbourPair, PublicFacts, Values
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit

# A sum of n numbers in floating point is off by n·2⁻⁵³ of it at most: so for 2²² entries a person.
_ROOM = 1 - 2.0**-30
MOST_ENTRIES = 2**22
"""Cells that a person may have looked at."""
BLOCK = 4096
"""People who are summed up at once."""
_MOST_STEPS = 2.0**61


@dataclass(frozen=True)
class NoisySum(Total):
    """One vector of counts a person, each within the same limits, and one noise on their sum.

    ``recordings`` of a shape are layers, ``length`` the cells of one layer. Limited counts are in a
    unit of the mechanism's own, in which one step is the same in every cell.
    """

    family: ClassVar[str] = "sums"
    execution: ClassVar[Execution] = Execution.BY_SUMS
    draws_people: ClassVar[bool] = False
    """Whether chance decides who is in the sum at all."""

    @property
    def may_differ(self) -> Form:
        """Everything: of a person there are counts within public limits, and no more."""
        return ANY_GAZE

    @abstractmethod
    def limited(self, counts: PersonCounts, facts: Any) -> Values:
        """Each entry of everybody's counts, at least 0, within the limits of a person."""

    @abstractmethod
    def reach(self, facts: Any) -> float:
        """How far one person can move the sum, in the norm of the noise and the unit of counts."""

    def step(self, facts: Any) -> float:
        """The grid step, in that unit: such that a person moves the sum by ε or μ times SCALE."""
        return self.reach(facts) / (self.distribution.loss(self, facts) * SCALE)

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """ε or μ times SCALE steps."""
        return self.distribution.loss(self, facts) * SCALE

    def cells(self, facts: Any) -> int:
        """The cells of all layers."""
        return int(facts.recordings * facts.length)

    @abstractmethod
    def largest(self, facts: Any) -> float:
        """The most that a person can have in one cell, in the unit of limited counts."""

    @abstractmethod
    def divided(self, noisy: Integers, facts: Any) -> Values:
        """Noisy sums in steps (…, all cells) as means over people, in the unit of counts."""

    @abstractmethod
    def undivided(self, means: Values, facts: Any) -> Values:
        """The sums in steps again (…, all cells)."""

    def integers(self, counts: PersonCounts, facts: PublicFacts) -> Integers:
        """Each entry in whole steps. Cut, never rounded up: no norm can grow."""
        clean = replace(counts, count=cleaned(counts.count))
        steps = self.limited(clean, facts) * (_ROOM / self.step(facts))
        return np.asarray(np.floor(steps), dtype=np.int64)

    def in_spans(self, counts: PersonCounts, facts: Any, cells: Values) -> tuple[Values, Values]:
        """What of each entry is in the sum, and the sum that was published, both in spans.

        A span is the most that a person can have in a cell.

        Args:
            counts: everybody's gaze points, as the mechanism takes them.
            facts: the public facts.
            cells: what was released, as `measure` gives it.
        """
        span = self.step(facts) / self.largest(facts)
        return np.asarray(self.integers(counts, facts) * span), self.undivided(
            np.ravel(cells), facts
        ) * span

    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """One person's counts (…, layers, cells, 1), each person alone."""
        dense = cleaned(values).reshape(-1, facts.recordings * facts.length)
        counts = PersonCounts.of_dense(dense)
        found = np.zeros(dense.shape, dtype=np.int64)
        found[counts.person, counts.cell] = self.integers(counts, facts)
        return found.reshape(values.shape)

    def total(self, counts: PersonCounts, facts: PublicFacts) -> Integers:
        """The sum over everybody, in integers: all layers' cells one after the other."""
        if counts.cells != facts.recordings * facts.length or counts.people != facts.people:
            raise InputError(
                f"counts of {counts.people} people in {counts.cells} cells do not fit "
                f"{facts.people} people in {facts.recordings} × {facts.length} cells"
            )
        self.check_room(facts)
        return self.part(counts, facts)

    def part(self, counts: PersonCounts, facts: PublicFacts) -> Integers:
        """What some of the people add to the sum: parts of all of them come to the total."""
        _check_entries(counts)
        summed = np.zeros(counts.cells, dtype=np.int64)
        for block in counts.blocks(BLOCK):
            np.add.at(summed, block.cell, self.integers(block, facts))
        return summed

    def check_room(self, facts: PublicFacts) -> None:
        """Refuse what could not be added up, whatever the data are."""
        if facts.people * self.largest(facts) / self.step(facts) + 64 * SCALE > _MOST_STEPS:
            raise InputError(
                f"{facts.people} people at epsilon {self.epsilon:g} add up to more than there are "
                "numbers for: choose a smaller ε"
            )

    def measure(self, counts: PersonCounts, facts: Any, noise: Randomness) -> Values:
        """The noisy sum over the public number of people."""
        return self.noisy_mean(self.total(counts, facts), facts, noise)

    def noisy_mean(self, total: Integers, facts: Any, noise: Randomness) -> Values:
        """A total with noise, over the public number of people."""
        return self.divided(self.perturb(total, facts, noise), facts)

    def settled(self, counts: PersonCounts, facts: Any, noise: Randomness) -> Self:
        """The mechanism with whatever it chooses by the data chosen; most choose nothing."""
        return self

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Means over one person with these counts and others who stay the same."""
        total = self.total(with_others(cleaned(values)), facts)
        noisy = self.perturb(np.broadcast_to(total, (runs, total.size)), facts, noise)
        return self.divided(noisy, facts).reshape(runs, -1)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise, the best test there is."""
        distribution = noise_of(self, pair.facts)
        measured = self.undivided(outputs, pair.facts)
        one, other = (
            distribution.log_mass(measured - self.total(with_others(cleaned(side)), pair.facts))
            for side in (pair.one, pair.other)
        )
        ratio: Values = (other - one).sum(axis=1)
        return ratio


@dataclass(frozen=True)
class NoisyMap(MapMechanism, NoisySum):
    """Each person's counts within a public limit, summed over people, with one noise on the sum."""

    family: ClassVar[str] = "maps"

    check_room = NoisySum.check_room

    def divided(self, noisy: Integers, facts: MapFacts) -> Values:
        """Noisy sums in steps (…, all cells) as means over people (…, layers, rows, columns)."""
        means = noisy * (self.step(facts) / facts.people)
        return np.asarray(means.reshape(*noisy.shape[:-1], *facts.size))

    def undivided(self, means: Values, facts: MapFacts) -> Values:
        """The sums in steps again (…, all cells)."""
        return np.asarray(means * (facts.people / self.step(facts)))

    def measure(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Values:
        """The noisy sum over the public number of people."""
        return NoisySum.measure(self, counts, facts, noise)

    def without_noise(self, counts: PersonCounts, facts: MapFacts) -> Values:
        """The sum itself over the public number of people."""
        return self.divided(self.total(counts, facts), facts)

    def in_spans(
        self, counts: PersonCounts, facts: MapFacts, cells: Values
    ) -> tuple[Values, Values]:
        """By the limits of the sum."""
        return NoisySum.in_spans(self, counts, facts, cells)

    def cell_sd(self, facts: MapFacts) -> float:
        """Standard deviation of the noise on the sum, over the number of people."""
        return math.sqrt(noise_of(self, facts).variance) * self.step(facts) / facts.people

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        assert isinstance(facts, MapFacts)
        distribution = noise_of(self, facts)
        return (
            f"{distribution.label} of standard deviation {self.cell_sd(facts):.4g} in each cell of "
            f"the mean over people ({distribution.scale} grid steps on the sum), "
            f"{facts.grid.columns} × {facts.grid.rows} cells"
        )

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Few layers and cells, sometimes one."""
        columns, rows, layers = (int(count) for count in rng.integers(1, 5, size=3))
        return MapFacts.of(1, layers, Grid(columns, rows, columns, rows))


def _check_entries(counts: PersonCounts) -> None:
    """Limits are of each entry, so that there must be one entry a cell, people in order."""
    if (np.diff(counts.person * counts.cells + counts.cell) <= 0).any():
        raise InputError(
            "counts have entries twice or out of order: make them with PersonCounts.added_up"
        )
    if counts.person.size and np.bincount(counts.person).max() > MOST_ENTRIES:
        raise InputError(
            f"a participant has gaze points in more than {MOST_ENTRIES:,} cells: take a coarser "
            "grid"
        )

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
    MapMechanism,
    MapShape,
    cleaned,
    with_others,
)
from eyelid.mechanisms.mechanism import Form, NeighbourPair, Shape, Values
from eyelid.mechanisms.release_kind import Execution
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit

# A sum of n numbers in floating point is off by n·2⁻⁵³ of it at most: so for 2²² entries a person.
_ROOM = 1 - 2.0**-30
MOST_ENTRIES = 2**22
"""Cells that somebody may have looked at."""
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
    def limited(self, counts: PersonCounts, shape: Any) -> Values:
        """Each entry of everybody's counts, at least 0, within the limits of a person."""

    @abstractmethod
    def reach(self, shape: Any) -> float:
        """How far one person can move the sum, in the norm of the noise and the unit of counts."""

    def step(self, shape: Any) -> float:
        """The grid step, in that unit: such that a person moves the sum by ε or μ times SCALE."""
        return self.reach(shape) / (self.distribution.loss(self, shape) * SCALE)

    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """ε or μ times SCALE steps."""
        return self.distribution.loss(self, shape) * SCALE

    def cells(self, shape: Any) -> int:
        """Those of all layers."""
        return int(shape.recordings * shape.length)

    @abstractmethod
    def largest(self, shape: Any) -> float:
        """The most that a person can have in one cell, in the unit of limited counts."""

    @abstractmethod
    def divided(self, noisy: Integers, shape: Any) -> Values:
        """Noisy sums in steps (…, all cells) as means over people, in the unit of counts."""

    @abstractmethod
    def undivided(self, means: Values, shape: Any) -> Values:
        """The sums in steps again (…, all cells)."""

    def integers(self, counts: PersonCounts, shape: Shape) -> Integers:
        """Each entry in whole steps. Cut, never rounded up: no norm can grow."""
        clean = replace(counts, count=cleaned(counts.count))
        steps = self.limited(clean, shape) * (_ROOM / self.step(shape))
        return np.asarray(np.floor(steps), dtype=np.int64)

    def in_spans(self, counts: PersonCounts, shape: Any, cells: Values) -> tuple[Values, Values]:
        """What of each entry is in the sum, and the sum that was published, both in spans.

        A span is the most that a person can have in a cell.

        Args:
            counts: everybody's looks, as the mechanism takes them.
            shape: the public facts.
            cells: what was released, as `measure` gives it.
        """
        span = self.step(shape) / self.largest(shape)
        return np.asarray(self.integers(counts, shape) * span), self.undivided(
            np.ravel(cells), shape
        ) * span

    def query(self, values: Values, shape: Shape) -> Integers:
        """One person's counts (…, layers, cells, 1), each person alone."""
        dense = cleaned(values).reshape(-1, shape.recordings * shape.length)
        counts = PersonCounts.of_dense(dense)
        found = np.zeros(dense.shape, dtype=np.int64)
        found[counts.person, counts.cell] = self.integers(counts, shape)
        return found.reshape(values.shape)

    def total(self, counts: PersonCounts, shape: Shape) -> Integers:
        """The sum over everybody, in integers: all layers' cells one after the other."""
        if counts.cells != shape.recordings * shape.length or counts.people != shape.people:
            raise InputError(
                f"counts of {counts.people} people in {counts.cells} cells do not fit "
                f"{shape.people} people in {shape.recordings} × {shape.length} cells"
            )
        self.check_room(shape)
        return self.part(counts, shape)

    def part(self, counts: PersonCounts, shape: Shape) -> Integers:
        """What some of the people add to the sum: parts of all of them come to the total."""
        _check_entries(counts)
        summed = np.zeros(counts.cells, dtype=np.int64)
        for block in counts.blocks(BLOCK):
            np.add.at(summed, block.cell, self.integers(block, shape))
        return summed

    def check_room(self, shape: Shape) -> None:
        """Refuse what could not be added up, whatever the data are."""
        if shape.people * self.largest(shape) / self.step(shape) + 64 * SCALE > _MOST_STEPS:
            raise InputError(
                f"{shape.people} people at epsilon {self.epsilon:g} add up to more than there are "
                "numbers for: choose a smaller ε"
            )

    def measure(self, counts: PersonCounts, shape: Any, noise: Randomness) -> Values:
        """The noisy sum over the public number of people."""
        return self.noisy_mean(self.total(counts, shape), shape, noise)

    def noisy_mean(self, total: Integers, shape: Any, noise: Randomness) -> Values:
        """A total with noise, over the public number of people."""
        return self.divided(self.perturb(total, shape, noise), shape)

    def settled(self, counts: PersonCounts, shape: Any, noise: Randomness) -> Self:
        """The mechanism with whatever it chooses by the data chosen; most choose nothing."""
        return self

    def play(self, values: Values, shape: Shape, runs: int, noise: Randomness) -> Values:
        """Means over one person with these counts and others who stay the same."""
        total = self.total(with_others(cleaned(values)), shape)
        noisy = self.perturb(np.broadcast_to(total, (runs, total.size)), shape, noise)
        return self.divided(noisy, shape).reshape(runs, -1)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise, the best test there is."""
        law = noise_of(self, pair.shape)
        measured = self.undivided(outputs, pair.shape)
        one, other = (
            law.log_mass(measured - self.total(with_others(cleaned(side)), pair.shape))
            for side in (pair.one, pair.other)
        )
        ratio: Values = (other - one).sum(axis=1)
        return ratio


@dataclass(frozen=True)
class NoisyMap(MapMechanism, NoisySum):
    """Each person's counts within a public limit, summed over people, with one noise on the sum."""

    family: ClassVar[str] = "maps"

    check_room = NoisySum.check_room

    def divided(self, noisy: Integers, shape: MapShape) -> Values:
        """Noisy sums in steps (…, all cells) as means over people (…, layers, rows, columns)."""
        means = noisy * (self.step(shape) / shape.people)
        return np.asarray(means.reshape(*noisy.shape[:-1], *shape.size))

    def undivided(self, means: Values, shape: MapShape) -> Values:
        """The sums in steps again (…, all cells)."""
        return np.asarray(means * (shape.people / self.step(shape)))

    def measure(self, counts: PersonCounts, shape: MapShape, noise: Randomness) -> Values:
        """The noisy sum over the public number of people."""
        return NoisySum.measure(self, counts, shape, noise)

    def in_spans(
        self, counts: PersonCounts, shape: MapShape, cells: Values
    ) -> tuple[Values, Values]:
        """By the limits of the sum."""
        return NoisySum.in_spans(self, counts, shape, cells)

    def cell_sd(self, shape: MapShape) -> float:
        """That of the noise on the sum, over the number of people."""
        return math.sqrt(noise_of(self, shape).variance) * self.step(shape) / shape.people

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        assert isinstance(shape, MapShape)
        law = noise_of(self, shape)
        return (
            f"{law.label} of standard deviation {self.cell_sd(shape):.4g} in each cell of the mean "
            f"over people ({law.scale} grid steps on the sum), {shape.grid.columns} × "
            f"{shape.grid.rows} cells"
        )

    def random_shape(self, rng: np.random.Generator) -> Shape:
        """Few layers and cells, sometimes one."""
        columns, rows, layers = (int(count) for count in rng.integers(1, 5, size=3))
        return MapShape.of(1, layers, Grid(columns, rows, columns, rows))


def _check_entries(counts: PersonCounts) -> None:
    """Limits are of each entry, so that there must be one entry a cell, people in order."""
    if (np.diff(counts.person * counts.cells + counts.cell) <= 0).any():
        raise InputError(
            "counts have entries twice or out of order: make them with PersonCounts.added_up"
        )
    if counts.person.size and np.bincount(counts.person).max() > MOST_ENTRIES:
        raise InputError(
            f"somebody has looks in more than {MOST_ENTRIES:,} cells: take a coarser grid"
        )

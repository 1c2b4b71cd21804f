"""Parts of a release: statistics that get one draw of noise, or one choice, and its share of ε.

A part asks people a question in whole numbers (`query`), and what it shows is that answer under
noise, or one of public candidates, the better the answer the likelier. Everything that follows,
estimates and intervals, knows only what it shows.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.differential import SCALE, Integers
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.statistics import ranks
from eyelid.mechanisms.statistics.quantities import DELTA, SUMS, clipped_anywhere, in_steps
from eyelid.mechanisms.statistics.spread import NoiseOfOne
from eyelid.mechanisms.statistics.statistic import Statistic
from eyelid.privacy.noise import (
    DiscreteBox,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteNoise,
    Randomness,
)
from eyelid.spelling import plural

FEWEST_STEPS = 2**10
"""Steps of Δ for each unit of ε, at least: discreteness then costs nothing."""
# For rounding in floating point.
_ROOM = 1 - 2.0**-30

_TURN = (math.sqrt(2) - 2) / 4
_NUMBER_AND_SQUARE = (1 - _TURN) ** 2 * (1 + 4 * (1 + _TURN) ** 2)

Labels = NDArray[np.int64]
"""The group of each person, from 0."""


@dataclass(frozen=True)
class Part(ABC):
    """Statistics under one draw of noise.

    Attributes:
        statistics: in the order of what is shown.
        sizes: people in each public group.
        group: which of the groups it is about; None for everybody.
        epsilon: its share of the whole, as an exact fraction.
    """

    statistics: tuple[Statistic, ...]
    sizes: tuple[int, ...]
    group: int | None
    epsilon: Fraction = field(repr=False)

    @property
    def people(self) -> int:
        """N: how many people it is about."""
        return sum(self.sizes) if self.group is None else self.sizes[self.group]

    @property
    @abstractmethod
    def shown(self) -> int:
        """How many whole numbers it shows."""

    @property
    @abstractmethod
    def in_words(self) -> str:
        """The noise in words."""

    @property
    def noise(self) -> NoiseOfOne | None:
        """The noise on each mean over its people, as a share of the range; None of a choice.

        Of a histogram it is that of the number of people in a cell.
        """
        return None

    @property
    def spread(self) -> float | None:
        """Standard deviation of the noise in a mean of its people, as a share of the range.

        None of what is no sum over people, or no noise that is added.
        """
        return None

    def chosen(self, places: Values, labels: Labels) -> Values:
        """Places (…, people, entries) of those whom it is about."""
        return places if self.group is None else places[..., labels == self.group, :]

    @abstractmethod
    def query(self, places: Values, labels: Labels) -> Integers:
        """What is asked (…, numbers), in whole numbers.

        Args:
            places: (…, people, entries); NaN where a number is missing.
            labels: the group of each person.
        """

    @abstractmethod
    def draw(self, query: Integers, noise: Randomness) -> Integers:
        """What is shown of answers (…, numbers), independently for each."""

    @abstractmethod
    def log_chance(self, shown: Integers, query: Integers) -> Values:
        """Logarithm of the probability of what is shown (…, shown), up to a constant."""

    @abstractmethod
    def lost(self, one: Integers, other: Integers) -> Values:
        """The privacy loss between two answers (…, numbers), by the noise that is drawn.

        It is an ε; of Gaussian noise a μ.
        """


class NoisyPart(Part):
    """Whole numbers under noise that is added to them."""

    @property
    @abstractmethod
    def distribution(self) -> DiscreteBox | DiscreteNoise:
        """The noise."""

    def draw(self, query: Integers, noise: Randomness) -> Integers:
        """The numbers with noise added."""
        return query + self.distribution.draw(query.shape, noise)

    def log_chance(self, shown: Integers, query: Integers) -> Values:
        """The log-chance of the noise, which is independent from number to number."""
        return np.asarray(self.distribution.log_mass(shown - query).sum(axis=-1))


class BoxPart(NoisyPart):
    """Sums and rank sums, each of which a person moves by at most Δ, under one box noise."""

    @property
    def shown(self) -> int:
        """One a statistic."""
        return len(self.statistics)

    @property
    def distribution(self) -> DiscreteBox:
        """The noise: pure ε for all of the numbers together."""
        return _box(math.ceil(DELTA / self.epsilon), self.shown)

    @property
    def noise(self) -> NoiseOfOne:
        """The margin of the box."""
        return NoiseOfOne(self.distribution.scale / DELTA / self.people, self.shown)

    @property
    def spread(self) -> float:
        """The standard deviation of each number, whatever the others."""
        return self.noise.sd

    def mean_of(self, number: int) -> float:
        """The mean place of people, from what is shown of their sum."""
        return number / DELTA / self.people

    @property
    def in_words(self) -> str:
        """The noise in words."""
        box = self.distribution
        return (
            f"{box.label}, one draw of scale {box.scale} steps for {plural(self.shown, 'number')}, "
            f"in a mean of {self.people} people of standard deviation {self.spread:.4g} of the "
            "range"
        )

    def query(self, places: Values, labels: Labels) -> Integers:
        """Everybody's sums."""
        chosen = self.chosen(places, labels)
        sums = [self.sum_of(statistic, chosen, labels) for statistic in self.statistics]
        return np.stack(sums, axis=-1)

    def sum_of(self, statistic: Statistic, places: Values, labels: Labels) -> Integers:
        """One statistic over people, in steps of which a person moves it by at most Δ."""
        name, columns = statistic.name, statistic.columns
        if name == "clipped" and not columns:
            return np.asarray(clipped_anywhere(places).sum(axis=-1))
        first = places[..., columns[0]]
        if name in SUMS:
            return np.asarray(SUMS[name](first).sum(axis=-1))
        if name == "signed-rank":
            return in_steps(ranks.signed_ranks(first), self.sensitivity(statistic))
        if name == "tau":
            total = ranks.concordance(first, places[..., columns[1]])
            return in_steps(total, self.sensitivity(statistic))
        one, other = (first[..., labels == which] for which in statistic.groups or ())
        return in_steps(ranks.dominance(one, other), self.sensitivity(statistic))

    def sensitivity(self, statistic: Statistic) -> int:
        """How far a person moves a rank sum, in its own whole numbers; 1 of sums over people."""
        if statistic.name == "signed-rank":
            return ranks.signed_rank_sensitivity(self.people)
        if statistic.name == "tau":
            return ranks.concordance_sensitivity(self.people)
        if statistic.groups is not None:
            return ranks.dominance_sensitivity(*(self.sizes[g] for g in statistic.groups))
        return 1

    def log_chance(self, shown: Integers, query: Integers) -> Values:
        """The log-chance of the noise, which all numbers share."""
        return self.distribution.log_mass(shown - query)

    def lost(self, one: Integers, other: Integers) -> Values:
        """The farthest that a number moves, over the scale."""
        return np.asarray(np.abs(one - other).max(axis=-1) / self.distribution.scale)


@dataclass(frozen=True)
class JointPart(NoisyPart):
    """Sums under one Gaussian noise.

    Attributes:
        mu: how far a person may move them, over σ.
    """

    mu: float = 0.0

    @property
    def shown(self) -> int:
        """One a statistic."""
        return len(self.statistics)

    @property
    def distribution(self) -> DiscreteGaussian:
        """The noise: σ is SCALE steps."""
        return _gaussian(SCALE)

    @property
    def noise(self) -> NoiseOfOne:
        """Gaussian, the same on each number."""
        return NoiseOfOne(SCALE * self.step / 2 / self.people)

    @property
    def spread(self) -> float:
        """The standard deviation of each number, whatever the others."""
        return self.noise.sd

    def mean_of(self, number: int) -> float:
        """The mean place of people, from what is shown of their sum."""
        return (1 + number * self.step / self.people) / 2

    @property
    def in_words(self) -> str:
        """The noise in words."""
        return (
            f"{self.distribution.label}, σ {SCALE} steps on each of "
            f"{plural(self.shown, 'number')}, in a mean of {self.people} people {self.spread:.4g} "
            "of the range"
        )

    @property
    def apart(self) -> float:
        """How far two people are apart at most, in half ranges: 2 in every number.

        Of a number and its square less: from m to t both move by (m − t)²(1 + 4(m + t)²) squared,
        which is largest at m = 1, t = −(2 − √2)/4.
        """
        columns = {name: {s.columns for s in self.statistics if s.name == name} for name in SUMS}
        squared = len(columns["mean"] & columns["sd"])
        return math.sqrt(4 * (self.shown - 2 * squared) + _NUMBER_AND_SQUARE * squared)

    @property
    def step(self) -> float:
        """The grid step in half ranges: two people are at most μ·SCALE of them apart."""
        return self.apart / (self.mu * SCALE)

    def query(self, places: Values, labels: Labels) -> Integers:
        """The sum of everybody's vectors."""
        chosen = self.chosen(places, labels)
        return np.asarray(self.each(chosen).sum(axis=-2))

    def each(self, places: Values) -> Integers:
        """Everybody's vector (…, people, numbers) in steps; cut, so that no length grows."""
        shares = [
            clipped_anywhere(places)
            if not statistic.columns
            else SUMS[statistic.name](places[..., statistic.columns[0]])
            for statistic in self.statistics
        ]
        halves = 2 * (np.stack(shares, axis=-1) / DELTA) - 1
        return np.asarray(np.trunc(halves * (_ROOM / self.step)), dtype=np.int64)

    def lost(self, one: Integers, other: Integers) -> Values:
        """μ: the length of the difference, over σ."""
        apart = np.linalg.norm((one - other).astype(np.float64), axis=-1)
        return np.asarray(apart / SCALE)


class HistogramPart(NoisyPart):
    """People in each cell of a public grid, and those without a number, under Laplace noise."""

    @property
    def shown(self) -> int:
        """One a cell, and one of those without a number."""
        return self.statistics[0].cells + 1

    @property
    def distribution(self) -> DiscreteLaplace:
        """A replaced person leaves one cell and enters another: 2Δ steps in L1."""
        return _laplace(math.ceil(2 * DELTA / self.epsilon))

    @property
    def noise(self) -> NoiseOfOne:
        """On the people in a cell."""
        return NoiseOfOne(self.distribution.scale / DELTA, 1)

    @property
    def in_words(self) -> str:
        """The noise in words."""
        spread = math.sqrt(self.distribution.variance) / DELTA
        return (
            f"{self.distribution.label} of standard deviation {spread:.4g} people in each of "
            f"{plural(self.shown, 'cell')}"
        )

    def query(self, places: Values, labels: Labels) -> Integers:
        """People in each cell, in steps."""
        (column,) = self.statistics[0].columns
        numbers = self.chosen(places, labels)[..., column]
        cells = self.shown - 1
        inside = np.clip(np.nan_to_num(numbers), 0.0, 1.0) * cells
        cell = np.minimum(inside.astype(np.int64), cells - 1)
        cell = np.where(np.isnan(numbers), cells, cell)
        return np.stack([(cell == which).sum(axis=-1) for which in range(cells + 1)], -1) * DELTA

    def lost(self, one: Integers, other: Integers) -> Values:
        """What all cells move, over the scale."""
        return np.asarray(np.abs(one - other).sum(axis=-1) / self.distribution.scale)


def each_result(parts: Iterable[Part]) -> Iterator[tuple[Part, Statistic]]:
    """The part and the statistic of every result, in their order: a histogram has one a cell.

    Args:
        parts: of the mechanism.
    """
    for part in parts:
        for statistic in part.statistics:
            for _ in range(statistic.cells + 1):
                yield part, statistic


def check_loss(epsilon: Fraction) -> None:
    """Refuse a share of ε that no grid is made for."""
    if not Fraction(1, 2**15) <= epsilon <= DELTA // FEWEST_STEPS:
        raise InputError(
            f"epsilon of a part must be between 2^-15 and {DELTA // FEWEST_STEPS}, "
            f"got {float(epsilon):g}"
        )


# With their tables made once.
_box = functools.lru_cache(maxsize=64)(DiscreteBox)
_laplace = functools.lru_cache(maxsize=64)(DiscreteLaplace)
_gaussian = functools.lru_cache(maxsize=64)(DiscreteGaussian)

"""Mechanisms that add integer noise of one law to whole numbers made of people's data."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.differential import CalibratedMechanism
from eyelid.mechanisms.distribution import FEWEST_STEPS, Distribution, default_delta
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.privacy.gaussian import discreteness_slack, gaussian_mu
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import DiscreteNoise, Randomness
from eyelid.privacy.unit import Unit

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NoisyMechanism(CalibratedMechanism):
    """Noise of one distribution on the integers of a query whose sensitivity is declared.

    Arrays of one person's values have the axes (…, recordings, rows, features).
    """

    family: ClassVar[str] = "noisy"
    distribution: ClassVar[Distribution]
    """The noise: how it is calibrated, and what it promises."""
    coarsest: ClassVar[float] = FEWEST_STEPS
    """Grid steps of the scale of Gaussian noise, at least: room for them is left in μ."""

    def __init_subclass__(cls, **words: Any) -> None:
        """What is promised is what the noise promises."""
        super().__init_subclass__(**words)
        if "distribution" in vars(cls):
            cls.kind = cls.distribution.kind

    @abstractmethod
    def noise(self, facts: PublicFacts) -> DiscreteNoise:
        """The noise on each coordinate, in grid steps, calibrated to ``epsilon`` for ``unit``."""

    @abstractmethod
    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """How far one unit can move the integers, in steps, in the mechanism's norm."""

    @abstractmethod
    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """How many coordinates one unit can move."""

    def blocks(self, facts: PublicFacts, unit: Unit) -> int:
        """How many separately protected pieces one unit covers; losses add over these."""
        return 1

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The norm of differences that the noise is calibrated by, over the last axis."""
        return self.distribution.norm(difference)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """What the noise promises."""
        return self.distribution.guarantee(self, facts, unit)

    def delta_for(self, people: int) -> float:
        """The δ that was asked for, or the default for so many people."""
        return default_delta(people) if self.delta is None else self.delta

    def mu_for(self, people: int, coordinates: int) -> float:
        """μ of Gaussian noise, with room for the worst that its grid can do."""
        slack = discreteness_slack(coordinates, self.coarsest)
        return gaussian_mu(self.epsilon, self.delta_for(people), slack)

    def mu(self, facts: PublicFacts) -> float:
        """μ for the calibrated unit."""
        return self.mu_for(facts.people, self.coordinates(facts, self.unit))

    def mu_of(self, facts: PublicFacts, unit: Unit) -> float:
        """μ of any unit, by how far it can move the integers."""
        return self.sensitivity(facts, unit) / self.scale(facts)

    def scale(self, facts: PublicFacts) -> float:
        """That of the noise, in grid steps."""
        return float(noise_of(self, facts).scale)

    @abstractmethod
    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """A person's values, whatever they are, as whole steps within the declared limits."""

    @abstractmethod
    def within(self, facts: PublicFacts, unit: Unit) -> tuple[slice, slice, slice]:
        """Recordings, rows and features of the first unit there is."""

    @abstractmethod
    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Public facts of a small dataset of one person, for the fuzz."""

    def perturb(self, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
        """The integers with noise added, in integers."""
        return integers + noise_of(self, facts).draw(integers.shape, noise)


@functools.lru_cache(maxsize=64)
def noise_of(mechanism: NoisyMechanism, facts: PublicFacts) -> DiscreteNoise:
    """The calibrated noise, with its tables made once."""
    return mechanism.noise(facts)

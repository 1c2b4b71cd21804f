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
from eyelid.mechanisms.mechanism import Shape, Values
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
    def noise(self, shape: Shape) -> DiscreteNoise:
        """The noise on each coordinate, in grid steps, calibrated to ``epsilon`` for ``unit``."""

    @abstractmethod
    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """How far one unit can move the integers, in steps, in the mechanism's norm."""

    @abstractmethod
    def coordinates(self, shape: Shape, unit: Unit) -> int:
        """How many coordinates one unit can move."""

    def blocks(self, shape: Shape, unit: Unit) -> int:
        """How many separately protected pieces one unit covers; losses add over these."""
        return 1

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The norm of differences that the noise is calibrated by, over the last axis."""
        return self.distribution.norm(difference)

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """What the noise promises."""
        return self.distribution.guarantee(self, shape, unit)

    def delta_for(self, people: int) -> float:
        """The δ that was asked for, or the default for so many people."""
        return default_delta(people) if self.delta is None else self.delta

    def mu_for(self, people: int, coordinates: int) -> float:
        """μ of Gaussian noise, with room for the worst that its grid can do."""
        slack = discreteness_slack(coordinates, self.coarsest)
        return gaussian_mu(self.epsilon, self.delta_for(people), slack)

    def mu(self, shape: Shape) -> float:
        """μ for the calibrated unit."""
        return self.mu_for(shape.people, self.coordinates(shape, self.unit))

    def mu_of(self, shape: Shape, unit: Unit) -> float:
        """μ of any unit, by how far it can move the integers."""
        return self.sensitivity(shape, unit) / self.scale(shape)

    def scale(self, shape: Shape) -> float:
        """That of the noise, in grid steps."""
        return float(noise_of(self, shape).scale)

    @abstractmethod
    def query(self, values: Values, shape: Shape) -> Integers:
        """A person's values, whatever they are, as whole steps within the declared limits."""

    @abstractmethod
    def within(self, shape: Shape, unit: Unit) -> tuple[slice, slice, slice]:
        """Recordings, rows and features of the first unit there is."""

    @abstractmethod
    def random_shape(self, rng: np.random.Generator) -> Shape:
        """Public facts of a small dataset of one person, for the fuzz."""

    def perturb(self, integers: Integers, shape: Shape, noise: Randomness) -> Integers:
        """The integers with noise added, in integers."""
        return integers + noise_of(self, shape).draw(integers.shape, noise)


@functools.lru_cache(maxsize=64)
def noise_of(mechanism: NoisyMechanism, shape: Shape) -> DiscreteNoise:
    """The calibrated noise, with its tables made once."""
    return mechanism.noise(shape)

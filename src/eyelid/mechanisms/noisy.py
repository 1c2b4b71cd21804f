"""Mechanisms that add integer noise of one law to whole numbers made of people's data."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.differential import CalibratedMechanism
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.privacy.noise import DiscreteNoise, Randomness
from eyelid.privacy.unit import Unit

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class NoisyMechanism(CalibratedMechanism):
    """Noise on the integers of a query whose sensitivity is declared.

    Arrays of one person's values have the axes (…, recordings, rows, features).
    """

    family: ClassVar[str] = "noisy"

    @abstractmethod
    def noise(self, shape: Shape) -> DiscreteNoise:
        """The noise on each coordinate, in grid steps, calibrated to ``epsilon`` for ``unit``."""

    @abstractmethod
    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """How far one unit can move the integers, in steps, in the mechanism's norm."""

    @abstractmethod
    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The mechanism's norm of differences, over the last axis."""

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


def l1(difference: NDArray[Any]) -> NDArray[np.float64]:
    """The L1 norm over the last axis, by which Laplace noise is calibrated."""
    norms: NDArray[np.float64] = np.abs(difference).sum(axis=-1, dtype=np.float64)
    return norms


def l2(difference: NDArray[Any]) -> NDArray[np.float64]:
    """The L2 norm over the last axis, by which Gaussian noise is calibrated."""
    norms: NDArray[np.float64] = np.linalg.norm(difference.astype(np.float64), axis=-1)
    return norms


@functools.lru_cache(maxsize=64)
def noise_of(mechanism: NoisyMechanism, shape: Shape) -> DiscreteNoise:
    """The calibrated noise, with its tables made once."""
    return mechanism.noise(shape)

"""The noise of a mechanism, as a part that it holds: how it is calibrated, and what it promises.

Discrete Laplace noise is calibrated by the L1 norm and gives pure ε; discrete Gaussian noise by the
L2 norm, and gives (ε, δ) with its μ.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.privacy.gaussian import check_delta, discreteness_slack, gaussian_epsilon
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteGaussian, DiscreteLaplace, DiscreteNoise
from eyelid.privacy.unit import Neighbours, Unit

if TYPE_CHECKING:
    from eyelid.mechanisms.mechanism import PublicFacts
    from eyelid.mechanisms.noisy import NoisyMechanism

FEWEST_STEPS = 2.0**30
"""Grid steps of the scale of Gaussian noise, at least: discreteness then costs next to nothing."""


class Distribution(ABC):
    """Integer noise of one distribution."""

    kind: ClassVar[Kind]
    """What it promises."""

    @abstractmethod
    def of(self, scale: int) -> DiscreteNoise:
        """The noise of a scale, in grid steps."""

    @abstractmethod
    def norm(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The norm of differences that it is calibrated by, over the last axis."""

    @abstractmethod
    def loss(self, mechanism: NoisyMechanism, facts: PublicFacts) -> float:
        """How far the calibrated unit may move the integers, over the scale of the noise."""

    @abstractmethod
    def guarantee(self, mechanism: NoisyMechanism, facts: PublicFacts, unit: Unit) -> Guarantee:
        """What it promises about one unit."""


class _Laplace(Distribution):
    """Discrete Laplace noise: the loss is the L1 distance of integers over the scale."""

    kind: ClassVar[Kind] = Kind.PURE

    def of(self, scale: int) -> DiscreteNoise:
        return DiscreteLaplace(scale)

    def norm(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        norms: NDArray[np.float64] = np.abs(difference).sum(axis=-1, dtype=np.float64)
        return norms

    def loss(self, mechanism: NoisyMechanism, facts: PublicFacts) -> float:
        return mechanism.epsilon

    def guarantee(self, mechanism: NoisyMechanism, facts: PublicFacts, unit: Unit) -> Guarantee:
        """ε in proportion to the blocks that the unit covers."""
        own = mechanism.blocks(facts, mechanism.unit)
        ratio = Fraction(mechanism.blocks(facts, unit), own)
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=mechanism.trust,
            epsilon=float(exact(mechanism.epsilon) * ratio),
            delta=0.0,
        )


class _Gaussian(Distribution):
    """Discrete Gaussian noise: μ is the L2 distance of integers over σ."""

    kind: ClassVar[Kind] = Kind.APPROXIMATE

    def of(self, scale: int) -> DiscreteNoise:
        return DiscreteGaussian(scale)

    def norm(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        norms: NDArray[np.float64] = np.linalg.norm(difference.astype(np.float64), axis=-1)
        return norms

    def loss(self, mechanism: NoisyMechanism, facts: PublicFacts) -> float:
        return mechanism.mu(facts)

    def guarantee(self, mechanism: NoisyMechanism, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for the calibrated unit; for another unit ε at the same δ from its μ."""
        delta, mu = mechanism.delta_for(facts.people), mechanism.mu_of(facts, unit)
        slack = discreteness_slack(mechanism.coordinates(facts, unit), mechanism.scale(facts))
        same = mechanism.blocks(facts, unit) == mechanism.blocks(facts, mechanism.unit)
        return Guarantee(
            kind=Kind.APPROXIMATE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=mechanism.trust,
            epsilon=mechanism.epsilon if same else gaussian_epsilon(mu, delta, slack),
            delta=delta,
            mu=mu,
            slack=slack,
        )


LAPLACE, GAUSSIAN = _Laplace(), _Gaussian()


def exact(number: float) -> Fraction:
    """The decimal number that a person wrote: 0.1 is a tenth."""
    return Fraction(repr(float(number)))


def default_delta(people: int) -> float:
    """δ when none is given: min(N^−1.5, 1e-6).

    >>> default_delta(20)
    1e-06
    """
    return min(math.pow(people, -1.5), 1e-6)


def check_gaussian_delta(delta: float | None, instead: str) -> None:
    """Refuse a δ that Gaussian noise cannot have.

    Args:
        delta: what was asked for; None for the default.
        instead: what has a δ of 0.
    """
    if delta is not None and check_delta(delta) == 0:
        raise InputError(f"delta must be above 0 for Gaussian noise: use {instead} for δ = 0")

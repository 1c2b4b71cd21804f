"""Mechanisms whose promise is a privacy loss ε about a unit, and the noise that most of them add.

The noise is a part that a mechanism holds, its `Distribution`: how it is calibrated, and what it
promises. Discrete Laplace noise is calibrated by the L1 norm and gives pure ε; discrete Gaussian
noise by the L2 norm, and gives (ε, δ) with its μ.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.mechanism import Mechanism, NeighbourPair, PublicFacts, Values, parameter
from eyelid.privacy.gaussian import (
    check_delta,
    check_epsilon,
    discreteness_slack,
    gaussian_epsilon,
    gaussian_mu,
)
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteGaussian, DiscreteLaplace, DiscreteNoise, Randomness
from eyelid.privacy.unit import PERSON, Neighbours, Trust, Unit

Integers = NDArray[np.int64]

FEWEST_STEPS = 2.0**30
"""Grid steps of the scale of Gaussian noise, at least: discreteness then costs next to nothing."""
SCALE = 2**36
"""Grid steps of the noise's scale in totals: how far one person moves them is calibrated to it."""


def offered_unit(default: Unit = PERSON) -> Any:
    """The parameter of a mechanism that can be asked to protect one of the units it offers."""
    return parameter("whose value is hidden", default=default)


@dataclass(frozen=True)
class DifferentialMechanism(Mechanism):
    """Differential privacy of some unit, or what a paper takes for it.

    Attributes:
        epsilon: the total for one ``unit``, over everything in it.
    """

    family: ClassVar[str] = "differential"
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 1.0},)
    """Parameters for distinguishing games, where these have power (ε or μ between 0.5 and 4): first
    those under which neighbours reach the whole loss, then others."""
    game_units: ClassVar[tuple[str, ...]] = ()
    """Units for the games, where those offered need a number; otherwise all that are offered."""
    playable: ClassVar[bool] = True

    epsilon: float = parameter("privacy loss for one unit, over everything in it")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_epsilon(self.epsilon)
        if self.asks_for_unit() and self.unit.name not in self.units:
            raise Refused(
                f"{self.name} does not offer the unit '{self.unit}': "
                f"choose one of {', '.join(self.units)}"
            )

    @classmethod
    def set_for_games(cls) -> Iterator[Mechanism]:
        """The mechanism as `verify` plays against it, at each unit that it can be asked for."""
        for parameters in cls.games:
            if not cls.asks_for_unit():
                yield cls(**parameters)
                continue
            for name in cls.game_units or cls.units:
                yield cls(**parameters | {"unit": cls.unit_named(name, parameters)})

    @classmethod
    def asks_for_unit(cls) -> bool:
        """Whether the unit is a parameter; of others it follows from the rest of them."""
        return any(item.name == "unit" for item in fields(cls))

    def delta_for(self, people: int) -> float:
        """The δ that was asked for, or the default for so many people."""
        return default_delta(people) if self.delta is None else self.delta

    def parts(self) -> Iterator[DifferentialMechanism]:
        """Mechanisms that it is made of, whose promises its own rests on: `verify` tries each."""
        return iter(())

    @abstractmethod
    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """The worst neighbours known, for the distinguishing game."""

    @abstractmethod
    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Outputs of ``runs`` independent runs on the same data, one row a run."""

    @abstractmethod
    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """How much each output speaks for ``pair.other`` against ``pair.one``."""


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
    """The decimal number that the user wrote: 0.1 is a tenth."""
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


@dataclass(frozen=True)
class NoisyMechanism(DifferentialMechanism):
    """Noise of one distribution on the integers of a query whose sensitivity is declared.

    Arrays of one person's values have the axes (…, recordings, rows, features).
    """

    family: ClassVar[str] = "noisy"
    distribution: ClassVar[Distribution]
    """The noise: how it is calibrated, and what it promises."""
    coarsest: ClassVar[float] = FEWEST_STEPS
    """Grid steps of the scale of Gaussian noise, at least: room for them is left in μ."""

    unit: Unit = offered_unit()

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
        """The scale of the noise, in grid steps."""
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


@dataclass(frozen=True)
class Total(NoisyMechanism):
    """One noise on everything that is summed up over people, calibrated to a person.

    One whose noise has no δ declares ``delta`` a class fact, and has no such parameter.
    """

    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    coarsest: ClassVar[float] = SCALE

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gaussian_delta(self.delta, instead="one with Laplace noise")

    @abstractmethod
    def cells(self, facts: Any) -> int:
        """How many numbers have noise."""

    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """All of them: a person can move any."""
        return self.cells(facts)

    def noise(self, facts: PublicFacts) -> DiscreteNoise:
        """The scale is SCALE steps."""
        return self.distribution.of(SCALE)

    def mu_of(self, facts: PublicFacts, unit: Unit) -> float:
        """The μ of the person, whom the noise is calibrated to."""
        return self.mu(facts)

    def within(self, facts: PublicFacts, unit: Unit) -> tuple[slice, slice, slice]:
        """Everything of a person."""
        return slice(None), slice(None), slice(None)

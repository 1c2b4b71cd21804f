"""One noise on a total over people, calibrated to a person."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.mechanisms.differential import CalibratedMechanism
from eyelid.mechanisms.distribution import check_gaussian_delta
from eyelid.mechanisms.mechanism import PublicFacts, parameter
from eyelid.mechanisms.noisy import NoisyMechanism
from eyelid.privacy.noise import DiscreteNoise
from eyelid.privacy.unit import Trust, Unit

SCALE = 2**36
"""Grid steps of the noise's scale: how far one person moves the total is calibrated to it."""


@dataclass(frozen=True)
class Total(NoisyMechanism):
    """One noise on everything that is summed up over people."""

    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    coarsest: ClassVar[float] = SCALE

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
        """That of the person, whom the noise is calibrated to."""
        return self.mu(facts)

    def within(self, facts: PublicFacts, unit: Unit) -> tuple[slice, slice, slice]:
        """Everything of a person."""
        return slice(None), slice(None), slice(None)


@dataclass(frozen=True)
class WithDelta(CalibratedMechanism):
    """A mechanism with a δ, which comes after ε and the unit."""

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gaussian_delta(self.delta, instead="one with Laplace noise")

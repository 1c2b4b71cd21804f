"""Discrete Gaussian noise on a total over people: (ε, δ) of a person by the L2 norm."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Shape, parameter
from eyelid.mechanisms.noisy import NoisyMechanism, l2
from eyelid.mechanisms.records.approximate import default_delta
from eyelid.privacy.gaussian import check_delta, discreteness_slack, gaussian_mu
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteGaussian, DiscreteNoise
from eyelid.privacy.unit import PERSON, Neighbours, Trust, Unit

SCALE = 2**36
"""Grid steps of the noise's scale: how far one person moves the total is calibrated to it."""


@dataclass(frozen=True)
class GaussianTotal(NoisyMechanism):
    """One noise on everything that is summed up over people, with its μ."""

    kind: ClassVar[Kind] = Kind.APPROXIMATE
    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 4.0, "delta": 1e-5},)

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None and check_delta(self.delta) == 0:
            raise InputError(
                "delta must be above 0 for Gaussian noise: use one with Laplace noise for δ = 0"
            )

    @abstractmethod
    def cells(self, shape: Any) -> int:
        """How many numbers have noise."""

    def delta_for(self, people: int) -> float:
        """The δ that was asked for, or the default for so many people."""
        return default_delta(people) if self.delta is None else self.delta

    def mu_for(self, people: int, cells: int) -> float:
        """μ, with room for the worst that the noise's grid can do."""
        slack = discreteness_slack(cells, SCALE)
        return gaussian_mu(self.epsilon, self.delta_for(people), slack)

    def mu(self, shape: Any) -> float:
        """μ of a person."""
        return self.mu_for(shape.people, self.cells(shape))

    def noise(self, shape: Shape) -> DiscreteNoise:
        """σ is SCALE steps."""
        return DiscreteGaussian(SCALE)

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The L2 norm."""
        return l2(difference)

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for."""
        return Guarantee(
            kind=self.kind,
            unit=PERSON,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=self.epsilon,
            delta=self.delta_for(shape.people),
            mu=self.mu(shape),
            slack=discreteness_slack(self.cells(shape), SCALE),
        )

"""Discrete Gaussian noise on coordinates: (ε, δ) by the L2 norm, with its μ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Shape, parameter
from eyelid.mechanisms.noisy import l2, noise_of
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.privacy.gaussian import check_delta, discreteness_slack, gaussian_epsilon, gaussian_mu
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import Neighbours, Unit

FEWEST_STEPS = 2.0**30


def default_delta(people: int) -> float:
    """δ when none is given: min(N^−1.5, 1e-6).

    >>> default_delta(20)
    1e-06
    """
    return min(math.pow(people, -1.5), 1e-6)


@dataclass(frozen=True)
class ApproximateMechanism(MeasuringMechanism):
    """A mechanism whose μ is the L2 distance of integers over the σ of the noise."""

    kind: ClassVar[Kind] = Kind.APPROXIMATE
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 4.0, "delta": 1e-5},)

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None and check_delta(self.delta) == 0:
            raise InputError("delta must be above 0 for Gaussian noise: use laplace for δ = 0")

    def delta_for(self, shape: Shape) -> float:
        """The δ that was asked for, or the default for so many people."""
        return default_delta(shape.people) if self.delta is None else self.delta

    def mu(self, shape: Shape) -> float:
        """μ for the calibrated unit, with room for the worst slack the grid allows."""
        slack = discreteness_slack(self.coordinates(shape, self.unit), FEWEST_STEPS)
        return gaussian_mu(self.epsilon, self.delta_for(shape), slack)

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The L2 norm."""
        return l2(difference)

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for the calibrated unit; for another unit ε at the same δ from its μ."""
        delta = self.delta_for(shape)
        sigma_steps = float(noise_of(self, shape).scale)
        mu = self.sensitivity(shape, unit) / sigma_steps
        slack = discreteness_slack(self.coordinates(shape, unit), sigma_steps)
        same = self.blocks(shape, unit) == self.blocks(shape, self.unit)
        return Guarantee(
            kind=Kind.APPROXIMATE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=self.epsilon if same else gaussian_epsilon(mu, delta, slack),
            delta=delta,
            mu=mu,
            slack=slack,
        )

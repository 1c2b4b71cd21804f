"""Gaussian noise on every value: less noise than Laplace when a unit has many values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.additive import AdditiveMechanism, noise_of
from eyelid.mechanisms.mechanism import Shape, parameter, register
from eyelid.privacy.gaussian import (
    check_delta,
    discreteness_slack,
    gaussian_epsilon,
    gaussian_mu,
)
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteGaussian
from eyelid.privacy.unit import Neighbours, Unit

_FEWEST_STEPS = 2.0**30


def default_delta(people: int) -> float:
    """δ when none is given: min(N^−1.5, 1e-6).

    >>> default_delta(20)
    1e-06
    """
    return min(math.pow(people, -1.5), 1e-6)


@register
@dataclass(frozen=True)
class Gaussian(AdditiveMechanism):
    """Independent discrete Gaussian noise on every value of a feature table.

    Takes: a FeatureTable; missing values become the public midpoint, every value is clipped to its
    public bounds and put on a public grid, every recording has one public length n.

    Protects: a person (or a recording, or a released row), replace-one, with (ε, δ)-DP. μ = Δ₂/σ is
    stated too: it composes exactly, and a person's total follows from μ·√(values ratio).

    Why: in units of the span every value lies in [0, 1], so a unit of K values moves at most
    Δ₂ = √K. σ = Δ₂·σ_AG(ε, δ′), rounded up to whole grid steps (at least 2³⁰ of them); δ′ leaves
    room for (1 + e^ε)·0.0202·K/σ² (σ in steps), the discrete noise's distance from the continuous.

    Paper: Dwork & Roth 2014; σ_AG is the analytic Gaussian of Balle & Wang 2018; the discrete
    Gaussian is that of Canonne, Kamath & Steinke 2020.
    """

    name: ClassVar[str] = "gaussian"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    paper: ClassVar[str] = (
        "Balle & Wang (2018), Improving the Gaussian mechanism for differential privacy; "
        "Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy"
    )
    game_parameters: ClassVar[dict[str, Any]] = {"epsilon": 4.0, "delta": 1e-5}

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None and check_delta(self.delta) == 0:
            raise InputError("delta must be above 0 for Gaussian noise: use laplace for δ = 0")

    def _delta(self, shape: Shape) -> float:
        return default_delta(shape.people) if self.delta is None else self.delta

    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """Δ₂ in spans: √ of the number of values of the unit."""
        return math.sqrt(shape.values_of(unit))

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The L2 norm."""
        norms: NDArray[np.float64] = np.linalg.norm(difference.astype(np.float64), axis=-1)
        return norms

    def _mu(self, shape: Shape) -> float:
        """μ for the calibrated unit, with room for the worst slack the grid allows."""
        slack = discreteness_slack(shape.values_of(self.unit), _FEWEST_STEPS)
        return gaussian_mu(self.epsilon, self._delta(shape), slack)

    def scale_in_spans(self, shape: Shape) -> float:
        """σ = Δ₂/μ."""
        return self.sensitivity(shape, self.unit) / self._mu(shape)

    def noise(self, shape: Shape) -> DiscreteGaussian:
        """σ in whole steps, rounded up, with room for the float arithmetic behind it."""
        steps = self.scale_in_spans(shape) * 2.0 ** self.grid_bits(shape)
        if steps < _FEWEST_STEPS:
            raise InputError(
                f"epsilon {self.epsilon:g} leaves noise finer than the grid: choose a smaller one"
            )
        return DiscreteGaussian(math.ceil(steps * (1 + 1e-12)))

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for the calibrated unit; for another unit ε at the same δ from its μ."""
        delta = self._delta(shape)
        sigma_steps = float(noise_of(self, shape).scale)
        mu = self.sensitivity(shape, unit) * 2.0 ** self.grid_bits(shape) / sigma_steps
        slack = discreteness_slack(shape.values_of(unit), sigma_steps)
        same = shape.values_of(unit) == shape.values_of(self.unit)
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

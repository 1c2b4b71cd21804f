"""Gaussian noise on every value: less noise than Laplace when a unit has many values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.mechanisms.differential import (
    FEWEST_STEPS,
    GAUSSIAN,
    Distribution,
    check_gaussian_delta,
)
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.additive import AdditiveMechanism
from eyelid.privacy.noise import DiscreteGaussian
from eyelid.privacy.unit import Unit


@register
@dataclass(frozen=True)
class Gaussian(AdditiveMechanism):
    """Independent discrete Gaussian noise on every value of a feature table."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Independent discrete Gaussian noise on every value of a feature table.",
        takes="""a FeatureTable; missing values become the public midpoint, every value is clipped
        to its public bounds and put on a public grid, every recording has one public length n.""",
        protects="""a person (or a recording, or a released row), replace-one, with (ε, δ)-DP.
        μ = Δ₂/σ is stated too: it composes exactly, and a person's total follows from μ·√(values
        ratio).""",
        why="""in units of the range every value lies in [0, 1], so a unit of K values moves at most
        Δ₂ = √K. σ = Δ₂·σ_AG(ε, δ′), rounded up to whole grid steps (at least 2³⁰ of them); δ′
        leaves room for (1 + e^ε)·0.0202·K/σ² (σ in steps), the discrete noise's distance from the
        continuous.""",
        paper="""Dwork & Roth 2014; σ_AG is the analytic Gaussian of Balle & Wang 2018; the discrete
        Gaussian is that of Canonne, Kamath & Steinke 2020.""",
    )
    name: ClassVar[str] = "gaussian"
    distribution: ClassVar[Distribution] = GAUSSIAN
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"epsilon": 4.0, "delta": 1e-5},)
    paper: ClassVar[str] = (
        "Balle & Wang (2018), Improving the Gaussian mechanism for differential privacy; "
        "Canonne, Kamath & Steinke (2020), The discrete Gaussian for differential privacy"
    )

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gaussian_delta(self.delta, instead="laplace")

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """Δ₂: √ of the number of values of the unit, in spans."""
        return math.sqrt(facts.values_of(unit)) * 2.0 ** self.grid_bits(facts)

    def scale_in_spans(self, facts: PublicFacts) -> float:
        """σ = Δ₂/μ."""
        return math.sqrt(facts.values_of(self.unit)) / self.mu(facts)

    def noise(self, facts: PublicFacts) -> DiscreteGaussian:
        """σ in whole steps, rounded up, with room for the float arithmetic behind it."""
        steps = self.scale_in_spans(facts) * 2.0 ** self.grid_bits(facts)
        if steps < FEWEST_STEPS:
            raise InputError(
                f"epsilon {self.epsilon:g} leaves noise finer than the grid: choose a smaller one"
            )
        return DiscreteGaussian(math.ceil(steps * (1 + 1e-12)))

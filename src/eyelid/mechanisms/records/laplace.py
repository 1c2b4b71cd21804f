"""Laplace noise on every value: the plainest mechanism that gives pure differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from eyelid.mechanisms.differential import LAPLACE, Distribution, exact
from eyelid.mechanisms.mechanism import PublicFacts, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.additive import AdditiveMechanism
from eyelid.privacy.noise import DiscreteLaplace
from eyelid.privacy.unit import Unit


@register
@dataclass(frozen=True)
class Laplace(AdditiveMechanism):
    """Independent discrete Laplace noise on every value of a feature table."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Independent discrete Laplace noise on every value of a feature table.",
        takes="""a FeatureTable; missing values become the public midpoint, every value is clipped
        to its public bounds and put on a public grid, every recording has one public length n.""",
        protects="""a person (or a recording, or a released row), replace-one, with pure ε-DP. A
        person's total is ε × (values of a person) / (values of the unit).""",
        why="""in units of the range every value lies in [0, 1], so a unit of K values moves at most
        Δ₁ = K. Integers of 2^b steps per span move at most K·2^b, and discrete Laplace noise of
        scale t = ⌈K·2^b/ε⌉ changes any output's probability by at most exp(K·2^b/t) ≤ e^ε.""",
        paper="""the LPA of Bozkir et al. 2021, with public bounds instead of the data's extremes
        and exact integer noise instead of floating point; Dwork et al. 2006.""",
    )
    name: ClassVar[str] = "laplace"
    distribution: ClassVar[Distribution] = LAPLACE
    aliases: ClassVar[tuple[str, ...]] = ("lpa",)
    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations (LPA); Dwork, McSherry, Nissim & Smith (2006)"
    )

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """Δ₁: one span for each value of the unit."""
        return float(facts.values_of(unit)) * 2.0 ** self.grid_bits(facts)

    def scale_in_spans(self, facts: PublicFacts) -> float:
        """Δ₁/ε."""
        return self.times * facts.values_of(self.unit) / self.epsilon

    def noise(self, facts: PublicFacts) -> DiscreteLaplace:
        """Scale ⌈Δ₁·2^b/ε⌉, in exact arithmetic."""
        steps = self.times * facts.values_of(self.unit) * 2 ** self.grid_bits(facts)
        return DiscreteLaplace(math.ceil(steps / exact(self.epsilon)))

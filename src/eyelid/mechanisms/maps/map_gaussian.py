"""A map of counts, pixel by pixel, for thousands of people."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from eyelid.mechanisms.differential import GAUSSIAN, Distribution
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.mechanisms.mechanism import PublicFacts, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.unit import Unit


@register
@dataclass(frozen=True)
class MapGaussian(CappedMap):
    """The mean count of gaze points in every pixel or cell, under Gaussian noise."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The mean count of gaze points in every pixel or cell, under Gaussian noise.",
        takes="""all people's counts in the cells of all layers; a person with more than M in all is
        scaled down to M, then what is above m in a cell is cut off. Both numbers are public, or m
        is chosen by the exponential mechanism with a tenth of ε.""",
        protects="""a person, replace-one, (ε, δ), and μ-GDP where nothing is chosen; trust is
        central. N, M, m, the grid and the layers' names are public.""",
        why="""contributions a, b have no negative parts, no entry above m, no sum above M. Hence
        ‖a‖² ≤ m·Σa ≤ mM and ‖a − b‖² ≤ ‖a‖² + ‖b‖² ≤ 2mM; and |aⱼ − bⱼ| ≤ m in each of r cells. One
        person moves the sum by at most Δ₂ = min(m√r, √(2mM)). The discrete Gaussian has σ = Δ₂/μ,
        with μ from (ε, δ) by Balle & Wang. A private choice of m scores a cap by the root of its
        expected squared error, which one person moves by at most √2·M, and loses ε/10; the noise
        has the rest.""",
        paper="""Liu et al. 2019, whose Gaussian noise is calibrated to m√r by a proof that fails
        for few cells; sparse sensitivity and the analytic calibration are ours.""",
    )
    name: ClassVar[str] = "map-gaussian"
    distribution: ClassVar[Distribution] = GAUSSIAN
    paper: ClassVar[str] = (
        "Liu, Xia, Duchowski, Bailey, Holmqvist & Jain (2019), Differential privacy for "
        "eye-tracking data; Balle & Wang (2018)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "cap": 1, "samples": 2},
        {"epsilon": 4.0, "delta": 1e-5, "cap": 1, "samples": 30},
        {"epsilon": 2.0, "delta": 1e-3, "cap": "private", "samples": 4},
    )

    def reach(self, facts: MapFacts) -> float:
        """min(m√r, √(2mM))."""
        cells = facts.recordings * facts.length
        most = min(self.most, self.samples)
        return min(most * math.sqrt(cells), math.sqrt(2 * most * self.samples))

    def noise_norm(self, facts: MapFacts) -> float:
        """σ√r."""
        return self.reach(facts) / self.mu(facts) * math.sqrt(facts.recordings * facts.length)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for; with a choice it is no longer one Gaussian's μ."""
        found = super().cost(facts, unit)
        return replace(found, mu=None, slack=0.0) if self.chooses else found

"""A map of counts under pure differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.mechanisms.differential import LAPLACE, Distribution
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.mechanisms.mechanism import register
from eyelid.mechanisms.proof_note import ProofNote


@register
@dataclass(frozen=True)
class MapLaplace(CappedMap):
    """The mean count of gaze points in every pixel or cell, under Laplace noise."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The mean count of gaze points in every pixel or cell, under Laplace noise.",
        takes="""all people's counts in the cells of all layers; a person with more than M in all is
        scaled down to M, then what is above m in a cell is cut off. Both numbers are public, or m
        is chosen by the exponential mechanism with a tenth of ε.""",
        protects="""a person, replace-one, pure ε; trust is central. N, M, m, the grid and the
        layers' names are public.""",
        why="""contributions have no negative parts, no entry above m and no sum above M, so that
        one person moves the sum by at most Δ₁ = min(m·r, 2M) in L1. Discrete Laplace noise of scale
        Δ₁/ε on integers that were cut towards zero is exactly ε-DP. A private choice of m scores a
        cap by the root of its expected squared error, which one person moves by at most √2·M, and
        loses ε/10; the noise has the rest.""",
        paper="""Liu et al. 2019, Theorem 3.5, which holds but counts m in all r pixels; sparse
        sensitivity and exact noise are ours.""",
    )
    name: ClassVar[str] = "map-laplace"
    distribution: ClassVar[Distribution] = LAPLACE
    delta: ClassVar[None] = None  # type: ignore[misc]
    paper: ClassVar[str] = (
        "Liu, Xia, Duchowski, Bailey, Holmqvist & Jain (2019), Differential privacy for "
        "eye-tracking data; Dwork, McSherry, Nissim & Smith (2006)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 1.0, "cap": 1, "samples": 1},
        {"epsilon": 1.0, "cap": 1, "samples": 30},
        {"epsilon": 2.0, "cap": "private", "samples": 4},
    )

    def reach(self, facts: MapFacts) -> float:
        """min(m·r, 2M)."""
        return min(self.most * facts.recordings * facts.length, 2.0 * self.samples)

    def noise_norm(self, facts: MapFacts) -> float:
        """√(2r)·Δ₁/ε."""
        cells = facts.recordings * facts.length
        return math.sqrt(2 * cells) * self.reach(facts) / self.epsilon

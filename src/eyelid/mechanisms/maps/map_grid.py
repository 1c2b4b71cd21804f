"""A coarse map of shares of gaze: useful from some twenty people on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.differential import GAUSSIAN, Distribution
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.mechanisms.maps.noisy_sum import NoisyMap
from eyelid.mechanisms.mechanism import Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote

# Cells for each (N/σ)^⅔: about the best of a sweep over grids on synthetic scenes.
_CELLS = 12.0
_SMALLEST_CLIP = 0.2
# Noise of a cell, as a share of an average cell, up to which people may count in full.
_QUIET = 0.25


@register
@dataclass(frozen=True)
class MapGrid(NoisyMap):
    """The share of gaze in each cell of a coarse public grid, under Gaussian noise."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="The share of gaze in each cell of a coarse public grid, under Gaussian noise.",
        takes="""everybody's counts in the cells of all layers. A person's counts are divided by
        their sum, so that all weigh the same however long they looked; a person who has no gaze
        point is the zero map. The vector of all layers is scaled down to the public length B in L2
        where
        it is longer.""",
        protects="""a person, replace-one, (ε, δ) and μ-GDP; trust is central. N, the grid and B are
        public and follow from N, ε, δ, the number of layers, the picture's size and the point
        spread alone; so are the layers' names.""",
        why="""contributions have no negative parts, so that ‖a − b‖² ≤ ‖a‖² + ‖b‖² ≤ 2B²: one
        person moves the sum by at most Δ₂ = √2·B. Integers are cut towards zero, which makes no
        norm longer, and summed exactly. The discrete Gaussian has σ = Δ₂/μ, with μ from (ε, δ) by
        Balle & Wang. What comes after (spreading, clipping at zero, normalising) knows the noisy
        cells alone.""",
        paper="""Liu et al. 2019 propose to down-sample for few observers; unit mass, the L2 clip
        and √2 in place of the pixels' √r are ours.""",
    )
    name: ClassVar[str] = "map-grid"
    distribution: ClassVar[Distribution] = GAUSSIAN
    of_shares: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "Liu, Xia, Duchowski, Bailey, Holmqvist & Jain (2019), Differential privacy for "
        "eye-tracking data (down-sampled); Balle & Wang (2018)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "clip": 0.2},
        {"epsilon": 2.0, "delta": 1e-3, "clip": 1.0},
    )

    grid: str = parameter("cells of a picture: COLUMNSxROWS, pixels, or auto", default="auto")
    clip: float | str = parameter(
        "L2 length B of a person's shares over all layers (at most 1), or auto", default="auto"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.clip, str):
            if self.clip != "auto":
                raise InputError(f"clip must be a number or auto, got '{self.clip}'")
        elif not 0 < self.clip <= 1:
            raise InputError(f"clip must be above 0 and at most 1, got {self.clip:g}")

    def cells_of_about(self, people: int, layers: int) -> float:
        """12·(N/(σ√L))^⅔: so many that an average hotspot still stands out of the noise."""
        sigma = 1 / self.mu_for(people, layers)
        return _CELLS * math.pow(people / (sigma * math.sqrt(layers)), 2 / 3)

    def radius(self, facts: MapFacts) -> float:
        """B. By the public rule 0.2/√L, and more only where the noise stays small all the same."""
        if not isinstance(self.clip, str):
            return self.clip
        cells = facts.recordings * facts.length
        quiet = _QUIET * facts.people * self.mu(facts) / (math.sqrt(2) * cells)
        return min(1.0, max(_SMALLEST_CLIP / math.sqrt(facts.recordings), quiet))

    def fixed_at(self, facts: MapFacts) -> Self:
        """With its clip as a number."""
        return replace(self, clip=self.radius(facts))

    def clip_at(self, facts: MapFacts) -> float:
        """B."""
        return self.radius(facts)

    @property
    def most_of_person(self) -> float:
        """Shares add up to one."""
        return 1.0

    def reach(self, facts: MapFacts) -> float:
        """√2·B."""
        return math.sqrt(2) * self.radius(facts)

    def largest(self, facts: MapFacts) -> float:
        """All of a person's gaze in one cell."""
        return self.radius(facts)

    def limited(self, counts: PersonCounts, facts: MapFacts) -> Values:
        """Shares of each person's own counts, no longer than B in L2."""
        # Against the largest first, so that no square overflows or vanishes.
        most = np.zeros(counts.people)
        np.maximum.at(most, counts.person, counts.count)
        relative = counts.count / np.where(most > 0, most, 1.0)[counts.person]
        mass, square = counts.per_person(relative), counts.per_person(relative**2)
        # Where length / mass is above B, B / length; both are safe at nothing.
        radius = self.radius(facts)
        divisor = np.maximum(mass, np.sqrt(square) / radius)
        return np.asarray(relative / np.where(divisor > 0, divisor, 1.0)[counts.person])

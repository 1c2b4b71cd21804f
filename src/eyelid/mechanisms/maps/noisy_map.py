"""Maps that hold: everybody's counts within a public limit, summed up in integers, exact noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.noisy import Integers, noise_of
from eyelid.privacy.noise import Randomness


@dataclass(frozen=True)
class NoisyMap(MapMechanism, NoisySum):
    """Each person's counts within a public limit, summed over people, with one noise on the sum."""

    family: ClassVar[str] = "maps"

    check_room = NoisySum.check_room

    def divided(self, noisy: Integers, facts: MapFacts) -> Values:
        """Noisy sums in steps (…, all cells) as means over people (…, layers, rows, columns)."""
        means = noisy * (self.step(facts) / facts.people)
        return np.asarray(means.reshape(*noisy.shape[:-1], *facts.size))

    def undivided(self, means: Values, facts: MapFacts) -> Values:
        """The sums in steps again (…, all cells)."""
        return np.asarray(means * (facts.people / self.step(facts)))

    def measure(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Values:
        """The noisy sum over the public number of people."""
        return NoisySum.measure(self, counts, facts, noise)

    def in_spans(
        self, counts: PersonCounts, facts: MapFacts, cells: Values
    ) -> tuple[Values, Values]:
        """By the limits of the sum."""
        return NoisySum.in_spans(self, counts, facts, cells)

    def cell_sd(self, facts: MapFacts) -> float:
        """That of the noise on the sum, over the number of people."""
        return math.sqrt(noise_of(self, facts).variance) * self.step(facts) / facts.people

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        assert isinstance(facts, MapFacts)
        distribution = noise_of(self, facts)
        return (
            f"{distribution.label} of standard deviation {self.cell_sd(facts):.4g} in each cell of "
            f"the mean over people ({distribution.scale} grid steps on the sum), "
            f"{facts.grid.columns} × {facts.grid.rows} cells"
        )

    def random_facts(self, rng: np.random.Generator) -> PublicFacts:
        """Few layers and cells, sometimes one."""
        columns, rows, layers = (int(count) for count in rng.integers(1, 5, size=3))
        return MapFacts.of(1, layers, Grid(columns, rows, columns, rows))

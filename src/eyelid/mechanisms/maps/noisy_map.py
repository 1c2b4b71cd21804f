"""Maps that hold: everybody's counts within a public limit, summed up in integers, exact noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.differential import Integers, noise_of
from eyelid.mechanisms.maps.map_mechanism import MapMechanism, MapShape
from eyelid.mechanisms.maps.noisy_sum import NoisySum
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.privacy.noise import Randomness


@dataclass(frozen=True)
class NoisyMap(MapMechanism, NoisySum):
    """Each person's counts within a public limit, summed over people, with one noise on the sum."""

    family: ClassVar[str] = "maps"

    check_room = NoisySum.check_room

    def divided(self, noisy: Integers, shape: MapShape) -> Values:
        """Noisy sums in steps (…, all cells) as means over people (…, layers, rows, columns)."""
        means = noisy * (self.step(shape) / shape.people)
        return np.asarray(means.reshape(*noisy.shape[:-1], *shape.size))

    def undivided(self, means: Values, shape: MapShape) -> Values:
        """The sums in steps again (…, all cells)."""
        return np.asarray(means * (shape.people / self.step(shape)))

    def measure(self, counts: PersonCounts, shape: MapShape, noise: Randomness) -> Values:
        """The noisy sum over the public number of people."""
        return NoisySum.measure(self, counts, shape, noise)

    def in_spans(
        self, counts: PersonCounts, shape: MapShape, cells: Values
    ) -> tuple[Values, Values]:
        """By the limits of the sum."""
        return NoisySum.in_spans(self, counts, shape, cells)

    def cell_sd(self, shape: MapShape) -> float:
        """That of the noise on the sum, over the number of people."""
        return math.sqrt(noise_of(self, shape).variance) * self.step(shape) / shape.people

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        assert isinstance(shape, MapShape)
        law = noise_of(self, shape)
        return (
            f"{law.label} of standard deviation {self.cell_sd(shape):.4g} in each cell of the mean "
            f"over people ({law.scale} grid steps on the sum), {shape.grid.columns} × "
            f"{shape.grid.rows} cells"
        )

    def random_shape(self, rng: np.random.Generator) -> Shape:
        """Few layers and cells, sometimes one."""
        columns, rows, layers = (int(count) for count in rng.integers(1, 5, size=3))
        return MapShape.of(1, layers, Grid(columns, rows, columns, rows))

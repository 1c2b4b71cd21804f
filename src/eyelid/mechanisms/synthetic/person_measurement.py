"""What is measured of people whose rows are no signal: trials, questions, single fixations.

Nested counts say where values are and how widely they lie, eighths of that how they do in each task
and group. Two rounds of signs say how every two features go together, and how much a person's rows
are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.densities import best_gaussian, nested
from eyelid.mechanisms.synthetic.measurement import Measurement
from eyelid.mechanisms.synthetic.person_rounds import widths
from eyelid.mechanisms.synthetic.rounds import Round

PARTS = 8
"""Parts into which a feature is put for each task."""


@dataclass(frozen=True, eq=False)
class PersonMeasurement(Measurement):
    """The rounds: nested levels, shares of eighths, all pairs of features, likeness of rows."""

    of_people: ClassVar[bool] = True

    def asked(self, parents: NDArray[np.int64]) -> Round:
        """How alike a person's rows are, whatever the tree."""
        return self.signs

    def trees(self, choice: Integers) -> NDArray[np.int64]:
        """Every feature after the one before it: all pairs are known, and no tree is needed."""
        features = self.facts.features
        return np.broadcast_to(np.arange(-1, features - 1), (*choice.shape[:-1], features))

    @property
    def sums(self) -> Values:
        """Which bins each nested count is of, (counts, bins)."""
        return nested(self.levels.bins, tuple(widths(self.levels.bins)))

    def nested_counts(self, levels: Integers) -> Values:
        """Nested counts in people, (…, features, counts)."""
        counts = self.levels.in_people(levels, self.facts)
        return counts.reshape(*levels.shape[:-1], self.facts.features, -1)

    def overall(self, levels: Integers) -> Values:
        """The Gaussian that is most like the noisy counts of each feature, to ask further by."""
        return best_gaussian(self.nested_counts(levels), self.sums)

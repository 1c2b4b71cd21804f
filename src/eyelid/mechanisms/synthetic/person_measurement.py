"""What is measured of people whose rows are no signal: trials, questions, single fixations.

Beside how values are distributed, two rounds of signs say how every two features go together, and
how much a person's rows are alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.synthetic.measurement import Measurement
from eyelid.mechanisms.synthetic.rounds import Round


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

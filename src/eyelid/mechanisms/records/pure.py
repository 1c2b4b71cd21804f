"""Discrete Laplace noise on coordinates: pure differential privacy by the L1 norm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Shape
from eyelid.mechanisms.noisy import l1
from eyelid.mechanisms.records.measuring import MeasuringMechanism
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import Neighbours, Unit


@dataclass(frozen=True)
class PureMechanism(MeasuringMechanism):
    """A mechanism whose loss is the L1 distance of integers over the scale of the noise."""

    kind: ClassVar[Kind] = Kind.PURE

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The L1 norm."""
        return l1(difference)

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """ε in proportion to the blocks that the unit covers."""
        ratio = Fraction(self.blocks(shape, unit), self.blocks(shape, self.unit))
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=float(exact(self.epsilon) * ratio),
            delta=0.0,
        )


def exact(number: float) -> Fraction:
    """The decimal number that a person wrote: 0.1 is a tenth."""
    return Fraction(repr(float(number)))

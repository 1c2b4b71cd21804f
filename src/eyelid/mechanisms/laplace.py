"""Laplace noise on every value: the plainest mechanism that gives pure differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.additive import AdditiveMechanism
from eyelid.mechanisms.mechanism import Shape, register
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteLaplace
from eyelid.privacy.unit import Neighbours, Unit


@register
@dataclass(frozen=True)
class Laplace(AdditiveMechanism):
    """Independent discrete Laplace noise on every value of a feature table.

    Takes: a FeatureTable; missing values become the public midpoint, every value is clipped to its
    public bounds and put on a public grid, every recording has one public length n.

    Protects: a person (or a recording, or a released row), replace-one, with pure ε-DP. A person's
    total is ε × (values of a person) / (values of the unit).

    Why: in units of the span every value lies in [0, 1], so a unit of K values moves at most
    Δ₁ = K. Integers of 2^b steps per span move at most K·2^b, and discrete Laplace noise of scale
    t = ⌈K·2^b/ε⌉ changes any output's probability by at most exp(K·2^b/t) ≤ e^ε.

    Paper: the LPA of Bozkir et al. 2021, with public bounds instead of the data's extremes and
    exact integer noise instead of floating point; Dwork et al. 2006.
    """

    name: ClassVar[str] = "laplace"
    aliases: ClassVar[tuple[str, ...]] = ("lpa",)
    kind: ClassVar[Kind] = Kind.PURE
    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations (LPA); Dwork, McSherry, Nissim & Smith (2006)"
    )

    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """Δ₁ in spans: one for each value of the unit."""
        return float(shape.values_of(unit))

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The L1 norm."""
        norms: NDArray[np.float64] = np.abs(difference).sum(axis=-1, dtype=np.float64)
        return norms

    def scale_in_spans(self, shape: Shape) -> float:
        """Δ₁/ε."""
        return self.sensitivity(shape, self.unit) / self.epsilon

    def noise(self, shape: Shape) -> DiscreteLaplace:
        """Scale ⌈Δ₁·2^b/ε⌉, in exact arithmetic."""
        steps = Fraction(shape.values_of(self.unit)) * 2 ** self.grid_bits(shape)
        return DiscreteLaplace(math.ceil(steps / _exact(self.epsilon)))

    def cost(self, shape: Shape, unit: Unit) -> Guarantee:
        """ε in proportion to the values that the unit covers."""
        ratio = Fraction(shape.values_of(unit), shape.values_of(self.unit))
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=float(_exact(self.epsilon) * ratio),
            delta=0.0,
        )


def _exact(number: float) -> Fraction:
    """The decimal number that a person wrote: 0.1 is a tenth."""
    return Fraction(repr(float(number)))

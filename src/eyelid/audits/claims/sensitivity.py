"""The sensitivity fuzz: without noise, no neighbours may differ by more than is declared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eyelid.mechanisms.measuring import MeasuringMechanism
from eyelid.mechanisms.mechanism import Shape
from eyelid.privacy.unit import Unit


@dataclass(frozen=True)
class FuzzResult:
    """The largest difference found, as a share of the declared sensitivity.

    Attributes:
        mechanism: its name.
        unit: where the neighbours differ.
        reached: at most 1 if the declaration is true; near 1 if it is not wasteful.
        pairs: how many were tried.
    """

    mechanism: str
    unit: str
    reached: float
    pairs: int

    @property
    def refuted(self) -> bool:
        """Whether some pair exceeds the declared sensitivity."""
        return self.reached > 1.0


def fuzz(mechanism: MeasuringMechanism, unit: Unit, pairs: int, seed: int = 0) -> FuzzResult:
    """Try random and extreme neighbours, inside and outside the bounds, missing values included."""
    rng = np.random.default_rng(seed)

    def reached(one: np.ndarray, other: np.ndarray, shape: Shape) -> float:
        """The largest distance of neighbours, the first axis going over pairs."""
        steps = mechanism.query(one, shape) - mechanism.query(other, shape)
        distance = mechanism.distance(steps.reshape(len(one), -1))
        return float(distance.max() / mechanism.sensitivity(shape, unit))

    worst, tried = 0.0, 0
    for pair in mechanism.neighbour_pairs(unit):
        worst = max(worst, reached(pair.one[None], pair.other[None], pair.shape))
    while tried < pairs:
        recordings, features = (int(n) for n in rng.integers(1, 7, size=2))
        length = mechanism.fewest_rows + int(rng.integers(0, 6))
        shape = Shape(1, recordings, length, features)
        batch = min(256, pairs - tried)
        one = _hostile(rng, (batch, recordings, length, features))
        other = one.copy()
        where = np.zeros((recordings, length, features), dtype=bool)
        where[mechanism.within(shape, unit)] = True
        other[:, where] = _hostile(rng, other[:, where].shape)
        # In half of the pairs the unit goes from one end to the other.
        ends = rng.random(batch) < 0.5
        one[ends] = np.where(where, -rng.random(), one[ends])
        other[ends] = np.where(where, 1.0 + rng.random(), one[ends])
        worst = max(worst, reached(one, other, shape))
        tried += batch
    # Norms of integers in floating point are right to about 1e-15.
    return FuzzResult(mechanism.name, str(unit), worst / (1 + 1e-12), tried)


def _hostile(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Values of every kind: inside, at the ends, far outside, missing, infinite."""
    kinds = rng.integers(0, 6, size=shape)
    return np.choose(
        kinds,
        [
            rng.random(shape),
            np.rint(rng.random(shape)),
            rng.normal(0.5, 2.0, shape),
            rng.normal(0.0, 1e6, shape),
            np.full(shape, np.nan),
            np.where(rng.random(shape) < 0.5, -np.inf, np.inf),
        ],
    )

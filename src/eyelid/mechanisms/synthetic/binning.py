"""Feature values as numbers of bins, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.mechanisms.mechanism import Values
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import uniforms

Codes = NDArray[np.uint8]

MOST_BINS = 256


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins between bounds, the same number for each feature.

    They are equal, or finer towards zero: most features of gaze are small where they are bounded by
    what is possible at all, and their logarithms vary. Which bins there are is public either way.

    Attributes:
        lowers: lower bound of each feature.
        uppers: upper bound of each feature; a feature without a span has one bin.
        count: bins of a feature.
        bend: 1 for equal bins. With 3, they are equal in the cube root of the distance from zero,
            or from the bound next to zero.

    >>> bins = Bins(np.array([0.0]), np.array([10.0]), 5)
    >>> bins.codes([[-1.0], [3.9], [4.0], [10.0], [np.nan]]).ravel()
    array([0, 1, 2, 4, 2], dtype=uint8)
    """

    lowers: Values
    uppers: Values
    count: int
    bend: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_BINS:
            raise InputError(f"bins must be 1 to {MOST_BINS}, got {self.count}")

    @classmethod
    def of(cls, features: Sequence[Feature], count: int, bend: int = 1) -> Bins:
        """Bins between the public bounds."""
        lowers = np.array([feature.lower for feature in features], dtype=np.float64)
        uppers = np.array([feature.upper for feature in features], dtype=np.float64)
        return cls(lowers, uppers, count, bend)

    def codes(self, values: object) -> Codes:
        """The bin of each value, (…, features): clipped to the bounds, NaN at the midpoint."""
        given = np.asarray(values, dtype=np.float64)
        middles = self.lowers + (self.uppers - self.lowers) / 2
        inside = np.clip(np.where(np.isnan(given), middles, given), self.lowers, self.uppers)
        low, high = self._bent(self.lowers), self._bent(self.uppers)
        place = (self._bent(inside) - low) / np.where(high > low, high - low, 1.0) * self.count
        # The upper bound lies in the last bin.
        return np.minimum(place, self.count - 1).astype(np.uint8)

    def values(self, place: Values) -> Values:
        """The values at places (…, features), counted in bins from the lower bound."""
        low, high = self._bent(self.lowers), self._bent(self.uppers)
        bent = low + place * ((high - low) / self.count)
        found = self._origins + np.sign(bent) * np.abs(bent) ** self.bend
        inside: Values = np.clip(found, self.lowers, self.uppers)
        return inside

    @property
    def _origins(self) -> Values:
        nearest: Values = np.clip(0.0, self.lowers, self.uppers)
        return nearest

    def _bent(self, values: Values) -> Values:
        away = values - self._origins
        if self.bend == 1:
            return away
        bent: Values = np.sign(away) * np.abs(away) ** (1 / self.bend)
        return bent

    def inside(self, codes: Codes, noise: Randomness) -> Values:
        """Values spread evenly inside their bins."""
        return self.values(codes + uniforms(noise, codes.size).reshape(codes.shape))

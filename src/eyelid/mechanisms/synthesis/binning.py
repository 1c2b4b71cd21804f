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
    """Equal bins between bounds, the same number for each feature.

    Attributes:
        lowers: lower bound of each feature.
        uppers: upper bound of each feature; a feature without a span has one bin.
        count: bins of a feature.

    >>> bins = Bins(np.array([0.0]), np.array([10.0]), 5)
    >>> bins.codes([[-1.0], [3.9], [4.0], [10.0], [np.nan]]).ravel()
    array([0, 1, 2, 4, 2], dtype=uint8)
    """

    lowers: Values
    uppers: Values
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_BINS:
            raise InputError(f"bins must be 1 to {MOST_BINS}, got {self.count}")

    @classmethod
    def of(cls, features: Sequence[Feature], count: int) -> Bins:
        """Bins between the public bounds."""
        lowers = np.array([feature.lower for feature in features], dtype=np.float64)
        uppers = np.array([feature.upper for feature in features], dtype=np.float64)
        return cls(lowers, uppers, count)

    def codes(self, values: object) -> Codes:
        """The bin of each value, (…, features): clipped to the bounds, NaN at the midpoint."""
        given = np.asarray(values, dtype=np.float64)
        middles = self.lowers + (self.uppers - self.lowers) / 2
        inside = np.clip(np.where(np.isnan(given), middles, given), self.lowers, self.uppers)
        spans = np.where(self.uppers > self.lowers, self.uppers - self.lowers, 1.0)
        place = (inside - self.lowers) / spans * self.count
        # The upper bound lies in the last bin.
        return np.minimum(place, self.count - 1).astype(np.uint8)

    def inside(self, codes: Codes, noise: Randomness) -> Values:
        """Values spread evenly inside their bins."""
        place = codes + uniforms(noise, codes.size).reshape(codes.shape)
        values = self.lowers + place * ((self.uppers - self.lowers) / self.count)
        return np.minimum(values, self.uppers)

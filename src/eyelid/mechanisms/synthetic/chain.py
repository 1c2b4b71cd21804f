"""A chain over discrete features: each is drawn given the one before, with exact odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.privacy.noise import Randomness

Codes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Chain:
    """Odds in whole numbers, so that what is drawn has exactly the probability that is computed.

    Attributes:
        weights: (features, bins, bins): out of 2³⁰, how often a feature is in the last axis' bin
            when the feature before it is in the one of the axis before. Of the first feature row 0
            counts, whatever came before.
    """

    BITS: ClassVar[int] = 30

    weights: NDArray[np.int64]

    @classmethod
    def of(cls, tables: Values, noise_sd: float) -> Chain:
        """The chain behind noisy counts of neighbouring features, (features, bins, bins).

        Knows nothing but the noisy counts and the scale of their noise. What stands out of the
        noise by a standard error is kept; a bin about which nothing is known follows the feature's
        own distribution, and that the even one.

        Args:
            tables: how often a feature was in a bin (last axis) with the one before it in another.
            noise_sd: standard deviation of the noise of each count.
        """
        bins = tables.shape[-1]
        own = tables.sum(axis=1, keepdims=True)
        own = np.maximum(own - noise_sd * np.sqrt(bins), 0.0) + noise_sd / bins + 1e-300
        own /= own.sum(axis=-1, keepdims=True)
        counts = np.maximum(tables - noise_sd, 0.0) + (noise_sd + 1e-12) * own
        return cls(whole_odds(counts, cls.BITS))

    @property
    def bins(self) -> int:
        """Values that a feature can have."""
        return int(self.weights.shape[-1])

    def drawn(self, start: Codes, kept: NDArray[np.intp], noise: Randomness) -> Codes:
        """Rows that keep the first so many features of a start; the others are drawn in order.

        Args:
            start: (rows, features), of which the first are kept.
            kept: how many, of each row.
            noise: where the draws come from.
        """
        rows, features = start.shape
        made = start.copy()
        ends = np.cumsum(self.weights, axis=-1)
        top = np.uint64(64 - self.BITS)
        for j in range(features):
            draw = (noise.words(rows) >> top).astype(np.int64)
            before = made[:, j - 1] if j else np.zeros(rows, dtype=np.uint8)
            found = (ends[j, before] <= draw[:, None]).sum(axis=1).astype(np.uint8)
            made[:, j] = np.where(kept > j, made[:, j], found)
        return made

    def log_chance(self, rows: Codes) -> Values:
        """The logarithm of each feature's odds given the one before, (rows, features)."""
        before = np.concatenate([np.zeros_like(rows[:, :1]), rows[:, :-1]], axis=1)
        found = self.weights[np.arange(rows.shape[1]), before, rows]
        chances: Values = np.log(found) - self.BITS * np.log(2.0)
        return chances


def whole_odds(counts: Values, bits: int) -> NDArray[np.int64]:
    """Odds in proportion to counts, over the last axis: whole, at least 1, exactly 2^bits in all.

    >>> whole_odds(np.array([[1.0, 1.0, 2.0], [0.0, 0.0, 5.0]]), 10).tolist()
    [[256, 256, 512], [1, 1, 1022]]
    """
    total = 1 << bits
    shares = counts / counts.sum(axis=-1, keepdims=True)
    odds: NDArray[np.int64] = np.maximum(np.floor(shares * total), 1).astype(np.int64)
    # The largest takes what rounding left; it is so large that it does not feel it.
    largest = odds.argmax(axis=-1)[..., None]
    rest = total - odds.sum(axis=-1, keepdims=True)
    np.put_along_axis(odds, largest, np.take_along_axis(odds, largest, axis=-1) + rest, axis=-1)
    return odds

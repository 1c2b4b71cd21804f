"""Statistics over many overlapping ranges of one array at once: differences of running sums."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.events.spans import Floats, Indices


class Ranges:
    """The events that each window holds, or any other ranges of an array.

    Args:
        low: first index of each range.
        high: one past its last index.
    """

    def __init__(self, low: Indices, high: Indices) -> None:
        self.low, self.high = low, high

    def total(self, values: Floats) -> Floats:
        """Sum of the values in each range."""
        running = np.r_[0.0, np.cumsum(values)]
        return np.asarray(running[self.high] - running[self.low])

    def count(self, which: NDArray[np.bool_] | None = None) -> Floats:
        """How many values each range has, of those wanted."""
        if which is None:
            return (self.high - self.low).astype(np.float64)
        return self.total(which.astype(np.float64))

    def moments(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of the values in each range that are not NaN; NaN without any."""
        known = np.isfinite(values)
        count = self.count(known)
        # Around the middle, so that the squares of large values do not swallow their differences.
        middle = float(values[known].mean()) if known.any() else 0.0
        around = np.where(known, values - middle, 0.0)
        mean = ratio(self.total(around), count)
        variance = np.maximum(ratio(self.total(around**2), count) - mean**2, 0.0)
        # What rounding leaves of a single value is no variance.
        variance[count == 1] = 0.0
        return mean + middle, variance

    def largest(self, values: Floats) -> Floats:
        """Largest value in each range: of the two runs of a power of two that cover it."""
        length = self.high - self.low
        result = np.full(len(length), np.nan)
        best, width = values, 1
        while np.any(length >= width):
            now = (length >= width) & (length < 2 * width)
            result[now] = np.maximum(best[self.low[now]], best[self.high[now] - width])
            best = np.maximum(best[:-width], best[width:])
            width *= 2
        return result


def ratio(part: Floats, whole: Floats) -> Floats:
    """The quotient, NaN where there is nothing to divide by."""
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result

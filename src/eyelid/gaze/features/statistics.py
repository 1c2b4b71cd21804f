"""Statistics over many stretches of one array at once, without a loop over them.

`Ranges` may overlap, as windows do: differences of running sums over the whole array. `Stretches`
stand side by side, as the samples of events do: each is summed by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.events.spans import Floats, Indices, Spans


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


def samples_of(spans: Spans, seen: NDArray[np.bool_]) -> tuple[Indices, Stretches]:
    """The samples of all events one after the other, without lost ones, and whose they are.

    Neighbouring events may share a sample: it is then listed for both.

    >>> spans = Spans(np.array([0, 2]), np.array([2, 4]))
    >>> index, stretches = samples_of(spans, np.array([True, False, True, True, True]))
    >>> index.tolist(), stretches.owner.tolist()
    ([0, 2, 2, 3, 4], [0, 0, 1, 1, 1])
    """
    length = spans.offset - spans.onset + 1
    owner = np.repeat(np.arange(len(length)), length)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(length) - length, length)
    index = spans.onset[owner] + within
    kept = seen[index]
    return index[kept], Stretches(owner[kept], len(length))


class Stretches:
    """Values that stand together event by event.

    Unlike running sums over a whole recording, sums of one event do not drown in the rest: places
    a thousand times as large as their spread keep their kurtosis.

    Args:
        owner: the event of each value, never decreasing.
        events: how many events there are; some may own nothing.
    """

    def __init__(self, owner: Indices, events: int) -> None:
        self.owner, self.events = owner, events
        self.count = np.bincount(owner, minlength=events).astype(np.float64)

    def where(self, mask: NDArray[np.bool_]) -> Stretches:
        """These events with the values where the mask holds."""
        return Stretches(self.owner[mask], self.events)

    def steps(self) -> NDArray[np.bool_]:
        """Which pairs of neighbouring values belong to one event."""
        return np.asarray(self.owner[1:] == self.owner[:-1])

    def total(self, values: Floats) -> Floats:
        """Sum over each event, zero over nothing."""
        return np.asarray(np.bincount(self.owner, values, self.events), dtype=np.float64)

    def mean(self, values: Floats) -> Floats:
        """Mean over each event, NaN over nothing."""
        rough = ratio(self.total(values), self.count)
        # A second pass takes off what the rounding of large sums left.
        return rough + ratio(self.total(values - rough[self.owner]), self.count)

    def moment(self, values: Floats, power: int) -> Floats:
        """Mean power of the differences from the mean of each event; 2 gives the variance."""
        return ratio(self.total((values - self.mean(values)[self.owner]) ** power), self.count)

    def least(self, values: Floats) -> Floats:
        """Smallest value of each event."""
        return self._reduced(np.minimum, values)

    def largest(self, values: Floats) -> Floats:
        """Largest value of each event."""
        return self._reduced(np.maximum, values)

    def extent(self, values: Floats) -> Floats:
        """From the smallest to the largest value of each event."""
        return self.largest(values) - self.least(values)

    def median(self, values: Floats) -> Floats:
        """Middle value of each event, or the mean of the two in the middle."""
        result = np.full(self.events, np.nan)
        some = self.count > 0
        ordered = values[np.lexsort((values, self.owner))]
        first, count = self._first()[some], self.count[some].astype(np.intp)
        result[some] = (ordered[first + (count - 1) // 2] + ordered[first + count // 2]) / 2
        return result

    def skewness_and_kurtosis(self, values: Floats, least_std: float) -> tuple[Floats, Floats]:
        """Third and fourth standardised moment of each event: 0 and 3 for a Gaussian.

        NaN for fewer than three values, and where they do not vary by more than ``least_std``.
        """
        std = np.sqrt(self.moment(values, 2))
        std[~((self.count >= 3) & (std > least_std))] = np.nan
        return self.moment(values, 3) / std**3, self.moment(values, 4) / std**4

    def _first(self) -> Indices:
        """Where the values of each event begin."""
        return (np.cumsum(self.count) - self.count).astype(np.intp)

    def _reduced(self, function: np.ufunc, values: Floats) -> Floats:
        result = np.full(self.events, np.nan)
        some = self.count > 0
        if some.any():
            result[some] = function.reduceat(values, self._first()[some])
        return result

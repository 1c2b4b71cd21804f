"""Spans of samples: what every detector gives back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


class Spans(NamedTuple):
    """Events as sample indices: each lasts from ``time[onset]`` to ``time[offset]``."""

    onset: Indices
    offset: Indices

    def keep(self, mask: Mask) -> Spans:
        """The spans where the mask holds."""
        return Spans(self.onset[mask], self.offset[mask])

    def lasting(self, time_ms: Floats, least_ms: float, most_ms: float = np.inf) -> Spans:
        """The spans that are neither shorter nor longer than this."""
        duration_ms = time_ms[self.offset] - time_ms[self.onset]
        return self.keep((duration_ms >= least_ms) & (duration_ms <= most_ms))

    def joined(self, apart: Mask) -> Spans:
        """The spans in order, as one where ``apart`` does not hold between two neighbours."""
        if not len(self.onset):
            return self
        return Spans(self.onset[np.r_[True, apart]], self.offset[np.r_[apart, True]])

    def mean(self, values: Floats) -> Floats:
        """Mean of the known values in each span, both ends included; NaN without any.

        >>> import numpy as np
        >>> Spans(np.array([0, 2]), np.array([1, 3])).mean(np.array([1.0, 3.0, 5.0, np.nan]))
        array([2., 5.])
        """
        known = np.isfinite(values)
        count = self._reduced(np.add, known, np.intp)
        total = self._reduced(np.add, np.where(known, values, 0.0))
        mean = np.full(len(count), np.nan)
        np.divide(total, count, out=mean, where=count > 0)
        return mean

    def extent(self, values: Floats) -> Floats:
        """Largest minus smallest of the known values in each span, both ends included.

        >>> import numpy as np
        >>> Spans(np.array([0, 2]), np.array([1, 3])).extent(np.array([1.0, 3.0, 5.0, np.nan]))
        array([2., 0.])
        """
        return self._reduced(np.fmax, values) - self._reduced(np.fmin, values)

    def _reduced(self, by: np.ufunc, values: NDArray[Any], dtype: type | None = None) -> Floats:
        ends = np.column_stack([self.onset, self.offset + 1]).ravel()
        if not len(ends):
            return np.zeros(0)
        if ends.max() == len(values):
            # The end of a span may be one past the last sample, where reduceat wants a value.
            values = np.append(values, values[-1:])
        return np.asarray(by.reduceat(values, ends, dtype=dtype)[::2])


def runs(mask: Mask) -> Spans:
    """The runs of true values: first index, and one past the last.

    >>> import numpy as np
    >>> [index.tolist() for index in runs(np.array([True, True, False, True]))]
    [[0, 3], [2, 4]]
    """
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    return Spans(edges[::2], edges[1::2])


def runs_of_samples(mask: Mask) -> Spans:
    """The runs of true values as spans: first index, and the last."""
    first, past = runs(mask)
    return Spans(first, past - 1)


def covered(spans: Spans, count: int) -> Mask:
    """Which of so many places lie within a span, without its offset: the reverse of `runs`."""
    edges = np.zeros(count + 1, dtype=np.int32)
    np.add.at(edges, spans.onset, 1)
    np.add.at(edges, spans.offset, -1)
    return np.cumsum(edges[:-1]) > 0


def nothing() -> dict[str, Spans]:
    """What a detector finds where there is nothing to be found."""
    none = np.zeros(0, dtype=np.intp)
    return {"fixation": Spans(none, none), "saccade": Spans(none, none)}

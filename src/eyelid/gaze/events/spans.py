"""Spans of samples: what every detector gives back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Spans(NamedTuple):
    """Events as sample indices: each lasts from ``time[onset]`` to ``time[offset]``."""

    onset: Indices
    offset: Indices

    def keep(self, mask: NDArray[np.bool_]) -> Spans:
        """The spans where the mask holds."""
        return Spans(self.onset[mask], self.offset[mask])


def runs(mask: NDArray[np.bool_]) -> Spans:
    """The runs of true values: first index, and one past the last.

    >>> import numpy as np
    >>> [index.tolist() for index in runs(np.array([True, True, False, True]))]
    [[0, 3], [2, 4]]
    """
    edges = np.flatnonzero(np.diff(mask, prepend=False, append=False))
    return Spans(edges[::2], edges[1::2])

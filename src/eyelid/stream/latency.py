"""How long samples take, from their arrival to a sink, in constant memory."""

from __future__ import annotations

import math

import numpy as np

_SHORTEST_S, _PER_DECADE, _DECADES = 1e-6, 50, 8


class Latency:
    """A histogram of times, 5 % wide each, from a microsecond to a hundred seconds.

    >>> latency = Latency()
    >>> latency.add(0.001, 99)
    >>> latency.add(0.5, 1)
    >>> f"{latency.quantile_ms(0.5):.2g} {latency.quantile_ms(0.995):.2g}"
    '1 5e+02'
    """

    def __init__(self) -> None:
        self._counts = np.zeros(_PER_DECADE * _DECADES + 1, dtype=np.int64)

    def add(self, seconds: float, samples: int = 1) -> None:
        """Count samples that took so long."""
        place = _PER_DECADE * math.log10(max(seconds, _SHORTEST_S) / _SHORTEST_S)
        self._counts[min(round(place), len(self._counts) - 1)] += samples

    def quantile_ms(self, share: float) -> float | None:
        """What this share of samples did not exceed, within 3 %; None before there are any."""
        total = int(self._counts.sum())
        if not total:
            return None
        place = int(np.searchsorted(np.cumsum(self._counts), math.ceil(share * total)))
        return 1000 * _SHORTEST_S * 10 ** (place / _PER_DECADE)

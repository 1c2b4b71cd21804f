"""Gaze on its way: raw samples before the gatekeeper, released ones after it.

They are two types, so that a sink cannot be handed what has not been through the gatekeeper. Their
columns are lists: most often there is one sample at a time, for which arrays are slow. Released
samples wait for each consumer in a backlog, and how long they take is kept in a histogram.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from eyelid.stream.passage import Mode

Column = list[float]
_SHORTEST_S, _PER_DECADE, _DECADES = 1e-6, 50, 8


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class RawGaze:
    """Samples as a tracker gave them; lost ones are NaN.

    Its text shows no value, so that no log and no error message can.

    Attributes:
        time_ms: when they were taken, by the tracker's clock.
        parts: x and y, and of directions z, the part straight ahead.
        arrived_s: when they came here, by `time.perf_counter`.
    """

    time_ms: Column
    parts: Sequence[Column]
    arrived_s: float

    def __len__(self) -> int:
        return len(self.time_ms)

    def __repr__(self) -> str:
        return f"RawGaze({len(self)} samples)"


@dataclass(frozen=True, eq=False, slots=True)
class ReleasedGaze:
    """Samples that the gatekeeper gave out.

    Attributes:
        time_ms: when they were taken.
        parts: x and y of filtered gaze, and of directions z, the part straight ahead.
        mode: of the gatekeeper after the last of them.
        arrived_s: when the first of them came here as raw gaze, by `time.perf_counter`.
    """

    time_ms: Column
    parts: Sequence[Column]
    mode: Mode
    arrived_s: float

    def __len__(self) -> int:
        return len(self.time_ms)

    @property
    def columns(self) -> dict[str, Column]:
        """By name: time_ms, x, y, and z of directions."""
        return dict(zip(("time_ms", "x", "y", "z"), (self.time_ms, *self.parts), strict=False))

    def part(self, cut: slice) -> ReleasedGaze:
        """Some of the samples."""
        parts = [column[cut] for column in self.parts]
        return ReleasedGaze(self.time_ms[cut], parts, self.mode, self.arrived_s)


def joined(pieces: Sequence[ReleasedGaze]) -> ReleasedGaze:
    """Samples one after the other, as one; the oldest arrival counts."""
    columns = zip(*((piece.time_ms, *piece.parts) for piece in pieces), strict=True)
    time_ms, *parts = (list(chain.from_iterable(column)) for column in columns)
    return ReleasedGaze(time_ms, parts, pieces[-1].mode, pieces[0].arrived_s)


class Backlog:
    """Released samples that wait for one consumer; the oldest give way, and are counted.

    Offered from any thread, taken from any other; neither waits for the other.

    Args:
        capacity: samples that may wait.

    Attributes:
        lost: samples that gave way, since the start.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.lost = 0
        self._untold = 0
        self._waiting: deque[ReleasedGaze] = deque()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._size

    @property
    def crowded(self) -> bool:
        """Whether a source that can wait should."""
        return self._size > self.capacity // 2

    def offer(self, gaze: ReleasedGaze) -> None:
        """Have it wait; never blocks, never refuses."""
        with self._lock:
            self._waiting.append(gaze)
            self._size += len(gaze)
            while self._size > self.capacity:
                oldest = self._waiting.popleft()
                gone = min(len(oldest), self._size - self.capacity)
                if gone < len(oldest):
                    self._waiting.appendleft(oldest.part(slice(gone, None)))
                self._size -= gone
                self.lost += gone
                self._untold += gone

    def miss(self, samples: int) -> None:
        """Count samples that were taken and did not get there."""
        with self._lock:
            self.lost += samples
            self._untold += samples

    def take(self) -> tuple[ReleasedGaze | None, int]:
        """Everything that waits, and how many samples were lost before it since the last time."""
        with self._lock:
            if not self._waiting:
                return None, 0
            parts, lost = list(self._waiting), self._untold
            self._waiting.clear()
            self._size = self._untold = 0
        return (joined(parts) if len(parts) > 1 else parts[0]), lost


class Latency:
    """How long samples took from their arrival to a sink, in constant memory.

    A histogram of times, 5% wide each, from a microsecond to a hundred seconds.

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
        """What this share of samples did not exceed, within 3%; None before there are any."""
        total = int(self._counts.sum())
        if not total:
            return None
        place = int(np.searchsorted(np.cumsum(self._counts), math.ceil(share * total)))
        return 1000 * _SHORTEST_S * 10 ** (place / _PER_DECADE)

"""What a consumer has not yet taken: the newest released samples, and a count of older ones."""

from __future__ import annotations

import threading
from collections import deque

from eyelid.stream.samples import ReleasedGaze, joined


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
        """Whether whoever can wait should."""
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
        return joined(parts), lost

"""How long to wait before trying again: longer every time."""

from __future__ import annotations

from collections.abc import Iterator

FIRST_S, LONGEST_S = 0.1, 5.0


def growing() -> Iterator[float]:
    """Pauses in seconds, each twice the last.

    >>> from itertools import islice
    >>> list(islice(growing(), 7))
    [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    """
    pause_s = FIRST_S
    while True:
        yield min(pause_s, LONGEST_S)
        pause_s *= 2

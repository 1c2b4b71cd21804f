"""The square root of adding up: the matrix R with R·R·x = prefix sums of x, and what it stretches.

R is lower triangular and the same along each diagonal: r₀ = 1, r_t = r_{t−1}·(2t − 1)/(2t), the
coefficients of (1 − z)^(−1/2), whose square 1/(1 − z) adds up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def square_root(ticks: int) -> Floats:
    """r₀ … r_{T−1}.

    >>> square_root(4).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    later = np.arange(1, ticks)
    return np.concatenate([[1.0], np.cumprod((2 * later - 1) / (2 * later))])


def stretch(diagonals: NDArray[np.number], samples: int, every: int) -> float:
    """The longest that R·c can be, c being how many of these samples in a row lie in each tick.

    Args:
        diagonals: r₀ …, none negative.
        samples: in a row, wherever they start.
        every: samples of a tick.

    As none is negative, columns of R never cancel: ‖Rc‖ grows with c. The first ticks have the
    longest columns. Along the offsets of a tick c moves on straight lines, where a norm is largest
    at an end: the first of these ticks is full, or the last is.

    >>> round(stretch(square_root(1216), 1, 1), 3)
    1.824
    """
    ticks = len(diagonals)
    full, rest = divmod(min(samples, ticks * every), every)
    # Sums of the first t diagonals, and so of any in a row, from which whole ticks are made.
    sums = np.concatenate([np.zeros(ticks + 1), np.cumsum(diagonals, dtype=np.float64)])
    first = np.concatenate([np.zeros(ticks), diagonals.astype(np.float64)])
    at = np.arange(ticks)
    whole_first = every * (sums[at + ticks + 1] - sums[at + ticks + 1 - full])
    whole_first += rest * first[at + ticks - full]
    rest_first = rest * first[at + ticks]
    rest_first += every * (sums[at + ticks] - sums[at + ticks - full])
    return float(max(np.linalg.norm(whole_first), np.linalg.norm(rest_first)))

"""What the same small loss comes to when it is paid many times: the optimal composition.

Whatever is (ε, δ)-DP is no worse than a coin that tells the truth with odds e^ε, and everything
with probability δ (Kairouz, Oh & Viswanath 2015). So n of them lose at most what n such coins do,
and of these the number that point one way is binomial: the total is exact.
"""

from __future__ import annotations

import math

import numpy as np


def repeated_delta(each: float, times: int, total: float) -> float:
    """The δ at which ``times`` pure losses of ``each`` come to no more than ``total``.

    With j of n coins for one side the loss is (2j − n)·ε, and δ = E[max(0, 1 − e^(total − loss))].

    >>> repeated_delta(0.1, 10, 1.0), round(repeated_delta(0.1, 100, 2.0), 4)
    (0.0, 0.0201)
    """
    from scipy.stats import binom

    if total >= times * each * (1 - 1e-12):
        return 0.0
    j = np.arange(times + 1)
    loss = (2 * j - times) * each
    mass = binom.pmf(j, times, 1 / (1 + math.exp(-each)))
    return float((mass * -np.expm1(np.minimum(total - loss, 0.0))).sum())


def share_of_total(total: float, delta: float, times: int) -> float:
    """The largest loss that may be paid so many times within (total, delta).

    >>> share_of_total(4.0, 1e-7, 1)
    4.0
    >>> 0.04 < share_of_total(4.0, 1e-7, 300) < 0.06
    True
    """
    low, high = total / times, total
    if times == 1:
        return total
    for _ in range(60):
        middle = (low + high) / 2
        if repeated_delta(middle, times, total) <= delta:
            low = middle
        else:
            high = middle
    return low

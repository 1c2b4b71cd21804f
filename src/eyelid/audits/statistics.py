"""Confidence limits for rates: exact, and over people."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def clopper_pearson(
    successes: ArrayLike, trials: ArrayLike, alpha: float = 0.05
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Exact lower and upper confidence limits of a proportion, each side with half of alpha.

    >>> low, high = clopper_pearson(1, 20)
    >>> round(float(low), 4), round(float(high), 3)
    (0.0013, 0.249)
    """
    from scipy.special import betaincinv

    k, n = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        low = np.where(k > 0, betaincinv(np.maximum(k, 1e-300), n - k + 1, alpha / 2), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1e-300), 1 - alpha / 2), 1.0)
    return low, high

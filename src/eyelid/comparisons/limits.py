"""Limits that hold for other people and for other noise.

A figure is the mean over people and runs. Limits over people alone miss that one draw of the noise
may serve everybody: the mean of a group, made-up people, what a model has learned from. All are
then better or worse together, which only further runs can tell.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.statistics import Rate, rate_of_shares

# Shares that differ by less are the same.
_ALIKE = 1e-9


def rate_of_runs(
    shares: NDArray[np.float64], chance: float, alpha: float = 0.05, *, one_for_all: bool = False
) -> Rate:
    """The mean over people and runs, with limits over both.

    Where everybody's share is the same in every run and no better than guessing, a model gives
    always the same answer: that has no spread, neither over people nor over runs.

    Args:
        shares: one row a run, one column a person.
        chance: what guessing gives.
        alpha: how often the limits may miss the truth.
        one_for_all: whether one draw serves everybody.
    """
    if is_constant(shares, chance):
        rate = float(shares.mean())
        return Rate(rate, rate, rate, chance, shares.shape[1])
    over_people = rate_of_shares(shares.mean(axis=0), chance, alpha=alpha)
    return with_runs(over_people, shares, alpha, one_for_all=one_for_all)


def is_constant(shares: NDArray[np.float64], chance: float) -> bool:
    """Whether a model gives always the same answer, as far as shares can tell."""
    alike = bool((np.ptp(shares, axis=1) < _ALIKE).all())
    return shares.shape[1] > 1 and alike and float(shares.mean()) <= chance + _ALIKE


def with_runs(
    rate: Rate, shares: NDArray[np.float64], alpha: float = 0.05, *, one_for_all: bool = False
) -> Rate:
    """Limits over people, made wider by what all of a run have in common.

    That is the variance of the means of runs. Where noise is drawn for each person it is taken
    without what such noise gives them, which limits over people have already. Both parts are added
    as squares, each with its own quantile (Zou & Donner 2008, limits of a sum): that of runs is
    Student's t, with a degree of freedom less than there are runs.

    Args:
        rate: the mean, with limits over people.
        shares: one row a run, one column a person.
        alpha: how often the limits may miss the truth.
        one_for_all: whether one draw serves everybody.
    """
    from scipy.special import stdtrit

    runs, people = shares.shape
    if runs < 2 or people < 2:
        return rate
    means = shares.mean(axis=1)
    own = shares - means[:, None] - shares.mean(axis=0) + shares.mean()
    noise = float(np.sum(own**2)) / ((runs - 1) * (people - 1))
    own_part = 0.0 if one_for_all else noise / people
    common = max(0.0, float(means.var(ddof=1)) - own_part)
    wide = float(stdtrit(runs - 1, 1 - alpha / 2)) * math.sqrt(common / runs)
    return replace(
        rate,
        low=max(0.0, rate.rate - math.hypot(rate.rate - rate.low, wide)),
        high=min(1.0, rate.rate + math.hypot(rate.high - rate.rate, wide)),
    )

"""Tests of rank statistics under noise: exact distributions without an effect, and exact noise.

Without an effect a statistic is a sum over signs or orders that are all as likely, whatever people
are like, and the noise is known: the chance of something as large as what was shown is a sum, with
nothing to simulate. Ties and gaps make statistics smaller, and tests more careful.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.statistics.spread import NoiseOfOne

# Beyond it a statistic of so many people is normal next to its noise.
_MOST_PEOPLE = 150
# In standard deviations, so that tails are right down to one in a hundred thousand and beyond.
_FARTHEST, _PLACES = 9.0, 1201
SIGNIFICANT = 0.05
TESTS = ("sign", "signed-rank", "superiority", "tau")


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """A statistic without an effect: around 0, between −1 and 1.

    Attributes:
        values: that it takes; of many people a fine grid of normal numbers.
        masses: how likely each is.
        sd: its standard deviation.
    """

    values: Values
    masses: Values
    sd: float

    def beyond(self, size: Values, noise: NoiseOfOne) -> Values:
        """P(|statistic + noise| ≥ size)."""
        size = np.atleast_1d(np.abs(np.asarray(size, dtype=float)))
        found = np.zeros(size.shape)
        for start in range(0, size.size, 256):
            some = size[start : start + 256]
            # The noise and the statistic are as likely on either side.
            tail = noise.at_least(some[:, None] - self.values[None, :])
            found[start : start + 256] = 2 * (tail @ self.masses)
        return np.minimum(1.0, found)


def null_of(test: str, *people: int) -> NullDistribution:
    """The distribution of a statistic, as it is estimated, without an effect.

    Args:
        test: ``sign`` (2·share − 1), ``signed-rank``, ``superiority`` (2P − 1), or ``tau``.
        people: N, of superiority those in each group.
    """
    if test not in TESTS:
        raise InputError(f"there is no test '{test}': choose one of {', '.join(TESTS)}")
    return _null(test, people)


@functools.lru_cache(maxsize=64)
def _null(test: str, people: tuple[int, ...]) -> NullDistribution:
    n = sum(people)
    if test == "sign":
        from scipy.stats import binom

        counts = np.arange(n + 1)
        values = (2 * counts - n) / n
        return NullDistribution(values, binom.pmf(counts, n, 0.5), 1 / math.sqrt(n))
    largest, variance = _SIZES[test](*people)
    sd = math.sqrt(variance) / largest
    if n > _MOST_PEOPLE:
        places = np.linspace(-_FARTHEST, _FARTHEST, _PLACES)
        masses = np.exp(-0.5 * places * places)
        return NullDistribution(sd * places, masses / masses.sum(), sd)
    masses = _MASSES[test](*people)
    values = np.linspace(-1.0, 1.0, masses.size)
    return NullDistribution(values, masses, sd)


def _of_signed_ranks(n: int) -> tuple[float, float]:
    """N(N+1)/2, and the variance of Σ sign·rank."""
    return n * (n + 1) / 2, n * (n + 1) * (2 * n + 1) / 6


def _of_dominance(n1: int, n2: int) -> tuple[float, float]:
    """n₁n₂, and the variance of 2U − n₁n₂."""
    return n1 * n2, n1 * n2 * (n1 + n2 + 1) / 3


def _of_concordance(n: int) -> tuple[float, float]:
    """N(N−1)/2, and the variance of Σ of products of signs."""
    return n * (n - 1) / 2, n * (n - 1) * (2 * n + 5) / 18


def _signed_rank_masses(n: int) -> Values:
    """The chances of 0 … N(N+1)/2 as the sum of ranks of a half of all signs."""
    masses = np.ones(1)
    for rank in range(1, n + 1):
        padded = np.zeros(masses.size + rank)
        padded[: masses.size] += masses / 2
        padded[rank:] += masses / 2
        masses = padded
    return masses


def _dominance_masses(n1: int, n2: int) -> Values:
    """The chances of U = 0 … n₁n₂: Gauss's binomial coefficient, factor by factor."""
    masses = np.ones(1)
    for i in range(1, n1 + 1):
        # Times (1 − q^(n₂+i))/(1 − q^i).
        longer = np.zeros(masses.size + n2 + i)
        longer[: masses.size] += masses
        longer[n2 + i :] -= masses
        for j in range(i, longer.size):
            longer[j] += longer[j - i]
        masses = longer[: i * n2 + 1] / longer[: i * n2 + 1].sum()
    return np.maximum(masses, 0.0)


def _concordance_masses(n: int) -> Values:
    """The chances of 0 … N(N−1)/2 inversions: convolved uniform numbers below 1, 2, … N."""
    masses = np.ones(1)
    for i in range(2, n + 1):
        total = np.cumsum(np.append(masses, np.zeros(i - 1)))
        total[i:] -= total[:-i].copy()
        masses = total / i
    return np.maximum(masses, 0.0)


_SIZES: dict[str, Callable[..., tuple[float, float]]] = {
    "signed-rank": _of_signed_ranks,
    "superiority": _of_dominance,
    "tau": _of_concordance,
}
_MASSES: dict[str, Callable[..., Values]] = {
    "signed-rank": _signed_rank_masses,
    "superiority": _dominance_masses,
    "tau": _concordance_masses,
}


def p_value(test: str, shown: float, noise: NoiseOfOne, *people: int) -> float:
    """How likely something larger is without an effect, noise included; of the same size half.

    Args:
        test: its name.
        shown: the noisy statistic, between −1 and 1 without noise; of a sign test 2·share − 1.
        noise: on it.
        people: as for `null_of`.

    >>> round(p_value("sign", 0.6, NoiseOfOne(0.0), 20), 4)
    0.0072
    """
    return float(null_of(test, *people).beyond(np.array([shown]), noise)[0])


def critical_value(test: str, noise: NoiseOfOne, *people: int, level: float = SIGNIFICANT) -> float:
    """From which size on a statistic is significant.

    Args:
        test: its name.
        noise: on the statistic.
        people: as for `null_of`.
        level: the chance of a false alarm.
    """
    from scipy.optimize import brentq

    null = null_of(test, *people)

    def excess(size: float) -> float:
        return float(null.beyond(np.array([size]), noise)[0]) - level

    most = 60 * (null.sd + noise.sd)
    return float(brentq(excess, 0.0, most, xtol=1e-7 * most))

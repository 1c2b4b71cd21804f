"""The smooth distribution behind noisy counts of nested bins: as even as the noise demands.

The logarithm of a distribution over bins is a parabola, which is a Gaussian, as far as noisy
counts do not say otherwise: its third differences are what costs. So noise neither cuts tails off
nor makes peaks, and what is left of counts that say nothing is a Gaussian that fits them.
Everything here knows noisy counts and the scale of their noise, and none of the data.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values

# How much third differences of a logarithm cost, in its standard deviations.
_STIFFNESS = 3.0
# Of a Gaussian to begin with: standard deviations, from less than a bin to all of them.
_NARROWEST, _WIDTHS = 0.5, 20
_ROUNDS, _STEPS, _TRIES = 8, 30, 12
# Third differences, in standard deviations, above which more of them costs hardly more.
_LARGE = 2.0
# Change of a distribution below which nothing more is tried.
_SETTLED = 1e-3
# Parts of everything beyond which tails may begin, and what they have to explain of noisy counts,
# as a logarithm of a likelihood: four standard errors.
_TAILS, _CLEARLY = (0.5, 0.75, 0.9, 0.95, 0.99), 8.0
# Of everything, what lies so far out on either side that a task is like all of them there.
_OUTSIDE = 1 / 16
# Noisy counts that are compared at once.
_BLOCK = 4096
# What every bin has, so that its logarithm is a number.
_SPREAD = 1e-9


@dataclass(frozen=True, eq=False)
class Evidence:
    """What noisy counts tell of a distribution over bins: a parabola of it, and how many there are.

    Attributes:
        weight: (bins, bins): AᵀA / σ² of all counts, each of them a sum over bins by a row of A.
        towards: (bins,): Aᵀy / σ².
        people: how many there are, noisy.
    """

    weight: Values
    towards: Values
    people: float

    @classmethod
    def of(cls, sums: Values, counts: Values, noise_sd: float, people: float) -> Evidence:
        """What counts tell.

        Args:
            sums: (counts, bins): which bins each count is of.
            counts: of people, noisy.
            noise_sd: standard deviation of their noise.
            people: how many there are.
        """
        return cls(sums.T @ sums / noise_sd**2, sums.T @ counts / noise_sd**2, people)

    def __add__(self, other: Evidence) -> Evidence:
        """Both together."""
        return Evidence(self.weight + other.weight, self.towards + other.towards, self.people)

    def cost(self, shares: Values) -> Values:
        """How far distributions (…, bins) are from it, but for what is the same of all."""
        expected = self.people * shares
        squares = ((expected @ self.weight) * expected).sum(axis=-1)
        found: Values = np.asarray(squares / 2 - expected @ self.towards)
        return found

    def slope(self, shares: Values) -> Values:
        """How the cost changes with a distribution's logarithm."""
        by_share = self.people * (self.people * (self.weight @ shares) - self.towards)
        found: Values = shares * (by_share - shares @ by_share)
        return found

    def curvature(self, shares: Values) -> Values:
        """How the slope does, about: (bins, bins)."""
        against = self.weight @ shares
        whole = self.weight - against[:, None] - against + shares @ against
        found: Values = self.people**2 * shares[:, None] * whole * shares
        return found


@functools.lru_cache(maxsize=8)
def nested(bins: int, widths: tuple[int, ...]) -> Values:
    """Which bins are counted together in nested tables of these widths: (counts, bins).

    >>> nested(4, (2, 1)).astype(int).tolist()[:3]
    [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]]
    """
    parts = [np.repeat(np.eye(bins // width), width, axis=1) for width in widths]
    found: Values = np.concatenate(parts)
    return found


def best_gaussian(counts: Values, sums: Values) -> Values:
    """The Gaussian over bins whose expected counts are most like noisy ones: (…, bins).

    Args:
        counts: (…, counts), noisy.
        sums: (counts, bins): which bins each of them is of.
    """
    ready = _gaussians(sums.shape[-1])
    expected = ready @ sums.T
    expected /= np.linalg.norm(expected, axis=-1, keepdims=True)
    flat = counts.reshape(-1, counts.shape[-1])
    blocks = [
        (flat[start : start + _BLOCK] @ expected.T).argmax(axis=-1)
        for start in range(0, len(flat), _BLOCK)
    ]
    found: Values = ready[np.concatenate(blocks)].reshape(*counts.shape[:-1], -1)
    return found


def smooth(evidence: Evidence, around: Values | None = None) -> Values:
    """The distribution that noisy counts tell, as near to a Gaussian as they let it be.

    Args:
        evidence: what noisy counts say.
        around: a distribution that it is like, but for a parabola in its logarithm; even if not
            given, which makes it a Gaussian.
    """
    bins = len(evidence.towards)
    if around is None:
        ready = _gaussians(bins)
        like, shares = np.zeros(bins), ready[int(np.argmin(evidence.cost(ready)))]
    else:
        like, shares = np.log(around + _SPREAD), around + _SPREAD
    apart = np.log(shares) - like
    for _ in range(_ROUNDS):
        stiff = _stiffness(apart, _spread(shares))
        last = shares
        apart, shares = _improved(evidence, apart, like, stiff)
        if np.abs(shares - last).sum() < _SETTLED:
            break
    return _without_tails(evidence, shares) if around is None else _alike_outside(shares, around)


def _without_tails(evidence: Evidence, shares: Values) -> Values:
    """Tails that fall ever faster, as far as counts do not clearly say otherwise.

    Far out a little noise is a lot of a mean, and more of a standard deviation.
    """
    for side in (slice(None), slice(None, None, -1)):
        below = np.cumsum(shares[side])
        for part in _TAILS:
            # The first bin beyond this part of everything; there are no slopes at the end.
            first = min(int(np.searchsorted(below, part)), len(shares) - 2)
            logs = np.log(shares[side] + _SPREAD**2)
            slopes = np.minimum.accumulate(np.diff(logs[first:]))
            logs[first + 1 :] = logs[first] + np.cumsum(slopes)
            tried = np.exp(logs)[side]
            tried /= tried.sum()
            if evidence.cost(tried) - evidence.cost(shares) < _CLEARLY:
                shares = tried
                break
    return shares


def _alike_outside(shares: Values, around: Values) -> Values:
    """A distribution that is as many times another one far out as it is farther in.

    What lies outside is nobody's in particular: a parabola might make it anything.
    """
    below = np.cumsum(around)
    low, high = (int(np.searchsorted(below, part)) for part in (_OUTSIDE, 1 - _OUTSIDE))
    times = shares / (around + _SPREAD)
    times[:low], times[high + 1 :] = times[low], times[high]
    found = times * (around + _SPREAD)
    return np.asarray(found / found.sum())


def _improved(
    evidence: Evidence, apart: Values, like: Values, stiff: Values
) -> tuple[Values, Values]:
    """What costs least in a logarithm beside another one, and the distribution of both.

    Damped steps by Gauss and Newton.
    """
    from scipy.linalg import cho_factor, cho_solve

    def of(now: Values) -> tuple[float, Values]:
        whole = now + like
        shares = np.exp(whole - whole.max())
        shares /= shares.sum()
        return float(evidence.cost(shares) + now @ stiff @ now / 2), shares

    damping = 1e-2
    cost, shares = of(apart)
    for _ in range(_STEPS):
        slope = evidence.slope(shares) + stiff @ apart
        curve = evidence.curvature(shares) + stiff
        size = np.diag(np.abs(np.diag(curve)) + 1e-3)
        for _ in range(_TRIES):
            try:
                step = cho_solve(cho_factor(curve + damping * size), -slope)
            except np.linalg.LinAlgError:
                damping *= 8
                continue
            new = apart + step
            less, there = of(new - new.mean())
            if less < cost:
                break
            damping *= 4
        else:
            break
        settled = cost - less < 1e-5 * (1 + abs(cost - less))
        apart, cost, shares = new - new.mean(), less, there
        damping = max(damping / 5, 1e-8)
        if settled:
            break
    return apart, shares


def _spread(shares: Values) -> float:
    """Standard deviation of a distribution, in bins; not below the narrowest."""
    place = np.arange(len(shares))
    mean = shares @ place
    return max(float(np.sqrt(shares @ (place - mean) ** 2)), _NARROWEST)


def _stiffness(apart: Values, spread: float) -> Values:
    """What third differences cost, and a little to stay where nothing is known.

    Where they are large already, more of them costs hardly more: counts that clearly say so may
    have peaks.
    """
    bins = len(apart)
    third = np.diff(np.eye(bins), 3, axis=0)
    weight = 1 / (1 + (spread**3 * (third @ apart) / _LARGE) ** 2)
    costs: Values = _STIFFNESS * spread**5 * (third.T * weight) @ third
    found: Values = costs + 1e-6 * np.eye(bins)
    return found


@functools.lru_cache(maxsize=8)
def _gaussians(bins: int) -> NDArray[np.float64]:
    """Gaussians of many means and widths, (…, bins)."""
    from scipy.special import ndtr

    ends = np.arange(bins + 1)
    widths = np.geomspace(_NARROWEST, 2 * bins, _WIDTHS)
    place = (ends - (np.arange(bins)[:, None, None] + 0.5)) / widths[:, None]
    shares = np.diff(ndtr(place), axis=-1).reshape(-1, bins) + _SPREAD
    found: NDArray[np.float64] = shares / shares.sum(axis=-1, keepdims=True)
    return found

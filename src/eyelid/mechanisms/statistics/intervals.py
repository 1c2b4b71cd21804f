"""Intervals that cover sampling, clipping and noise, from what was shown and public facts alone.

Nothing here sees people: the whole release is modelled, people's numbers as normal within their
range or kernels over pairs with the variance that theory gives, and whatever parameter could have
given what was shown stays inside. What noise has carried beyond anything possible, such as a share
of 1.4, is taken for the nearest that is possible: next to no parameter gives such a number, and an
interval of those that do would be all but empty, as if the noise were small (power-constrained
limits, Cowan et al. 2011). Intervals only grow by it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.statistics.spread import NoiseOfOne

LEVEL = 0.95
WIDER = 1.25
"""How much wider than a norm's people may be spread, where their spread is not measured."""
PRIOR_FACTOR = 1.5
"""A norm's spread is off by such a factor, or less, two times in three."""
BOTH = (True, True)
"""Numbers are clipped below and above."""
FARTHEST = 0.25
"""How far a mean is moved to put clipping right, in spreads. Beyond that noise grows more than it
helps: root mean square errors of 20 to 535 simulated people, whose norm is one spread off."""
_NODES = 401
_COARSE, _FINE = 33, 45
_MOST_PASSES, _SETTLED = 6, 0.6
# How far candidates go beyond what was shown, in its spread.
_REACH = 7.0


@dataclass(frozen=True)
class Interval:
    """Where a number lies, with confidence.

    Attributes:
        low: the lower end.
        high: the upper one.
    """

    low: float
    high: float

    def around(self, estimate: float) -> Interval:
        """With what is estimated inside."""
        return Interval(min(self.low, estimate), max(self.high, estimate))


def inverted(
    shown: float,
    candidates: Values,
    means: Values,
    sds: Values,
    noise: NoiseOfOne,
    level: float = LEVEL,
) -> Interval:
    """Parameters under which what was shown is in neither tail.

    Args:
        shown: the noisy number.
        candidates: parameters, from small to large; what is shown grows with them.
        means: of what is shown under each.
        sds: of sampling under each.
        noise: on the number.
        level: of confidence.
    """
    tail = (1 - level) / 2
    below = noise.below(shown - means, sds)
    # From 1 down to 0 over candidates, but for rounding.
    falling = np.minimum.accumulate(below)[::-1]
    low, high = np.interp([1 - tail, tail], falling, candidates[::-1])
    return Interval(float(low), float(high))


# Means.


def clipped_moments(
    mean: Values, sd: Values, clips: tuple[bool, bool] = BOTH
) -> tuple[Values, Values, Values, Values]:
    """The first four moments of a normal number clipped to [0, 1], about the middle.

    Args:
        mean: of the number before it is clipped.
        sd: its standard deviation.
        clips: whether it is clipped below, and above.

    Returns:
        E h, E h², E h³, E h⁴ of h = 2·clip(x) − 1.
    """
    from scipy.special import ndtr

    centre, spread = 2 * mean - 1, 2 * sd
    below, above = (
        side if cut else math.copysign(math.inf, side)
        for side, cut in zip((-1.0, 1.0), clips, strict=True)
    )
    a, b = (below - centre) / spread, (above - centre) / spread
    inside = ndtr(b) - ndtr(a)
    density_a, density_b = (np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) for z in (a, b))
    # ∫ zⁿφ between a and b, by parts.
    parts = [inside, density_a - density_b]
    for n in range(2, 5):
        # So far out there is no density left.
        lower_end, upper_end = (np.clip(z, -40, 40) ** (n - 1) for z in (a, b))
        parts.append((n - 1) * parts[n - 2] + lower_end * density_a - upper_end * density_b)
    lower, upper = ndtr(a), ndtr(-b)

    def moment(n: int) -> Values:
        terms = [math.comb(n, j) * centre ** (n - j) * spread**j * parts[j] for j in range(n + 1)]
        return np.asarray(sum(terms) + upper + (-1) ** n * lower)

    return moment(1), moment(2), moment(3), moment(4)


def mean_by_norm(
    shown: float,
    people: int,
    sd: float,
    noise: NoiseOfOne,
    clips: tuple[bool, bool] = BOTH,
    level: float = LEVEL,
) -> Interval:
    """The interval of people's mean, in places, where a norm says how far people are spread.

    Args:
        shown: the noisy mean of clipped places.
        people: N.
        sd: the norm's spread, in places; people may be spread WIDER than it.
        noise: on the mean.
        clips: whether numbers are clipped below, and above.
        level: of confidence.
    """
    spread = WIDER * sd
    reach = _REACH * (noise.sd + spread / math.sqrt(people)) + 2 * spread
    shown = float(np.clip(shown, 0.0, 1.0))
    candidates = np.linspace(shown - reach, shown + reach, _NODES)
    first, second, *_ = clipped_moments(candidates, np.asarray(spread), clips)
    sds = np.sqrt(np.maximum(second - first**2, 1e-12) / people) / 2
    return inverted(shown, candidates, (first + 1) / 2, sds, noise, level)


def widest_spread(mean: Values) -> Values:
    """How far people between 0 and 1 are spread at most whose distribution has one peak.

    The widest is even but for what sits at the nearer end (Jacobson 1969): m(2/3 - m), m from that
    end to the mean.

    Args:
        mean: of people.

    >>> round(float(widest_spread(np.asarray(1 / 3))), 3)
    0.333
    """
    near = np.minimum(mean, 1 - mean)
    return np.asarray(np.sqrt(np.maximum(near * (2 / 3 - near), 0.0)))


def mean_of_one_peak(
    shown: float, people: int, noise: NoiseOfOne, level: float = LEVEL
) -> Interval:
    """The interval of people's mean, in places, where nothing is known of them but their range.

    Args:
        shown: the noisy mean of places that nobody was clipped to.
        people: N.
        noise: on the mean.
        level: of confidence.
    """
    shown = float(np.clip(shown, 0.0, 1.0))
    candidates = np.linspace(0.0, 1.0, _NODES)
    sds = np.maximum(widest_spread(candidates), 1e-6) / math.sqrt(people)
    return inverted(shown, candidates, candidates, sds, noise, level)


@dataclass(frozen=True)
class Fitted:
    """What two noisy moments say of people.

    Attributes:
        mean: where people's mean lies, in places.
        sd: how far they are spread, in places.
        sd_estimate: the middle of what is likely.
    """

    mean: Interval
    sd: Interval
    sd_estimate: float


def mean_and_spread(
    shown: float,
    moment: float,
    people: int,
    noise: NoiseOfOne,
    prior_sd: float,
    factor: float = PRIOR_FACTOR,
    clips: tuple[bool, bool] = BOTH,
    level: float = LEVEL,
) -> Fitted:
    """The intervals of people's mean and spread, in places, from their noisy first two moments.

    All means are as likely before, and spreads by a factor around a norm's.

    Args:
        shown: the noisy mean of clipped places.
        moment: the noisy mean of (2·place − 1)².
        people: N.
        noise: on each of both.
        prior_sd: the norm's spread.
        factor: by which it is off, or less, two times in three.
        clips: whether numbers are clipped below, and above.
        level: of confidence.
    """
    wide = 3.5 * math.log(factor)
    logs = math.log(prior_sd) + np.linspace(-wide, wide, _COARSE)
    reach = _REACH * noise.sd + 4 * prior_sd * math.exp(wide / 2) / math.sqrt(people) + prior_sd
    shown = float(np.clip(shown, 0.0, 1.0))
    means = shown + np.linspace(-reach, reach, _COARSE)

    def weighed(means: Values, logs: Values) -> Values:
        prior = np.exp(-0.5 * ((logs - math.log(prior_sd)) / math.log(factor)) ** 2)
        found = prior * _likelihood(shown, moment, people, noise, means, logs, clips)
        if found.sum() <= 0:
            # What was shown is next to impossible under any of them: only the prior is left.
            found = np.broadcast_to(prior, found.shape)
        return np.asarray(found / found.sum())

    for _ in range(_MOST_PASSES):
        weights = weighed(means, logs)
        before = np.ptp(means), np.ptp(logs)
        means, logs = _around(means, weights.sum(axis=1)), _around(logs, weights.sum(axis=0))
        if np.ptp(means) > _SETTLED * before[0] and np.ptp(logs) > _SETTLED * before[1]:
            break
    weights = weighed(means, logs)
    tails = [(1 - level) / 2, 0.5, 1 - (1 - level) / 2]
    low, _, high = _quantiles(means, weights.sum(axis=1), tails)
    sd_low, sd_middle, sd_high = np.exp(_quantiles(logs, weights.sum(axis=0), tails))
    return Fitted(
        Interval(low, high),
        Interval(float(sd_low), float(sd_high)),
        float(sd_middle),
    )


def _likelihood(
    shown: float,
    moment: float,
    people: int,
    noise: NoiseOfOne,
    means: Values,
    logs: Values,
    clips: tuple[bool, bool],
) -> Values:
    """How likely each mean and spread makes what was shown, up to a constant."""
    first, second, third, fourth = clipped_moments(means[:, None], np.exp(logs)[None, :], clips)
    # Of the mean in places, which is half of that of h, and of the second moment.
    own = np.maximum(second - first**2, 1e-12) / people / 4
    joint = (third - first * second) / people / 2
    slope = joint / (own + noise.sd**2)
    rest = np.maximum((fourth - second**2) / people - slope * joint, 1e-12)
    away = shown - (first + 1) / 2
    # The moment beyond what the mean says of it: far from the middle both move together.
    beyond = moment - second - slope * away
    # What lies between candidates counts for the nearest, or narrow likelihoods would fall through.
    spreads = [
        np.sqrt(variance + sum(np.square(np.gradient(each))) / 4)
        for variance, each in ((own, away), (rest, beyond))
    ]
    # Every third half width, the middle of three, is as good here as all of them.
    halves = noise.half_widths[1::3] if noise.dimension else np.zeros(1)
    likelihood = np.zeros(first.shape)
    for half in halves:
        one = _density(away, spreads[0], half, noise)
        likelihood += one * _density(beyond, spreads[1], half, noise)
    return likelihood


def _density(away: Values, sd: Values, half: float, noise: NoiseOfOne) -> Values:
    """The density of a normal number plus noise of this half width, up to a constant."""
    from scipy.special import ndtr

    if noise.dimension == 0:
        wide = np.hypot(sd, noise.scale)
        return np.asarray(np.exp(-0.5 * (away / wide) ** 2) / wide)
    return np.asarray((ndtr((away + half) / sd) - ndtr((away - half) / sd)) / half)


def _around(axis: Values, weights: Values) -> Values:
    """A finer axis over where nearly all of the weight is."""
    total = np.cumsum(weights) / weights.sum()
    step = axis[1] - axis[0]
    first, last = np.searchsorted(total, [1e-5, 1 - 1e-5])
    low, high = axis[int(first)] - step, axis[min(int(last), axis.size - 1)] + step
    return np.linspace(low, high, _FINE)


def _quantiles(axis: Values, weights: Values, levels: list[float]) -> list[float]:
    """The quantiles of a distribution with these weights at the midpoints of cells."""
    step = axis[1] - axis[0]
    ends = np.append(axis - step / 2, axis[-1] + step / 2)
    total = np.append(0.0, np.cumsum(weights)) / weights.sum()
    return [float(x) for x in np.interp(levels, total, ends)]


def unclipped(
    shown: float, sd: float, clips: tuple[bool, bool] = BOTH, most: float = FARTHEST
) -> float:
    """People's mean, in places, from that of clipped numbers, if people are normal.

    Args:
        shown: the mean of clipped places.
        sd: how far people are spread, in places.
        clips: whether numbers are clipped below, and above.
        most: how far it may move, in spreads: where most people are outside noise would grow.

    >>> round(unclipped(0.9, 0.2), 3), unclipped(0.9, 0.2, clips=(False, False))
    (0.95, 0.9)
    """
    inside = float(np.clip(shown, 0.0, 1.0))
    if not any(clips):
        return inside
    farthest = most * sd
    low, high = (inside - farthest * clips[0], inside + farthest * clips[1])
    candidates = np.linspace(low, high, _NODES)
    first, *_ = clipped_moments(candidates, np.asarray(sd), clips)
    return float(np.interp(inside, (first + 1) / 2, candidates))


def is_outside(shown: float, sd: float, clips: tuple[bool, bool] = BOTH) -> bool:
    """Whether people's mean lies outside of their range, if they are normal.

    Args:
        shown: the mean of clipped places.
        sd: how far people are spread, in places.
        clips: whether numbers are clipped below, and above.

    >>> is_outside(0.85, 0.2), is_outside(0.95, 0.2), is_outside(0.95, 0.2, clips=(True, False))
    (False, True, False)
    """
    first, *_ = clipped_moments(np.array([0.0, 1.0]), np.asarray(sd))
    low, high = (first + 1) / 2
    return bool((clips[0] and shown < low) or (clips[1] and shown > high))


def is_seldom(off: float, sampling_sd: float, noise: NoiseOfOne) -> bool:
    """Whether noise and sampling put a mean so far off in one of twenty studies, or in fewer.

    Args:
        off: how far a noisy mean is from where it is thought to be.
        sampling_sd: of the mean without noise.
        noise: on it.

    >>> is_seldom(0.09, 0.05, NoiseOfOne(0.01)), is_seldom(-0.11, 0.05, NoiseOfOne(0.01))
    (False, True)
    """
    below = float(noise.below(np.array([off]), np.array([sampling_sd]))[0])
    return 2 * min(below, 1 - below) < 1 - LEVEL


# Shares and rank statistics.


def share(shown: float, people: int, noise: NoiseOfOne, level: float = LEVEL) -> Interval:
    """The interval of the share of people, by the exact binomial and noise.

    Args:
        shown: the noisy share.
        people: N.
        noise: on the share.
        level: of confidence.

    >>> share(1.5, 30, NoiseOfOne(0.1, 1)) == share(1.0, 30, NoiseOfOne(0.1, 1))
    True
    """
    shown = float(np.clip(shown, 0.0, 1.0))
    candidates = np.linspace(0.0, 1.0, _NODES)
    if people > 2_000:
        sds = np.sqrt(candidates * (1 - candidates) / people)
        return inverted(shown, candidates, candidates, sds, noise, level)
    from scipy.stats import binom

    counts = np.arange(people + 1)
    masses = binom.pmf(counts[None, :], people, candidates[:, None])
    under = masses @ noise.at_least(counts / people - shown)
    tail = (1 - level) / 2
    falling = np.minimum.accumulate(under)[::-1]
    low, high = np.interp([1 - tail, tail], falling, candidates[::-1])
    return Interval(float(low), float(high))


def of_pairs(
    shown: float,
    spread: Callable[[Values], Values],
    noise: NoiseOfOne,
    level: float = LEVEL,
) -> Interval:
    """The interval of a rank statistic between −1 and 1.

    Args:
        shown: the noisy statistic.
        spread: its standard deviation by sampling, of each of its values.
        noise: on the statistic.
        level: of confidence.
    """
    shown = float(np.clip(shown, -1.0, 1.0))
    candidates = np.linspace(-1.0, 1.0, _NODES)
    return inverted(shown, candidates, candidates, spread(candidates), noise, level)


def tau_spread(people: int) -> Callable[[Values], Values]:
    """Esscher's standard deviation of Kendall's τ in normal pairs, whose r is sin(πτ/2)."""

    def spread(tau: Values) -> Values:
        r = np.sin(np.pi * tau / 2)
        own = 1 - tau**2
        others = 1 / 9 - 4 * np.arcsin(r / 2) ** 2 / np.pi**2
        variance = 2 / (people * (people - 1)) * (own + 2 * (people - 2) * others)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    return spread


def dominance_spread(first: int, second: int) -> Callable[[Values], Values]:
    """The largest standard deviation of 2P − 1, P the probability of superiority.

    p(1 − p)/min(n₁, n₂) is the variance where the smaller group is spread far wider than the other
    (Birnbaum & Klose 1957); equal spreads have two thirds of it at even odds and equal groups, and
    a third where one group is far larger. How groups are spread is not known.
    """

    def spread(difference: Values) -> Values:
        p = (1 + difference) / 2
        return np.asarray(2 * np.sqrt(np.maximum(p * (1 - p), 0.0) / min(first, second)))

    return spread


def signed_rank_spread(people: int) -> Callable[[Values], Values]:
    """The standard deviation of Σ sign·rank over N(N+1)/2, of differences that are normal."""

    def spread(value: Values) -> Values:
        shift, variance = _signed_rank_table()
        first = np.interp(value, shift, variance)
        p = (1 + value) / 2
        pairs = (people - 1) / (people + 1)
        total = 4 * first / people * pairs + 2 * p * (1 - p) / people**2
        return np.asarray(2 * np.sqrt(np.maximum(total, 0.0)))

    return spread


@functools.lru_cache(maxsize=1)
def _signed_rank_table() -> tuple[Values, Values]:
    """2P(d + d' > 0) − 1 of normal differences, and the variance of P(d + d' > 0 | d)."""
    from scipy.special import ndtr

    means = np.linspace(-6, 6, 481)
    nodes, weights = np.polynomial.hermite_e.hermegauss(64)
    chance = ndtr(nodes[None, :] + 2 * means[:, None])
    weights = weights / weights.sum()
    mean = chance @ weights
    return 2 * mean - 1, (chance**2) @ weights - mean**2

"""The model of synthetic participants behind noisy answers, which are all that it knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.copula import GRID, PARTS, Copula, recall
from eyelid.mechanisms.synthetic.estimates import from_the_root, shrunk
from eyelid.mechanisms.synthetic.measurement import Answers, Measurement
from eyelid.mechanisms.synthetic.rounds import (
    TRENDS,
    Lookup,
    Signs,
)
from eyelid.mechanisms.synthetic.sequences import (
    LENGTH_BINS,
    length_bin,
)
from eyelid.mechanisms.synthetic.smooth_shares import smooth_distributions

_MOST_R = 0.995
CERTAIN = 5.0
"""Standard errors above which a count among many is not noise."""
# Of a signal's variance, the most that trends may have.
_MOST_TREND = 0.5
# Of a sign's variance, the least that something is said about.
_LEAST_ROOM = 0.25
# Windows of a recording whose length cannot be told from the noise.
_ROWS_OTHERWISE = 10


def fitted(measurement: Measurement, answers: Answers, bins: Bins) -> Copula:
    """What synthetic participants are drawn from: noisy answers and public facts alone."""
    facts, signs = measurement.facts, measurement.signs
    assert isinstance(signs, Signs), "people whose rows are no signal have a model of their own"
    features, tasks = facts.features, facts.recordings
    # Signs are means over tasks: whoever lacks one adds nothing for it.
    there = measurement.people_with(answers.shares)
    # So many people have values of each feature; of two, or of one in two tasks, no more.
    people = there.sum(axis=0).mean(axis=0)
    twice = people**2 / people.max()
    noise_sd = signs.noise_of_person(facts)
    sd = noise_sd / people
    numbers = signs.in_people(answers.signs, facts)
    pair, lag, task, trend = np.split(numbers, np.cumsum(signs.numbers(facts))[:-1])
    parents = tuple(int(parent) for parent in answers.parents)
    distributions = smooth_distributions(measurement, answers)
    chance = Chance.of(distributions, measurement.halves(answers.levels, answers.shares), there)
    lags = lag.reshape(-1, features) / people - chance.same
    lags = correlation(shrunk(lags, sd, lags.mean(axis=1, keepdims=True)) / chance.room)
    # Noise must not make what is later more alike than what is sooner.
    falling = np.minimum.accumulate(np.clip(lags, 0.0, 1.0), axis=0)
    over_tasks = None
    if tasks > 1:
        task = task / twice - chance.next_task
        over_tasks = shrunk(task, noise_sd / twice, float(task.mean())) / chance.room
        over_tasks = correlation(np.maximum(over_tasks, 0.0))
    child, parent = np.arange(1, features), np.array(parents[1:], dtype=np.intp)
    both = np.minimum(people[child], people[parent])
    pair = shrunk(pair / both - chance.pairs(child, parent), noise_sd / both, 0.0)
    links = linked(pair / np.sqrt(chance.room[child] * chance.room[parent]))
    return Copula(
        quantiles=quantile_tables(distributions, bins),
        parents=parents,
        links=links,
        parts=tree_memory(parents, links, falling, over_tasks, facts.window),
        trends=trends_of(shrunk(trend.reshape(TRENDS, features) / people, sd, 0.0)),
        lengths=shares_of_lengths(measurement, answers),
        window=facts.window,
    )


@dataclass(frozen=True, eq=False)
class Chance:
    """How much signs agree by chance: where many values are alike, most are high, or low.

    Attributes:
        means: (groups, tasks, features): of signs.
        weights: (groups, tasks, features): how many people have values of a task, 1 in all.
    """

    means: Values
    weights: Values

    @classmethod
    def of(cls, distributions: Values, halves: Lookup, people: Values) -> Chance:
        """By distributions (groups, tasks, features, bins), people (groups, tasks, features).

        The halves are those that were asked for, which are no halves, quite.
        """
        means = (distributions * halves[..., :-1]).sum(axis=-1)
        return cls(means, people / people.sum(axis=(0, 1)))

    def pairs(self, one: NDArray[np.intp], other: NDArray[np.intp]) -> Values:
        """The mean product of the signs of features that have nothing to do with each other."""
        products = self.weights[..., one] * self.means[..., one] * self.means[..., other]
        found: Values = products.sum(axis=(0, 1))
        return found

    @property
    def same(self) -> Values:
        """The mean product of the signs of two rows of one feature, by chance."""
        every = np.arange(self.means.shape[-1])
        return self.pairs(every, every)

    @property
    def next_task(self) -> Values:
        """The mean product of signs of a feature in one task and in the next, by chance."""
        products = self.weights * self.means * np.roll(self.means, 1, axis=1)
        found: Values = products.sum(axis=(0, 1))
        return found

    @property
    def room(self) -> Values:
        """What is left for more than chance, not so little that it would be noise."""
        return np.maximum(1 - self.same, _LEAST_ROOM)


def shares_of_lengths(measurement: Measurement, answers: Answers) -> Values:
    """How likely recordings have so many rows, (groups, tasks, bins)."""
    facts, shares = measurement.facts, measurement.shares
    otherwise = _ROWS_OTHERWISE * facts.window
    counts = shares.in_people(answers.shares, facts)
    counts = counts[..., facts.recordings * facts.features * shares.pieces :]
    if not shares.with_lengths:
        counts = np.zeros((len(counts), facts.recordings * LENGTH_BINS))
    table = counts.reshape(-1, facts.recordings, LENGTH_BINS)
    return lengths_of(table, shares.noise_of_person(facts), otherwise)


def memory(lags: Values, tasks: Values | None, window: int) -> Values:
    """Variances of the parts of a signal that has these correlations: (features, parts).

    Args:
        lags: (lags, features): correlation with itself so many rows later (`lags_of`).
        tasks: (features,): with itself in another task; None if there is one task only.
        window: rows that one window covers.
    """
    from scipy.optimize import nnls

    design = recall(window)
    whole = np.full((1, PARTS), 10.0)
    other = np.zeros((1, PARTS))
    other[0, 0] = 1.0
    found = np.empty((lags.shape[1], PARTS))
    for feature in range(lags.shape[1]):
        across = 0.0 if tasks is None else float(tasks[feature])
        wanted = np.concatenate([lags[:, feature], [across, 10.0]])
        found[feature], _ = nnls(np.concatenate([design, other, whole]), wanted)
    scaled: Values = found / found.sum(axis=1, keepdims=True)
    return scaled


def recalled(parts: Values, window: int) -> tuple[Values, Values]:
    """The correlations that parts (features, parts) give: lags × features, and over tasks."""
    return recall(window) @ parts.T, parts[:, 0]


def correlation(signs: Values) -> Values:
    """The correlation of Gaussians whose signs have the mean product ``signs``."""
    found: Values = np.sin(np.pi / 2 * np.clip(signs, -1, 1))
    return found


def tree_memory(
    parents: tuple[int, ...], links: Values, lags: Values, tasks: Values | None, window: int
) -> Values:
    """Variances of the parts of what each feature has of its own, so that the whole remembers.

    Args:
        parents: the tree.
        links: r of each feature with its parent.
        lags: (lags, features): correlations wanted.
        tasks: (features,): over tasks.
        window: rows that one window covers.
    """
    parts = np.empty((len(parents), PARTS))
    got_lags, got_tasks = np.empty_like(lags), np.zeros(len(parents))
    for feature in from_the_root(parents):
        parent, r2 = parents[feature], float(links[feature]) ** 2
        inherited = r2 * got_lags[:, parent] if parent >= 0 else 0.0
        across = r2 * got_tasks[parent] if parent >= 0 else 0.0
        rest = 1 - r2 if parent >= 0 else 1.0
        own_lags = np.clip((lags[:, feature] - inherited) / rest, 0.0, 1.0)[:, None]
        own_tasks = None
        if tasks is not None:
            own_tasks = np.clip((tasks[feature : feature + 1] - across) / rest, 0.0, 1.0)
        parts[feature] = memory(own_lags, own_tasks, window)[0]
        lags_found, tasks_found = recalled(parts[feature : feature + 1], window)
        got_lags[:, feature] = inherited + rest * lags_found[:, 0]
        got_tasks[feature] = across + rest * tasks_found[0]
    return parts


def trends_of(means: Values) -> Values:
    """Waves of the signal (waves, features) from means of signs times waves.

    A sign whose mean follows b·cos has b/2 as its mean product with the cosine, and the cosine's
    mean size is 2/π; a Gaussian's mean is √(π/2) times that of its sign, where both are small.
    """
    found = means * (4 / np.pi) * np.sqrt(np.pi / 2)
    variance = (found**2).sum(axis=0) / 2
    scaled: Values = found * np.minimum(1.0, np.sqrt(_MOST_TREND / np.maximum(variance, 1e-12)))
    return scaled


def quantile_tables(distributions: Values, bins: Bins) -> Values:
    """Values for signals on the grid, from distributions (groups, tasks, features, bins)."""
    from scipy.special import ndtr

    rare = ndtr(GRID)
    ends = np.concatenate(
        [np.zeros((*distributions.shape[:-1], 1)), np.cumsum(distributions, axis=-1)], axis=-1
    )
    place = np.empty((*distributions.shape[:-1], GRID.size))
    for index in np.ndindex(*distributions.shape[:-1]):
        place[index] = np.interp(rare, ends[index], np.arange(bins.count + 1))
    # The bins know features by the last axis.
    return np.moveaxis(bins.values(np.moveaxis(place, -2, -1)), -1, -2)


def lengths_of(counts: Values, noise_sd: float, otherwise: int) -> Values:
    """How likely each length is, from noisy counts of people (groups, tasks, bins).

    The most frequent, and those beside it that stand out of the noise. Where nothing does, it is as
    over all groups and tasks, and where nothing does there either, the one otherwise.

    Args:
        counts: of people, noisy.
        noise_sd: standard deviation of the noise.
        otherwise: rows of a recording, if nothing is known about them.
    """
    every = counts.sum(axis=(0, 1))
    spread_sd = noise_sd * np.sqrt(counts.shape[0] * counts.shape[1])
    unknown = np.arange(counts.shape[-1]) == length_bin(np.array(otherwise))
    overall = _around_the_top(every, spread_sd, unknown.astype(np.float64))
    found = np.empty_like(counts)
    for index in np.ndindex(counts.shape[:2]):
        found[index] = _around_the_top(counts[index], noise_sd, overall)
    return found


def _around_the_top(counts: Values, noise_sd: float, otherwise: Values) -> Values:
    """Shares of the largest count and its neighbours, as far as they are more than noise."""
    top = int(np.argmax(counts))
    if counts[top] < CERTAIN * noise_sd:
        return otherwise
    low = np.flatnonzero(counts[: top + 1] < noise_sd)
    high = np.flatnonzero(counts[top:] < noise_sd)
    first = int(low[-1]) + 1 if low.size else 0
    last = top + int(high[0]) if high.size else len(counts)
    inside = (np.arange(len(counts)) >= first) & (np.arange(len(counts)) < last)
    kept: Values = np.where(inside, counts, 0.0)
    shares: Values = kept / kept.sum()
    return shares


def linked(signs: Values) -> Values:
    """Links of features with their parents, from mean products of their signs; 0 of the first."""
    return np.concatenate([[0.0], np.clip(correlation(signs), -_MOST_R, _MOST_R)])

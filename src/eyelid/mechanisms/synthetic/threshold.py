"""How many people are enough, under noise: the randomised test of plausible deniability."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Shape
from eyelid.privacy.composition import share_of_total
from eyelid.privacy.noise import DiscreteLaplace, Randomness

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.seeded import Seeded

# Grid steps of one person in a count.
_PERSON = 2**20
_COIN_BITS = 30
_MOST_PEOPLE = 10**7
# Larger ε that are named where one is too small for so many people.
_EPSILONS = (2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Threshold:
    """A test of counts of people.

    Attributes:
        k: people who must be counted, noise added.
        others: t: with so many others in its range, a row changes by little.
        scale: of the noise, in steps of 1/2²⁰ of a person; 0 for none.
        heads: out of 2³⁰, how often a candidate may have a seed at all.
        epsilon_each: the loss of one row.
        delta_each: its δ.
    """

    k: int
    others: int
    scale: int
    heads: int
    epsilon_each: float
    delta_each: float

    @classmethod
    def plain(cls, k: int) -> Threshold:
        """One without noise, which has no ε."""
        return cls(k, k, 0, 1 << _COIN_BITS, math.inf, 1.0)

    @property
    def law(self) -> DiscreteLaplace:
        """The noise."""
        return _law(self.scale)

    @property
    def coin_chance(self) -> float:
        """β: how often a candidate may have a seed."""
        return self.heads / (1 << _COIN_BITS)

    def coin(self, count: int, noise: Randomness) -> NDArray[np.bool_]:
        """Whether each candidate may have a seed."""
        draws = noise.words(count) >> np.uint64(64 - _COIN_BITS)
        return np.asarray(draws < np.uint64(self.heads))

    def passes(self, counts: NDArray[np.int64], noise: Randomness) -> NDArray[np.bool_]:
        """Whether each count is at least k plus fresh noise."""
        return np.asarray((counts - self.k) * _PERSON >= self.law.draw(counts.shape, noise))

    def chance(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """How likely a count passes: P(L ≤ m) of discrete Laplace noise L."""
        m = (counts - self.k).astype(np.float64) * _PERSON
        ratio = math.exp(-1 / self.scale)
        below = np.exp(np.minimum(m, 0.0) / self.scale) / (1 + ratio)
        above = 1 - np.exp(-(np.maximum(m, 0.0) + 1) / self.scale) / (1 + ratio)
        return np.where(m < 0, below, above)

    def words(self, randomised: bool) -> str:
        """The test as a certificate tells it."""
        if not randomised:
            return f"test without noise: {self.k} people must have a row that could give it"
        return (
            f"test for each row: people with a row that could give it, at least {self.k} plus "
            f"discrete Laplace noise of scale {self.scale / _PERSON:.6g} people; ε = "
            f"{self.epsilon_each:.4g} and δ = {self.delta_each:.3g} each (t = {self.others}); a "
            f"candidate is considered with probability {self.coin_chance:.6g}"
        )


@functools.lru_cache(maxsize=64)
def _law(scale: int) -> DiscreteLaplace:
    return DiscreteLaplace(scale)


def fewest_people(epsilon: float, delta: float, weight: float, people: int) -> Threshold:
    """The smallest k, and the t that goes with it, for one row at (epsilon, delta).

    With t others in a range, one more person changes its probability by a factor of 1 + weight/t at
    most; what is left of ε is for the noise on the count, which must not let t people pass often:
    of the N that a row may begin with, one is the person in question.

    Args:
        epsilon: of one row.
        delta: of one row.
        weight: T·γ: rows of a person times how much likelier one may be.
        people: N, those who may be seeds.

    >>> found = fewest_people(1.0513, 6.14e-6, 2.0, 1000)
    >>> found.k <= 50
    True
    """
    least = max(1, math.floor(weight / math.expm1(min(epsilon, 50.0))) + 1)
    if least > _MOST_PEOPLE:
        raise InputError(
            f"ε = {epsilon:.3g} for a row would need more than {_MOST_PEOPLE:,} people who could "
            "have given it: release fewer rows, or choose a larger ε"
        )
    # As fine as it matters: the best t is a few times the least.
    others = np.unique(np.geomspace(least, 40 * least + 100, 10_000).astype(np.int64))
    left = epsilon - np.log1p(weight / others)
    passing = math.log(0.51 / min(delta * people, 0.5))
    needed = others + np.ceil(passing / np.maximum(left, 1e-300))
    best = int(np.argmin(needed))
    t, k = int(others[best]), max(int(needed[best]), int(others[best]) + 1)
    scale = math.ceil(_PERSON / float(left[best]))
    spent = _PERSON / scale
    chance = math.exp(-(k - t) * spent) / (1 + math.exp(-1 / scale)) / people
    # 1 − β must make up for what one person adds to the rows without a seed.
    odds = math.exp(min(spent, 50.0)) * people * weight / t
    heads = math.floor(odds / (1 + odds) * (1 << _COIN_BITS))
    return Threshold(k, t, scale, heads, spent + math.log1p(weight / t), chance)


@functools.lru_cache(maxsize=64)
def threshold_for(mechanism: Seeded, people: int, rows: int) -> Threshold:
    """The test for so many rows, whether there are people enough for it or not."""
    if mechanism.test == "deterministic":
        assert mechanism.k is not None, "checked when it was made"
        return Threshold.plain(mechanism.k)
    delta = mechanism.delta_for(people)
    # Half of δ is for counts that pass by chance, half for the composition.
    each = share_of_total(mechanism.epsilon, delta / 2, rows)
    weight = mechanism.records * mechanism.gamma
    found = fewest_people(each, delta / 2 / rows, weight, max(mechanism.seeds(people), 1))
    if mechanism.k is not None and mechanism.k < found.k:
        raise InputError(
            f"k={mechanism.k} is too small for epsilon {mechanism.epsilon:g} over {rows} rows, "
            f"which needs k ≥ {found.k}: leave k out, release fewer rows, or choose a larger ε"
        )
    return replace(found, k=mechanism.k or found.k)


def that_fits(mechanism: Seeded, shape: Shape, seeds: int) -> str:
    """Fewer rows or a larger ε that so many people allow, in words; empty where none does."""
    ways = []
    rows = mechanism.rows // 2
    while rows and mechanism.wanted(shape.people, rows * shape.recordings).k > seeds:
        rows //= 2
    if rows:
        ways.append(f"release fewer rows (--set rows={rows}), ")
    for larger in (each for each in _EPSILONS if each > mechanism.epsilon):
        test = replace(mechanism, epsilon=larger).wanted(
            shape.people, mechanism.rows * shape.recordings
        )
        if test.k <= seeds:
            ways.append(f"choose a larger ε (--epsilon {larger:g}), ")
            break
    return "".join(ways) + ("or " if ways else "too few people for rows that keep parts: ")

"""Who else might have been the seed of a synthetic record: the test of plausible deniability.

A candidate y is made of a seed by keeping its first w features, w uniform on lo..hi, and drawing
the others one after the other, each given the one before. So the probability that a record makes y
depends on nothing but m, the number of features at the start that the two have in common:

    p(m) = 1/(hi − lo + 1) · Σ_{w = lo}^{min(m, hi)} c_w(y),   c_w(y) = Π_{j ≥ w} P(y_j | y_{j−1}),

and 0 if m < lo. It grows with m, so the records in the bucket of the seed, γ^(−i−1) < p ≤ γ^(−i)
(Bindschaedler et al. 2017), are those whose m lies in some range. In a tree of prefixes they are
what hangs from one node but not from another below it, and these are counted once for everybody:
no candidate is ever compared with all seeds.

All probabilities are ratios of whole numbers and every decision is exact: logarithms in float64
decide where their error is too small to matter, whole numbers everywhere else.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.synthetic.binning import MOST_BINS, Codes
from eyelid.privacy.composition import share_of_total
from eyelid.privacy.noise import DiscreteLaplace, Randomness

if TYPE_CHECKING:
    from eyelid.mechanisms.synthetic.seeded import Seeded

Integers = NDArray[np.int64]

LEAST_GAMMA = 1.0 + 1e-6
"""Closer to 1, whether p lies in a bucket takes more digits than it is worth."""

_BLOCK_CANDIDATES = 1 << 12
_NONE = -1
# Grid steps of one person in a count.
_PERSON = 2**20
_COIN_BITS = 30
_MOST_PEOPLE = 10**7
# Larger ε that are named where one is too small for so many people.
_EPSILONS = (2.0, 4.0, 8.0)


def plausible_people(
    candidates: Codes,
    made_of: NDArray[np.integer],
    seeds: Codes,
    owner: NDArray[np.integer],
    weights: Integers,
    kept: tuple[int, int],
    gamma: float,
) -> Integers:
    """How many people have a record that makes a candidate about as likely as its seed.

    Args:
        candidates: synthetic records, (candidates, features).
        made_of: the seed of each candidate, a row of ``seeds``.
        seeds: records, (records, features).
        owner: whose each record is; with a number of its own for each, records are counted.
        weights: (features, bins, bins), the odds of a bin (last axis) given the bin of the feature
            before; of the first feature row 0 counts. All rows have the same sum, below 2⁵³.
        kept: the fewest and the most features that a candidate keeps of its seed, lo and hi.
        gamma: ratio of a bucket's ends. At 1 buckets would be empty: p must be the same then.

    Returns:
        For each candidate the different people with a record in the bucket of the seed, its owner
        among them; 0 if the seed cannot have made the candidate.

    Two records of two features that are kept or drawn evenly of two bins: either makes the first
    one's copy, but they are in one bucket only if γ allows for p = 5/8 against 1/8.

    >>> records = np.array([[0, 0], [1, 1]], dtype=np.uint8)
    >>> even = np.ones((2, 2, 2), dtype=np.int64)
    >>> for gamma in (2.0, 10.0):
    ...     plausible_people(records[:1], [0], records, [7, 8], even, (0, 1), gamma)
    array([1])
    array([2])
    """
    lowest, highest = kept
    check_gamma(gamma)
    if not 0 <= lowest <= highest <= seeds.shape[1]:
        raise InputError(
            f"kept features must be a range within 0 to {seeds.shape[1]}, got {lowest} to {highest}"
        )
    made_of, people = np.asarray(made_of), np.unique(owner, return_inverse=True)[1]
    tree = _Tree.of(seeds[:, :highest])
    reached = np.empty((4, len(candidates)), dtype=np.int64)
    blocks = range(0, len(candidates), _BLOCK_CANDIDATES)
    for start in track(blocks, "testing candidates"):
        block = slice(start, start + _BLOCK_CANDIDATES)
        rows = candidates[block]
        shared = _shared(rows, seeds[made_of[block]], highest)
        first, last = _range_of_bucket(_Chances.of(rows, weights), shared, kept, gamma)
        nodes = tree.nodes(rows)
        # Column −1, beyond the deepest, leads to nobody.
        reached[:, block] = [first, last + 1, *nodes[np.arange(len(rows)), [first, last + 1]]]
    return _people_between(tree, people, *reached)


def check_gamma(gamma: float) -> None:
    """Refuse a ratio that makes no buckets."""
    if gamma != 1 and not LEAST_GAMMA <= gamma < math.inf:
        raise InputError(f"gamma must be 1, or a number of at least {LEAST_GAMMA}, got {gamma:g}")


def bucket(probability: Fraction, gamma: float) -> int:
    """The i with γ^(−i−1) < p ≤ γ^(−i), exactly; γ is the decimal number that was typed.

    >>> bucket(Fraction(1, 8), 2.0), bucket(Fraction(1, 8) + Fraction(1, 10**60), 2.0)
    (3, 2)
    >>> bucket(1 / Fraction("1.1") ** 7, 1.1)
    7
    """
    base = Fraction(repr(float(gamma)))
    digits = 40
    while True:
        with localcontext(prec=digits):
            above = Decimal(probability.numerator).ln()
            below = Decimal(probability.denominator).ln()
            # A typed number has so few digits that this division is exact.
            step = (Decimal(base.numerator) / base.denominator).ln()
            place = (below - above) / step
            error = (1 + place + (below + above) / step).scaleb(2 - digits)
        nearest = round(place)
        if abs(place - nearest) > error:
            return math.floor(place)
        # p = (b/a)ⁿ would be in lowest terms, with a ≥ 2: a larger n cannot be.
        if nearest < probability.denominator.bit_length() and probability * base**nearest == 1:
            return nearest
        digits *= 2


@dataclass(frozen=True, eq=False)
class _Chances:
    """The odds of candidates' features, each given the one before: (candidates, features)."""

    odds: Integers
    total: int

    @classmethod
    def of(cls, rows: Codes, weights: Integers) -> _Chances:
        before = np.concatenate([np.zeros_like(rows[:, :1]), rows[:, :-1]], axis=1)
        odds = weights[np.arange(rows.shape[1]), before, rows]
        return cls(odds, int(weights[0, 0].sum()))

    def logarithms(self, lowest: int, highest: int) -> tuple[Values, float]:
        """The ln p(m) for m in lowest..highest, −∞ for p = 0, and how far off they are at most.

        A term is off by (1 + |ln|)·4u, u = 2⁻⁵², where libraries promise 4 units in the last place;
        each sum of F terms, none above 0, and each of the W steps of ln(eˣ + eʸ), which passes on
        no more than the larger of the errors of x and y, add 4u times the largest size at most.
        """
        with np.errstate(divide="ignore"):
            each = np.log(self.odds / self.total)
        features, terms = each.shape[1], highest - lowest + 1
        tails = np.zeros((len(each), features + 1))
        np.cumsum(each[:, ::-1], axis=1, out=tails[:, -2::-1])
        sums = np.logaddexp.accumulate(tails[:, lowest : highest + 1], axis=1) - math.log(terms)
        largest = features * math.log(self.total) + math.log(terms) + 1.0
        return sums, (features + terms + 2) * largest * 2.0**-49

    def exact(self, row: int, lowest: int, highest: int) -> list[Fraction]:
        """p(m) for m in lowest..highest."""
        odds = self.odds[row].tolist()
        below = (highest - lowest + 1) * self.total ** len(odds)
        terms = (self.total**kept * math.prod(odds[kept:]) for kept in range(lowest, highest + 1))
        return [Fraction(above, below) for above in itertools.accumulate(terms)]


def _shared(candidates: Codes, seeds: Codes, most: int) -> Integers:
    """How many features at the start are the same, at most so many."""
    same = candidates[:, :most] == seeds[:, :most]
    return np.asarray(np.logical_and.accumulate(same, axis=1).sum(axis=1, dtype=np.int64))


def _range_of_bucket(
    chances: _Chances, shared: Integers, kept: tuple[int, int], gamma: float
) -> tuple[Integers, Integers]:
    """The least and the most shared features of records in the bucket of the seed.

    Both are −1 where the seed cannot have made the candidate.
    """
    lowest, highest = kept
    row, own = np.arange(len(shared)), np.maximum(shared - lowest, 0)
    logarithms, error = chances.logarithms(lowest, highest)
    possible = (shared >= lowest) & (logarithms[row, own] > -np.inf)
    if gamma == 1 or lowest == highest:
        # Where the seed has a chance, each further feature in common adds to it.
        first, last = shared, shared
    else:
        buckets = _buckets(chances, logarithms, error, kept, gamma)
        same = buckets == buckets[row, own][:, None]
        first, last = lowest + same.argmax(axis=1), highest - same[:, ::-1].argmax(axis=1)
    return np.where(possible, first, _NONE), np.where(possible, last, _NONE)


def _buckets(
    chances: _Chances, logarithms: Values, error: float, kept: tuple[int, int], gamma: float
) -> Integers:
    """The bucket of each p(m), exactly; −1 for p = 0."""
    step = math.log1p(float(Fraction(repr(float(gamma))) - 1))
    place = np.where(np.isfinite(logarithms), -logarithms / step, -0.5)
    buckets = np.floor(place).astype(np.int64)
    error = error / step + place.max() * 2.0**-49
    unclear = np.abs(place - np.rint(place)) <= error
    for row in np.flatnonzero(unclear.any(axis=1)):
        exact = chances.exact(int(row), *kept)
        for column in np.flatnonzero(unclear[row]):
            buckets[row, column] = bucket(exact[column], gamma)
    return buckets


@dataclass(frozen=True, eq=False)
class _Tree:
    """What records begin with: one node for each beginning of a depth, numbered from 0.

    Attributes:
        keys: for each depth from 1 and each of its nodes, the node above and the feature's bin.
        members: for each depth from 0, the node of each record.
    """

    keys: list[Integers]
    members: list[Integers]

    @classmethod
    def of(cls, records: Codes) -> _Tree:
        keys, members = [], [np.zeros(len(records), dtype=np.int64)]
        for column in records.T:
            nodes, member = np.unique(members[-1] * MOST_BINS + column, return_inverse=True)
            keys.append(nodes)
            members.append(member)
        return cls(keys, members)

    def nodes(self, rows: Codes) -> Integers:
        """The node of each depth, (rows, depths), −1 where no record begins so or there is none."""
        found = np.full((len(rows), len(self.members) + 1), _NONE)
        found[:, 0] = 0
        for depth, keys in enumerate(self.keys):
            # What lies below nowhere has a negative key, and is nowhere again.
            wanted = found[:, depth] * MOST_BINS + rows[:, depth]
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found[:, depth + 1] = np.where(keys[place] == wanted, place, _NONE)
        return found


@dataclass(frozen=True, eq=False)
class _Households:
    """Records of one person below one node of a depth.

    Attributes:
        one: a record of each person and node.
        size: of each record, how many of its owner's there are below its node.
        people: different people below each node.
    """

    one: Integers
    size: Integers
    people: Integers

    @classmethod
    def of(cls, member: Integers, owner: Integers) -> _Households:
        key = member * (owner.max() + 1) + owner
        _, one, whose, size = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        return cls(one, size[whose], np.bincount(member[one]))


def _people_between(
    tree: _Tree,
    owner: Integers,
    first: Integers,
    after: Integers,
    top: Integers,
    below: Integers,
) -> Integers:
    """Different people with a record below the node ``top``, but not below that of ``below``.

    Args:
        tree: of the records.
        owner: of each record.
        first: the depth of ``top``, −1 for no one.
        after: the depth of ``below``.
        top: a node for each candidate.
        below: a node, −1 for none.
    """
    found = np.zeros(len(first), dtype=np.int64)
    depths = np.unique([first, np.where(below == _NONE, first, after)])
    at = {d: _Households.of(tree.members[d], owner) for d in depths.tolist() if d != _NONE}
    order = np.lexsort((after, first))
    changes = np.diff(first[order], prepend=-2) | np.diff(after[order], prepend=-2)
    ends = [*np.flatnonzero(changes).tolist(), len(order)]
    for start, end in itertools.pairwise(ends):
        which = order[start:end]
        upper, lower = int(first[which[0]]), int(after[which[0]])
        if upper == _NONE:
            continue
        found[which] = at[upper].people[top[which]]
        inner = which[below[which] != _NONE]
        if inner.size:
            one = at[lower].one
            # They are gone with the lower node: all that they have is below it.
            gone = one[at[upper].size[one] == at[lower].size[one]]
            member = tree.members[lower]
            found[inner] -= np.bincount(member[gone], minlength=member.max() + 1)[below[inner]]
    return found


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
    def distribution(self) -> DiscreteLaplace:
        """The noise."""
        return _laplace(self.scale)

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
        return np.asarray(
            (counts - self.k) * _PERSON >= self.distribution.draw(counts.shape, noise)
        )

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
def _laplace(scale: int) -> DiscreteLaplace:
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


def that_fits(mechanism: Seeded, facts: PublicFacts, seeds: int) -> str:
    """Fewer rows or a larger ε that so many people allow, in words; empty where none does."""
    ways = []
    rows = mechanism.rows // 2
    while rows and mechanism.wanted(facts.people, rows * facts.recordings).k > seeds:
        rows //= 2
    if rows:
        ways.append(f"release fewer rows (`rows={rows}`), ")
    for larger in (each for each in _EPSILONS if each > mechanism.epsilon):
        test = replace(mechanism, epsilon=larger).wanted(
            facts.people, mechanism.rows * facts.recordings
        )
        if test.k <= seeds:
            ways.append(f"choose a larger ε (`epsilon={larger:g}`), ")
            break
    return "".join(ways) + ("or " if ways else "too few people for rows that keep parts: ")

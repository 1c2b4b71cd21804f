"""Sums of signs over pairs of people: rank statistics as whole numbers that no norm limits.

The last axis of all places goes over people; NaN is a missing number, which counts as equal to
everybody's. Each kernel lies between −1 and 1, so that one person moves a sum over the n pairs that
they are in by at most 2n. Nothing depends on the order of people, and nobody is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import Values

# Numbers that differ by less than 2⁻⁴⁰ of their range are equal: arithmetic makes such differences.
_FINEST = 2.0**40
_LARGEST = 1e250
_AT_ONCE = 1 << 23


def _levels(places: Values) -> Values:
    """Distances from the middle in whole steps, as floats; NaN stays."""
    limited = np.clip(places, -_LARGEST, _LARGEST)
    return np.rint((limited - 0.5) * _FINEST)


def _signs(levels: Values, others: Values) -> NDArray[np.int8]:
    """Signs of all differences (…, people, others), 0 where one is missing."""
    difference = levels[..., :, None] - others[..., None, :]
    return np.sign(np.nan_to_num(difference, nan=0.0)).astype(np.int8)


def blocks(levels: Values, others: int) -> Iterator[slice]:
    """Some people at once, whose pairs with so many others fit into memory."""
    people, batch = levels.shape[-1], max(1, math.prod(levels.shape[:-1]))
    rows = max(1, _AT_ONCE // max(1, batch * others))
    return (slice(start, start + rows) for start in range(0, people, rows))


def concordance(one: Values, other: Values) -> Integers:
    """Σ over pairs of people of the product of signs, of which Kendall's τ is the mean.

    >>> concordance(np.array([0.1, 0.2, 0.3]), np.array([0.5, 0.9, 0.7])).item()
    1
    """
    one, other = _levels(one), _levels(other)
    total = np.zeros(one.shape[:-1], dtype=np.int64)
    for part in blocks(one, one.shape[-1]):
        products = _signs(one[..., part], one) * _signs(other[..., part], other)
        total += products.sum(axis=(-2, -1), dtype=np.int64)
    # Each pair was met twice, nobody with themselves: a sign of 0.
    return np.asarray(total // 2)


def concordance_sensitivity(people: int) -> int:
    """2(N − 1): a person is in N − 1 pairs."""
    return 2 * (people - 1)


def dominance(first: Values, second: Values) -> Integers:
    """Σ over pairs of a person of each group of the sign of their difference: 2U − n₁n₂.

    >>> dominance(np.array([0.3, 0.5]), np.array([0.1, 0.5])).item()
    1
    """
    first, second = _levels(first), _levels(second)
    total = np.zeros(first.shape[:-1], dtype=np.int64)
    for part in blocks(first, second.shape[-1]):
        signs = _signs(first[..., part], second)
        total += signs.sum(axis=(-2, -1), dtype=np.int64)
    return total


def dominance_sensitivity(first: int, second: int) -> int:
    """2·max(n₁, n₂): a person is in as many pairs as the other group has people."""
    return 2 * max(first, second)


def signed_ranks(differences: Values) -> Integers:
    """Σ sign·rank of the size, of differences whose 0 is the middle of the range.

    Sizes that are equal share the mean of their ranks, and those of 0 count in the ranks (Pratt).
    That is Σ_{i ≤ j} sign(dᵢ + dⱼ), a whole number.

    >>> signed_ranks(np.array([0.6, 0.4, 0.9])).item()
    3
    """
    from scipy.stats import rankdata

    levels = np.nan_to_num(_levels(differences), nan=0.0)
    doubled = np.rint(2 * rankdata(np.abs(levels), axis=-1)) * np.sign(levels)
    return np.asarray(np.rint(doubled.sum(axis=-1) / 2), dtype=np.int64)


def signed_rank_sensitivity(people: int) -> int:
    """2N: a person is in N pairs, one of them with themselves."""
    return 2 * people

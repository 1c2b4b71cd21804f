"""What noisy counts suggest: distributions, quarters and halves.

Everything here knows noisy counts and the scale of their noise, and none of the data. All
arrays may have axes in front.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.rounds import QUARTERS, Lookup

# Of a distribution, what is spread over all bins, so that none is impossible.
_SPREAD = 1e-6


def nearest_shares(shares: Values) -> Values:
    """The nearest numbers that are not negative and have the sum 1, over the last axis.

    >>> nearest_shares(np.array([0.5, 0.7, -0.2]))
    array([0.4, 0.6, 0. ])
    """
    down = -np.sort(-shares, axis=-1)
    above = np.cumsum(down, axis=-1) - 1
    many = np.arange(1, shares.shape[-1] + 1)
    positive = (down - above / many > 0).sum(axis=-1, keepdims=True)
    level = np.take_along_axis(above, positive - 1, axis=-1) / positive
    found: Values = np.maximum(shares - level, 0.0)
    return found


def quarters(levels: Values, parts: int = QUARTERS) -> Lookup:
    """The quarter of a distribution (…, bins) in which the middle of each bin lies.

    The last entry, of what is missing, is in none.

    Args:
        levels: the distribution.
        parts: into how many parts it is cut, if not into quarters.
    """
    middle = np.cumsum(levels, axis=-1) - levels / 2
    found = np.minimum(middle * parts, parts - 1).astype(np.int8)
    return _with_missing(found, parts)


def of_tasks(levels: Values, quarter: Lookup, shares: Values) -> Values:
    """The distribution of each task: as over all tasks within a quarter, with its share of it.

    Args:
        levels: (…, features, bins).
        quarter: (…, features, bins + 1).
        shares: (…, conditions, features, quarters).
    """
    inside = quarter[..., :-1, None] == np.arange(shares.shape[-1])
    whole = (levels[..., None] * inside).sum(axis=-2)
    # A quarter without a bin has nothing to give: whoever counted nobody there.
    factor = shares / np.maximum(whole, _SPREAD)[..., None, :, :]
    per_bin = np.take_along_axis(
        factor, np.broadcast_to(quarter[..., None, :, :-1], _bins(factor, levels)), axis=-1
    )
    found = levels[..., None, :, :] * (per_bin + _SPREAD)
    scaled: Values = found / found.sum(axis=-1, keepdims=True)
    return scaled


def _bins(factor: Values, levels: Values) -> tuple[int, ...]:
    return (*factor.shape[:-1], levels.shape[-1])


def halves(distributions: Values) -> Lookup:
    """1 for bins (…, bins) above the median, −1 for those below; 0 of what is missing.

    The bin in which the median lies is in the half of its middle.
    """
    middle = np.cumsum(distributions, axis=-1) - distributions / 2
    return _with_missing(np.where(middle < 0.5, -1, 1).astype(np.int8), 0)


def _with_missing(found: NDArray[np.int8], missing: int) -> Lookup:
    last = np.full((*found.shape[:-1], 1), missing, dtype=np.int8)
    return np.concatenate([found, last], axis=-1)


def towards_common(shares: Values, noise_sd: Values) -> Values:
    """Noisy shares of conditions, nearer to what they have in common the less they differ by more.

    Stein's rule for each feature by itself: noise must not make conditions differ where they do
    not, or a model that learns to tell them apart learns noise.

    Args:
        shares: (…, conditions, features, parts), noisy.
        noise_sd: (…, conditions, features), standard deviation of the noise.
    """
    conditions, _, parts = shares.shape[-3:]
    free = (conditions - 1) * (parts - 1)
    common = shares.mean(axis=-3, keepdims=True)
    away = shares - common
    size = ((away / noise_sd[..., None]) ** 2).sum(axis=(-3, -1), keepdims=True)
    kept = np.clip(1 - max(free - 2, 0) / np.maximum(size, 1e-12), 0.0, 1.0)
    found: Values = common + kept * away
    return found


def towards_mean(noisy: Values, noise_sd: float) -> Values:
    """Noisy numbers, nearer to their mean over the last axis the more of their scatter is noise."""
    mean = noisy.mean(axis=-1, keepdims=True)
    away = noisy - mean
    spread = (away**2).sum(axis=-1, keepdims=True) / max(noisy.shape[-1] - 1, 1)
    kept = np.clip(1 - noise_sd**2 / np.maximum(spread, 1e-300), 0.0, 1.0)
    found: Values = mean + kept * away
    return found


def shrunk(noisy: Values, noise_sd: Values | float, towards: Values | float) -> Values:
    """Noisy numbers, nearer to what they scatter around the more of their scatter is noise."""
    away = noisy - towards
    if not away.size:
        return away
    spread, noise = float(np.mean(away**2)), float(np.mean(np.square(noise_sd)))
    kept = max(0.0, 1 - noise / spread) if spread > 0 else 0.0
    found: Values = towards + kept * away
    return found


def spanning_tree(strengths: Values) -> tuple[int, ...]:
    """The tree of the strongest links: of each number the one before it, −1 of the first.

    Args:
        strengths: (features, features), symmetric.

    >>> spanning_tree(np.array([[0, 0.1, 0.9], [0.1, 0, 0.5], [0.9, 0.5, 0]]))
    (-1, 2, 0)
    """
    many = len(strengths)
    parents = np.full(many, -1)
    best, link = strengths[0].copy(), np.zeros(many, dtype=np.intp)
    outside = np.arange(many) != 0
    for _ in range(many - 1):
        new = int(np.argmax(np.where(outside, best, -np.inf)))
        parents[new], outside[new] = link[new], False
        closer = strengths[new] > best
        best, link = np.where(closer, strengths[new], best), np.where(closer, new, link)
    return tuple(int(parent) for parent in parents)


def from_the_root(parents: tuple[int, ...]) -> list[int]:
    """Features in an order in which each comes after the one before it in the tree.

    >>> from_the_root((-1, 2, 0))
    [0, 2, 1]
    """
    order, waiting = [], [number for number, parent in enumerate(parents) if parent < 0]
    while waiting:
        order.append(waiting.pop(0))
        waiting += [number for number, parent in enumerate(parents) if parent == order[-1]]
    return order

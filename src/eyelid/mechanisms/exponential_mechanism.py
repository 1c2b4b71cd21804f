"""The exponential mechanism in integers: one of a few public candidates, the cheaper the likelier.

Nothing is approximate: P(i) ∝ exp(−costᵢ/t) for integer costs and an integer t. A candidate is
proposed, each as likely as the others, and accepted when a draw of discrete Laplace noise of scale
t reaches its cost, which happens with probability exp(−costᵢ/t)/(1 + exp(−1/t)).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.privacy.noise import DiscreteLaplace, Randomness

Integers = NDArray[np.int64]


def choose(costs: Integers, scale: int, source: Randomness) -> NDArray[np.intp]:
    """Which candidate is drawn, P(i) ∝ exp(−costᵢ/scale), candidates being the last axis.

    >>> from eyelid.privacy.noise import randomness
    >>> choose(np.array([[0, 900], [900, 0]]), 3, randomness()).tolist()
    [0, 1]
    """
    distribution = _laplace(scale)
    *front, candidates = costs.shape
    # What all candidates have in common does not change the chances.
    flat = (costs - costs.min(axis=-1, keepdims=True)).reshape(-1, candidates)
    unused_bits = np.uint64(64 - max(1, (candidates - 1).bit_length()))
    chosen = np.zeros(len(flat), dtype=np.intp)
    open_ones = np.arange(len(flat))
    while open_ones.size:
        proposed = (source.words(open_ones.size) >> unused_bits).astype(np.intp)
        inside = proposed < candidates
        proposed[~inside] = 0
        accepted = inside & (distribution.draw(open_ones.size, source) >= flat[open_ones, proposed])
        chosen[open_ones[accepted]] = proposed[accepted]
        open_ones = open_ones[~accepted]
    return chosen.reshape(front)


@functools.lru_cache(maxsize=64)
def _laplace(scale: int) -> DiscreteLaplace:
    """With its tables made once."""
    return DiscreteLaplace(scale)


def log_chances(costs: Integers, scale: int) -> Values:
    """The logarithm of each candidate's probability.

    >>> np.exp(log_chances(np.array([0, 0]), 3)).round(3).tolist()
    [0.5, 0.5]
    """
    weights = -(costs - costs.min(axis=-1, keepdims=True)) / scale
    chances: Values = weights - np.log(np.exp(weights).sum(axis=-1, keepdims=True))
    return chances

"""Markov chains that say how one step depends on the one before: what an attacker may know.

A matrix has one row a state, P[i, j] = Pr(next is j | now is i). Whether it is public decides what
a figure computed from it may be used for: a matrix estimated from private recordings is itself a
statistic of them, without any guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.study import Study, track_starts
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import windows_of

Floats = NDArray[np.float64]

# How far the sum of a row may be from 1 by rounding in a file.
_SUM_TOLERANCE = 1e-6
# The normal distribution beyond holds less than rounding does, seen from any cell that is used.
_FARTHEST = 12.0
# Leakage looks at all pairs of rows and all states: seconds here, minutes at four times as many.
_MOST_STATES = 256
_STRONGEST = 0.9999


@dataclass(frozen=True, eq=False)
class Transitions:
    """A Markov chain, and where it comes from.

    Attributes:
        matrix: P[i, j] = Pr(next is j | now is i).
        source: where it comes from, in words.
        public: whether it was chosen without looking at the private data.
    """

    matrix: Floats
    source: str
    public: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", checked_matrix(self.matrix))


def checked_matrix(matrix: ArrayLike) -> Floats:
    """Return the matrix with rows that sum to 1, if they are distributions.

    >>> checked_matrix([[0.5, 0.4], [0.0, 1.0]])
    Traceback (most recent call last):
    eyelid.errors.InputError: row 1 of the transition matrix sums to 0.9: every row must sum to 1
    """
    found = np.asarray(matrix, dtype=np.float64)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise InputError(f"a transition matrix is square, this has the shape {found.shape}")
    if not (np.isfinite(found).all() and (found >= 0).all()):
        raise InputError("a transition matrix holds probabilities: numbers of at least 0")
    if len(found) > _MOST_STATES:
        raise InputError(
            f"the transition matrix has {len(found)} states: use at most {_MOST_STATES}"
        )
    sums = found.sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums - 1) > _SUM_TOLERANCE)
    if len(wrong):
        raise InputError(
            f"row {wrong[0] + 1} of the transition matrix sums to {sums[wrong[0]]:g}: "
            "every row must sum to 1"
        )
    return np.asarray(found / sums[:, None], dtype=np.float64)


def autoregressive_transitions(correlation: float, states: int = 8) -> Transitions:
    """A standard normal AR(1) process seen in equally likely cells, exactly.

    P[i, j] = Pr(next in cell j | now in cell i), for two normal values of this correlation. It is
    public as long as the correlation is chosen without looking at the data. A step rarer than
    1e-308 counts as impossible, which can only raise the leakage.

    Args:
        correlation: between one step and the next, at most 0.9999 in size.
        states: how many cells.

    >>> autoregressive_transitions(0.0, states=2).matrix.round(12).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    from scipy.special import ndtri

    if not abs(correlation) <= _STRONGEST:
        raise InputError(
            f"correlation must lie between -{_STRONGEST} and {_STRONGEST}, got {correlation:g}: "
            "for one that is perfect give the identity matrix"
        )
    edges = np.concatenate(([-np.inf], ndtri(_inner_quantiles(states)), [np.inf]))
    x, weight, starts = _nodes(edges, np.sqrt(1 - correlation**2))
    reached = _normal_between(edges, correlation * x, np.sqrt(1 - correlation**2))
    matrix = states * np.add.reduceat(weight[:, None] * reached, starts, axis=0)
    return Transitions(matrix, f"AR(1) process with correlation {correlation:.4g}", public=True)


def _inner_quantiles(states: int) -> Floats:
    """Where so many equally likely cells meet."""
    if not 2 <= states <= _MOST_STATES:
        raise InputError(f"states must be between 2 and {_MOST_STATES}, got {states}")
    return np.arange(1, states) / states


def _nodes(edges: Floats, width: float) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Where to evaluate, with the normal density as weight, and where each cell begins.

    Gauss's rule on panels narrower than the narrowest thing to be integrated, so that even the
    probabilities of hardly possible steps are right to seven digits.
    """
    points, gauss = np.polynomial.legendre.leggauss(10)
    panels = np.linspace(-_FARTHEST, _FARTHEST, int(np.ceil(4 * _FARTHEST / width)) + 1)
    ends = np.unique(np.concatenate((panels, edges[1:-1])))
    half = np.diff(ends) / 2
    x = (ends[:-1, None] + half[:, None] * (points + 1)).ravel()
    density = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    weight = (half[:, None] * gauss).ravel() * density
    return x, weight, np.searchsorted(x, edges[:-1])


def _normal_between(edges: Floats, mean: Floats, sd: float) -> Floats:
    """Pr(normal lies between neighbouring edges), a row a mean, without losing small ones."""
    from scipy.special import ndtr

    z = (edges - mean[:, None]) / sd
    low, high = z[:, :-1], z[:, 1:]
    # Both ends above the mean are mirrored: near 1 a difference would keep no digits.
    mirrored = low > 0
    return np.asarray(
        ndtr(np.where(mirrored, -low, high)) - ndtr(np.where(mirrored, -high, low)),
        dtype=np.float64,
    )


def estimated_transitions(
    source: Study | FeatureTable, feature: str, states: int = 8
) -> Transitions:
    """How a feature really moves from row to row: a statistic of private data, never public.

    Cells are quantiles of the data, as many as its different values allow. Half a step is added
    to every count (Jeffreys' prior): a step that was not seen is not therefore impossible.
    """
    table = windows_of(source)
    if feature not in table.names:
        raise unknown("feature", feature, table.names)
    values = table.data[feature].cast(pl.Float64).fill_null(np.nan).to_numpy()
    known = np.isfinite(values)
    if not known.any():
        raise InputError(f"feature {feature} has no values: there are no steps to count")
    edges = np.unique(np.quantile(values[known], _inner_quantiles(states)))
    # Nothing lies below an edge at the smallest value: that would be a cell nobody is ever in.
    edges = edges[edges > values[known].min()]
    cell = np.searchsorted(edges, values, side="right")
    together = ~track_starts(table.data).to_numpy()[1:] & known[1:] & known[:-1]
    seen = np.full((len(edges) + 1, len(edges) + 1), 0.5)
    np.add.at(seen, (cell[:-1][together], cell[1:][together]), 1)
    matrix = seen / seen.sum(axis=1, keepdims=True)
    return Transitions(matrix, f"estimated from {feature} of the private data", public=False)


def stationary(matrix: ArrayLike) -> Floats:
    """How often each state occurs in the long run.

    A chain of several parts that never meet gets each part weighted by its number of states; the
    weights change nothing in `backward_matrix`. States that are left for ever have no place in a
    long run, and are refused.

    >>> stationary([[0.9, 0.1], [0.3, 0.7]]).round(12).tolist()
    [0.75, 0.25]
    """
    from scipy.sparse.csgraph import connected_components

    forward = checked_matrix(matrix)
    parts, part = connected_components(forward > 0, connection="strong")
    left = np.flatnonzero(((part[:, None] != part) & (forward > 0)).any(axis=1))
    if len(left):
        raise InputError(
            f"state {left[0] + 1} of the transition matrix is left for ever, so what came before "
            "does not follow from it: give the backward matrix as well"
        )
    found = np.empty(len(forward))
    for number in range(parts):
        mine = np.flatnonzero(part == number)
        found[mine] = _of_one_part(forward[np.ix_(mine, mine)]) * len(mine) / len(forward)
    return found


def _of_one_part(matrix: Floats) -> Floats:
    """Grassmann, Taksar & Heyman 1985: states are removed one by one, nothing is subtracted."""
    left = matrix.copy()
    for last in range(len(left) - 1, 0, -1):
        left[:last, last] /= left[last, :last].sum()
        left[:last, :last] += np.outer(left[:last, last], left[last, :last])
    weights = np.ones(len(left))
    for state in range(1, len(left)):
        weights[state] = weights[:state] @ left[:state, state]
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def backward_matrix(matrix: ArrayLike) -> Floats:
    """The chain seen backwards in its long run: π_j·P[j, i]/π_i = Pr(before was j | now is i).

    >>> backward_matrix([[0.9, 0.1], [0.3, 0.7]]).round(12).tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """
    forward, share = checked_matrix(matrix), stationary(matrix)
    return checked_matrix(share * forward.T / share[:, None])

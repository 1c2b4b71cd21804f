"""Temporal privacy leakage: what steps that depend on each other tell about one of them.

Cao et al. 2017, Quantifying differential privacy under temporal correlations. A release that gives
every step ε_t gives an attacker who knows the Markov chain behind the steps more than ε_t about
step t: what was released before it (backward) and after it (forward) counts as well, the total
being

    TPL_t = BPL_t + FPL_t − ε_t,  BPL_t = L_B(BPL_{t−1}) + ε_t,  FPL_t = L_F(FPL_{t+1}) + ε_t.

It never exceeds the sum of all ε: a guarantee for a person counts everything already. It lies
between the ε of one step and that sum, and tells how much of the sum is real for one step, if the
chain is as assumed. It is reported and never lowers any noise.

A step may be a chunk of rows: given its last row a chunk tells nothing more about the next one, so
the matrix from row to row is the one to use, and the steps are chunks.

Markov chains that say how one step depends on the one before: what an attacker may know.
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
from eyelid.privacy.gaussian import check_epsilon

Floats = NDArray[np.float64]


# How far the sum of a row may be from 1 by rounding in a file.
_SUM_TOLERANCE = 1e-6
# The normal distribution beyond holds less than rounding does, seen from any cell that is used.
_FARTHEST = 12.0
# Leakage looks at all pairs of rows and all states: seconds here, minutes at four times as many.
_MOST_STATES = 256
_STRONGEST = 0.9999


class LeakageFunction:
    """L of one transition matrix: how much of a loss of a about one step reaches its neighbour.

    L(a) is the largest ln[(Q(e^a − 1) + 1)/(D(e^a − 1) + 1)] over pairs of rows (q, d) of the
    matrix and sets I of states, with Q = Σ_I q and D = Σ_I d. For a given pair the best set holds
    the states with q_j/d_j above the best ratio: it is one of the first so many in order of
    q_j/d_j. So the sets to look at do not depend on a, and of all their (D, Q) only those matter
    for which no other has D as small and Q as large.

    >>> round(LeakageFunction([[0.8, 0.2], [0.1, 0.9]])(1.0), 4)
    0.7063
    """

    def __init__(self, matrix: ArrayLike) -> None:
        rows = checked_matrix(matrix)
        fronts = [_front(*_sets(row, rows)) for row in rows]
        d, q = (np.concatenate(parts) for parts in zip(*fronts, strict=True))
        self._d, self._q = _front(d, q)
        with np.errstate(divide="ignore"):
            self._log_d, self._log_q = np.log(self._d), np.log(self._q)

    def __call__(self, loss: float) -> float:
        """L(a): between 0 and a."""
        if loss <= 0:
            return 0.0
        # ln(e^a − 1), for losses whose exponential is no number too.
        grown = loss + np.log(-np.expm1(-loss))
        ratio = np.logaddexp(self._log_q + grown, 0) - np.logaddexp(self._log_d + grown, 0)
        return float(min(max(ratio.max(initial=0.0), 0.0), loss))

    def supremum(self, epsilon: float) -> float | None:
        """What a → L(a) + ε ends at when it is repeated for ever; None when it never ends.

        With y = e^a − 1 each set (D, Q) crosses a = ln[(Qy + 1)/(Dy + 1)] + ε once, at the positive
        root of D·e^−ε·y² + ((1 + D)e^−ε − Q)·y − (1 − e^−ε) = 0, or never if D = 0 and Q ≥ e^−ε.
        Below its crossing it pushes on, so the last of all crossings is where the sequence ends.
        """
        small = np.exp(-epsilon)
        b, c = (1 + self._d) * small - self._q, -np.expm1(-epsilon)
        root = np.sqrt(b**2 + 4 * self._d * small * c)
        with np.errstate(divide="ignore"):
            log_y = np.where(
                b < 0,
                np.log(np.abs(b) + root) + epsilon - np.log(2) - self._log_d,
                np.log(2 * c) - np.log(np.abs(b) + root),
            )
        ends = float(np.logaddexp(log_y, 0).max(initial=epsilon))
        return ends if np.isfinite(ends) else None


def _sets(row: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """D and Q of the states with the largest q_j/d_j, for one row q against every row d."""
    # q/(q + d) is in the order of q/d and needs no infinity; states that neither reaches are last.
    total = row + rows
    order = np.argsort(-np.divide(row, total, out=np.zeros_like(rows), where=total > 0), axis=1)
    q = np.cumsum(np.broadcast_to(row, rows.shape)[np.arange(len(rows))[:, None], order], axis=1)
    d = np.cumsum(np.take_along_axis(rows, order, axis=1), axis=1)
    return d.ravel(), q.ravel()


def _front(d: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Those that beat every other with as small a D by a larger Q, where Q exceeds D at all."""
    order = np.lexsort((-q, d))
    d, q = d[order], q[order]
    best = np.maximum.accumulate(np.concatenate(([0.0], q[:-1])))
    kept = (q > best) & (q > d)
    return d[kept], q[kept]


def leakage(
    forward: ArrayLike,
    epsilons: ArrayLike,
    backward: ArrayLike | None = None,
    *,
    steps: int | None = None,
) -> pl.DataFrame:
    """Backward, forward and total leakage of every step of a release.

    Args:
        forward: the transition matrix, P[i, j] = Pr(next is j | now is i); it must be public, or
            the result is a statistic of private data.
        epsilons: pure ε of every step, in order; or one number, with ``steps``.
        backward: Pr(before was j | now is i); that of the chain in its long run by default.
        steps: how many steps, for one ε.

    Returns:
        One row a step: ``step`` (from 1), ``epsilon``, ``backward``, ``forward``, ``total``.

    >>> leakage([[0.5, 0.5], [0.5, 0.5]], 0.1, steps=3)["total"].round(12).to_list()
    [0.1, 0.1, 0.1]
    >>> leakage(np.eye(2), [0.1, 0.2, 0.3])["total"].round(12).to_list()
    [0.6, 0.6, 0.6]
    """
    each = _checked_epsilons(epsilons, steps)
    past, future = _both(forward, backward)
    before = _accumulated(past, each)
    after = _accumulated(future, each[::-1])[::-1]
    return pl.DataFrame(
        {
            "step": np.arange(1, len(each) + 1),
            "epsilon": each,
            "backward": before,
            "forward": after,
            "total": before + after - each,
        }
    )


def leakage_supremum(
    forward: ArrayLike, epsilon: float, backward: ArrayLike | None = None
) -> float | None:
    """What total leakage never exceeds, however many steps of at most ε; None without a limit.

    >>> leakage_supremum(np.eye(2), 0.1) is None
    True
    """
    past, future = _both(forward, backward)
    before, after = past.supremum(check_epsilon(epsilon)), future.supremum(epsilon)
    return None if before is None or after is None else before + after - epsilon


def _both(
    forward: ArrayLike, backward: ArrayLike | None
) -> tuple[LeakageFunction, LeakageFunction]:
    ahead = checked_matrix(forward)
    behind = backward_matrix(ahead) if backward is None else checked_matrix(backward)
    if behind.shape != ahead.shape:
        raise InputError(
            f"the forward matrix has {len(ahead)} states and the backward one {len(behind)}: "
            "both are about the same states"
        )
    return LeakageFunction(behind), LeakageFunction(ahead)


def _checked_epsilons(epsilons: ArrayLike, steps: int | None) -> Floats:
    each = np.asarray(epsilons, dtype=np.float64)
    if each.ndim == 0:
        if steps is None or steps < 1:
            raise InputError(f"one epsilon for all steps needs their number, got steps={steps}")
        each = np.full(steps, each)
    elif each.ndim != 1 or not each.size:
        raise InputError(f"give one epsilon a step, got an array of the shape {each.shape}")
    elif steps is not None and steps != len(each):
        raise InputError(f"{len(each)} epsilons for {steps} steps: give one epsilon a step")
    wrong = each[~(np.isfinite(each) & (each > 0))]
    if len(wrong):
        raise InputError(f"epsilon must be positive and finite, got {wrong[0]:g}")
    return each


def _accumulated(function: LeakageFunction, epsilons: Floats) -> Floats:
    """Each step's own ε and what reaches it from those before; each needs the one before it."""
    found = np.empty_like(epsilons)
    loss = 0.0
    for step, epsilon in enumerate(epsilons.tolist()):
        loss = function(loss) + epsilon
        found[step] = loss
    return found


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

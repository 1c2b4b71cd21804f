"""Temporal privacy leakage: what steps that depend on each other tell about one of them.

Cao et al. 2017, Quantifying differential privacy under temporal correlations. A release that gives
every step ε_t gives somebody who knows the Markov chain behind the steps more than ε_t about step
t: what was released before it (backward) and after it (forward) counts as well, the total being

    TPL_t = BPL_t + FPL_t − ε_t,  BPL_t = L_B(BPL_{t−1}) + ε_t,  FPL_t = L_F(FPL_{t+1}) + ε_t.

It never exceeds the sum of all ε: a guarantee for a person counts everything already. It lies
between the ε of one step and that sum, and tells how much of the sum is real for one step, if the
chain is as assumed. It is reported and never lowers any noise.

A step may be a chunk of rows: given its last row a chunk tells nothing more about the next one, so
the matrix from row to row is the one to use, and the steps are chunks.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from eyelid.attacks.temporal.transitions import backward_matrix, checked_matrix
from eyelid.errors import InputError
from eyelid.privacy.gaussian import check_epsilon

Floats = NDArray[np.float64]


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

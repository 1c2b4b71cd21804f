"""From an attacker's scores to decisions: who is re-identified, at which rank, and how sure."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError

# Scores that differ by less than this part of their span are the same.
_ROUNDING = 1e9


@dataclass(frozen=True, eq=False)
class Scores:
    """How much each record speaks for each person.

    Attributes:
        averaged: records × people; higher is likelier. A row attacker's scores, averaged over the
            record.
        votes: records × people: the share of rows that speak most for that person; None for
            attackers who judge whole records.
        owner: whose each record really is.
    """

    averaged: NDArray[np.float64]
    votes: NDArray[np.float64] | None
    owner: NDArray[np.intp]


FUSION = (0.4, 0.6)
"""Weights of fixations and saccades (George & Routray 2016)."""


def weighted(fixations: Scores, saccades: Scores, weights: tuple[float, float] = FUSION) -> Scores:
    """The scores of two attackers of the same records, added with weights as they are.

    Paper: George & Routray 2016; David-John et al. 2022, "a weighted average between fixation and
    saccade scores".

    Args:
        fixations: from features of fixations.
        saccades: from features of saccades, the same records in the same order.
        weights: of the two.

    >>> one = Scores(np.array([[1.0, 0.0]]), None, np.array([0]))
    >>> other = Scores(np.array([[0.0, 9.0]]), None, np.array([0]))
    >>> weighted(one, other).averaged.round(3).tolist()
    [[0.4, 5.4]]
    """
    if fixations.averaged.shape != saccades.averaged.shape or np.any(
        fixations.owner != saccades.owner
    ):
        raise InputError(
            f"scores of {len(fixations.owner)} records cannot be fused with those of "
            f"{len(saccades.owner)} others: take both features from the same recordings"
        )
    first, second = weights
    votes = None
    if fixations.votes is not None and saccades.votes is not None:
        votes = first * fixations.votes + second * saccades.votes
    averaged = first * fixations.averaged + second * saccades.averaged
    return Scores(averaged, votes, fixations.owner)


def fused(fixations: Scores, saccades: Scores, weights: tuple[float, float] = FUSION) -> Scores:
    """The scores of two attackers of the same records, each relative to itself, with weights.

    Each record's scores are taken relative to their own mean and spread first (z-scores), so that
    the weights say how much either counts, whatever their units: eyelid's own addition to
    `weighted`, for attackers whose scores are no probabilities. Votes are added as they are.

    Args:
        fixations: from features of fixations.
        saccades: from features of saccades, the same records in the same order.
        weights: of the two.

    >>> one = Scores(np.array([[1.0, 0.0]]), None, np.array([0]))
    >>> other = Scores(np.array([[0.0, 9.0]]), None, np.array([0]))
    >>> fused(one, other).averaged.round(3).tolist()
    [[-0.2, 0.2]]
    """
    return weighted(
        replace(fixations, averaged=relative(fixations.averaged)),
        replace(saccades, averaged=relative(saccades.averaged)),
        weights,
    )


def relative(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each record's scores in units of their own spread around their own mean; zero if all alike.

    >>> relative(np.array([[1.0, 3.0], [2.0, 2.0]])).tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    """
    centred = scores - scores.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    # What is left of equal numbers is rounding.
    apart = spread > 1e-12 * np.abs(scores).max(axis=1, keepdims=True)
    return np.asarray(np.divide(centred, spread, out=np.zeros_like(centred), where=apart))


def levelled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores of a record that differ by rounding alone, made equal.

    People whose records are the same get the same score, but for the order of sums: who of them is
    named is to be a lot's decision, not the machine's.

    >>> levelled(np.array([[0.1 + 0.2, 0.3, 1.3], [0.1 + 0.2, 0.3, 0.3]])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    if not scores.size:
        return scores
    finite = np.isfinite(scores)
    lowest = np.where(finite, scores, np.inf).min(axis=1, keepdims=True)
    highest = np.where(finite, scores, -np.inf).max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        # Where all are alike, their difference is itself rounding.
        size = np.maximum(highest - lowest, 1e-3 * np.maximum(np.abs(highest), np.abs(lowest)))
        step = np.where(size > 0, size / _ROUNDING, 1.0)
        above = np.rint((scores - lowest) / step) * step
    return np.asarray(np.where(finite, above, scores))


def ranks(scores: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.float64]:
    """The place of the right person in each record's list, from 1; ties share their mean place.

    >>> ranks(np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0]]), np.array([1, 0])).tolist()
    [1.0, 1.5]
    """
    scores = levelled(scores)
    own = scores[np.arange(len(owner)), owner][:, None]
    before = (scores > own).sum(axis=1)
    level = (scores == own).sum(axis=1)
    return np.asarray(before + (level + 1) / 2)


def named(scores: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.float64]:
    """For each record the chance that its owner is re-identified, ties being drawn by lot.

    >>> named(np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0]]), np.array([1, 0])).tolist()
    [1.0, 0.5]
    """
    scores = levelled(scores)
    own = scores[np.arange(len(owner)), owner]
    best = scores.max(axis=1)
    ties = (scores == best[:, None]).sum(axis=1)
    return np.asarray(np.where(own == best, 1.0 / ties, 0.0))


def cmc(scores: NDArray[np.float64], owner: NDArray[np.intp]) -> NDArray[np.float64]:
    """Cumulative match characteristic: how often the owner is among the first k, ties by lot.

    >>> cmc(np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.0]]), np.array([1, 0])).tolist()
    [0.75, 1.0, 1.0]
    """
    scores = levelled(scores)
    own = scores[np.arange(len(owner)), owner][:, None]
    before = (scores > own).sum(axis=1)[:, None]
    level = (scores == own).sum(axis=1)[:, None]
    first = np.arange(1, scores.shape[1] + 1)
    return np.asarray(np.clip((first - before) / level, 0.0, 1.0).mean(axis=0))


def equal_error_rate(scores: NDArray[np.float64], owner: NDArray[np.intp]) -> float:
    """Where accepting strangers and turning away owners are equally frequent.

    Each record's scores are taken relative to its own mean and spread first, as a verifier does
    who does not know how noisy the record is.

    >>> equal_error_rate(np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]), np.array([0, 1]))
    0.0
    """
    scaled = relative(scores)
    mine = np.zeros(scores.shape, dtype=bool)
    mine[np.arange(len(owner)), owner] = True
    genuine, strangers = np.sort(scaled[mine]), np.sort(scaled[~mine])
    if not len(genuine) or not len(strangers):
        return 0.5
    thresholds = np.unique(scaled)
    turned_away = np.searchsorted(genuine, thresholds, side="left") / len(genuine)
    let_in = 1 - np.searchsorted(strangers, thresholds, side="left") / len(strangers)
    nearest = int(np.argmin(np.abs(turned_away - let_in)))
    return float((turned_away[nearest] + let_in[nearest]) / 2)

"""How likely is what `fixations` has told, for known gaze: for games, and apart from its code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from eyelid.mechanisms.mechanism import Values

if TYPE_CHECKING:
    from eyelid.mechanisms.streams.fixations import Fixations

MOVING = -1.0
"""In the place of a fixation's while there is none."""


def log_odds(mechanism: Fixations, shown: Values, gaze: Values) -> Values:
    """Logarithms of the likelihood of outputs, but for terms that are the same for any gaze.

    Args:
        mechanism: the mechanism.
        shown: runs × samples × 2, noisy places of fixations in grid steps; negative where none is.
        gaze: samples × 2, in grid steps; NaN where lost.
    """
    fixating = shown[:, :, 0] >= 0
    before = np.zeros(len(shown), dtype=bool)
    spent = np.zeros(fixating.shape)
    likelihood = np.zeros(len(shown))
    for sample in range(0, len(gaze), mechanism.slot_samples):
        seen = gaze[max(0, sample - mechanism.span + 1) : sample + 1]
        seen = np.rint(seen[~np.isnan(seen).any(axis=1)])
        now = fixating[:, sample]
        if len(seen) >= (mechanism.fewest or 2):
            middle = seen.mean(axis=0)
            spread = math.sqrt(((seen - middle) ** 2).sum() / len(seen))
            rests, moves = _log_chances(mechanism, math.floor(spread))
            likelihood += np.where(now, rests, moves)
            started = now & ~before
            recent = spent[:, max(0, sample - mechanism.memory + 1) : sample].sum(axis=1)
            parts = np.floor((mechanism.publish_parts - recent) / 2)
            away = np.hypot(*(shown[:, sample] - middle).T)
            scale = mechanism.scale_parts / np.maximum(parts, 1.0)
            likelihood -= np.where(started, away / scale, 0.0)
            spent[:, sample] = np.where(started, parts, 0.0)
        before = now
    return likelihood


def _log_chances(mechanism: Fixations, spread: int) -> tuple[float, float]:
    """Log-chances of a test that finds gaze resting, and of one that finds it moving, exactly."""
    scale = float(mechanism.test_scale_steps)
    least = spread - mechanism.threshold_steps
    # P(L ≥ k) = e^(−k/t) / (1 + e^(−1/t)) for k ≥ 1, and the rest is the same from the other side.
    shared = math.log1p(math.exp(-1.0 / scale))
    if least >= 1:
        rests = -least / scale - shared
        return rests, math.log1p(-math.exp(rests))
    moves = -(1 - least) / scale - shared
    return math.log1p(-math.exp(moves)), moves

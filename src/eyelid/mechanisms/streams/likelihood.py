"""How likely gaze makes what a filter has released: all that an attacker can learn from it.

The schedule is followed once more, for many runs side by side, from the outputs alone. A point that
was cut off at the edge of the scene is taken as it is: there the likelihood is approximate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.streams.state import ABSORBING, HALVING

if TYPE_CHECKING:
    from eyelid.mechanisms.streams.filter import Filter


def log_likelihood(mechanism: Filter, gaze: Values, released: Values) -> Values:
    """Natural logarithm, but for what is the same for all gaze.

    Args:
        mechanism: the filter.
        gaze: samples × 2, in steps; none of them lost.
        released: runs × samples × 2, in steps.
    """
    runs, samples, _ = released.shape
    spent = np.zeros((runs, samples))
    used_up_to = np.full(runs, -1.0)
    found = np.zeros(runs)
    last = np.broadcast_to(np.array(mechanism.middle_steps, dtype=np.float64), (runs, 2))
    for i in range(0, samples, mechanism.slot_samples):
        parts = np.full(runs, float(mechanism.publish_parts))
        if mechanism.rule == HALVING:
            shared = spent[:, max(0, i + 1 - mechanism.memory) : i].sum(axis=1)
            parts = np.floor((parts - shared) / 2)
        elif mechanism.rule == ABSORBING:
            parts = parts * np.clip(i - used_up_to, 0, mechanism.window)
        moved = offered = parts >= 1
        scale = mechanism.scale_parts / np.maximum(parts, 1)
        here = released[:, i]
        if mechanism.test_parts and (i or mechanism.starts_in_the_middle):
            moved = offered & (here != last).any(axis=1)
            beyond = mechanism.threshold_steps
            excess = np.hypot(*(gaze[i] - last).T) - (2 * scale if beyond < 0 else beyond)
            chance = _laplace_below(excess / mechanism.test_scale_steps)
            found += np.where(offered, np.log(np.where(moved, chance, 1 - chance)), 0.0)
        found -= np.where(moved, np.hypot(*(here - gaze[i]).T) / scale, 0.0)
        spent[:, i] = np.where(moved, parts, 0.0)
        used_up_to = np.where(moved, i + parts / mechanism.publish_parts - 1, used_up_to)
        last = here
    return found


def _laplace_below(value: Values) -> Values:
    """How likely Laplace noise of scale 1 is below a value; never quite 0 or 1."""
    tail = 0.5 * np.exp(-np.abs(value))
    return np.clip(np.where(value < 0, tail, 1 - tail), 1e-12, 1 - 1e-12)

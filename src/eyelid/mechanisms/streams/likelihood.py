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


def log_likelihood(law: Filter, gaze: Values, released: Values) -> Values:
    """Natural logarithm, but for what is the same for all gaze.

    Args:
        law: the filter.
        gaze: samples × 2, in steps; none of them lost.
        released: runs × samples × 2, in steps.
    """
    runs, samples, _ = released.shape
    spent = np.zeros((runs, samples))
    used_up_to = np.full(runs, -1.0)
    found = np.zeros(runs)
    last = np.broadcast_to(np.array(law.middle_steps, dtype=np.float64), (runs, 2))
    for i in range(0, samples, law.slot_samples):
        parts = np.full(runs, float(law.publish_parts))
        if law.rule == HALVING:
            shared = spent[:, max(0, i + 1 - law.memory) : i].sum(axis=1)
            parts = np.floor((parts - shared) / 2)
        elif law.rule == ABSORBING:
            parts = parts * np.clip(i - used_up_to, 0, law.window)
        moved = offered = parts >= 1
        scale = law.scale_parts / np.maximum(parts, 1)
        here = released[:, i]
        if law.test_parts and (i or law.starts_in_the_middle):
            moved = offered & (here != last).any(axis=1)
            beyond = law.threshold_steps
            excess = np.hypot(*(gaze[i] - last).T) - (2 * scale if beyond < 0 else beyond)
            chance = _laplace_below(excess / law.test_scale_steps)
            found += np.where(offered, np.log(np.where(moved, chance, 1 - chance)), 0.0)
        found -= np.where(moved, np.hypot(*(here - gaze[i]).T) / scale, 0.0)
        spent[:, i] = np.where(moved, parts, 0.0)
        used_up_to = np.where(moved, i + parts / law.publish_parts - 1, used_up_to)
        last = here
    return found


def _laplace_below(value: Values) -> Values:
    """How likely Laplace noise of scale 1 is below a value; never quite 0 or 1."""
    tail = 0.5 * np.exp(-np.abs(value))
    return np.clip(np.where(value < 0, tail, 1 - tail), 1e-12, 1 - 1e-12)

"""How fast a tracker samples, as its time stamps show it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST = 0.95


def usual_step_ms(time_steps_ms: NDArray[np.float64]) -> float | None:
    """The time from one sample to the next, without interruptions; None when there is none.

    Stamps in whole milliseconds turn 300 Hz into steps of 3 and 4, whose mean is right and whose
    median is not. A few samples too many or too few leave the median right and not the mean.

    >>> usual_step_ms(np.array([3.0, 3.0, 4.0] * 10 + [500.0]))
    3.3333333333333335
    >>> usual_step_ms(np.array([4.0] * 10 + [1.0, 3.0, 2.0]))
    4.0
    """
    steps = time_steps_ms[time_steps_ms > 0]
    if not len(steps):
        return None
    middle = float(np.median(steps))
    tick = 1.0 if not np.any(steps % 1.0) else 0.0
    near = steps[np.abs(steps - middle) <= max(tick, 0.2 * middle)]
    exact = float(np.mean(steps == middle))
    if len(near) < _MOST * len(steps) and exact > 0.5:
        return middle
    return float(near.mean()) if len(near) else middle

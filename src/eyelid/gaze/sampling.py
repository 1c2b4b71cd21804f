"""How fast a tracker samples, as its time stamps show it, and what a slow one cannot tell."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.study import Study, track_key

LEAST_RATE_HZ = 20.0
LEAST_USEFUL_HZ = 10.0
"""Below it no two samples are in the shortest fixation that any detector finds, of 100 ms."""
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


def slowest_step_ms(study: Study) -> float | None:
    """The usual time between two samples of the slowest recording, where any has two."""
    interval_ms = pl.col("time_ms").diff().median()
    slowest_ms = study.data.group_by(track_key(study.data)).agg(interval_ms)["time_ms"].max()
    return slowest_ms if isinstance(slowest_ms, float) else None


def too_slow(slowest_ms: float | None) -> str | None:
    """Which features mean little at the rate of the slowest recording; None above 20 Hz.

    Args:
        slowest_ms: its usual time between two samples.

    >>> print(too_slow(100.0))
    recordings come at down to 10 Hz, below 20: saccade durations, speeds and accelerations mean \
little there, and short fixations and small saccades are missed
    """
    if slowest_ms is None or slowest_ms <= 1000.0 / LEAST_RATE_HZ:
        return None
    return (
        f"recordings come at down to {1000.0 / slowest_ms:.3g} Hz, below {LEAST_RATE_HZ:g}: "
        "saccade durations, speeds and accelerations mean little there, and short fixations and "
        "small saccades are missed"
    )

"""How fast gaze moves, sample by sample or interval by interval."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eyelid.errors import unknown
from eyelid.gaze.events.spans import Floats, Indices, Mask

MAX_GAP_MS = 75.0
_SLACK = 1.5


def nominal_rate_hz(interval_ms: Floats) -> float:
    """The rate of the typical interval, to six digits, so that jitter leaves 500 Hz at 500 Hz.

    >>> import numpy as np
    >>> nominal_rate_hz(np.diff(np.arange(100) * 1000 / 60))
    60.0
    """
    return float(f"{1000.0 / np.median(interval_ms):.6g}")


def no_gap(
    interval_ms: Floats, max_gap_ms: float = MAX_GAP_MS, rate_hz: float | None = None
) -> Mask:
    """Which intervals between samples are no gap, at trackers too slow for ``max_gap_ms`` too."""
    rate_hz = nominal_rate_hz(interval_ms) if rate_hz is None else rate_hz
    return np.asarray(interval_ms <= max(max_gap_ms, _SLACK * 1000.0 / rate_hz))


# In place, since fresh memory costs more than the sums.
def _fivepoint(axis: Floats, rate_hz: float) -> Floats:
    moved = axis[4:] + axis[3:-1]
    moved -= axis[1:-3]
    moved -= axis[:-4]
    moved *= rate_hz / 6
    return moved


def _neighbors(axis: Floats, rate_hz: float) -> Floats:
    return (axis[2:] - axis[:-2]) * (rate_hz / 2)


def _preceding(axis: Floats, rate_hz: float) -> Floats:
    return (axis[1:] - axis[:-1]) * rate_hz


# Each way with how many samples before and after it looks at.
WAYS: dict[str, tuple[Callable[[Floats, float], Floats], int, int]] = {
    "fivepoint": (_fivepoint, 2, 2),
    "neighbors": (_neighbors, 1, 1),
    "preceding": (_preceding, 1, 0),
}


def velocity_per_s(
    time_ms: Floats, x: Floats, y: Floats, way: str = "fivepoint", max_gap_ms: float = MAX_GAP_MS
) -> tuple[Floats, Floats]:
    """Velocity at each sample; NaN at the ends, around lost samples and across gaps in time.

    The arithmetic is that of pymovements' ``Gaze.pos2vel``, so that detectors agree to the sample:
    time is taken as evenly spaced at the nominal rate.

    Args:
        time_ms: increasing times of the samples.
        x: horizontal gaze.
        y: vertical gaze.
        way: ``fivepoint``, between the means of the two samples before and after (Engbert &
            Kliegl 2003); ``neighbors``, between the samples before and after; ``preceding``,
            from the sample before.
        max_gap_ms: no velocity is taken across a longer interval.

    >>> import numpy as np
    >>> velocity_per_s(np.arange(6) * 10.0, np.arange(6.0), np.zeros(6))[0]
    array([ nan,  nan, 100., 100.,  nan,  nan])
    """
    if way not in WAYS:
        raise unknown("velocity", way, WAYS)
    difference, before, after = WAYS[way]
    velocity = np.full((2, len(time_ms)), np.nan)
    if len(time_ms) <= before + after:
        return velocity[0], velocity[1]
    interval_ms = np.diff(time_ms)
    rate_hz = nominal_rate_hz(interval_ms)
    for axis, into in zip((x, y), velocity, strict=True):
        into[before : len(into) - after] = difference(axis, rate_hz)
    gaps = np.flatnonzero(~no_gap(interval_ms, max_gap_ms, rate_hz))
    # The samples whose neighbours lie on both sides of a gap.
    across = gaps[:, np.newaxis] + np.arange(1 - after, before + 1)
    velocity[:, np.clip(across, 0, len(time_ms) - 1)] = np.nan
    return velocity[0], velocity[1]


def around(time_ms: Floats, unbroken: Mask, span_ms: float) -> tuple[Indices, Indices]:
    """For each interval the samples between which to measure its speed.

    As many intervals around it as fit into the span, and none beyond a gap.
    """
    count = len(unbroken)
    interval = np.arange(count)
    beside = round(max(span_ms / float(np.median(np.diff(time_ms))) - 1, 0) / 2)
    starts = np.r_[True, ~unbroken[:-1]]
    first = np.maximum.accumulate(np.where(starts, interval, 0))
    ends = np.r_[~unbroken[1:], True]
    last = np.minimum.accumulate(np.where(ends, interval, count)[::-1])[::-1]
    return np.maximum(interval - beside, first), np.minimum(interval + beside, last) + 1

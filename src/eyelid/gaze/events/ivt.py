"""I-VT: fixations and saccades by a velocity threshold."""

from __future__ import annotations

import numpy as np

from eyelid.errors import unknown
from eyelid.gaze.events.spans import Floats, Spans, runs

# Speed of a saccade and the smallest one believed, in the unit of x and y. The pixels are those of
# a desktop screen (about 35 to a degree), a fraction is of 1920 of them; normalised means pupil
# positions in an eye camera image.
THRESHOLD_PER_S = {"deg": 30.0, "px": 1050.0, "fraction": 0.55, "normalised": 0.2}
MIN_AMPLITUDE = {"deg": 0.4, "px": 14.0, "fraction": 0.0075, "normalised": 0.008}
MIN_FIXATION_MS = 100.0


def ivt(
    time_ms: Floats,
    x: Floats,
    y: Floats,
    *,
    units: str = "deg",
    threshold_per_s: float | None = None,
    min_amplitude: float | None = None,
    min_fixation_ms: float = MIN_FIXATION_MS,
    min_saccade_ms: float = 8.0,
    span_ms: float = 20.0,
    settle_ms: float = 50.0,
    min_pause_ms: float = 30.0,
    max_gap_ms: float = 75.0,
) -> dict[str, Spans]:
    """Fixations and saccades of one recording.

    The intervals between samples are what is classified, not the samples, so that a saccade has an
    amplitude and a duration even when it lies between two samples of a slow tracker. Speed is
    taken over ``span_ms``, or over one interval where that is longer: the noise of a fast tracker
    does not pass for movement. Neighbouring events share the sample between them.

    Salvucci & Goldberg (2000), Identifying fixations and saccades in eye-tracking protocols;
    the span follows Olsen (2012), The Tobii I-VT fixation filter.

    Args:
        time_ms: increasing times of the samples.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze, NaN where it was lost.
        units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``; chooses the next two.
        threshold_per_s: speed above which the eye is in a saccade.
        min_amplitude: a faster movement that gets less far than this belongs to the fixation.
        min_fixation_ms: shorter fixations are left out.
        min_saccade_ms: shorter saccades belong to the fixation.
        span_ms: time over which speed is measured.
        settle_ms: time before and after over which the place is averaged for ``min_amplitude``.
        min_pause_ms: saccades with a shorter rest between them are one.
        max_gap_ms: events go on across lost signal up to this long, and end at longer losses.

    Returns:
        ``fixation`` and ``saccade`` spans, each in order of time.

    >>> import numpy as np
    >>> x = np.repeat([0.0, 5.0], 30)
    >>> found = ivt(np.arange(60) * 1000 / 60, x, np.zeros(60))
    >>> [index.tolist() for index in found["saccade"]]
    [[29], [30]]
    """
    if units not in THRESHOLD_PER_S:
        raise unknown("units", units, THRESHOLD_PER_S)
    threshold_per_s = THRESHOLD_PER_S[units] if threshold_per_s is None else threshold_per_s
    min_amplitude = MIN_AMPLITUDE[units] if min_amplitude is None else min_amplitude

    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(seen) < 2:
        nothing = Spans(seen[:0], seen[:0])
        return {"fixation": nothing, "saccade": nothing}
    time_ms, x, y = time_ms[seen], x[seen], y[seen]
    gap_ms = np.diff(time_ms)
    joined = gap_ms <= max_gap_ms
    # A loss is longer than the saccade it hides, which then looks slow: there, distance tells.
    unseen = gap_ms > 1.5 * np.median(gap_ms)
    leapt = unseen & (np.hypot(np.diff(x), np.diff(y)) > 2 * min_amplitude)
    speed_per_s = _speed_per_s(time_ms, x, y, joined, span_ms)
    moving = joined & (leapt | (speed_per_s > threshold_per_s))

    saccades = _merged(runs(moving), time_ms, min_pause_ms)
    settle = max(int(settle_ms / np.median(gap_ms)), 1)
    amplitude = np.hypot(*(_moved(axis, saccades, settle) for axis in (x, y)))
    duration_ms = time_ms[saccades.offset] - time_ms[saccades.onset]
    saccades = saccades.keep((amplitude >= min_amplitude) & (duration_ms >= min_saccade_ms))
    edges = np.zeros(len(moving) + 1, dtype=np.int8)
    edges[saccades.onset] += 1
    edges[saccades.offset] -= 1
    moving = np.cumsum(edges[:-1]) > 0

    fixations = runs(joined & ~moving)
    duration_ms = time_ms[fixations.offset] - time_ms[fixations.onset]
    fixations = fixations.keep(duration_ms >= min_fixation_ms)
    return {
        "fixation": Spans(seen[fixations.onset], seen[fixations.offset]),
        "saccade": Spans(seen[saccades.onset], seen[saccades.offset]),
    }


def _merged(saccades: Spans, time_ms: Floats, min_pause_ms: float) -> Spans:
    """The movements, with those that no real rest separates as one."""
    if not len(saccades.onset):
        return saccades
    apart = time_ms[saccades.onset[1:]] - time_ms[saccades.offset[:-1]] >= min_pause_ms
    return Spans(saccades.onset[np.r_[True, apart]], saccades.offset[np.r_[apart, True]])


def _moved(axis: Floats, saccades: Spans, settle: int) -> Floats:
    """How far each movement got, between the mean place before and the mean place after."""
    running = np.r_[0.0, np.cumsum(axis - axis.mean())]
    before = np.maximum(saccades.onset + 1 - settle, 0)
    after = np.minimum(saccades.offset + settle, len(axis))
    came = (running[saccades.onset + 1] - running[before]) / (saccades.onset + 1 - before)
    went = (running[after] - running[saccades.offset]) / (after - saccades.offset)
    return np.asarray(went - came)


def _speed_per_s(
    time_ms: Floats, x: Floats, y: Floats, joined: np.ndarray, span_ms: float
) -> Floats:
    """Speed in each interval, over as many intervals around it as fit into the span."""
    count = len(joined)
    interval = np.arange(count)
    beside = round(max(span_ms / np.median(np.diff(time_ms)) - 1, 0) / 2)
    starts = np.r_[True, ~joined[:-1]]
    first = np.maximum.accumulate(np.where(starts, interval, 0))
    ends = np.r_[~joined[1:], True]
    last = np.minimum.accumulate(np.where(ends, interval, count)[::-1])[::-1]
    low = np.maximum(interval - beside, first)
    high = np.minimum(interval + beside, last) + 1
    moved = np.hypot(x[high] - x[low], y[high] - y[low])
    speed: Floats = moved / (time_ms[high] - time_ms[low]) * 1000.0
    return speed

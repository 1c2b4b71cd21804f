"""I-VT made robust: speed over a span, between samples, across short losses."""

from __future__ import annotations

import numpy as np

from eyelid.errors import unknown
from eyelid.gaze.events.spans import Floats, Mask, Spans, covered, nothing, runs
from eyelid.gaze.events.velocity import MAX_GAP_MS, around, no_gap
from eyelid.gaze.geometry import PER_DEGREE, in_units

THRESHOLD_PER_S = {units: in_units(30.0, units) for units in PER_DEGREE}
# The smallest saccade believed; of pupil positions in an eye camera image, which are noisy, a
# larger one.
MIN_AMPLITUDE = {"deg": 0.4, "px": 14.0, "fraction": 0.0075, "normalised": 0.008}
MIN_FIXATION_MS = 100.0


def robust(
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
    edge_ms: float = 6.0,
    max_gap_ms: float = MAX_GAP_MS,
) -> dict[str, Spans]:
    """Fixations and saccades of one recording; what eyelid uses unless told otherwise.

    The intervals between samples are what is classified, not the samples, so that a saccade has an
    amplitude and a duration even when it lies between two samples of a slow tracker. Speed is
    taken over ``span_ms``, or over one interval where that is longer: the noise of a fast tracker
    does not pass for movement. Neighbouring events share the sample between them.

    A tracker of 200 Hz or more sees the edges of a saccade, and the eye swing after it. There a
    saccade is what is fast around its peak, with speed taken over ``edge_ms``, and the swing up to
    the next fixation belongs to neither.

    Salvucci & Goldberg (2000), Identifying fixations and saccades in eye-tracking protocols;
    the span follows Olsen (2012), The Tobii I-VT fixation filter.

    Args:
        time_ms: increasing times of the samples.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze, NaN where it was lost.
        units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``; chooses the next two.
        threshold_per_s: speed above which the eye is in a saccade; 30°/s.
        min_amplitude: a faster movement that gets less far than this belongs to the fixation; 0.4°.
        min_fixation_ms: shorter fixations are left out.
        min_saccade_ms: shorter movements belong to the fixation.
        span_ms: time over which speed is measured.
        settle_ms: time before and after over which the place is averaged for ``min_amplitude``.
        min_pause_ms: saccades with a shorter rest between them are one.
        edge_ms: time over which speed is measured at the edges of saccades, where samples are as
            close as that.
        max_gap_ms: events go on across lost signal up to this long, and end at longer losses.

    Returns:
        ``fixation`` and ``saccade`` spans, each in order of time.

    >>> import numpy as np
    >>> x = np.repeat([0.0, 5.0], 30)
    >>> found = robust(np.arange(60) * 1000 / 60, x, np.zeros(60))
    >>> [index.tolist() for index in found["saccade"]]
    [[29], [30]]
    """
    if units not in THRESHOLD_PER_S:
        raise unknown("units", units, THRESHOLD_PER_S)
    threshold_per_s = THRESHOLD_PER_S[units] if threshold_per_s is None else threshold_per_s
    min_amplitude = MIN_AMPLITUDE[units] if min_amplitude is None else min_amplitude

    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(seen) < 2:
        return nothing()
    time_ms, x, y = time_ms[seen], x[seen], y[seen]
    gap_ms = np.diff(time_ms)
    unbroken = no_gap(gap_ms, max_gap_ms)
    # A loss is longer than the saccade it hides, which then looks slow: there, distance tells.
    unseen = gap_ms > 1.5 * np.median(gap_ms)
    leapt = unseen & (np.hypot(np.diff(x), np.diff(y)) > 2 * min_amplitude)

    def speed_per_s(over_ms: float) -> Floats:
        low, high = around(time_ms, unbroken, over_ms)
        moved = np.hypot(x[high] - x[low], y[high] - y[low])
        return np.asarray(moved / (time_ms[high] - time_ms[low]) * 1000.0)

    speed = speed_per_s(span_ms)
    moving = unbroken & (leapt | (speed > threshold_per_s))
    saccades = runs(moving)
    # Movements that no real rest separates are one.
    pause_ms = time_ms[saccades.onset[1:]] - time_ms[saccades.offset[:-1]]
    saccades = saccades.joined(pause_ms >= min_pause_ms)
    settle = max(int(settle_ms / np.median(gap_ms)), 1)
    amplitude = np.hypot(*(_moved(axis, saccades, settle) for axis in (x, y)))
    saccades = saccades.keep(amplitude >= min_amplitude).lasting(time_ms, min_saccade_ms)
    settled = saccades.offset
    if np.median(gap_ms) <= edge_ms:
        # The eye swings after a saccade, which belongs neither to it nor to the fixation.
        fast = leapt | (speed_per_s(edge_ms) > threshold_per_s)
        saccades = _trimmed(saccades, fast, speed)
    still = unbroken & ~covered(Spans(saccades.onset, settled), len(unbroken))
    fixations = runs(still).lasting(time_ms, min_fixation_ms)
    return {
        "fixation": Spans(seen[fixations.onset], seen[fixations.offset]),
        "saccade": Spans(seen[saccades.onset], seen[saccades.offset]),
    }


def _moved(axis: Floats, saccades: Spans, settle: int) -> Floats:
    """How far each movement got, between the mean place before and the mean place after."""
    running = np.r_[0.0, np.cumsum(axis - axis.mean())]
    before = np.maximum(saccades.onset + 1 - settle, 0)
    after = np.minimum(saccades.offset + settle, len(axis))
    came = (running[saccades.onset + 1] - running[before]) / (saccades.onset + 1 - before)
    went = (running[after] - running[saccades.offset]) / (after - saccades.offset)
    return np.asarray(went - came)


def _trimmed(saccades: Spans, fast: Mask, speed: Floats) -> Spans:
    """What is fast without a break around the peak of each movement."""
    if not len(saccades.onset):
        return saccades
    inside = np.flatnonzero(covered(saccades, len(speed)))
    length = saccades.offset - saccades.onset
    slow_to_fast = np.lexsort((speed[inside], np.repeat(np.arange(len(length)), length)))
    peak = inside[slow_to_fast[np.cumsum(length) - 1]]
    slow = np.r_[-1, np.flatnonzero(~fast), len(fast)]
    after = np.searchsorted(slow, peak)
    onset = np.maximum(slow[after - 1] + 1, saccades.onset)
    offset = np.minimum(slow[after], saccades.offset)
    # At a peak that is not fast when measured more finely there is nothing to trim to.
    trimmed = fast[peak]
    return Spans(
        np.where(trimmed, onset, saccades.onset), np.where(trimmed, offset, saccades.offset)
    )

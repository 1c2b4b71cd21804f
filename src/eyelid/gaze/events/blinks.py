"""Blinks: the signal is lost for as long as a lid is down, and wrong while it moves."""

from __future__ import annotations

import numpy as np

from eyelid.gaze.events.spans import Floats, Mask, Spans, covered, runs
from eyelid.gaze.events.velocity import around

MIN_CONFIDENCE = 0.6
MIN_BLINK_MS = 70.0
MAX_BLINK_MS = 500.0
# The light reflex changes a diameter by about its own size a second at the very most, an area by
# twice as much.
MAX_PUPIL_CHANGE_PER_S = 2.0
LID_MS = 150.0
_SPAN_MS = 20.0


def lost(
    x: Floats,
    y: Floats,
    confidence: Floats | None = None,
    pupil: Floats | None = None,
    min_confidence: float = MIN_CONFIDENCE,
) -> Mask:
    """Where there is no usable gaze: missing, below a confidence that is known, without a pupil.

    A pupil of 0 is none, unless it is 0 throughout: then it was not measured. A pupil that is
    missing says nothing.
    """
    missing: Mask = ~(np.isfinite(x) & np.isfinite(y))
    if confidence is not None:
        missing |= confidence < min_confidence
    if pupil is not None and np.any(pupil > 0):
        missing |= pupil <= 0
    return missing


def with_lids(time_ms: Floats, missing: Mask, pupil: Floats) -> Mask:
    """Lost signal, and the moments before and after it in which a lid is moving over the pupil.

    A lid that comes down makes the pupil look smaller, faster than any pupil can change, and its
    middle move, which would pass for a saccade. Samples next to a loss, up to ``LID_MS`` away, are
    lost too for as long as the size changes by more than ``MAX_PUPIL_CHANGE_PER_S`` of its median a
    second, measured over 20 ms.

    Args:
        time_ms: increasing times of the samples.
        missing: where the signal is lost, see `lost`.
        pupil: its size in any unit, NaN where it is not known.

    >>> import numpy as np
    >>> pupil = np.array([4.0, 4.0, 4.0, 3.0, np.nan, np.nan, 3.0, 4.0, 4.0])
    >>> with_lids(np.arange(9) * 20.0, np.isnan(pupil), pupil).astype(int).tolist()
    [0, 0, 1, 1, 1, 1, 1, 1, 0]
    """
    seen = np.flatnonzero(~missing & (pupil > 0))
    if len(seen) < 2 or len(seen) == len(missing):
        return missing
    together = np.diff(seen) == 1
    when_ms, size = time_ms[seen], pupil[seen]
    low, high = around(when_ms, together, _SPAN_MS)
    per_s = np.abs(size[high] - size[low]) / (when_ms[high] - when_ms[low]) * 1000.0
    changing = together & (per_s > MAX_PUPIL_CHANGE_PER_S * np.median(size))
    doubtful = np.zeros(len(missing), dtype=bool)
    doubtful[seen[:-1][changing]] = doubtful[seen[1:][changing]] = True

    before_ms = np.maximum.accumulate(np.where(missing, time_ms, -np.inf))
    after_ms = np.minimum.accumulate(np.where(missing, time_ms, np.inf)[::-1])[::-1]
    doubtful &= np.minimum(time_ms - before_ms, after_ms - time_ms) <= LID_MS
    # Only what goes over into a loss without a break.
    stretches = runs(doubtful | missing)
    losses = np.r_[0, np.cumsum(missing)]
    return covered(stretches.keep(losses[stretches.offset] > losses[stretches.onset]), len(missing))


def detect_blinks(
    time_ms: Floats,
    missing: Mask,
    *,
    min_ms: float = MIN_BLINK_MS,
    max_ms: float = MAX_BLINK_MS,
    bridge_ms: float = 20.0,
) -> Spans:
    """Runs of lost signal that last as long as a blink.

    Spontaneous blinks take 100 to 400 ms (Stern, Walrath & Goldstein 1984); shorter losses are the
    tracker's, longer ones a closed eye or a turned head. A loss at the very end of the recording
    counts only with the time that was recorded.

    Args:
        time_ms: increasing times of the samples.
        missing: where the signal is lost, see `lost` and `with_lids`.
        min_ms: shorter losses are no blinks.
        max_ms: longer losses are no blinks.
        bridge_ms: losses with at most this long a flicker of signal between them are one.

    >>> import numpy as np
    >>> missing = np.zeros(60, dtype=bool)
    >>> missing[20:29] = True
    >>> [index.tolist() for index in detect_blinks(np.arange(60) * 1000 / 60, missing)]
    [[20], [29]]
    """
    first, past = runs(missing)
    losses = Spans(first, np.minimum(past, len(time_ms) - 1))
    flicker_ms = time_ms[losses.onset[1:]] - time_ms[losses.offset[:-1]]
    return losses.joined(flicker_ms > bridge_ms).lasting(time_ms, min_ms, max_ms)

"""Blinks: the signal is lost for as long as a lid is down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.events.spans import Floats, Spans, runs

MIN_CONFIDENCE = 0.6
MIN_BLINK_MS = 70.0
MAX_BLINK_MS = 500.0


def lost(
    x: Floats, y: Floats, confidence: Floats | None = None, min_confidence: float = MIN_CONFIDENCE
) -> NDArray[np.bool_]:
    """Where there is no usable gaze: missing, or below a confidence that is known."""
    missing: NDArray[np.bool_] = ~(np.isfinite(x) & np.isfinite(y))
    if confidence is not None:
        missing |= confidence < min_confidence
    return missing


def detect_blinks(
    time_ms: Floats,
    missing: NDArray[np.bool_],
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
        missing: where the signal is lost, see `lost`.
        min_ms: shorter losses are no blinks.
        max_ms: longer losses are no blinks.
        bridge_ms: losses with at most this long a flicker of signal between them are one.

    >>> import numpy as np
    >>> missing = np.zeros(60, dtype=bool)
    >>> missing[20:29] = True
    >>> [index.tolist() for index in detect_blinks(np.arange(60) * 1000 / 60, missing)]
    [[20], [29]]
    """
    found = runs(missing)
    if not len(found.onset):
        return found
    offset = np.minimum(found.offset, len(time_ms) - 1)
    apart = time_ms[found.onset[1:]] - time_ms[offset[:-1]] > bridge_ms
    found = Spans(found.onset[np.r_[True, apart]], offset[np.r_[apart, True]])
    duration_ms = time_ms[found.offset] - time_ms[found.onset]
    return found.keep((duration_ms >= min_ms) & (duration_ms <= max_ms))

"""What gaze does while it rests: the spectrum of its deviations from the places of fixations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.events.spans import Spans, covered
from eyelid.gaze.generator.parameters import Floats

SEGMENT_S = 2.0
# A stretch counts where gaze rests for so much of it.
_LEAST_RESTING = 0.25


def resting_spectrum(
    time_ms: Floats, x: Floats, y: Floats, fixations: Spans
) -> tuple[Floats, Floats]:
    """Frequencies, and the power spectral density of gaze in fixations, the mean of both axes.

    From each sample in a fixation its mean place is taken; all others count as 0, and the power is
    that of the samples in fixations. Slow movements are underestimated by what the means take, in
    the same way wherever this is used. Hann windows of two seconds, half overlapping.

    Args:
        time_ms: of the samples, about evenly spaced.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze.
        fixations: as a detector has them.
    """
    if len(time_ms) < 3 or not len(fixations.onset):
        return np.zeros(0), np.zeros(0)
    rate_hz = 1000.0 / float(np.median(np.diff(time_ms)))
    length = max(int(SEGMENT_S * rate_hz), 16)
    resting = covered(fixations, len(time_ms)) & np.isfinite(x) & np.isfinite(y)
    if len(time_ms) < length or not resting.any():
        return np.zeros(0), np.zeros(0)
    owner = np.searchsorted(fixations.onset, np.flatnonzero(resting), side="right") - 1
    count = np.maximum(np.bincount(owner, minlength=len(fixations.onset)), 1)
    window = np.hanning(length)
    starts = np.arange(0, len(time_ms) - length + 1, length // 2)
    stretch = starts[:, np.newaxis] + np.arange(length)
    known: NDArray[np.bool_] = resting[stretch]
    keep = known.mean(axis=1) >= _LEAST_RESTING
    if not keep.any():
        return np.zeros(0), np.zeros(0)
    weight = float((known[keep] * window**2).sum())
    power = np.zeros(length // 2 + 1)
    for axis in (x, y):
        deviation = np.zeros(len(time_ms))
        seen = axis[resting]
        means = np.bincount(owner, seen, minlength=len(count)) / count
        deviation[resting] = seen - means[owner]
        for some in np.array_split(stretch[keep], max(int(keep.sum()) * length // 2_000_000, 1)):
            power += (np.abs(np.fft.rfft(deviation[some] * window)) ** 2).sum(axis=0)
    return np.arange(len(power)) * rate_hz / length, power / (weight * rate_hz)


def level(frequency_hz: Floats, power: Floats, at_hz: float) -> float:
    """Amplitude spectral density around a frequency: an octave's mean; NaN where there is none."""
    inside = (frequency_hz >= at_hz / np.sqrt(2)) & (frequency_hz <= at_hz * np.sqrt(2))
    return float(np.sqrt(power[inside].mean())) if inside.any() else np.nan

"""How gaze moves: how fast, and whether saccades follow the main sequence as those of eyes do.

In healthy eyes the peak speed of a saccade follows its amplitude: about speed = scale ·
amplitude^exponent for all but the largest (Bahill, Clark & Stark 1975). Slow trackers see less than
the peak, which lowers the exponent of original and release alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eyelid.attacks.streams.pairing import Stream
from eyelid.gaze.events.spans import Floats, Spans
from eyelid.gaze.events.velocity import no_gap
from eyelid.gaze.features.catalogue import MAX_SACCADE_MS, scale_of
from eyelid.gaze.features.statistics import Stretches, samples_of

# Fewer saccades, or saccades that are all alike, have no main sequence.
FEWEST_SACCADES = 10
_LEAST_SPREAD = 0.05


class Saccades(NamedTuple):
    """Of one recording.

    Attributes:
        amplitude: from onset to offset.
        peak_per_s: the fastest step between two samples.
        duration_ms: from onset to offset.
    """

    amplitude: Floats
    peak_per_s: Floats
    duration_ms: Floats


class MainSequence(NamedTuple):
    """Fitted to the logarithms: speed = e^log_scale · amplitude^exponent."""

    log_scale: float
    exponent: float

    def log_speed(self, log_amplitude: Floats) -> Floats:
        """The logarithm of the speed to expect."""
        return self.log_scale + self.exponent * log_amplitude


def saccades_of(stream: Stream, spans: Spans) -> Saccades:
    """How far, how fast and how long each saccade was."""
    recording = stream.recording
    index, samples = samples_of(spans, stream.seen)
    same = samples.steps()
    time_ms, x, y = (v[index] for v in (recording.time_ms, recording["x"], recording["y"]))
    steps = np.hypot(np.diff(x)[same], np.diff(y)[same])
    speed_per_s = steps / np.diff(time_ms)[same] * 1000.0
    moved = (recording[axis][spans.offset] - recording[axis][spans.onset] for axis in "xy")
    return Saccades(
        np.hypot(*moved),
        Stretches(samples.owner[1:][same], samples.events).largest(speed_per_s),
        recording.time_ms[spans.offset] - recording.time_ms[spans.onset],
    )


def main_sequence(saccades: Saccades) -> MainSequence | None:
    """The law of these saccades; None for too few or too similar ones."""
    amplitude, peak = _logarithms(saccades)
    if len(amplitude) < FEWEST_SACCADES or amplitude.std() < _LEAST_SPREAD:
        return None
    centred = amplitude - amplitude.mean()
    exponent = float(centred @ peak / (centred @ centred))
    return MainSequence(float(peak.mean() - exponent * amplitude.mean()), exponent)


def main_sequence_distance(original: Saccades, released: Saccades) -> float | None:
    """Mean absolute difference of the two laws' log speeds, over the original's saccades."""
    ours, theirs = main_sequence(original), main_sequence(released)
    if ours is None or theirs is None:
        return None
    amplitude, _ = _logarithms(original)
    return float(np.mean(np.abs(ours.log_speed(amplitude) - theirs.log_speed(amplitude))))


def impossible(saccades: Saccades, units: str) -> float | None:
    """Share of saccades larger, faster or longer than those of any eye; None without any."""
    if not len(saccades.amplitude):
        return None
    scale = scale_of(units)
    beyond = (
        (saccades.amplitude > scale.max_amplitude)
        | (saccades.peak_per_s > scale.max_speed_per_s)
        | (saccades.duration_ms > MAX_SACCADE_MS)
    )
    return float(beyond.mean())


def speeds_per_s(stream: Stream) -> Floats:
    """How fast gaze moves from each seen sample to the next, without leaps over gaps."""
    index = np.flatnonzero(stream.seen)
    if len(index) < 2:
        return np.zeros(0)
    recording = stream.recording
    passed_ms = np.diff(recording.time_ms[index])
    moved = np.hypot(*(np.diff(recording[axis][index]) for axis in "xy"))
    return np.asarray(moved / passed_ms * 1000.0)[no_gap(passed_ms)]


def speed_distance_per_s(ours: Floats, theirs: Floats) -> float | None:
    """How far the speeds of one must be moved, on average, to be those of the other."""
    from scipy.stats import wasserstein_distance

    if not len(ours) or not len(theirs):
        return None
    return float(wasserstein_distance(ours, theirs))


def log_ratio_of_medians(ours: Floats, theirs: Floats) -> float | None:
    """Above zero where the other is faster; None where either mostly stands still."""
    medians = [float(np.median(speeds)) if len(speeds) else 0.0 for speeds in (ours, theirs)]
    return float(np.log(medians[1] / medians[0])) if min(medians) > 0 else None


def _logarithms(saccades: Saccades) -> tuple[Floats, Floats]:
    """Of amplitudes and peak speeds, as far as there are any."""
    moving = (saccades.amplitude > 0) & (saccades.peak_per_s > 0)
    return np.log(saccades.amplitude[moving]), np.log(saccades.peak_per_s[moving])

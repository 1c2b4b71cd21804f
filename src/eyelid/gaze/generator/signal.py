"""From fixations and what lies between them to what an eye tracker would have recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.generator.parameters import NOISE_HZ, Floats

# A minimum-jerk movement peaks at this multiple of its mean speed.
PEAK_TO_MEAN = 1.875
# Below this, fixational movement wanders no farther: what is slower is a change of place.
_SLOWEST_HZ = 1.0
SMALLEST_PUPIL_MM, LARGEST_PUPIL_MM = 1.6, 8.9


class Timeline(NamedTuple):
    """Fixations, and the saccade or blink that follows each of them."""

    onset_ms: Floats
    fixation_ms: Floats
    x: Floats
    y: Floats
    drift_x_deg_s: Floats
    drift_y_deg_s: Floats
    move_ms: Floats
    is_blink: NDArray[np.bool_]


def times_ms(length_ms: float, rate_hz: float) -> Floats:
    """The nominal grid of a recording."""
    count = samples_of(length_ms, rate_hz)
    return np.arange(count, dtype=np.float64) * (1000.0 / rate_hz)


def samples_of(length_ms: float, rate_hz: float) -> int:
    """How many samples a recording of this length has.

    >>> samples_of(19_980.0, 60.0), samples_of(1.0, 60.0)
    (1198, 2)
    """
    return max(int(length_ms * rate_hz / 1000.0), 2)


def places_at(events: Timeline, time_ms: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Where the eye is at each time, and whether it is closed: without any noise.

    Saccades are minimum-jerk movements from where drift has taken the eye to the next fixation.

    Args:
        events: that last as long as the times, at least.
        time_ms: of the samples.
    """
    event = np.searchsorted(events.onset_ms, time_ms, side="right") - 1
    into_ms = time_ms - events.onset_ms[event]
    fixating_ms = np.minimum(into_ms, events.fixation_ms[event])
    done = np.clip((into_ms - fixating_ms) / events.move_ms[event], 0.0, 1.0)
    eased = done**3 * (10.0 + done * (6.0 * done - 15.0))
    blinking = (into_ms >= events.fixation_ms[event]) & events.is_blink[event]
    gaze = []
    for target, drift_deg_s in ((events.x, events.drift_x_deg_s), (events.y, events.drift_y_deg_s)):
        leap = np.roll(target, -1) - target - drift_deg_s * events.fixation_ms / 1000.0
        axis = target[event]
        axis += drift_deg_s[event] * fixating_ms / 1000.0
        axis += leap[event] * eased
        gaze.append(axis)
    return gaze[0], gaze[1], blinking


def coloured_noise(
    count: int, rate_hz: float, levels: Floats, axes: int, rng: np.random.Generator
) -> Floats:
    """Gaussian noise of a given spectrum, one row an axis.

    Args:
        count: samples.
        rate_hz: of them.
        levels: amplitude spectral density at each of `NOISE_HZ`; lines between on logs, on beyond
            the last, and level below 1 Hz.
        axes: how many.
        rng: source of randomness.

    >>> noise = coloured_noise(4000, 500.0, np.full(4, 0.01), 2, np.random.default_rng(0))
    >>> noise.shape, round(float(noise.std() / (0.01 * np.sqrt(500 / 2))), 1)
    ((2, 4000), 1.0)
    """
    from scipy.fft import irfft, next_fast_len

    # Twice as long would be safer against its end going over into its beginning, to nobody's gain.
    length = next_fast_len(count, real=True)
    frequency_hz = np.fft.rfftfreq(length, 1.0 / rate_hz)
    logs = np.log(np.maximum(frequency_hz, _SLOWEST_HZ))
    pivots, heights = np.log(NOISE_HZ), np.log(levels)
    density = np.interp(logs, pivots, heights)
    for end, beyond in ((0, logs < pivots[0]), (-1, logs > pivots[-1])):
        inner = 1 if end == 0 else -2
        slope = (heights[inner] - heights[end]) / (pivots[inner] - pivots[end])
        density[beyond] = heights[end] + slope * (logs[beyond] - pivots[end])
    scale = np.exp(density) * np.sqrt(rate_hz * length / 4.0)
    parts = rng.standard_normal((2, axes, len(scale)))
    spectrum = (parts[0] + 1j * parts[1]) * scale
    spectrum[:, 0] = 0.0
    return np.asarray(irfft(spectrum, length, axis=-1)[:, :count])


def lost_between(time_ms: Floats, onset_ms: Floats, offset_ms: Floats) -> NDArray[np.bool_]:
    """Which samples lie in any of these losses, which may overlap."""
    edges = np.zeros(len(time_ms) + 1, dtype=np.int32)
    np.add.at(edges, np.searchsorted(time_ms, onset_ms), 1)
    np.add.at(edges, np.searchsorted(time_ms, offset_ms), -1)
    return np.cumsum(edges[:-1]) > 0


def hippus(time_ms: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """How a pupil goes up and down, of unit variance, at coarse times: slowly and more slowly."""
    coarse_ms = np.arange(0.0, time_ms[-1] + 200.0, 100.0)
    count = len(coarse_ms)
    return coarse_ms, 0.8 * wander(count, 12.0, rng) + 0.6 * wander(count, 300.0, rng)


def wander(count: int, memory: float, rng: np.random.Generator) -> Floats:
    """A stationary wandering of unit variance that forgets after some steps."""
    from scipy.signal import lfilter

    keep = np.exp(-1.0 / memory)
    shocks = rng.standard_normal(count)
    shocks[1:] *= np.sqrt(1.0 - keep**2)
    return np.asarray(lfilter([1.0], [1.0, -keep], shocks))

"""From places to look at to what an eye tracker would have recorded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.simulator.pages import Task, scanpath
from eyelid.gaze.simulator.people import Traits

Floats = NDArray[np.float64]

# A minimum-jerk movement peaks at this multiple of its mean speed.
PEAK_TO_MEAN = 1.875
SHORTEST_FIXATION_MS, LONGEST_FIXATION_MS = 100.0, 1500.0
SHORTEST_BLINK_MS, LONGEST_BLINK_MS = 90.0, 400.0


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


class Samples(NamedTuple):
    """What the tracker says, NaN where it lost the eye."""

    time_ms: Floats
    x: Floats
    y: Floats
    pupil: Floats
    confidence: Floats

    def moved(self, right: float, down: float) -> Samples:
        """Gaze as a tracker sees it that is off by so many degrees."""
        return self._replace(x=self.x + right, y=self.y + down)


def timeline(task: Task, traits: Traits, length_ms: float, rng: np.random.Generator) -> Timeline:
    """The events of one recording, at least as long as asked for."""
    fixation_ms = traits.fixation_ms * task.fixation
    count = int(1.5 * length_ms / fixation_ms) + 20
    path = scanpath(task, traits, count, rng)

    # Attention wanders over half a minute or so, and people slow down as they tire.
    mood = 0.10 * _wander(count, 120.0, rng)
    tired = rng.normal(0.04, 0.04) * np.linspace(0.0, 1.0, count)
    spread = traits.fixation_log_sd
    mean_ms = fixation_ms * np.where(path.in_picture, 1.15, 1.0) * np.exp(mood + tired)
    duration_ms = mean_ms * rng.lognormal(-(spread**2) / 2, spread, count)
    duration_ms = np.clip(duration_ms, SHORTEST_FIXATION_MS, LONGEST_FIXATION_MS)

    drift = rng.normal(0.0, traits.drift_deg_s / np.sqrt(np.pi / 2), (2, count))
    end_x = path.x + drift[0] * duration_ms / 1000.0
    end_y = path.y + drift[1] * duration_ms / 1000.0
    amplitude_deg = np.hypot(np.roll(path.x, -1) - end_x, np.roll(path.y, -1) - end_y)
    move_ms = saccade_ms(amplitude_deg, traits)

    per_ms = traits.blinks_per_min * task.blinks / 60_000.0
    willing = np.exp(0.3 * _wander(count, 80.0, rng) + 5.0 * tired)
    is_blink = rng.random(count) < -np.expm1(-per_ms * willing * duration_ms)
    blink_ms = traits.blink_ms * rng.lognormal(0.0, 0.2, count)
    move_ms = np.where(is_blink, np.clip(blink_ms, SHORTEST_BLINK_MS, LONGEST_BLINK_MS), move_ms)

    onset_ms = np.r_[0.0, np.cumsum(duration_ms + move_ms)[:-1]]
    return Timeline(onset_ms, duration_ms, path.x, path.y, drift[0], drift[1], move_ms, is_blink)


def saccade_ms(amplitude_deg: Floats, traits: Traits) -> Floats:
    """Duration of a saccade whose peak speed follows the main sequence V·(1 - exp(-A/c))."""
    amplitude_deg = np.maximum(amplitude_deg, 1e-3)
    peak_deg_s = -traits.peak_speed_deg_s * np.expm1(-amplitude_deg / traits.saturation_deg)
    return np.asarray(PEAK_TO_MEAN * amplitude_deg / peak_deg_s * 1000.0)


def record(
    events: Timeline,
    task: Task,
    traits: Traits,
    length_ms: float,
    rate_hz: float,
    rng: np.random.Generator,
) -> Samples:
    """The samples of a timeline on the nominal grid."""
    count = max(int(length_ms * rate_hz / 1000.0), 2)
    time_ms = np.arange(count, dtype=np.float64) * (1000.0 / rate_hz)
    event = np.searchsorted(events.onset_ms, time_ms, side="right") - 1
    into_ms = time_ms - events.onset_ms[event]
    fixating_ms = np.minimum(into_ms, events.fixation_ms[event])
    done = np.clip((into_ms - fixating_ms) / events.move_ms[event], 0.0, 1.0)
    eased = done**3 * (10.0 + done * (6.0 * done - 15.0))
    blinking = (into_ms >= events.fixation_ms[event]) & events.is_blink[event]

    # Faster trackers are more precise ones.
    noise_deg = traits.noise_deg * min(1.0, 60.0 / rate_hz) ** 0.3
    gaze = []
    for target, drift_deg_s in ((events.x, events.drift_x_deg_s), (events.y, events.drift_y_deg_s)):
        leap = np.roll(target, -1) - target - drift_deg_s * events.fixation_ms / 1000.0
        axis = target[event]
        axis += drift_deg_s[event] * fixating_ms / 1000.0
        axis += leap[event] * eased
        axis += noise_deg * rng.standard_normal(count)
        gaze.append(axis)

    missing = blinking | _dropouts(traits, time_ms, rng)
    confidence = 1.0 - np.minimum(0.6 * noise_deg * np.abs(rng.standard_normal(count)), 0.35)
    confidence = np.where(missing, 0.4 * rng.random(count), confidence)
    pupil = _pupil(task, traits, time_ms, rng)
    x, y, pupil = (np.where(missing, np.nan, signal) for signal in (*gaze, pupil))
    return Samples(time_ms, x, y, pupil, confidence)


def _pupil(task: Task, traits: Traits, time_ms: Floats, rng: np.random.Generator) -> Floats:
    """Diameter: the person's own, the brightness of the page, hippus, and tiring."""
    coarse_ms = np.arange(0.0, time_ms[-1] + 200.0, 100.0)
    hippus_mm = 0.8 * _wander(len(coarse_ms), 12.0, rng) + 0.6 * _wander(len(coarse_ms), 300.0, rng)
    tired_mm = rng.normal(-0.08, 0.08) * coarse_ms / coarse_ms[-1]
    diameter_mm = traits.pupil_mm * task.pupil + traits.hippus_mm * hippus_mm + tired_mm
    measured = np.interp(time_ms, coarse_ms, diameter_mm)
    measured += 0.015 * rng.standard_normal(len(time_ms))
    return np.asarray(np.clip(measured, 1.6, 8.9))


def _dropouts(traits: Traits, time_ms: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Short losses of the eye, each too short for a blink."""
    length_ms = time_ms[-1]
    count = rng.poisson(traits.dropouts_per_min * length_ms / 60_000.0)
    onset_ms = rng.uniform(0.0, length_ms, count)
    offset_ms = onset_ms + rng.uniform(10.0, 60.0, count)
    edges = np.zeros(len(time_ms) + 1, dtype=np.int32)
    np.add.at(edges, np.searchsorted(time_ms, onset_ms), 1)
    np.add.at(edges, np.searchsorted(time_ms, offset_ms), -1)
    return np.cumsum(edges[:-1]) > 0


def _wander(count: int, memory: float, rng: np.random.Generator) -> Floats:
    """A stationary wandering of unit variance that forgets after some steps."""
    from scipy.signal import lfilter

    keep = np.exp(-1.0 / memory)
    shocks = rng.standard_normal(count)
    shocks[1:] *= np.sqrt(1.0 - keep**2)
    return np.asarray(lfilter([1.0], [1.0, -keep], shocks))

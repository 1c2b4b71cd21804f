"""From places to look at to what an eye tracker would have recorded of a simulated participant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.generator.signal import (
    LARGEST_PUPIL_MM,
    PEAK_TO_MEAN,
    SMALLEST_PUPIL_MM,
    Timeline,
    hippus,
    lost_between,
    places_at,
    times_ms,
    wander,
)
from eyelid.gaze.simulator.pages import Task, scanpath
from eyelid.gaze.simulator.people import Traits

Floats = NDArray[np.float64]

SHORTEST_FIXATION_MS, LONGEST_FIXATION_MS = 100.0, 1500.0
SHORTEST_BLINK_MS, LONGEST_BLINK_MS = 90.0, 400.0


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
    mood = 0.10 * wander(count, 120.0, rng)
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
    willing = np.exp(0.3 * wander(count, 80.0, rng) + 5.0 * tired)
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
    time_ms = times_ms(length_ms, rate_hz)
    count = len(time_ms)
    *gaze, blinking = places_at(events, time_ms)

    # Faster trackers are more precise ones.
    noise_deg = traits.noise_deg * min(1.0, 60.0 / rate_hz) ** 0.3
    for axis in gaze:
        axis += noise_deg * rng.standard_normal(count)

    missing = blinking | _dropouts(traits, time_ms, rng)
    confidence = 1.0 - np.minimum(0.6 * noise_deg * np.abs(rng.standard_normal(count)), 0.35)
    confidence = np.where(missing, 0.4 * rng.random(count), confidence)
    pupil = _pupil(task, traits, time_ms, rng)
    x, y, pupil = (np.where(missing, np.nan, signal) for signal in (*gaze, pupil))
    return Samples(time_ms, x, y, pupil, confidence)


def _pupil(task: Task, traits: Traits, time_ms: Floats, rng: np.random.Generator) -> Floats:
    """Diameter: the person's own, the brightness of the page, hippus, and tiring."""
    coarse_ms, up_and_down = hippus(time_ms, rng)
    tired_mm = rng.normal(-0.08, 0.08) * coarse_ms / coarse_ms[-1]
    diameter_mm = traits.pupil_mm * task.pupil + traits.hippus_mm * up_and_down + tired_mm
    measured = np.interp(time_ms, coarse_ms, diameter_mm)
    measured += 0.015 * rng.standard_normal(len(time_ms))
    return np.asarray(np.clip(measured, SMALLEST_PUPIL_MM, LARGEST_PUPIL_MM))


def _dropouts(traits: Traits, time_ms: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Short losses of the eye, each too short for a blink."""
    length_ms = time_ms[-1]
    count = rng.poisson(traits.dropouts_per_min * length_ms / 60_000.0)
    onset_ms = rng.uniform(0.0, length_ms, count)
    offset_ms = onset_ms + rng.uniform(10.0, 60.0, count)
    return lost_between(time_ms, onset_ms, offset_ms)

"""Simulated participants: oculomotor traits that last, and the state of the day that does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.generator.parameters import OFFSET_DEG as OFFSET_DEG


class Spread(NamedTuple):
    """How a trait varies: log-normal over people, and again over the recordings of one person.

    Attributes:
        median: over people.
        people: standard deviation of the log over people.
        recordings: standard deviation of the log over the recordings of one person.
        per_decade: change of the log with ten years of age over forty.
        woman: change of the log for women.
        glasses: change of the log with glasses.
    """

    median: float
    people: float
    recordings: float
    per_decade: float = 0.0
    woman: float = 0.0
    glasses: float = 0.0


@dataclass(frozen=True)
class Traits:
    """What a person's eyes do in one recording; the medians and spreads are in `SPREADS`.

    Attributes:
        fixation_ms: mean fixation in text.
        fixation_log_sd: spread of the log of fixation durations.
        peak_speed_deg_s: of very large saccades, V in the main sequence V·(1 - exp(-A/c)).
        saturation_deg: c in the main sequence.
        step_deg: forward saccade in text.
        regression_share: of the saccades in text that go back.
        picture_interest: how long pictures hold the eye.
        landing_deg: scatter of landing positions.
        drift_deg_s: speed of the eye while fixating.
        blinks_per_min: while reading.
        blink_ms: mean blink.
        pupil_mm: mean diameter.
        hippus_mm: standard deviation of the diameter over seconds.
        noise_deg: of the tracker on this eye, per axis, at 60 Hz.
        dropouts_per_min: short losses of signal.
        pace: length of the recording, as a multiple of the one asked for.
    """

    fixation_ms: float
    fixation_log_sd: float
    peak_speed_deg_s: float
    saturation_deg: float
    step_deg: float
    regression_share: float
    picture_interest: float
    landing_deg: float
    drift_deg_s: float
    blinks_per_min: float
    blink_ms: float
    pupil_mm: float
    hippus_mm: float
    noise_deg: float
    dropouts_per_min: float
    pace: float


SPREADS = {
    "fixation_ms": Spread(225.0, 0.10, 0.05, per_decade=0.02),
    "fixation_log_sd": Spread(0.38, 0.12, 0.07),
    "peak_speed_deg_s": Spread(500.0, 0.12, 0.05, per_decade=-0.03),
    "saturation_deg": Spread(6.0, 0.12, 0.05),
    "step_deg": Spread(2.2, 0.12, 0.08),
    "regression_share": Spread(0.13, 0.30, 0.20),
    "picture_interest": Spread(1.0, 0.25, 0.20),
    "landing_deg": Spread(0.30, 0.15, 0.10),
    "drift_deg_s": Spread(0.35, 0.25, 0.10),
    "blinks_per_min": Spread(8.0, 0.55, 0.25, woman=0.2),
    "blink_ms": Spread(170.0, 0.15, 0.08, per_decade=0.02),
    "pupil_mm": Spread(3.8, 0.12, 0.055, per_decade=-0.04),
    "hippus_mm": Spread(0.14, 0.25, 0.10),
    "noise_deg": Spread(0.06, 0.22, 0.11, glasses=0.15),
    "dropouts_per_min": Spread(5.0, 0.60, 0.40, glasses=0.5),
    "pace": Spread(1.0, 0.09, 0.05),
}
"""Plausible values from the literature.

Fixations in reading last 200 to 250 ms, forward saccades span 7 to 9 letters (about 2 degrees) and
10 to 15% of saccades go back (Rayner 1998). Saccades peak at 400 to 600 degrees/s with a
saturation of 5 to 8 degrees (Bahill, Clark & Stark 1975). Drift is 0.1 to 0.5 degrees/s (Rolfs
2009). Readers blink 3 to 20 times a minute, women more often (Bentivoglio et al. 1997), for 100 to
300 ms. Pupils are 2.5 to 6 mm on a bright screen and shrink by some 0.04 mm a year (Winn et al.
1994). Trackers scatter by 0.03 to 0.3 degrees, more with glasses (Holmqvist et al. 2012).
"""

OLDEST, YOUNGEST = 70, 18


@dataclass(frozen=True)
class Person:
    """Someone who does not exist.

    Attributes:
        gender: ``female`` or ``male``.
        age: in years.
        glasses: worn while recording.
        logs: the log of each trait, in the order of `SPREADS`.
        offset: how far beside the truth a tracker sees this person's gaze, across and down, as
            multiples of the mean distance over people. It lasts from recording to recording.
    """

    gender: str
    age: int
    glasses: bool
    logs: NDArray[np.float64]
    offset: NDArray[np.float64]

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Person:
        """A person from the population."""
        gender = "female" if rng.random() < 0.5 else "male"
        age = int(np.clip(rng.gamma(6.0, 3.0) + YOUNGEST, YOUNGEST, OLDEST))
        glasses = bool(rng.random() < 0.35)
        table = np.array(list(SPREADS.values()))
        logs = np.log(table[:, 0]) + table[:, 1] * _bounded_normal(rng, len(table))
        logs += table[:, 3] * (age - 40) / 10 + table[:, 4] * (gender == "female")
        logs += table[:, 5] * glasses
        # Drawn last: all else is as it was before there were offsets.
        offset = _bounded_normal(rng, 2) / np.sqrt(np.pi / 2)
        return cls(gender, age, glasses, logs, offset)

    def today(self, rng: np.random.Generator) -> Traits:
        """The traits in one recording: the person's own, moved by the state of the day."""
        spread = np.array([s.recordings for s in SPREADS.values()])
        values = np.exp(self.logs + spread * _bounded_normal(rng, len(spread)))
        return Traits(**dict(zip(SPREADS, values.tolist(), strict=True)))


def _bounded_normal(rng: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Standard normal values without the far tails, where people would have no such eyes."""
    return np.clip(rng.standard_normal(size), -2.5, 2.5)

"""How far released gaze is from where a person looked, before there is any."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.privacy.noise import randomness

FIXATION_S = 0.3
USUAL_RATE_HZ = 60.0
_FIXATIONS = 400
_PIECE = 1000
# What is off by less than this part of what a constant is off tells where a person looked.
_KEPT = 0.5


@dataclass(frozen=True)
class Distance:
    """How far released gaze is from where a person looked, at the median.

    Attributes:
        released: of the filter's output.
        constant: of the middle of the scene, which can be guessed without data.
        units: of both.
        rate_hz: of the simulated gaze.
    """

    released: float
    constant: float
    units: str
    rate_hz: float

    @property
    def informative(self) -> bool:
        """Whether a single released sample tells where a person looked."""
        return self.released < _KEPT * self.constant


def expected_distance(mechanism: StreamMechanism, rate_hz: float | None = None) -> Distance:
    """Filter simulated gaze, a new place anywhere in the scene every 0.3 s, and see how far off.

    The same for everybody who asks: neither data nor chance is in it.

    Args:
        mechanism: the filter.
        rate_hz: samples a second; 60 where it is not known.
    """
    rate = rate_hz or USUAL_RATE_HZ
    rng = np.random.default_rng(7)
    x0, y0, x1, y1 = mechanism.place.plane
    places = rng.uniform((x0, y0), (x1, y1), size=(_FIXATIONS, 2))
    gaze = np.repeat(places, max(1, round(FIXATION_S * rate)), axis=0)
    run = mechanism.start(randomness(7))
    # In pieces: to compile the filter for so little takes longer than to run it.
    pieces = np.array_split(gaze, math.ceil(len(gaze) / _PIECE))
    released = np.concatenate([np.stack(run.push_many(*p.T), axis=1) for p in pieces])
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    return Distance(
        released=float(np.median(np.linalg.norm(released - gaze, axis=1))),
        constant=float(np.median(np.linalg.norm(middle - gaze, axis=1))),
        units=mechanism.place.spoken_units,
        rate_hz=rate,
    )

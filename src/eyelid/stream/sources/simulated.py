"""A made-up person as a source, for whoever has no tracker at hand: ``simulate``."""

from __future__ import annotations

import math

from eyelid.gaze.simulator import SCREEN, simulate
from eyelid.stream.address import Address
from eyelid.stream.sources.replay import Replay
from eyelid.stream.sources.source import Scenery, Speed

OPTIONS = ("rate", "minutes", "task", "seed")


def simulated(address: Address, speed: Speed) -> Replay:
    """Somebody who reads, again and again at the speed of the clock, once at full speed."""
    rate_hz = address.number("rate", 120.0) or 0.0
    minutes = address.number("minutes", 5.0) or 0.0
    seed = address.number("seed")
    task = address.options.get("task", "comic")
    study = simulate(1, (task,), rate_hz, minutes, None if seed is None else int(seed))
    scenery = Scenery(rate_hz, "deg", _screen_deg())
    return Replay(address.text, scenery, list(study.recordings()), speed, again=speed == "real")


def _screen_deg() -> str:
    """The simulator's screen, in degrees from its top left corner."""
    sizes_m = (SCREEN.width_m or 0.0, SCREEN.height_m or 0.0)
    distance_m = SCREEN.distance_m or 1.0
    width, height = (2 * math.degrees(math.atan2(s / 2, distance_m)) for s in sizes_m)
    return f"0,0,{math.ceil(width)},{math.ceil(height)}"

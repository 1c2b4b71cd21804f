"""What happened in a stream, as it is released: names and noisy places, never raw gaze."""

from __future__ import annotations

from dataclasses import dataclass

FIXATION_STARTED = "fixation started"
FIXATION_ENDED = "fixation ended"
AREA_ENTERED = "area entered"


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """Something that was released at a sample.

    Attributes:
        name: ``fixation started``, ``fixation ended`` or ``area entered``.
        sample: when: how many samples came before.
        x: the middle of the region where it happened.
        y: the same.
        region: its name.
    """

    name: str
    sample: int
    x: float
    y: float
    region: str

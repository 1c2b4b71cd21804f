"""Gaze on its way: raw samples before the gatekeeper, released ones after it.

They are two types, so that a sink cannot be handed what has not been through the gatekeeper. Their
columns are lists: most often there is one sample at a time, for which arrays are slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eyelid.stream.gatekeeper import Mode

Column = list[float]


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class RawGaze:
    """Samples as a tracker gave them; lost ones are NaN.

    Its text shows no value, so that no log and no error message can.

    Attributes:
        time_ms: when they were taken, by the tracker's clock.
        parts: x and y, and of directions z, the part straight ahead.
        arrived_s: when they came here, by `time.perf_counter`.
    """

    time_ms: Column
    parts: Sequence[Column]
    arrived_s: float

    def __len__(self) -> int:
        return len(self.time_ms)

    def __repr__(self) -> str:
        return f"RawGaze({len(self)} samples)"


@dataclass(frozen=True, eq=False, slots=True)
class ReleasedGaze:
    """Samples that the gatekeeper gave out.

    Attributes:
        time_ms: when they were taken.
        parts: x and y of filtered gaze, and of directions z, the part straight ahead.
        mode: of the gatekeeper after the last of them.
        arrived_s: when the first of them came here as raw gaze, by `time.perf_counter`.
    """

    time_ms: Column
    parts: Sequence[Column]
    mode: Mode
    arrived_s: float

    def __len__(self) -> int:
        return len(self.time_ms)

    @property
    def columns(self) -> dict[str, Column]:
        """By name: time_ms, x, y, and z of directions."""
        return dict(zip(("time_ms", "x", "y", "z"), (self.time_ms, *self.parts), strict=False))

    def part(self, cut: slice) -> ReleasedGaze:
        """Some of the samples."""
        parts = [column[cut] for column in self.parts]
        return ReleasedGaze(self.time_ms[cut], parts, self.mode, self.arrived_s)


def joined(pieces: Sequence[ReleasedGaze]) -> ReleasedGaze:
    """Samples one after the other, as one; the oldest arrival counts."""
    first, *rest = pieces
    if not rest:
        return first
    columns = [first.time_ms[:], *(part[:] for part in first.parts)]
    for piece in rest:
        for column, more in zip(columns, (piece.time_ms, *piece.parts), strict=True):
            column += more
    return ReleasedGaze(columns[0], columns[1:], pieces[-1].mode, first.arrived_s)

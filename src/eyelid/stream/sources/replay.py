"""Recordings played again: at the speed of the clock, or as fast as they go."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.study import Recording
from eyelid.stream.samples import RawGaze
from eyelid.stream.sources.source import AT_ITS_END, Scenery, Source, Speed, Taker

Floats = NDArray[np.float64]

GAZE = ("gaze_x", "gaze_y", "gaze_z")
# No more than consumers have room for while they are not crowded.
_AT_ONCE = 1024


class Replay(Source):
    """Recordings of one person, one after the other.

    Args:
        name: as a person wrote it.
        scenery: what is known of the gaze.
        recordings: to be played.
        speed: ``real`` or ``full``.
        again: whether to begin anew at the end.
    """

    def __init__(
        self,
        name: str,
        scenery: Scenery,
        recordings: Sequence[Recording],
        speed: Speed,
        again: bool = False,
    ) -> None:
        super().__init__(name, scenery)
        self._recordings = recordings
        self._again = again
        self.by_arrival = speed == "real"

    async def run(self, taker: Taker, directions: bool) -> None:
        """Play."""
        self.state = "playing"
        while True:
            for recording in self._recordings:
                parts = _parts_of(recording, directions, self.name)
                taker.begin()
                if self.by_arrival:
                    await self._in_time(recording.time_ms, parts, taker)
                else:
                    await self._at_once(recording.time_ms, parts, taker)
            if not self._again:
                break
        self.state = AT_ITS_END

    async def _in_time(self, time_ms: Floats, parts: list[Floats], taker: Taker) -> None:
        """Every sample when its time has come."""
        start_s, done = time.perf_counter(), 0
        due_s = (time_ms - time_ms[0]) / 1000
        while done < len(due_s):
            passed_s = time.perf_counter() - start_s
            until = min(int(np.searchsorted(due_s, passed_s, side="right")), done + _AT_ONCE)
            if until > done:
                taker.take(_raw(time_ms, parts, slice(done, until)))
                done = until
                # Others have their turn even when the clock is ahead.
                await asyncio.sleep(0)
            else:
                await asyncio.sleep(due_s[done] - passed_s)

    async def _at_once(self, time_ms: Floats, parts: list[Floats], taker: Taker) -> None:
        """As fast as consumers take it."""
        for start in range(0, len(time_ms), _AT_ONCE):
            taker.take(_raw(time_ms, parts, slice(start, start + _AT_ONCE)))
            await taker.until_room()


def _raw(time_ms: Floats, parts: list[Floats], part: slice) -> RawGaze:
    columns = [values[part].tolist() for values in parts]
    return RawGaze(time_ms[part].tolist(), columns, time.perf_counter())


def _parts_of(recording: Recording, directions: bool, name: str) -> list[Floats]:
    columns: Iterable[str] = GAZE if directions else ("x", "y")
    missing = [column for column in columns if column not in recording.columns]
    if missing:
        other = "px, deg or fraction" if directions else "direction"
        raise InputError(
            f"{name} has no column {missing[0]}: is its gaze in other units? Try --units {other}"
        )
    return [recording[column] for column in columns]

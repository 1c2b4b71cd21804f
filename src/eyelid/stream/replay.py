"""Recordings played again, of a file or simulated, at the speed of the clock or as fast as can be.

``file:PATH`` is whatever eyelid can read, ``simulate`` a simulated participant for those who have
no tracker at hand.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, Refused
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.simulator import SCREEN, simulate
from eyelid.gaze.study import Recording, Study
from eyelid.io.column_map import Map
from eyelid.mechanisms.streams.scene import DIRECTION
from eyelid.mechanisms.streams.study_scene import DIRECTIONS, ON_SURFACE, gaze_columns, scene_of
from eyelid.privacy.ledger import Ledger
from eyelid.stream.endpoints import AT_ITS_END, Scenery, Source, Speed, Taker
from eyelid.stream.samples import RawGaze

Floats = NDArray[np.float64]

# No more than consumers have room for while they are not crowded.
_AT_ONCE = 1024


class Replay(Source):
    """Recordings of one person, one after the other.

    Args:
        name: as the user wrote it.
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
    columns = DIRECTIONS if directions else ON_SURFACE
    missing = [column for column in columns if column not in recording.columns]
    if missing:
        other = "px, deg or fraction" if directions else "direction"
        raise InputError(
            f"{name} has no column {missing[0]}: is its gaze in other units? Try --units {other}"
        )
    return [recording[column] for column in columns]


def recorded(
    name: str,
    path: str,
    chosen: Mapping[str, str],
    speed: Speed,
    tell: Callable[[str], None],
    map: Map,
) -> Replay:
    """Everything that one person did, or one recording, from whatever eyelid can read.

    Args:
        name: of the source, as the user wrote it.
        path: of the recordings.
        chosen: which person, recording or eye.
        speed: ``real`` or ``full``.
        tell: is told what a person should know.
        map: what the columns of a file mean.
    """
    from eyelid.io.reading import read

    if not path:
        raise InputError("file: needs a path: write it as file:recording.csv")
    study = read(Path(path), map)
    if study.kind != "samples":
        raise InputError(
            f"{path} has {study.kind}, and a stream is made of gaze samples: name the "
            "recordings themselves"
        )
    recordings = _chosen(study, path, chosen)
    _refuse_beside_a_limit(study, path)
    if not study.simulated:
        tell(
            "a replay is counted here and in --budget alone, not in the ledger of its recordings: "
            "to publish them use 'eyelid release'"
        )
    return Replay(name, _scenery(study, recordings), recordings, speed)


def _refuse_beside_a_limit(study: Study, path: str) -> None:
    """Recordings whose ledger has a limit are not released past it."""
    from eyelid.io.origin import origin_so_far

    own = origin_so_far(study, path)
    if own is None or own.ledger is None:
        return
    limit = Ledger.counting(own.ledger, own.id).allowance(own.id)
    if limit is not None:
        raise Refused(
            f"{path} has a limit of ε = {limit.epsilon:g} for each person in {own.ledger}, and a "
            "replay is not counted there: publish these recordings with 'eyelid release', or lift "
            "the limit"
        )


def _chosen(study: Study, path: str, chosen: Mapping[str, str]) -> list[Recording]:
    """The recordings of one person, one eye of each."""
    recordings = list(study.recordings())
    for name, value in chosen.items():
        there = list(dict.fromkeys(getattr(r, name) for r in recordings))
        if value not in there:
            raise InputError(f"{path} has no {name} '{value}': choose from {', '.join(there)}")
        recordings = [r for r in recordings if getattr(r, name) == value]
    people = list(dict.fromkeys(r.person for r in recordings))
    if len(people) > 1:
        raise InputError(
            f"{path} holds {len(people)} people, and a stream is of one: choose with "
            f"file:{path},person={people[0]}"
        )
    eyes: dict[str, list[Recording]] = {}
    for one in recordings:
        eyes.setdefault(one.recording, []).append(one)
    return [max(alike, key=_seen) for alike in eyes.values()]


def _seen(recording: Recording) -> tuple[bool, int]:
    """Both eyes together come first, then the one that was seen longer."""
    column = recording.columns.get("x", recording.columns.get(DIRECTIONS[0], np.empty(0)))
    return recording.eye == "cyclopean", int(np.isfinite(column).sum())


def _scenery(study: Study, recordings: list[Recording]) -> Scenery:
    """Units, the screen and the rate, as far as the recording says them."""
    step_ms = usual_step_ms(np.diff(recordings[0].time_ms))
    rate_hz = study.rate_hz or (1000 / step_ms if step_ms else None)
    units = DIRECTION if gaze_columns(study) == DIRECTIONS else study.units
    return Scenery(rate_hz, units, scene_of(study) or None if units else None)


def simulated(
    name: str, rate_hz: float, minutes: float, task: str, seed: int | None, speed: Speed
) -> Replay:
    """A recording read again and again at the speed of the clock, once at full speed."""
    study = simulate(1, (task,), rate_hz, minutes, seed)
    scenery = Scenery(rate_hz, "deg", _screen_deg())
    return Replay(name, scenery, list(study.recordings()), speed, again=speed == "real")


def _screen_deg() -> str:
    """The simulator's screen, in degrees from its top left corner."""
    sizes_m = (SCREEN.width_m or 0.0, SCREEN.height_m or 0.0)
    distance_m = SCREEN.distance_m or 1.0
    width, height = (2 * math.degrees(math.atan2(s / 2, distance_m)) for s in sizes_m)
    return f"0,0,{math.ceil(width)},{math.ceil(height)}"

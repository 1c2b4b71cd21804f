"""A recording on disk as a source: ``file:PATH``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from eyelid.errors import InputError, Refused
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import Recording, Study
from eyelid.io.column_map import Map
from eyelid.mechanisms.streams.scene import DIRECTION
from eyelid.mechanisms.streams.study_scene import DIRECTIONS, gaze_columns, scene_of
from eyelid.privacy.ledger import Ledger
from eyelid.stream.address import Address
from eyelid.stream.sources.replay import GAZE, Replay
from eyelid.stream.sources.source import Scenery, Speed

OPTIONS = ("person", "recording", "eye")


def recorded(address: Address, speed: Speed, tell: Callable[[str], None], map: Map) -> Replay:
    """Everything that one person did, or one recording, from whatever eyelid can read."""
    from eyelid.io.reading import read

    if not address.place:
        raise InputError("file: needs a path: write it as file:recording.csv")
    study = read(Path(address.place), map)
    if study.kind != "samples":
        raise InputError(
            f"{address.place} has {study.kind}, and a stream is made of gaze samples: name the "
            "recordings themselves"
        )
    recordings = _chosen(study, address)
    _refuse_beside_a_limit(study, address.place)
    if not study.simulated:
        tell(
            "a replay is counted here and in --budget alone, not in the ledger of its recordings: "
            "to publish them use 'eyelid release'"
        )
    return Replay(address.text, _scenery(study, recordings), recordings, speed)


def _refuse_beside_a_limit(study: Study, place: str) -> None:
    """Recordings whose ledger has a limit are not released past it."""
    from eyelid.io.origin import origin_so_far

    own = origin_so_far(study, place)
    if own is None or own.ledger is None:
        return
    limit = Ledger.counting(own.ledger, own.id).allowance(own.id)
    if limit is not None:
        raise Refused(
            f"{place} has a limit of ε = {limit.epsilon:g} for each person in {own.ledger}, and a "
            "replay is not counted there: publish these recordings with 'eyelid release', or lift "
            "the limit"
        )


def _chosen(study: Study, address: Address) -> list[Recording]:
    """The recordings of one person, one eye of each."""
    found = list(study.recordings())
    for name, value in address.options.items():
        there = list(dict.fromkeys(getattr(r, name) for r in found))
        if value not in there:
            raise InputError(
                f"{address.place} has no {name} '{value}': choose from {', '.join(there)}"
            )
        found = [r for r in found if getattr(r, name) == value]
    people = list(dict.fromkeys(r.person for r in found))
    if len(people) > 1:
        raise InputError(
            f"{address.place} holds {len(people)} people, and a stream is of one: choose with "
            f"file:{address.place},person={people[0]}"
        )
    eyes: dict[str, list[Recording]] = {}
    for one in found:
        eyes.setdefault(one.recording, []).append(one)
    return [max(alike, key=_seen) for alike in eyes.values()]


def _seen(recording: Recording) -> tuple[bool, int]:
    """Both eyes together come first, then the one that was seen longer."""
    column = recording.columns.get("x", recording.columns.get(GAZE[0], np.empty(0)))
    return recording.eye == "cyclopean", int(np.isfinite(column).sum())


def _scenery(study: Study, recordings: list[Recording]) -> Scenery:
    """Units, the screen and the rate, as far as the recording says them."""
    step_ms = usual_step_ms(np.diff(recordings[0].time_ms))
    rate_hz = study.rate_hz or (1000 / step_ms if step_ms else None)
    units = DIRECTION if gaze_columns(study) == DIRECTIONS else study.units
    return Scenery(rate_hz, units, scene_of(study) or None if units else None)

"""A recording on disk as a source: ``file:PATH``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import Recording, Study
from eyelid.stream.address import Address
from eyelid.stream.sources.replay import GAZE, Replay
from eyelid.stream.sources.source import Scenery, Speed

OPTIONS = ("person", "recording", "eye")


def recorded(address: Address, speed: Speed, tell: Callable[[str], None]) -> Replay:
    """Everything that one person did, or one recording, from whatever eyelid can read."""
    from eyelid.io.reading import read

    if not address.place:
        raise InputError("file: needs a path: write it as file:recording.csv")
    study = read(Path(address.place))
    if study.kind != "samples":
        raise InputError(
            f"{address.place} has {study.kind}, and a stream is made of gaze samples: name the "
            "recordings themselves"
        )
    recordings = _chosen(study, address)
    if not study.simulated:
        tell(
            "a replay is counted here and in --budget alone, not in the ledger of its recordings: "
            "to publish them use 'eyelid release'"
        )
    return Replay(address.text, _scenery(study, recordings), recordings, speed)


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
    if set(GAZE) <= set(study.data.columns) and "x" not in study.data.columns:
        return Scenery(rate_hz, "direction")
    screen, scene = study.screen, None
    if study.units == "px" and screen is not None and screen.width_px and screen.height_px:
        right, up = screen.width_px, screen.height_px
        scene = f"0,0,{right},{up}"
        if study.xy_origin == "centre":
            scene = f"{-right / 2},{-up / 2},{right / 2},{up / 2}"
    return Scenery(rate_hz, study.units, scene)

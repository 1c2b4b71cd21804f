"""Two streams of the same recordings, sample beside sample.

A released stream may be slower than its original, or start later. Whoever receives it knows, at any
moment, the last sample that came: so beside each original sample stands the last released one at or
before its time. A sample is not waited for longer than an event survives a loss: 75 ms, or one and
a half samples of a slower stream. After that the gaze is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.events import gaze_of, lost_in
from eyelid.gaze.events.spans import Floats, Indices, Mask
from eyelid.gaze.events.velocity import MAX_GAP_MS
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import RECORDING_KEY, Recording, Study, check

_SLACK = 1.5


@dataclass(frozen=True, eq=False)
class Stream:
    """One recording of one eye.

    Attributes:
        recording: with x and y in the units to detect events in, degrees wherever they are known.
        units: of that x and y.
        x: as the study has it, where areas of interest are.
        y: the same.
        seen: which samples have usable gaze.
    """

    recording: Recording
    units: str
    x: Floats
    y: Floats
    seen: Mask


@dataclass(frozen=True, eq=False)
class Pair:
    """Original and release of one recording.

    Attributes:
        original: before.
        released: after.
        match: for each original sample, the released one that stands beside it.
        kept: which original samples have usable gaze beside them.
    """

    original: Stream
    released: Stream
    match: Indices
    kept: Mask


def pairs(original: Study, released: Study) -> Iterator[Pair]:
    """Each recording of the original with its release, in the order of the original."""
    _belong_together(original, released)
    original, released = check(original), check(released)
    # What the release does not say of the screen is the original's.
    released = replace(released, screen=original.screen, xy_origin=original.xy_origin)
    ours = list(_streams(original))
    theirs = {
        (s.recording.person, s.recording.recording): s
        for s in _streams(_of_the_same_eyes(released, ours))
    }
    for stream in ours:
        yield _pair(stream, theirs[stream.recording.person, stream.recording.recording])


def _belong_together(original: Study, released: Study) -> None:
    """Refuse two studies that cannot be compared."""
    for study, what in ((original, "original"), (released, "release")):
        if study.kind != "samples":
            raise InputError(
                f"streams are compared sample by sample, and the {what} is a study of {study.kind}"
            )
    for name in ("units", "xy_origin", "screen"):
        before, after = getattr(original, name), getattr(released, name)
        if after is not None and before != after:
            raise InputError(
                f"{name} of the original is {before}, of the release {after}: "
                "convert one of them first"
            )
    for study, other, where in (
        (original, released, "in the original but not in the release"),
        (released, original, "in the release but not in the original"),
    ):
        keys = (s.data.select(RECORDING_KEY).unique(maintain_order=True) for s in (study, other))
        strangers = next(keys).join(next(keys), on=RECORDING_KEY, how="anti")
        if len(strangers):
            person, recording = strangers.row(0)
            raise InputError(
                f"person {person}, recording {recording} is {where} ({len(strangers)} such "
                "recordings): compare a study with its own release"
            )


def _of_the_same_eyes(released: Study, ours: list[Stream]) -> Study:
    """The release with nothing but the eyes that were chosen in the original."""
    if "eye" not in released.data.columns or not any(s.recording.eye for s in ours):
        return released
    names = [*RECORDING_KEY, "eye"]
    chosen = [[getattr(stream.recording, name) for name in names] for stream in ours]
    eyes = pl.DataFrame(chosen, schema=names, orient="row")
    data = released.data.join(eyes, on=names, how="semi", maintain_order="left")
    absent = eyes.join(data, on=names, how="anti")
    if len(absent):
        person, recording, eye = absent.row(0)
        raise InputError(
            f"person {person}, recording {recording} has no {eye} eye in the release, and that "
            "is the one to compare: release it, or leave it out of the original"
        )
    return replace(released, data=data)


def _streams(study: Study) -> Iterator[Stream]:
    as_it_is = gaze_of(replace(study, screen=None))
    for (recording, units), (raw, _) in zip(gaze_of(study), as_it_is, strict=True):
        yield Stream(recording, units, raw["x"], raw["y"], ~lost_in(recording))


def _pair(original: Stream, released: Stream) -> Pair:
    time_ms, their_ms = original.recording.time_ms, released.recording.time_ms
    last = np.searchsorted(their_ms, time_ms, side="right") - 1
    match = np.maximum(last, 0)
    step_ms = usual_step_ms(np.diff(their_ms)) or 0.0
    near = (last >= 0) & (time_ms - their_ms[match] <= max(MAX_GAP_MS, _SLACK * step_ms))
    if not near.any():
        raise InputError(
            f"person {original.recording.person}, recording {original.recording.recording}: the "
            f"original lasts from {time_ms[0]:g} to {time_ms[-1]:g} ms, the release from "
            f"{their_ms[0]:g} to {their_ms[-1]:g} ms, which have nothing in common: "
            "do their clocks start together?"
        )
    return Pair(original, released, match, near & released.seen[match])

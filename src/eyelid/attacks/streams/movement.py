"""Two streams of the same recordings, sample beside sample.

A released stream may be slower than its original, or start later. An attacker who receives it
knows, at any moment, the last sample that came: so beside each original sample stands the last
released one at or before its time. A sample is not waited for longer than an event survives a loss:
75 ms, or one and a half samples of a slower stream. After that the gaze is lost.

How gaze moves: how fast, and whether saccades follow the main sequence as those of eyes do.
In healthy eyes the peak speed of a saccade follows its amplitude: about speed = scale ·
amplitude^exponent for all but the largest (Bahill, Clark & Stark 1975). Slow trackers see less than
the peak, which lowers the exponent of original and release alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.events import gaze_of, lost_in
from eyelid.gaze.events.spans import Floats, Indices, Mask, Spans
from eyelid.gaze.events.velocity import MAX_GAP_MS, no_gap
from eyelid.gaze.features.catalogue import MAX_SACCADE_MS, scale_of
from eyelid.gaze.features.statistics import Stretches, samples_of
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import RECORDING_KEY, Recording, Study, check

_SLACK = 1.5


# Fewer saccades, or saccades that are all alike, have no main sequence.
FEWEST_SACCADES = 10
_LEAST_SPREAD = 0.05


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


class Saccades(NamedTuple):
    """The saccades of one recording.

    Attributes:
        amplitude: from onset to offset.
        peak_per_s: the fastest step between two samples.
        duration_ms: from onset to offset.
    """

    amplitude: Floats
    peak_per_s: Floats
    duration_ms: Floats


class MainSequence(NamedTuple):
    """Fitted to the logarithms: speed = e^log_scale · amplitude^exponent."""

    log_scale: float
    exponent: float

    def log_speed(self, log_amplitude: Floats) -> Floats:
        """The logarithm of the speed to expect."""
        return self.log_scale + self.exponent * log_amplitude


def saccades_of(stream: Stream, spans: Spans) -> Saccades:
    """How far, how fast and how long each saccade was."""
    recording = stream.recording
    index, samples = samples_of(spans, stream.seen)
    same = samples.steps()
    time_ms, x, y = (v[index] for v in (recording.time_ms, recording["x"], recording["y"]))
    steps = np.hypot(np.diff(x)[same], np.diff(y)[same])
    speed_per_s = steps / np.diff(time_ms)[same] * 1000.0
    moved = (recording[axis][spans.offset] - recording[axis][spans.onset] for axis in "xy")
    return Saccades(
        np.hypot(*moved),
        Stretches(samples.owner[1:][same], samples.events).largest(speed_per_s),
        recording.time_ms[spans.offset] - recording.time_ms[spans.onset],
    )


def main_sequence(saccades: Saccades) -> MainSequence | None:
    """The law of these saccades; None for too few or too similar ones."""
    amplitude, peak = _logarithms(saccades)
    if len(amplitude) < FEWEST_SACCADES or amplitude.std() < _LEAST_SPREAD:
        return None
    centred = amplitude - amplitude.mean()
    exponent = float(centred @ peak / (centred @ centred))
    return MainSequence(float(peak.mean() - exponent * amplitude.mean()), exponent)


def main_sequence_distance(original: Saccades, released: Saccades) -> float | None:
    """Mean absolute difference of the two laws' log speeds, over the original's saccades."""
    ours, theirs = main_sequence(original), main_sequence(released)
    if ours is None or theirs is None:
        return None
    amplitude, _ = _logarithms(original)
    return float(np.mean(np.abs(ours.log_speed(amplitude) - theirs.log_speed(amplitude))))


def impossible(saccades: Saccades, units: str) -> float | None:
    """Share of saccades larger, faster or longer than those of any eye; None without any."""
    if not len(saccades.amplitude):
        return None
    scale = scale_of(units)
    beyond = (
        (saccades.amplitude > scale.max_amplitude)
        | (saccades.peak_per_s > scale.max_speed_per_s)
        | (saccades.duration_ms > MAX_SACCADE_MS)
    )
    return float(beyond.mean())


def speeds_per_s(stream: Stream) -> Floats:
    """How fast gaze moves from each seen sample to the next, without leaps over gaps."""
    index = np.flatnonzero(stream.seen)
    if len(index) < 2:
        return np.zeros(0)
    recording = stream.recording
    passed_ms = np.diff(recording.time_ms[index])
    moved = np.hypot(*(np.diff(recording[axis][index]) for axis in "xy"))
    return np.asarray(moved / passed_ms * 1000.0)[no_gap(passed_ms)]


def speed_distance_per_s(ours: Floats, theirs: Floats) -> float | None:
    """How far the speeds of one must be moved, on average, to be those of the other."""
    from scipy.stats import wasserstein_distance

    if not len(ours) or not len(theirs):
        return None
    return float(wasserstein_distance(ours, theirs))


def log_ratio_of_medians(ours: Floats, theirs: Floats) -> float | None:
    """Above zero where the other is faster; None where either mostly stands still."""
    medians = [float(np.median(speeds)) if len(speeds) else 0.0 for speeds in (ours, theirs)]
    return float(np.log(medians[1] / medians[0])) if min(medians) > 0 else None


def _logarithms(saccades: Saccades) -> tuple[Floats, Floats]:
    """Logarithms of amplitudes and peak speeds, as far as there are any."""
    moving = (saccades.amplitude > 0) & (saccades.peak_per_s > 0)
    return np.log(saccades.amplitude[moving]), np.log(saccades.peak_per_s[moving])

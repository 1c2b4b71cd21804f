"""Detectors beside people: Cohen's κ on Lund 2013, and the truth of the simulator.

How κ is taken: a kind of event at a time, yes or no for every sample, over all recordings of a kind
of stimulus together; against each of two coders, and the mean of both. Every sample that both
coders labelled counts. A sample that two events share is the saccade's. Post-saccadic oscillations
(PSOs) are what the coders say they are, neither fixation nor saccade: a detector that has no such
thing pays for them. ``without_psos`` leaves out the samples that the coder called PSO.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.streams.measures import kappa
from eyelid.gaze.events import DEFAULT_METHOD, METHODS, detect_events, events_of, gaze_of
from eyelid.gaze.events.spans import Spans, covered
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import RECORDING_KEY
from eyelid.io import read
from proofs.result import Effort, Result, progress, real_recordings

SIMULATED = ("fixation", "saccade", "blink")
KINDS = (*SIMULATED, "pso", "pursuit")
STIMULI = ("img", "video", "dots")
CODERS = ("label_ra", "label_mn")
SLOW_HZ = 300.0
RATES_HZ = {"60 Hz": 60.0, "250 Hz": 250.0, "1000 Hz": 1000.0}
# On images, by the best detector.
LEAST = {"fixation": 0.65, "saccade": 0.75}
LEAST_F1 = 0.85

Mask = NDArray[np.bool_]
Table = dict[str, dict[str, dict[str, float | None]]]
"""Detector, condition and kind of event; None where there are no such events."""


class Coded(NamedTuple):
    """One recording: what two people and every detector say about its samples."""

    stimulus: str
    rate_hz: float
    coders: tuple[NDArray[np.str_], NDArray[np.str_]]
    found: dict[str, dict[str, Mask]]


def prove(effort: Effort) -> Result:
    """Every detector at its defaults, against two coders and against the simulator's truth."""
    folder = real_recordings("lund2013")
    if isinstance(folder, Result):
        return folder
    coded = list(_coded(folder))
    people = {s: {k: _people(_of(coded, s), k) for k in KINDS} for s in STIMULI}
    detectors = {
        method: {s: {k: _detector(_of(coded, s), k, method) for k in KINDS} for s in STIMULI}
        for method in METHODS
    }
    _show("κ", KINDS, STIMULI, {"two people": people} | detectors)
    images = _of(coded, "img")
    best = detectors[DEFAULT_METHOD]["img"]
    truth: Table = {m: {rate: _f1(m, hz) for rate, hz in RATES_HZ.items()} for m in METHODS}
    _show("F1", SIMULATED, tuple(RATES_HZ), truth)
    figures = {
        "recordings": len(coded),
        "kappa_of_two_people": people,
        "kappa": detectors,
        "kappa_on_images_without_psos": {
            m: {k: _detector(images, k, m, psos=False) for k in LEAST} for m in METHODS
        },
        "kappa_on_images_at_200_hz": {
            m: {k: _detector([c for c in images if c.rate_hz < SLOW_HZ], k, m) for k in LEAST}
            for m in METHODS
        },
        "simulator_f1": truth,
    }
    passed = all((best[kind] or 0.0) >= least for kind, least in LEAST.items()) and all(
        (score or 0.0) >= LEAST_F1
        for scores in truth[DEFAULT_METHOD].values()
        for score in scores.values()
    )
    target = (
        f"{DEFAULT_METHOD} on images: fixation κ at least {LEAST['fixation']:g}, saccade κ at "
        f"least {LEAST['saccade']:g}; on the simulator every F1 at least {LEAST_F1:g}"
    )
    return Result(figures, target, passed)


def _coded(folder: Path) -> Iterator[Coded]:
    study = read(folder)
    rows = study.data.partition_by(RECORDING_KEY, as_dict=True)
    for recording, units in gaze_of(study):
        labels = rows[recording.person, recording.recording].select(CODERS)
        both = labels.select(pl.all_horizontal(pl.all().is_not_null())).to_series().to_numpy()
        first, second = (labels[name].fill_null("").to_numpy()[both] for name in CODERS)
        found = {}
        for method in METHODS:
            spans = events_of(recording, method, units)
            found[method] = {kind: mask[both] for kind, mask in _samples(spans, len(both)).items()}
        rate_hz = 1000.0 / float(np.median(np.diff(recording.time_ms)))
        yield Coded(recording.task, rate_hz, (first, second), found)


def _samples(found: dict[str, Spans], count: int) -> dict[str, Mask]:
    """Which samples are of each kind; a blink ends before the sample that is seen again."""
    masks = {
        kind: covered(spans if kind == "blink" else Spans(spans.onset, spans.offset + 1), count)
        for kind, spans in found.items()
    }
    masks["fixation"] &= ~masks["saccade"]
    return masks


def _of(coded: list[Coded], stimulus: str) -> list[Coded]:
    return [one for one in coded if one.stimulus == stimulus]


def _people(coded: list[Coded], kind: str) -> float | None:
    first, second = (np.concatenate([c.coders[i] for c in coded]) == kind for i in (0, 1))
    return kappa(first, second)


def _detector(coded: list[Coded], kind: str, method: str, psos: bool = True) -> float | None:
    """Mean κ with the two coders; None where the detector has no such events."""
    if kind not in coded[0].found[method]:
        return None
    found = np.concatenate([c.found[method][kind] for c in coded])
    scores = []
    for coder in (0, 1):
        said = np.concatenate([c.coders[coder] for c in coded])
        counts = np.ones(len(said), dtype=bool) if psos else said != "pso"
        scores.append(kappa(found[counts], said[counts] == kind))
    known = [score for score in scores if score is not None]
    return float(np.mean(known)) if known else None


def _f1(method: str, rate_hz: float) -> dict[str, float | None]:
    """How many events of simulated participants are found, and how many that are found are there.

    An event is found by one that shares more than half of the time that either takes; for a
    saccade, which may be shorter than the interval between two samples, a fifth will do.
    """
    study = simulate(people=6, tasks=("comic", "image"), rate_hz=rate_hz, minutes=1.0, seed=7)
    assert study.events is not None
    found = detect_events(study, method)
    scores: dict[str, float | None] = {}
    for kind in SIMULATED:
        overlap = 0.2 if kind == "saccade" else 0.5
        true, ours = (events.filter(name=kind) for events in (study.events, found))
        recall, precision = _matched(true, ours, overlap), _matched(ours, true, overlap)
        scores[kind] = 2 * recall * precision / max(recall + precision, 1e-9)
    return scores


def _matched(events: pl.DataFrame, others: pl.DataFrame, overlap: float) -> float:
    """Share of events that one of the others overlaps by more than this share of their union."""
    found = 0
    for key, rows in events.group_by(RECORDING_KEY):
        other = others.filter(person=key[0], recording=key[1])
        onset, offset = (rows[name].to_numpy()[:, None] for name in ("onset_ms", "offset_ms"))
        begin, end = (other[name].to_numpy()[None, :] for name in ("onset_ms", "offset_ms"))
        shared = np.minimum(offset, end) - np.maximum(onset, begin)
        union = np.maximum(offset, end) - np.minimum(onset, begin)
        found += int((shared > overlap * union).any(axis=1).sum())
    return found / max(len(events), 1)


def _show(what: str, kinds: tuple[str, ...], columns: tuple[str, ...], table: Table) -> None:
    """A table as in docs/events.md: a row a detector, a column a kind of event and a condition."""
    heads = [f"{kind}, {column}" for kind in kinds for column in columns]
    progress(f"| {what} | " + " | ".join(heads) + " |\n|---|" + "---|" * len(heads))
    for name, scores in table.items():
        cells = [scores[column].get(kind) for kind in kinds for column in columns]
        shown = ["–" if cell is None else f"{cell:.2f}" for cell in cells]
        progress(f"| {name} | " + " | ".join(shown) + " |")

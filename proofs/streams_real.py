"""Released gaze of real and simulated people over ε and w: re-identification and utility.

Every filter runs over MPIIDPEye (twenty people, 30 Hz, in an eye camera image) and over simulated
gaze (twenty people, 120 Hz, on a screen), as `eyelid release` runs it. What comes out is summarised
in windows and attacked across documents: by anyone who has raw recordings, by anyone who has the
release, and by anyone who has another release of the same people, which knows the filter's ways.
The same is done by mean places of gaze, since noise that is drawn anew averages out: it names most.
Agreement on fixations and areas is counted sample by sample.

Beside it stand what is not gaze: attackers who see time stamps alone, or which samples are lost
alone, and releases of people who all look at the middle of the scene, with their own losses and
without any. These say how much of a rate is gaze at all.

What is claimed is little: a filter hides half a second, and its certificate says so. That it hides
a person is not claimed, and is not so where people keep to places of their own: the eye camera's
image of MPIIDPEye, in which the pupil's mean place names four of five.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.identification import Finding, identify, strongest
from eyelid.attacks.protocols import POSITIVE, Material, find_protocol
from eyelid.attacks.streams import stream_measures
from eyelid.attacks.streams.features import losses, places, timing
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.mechanisms.streams.study_scene import filtered
from eyelid.privacy.noise import Randomness, randomness
from eyelid.releases.audits.matching import in_common, matched
from eyelid.releases.kinds.streams.plan import build_filter
from eyelid.releases.kinds.streams.preparation import taken_of
from proofs.result import Effort, Result, progress, real_recordings

EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
FEW_EPSILONS = (1.0, 8.0, 64.0)
SCHEDULERS = ("uniform", "sample", "bd", "ba")
_ATTACKERS = ("means", "whitened", "lda")
_PROTOCOLS = ("raw→release", "release→raw", "release→release")
_SHOWN = ("fixation_kappa", "fixation_event_f1", "aoi_kappa", "gaze_rmse")


@dataclass(frozen=True)
class People:
    """Whose gaze it is.

    Attributes:
        name: of the set.
        taken: what filters take.
        table: its features of windows, as recorded.
        window: half a second, in samples.
        radius: in units of gaze.
    """

    name: str
    taken: Study
    table: FeatureTable
    window: int
    radius: float

    @property
    def middle(self) -> tuple[float, float]:
        """Of the scene."""
        x0, y0, x1, y1 = build_filter("sample", self.taken, **self.asked(1.0)).place.plane
        return (x0 + x1) / 2, (y0 + y1) / 2

    def asked(self, epsilon: float, windows: int = 1) -> dict[str, Any]:
        """Parameters of a filter."""
        return {"epsilon": epsilon, "window": windows * self.window, "radius": self.radius}


def prove(effort: Effort) -> Result:
    """Filter, attack, compare."""
    figures: dict[str, Any] = {}
    passed = True
    for people in _people():
        cases = {name: told for name, told in _cases(people)}
        figures[people.name] = cases
        passed = passed and _as_claimed(cases)
    return Result(
        figures,
        "raw people are re-identified; by events fewer are where ε ≤ 1; nobody is where all look "
        "at one place and nothing is lost; agreement grows with ε",
        passed,
    )


def _people() -> Iterator[People]:
    made = simulate(people=20, seed=3, minutes=3, rate_hz=120.0)
    yield People("simulated_120_hz", taken_of(made), window_features(made), 60, 2.0)
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        progress(f"streams_real: {folder.skipped}")
        return
    study = read(folder)
    yield People("MPIIDPEye", taken_of(study), window_features(study), 15, 0.05)


def _as_claimed(cases: dict[str, dict[str, Any]]) -> bool:
    raw, nothing = cases["raw"], cases["control: all look at the middle, nothing lost"]
    strong = [told for told in cases.values() if told.get("epsilon", 2) <= 1]
    ends = [cases[f"kaleido, ε = {epsilon:g}, w = 1"] for epsilon in (EPSILONS[0], EPSILONS[-1])]
    return (
        raw["low"] > 2 * raw["chance"]
        # Noise is no watermark.
        and nothing["low"] <= nothing["chance"]
        and all(told["named_by_features"] < raw["named"] for told in strong)
        and ends[1]["aoi_kappa"] > ends[0]["aoi_kappa"]
        and ends[1]["gaze_rmse"] < ends[0]["gaze_rmse"]
    )


def _cases(people: People) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, told in _each(people):
        progress(json.dumps({"people": people.name, "case": name, **told}, ensure_ascii=False))
        yield name, told


def _each(people: People) -> Iterator[tuple[str, dict[str, Any]]]:
    taken = people.taken
    scene = build_filter("sample", taken, **people.asked(1.0)).place
    yield "raw", _rate(_named(Material(people.table), POSITIVE.name))
    yield "raw, by places", _rate(_named(Material(places(taken, scene)), POSITIVE.name))
    yield "control: time stamps alone", _rate(_named(Material(timing(taken)), POSITIVE.name))
    yield "control: losses alone", _rate(_named(Material(losses(taken)), POSITIVE.name))
    still = [pl.lit(place).alias(axis) for axis, place in zip("xy", people.middle, strict=True)]
    nowhere = replace(taken, data=taken.data.with_columns(still))
    gone = pl.col("x").is_null()
    own = [pl.when(~gone).then(value).alias(axis) for axis, value in zip("xy", still, strict=True)]
    blinking = replace(taken, data=taken.data.with_columns(own))
    mechanism = build_filter("kaleido", taken, **people.asked(1.0))
    yield "control: all look at the middle, own losses", _outcome(people, mechanism, blinking)
    yield "control: all look at the middle, nothing lost", _outcome(people, mechanism, nowhere)
    for windows, epsilons in ((1, EPSILONS), (4, FEW_EPSILONS)):
        for epsilon in epsilons:
            mechanism = build_filter("kaleido", taken, **people.asked(epsilon, windows))
            name = f"kaleido, ε = {epsilon:g}, w = {windows}"
            yield name, {"epsilon": epsilon} | _outcome(people, mechanism, taken)
    for scheduler in SCHEDULERS:
        for epsilon in FEW_EPSILONS:
            mechanism = build_filter(scheduler, taken, **people.asked(epsilon))
            yield (
                f"{scheduler}, ε = {epsilon:g}",
                {"epsilon": epsilon} | _outcome(people, mechanism, taken),
            )
    baselines = {
        "jitter": {"sd": people.radius},
        "pink": {"sd": people.radius},
        "temporal": {"every": people.window},
        "spatial": {"cell": 2 * people.radius},
        "kalman": {},
    }
    for name, parameters in baselines.items():
        mechanism = build_filter(name, taken, **parameters)
        yield f"{name} (no promise)", _outcome(people, mechanism, taken)


def _outcome(people: People, mechanism: StreamMechanism, gaze: Study) -> dict[str, Any]:
    """Who is re-identified in filtered gaze, and how much it is still gaze."""
    noise = randomness(np.random.default_rng([11, *mechanism.name.encode()]))
    released = filtered(mechanism, gaze, noise)

    def windows(study: Study) -> FeatureTable:
        return window_features(replace(study, released=True))

    ours, theirs, _ = in_common(people.table, windows(released))
    ours, theirs = matched(ours, theirs)

    def again(table: FeatureTable) -> FeatureTable:
        return replace(windows(filtered(mechanism, gaze, noise)), features=ours.features)

    found = _named(Material(ours, theirs, again), *_PROTOCOLS)
    found += _by_places(mechanism, gaze, released, noise)
    measures = stream_measures(people.taken, released).measures
    kept = {name: measures[name] for name in _SHOWN}
    return _rate(found) | {
        name: None if value is None else round(value.value, 3) for name, value in kept.items()
    }


def _by_places(
    mechanism: StreamMechanism, gaze: Study, released: Study, noise: Randomness
) -> list[Finding]:
    """By where people look on average: noise that is drawn anew averages out."""
    original = places(gaze, mechanism.place)

    def again(table: FeatureTable) -> FeatureTable:
        return replace(
            places(filtered(mechanism, gaze, noise), mechanism.place), features=original.features
        )

    theirs = places(replace(released, released=True), mechanism.place)
    found = _named(Material(original, theirs, again), *_PROTOCOLS)
    return [replace(finding, attacker=f"{finding.attacker} of places") for finding in found]


def _named(material: Material, *protocols: str) -> list[Finding]:
    how = [POSITIVE if name == POSITIVE.name else find_protocol(name) for name in protocols]
    return identify(material, find_attackers(_ATTACKERS), how)


def _rate(found: list[Finding]) -> dict[str, Any]:
    """The strongest of all, with limits over people."""
    best = strongest(found)
    events = [finding for finding in found if "places" not in finding.attacker]
    return {
        "named": round(best.rate.rate, 3),
        "low": round(best.rate.low, 3),
        "high": round(best.rate.high, 3),
        "chance": best.rate.chance,
        "by": f"{best.attacker}, {best.protocol}",
        "named_by_features": round(strongest(events).rate.rate, 3),
    }

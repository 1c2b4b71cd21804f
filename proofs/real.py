"""Real people reading (MPIIDPEye): recognised in raw features, not in a release that holds."""

from __future__ import annotations

from typing import Any

from eyelid.audits.identification import identify, recognise_task, strongest
from eyelid.gaze.features import window_features
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.releases.release import release
from proofs.result import Effort, Result, progress, real_recordings

PEOPLE = [f"P{number}" for number in range(1, 21)]
CHANCE = 1 / len(PEOPLE)
LEAST_DOCUMENT = 0.85


def prove(effort: Effort) -> Result:
    """A positive control, a release for the person, and one for the weakest unit there is."""
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        return folder
    raw = window_features(read(folder))
    control = _attacked(raw, raw)
    progress(f"real: raw: {control}")
    strong = _released(raw, "person", 1.0)
    progress(f"real: person: {strong}")
    weak = _released(raw, "record", 256.0)
    progress(f"real: record: {weak}")
    passed = (
        control["person_low"] > CHANCE
        and control["document"] >= LEAST_DOCUMENT
        and strong["person_low"] <= min(CHANCE, strong["bound"])
        and strong["holds"]
        and strong["person_epsilon"] == 1.0
        and weak["person_low"] > CHANCE
    )
    target = (
        f"raw: lower limit above chance, document at least {LEAST_DOCUMENT:g}; "
        "laplace for the person at ε = 1: lower limit not above chance, nor above the "
        "certificate's bound; laplace for a record at ε = 256: still recognised"
    )
    return Result({"raw": control, "person": strong, "record": weak}, target, passed)


def _released(raw: FeatureTable, unit: str, epsilon: float) -> dict[str, Any]:
    done = release(raw, mechanism="laplace", epsilon=epsilon, unit=unit)
    certificate = done.certificate
    return _attacked(raw, done.table) | {
        "holds": certificate.person_level.holds,
        "person_epsilon": certificate.person_level.epsilon,
        "bound": certificate.rank1_bound["raw_to_release"],
    }


def _attacked(raw: FeatureTable, shown: FeatureTable) -> dict[str, Any]:
    rates = identify(raw, shown)
    worst = strongest(rates)
    return {
        "forest": rates["forest"].rate,
        "means": rates["means"].rate,
        "person": worst.rate,
        "person_low": worst.low,
        "person_high": worst.high,
        "document": recognise_task(raw, shown).rate,
    }

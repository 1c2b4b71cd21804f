"""Real people reading (MPIIDPEye): recognised in raw features, not in a release that holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.audits.identification import identify, recognise_task, strongest
from eyelid.gaze.table import FeatureTable
from eyelid.gaze.windows import window_features
from eyelid.io import read
from eyelid.releases.release import release
from proofs.result import Effort, Result, progress, skip

PEOPLE = [f"P{number}" for number in range(1, 21)]
CHANCE = 1 / len(PEOPLE)
# Known from other software on these recordings: trained on two documents, tested on the textbook.
LEAST_TEXTBOOK, LEAST_DOCUMENT = 0.65, 0.85
_TREES, _EVERY = 100, 4


def prove(effort: Effort) -> Result:
    """A positive control, a release for the person, and one for the weakest unit there is."""
    data = os.environ.get("EYELID_DATA")
    if not data:
        return skip("needs real recordings: set EYELID_DATA to their folder")
    folder = Path(data) / "MPIIDPEye"
    if not folder.is_dir():
        return skip("MPIIDPEye is not in EYELID_DATA")
    raw = window_features(read(folder))
    control = _attacked(raw, raw) | {"textbook_forest": textbook_rank1(raw)}
    progress(f"real: raw: {control}")
    strong = _released(raw, "person", 1.0)
    progress(f"real: person: {strong}")
    weak = _released(raw, "record", 256.0)
    progress(f"real: record: {weak}")
    passed = (
        control["textbook_forest"] >= LEAST_TEXTBOOK
        and control["person_low"] > CHANCE
        and control["document"] >= LEAST_DOCUMENT
        and strong["person_low"] <= min(CHANCE, strong["bound"])
        and strong["holds"]
        and strong["person_epsilon"] == 1.0
        and weak["person_low"] > CHANCE
    )
    target = (
        f"raw: lower limit above chance, by the textbook at least {LEAST_TEXTBOOK:g}, document at "
        f"least {LEAST_DOCUMENT:g}; "
        "laplace for the person at ε = 1: lower limit not above chance, nor above the "
        "certificate's bound; laplace for a record at ε = 256: still recognised"
    )
    return Result({"raw": control, "person": strong, "record": weak}, target, passed)


def textbook_rank1(raw: FeatureTable) -> float:
    """The protocol of the published reference: how many people are known by their textbook."""
    from sklearn.ensemble import RandomForestClassifier

    known = raw.data.filter(pl.col("task") != "textbook").gather_every(_EVERY)
    shown = raw.data.filter(pl.col("task") == "textbook").gather_every(_EVERY)
    forest = RandomForestClassifier(_TREES, min_samples_leaf=2, random_state=0)
    forest.fit(known.select(raw.names).to_numpy(), known["person"].to_numpy())
    scores = forest.predict_proba(shown.select(raw.names).to_numpy())
    owner = shown["person"].to_numpy()
    named = [forest.classes_[scores[owner == p].mean(axis=0).argmax()] == p for p in PEOPLE]
    return sum(named) / len(PEOPLE)


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

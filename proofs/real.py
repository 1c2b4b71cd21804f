"""Real people reading (MPIIDPEye): recognised raw, not recognised in a release that holds.

Through `eyelid.audit`, with every attacker and protocol: a release for the person at ε = 0.1, and
one for the weakest unit there is, which averages away.
"""

from __future__ import annotations

from typing import Any

from eyelid.attacks.identification import strongest
from eyelid.gaze.features import window_features
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.releases.audits.audit import audit
from eyelid.releases.release import release
from proofs.result import Effort, Result, progress, real_recordings

LEAST_PERSON, LEAST_DOCUMENT = 0.65, 0.85


def prove(effort: Effort) -> Result:
    """A positive control, a release for the person, and one for the weakest unit there is."""
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        return folder
    raw = window_features(read(folder))
    strong = _audited(raw, "person", 0.1)
    progress(f"real: person: {strong}")
    weak = _audited(raw, "record", 256.0)
    progress(f"real: record: {weak}")
    passed = (
        strong["raw"] >= LEAST_PERSON
        and strong["document_raw"] >= LEAST_DOCUMENT
        and strong["low"] <= strong["chance"]
        and strong["null_low"] <= strong["chance"]
        and not strong["refuted"]
        and weak["low"] > weak["chance"]
        and not weak["refuted"]
    )
    target = (
        f"raw: at least {LEAST_PERSON:g} across documents, document at least {LEAST_DOCUMENT:g}; "
        "laplace for the person at ε = 0.1: at chance; laplace for a record at ε = 256: still "
        "recognised; neither certificate refuted"
    )
    return Result({"person": strong, "record": weak}, target, passed)


def _audited(raw: FeatureTable, unit: str, epsilon: float) -> dict[str, Any]:
    done = audit(raw, release(raw, mechanism="laplace", epsilon=epsilon, unit=unit))
    worst, control = strongest(done.honest), strongest(done.positive)
    document = [use for use in done.utility if use.target == "task"]
    best = max(document, key=lambda use: use.raw.rate)
    return {
        "raw": control.rate.rate,
        "raw_by": control.attacker,
        "attacker": f"{worst.attacker} ({worst.protocol})",
        "rate": worst.rate.rate,
        "low": worst.rate.low,
        "high": worst.rate.high,
        "chance": worst.rate.chance,
        "bound": done.target.bounds()["raw_to_release"],
        "null": strongest(done.null).rate.rate,
        "null_low": strongest(done.null).rate.low,
        "refuted": done.refuted,
        "document_raw": best.raw.rate,
        "document": best.rate.rate if best.rate else None,
        "verdict": done.verdict,
    }

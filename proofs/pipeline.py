"""The arithmetic of people through the command line, from simulated samples to the budget."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proofs.command import answer, run
from proofs.result import Effort, Result

RECORDINGS = 3


def prove(effort: Effort) -> Result:
    """Three recordings: a recording's ε counts three times; what is broken says so."""
    with tempfile.TemporaryDirectory(prefix="eyelid-pipeline-") as home:
        figures = _totals(Path(home)) | _broken(Path(home)) | _derived(Path(home))
    wanted = {
        "recording_1": 3.0,
        "person_1": 1.0,
        "seed_holds": False,
        "seed_reasons": 1,
        "seed_bounded": False,
        "bounds_data_holds": False,
        "bounds_data_reasons": 1,
        "bounds_data_bounded": False,
        "derived_sum_from_study": 3.0,
        "derived_sum_from_features": 3.0,
        "derived_releases": 2,
        "derived_in_certificate": 3.0,
    }
    wrong = [name for name, value in wanted.items() if figures[name] != value]
    target = "totals exact, broken promises named, releases of derived studies added up"
    return Result(figures | {"wrong": wrong}, target, not wrong)


def _study(path: Path) -> Path:
    done = run("simulate", path, "--people", "4", "--minutes", "1", "--seed", "1")
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return path


def _released(study: Path, out: str, epsilon: str, *more: str) -> dict[str, Any]:
    options = ["--mechanism", "laplace", "--epsilon", epsilon, *more]
    return answer("release", study, study.with_name(out), *options)


def _totals(home: Path) -> dict[str, Any]:
    study = _study(home / "totals")
    return {
        f"{unit}_1": _released(study, f"totals-{unit}", "1", "--unit", unit)["person_level"][
            "epsilon"
        ]
        for unit in ("recording", "person")
    }


def _broken(home: Path) -> dict[str, Any]:
    """Each on people of its own: one broken release would hide the other."""
    figures: dict[str, Any] = {}
    ways: dict[str, Sequence[str]] = {"seed": ("--seed", "7"), "bounds_data": ("--bounds", "data")}
    for name, options in ways.items():
        study = _study(home / name)
        certificate = _released(study, f"{name}-out", "1", *options)
        spent = answer("budget", study)["spent"]
        holds = certificate["guarantee"]["holds"] or certificate["person_level"]["holds"]
        figures[f"{name}_holds"] = holds
        figures[f"{name}_reasons"] = len(certificate["guarantee"]["reasons"])
        figures[f"{name}_bounded"] = spent["bounded"]
    return figures


def _derived(home: Path) -> dict[str, Any]:
    """One release from the samples, one from features made of them: the same people."""
    study, features = _study(home / "derived"), home / "derived-features"
    done = run("features", study, features)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    _released(study, "derived-one", "1")
    certificate = _released(features, "derived-two", "2")
    from_study, from_features = answer("budget", study), answer("budget", features)
    return {
        "derived_sum_from_study": from_study["spent"]["epsilon"],
        "derived_sum_from_features": from_features["spent"]["epsilon"],
        "derived_releases": from_study["releases"],
        "derived_in_certificate": certificate["ledger_total"]["epsilon"],
    }

"""Raw gaze, attacked sample by sample: real and simulated people, and the same under wrong names.

Twenty real people who read three documents (MPIIDPEye), each document recognised from the two
others; and twenty simulated people with a stable calibration offset of 0.8°. Reported are random
convolutions of how gaze moves, the calibration offset, features of windows, and all of them fused,
each with the people re-identified in every document and limits over people. All attackers know what
is usual in a document, without names. Settings of the attackers are the same everywhere. Those of
the fusion and of the offset were chosen on simulated people; that convolutions go by what is usual,
and the weight of their ridge, were seen on MPIIDPEye: its figures are somewhat optimistic.

The control: names of recordings are drawn anew within each document. Nobody can then be recognised,
and whoever is was recognised by something that leaked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.identification import Finding
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.attacks.samples.evidence import FUSED, Gaze, parts_of, sample_findings
from eyelid.attacks.samples.offset import NAME as OFFSET
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study
from eyelid.io import read
from proofs.result import Effort, Result, progress, real_recordings

LEAST_REAL, LEAST_SIMULATED = 0.85, 0.79
OFFSET_DEG = 0.8
SEEDS = 3


def prove(effort: Effort) -> Result:
    """Real people where there are any, simulated ones, and both under wrong names."""
    figures: dict[str, Any] = {}
    simulated = []
    for seed in range(min(SEEDS, effort.seeds)):
        study = simulate(people=20, minutes=3.0, seed=seed, offset_deg=OFFSET_DEG)
        figures[f"simulated, seed {seed}"] = found = attacked(study)
        simulated.append(max(found[name]["rate"] for name in (FUSED, OFFSET)))
        progress(f"samples_attack: simulated, seed {seed}: {found}")
    figures["simulated, wrong names"] = wrong = attacked(under_wrong_names(study))
    passed = sum(simulated) / len(simulated) >= LEAST_SIMULATED and _at_chance(wrong)
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        progress(f"samples_attack: {folder.skipped}")
    else:
        study = read(folder)
        figures["MPIIDPEye"] = real = attacked(study)
        progress(f"samples_attack: MPIIDPEye: {real}")
        figures["MPIIDPEye, wrong names"] = wrong = attacked(under_wrong_names(study))
        passed = passed and real[FUSED]["rate"] >= LEAST_REAL and _at_chance(wrong)
    target = (
        f"fused at least {LEAST_REAL:g} on MPIIDPEye, averaged over documents; fused or offset at "
        f"least {LEAST_SIMULATED:g} on simulated people off by {OFFSET_DEG:g}°; under wrong names "
        "guessing"
    )
    return Result(figures, target, passed)


def attacked(study: Study) -> dict[str, dict[str, Any]]:
    """Who is re-identified in a raw study, by every part and by all of them."""
    parts, missing = parts_of(Gaze(study), Material(window_features(study)))
    if missing:
        raise ValueError(missing[0])
    told = [replace(part, alone=True) for part in parts]
    tasks = [split.name for split in parts[0].material.splits(POSITIVE)]
    return {one.attacker: _figures(one, tasks) for one in sample_findings(told, [POSITIVE])}


def under_wrong_names(study: Study) -> Study:
    """Each recording under a name drawn anew within its task."""
    rng = np.random.default_rng(5)
    recordings = study.data.select("person", "recording", "task").unique(maintain_order=True)
    drawn = []
    for task in recordings["task"].unique().sort():
        those = recordings.filter(task=task)
        names = pl.Series("drawn", rng.permutation(those["person"].to_list()))
        drawn.append(those.with_columns(names))
    data = study.data.join(pl.concat(drawn), on=["person", "recording", "task"], how="left")
    data = data.with_columns(pl.col("drawn").alias("person")).drop("drawn")
    return replace(study, data=data.sort("person", "recording", "time_ms"), events=None)


def _figures(finding: Finding, tasks: list[str]) -> dict[str, Any]:
    return {
        "rate": round(finding.rate.rate, 3),
        "low": round(finding.rate.low, 3),
        "high": round(finding.rate.high, 3),
        "chance": round(finding.rate.chance, 3),
        "eer": round(finding.eer, 3),
        **{
            task: f"{right} of {people}"
            for task, (right, people) in zip(tasks, finding.right, strict=True)
        },
    }


def _at_chance(found: dict[str, dict[str, Any]]) -> bool:
    """Whether the limits of every attacker reach down to guessing."""
    return all(one["low"] <= one["chance"] for one in found.values())

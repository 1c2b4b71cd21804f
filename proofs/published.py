"""The shapes of the published figures of Bozkir et al. 2021, on the people they are about.

As printed, noise goes to the first k Fourier coefficients, the mean's included. |NMSE| then falls
as 1/ε for every mechanism that drowns its signals; the published FPA and CFPA fall as 1/ε². Where
the mean gets no noise all published shapes come out, so both readings are computed and told apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from eyelid.attacks.temporal import temporal_correlations
from eyelid.gaze.features import window_features
from eyelid.io import read
from eyelid.papers.bozkir2021.experiment import paper_features, utility_experiment
from proofs.result import Effort, Result, progress, real_recordings

RUNS = 10
SLOPES = {"LPA": -1.0, "FPA": -2.0, "CFPA": -2.0, "DCFPA": -1.0}
ROOM = 0.3
# The paper's figure 3; rows further apart than a window share no gaze.
FEATURE, FARTHEST = "large_saccade_ratio", 60


def prove(effort: Effort) -> Result:
    """Slopes of the published file and of both readings, the crossing, the correlations."""
    folder = real_recordings("MPIIDPEye")
    if isinstance(folder, Result):
        return folder
    paper = real_recordings("bozkir2021")
    if isinstance(paper, Result):
        return paper
    table = window_features(read(folder))
    published = pl.read_csv(paper / "nmse.csv").filter(pl.col("dataset") == "MPIIDPEye")
    figures: dict[str, Any] = {"published": _published(published)}
    for reading, noisy_mean in (("mean_without_noise", False), ("by_protocol", True)):
        found = utility_experiment(paper_features(table), runs=RUNS, noisy_mean=noisy_mean)
        figures[reading] = {"slopes": _slopes(found), "crossing": _crossing(found)}
        progress(f"published: {reading}: {figures[reading]}")
    figures["correlation"] = correlation = _correlation(table)
    kept = figures["mean_without_noise"]
    passed = (
        all(_near(figures["published"]["slopes"][name], SLOPES[name]) for name in SLOPES)
        and all(_near(kept["slopes"][name], SLOPES[name]) for name in SLOPES)
        and all(_near(figures["by_protocol"]["slopes"][name], -1.0) for name in SLOPES)
        and all(task["smallest"] > 1 > task["largest"] for task in kept["crossing"].values())
        and all(each["difference"] < each["raw"] for each in correlation.values())
    )
    target = (
        "slopes of |NMSE| over ε: CFPA about -2, DCFPA about -1, as published, where the mean gets "
        "no noise, and -1 for all as printed; DCFPA-32 more useful than CFPA-32 at the smallest ε "
        "and less at the largest; differences less correlated than raw signals"
    )
    return Result(figures, target, passed)


def _published(frame: pl.DataFrame) -> dict[str, Any]:
    long = frame.unpivot(
        ["NMSE_R1", "NMSE_R2", "NMSE_R3"],
        index=["mechanism", "chunk", "epsilon"],
        variable_name="task",
        value_name="nmse",
    ).rename({"epsilon": "epsilon_per_feature"})
    return {"slopes": _slopes(long), "worse_at_largest": _worse_at_largest(long)}


def _worse_at_largest(frame: pl.DataFrame) -> list[str]:
    """Tasks in which the mean |NMSE| of DCFPA-32 exceeds that of CFPA-32 at the largest ε."""
    largest = frame.filter(
        pl.col("epsilon_per_feature") == frame["epsilon_per_feature"].max(), pl.col("chunk") == 32
    ).pivot("mechanism", index="task", values="nmse")
    return largest.filter(pl.col("DCFPA") > pl.col("CFPA"))["task"].to_list()


def _slopes(frame: pl.DataFrame) -> dict[str, float]:
    """Of log mean |NMSE| over log ε: the median over tasks and chunk lengths."""
    curves = frame.group_by("mechanism", "chunk", "task", "epsilon_per_feature").agg(
        pl.col("nmse").mean()
    )
    found: dict[str, list[float]] = {}
    for (name, *_), curve in curves.group_by("mechanism", "chunk", "task"):
        logs = curve.select(pl.col("epsilon_per_feature", "nmse").log()).to_numpy()
        found.setdefault(str(name), []).append(float(np.polyfit(*logs.T, 1)[0]))
    return {name: float(np.median(found[name])) for name in SLOPES}


def _crossing(frame: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Utility of DCFPA-32 over that of CFPA-32, per task, at the smallest and the largest ε."""
    utility = (
        frame.filter(pl.col("chunk") == 32)
        .group_by("task", "epsilon_per_feature", "mechanism", maintain_order=True)
        .agg(pl.col("utility").mean())
        .pivot("mechanism", index=["task", "epsilon_per_feature"], values="utility")
        .with_columns(ratio=pl.col("DCFPA") / pl.col("CFPA"))
        .sort("task", "epsilon_per_feature")
    )
    return {
        str(task): {"smallest": rows["ratio"][0], "largest": rows["ratio"][-1]}
        for (task,), rows in utility.group_by("task", maintain_order=True)
    }


def _correlation(table: Any) -> dict[str, dict[str, float]]:
    """Mean |correlation| with the fifth row, of one feature and of all, within a window's reach."""
    found = temporal_correlations(table, longest_delta_t=FARTHEST)
    size = found.with_columns(pl.col("raw", "difference").abs())
    parts = {FEATURE: size.filter(pl.col("feature") == FEATURE), "all": size}
    return {
        f"{task}, {name}": {"raw": each["raw"].mean(), "difference": each["difference"].mean()}
        for name, part in parts.items()
        for (task,), each in part.group_by("task", maintain_order=True)
    }


def _near(slope: float, wanted: float) -> bool:
    return abs(slope - wanted) < ROOM

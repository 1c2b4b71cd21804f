"""What is seen of people without any gaze: when samples were taken, and which were lost.

Filters release both as they are. Whoever is recognised by these is not hidden by any filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.identification import Finding, identify
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable

TIME_STAMPS, LOSSES = "time stamps alone", "lost samples alone"

_WINDOW_MS = 10_000.0
_LONGEST_STEP_MS = 1_000.0
_DIGITS = 6
_STEPS = ("step_mean", "step_median", "step_spread", "step_longest")
_LOSSES = ("lost", "losses_begun")


def without_gaze(study: Study, attackers: Sequence[Attacker], seed: int = 0) -> list[Finding]:
    """Who is named across recordings by time stamps alone, and by losses alone.

    Time stamps are released: that is an attack on the release. What it shows of losses is less than
    what is known here: that is the most they could give away.

    Args:
        study: what a filter took.
        attackers: who names people.
        seed: of their choices.
    """
    found: list[Finding] = []
    for name, table in ((TIME_STAMPS, timing(study)), (LOSSES, losses(study))):
        try:
            tried = identify(Material(table), attackers, [POSITIVE], seed)
        except InputError:
            # Recordings that cannot be parted: nothing can be known beforehand and something shown.
            continue
        found += [replace(finding, protocol=name) for finding in tried]
    return found


def timing(study: Study) -> FeatureTable:
    """How samples follow each other, in windows of 10 s.

    Args:
        study: of samples, one eye a recording.
    """
    step = pl.col("time_ms").diff().over("person", "recording").clip(0, _LONGEST_STEP_MS)
    figures = [
        pl.col("step").mean().alias("step_mean"),
        pl.col("step").median().alias("step_median"),
        pl.col("step").std().alias("step_spread"),
        pl.col("step").max().alias("step_longest"),
    ]
    features = [
        Feature(n, "ms", "time from sample to sample", 0.0, _LONGEST_STEP_MS) for n in _STEPS
    ]
    return _in_windows(study, study.data.with_columns(step.alias("step")), figures, features)


def losses(study: Study) -> FeatureTable:
    """How many samples are lost, and how often a loss begins, in windows of 10 s.

    Args:
        study: of samples, one eye a recording, null where gaze was lost.
    """
    gaze = "x" if "x" in study.data.columns else "gaze_x"
    lost = pl.col(gaze).is_null().cast(pl.Float64).alias("gone")
    begun = (pl.col("gone").diff().over("person", "recording") > 0).cast(pl.Float64)
    data = study.data.with_columns(lost).with_columns(begun.alias("begun"))
    figures = [pl.col("gone").mean().alias("lost"), pl.col("begun").mean().alias("losses_begun")]
    features = [Feature(name, "1", "share of samples", 0.0, 1.0) for name in _LOSSES]
    return _in_windows(study, data, figures, features)


def _in_windows(
    study: Study, data: pl.DataFrame, figures: list[pl.Expr], features: list[Feature]
) -> FeatureTable:
    """Figures of windows, one after the other; what is not defined is 0."""
    keys = [c for c in ("person", "recording", "task", "stimulus") if c in data.columns]
    window = (pl.col("time_ms") // _WINDOW_MS) * _WINDOW_MS
    rows = data.group_by(*keys, window, maintain_order=True).agg(figures)
    names = [feature.name for feature in features]
    # Rounded, or the last digits of regular steps would tell how late in a recording they are.
    figure = pl.col(names).fill_null(0.0).fill_nan(0.0).round(_DIGITS)
    rows = rows.select(*keys, "time_ms", figure)
    return FeatureTable.of(
        Study(
            "features",
            rows,
            study.people,
            features=tuple(features),
            step_ms=_WINDOW_MS,
            window_ms=_WINDOW_MS,
        )
    )

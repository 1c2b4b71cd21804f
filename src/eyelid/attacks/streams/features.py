"""Features by which people are re-identified in gaze samples, and without any gaze at all.

Noise that is drawn anew averages out over a window, and events found in it are the noise's own. So
an attack on filtered gaze should look at places first: where a person looks on average, and how
far around it. When samples were taken, and which were lost, filters release as they are: an
attacker who is recognised by these is not hidden by any filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.identification import Finding, identify
from eyelid.attacks.protocols import POSITIVE, Material
from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.streams.scene import Scene

TIME_STAMPS, LOSSES = "time stamps alone", "lost samples alone"
MOVED = {"head": "head movement alone", "hand": "hand movement alone"}
"""What else moves, by how its columns begin."""

# Places are averaged over long windows; what is no gaze over shorter ones.
_LONG_MS, _SHORT_MS = 30_000.0, 10_000.0
_LONGEST_STEP_MS = 1_000.0
# Rounded, or the last digits of regular steps would tell how late in a recording they are.
_DIGITS = 6


def without_gaze(study: Study, attackers: Sequence[Attacker], seed: int = 0) -> list[Finding]:
    """Who is re-identified across recordings by time stamps, losses and head movement alone.

    Head and hand are attacked where there are such columns. Time stamps are released: that is an
    attack on the release. What it shows of losses is less than what is known here: that is the most
    they could give away.

    Args:
        study: what a filter took.
        attackers: who re-identifies people.
        seed: of their choices.
    """
    found: list[Finding] = []
    tables = [(TIME_STAMPS, timing(study)), (LOSSES, losses(study))]
    moving = {part: moving_columns(study, part) for part in MOVED}
    tables += [(MOVED[part], movement(study, names)) for part, names in moving.items() if names]
    for name, table in tables:
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
    column = pl.col("step")
    figures = {
        "step_mean": column.mean(),
        "step_median": column.median(),
        "step_spread": column.std(),
        "step_longest": column.max(),
    }
    features = [
        Feature(name, "ms", "time from sample to sample", 0.0, _LONGEST_STEP_MS) for name in figures
    ]
    rounded = [figure.round(_DIGITS) for figure in figures.values()]
    data = study.data.with_columns(step.alias("step"))
    return _in_windows(study, data, rounded, features, _SHORT_MS)


def losses(study: Study) -> FeatureTable:
    """How many samples are lost, and how often a loss begins, in windows of 10 s.

    Args:
        study: of samples, one eye a recording, null where gaze was lost.
    """
    gaze = "x" if "x" in study.data.columns else "gaze_x"
    lost = pl.col(gaze).is_null().cast(pl.Float64).alias("gone")
    begun = (pl.col("gone").diff().over("person", "recording") > 0).cast(pl.Float64)
    data = study.data.with_columns(lost).with_columns(begun.alias("begun"))
    figures = [pl.col(name).mean().round(_DIGITS) for name in ("gone", "begun")]
    names = ("lost", "losses_begun")
    features = [Feature(name, "1", "share of samples", 0.0, 1.0) for name in names]
    return _in_windows(study, data, figures, features, _SHORT_MS)


def moving_columns(study: Study, part: str) -> list[str]:
    """The columns that say how a part of the body is held.

    Args:
        study: of samples.
        part: ``head`` or ``hand``.
    """
    numbers = study.data.select(pl.selectors.numeric()).columns
    return [name for name in numbers if name.startswith(f"{part}_")]


def movement(study: Study, names: Sequence[str]) -> FeatureTable:
    """How a part of the body is held and moved, in windows of 10 s.

    Args:
        study: of samples, one eye a recording.
        names: of its columns.
    """
    keys = ["person", "recording"]
    steps = [pl.col(name).diff().abs().over(keys).alias(f"{name}_step") for name in names]
    data = study.data.with_columns(pl.col(names).fill_nan(None)).with_columns(steps)
    features, figures = [], []
    for name in names:
        least, most = data[name].min(), data[name].max()
        low, high = float(least or 0.0), float(most or 0.0)  # type: ignore[arg-type]
        width = (high - low) or 1.0
        features += [
            Feature(f"{name}_mean", "", "mean", low, low + width),
            Feature(f"{name}_spread", "", "standard deviation", 0.0, width),
            Feature(f"{name}_step", "", "mean step from sample to sample", 0.0, width),
        ]
        figures += [pl.col(name).mean(), pl.col(name).std(), pl.col(f"{name}_step").mean()]
    return _in_windows(study, data, figures, features, _SHORT_MS)


def places(study: Study, scene: Scene) -> FeatureTable:
    """Mean and spread of gaze in the plane of a scene, in windows of 30 s; 0 where nothing is seen.

    Args:
        study: of samples, one eye a recording.
        scene: that everybody could look at, whose corners are the bounds.
    """
    x0, y0, x1, y1 = scene.plane
    columns = ("gaze_x", "gaze_y", "gaze_z") if scene.directions else ("x", "y")
    gaze = [study.data[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in columns]
    x, y = scene.to_plane(*gaze)
    data = study.data.with_columns(
        pl.Series("across", x).fill_nan(None), pl.Series("up", y).fill_nan(None)
    )
    across, up, units = pl.col("across"), pl.col("up"), scene.spoken_units
    features = [
        Feature("x_mean", units, "mean place across", x0, x1),
        Feature("y_mean", units, "mean place up or down", y0, y1),
        Feature("x_spread", units, "standard deviation across", 0.0, x1 - x0),
        Feature("y_spread", units, "standard deviation up or down", 0.0, y1 - y0),
        Feature("correlation", "1", "of both", -1.0, 1.0),
    ]
    figures = [across.mean(), up.mean(), across.std(), up.std(), pl.corr("across", "up")]
    return _in_windows(study, data, figures, features, _LONG_MS)


def _in_windows(
    study: Study,
    data: pl.DataFrame,
    figures: Sequence[pl.Expr],
    features: Sequence[Feature],
    window_ms: float,
) -> FeatureTable:
    """Figures of windows, one after the other, as features; what is not defined is 0."""
    keys = [name for name in ("person", "recording", "task", "stimulus") if name in data.columns]
    window = (pl.col("time_ms") // window_ms) * window_ms
    named = [
        figure.fill_null(0.0).fill_nan(0.0).alias(feature.name)
        for figure, feature in zip(figures, features, strict=True)
    ]
    return FeatureTable.of(
        Study(
            "features",
            data.group_by(*keys, window, maintain_order=True).agg(named),
            study.people,
            features=tuple(features),
            step_ms=window_ms,
            window_ms=window_ms,
            released=study.released,
        )
    )

"""Where somebody looks on average, and how far around it: what noise on samples hides least.

Noise that is drawn anew averages out over a window, and events found in it are the noise's own. So
whoever attacks filtered gaze should look at places first.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.streams.scene import Scene

_WINDOW_MS = 30_000.0


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
    keys = ["person", "recording", "task", "stimulus"]
    window = (pl.col("time_ms") // _WINDOW_MS) * _WINDOW_MS
    rows = data.group_by(*keys, window, maintain_order=True).agg(
        pl.col("across").mean().alias("x_mean"),
        pl.col("up").mean().alias("y_mean"),
        pl.col("across").std().alias("x_spread"),
        pl.col("up").std().alias("y_spread"),
        pl.corr("across", "up").alias("correlation"),
    )
    units = scene.spoken_units
    features = (
        Feature("x_mean", units, "mean place across", x0, x1),
        Feature("y_mean", units, "mean place up or down", y0, y1),
        Feature("x_spread", units, "standard deviation across", 0.0, x1 - x0),
        Feature("y_spread", units, "standard deviation up or down", 0.0, y1 - y0),
        Feature("correlation", "1", "of both", -1.0, 1.0),
    )
    names = [feature.name for feature in features]
    told = rows.select(*keys, "time_ms", pl.col(names).fill_null(0.0).fill_nan(0.0))
    return FeatureTable.of(
        Study(
            "features",
            told,
            study.people,
            features=features,
            step_ms=_WINDOW_MS,
            window_ms=_WINDOW_MS,
            released=study.released,
        )
    )

"""From values of recordings to a table: keys before them, bounds around them, null for NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from eyelid.gaze.events.spans import Floats
from eyelid.gaze.study import INDEX_COLUMNS, Feature, Recording, Study
from eyelid.gaze.table import FeatureTable


def rows_of(
    study: Study,
    recording: Recording,
    time_ms: Floats,
    features: Sequence[Feature],
    values: Mapping[str, Floats],
) -> pl.DataFrame:
    """The rows of one recording, cut off at the public bounds."""
    keys = {
        name: pl.repeat(getattr(recording, name), len(time_ms), eager=True)
        for name in INDEX_COLUMNS[:-1]
        if name in study.data.columns
    }
    columns = {
        f.name: pl.Series(np.clip(values[f.name], f.lower, f.upper)).fill_nan(None)
        for f in features
    }
    return pl.DataFrame(keys | {"time_ms": time_ms} | columns)


def table_of(
    study: Study,
    frames: Sequence[pl.DataFrame],
    features: Sequence[Feature],
    step_ms: float | None = None,
    window_ms: float | None = None,
) -> FeatureTable:
    """The rows of all recordings as a table of the same people."""
    return FeatureTable(
        data=pl.concat(frames),
        features=tuple(features),
        people=study.people,
        step_ms=step_ms,
        window_ms=window_ms,
        origin=study.origin,
        simulated=study.simulated,
        released=study.released,
    )

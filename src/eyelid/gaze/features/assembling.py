"""From values of recordings to a table: keys before them, bounds around them, null for NaN."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    # Of many short recordings, a query for every key would take longest.
    keys = {
        name: pl.Series([getattr(recording, name)], dtype=pl.String).new_from_index(0, len(time_ms))
        for name in INDEX_COLUMNS[:-1]
        if name in study.data.columns
    }
    columns = {f.name: np.clip(values[f.name], f.lower, f.upper) for f in features}
    return pl.DataFrame(keys | {"time_ms": time_ms} | columns, nan_to_null=True)


def outline_of(
    study: Study,
    features: Sequence[Feature],
    step_ms: float | None = None,
    window_ms: float | None = None,
    planned_rows: int | None = None,
) -> FeatureTable:
    """The table of the same people, before there are rows in it."""
    keys = [name for name in INDEX_COLUMNS[:-1] if name in study.data.columns]
    numbers = ["time_ms", *[feature.name for feature in features]]
    return FeatureTable(
        data=pl.DataFrame(
            schema=dict.fromkeys(keys, pl.String) | dict.fromkeys(numbers, pl.Float64)
        ),
        features=tuple(features),
        people=study.people,
        step_ms=step_ms,
        window_ms=window_ms,
        planned_rows=planned_rows,
        origin=study.origin,
        simulated=study.simulated,
        released=study.released,
        chosen=study.chosen,
    )


def filled(outline: FeatureTable, frames: Sequence[pl.DataFrame]) -> FeatureTable:
    """The table with the rows of all recordings."""
    return replace(outline, data=pl.concat(frames))

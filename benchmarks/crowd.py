"""Windows of many people, for benchmarks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable


def crowd(
    people: int, tasks: int, windows: int, names: Sequence[str], seed: int = 0
) -> FeatureTable:
    """Everybody's windows. A dozen features share their numbers: less memory, as much work."""
    rng = np.random.default_rng(seed)
    row = np.arange(people * tasks * windows)
    recording = pl.Series(row // windows % tasks).cast(pl.String)
    values = [pl.Series(rng.random(row.size)) for _ in range(4)]
    data = pl.DataFrame(
        {
            "person": pl.Series(row // (tasks * windows)).cast(pl.String),
            "recording": recording,
            "task": recording,
            "stimulus": pl.repeat("", row.size, eager=True),
            "time_ms": row % windows * 500.0,
        }
        | {name: values[j % len(values)] for j, name in enumerate(names)}
    )
    persons = data.select(pl.col("person").unique(maintain_order=True))
    features = tuple(Feature(name, "", "", 0.0, 1.0) for name in names)
    return FeatureTable(data, features, persons, step_ms=500.0, window_ms=30_000.0)

"""Rows of one eye of one recording together, in order of time."""

from __future__ import annotations

from functools import reduce
from operator import or_

import numpy as np
import polars as pl

RECORDING_KEY = ["person", "recording"]


def track_key(data: pl.DataFrame) -> list[str]:
    """The columns that name one run of samples: person, recording, and eye where there are two."""
    return [*RECORDING_KEY, "eye"] if "eye" in data.columns else RECORDING_KEY


def track_starts(data: pl.DataFrame) -> pl.Series:
    """Whether a row is the first of a run of rows of one eye of one recording."""
    return _starts([data[key] for key in track_key(data)])


def _starts(keys: list[pl.Series]) -> pl.Series:
    """Whether any key is another than in the row before; the first one is."""
    # Asked of every table that is made: series answer many times sooner than a query.
    starts = np.ones(len(keys[0]), dtype=bool)
    pairs = [(key[1:], key[:-1], key.null_count()) for key in keys]
    changes = [one.ne_missing(other) if nulls else one != other for one, other, nulls in pairs]
    starts[1:] = reduce(or_, changes)
    return pl.Series("starts", starts)


def ordered(data: pl.DataFrame) -> pl.DataFrame:
    """Rows of one recording together and in order of time; untouched when they are."""
    if data.is_empty():
        return data
    starts = track_starts(data)
    runs = pl.DataFrame([data[key].filter(starts) for key in track_key(data)])
    begins = _starts([runs["person"]])
    people = runs["person"].filter(begins)
    times = data["time_ms"].to_numpy()
    backwards = (times[1:] < times[:-1]) & ~starts.to_numpy()[1:]
    together = people.n_unique() == len(people) and _each_once(runs, begins)
    if together and not backwards.any():
        return data
    # People and recordings keep their order: one person's rows must not move another's.
    row, time = pl.col("row_number").min(), pl.col("time_ms")
    keys = [row.over("person"), row.over(RECORDING_KEY), row.over(track_key(data)), time]
    return data.with_row_index("row_number").sort(*keys, maintain_order=True).drop("row_number")


def _each_once(runs: pl.DataFrame, begins: pl.Series) -> bool:
    """Whether recordings and their eyes stand together, where each person's rows do."""
    name = runs["recording"]
    rising = (name[1:] > name[:-1]) | begins[1:]
    # Most names go up, and to see that takes no table of all of them.
    if rising.all(ignore_nulls=False) is True:
        return True
    recordings = runs.select(RECORDING_KEY).filter(begins | _starts([name]))
    return not recordings.is_duplicated().any() and not runs.is_duplicated().any()

"""Rows of one eye of one recording together, in order of time."""

from __future__ import annotations

from collections.abc import Sequence
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


def tasks_apart(data: pl.DataFrame) -> pl.Series:
    """What tells the rows of a recording apart besides its name; empty where nothing has to.

    Each task of a recording with several is one of its own, and so is each stimulus within which
    time still goes on where it does not go on between them. Each recording is cut by its own rows
    alone: nobody's clock may decide how others' are read.

    Args:
        data: rows with ``time_ms``, in the order of their file; keys as far as they are known.

    >>> rows = {"person": ["a", "a", "b", "b"], "task": ["x", "y", "x", "x"]}
    >>> tasks_apart(pl.DataFrame(rows | {"time_ms": [0.0, 1.0, 0.0, 1.0]})).to_list()
    ['x', 'y', '', '']
    """
    texts = [
        (pl.col(name).cast(pl.String).fill_null("") if name in data.columns else pl.lit("")).alias(
            name
        )
        for name in ("task", "stimulus")
    ]
    keys = [name for name in track_key(data) if name in data.columns]
    rows = data.select("time_ms", *keys, *texts)
    several = [name for name in ("task", "stimulus") if rows[name].n_unique() > 1]
    if "task" in several or (several and not rows["time_ms"].is_sorted()):
        return _cut(rows, keys)
    return pl.repeat("", data.height, eager=True).alias("apart")


def of_one_task(data: pl.DataFrame, *, alone: bool = False) -> pl.DataFrame:
    """Rows whose recordings are of one task each, named after it where there were several in one.

    Args:
        data: as `tasks_apart` takes them, with recordings.
        alone: whether names of recordings say nothing, so that those of tasks do without them.

    >>> rows = {"person": ["a"] * 2, "recording": ["1"] * 2, "task": ["x", "y"]}
    >>> of_one_task(pl.DataFrame(rows | {"time_ms": [0.0, 1.0]}))["recording"].to_list()
    ['1-x', '1-y']
    """
    apart = tasks_apart(data)
    if (apart == "").all():
        return data
    name = pl.lit(apart) if alone else pl.concat_str("recording", pl.lit("-"), pl.lit(apart))
    own = pl.when(pl.lit(apart) == "").then("recording").otherwise(name)
    return data.with_columns(own.alias("recording"))


def _cut(rows: pl.DataFrame, keys: Sequence[str]) -> pl.Series:
    """Tasks, and stimuli, by which recordings are cut.

    Args:
        rows: time, keys, task and stimulus, without nulls.
        keys: of a recording, and of its eyes.
    """
    own = ["of the file", *(key for key in keys if key != "eye")]
    each = [*own, "cut"]
    back = (pl.col("time_ms").diff() < 0).over([*each, *(key for key in keys if key == "eye")])
    cut = (
        rows.with_columns(pl.lit(0).alias("of the file"))
        .with_columns(
            pl.when(pl.col("task").n_unique().over(own) > 1)
            .then("task")
            .otherwise(pl.lit(""))
            .alias("cut")
        )
        .with_columns(back.any().over(each).alias("back"))
    )
    both = (
        pl.when(pl.col("cut") == "")
        .then("stimulus")
        .otherwise(pl.concat_str("cut", "stimulus", separator="-"))
    )
    named = pl.col("back").fill_null(False) & (pl.col("stimulus") != "")
    return cut.select(pl.when(named).then(both).otherwise("cut").alias("apart")).to_series()

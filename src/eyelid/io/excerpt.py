"""A few rows of many, which say as much about what is to be scrubbed as all of them.

Whatever `eyelid.io.scrub` decides of a study, it decides the same of its excerpt: names of people,
recordings, tasks and stimuli are all there, and of every label what could give people away.
"""

from __future__ import annotations

import polars as pl

from eyelid.gaze.study import INDEX_COLUMNS
from eyelid.io.leaks import leaks_in_text

_KEYS = INDEX_COLUMNS[:-1]
# Of the values of a label that a person has, two show that it is not one.
_ENOUGH = 2


def excerpt_of(data: pl.DataFrame) -> pl.DataFrame:
    """The rows of a study that matter besides the gaze, in order.

    Args:
        data: of a study, or of some of its people or files; excerpts of parts, one after the other,
            are as good as an excerpt of the whole.

    >>> rows = {"person": ["a", "a", "b"], "recording": ["1", "1", "1"], "time_ms": [0, 1, 0]}
    >>> excerpt_of(pl.DataFrame(rows))["time_ms"].to_list()
    [0, 0]
    """
    keys = [name for name in _KEYS if name in data.columns]
    rows = [_first_of_each(data, keys)["row"]]
    for name in data.columns:
        if name.startswith("label_"):
            values = _first_of_each(data, ["person", name]).drop_nulls(name)
            rows.append(values.filter(pl.int_range(pl.len()).over("person") < _ENOUGH)["row"])
            rows.append(_first_leak(values, name))
    return data[pl.concat(rows).unique().sort()]


def excerpt_of_events(events: pl.DataFrame) -> pl.DataFrame:
    """The first event of each name."""
    return events.unique("name", keep="first", maintain_order=True)


def _first_of_each(data: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The number of the first ``row`` with each combination of values."""
    changed = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in columns)
    runs = data.select(columns).with_row_index("row").filter((pl.col("row") == 0) | changed)
    return runs.unique(columns, keep="first", maintain_order=True)


def _first_leak(values: pl.DataFrame, name: str) -> pl.Series:
    """The row with the first text that gives something away."""
    if values[name].dtype == pl.String:
        for text in values[name].unique(maintain_order=True):
            if any(leaks_in_text(text)):
                return values.filter(pl.col(name) == text)["row"].head(1)
    return values["row"].clear()

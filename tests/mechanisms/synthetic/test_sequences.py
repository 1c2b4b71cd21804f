"""Rows of people as bins: the same number of each task, with those some lags away."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.synthetic import sequences as module
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.recordings import tasks_of
from eyelid.mechanisms.synthetic.sequences import (
    BEND,
    lags_of,
    picked,
    sequences_of,
    sequences_of_values,
)

FEATURES = (
    Feature("rate", "1/s", "", 0.0, 10.0),
    Feature("signed", "deg", "", -4.0, 9.0),
    Feature("size", "mm", "", 1.5, 9.0),
)
BINS = 16


def places(length: int, rows: int, lags: tuple[int, ...]) -> list[list[int]]:
    """The rows that are looked at, one by one."""
    found = []
    for number in range(rows):
        first = int((number + 0.5) * length / rows)
        found.append([first])
        for lag in lags:
            there = first + lag if first + lag < length else max(first - lag, 0)
            found[-1].append(there)
    return found


def code(value: float, feature: Feature) -> int:
    """The bin of one value, equal in the cube root; the one after the last if it is missing."""
    if np.isnan(value):
        return BINS
    nearest = min(max(0.0, feature.lower), feature.upper)
    low, here, high = (
        np.cbrt(number - nearest)
        for number in (feature.lower, min(max(value, feature.lower), feature.upper), feature.upper)
    )
    return min(int((here - low) / (high - low) * BINS), BINS - 1)


def uneven_table(seed: int, people: int = 5) -> FeatureTable:
    """Recordings of all lengths, several of a task or none, values missing or out of bounds."""
    rng = np.random.default_rng(seed)
    frames = []
    for person in range(people):
        for number in range(1 + int(rng.integers(4))):
            rows = int(rng.integers(1, 30))
            values = rng.normal(2, 5, (rows, 3))
            values[rng.random(values.shape) < 0.2] = np.nan
            keys = {
                "person": [f"p{person}"] * rows,
                "recording": [f"r{number}"] * rows,
                "task": [str(rng.choice(["read", "look", "search"]))] * rows,
                "stimulus": [""] * rows,
                "time_ms": np.arange(rows) * 500.0,
            }
            columns = {f.name: values[:, j] for j, f in enumerate(FEATURES)}
            frames.append(pl.DataFrame(keys | columns))
    data = pl.concat(frames)
    return FeatureTable(
        data, FEATURES, data.select(pl.col("person").unique(maintain_order=True)), step_ms=500.0
    )


@given(st.integers(0, 100), st.integers(1, 9), st.integers(1, 12))
def test_rows_are_evenly_spread_and_partners_are_a_lag_away_where_they_can(length, rows, window):
    lags = lags_of(window)
    found = picked(np.array([length]), rows, lags)[0]
    if length == 0:
        assert (found == 0).all()
        return
    assert found.tolist() == places(length, rows, lags)
    assert (found >= 0).all()
    assert (found < length).all()
    apart = np.abs(found[:, 1:] - found[:, :1])
    assert (apart <= lags).all()
    if length >= 2 * max(lags):
        assert (apart == lags).all()


def test_lags_are_one_row_and_around_one_window():
    assert lags_of(60) == (1, 15, 60, 240)
    assert lags_of(4) == lags_of(2) == (1, 4, 16)


@pytest.mark.parametrize("seed", range(5))
def test_codes_are_those_of_the_values_row_by_row(seed, monkeypatch):
    # People come in blocks, and must not depend on it.
    monkeypatch.setattr(module, "_BLOCK_PEOPLE", 2)
    table = uneven_table(seed)
    rows, window, columns = 4, 2, [2, 0, 1]
    bins = Bins.of([FEATURES[j] for j in columns], BINS, BEND)
    group = np.arange(5) % 2
    tasks, found = sequences_of(table, columns, bins, rows, window, group)
    assert tasks == sorted(table.data["task"].unique())
    assert found.missing == BINS
    assert (found.group == group).all()
    for person, task in np.ndindex(5, len(tasks)):
        mine = table.data.filter(person=f"p{person}", task=tasks[task])
        assert found.lengths[person, task] == len(mine)
        values = mine.select([FEATURES[j].name for j in columns]).to_numpy()
        wanted = [
            [[code(values[row, k], FEATURES[j]) for k, j in enumerate(columns)] for row in each]
            for each in places(len(mine), rows, lags_of(window))
            if len(mine)
        ]
        missing = np.full((rows, 1 + len(lags_of(window)), 3), BINS)
        assert (found.codes[person, task] == (wanted or missing)).all()


def test_values_in_an_array_and_in_a_table_have_the_same_codes():
    rng = np.random.default_rng(3)
    values = rng.normal(2, 5, (4, 2, 9, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    bins = Bins.of(FEATURES, BINS, BEND)
    _, one = sequences_of(
        table_from_arrays(values, FEATURES), [0, 1, 2], bins, 3, 1, np.zeros(4, dtype=np.intp)
    )
    other = sequences_of_values(values, bins, 3, lags_of(1))
    assert (one.codes == other.codes).all()
    assert (one.lengths == other.lengths).all()


def test_a_task_without_any_number_is_none_in_an_array():
    values = np.ones((1, 2, 5, 3))
    values[0, 1] = np.nan
    found = sequences_of_values(values, Bins.of(FEATURES, BINS, BEND), 3, lags_of(1))
    assert found.lengths.tolist() == [[5, 0]]
    assert (found.codes[0, 1] == BINS).all()


def test_blocks_of_people_are_the_whole(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_PEOPLE", 3)
    rng = np.random.default_rng(0)
    found = sequences_of_values(rng.normal(2, 5, (7, 2, 5, 3)), Bins.of(FEATURES, BINS), 3, (1,))
    found = replace(found, group=np.arange(7))
    blocks = list(found.blocks())
    assert [block.people for block in blocks] == [3, 3, 1]
    for name in ("codes", "lengths", "group"):
        joined = np.concatenate([getattr(block, name) for block in blocks])
        assert (joined == getattr(found, name)).all()


def test_tasks_without_a_name_are_one_task():
    table = table_from_arrays(np.zeros((2, 3, 2, 3)), FEATURES)
    nameless = pl.when(pl.col("task") == "0").then(None).otherwise(pl.lit("")).alias("task")
    for data in (table.data.with_columns(nameless), table.data.drop("task")):
        names, task = tasks_of(replace(table, data=data))
        assert names == [""]
        assert (task == 0).all()

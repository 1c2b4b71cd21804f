"""Original and release row for row, whatever was cut, padded or reordered."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.records import aligned
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness

RATE = Feature("rate", "1/s", "", 0.0, 1.0)


def table_of(lengths, features=(RATE,), start_ms=0.0):
    """Recordings of so many rows, by (person, recording); values tell where they came from."""
    frames = [
        pl.DataFrame(
            {
                "person": [person] * rows,
                "recording": [recording] * rows,
                "time_ms": start_ms + np.arange(rows) * 500.0,
                "rate": np.arange(rows, dtype=float),
            }
        )
        for (person, recording), rows in lengths.items()
    ]
    data = pl.concat(frames)
    return FeatureTable(data, features, data.select("person").unique(), step_ms=500.0)


keys = st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))
lengths = st.dictionaries(keys, st.integers(1, 6), min_size=1)


@given(lengths, lengths)
def test_each_row_stands_beside_the_one_of_its_number(ours, theirs):
    if not ours.keys() & theirs.keys():
        with pytest.raises(InputError, match="no recording of the original"):
            aligned(table_of(ours), table_of(theirs))
        return
    one, other = aligned(table_of(ours), table_of(theirs, start_ms=7.0))
    columns = ["person", "recording", "rate"]
    assert one.data.select(columns).rows() == other.data.select(columns).rows()
    expected = {key: min(ours[key], theirs[key]) for key in ours.keys() & theirs.keys()}
    found = {
        tuple(row[:2]): row[2]
        for row in one.recordings.select("person", "recording", "rows").rows()
    }
    assert found == expected


@given(lengths)
def test_a_table_is_aligned_with_itself(ours):
    table = table_of(ours)
    one, other = aligned(table, table)
    assert one.data.equals(table.data)
    assert other.data.equals(table.data)


def test_bounds_and_labels_are_the_originals():
    wide = replace(RATE, upper=9.0)
    original = table_of({("a", "x"): 3})
    original = replace(original, data=original.data.with_columns(pl.lit("yes").alias("label_ok")))
    one, other = aligned(original, table_of({("a", "x"): 2}, features=(wide,)))
    assert one.data["label_ok"].to_list() == ["yes", "yes"]
    assert "label_ok" not in other.data.columns
    assert other.features == (RATE,)


def test_a_release_that_was_cut_is_beside_its_beginning(simulated_table):
    released = mechanism_named("laplace", epsilon=1e9, length=40).apply(
        simulated_table, randomness(1)
    )
    one, other = aligned(simulated_table, released)
    assert one.recordings["rows"].to_list() == [40] * 18
    difference = one.data["fixation_rate"] - other.data["fixation_rate"]
    assert difference.abs().max() < 0.01


def test_rows_of_a_release_with_longer_steps_stand_beside_every_so_many():
    original = table_of({("a", "x"): 25})
    every_tenth = original.data.filter(pl.Series(np.arange(25) % 10 == 0))
    released = replace(original, data=every_tenth, step_ms=5000.0)
    raw, shown = aligned(original, released)
    assert raw.data["rate"].to_list() == shown.data["rate"].to_list() == [0.0, 10.0, 20.0]

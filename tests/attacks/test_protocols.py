"""What is known and what is shown: never parts of one moment, and every recording in its turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.protocols import MOST_PARTS, halves, splits_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable

STEP_MS = 500.0


def table_of(rows, tasks=False, window_ms=None, step_ms=STEP_MS):
    """A table whose people have recordings of so many rows: ``[[3, 4], [5]]`` are two people."""
    frames = [
        pl.DataFrame(
            {
                "person": [f"p{p}"] * count,
                "recording": [f"r{r}"] * count,
                "task": [f"t{r}" if tasks else ""] * count,
                "stimulus": [""] * count,
                "time_ms": np.arange(count) * STEP_MS,
                "rate": np.zeros(count),
            }
        )
        for p, recordings in enumerate(rows)
        for r, count in enumerate(recordings)
    ]
    data = pl.concat(frames)
    features = (Feature("rate", "1/s", "", 0.0, 1.0),)
    people = data.select("person").unique()
    return FeatureTable(data, features, people, step_ms=step_ms, window_ms=window_ms)


def parts(table, split):
    numbered = table.data.with_row_index("row")
    return numbered.filter(split.known), numbered.filter(split.shown)


shapes = st.lists(
    st.lists(st.integers(1, 12), min_size=1, max_size=8), min_size=1, max_size=6
).filter(lambda rows: min(map(len, rows)) > 1 or min(map(min, rows)) > 1)


@given(shapes, st.booleans())
def test_nothing_that_is_shown_is_known(rows, tasks):
    table = table_of(rows, tasks)
    for split in splits_of(table):
        known, shown = parts(table, split)
        assert not set(known["row"]) & set(shown["row"])
        if split.across != "halves":
            keys = [set(part.select("person", "recording").rows()) for part in (known, shown)]
            assert not keys[0] & keys[1]


@given(shapes, st.booleans())
def test_every_recording_is_shown_once(rows, tasks):
    table = table_of(rows, tasks)
    shown = [parts(table, split)[1] for split in splits_of(table)]
    keys = [key for part in shown for key in part.select("person", "recording").unique().rows()]
    assert sorted(keys) == sorted(table.data.select("person", "recording").unique().rows())


@given(st.lists(st.lists(st.integers(1, 4), min_size=2, max_size=12), min_size=1, max_size=5))
def test_of_whom_is_shown_something_is_known_too(rows):
    table = table_of(rows)
    splits = splits_of(table)
    assert len(splits) <= MOST_PARTS
    for split in splits:
        known, shown = parts(table, split)
        assert set(shown["person"]) <= set(known["person"])


@given(
    st.lists(st.integers(40, 90), min_size=2, max_size=6),
    st.sampled_from([None, 1.0, 500.0, 1250.0, 8000.0]),
    st.booleans(),
)
def test_halves_are_a_window_apart(counts, window_ms, told):
    table = table_of([[c] for c in counts], window_ms=window_ms, step_ms=STEP_MS if told else None)
    (split,) = splits_of(table)
    assert split.across == "halves"
    known, shown = (p.group_by("person").agg("time_ms").sort("person") for p in parts(table, split))
    for before, after in zip(known["time_ms"], shown["time_ms"], strict=True):
        # The window that begins last among the known ends before the first shown one begins.
        assert before.max() + (window_ms or 0.0) < after.min()


@given(st.lists(st.integers(20, 90), min_size=2, max_size=5), st.integers(20, 90))
def test_halves_of_a_cut_or_padded_release_show_no_known_moment(counts, length):
    """Rows are counted from the start, whichever table they are of."""
    original = table_of([[c] for c in counts])
    released = table_of([[length] for _ in counts])
    split = halves(original)
    for known, shown in ((original, released), (released, original)):
        first = parts(known, split)[0].group_by("person").agg(pl.col("time_ms").max())
        later = parts(shown, split)[1].group_by("person").agg(pl.col("time_ms").min().alias("then"))
        both = first.join(later, on="person")
        assert (both["time_ms"] < both["then"]).all()


def test_tasks_go_before_recordings():
    assert [s.name for s in splits_of(table_of([[2, 2], [2, 2]], tasks=True))] == [
        "task t0",
        "task t1",
    ]
    assert {s.across for s in splits_of(table_of([[2, 2], [2, 2]]))} == {"recordings"}


def test_tasks_within_one_recording_are_no_split():
    """The windows on both sides of a change of task overlap."""
    table = table_of([[30], [30]])
    later = pl.int_range(pl.len()).over("person") >= 15
    data = table.data.with_columns(
        pl.when(later).then(pl.lit("b")).otherwise(pl.lit("a")).alias("task")
    )
    assert [s.across for s in splits_of(replace(table, data=data))] == ["halves"]


def test_a_missing_task_column_is_no_task():
    table = table_of([[2, 2], [2, 2]], tasks=True)
    table = replace(table, data=table.data.drop("task"))
    assert {s.across for s in splits_of(table)} == {"recordings"}


def test_recordings_too_short_for_halves_are_refused():
    with pytest.raises(InputError, match=r"recordings of 20 rows are too short .* with 16 rows"):
        splits_of(table_of([[20], [90]], window_ms=8000.0))
    with pytest.raises(InputError, match="recordings of 1 rows"):
        halves(table_of([[1]]))


def test_the_papers_halves_have_no_gap():
    table = table_of([[10], [10]], window_ms=8000.0)
    known, shown = parts(table, halves(table, gap=0))
    assert len(known) == len(shown) == 10

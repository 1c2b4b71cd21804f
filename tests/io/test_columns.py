"""Columns of a table as it was read."""

from __future__ import annotations

import polars as pl

from eyelid.io.columns import (
    events_of_kinds,
    events_of_runs,
    number,
    with_numbered_events,
    without,
)
from eyelid.io.part import Part


def test_text_becomes_numbers_where_it_holds_some():
    raw = pl.DataFrame({"a": [" 1.5", "2,5", "NaN", "Valid", None, "-3e2"]})
    assert raw.select(number("a"))["a"].to_list() == [1.5, 2.5, None, None, None, -300.0]


def test_columns_that_are_numbers_stay_so():
    assert pl.DataFrame({"a": [0.1, 2.0]}).select(number("a"))["a"].to_list() == [0.1, 2.0]


def test_lost_values_are_null_and_an_unknown_flag_loses_nothing():
    raw = pl.DataFrame({"x": [1.0, 2.0, 3.0], "flag": [1, 0, None]})
    assert without(raw, ["x"], pl.col("flag") == 0)["x"].to_list() == [1.0, None, 3.0]


def test_columns_that_are_not_there_are_no_matter():
    raw = pl.DataFrame({"x": [1.0]})
    assert without(raw, ["y"], pl.col("z") == 0).equals(raw)


def test_a_run_of_samples_with_one_mark_is_an_event():
    data = pl.DataFrame(
        {"time_ms": [0.0, 10.0, 20.0, 30.0, 40.0], "mark": ["1", "1", None, "2", "2"]}
    )
    found = events_of_runs(data, ["mark"], pl.lit("fixation"))
    assert found.rows() == [("fixation", 0.0, 10.0, 10.0), ("fixation", 30.0, 40.0, 10.0)]


def test_the_same_mark_after_a_gap_is_another_event():
    data = pl.DataFrame({"time_ms": [0.0, 10.0, 20.0], "mark": ["1", None, "1"]})
    assert events_of_runs(data, ["mark"], pl.lit("blink"))["onset_ms"].to_list() == [0.0, 20.0]


def test_an_event_ends_with_its_recording():
    data = pl.DataFrame(
        {"person": ["a", "a", "b"], "time_ms": [0.0, 10.0, 5.0], "mark": ["1", "1", "1"]}
    )
    found = events_of_runs(data, ["mark"], pl.lit("fixation"))
    assert found["person"].to_list() == ["a", "b"]
    assert found["duration_ms"].to_list() == [10.0, 0.0]


def test_two_eyes_give_events_once():
    data = pl.DataFrame(
        {"eye": ["left"] * 2 + ["right"] * 2, "time_ms": [0.0, 10.0] * 2, "mark": ["1"] * 4}
    )
    assert len(events_of_runs(data, ["mark"], pl.lit("fixation"))) == 1


def test_a_stated_duration_goes_before_that_of_the_samples():
    data = pl.DataFrame(
        {"time_ms": [0.0, 10.0, 20.0], "mark": ["1", "1", "2"], "lasted": [15.0, 15.0, None]}
    )
    found = events_of_runs(data, ["mark"], pl.col("mark"), pl.col("lasted"))
    assert found["duration_ms"].to_list() == [15.0, 0.0]
    assert found["offset_ms"].to_list() == [15.0, 20.0]


def test_samples_without_marks_give_no_event():
    data = pl.DataFrame(
        {"time_ms": [0.0], "mark": [None]}, schema={"time_ms": pl.Float64, "mark": pl.String}
    )
    found = events_of_runs(data, ["mark"], pl.lit("fixation"))
    assert found.columns == ["name", "onset_ms", "offset_ms", "duration_ms"]
    assert found.is_empty()


def test_events_of_several_kinds_stand_in_order_of_time():
    marks = {"label__fixation": ["1", None, "2"], "label__blink": [None, "1", None]}
    data = pl.DataFrame({"recording": ["r"] * 3, "time_ms": [0.0, 10.0, 20.0], **marks})
    part = Part("any", data)
    found = with_numbered_events(part, marks)
    assert found.events["name"].to_list() == ["fixation", "blink", "fixation"]
    assert found.data.columns == ["recording", "time_ms"]
    assert with_numbered_events(part, {}) is part


def test_only_the_kinds_that_are_events_become_events():
    data = pl.DataFrame({"time_ms": [0.0, 10.0, 20.0], "label__event": ["Fixation", "-", "Blink"]})
    found = events_of_kinds(data, ("fixation", "saccade"))
    assert found["name"].to_list() == ["fixation"]
    assert events_of_kinds(data.drop("label__event"), ("fixation",)) is None

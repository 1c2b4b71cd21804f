"""Columns of a table as it was read."""

from __future__ import annotations

import polars as pl

from eyelid.io.raw_columns import number, without


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

"""What the owner of a study with missing values reads before paying, and nobody in the folder."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.releases.cost import cost
from eyelid.releases.release import release

SHARE = Feature("share", "1", "of rows", 0.0, 1.0)
DURATION = Feature("duration", "ms", "mean duration", 0.0, 1000.0)
BLINKS = Feature("blinks", "ms", "mean duration of blinks", 0.0, 500.0)
MARK = "from the raw data, for you alone"


def with_gaps() -> FeatureTable:
    """Ten people, 200 rows: 21 shares and 2 durations are missing, and nobody blinks."""
    values = np.empty((10, 2, 10, 3))
    values[..., 0], values[..., 1], values[..., 2] = 0.06, 250.0, np.nan
    flat = values.reshape(-1, 3)
    flat[:21, 0] = np.nan
    flat[[5, 150], 1] = np.nan
    table = table_from_arrays(values, [SHARE, DURATION, BLINKS])
    return table


def test_imputed_values_and_what_they_do_to_means_are_said_before_paying():
    heard: list[str] = []
    release(with_gaps(), mechanism="groupmean", epsilon=1.0, tell=heard.append)
    # (0.5 − 0.06) · 21 / 200 and (500 − 250) · 2 / 200.
    said = (
        f"{MARK}: 23 of 400 values (5.8%) of 2 features are missing and count as the middle of "
        "their bounds, which moves the mean over all rows of share by +0.0462 (21 of 200), of "
        "duration by +2.5 ms (2 of 200); no expected error includes that"
    )
    assert said in heard
    nobody = next(line for line in heard if "nobody has" in line)
    assert nobody.startswith(f"{MARK}: nobody has a value of blinks. What is released of it is")
    assert "(250 ms) under noise" in nobody
    assert said in cost("laplace", with_gaps(), epsilon=1.0).notes


@pytest.mark.parametrize("name", ["laplace", "groupmean", "ksame", "seeded"])
def test_no_count_of_missing_values_is_in_the_folder(name, tmp_path):
    asked = {
        "ksame": {"k": 3},
        "seeded": {"epsilon": 50.0, "delta": 0.01, "rows": 1},
    }.get(name, {"epsilon": 1.0})
    out = tmp_path / "released"
    done = release(with_gaps(), out, mechanism=name, **asked)
    raw = [line for line in done.notes if line.startswith(MARK)]
    assert raw
    for file in ("certificate.json", "DATACARD.md", "study.json"):
        text = (out / file).read_text()
        assert MARK not in text
        assert "23 of 400" not in text


def test_empty_cells_of_groups_are_foreseen():
    notes = cost("ksame", with_gaps(), k=5).notes
    # Of two groups one has whoever lacks 20 shares, and mostly the other who lacks one more.
    assert any(
        "about so many cells are expected to be empty: share 51%, duration 5%" in n for n in notes
    )
    assert f"{MARK}: nobody has a value of blinks, and all its cells will be empty" in notes


def test_features_that_nobody_lacks_are_not_among_those_with_empty_cells():
    table = with_gaps()
    whole = table.data.with_columns(pl.lit(3.0).alias("duration"))
    said = next(n for n in cost("ksame", replace(table, data=whole), k=5).notes if "share" in n)
    assert said.endswith("expected to be empty: share 51%")


def with_a_blank() -> FeatureTable:
    """Ten people without gaps, one of whom has one row without a value for one of two tasks."""
    table = with_gaps().only("share")
    left_out = (pl.col("person") == "3") & (pl.col("task") == "1")
    share = pl.when(left_out).then(None).otherwise(0.06).alias("share")
    whole = table.data.with_columns(share)
    return replace(table, data=whole.filter(~left_out | (pl.col("time_ms") == 0)))


def test_a_recording_without_a_value_empties_its_whole_group_in_the_forecast():
    notes = cost("ksame", with_a_blank(), k=5).notes
    # One of two groups, in one of two tasks.
    assert any("expected to be empty: share 25%" in note for note in notes)
    assert not any("values (" in note for note in notes)


def test_a_recording_without_a_value_counts_with_all_rows_of_a_release_under_noise():
    said = next(n for n in cost("laplace", with_a_blank(), epsilon=1.0).notes if "middle" in n)
    assert "10 of 200 values (5.0%) of 1 feature are missing (all rows of recordings" in said
    # (0.5 − 0.06) · 10 / 200.
    assert "share by +0.022 (10 of 200)" in said


def test_a_plan_that_cuts_off_most_rows_is_doubted_before_paying():
    table = replace(with_gaps(), planned_rows=2)
    notes = cost("laplace", table, epsilon=1.0).notes
    assert any(
        "counts with 2 rows, as planned; yours have 10. Longer ones are cut (80% of" in note
        for note in notes
    )
    planned = replace(table, planned_rows=9)
    assert not any("as planned" in n for n in cost("laplace", planned, epsilon=1.0).notes)


def test_recordings_that_people_lack_in_a_mean_are_counted_for_the_owner():
    table = with_gaps()
    gone = (pl.col("person") == "3") & (pl.col("task") == "1")
    lacking = replace(table, data=table.data.filter(~gone))
    notes = cost("groupmean", lacking, epsilon=1.0).notes
    assert any(note.startswith(f"{MARK}: 1 recording of 20 that people lack") for note in notes)


def test_nothing_is_said_where_nothing_is_missing():
    table = with_gaps().only("duration")
    whole = replace(table, data=table.data.with_columns(pl.col("duration").fill_nan(300.0)))
    assert not [n for n in cost("laplace", whole, epsilon=1.0).notes if n.startswith(MARK)]


def test_rows_that_groups_lose_are_said_before_paying_with_what_helps():
    values = np.full((12, 3, 10, 1), 0.5)
    table = table_from_arrays(values, [SHARE])
    table = replace(table, data=table.data.with_columns(task=pl.col("recording")))
    # Every second person has the first task alone; C(6, 4) / C(12, 4) of groups have the others.
    half = pl.col("person").is_in(table.people["person"].gather_every(2).implode())
    table = replace(
        table, data=table.data.filter(~half | (pl.col("task") == table.data["task"][0]))
    )
    heard: list[str] = []
    release(table, mechanism="ksame", k=4, tell=heard.append)
    for notes in (heard, cost("ksame", table, k=4).notes):
        (said,) = [note for note in notes if "in no mean" in note]
        assert said.startswith(f"{MARK}: about 47% of people's rows are expected to be in no mean")
        assert "6 people who have every task about 0% would be (`people='every-task'`;" in said
    assert not [n for n in cost("ksame", table, k=4, people="every-task").notes if "no mean" in n]


def test_values_outside_of_the_bounds_are_told_to_the_owner_of_synthetic_participants(tmp_path):
    rng = np.random.default_rng(1)
    values = np.stack([rng.uniform(0, 1, (200, 1, 5)), rng.uniform(0, 900, (200, 1, 5))], axis=-1)
    values[:3, 0, :, 1] = 1200.0
    table = table_from_arrays(values, [SHARE, DURATION])
    done = release(table, tmp_path / "out", mechanism="synthetic", epsilon=4.0)
    (told,) = [note for note in done.notes if "outside of the public bounds" in note]
    assert told.startswith(f"{MARK}: values outside of the public bounds count as if they lay at")
    assert "nearest one: duration 15 of 1,000 (0 to 1000 ms). If these are no slips" in told
    assert "15 of 1,000" not in (tmp_path / "out" / "DATACARD.md").read_text()
    assert not any("outside" in note for note in cost("synthetic", with_gaps(), epsilon=4.0).notes)

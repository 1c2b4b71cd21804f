"""Correlation over Δt, against a plain loop and on real people."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.temporal import correlation
from eyelid.attacks.temporal.correlation import mean_over_features, temporal_correlations
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays

TWO = (Feature("a", "1", "", -9.0, 9.0), Feature("b", "1", "", -9.0, 9.0))


def walks(people=8, recordings=2, rows=15, seed=3):
    rng = np.random.default_rng(seed)
    return table_from_arrays(rng.normal(size=(people, recordings, rows, 2)).cumsum(axis=2), TWO)


def plain(table, instance):
    """The definition of the paper, one signal at a time."""
    found = {}
    for task in table.data["task"].unique():
        for name in table.names:
            signals = [
                part[name].fill_null(np.nan).to_numpy()
                for part in table.data.filter(task=task).partition_by("person", "recording")
            ]
            steps = [
                np.array([s[0], *(s[t] - s[t - 1] for t in range(1, len(s)))]) for s in signals
            ]
            for ahead in range(1, max(map(len, signals)) - instance + 1):
                row = []
                for kind in (signals, steps):
                    pairs = [
                        (s[instance - 1], s[instance - 1 + ahead])
                        for s in kind
                        if len(s) >= instance + ahead
                    ]
                    pairs = [pair for pair in pairs if np.isfinite(pair).all()]
                    row.append(np.corrcoef(np.transpose(pairs))[0, 1] if len(pairs) >= 3 else None)
                found[task, name, ahead] = row
    return found


def agrees(table, instance=5):
    expected = plain(table, instance)
    found = temporal_correlations(table, instance=instance)
    for task, feature, ahead, raw, difference, _ in found.iter_rows():
        wanted = expected.pop((task, feature, ahead))
        assert [raw, difference] == [None if w is None else pytest.approx(w) for w in wanted]
    assert all(row == [None, None] for row in expected.values())
    return found


def test_it_is_the_definition_of_the_paper():
    found = agrees(walks())
    assert found.columns == ["task", "feature", "delta_t", "raw", "difference", "recordings"]
    assert len(found) == 2 * 2 * 10
    assert found["recordings"].unique().to_list() == [8]


@pytest.mark.parametrize("instance", [1, 2, 7])
def test_any_instance_can_be_asked_for(instance):
    agrees(walks(), instance)


@given(st.integers(0, 10_000), st.floats(0.0, 0.7))
def test_missing_values_and_unequal_lengths_leave_out_no_more_than_they_must(seed, missing):
    rng = np.random.default_rng(seed)
    table = walks(people=6, recordings=1, rows=9, seed=seed)
    data = table.data.with_columns(
        pl.when(pl.Series(rng.random(len(table.data)) < missing))
        .then(None)
        .otherwise(pl.col(name))
        .alias(name)
        for name in table.names
    )
    kept = data.filter(pl.col("time_ms") < 500 * (6 + pl.col("person").cast(pl.Int64) % 4))
    agrees(replace(table, data=kept))


def test_a_feature_that_is_the_same_for_everybody_has_no_coefficient():
    table = walks()
    table = replace(table, data=table.data.with_columns(a=pl.lit(0.1)))
    found = temporal_correlations(table).filter(feature="a")
    assert found["raw"].is_null().all()
    assert found["difference"].is_null().all()


def test_what_rounding_leaves_of_equal_neighbours_is_no_difference():
    values = np.broadcast_to(np.linspace(1, 2, 20)[:, None, None, None], (20, 1, 12, 2)).copy()
    values *= 1 + 1e-16 * np.random.default_rng(1).integers(-3, 4, values.shape)
    found = temporal_correlations(table_from_arrays(values, TWO))
    assert found["raw"].to_numpy().min() > 0.999
    assert found["difference"].is_null().all()


def test_batches_change_nothing(monkeypatch):
    whole = temporal_correlations(walks())
    monkeypatch.setattr(correlation, "_BATCH", 50)
    assert temporal_correlations(walks()).equals(whole)


def test_it_looks_as_far_ahead_as_asked():
    found = temporal_correlations(walks(), longest_delta_t=4)
    assert found["delta_t"].max() == 4
    assert found.equals(temporal_correlations(walks()).filter(pl.col("delta_t") <= 4))


def test_rows_without_a_task_are_one_task():
    table = walks(recordings=1)
    without = replace(table, data=table.data.drop("task"))
    ours, theirs = (temporal_correlations(t).drop("task") for t in (table, without))
    assert ours.equals(theirs)


def test_the_mean_is_over_features_that_have_a_coefficient():
    frame = pl.DataFrame(
        {
            "task": ["t"] * 3,
            "delta_t": [1, 1, 1],
            "raw": [0.5, None, 0.1],
            "difference": [0.0, None, None],
        }
    )
    assert mean_over_features(frame).row(0) == ("t", 1, 0.3, 0.0)


@pytest.mark.parametrize(
    ("table", "options", "says"),
    [
        (walks(people=2, recordings=1), {}, "no task has 3 recordings of more than 5 rows"),
        (walks(rows=5), {}, "no task has 3 recordings of more than 5 rows"),
        (walks(), {"instance": 0}, "instances are counted from 1, got 0"),
        (walks(), {"longest_delta_t": 0}, "must be at least 1, got 0"),
    ],
)
def test_what_cannot_be_computed_is_said(table, options, says):
    with pytest.raises(InputError, match=says):
        temporal_correlations(table, **options)


def test_an_empty_table_is_said():
    table = walks()
    with pytest.raises(InputError, match="the table is empty"):
        temporal_correlations(replace(table, data=table.data.clear()))


def test_simulated_differences_are_less_correlated_than_signals(simulated_table):
    found = temporal_correlations(simulated_table, longest_delta_t=32)
    raw, difference = found.select(pl.col("raw", "difference").abs().mean()).row(0)
    assert difference < 0.7 * raw


def test_on_real_people_differences_are_less_correlated_than_signals(real_windows):
    found = temporal_correlations(real_windows, longest_delta_t=128)
    sizes = found.group_by("task").agg(pl.col("raw", "difference").abs().mean())
    assert len(sizes) == 3
    assert (sizes["difference"] < 0.45 * sizes["raw"]).all()

    means = mean_over_features(found)
    first = means.filter(delta_t=1)
    assert (first["raw"] > 0.98).all()
    assert (first["difference"].abs() < 0.3).all()
    # What enters a window of 30 s leaves it 60 rows later: differences still remember that.
    assert (means.filter(delta_t=60)["difference"] < -0.2).all()

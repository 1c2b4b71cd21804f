from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.papers.signals import sensitivities, signals_of, subsampled, table_of


def plain_sensitivity(signals, chunk, power):
    """Equation 7, pair by pair and row by row."""
    people, features, rows = signals.shape
    largest = np.zeros((features, -(-rows // chunk)))
    for p in range(people):
        for q in range(people):
            for f in range(features):
                for c, first in enumerate(range(0, rows, chunk)):
                    apart = (
                        signals[p, f, first : first + chunk] - signals[q, f, first : first + chunk]
                    )
                    largest[f, c] = max(
                        largest[f, c], (np.abs(apart) ** power).sum() ** (1 / power)
                    )
    return largest


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("chunk", [7, 8, 20])
def test_sensitivities_are_the_largest_distance_of_two_people(power, chunk):
    values = np.random.default_rng(0).normal(size=(4, 3, 20))
    found = sensitivities(values, chunk, power)
    np.testing.assert_allclose(found, plain_sensitivity(values, chunk, power))


def test_people_who_are_alike_have_sensitivity_zero_exactly():
    assert sensitivities(np.full((3, 2, 10), 0.1), 4, 2).max() == 0.0


def cut(table, person, recording, rows):
    """The table with one recording cut short."""
    number = pl.int_range(pl.len()).over("person", "recording")
    short = (pl.col("person") == person) & (pl.col("recording") == recording) & (number >= rows)
    return replace(table, data=table.data.filter(~short))


def test_tasks_come_apart_and_short_recordings_go_on_as_zero(wandering):
    table = cut(wandering(people=3, rows=12), "1", "0", 5)
    first, second = signals_of(table)
    assert first.values.shape == second.values.shape == (3, 2, 12)
    assert first.lengths.tolist() == [12, 5, 12]
    assert second.lengths.tolist() == [12, 12, 12]
    assert not first.values[1, :, 5:].any()
    assert first.values[1, :, :5].all()
    back = table_of([second, first], table)
    assert back.data.select(table.names).equals(table.data.select(table.names))
    assert back.data["time_ms"].equals(table.data["time_ms"])


def test_differences_begin_anew_in_every_chunk_and_stop_with_the_recording(wandering):
    table = cut(wandering(people=2, recordings=1, rows=9), "1", "0", 6)
    (task,) = signals_of(table)
    found = task.differences(4).values
    for person, rows in ((0, 9), (1, 6)):
        x = task.values[person, 0, :rows]
        wanted = [x[t] if t % 4 == 0 else x[t] - x[t - 1] for t in range(rows)]
        np.testing.assert_allclose(found[person, 0, :rows], wanted)
        assert not found[person, 0, rows:].any()


def test_missing_values_repeat_the_last_known_one(wandering):
    table = wandering(people=2, recordings=1, rows=4)
    gaps = pl.Series([None, 60.0, float("nan"), 70.0, None, None, None, None])
    data = table.data.with_columns(gaps.alias("heart_rate"))
    (task,) = signals_of(replace(table, data=data))
    assert task.values[:, 0].tolist() == [[60.0, 60.0, 60.0, 70.0], [0.0] * 4]


def test_a_task_that_one_person_did_is_refused(wandering):
    table = wandering(people=2, recordings=2, rows=5)
    table = replace(
        table, data=table.data.filter((pl.col("person") == "0") | (pl.col("task") == "0"))
    )
    with pytest.raises(InputError, match="task '1' has one recording only"):
        list(signals_of(table))


def test_sub_sampling_keeps_every_tenth_row_of_each_recording(wandering):
    table = wandering(people=2, recordings=2, rows=25)
    thin = subsampled(table, 10)
    assert thin.recordings["rows"].to_list() == [3] * 4
    assert thin.step_ms == 5000.0
    assert thin.data["time_ms"].to_list() == [0.0, 5000.0, 10000.0] * 4
    assert subsampled(table, 1) is table

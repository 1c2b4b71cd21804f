from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from eyelid.attacks.records import Records, joined, records_of

lengths = st.lists(st.integers(1, 40), min_size=1, max_size=6)


def made(rows_of, features=2):
    record = np.repeat(np.arange(len(rows_of)), rows_of)
    values = np.random.default_rng(0).normal(size=(len(record), features))
    owner = np.arange(len(rows_of))
    return Records(values, record, owner, ("",) * len(rows_of), tuple(map(str, owner)))


@given(lengths, st.integers(1, 12))
def test_condensed_rows_are_means_of_neighbours(rows_of, most):
    records = made(rows_of)
    short = records.condensed(most)
    assert short.rows.tolist() == [min(most, rows) for rows in rows_of]
    for record, rows in enumerate(rows_of):
        mine = records.values[records.record == record]
        kept = min(most, rows)
        block = [position * kept // rows for position in range(rows)]
        means = [mine[np.array(block) == b].mean(axis=0) for b in range(kept)]
        assert np.allclose(short.values[short.record == record], means)


@given(lengths)
def test_per_record_is_the_mean_of_each_record(rows_of):
    records = made(rows_of)
    means = [records.values[records.record == r].mean(axis=0) for r in range(len(rows_of))]
    assert np.allclose(records.per_record(records.values), means)
    assert np.allclose(records.per_record(records.values[:, 0]), np.array(means)[:, 0])


def test_records_are_in_spans_and_missing_values_at_the_midpoint(make_table):
    table = make_table(people=2, recordings=2, rows=3)
    table = replace(
        table,
        data=table.data.with_columns(
            pl.Series("pupil", [9.0, None, float("nan"), 1.5, *[3.0] * 8])
        ),
    )
    records = records_of(table, ("0", "1"))
    assert records.values[:4, 1].tolist() == [1.0, 0.5, 0.5, 0.0]
    assert records.rows.tolist() == [3, 3, 3, 3]
    assert records.owner.tolist() == [0, 0, 1, 1]
    assert records.tasks == ("0", "1", "0", "1")
    assert records.records_per_person == 2


def test_only_the_wanted_rows_and_people_are_taken(make_table):
    table = make_table(people=4, recordings=3, rows=5)
    records = records_of(table, ("3", "1"), pl.col("task") == "2")
    assert records.owner.tolist() == [1, 0]
    assert records.rows.tolist() == [5, 5]
    expected = table.data.filter(pl.col("person") == "1", pl.col("task") == "2")
    assert np.allclose(records.values[:5, 0] * 10, expected["fixation_rate"].to_numpy())


def test_what_is_usual_is_the_mean_of_all_records_of_a_task(make_table):
    table = make_table(people=4, recordings=2, rows=5)
    records = records_of(table, ("0", "1", "2", "3"), pl.col("task") == "0")
    assert set(records.usual) == {"0", "1"}
    for task in "01":
        rates = table.data.filter(pl.col("task") == task)["fixation_rate"].to_numpy()
        assert np.isclose(records.usual[task][0], rates.mean() / 10)


def test_being_counted_in_what_is_usual_gives_nobody_away(make_table):
    """Less the mean of all N is (N − 1)/N times less the mean of the others."""
    people = ("0", "1", "2", "3")
    records = records_of(make_table(recordings=1), people)
    means = records.per_record(records.without(records.usual).values)
    raw = records.per_record(records.values)
    for person in range(4):
        others = np.delete(raw, person, axis=0).mean(axis=0)
        assert np.allclose(means[person], (raw[person] - others) * 3 / 4)


def test_a_task_of_few_people_is_taken_for_an_average_one(make_table):
    table = make_table(people=5, recordings=2)
    rare = pl.when((pl.col("person") == "4") & (pl.col("task") == "1"))
    table = replace(
        table,
        data=table.data.with_columns(rare.then(pl.lit("own")).otherwise("task").alias("task")),
    )
    records = records_of(table, tuple("01234"))
    assert set(records.usual) == {"0", "1"}
    own = records.per_record(records.without(records.usual).values)[-1]
    average = np.mean([records.usual["0"], records.usual["1"]], axis=0)
    assert np.allclose(own, records.per_record(records.values)[-1] - average)


def test_without_tasks_everything_is_one_task(make_table):
    table = make_table()
    table = replace(table, data=table.data.drop("task"))
    records = records_of(table, tuple("0123"))
    assert set(records.tasks) == {""}
    assert np.allclose(records.usual[""], records.values.mean(axis=0))


def test_joined_sources_keep_their_records_apart(make_table):
    one, other = (records_of(make_table(seed=s), tuple("0123")) for s in (1, 2))
    both = joined([one, other])
    assert both.rows.tolist() == [10] * 24
    assert both.owner.tolist() == [*one.owner, *other.owner]
    assert np.allclose(both.values[both.record == 12], other.values[other.record == 0])
    assert np.allclose(both.usual["0"], (one.usual["0"] + other.usual["0"]) / 2)

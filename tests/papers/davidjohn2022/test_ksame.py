from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.partition import groups_and_a_rest
from eyelid.papers.davidjohn2022.ksame import TaskFacts, found_by_intersection
from eyelid.privacy import randomness
from eyelid.privacy.unit import PERSON

FEATURES = (Feature("a", "", "", 0.0, 1.0), Feature("b", "", "", 0.0, 1.0))


def uneven(people: int = 9) -> FeatureTable:
    """Two tasks of several rows; recordings end one row after the other."""
    rng = np.random.default_rng(people)
    table = table_from_arrays(rng.random((people, 2, people + 2, 2)), FEATURES)
    row, person = pl.col("time_ms") / 500.0, pl.col("person").cast(pl.Int64)
    return replace(table, data=table.data.filter(row <= person + 1))


def test_it_does_what_is_printed():
    table, k = uneven(), 4
    released = mechanism_named("ksame-paper", k=k).apply(table, randomness(5))
    noise = randomness(5)
    for task in ("0", "1"):
        # The printed loop: padded, one random grouping a task, means of the i-th vectors.
        own = [
            table.data.filter((pl.col("person") == str(person)) & (pl.col("task") == task))
            .select("a", "b")
            .to_numpy()
            for person in range(9)
        ]
        longest = max(len(rows) for rows in own)
        padded = [[*rows, *[rows[-1]] * (longest - len(rows))] for rows in own]
        order = np.argsort(noise.words(9))
        for first in (0, 4, 8):
            group = order[first : first + k]
            for i in range(longest):
                mean = sum(padded[person][i] for person in group) / len(group)
                for person in group:
                    mine = released.data.filter(
                        (pl.col("person") == str(person)) & (pl.col("task") == task)
                    )
                    np.testing.assert_allclose(mine.select("a", "b").row(i), mean, rtol=1e-12)
    assert released.people.equals(table.people), "everybody keeps their name"
    assert released.recordings["rows"].unique().to_list() == [longest]


def test_in_the_reading_of_the_text_one_partition_serves_all_tasks():
    """Written down plainly: one random grouping, then means of padded vectors, task by task."""
    table, k = uneven(), 4
    released = mechanism_named("ksame-paper", k=k, grouping="once").apply(table, randomness(5))
    order = np.argsort(randomness(5).words(9))
    for task in ("0", "1"):
        own = [
            table.data.filter((pl.col("person") == str(person)) & (pl.col("task") == task))
            .select("a", "b")
            .to_numpy()
            for person in range(9)
        ]
        longest = max(len(rows) for rows in own)
        padded = np.array([[*rows, *[rows[-1]] * (longest - len(rows))] for rows in own])
        for first in (0, 4, 8):
            group = order[first : first + k]
            for person in group:
                mine = released.data.filter(
                    (pl.col("person") == str(person)) & (pl.col("task") == task)
                )
                mean = padded[group].mean(axis=0)
                np.testing.assert_allclose(mine.select("a", "b").to_numpy(), mean, rtol=1e-12)


def test_either_reading_says_what_it_does():
    facts = TaskFacts(21, 6, 100, 2, tasks=3)
    anew, once = (mechanism_named("ksame-paper", k=4, grouping=g) for g in ("task", "once"))
    assert any("drawn anew" in reason for reason in anew.cost(facts, PERSON).reasons)
    reasons = once.cost(facts, PERSON).reasons
    assert not any("anew" in reason for reason in reasons)
    assert any("own step, exactly" in reason for reason in reasons)
    assert any("the last group is one person's own record" in reason for reason in reasons)
    assert "once for all tasks" in once.sampler(facts)
    with pytest.raises(InputError, match="unknown grouping 'stimulus'"):
        mechanism_named("ksame-paper", k=4, grouping="stimulus")


def test_groups_have_k_people_and_the_last_one_the_rest():
    assert sorted(np.bincount(groups_and_a_rest(11, 4, randomness(1)))) == [3, 4, 4]
    assert np.bincount(groups_and_a_rest(8, 4, randomness(1))).tolist() == [4, 4]


def twice_each(people: int, tasks: int) -> FeatureTable:
    """Two recordings of each task."""
    values = np.random.default_rng(3).random((people, 2 * tasks, 2, 2))
    table = table_from_arrays(values, FEATURES)
    task = (pl.col("recording").cast(pl.Int64) // 2).cast(pl.String)
    return replace(table, data=table.data.with_columns(task=task))


def test_tasks_have_groups_of_their_own_and_recordings_of_a_task_share_them():
    table = twice_each(12, tasks=2)
    released = mechanism_named("ksame-paper", k=3).apply(table, randomness(2))
    means = released.data["a"].to_numpy().reshape(12, 4, 2)[..., 0]
    together = means[:, None, :] == means[None, :, :]
    assert (together[..., 0] == together[..., 1]).all()
    assert (together[..., 2] == together[..., 3]).all()
    assert (together[..., 0] != together[..., 2]).any()


def test_missing_values_repeat_and_people_without_a_task_are_not_in_its_groups():
    table = uneven()
    lacks = (pl.col("person") == "8") & (pl.col("task") == "1")
    hole = (pl.col("person") == "3") & (pl.col("time_ms") == 500.0)
    data = table.data.filter(~lacks).with_columns(
        pl.when(hole).then(None).otherwise(pl.col("a")).alias("a")
    )
    released = mechanism_named("ksame-paper", k=4).apply(replace(table, data=data), randomness(1))
    assert released.data.select("a", "b").null_count().row(0) == (0, 0)
    assert len(released.recordings) == 17


def test_tasks_of_fewer_than_k_people_are_refused():
    table = uneven()
    few = replace(
        table,
        data=table.data.filter((pl.col("task") == "0") | pl.col("person").is_in(["0", "1"])),
    )
    with pytest.raises(InputError, match="needs at least 4 people in every task, '1' has 2"):
        mechanism_named("ksame-paper", k=4).apply(few, randomness(1))
    with pytest.raises(InputError, match="k=10 needs at least 10 people in every task, '0' has 9"):
        mechanism_named("ksame-paper", k=10).apply(table, randomness(1))
    with pytest.raises(InputError, match="k must be at least 2, got 1"):
        mechanism_named("ksame-paper", k=1)


def test_the_certificate_says_why_it_does_not_hold_with_the_number():
    promised = mechanism_named("ksame-paper", k=4).cost(TaskFacts(21, 6, 100, 2, tasks=3), PERSON)
    assert (promised.k, promised.holds) == (4, False)
    assert str(promised.trust) == "local"
    linked, padded, left_over = promised.reasons
    assert (
        "with 3 tasks of 21 people, an attacker who can tell a person's group in every task "
        "re-identifies them with probability 0.97, not 1/4" in linked
    )
    assert "4 times the step of the mean is that person's own step" in padded
    assert "the last group of every task is one person's own record" in left_over
    even = mechanism_named("ksame-paper", k=4).cost(TaskFacts(20, 2, 100, 2, tasks=1), PERSON)
    assert len(even.reasons) == 1, "one task of 20 people has neither links nor leftovers"


def test_tasks_are_counted_and_not_recordings():
    mechanism = mechanism_named("ksame-paper", k=4)
    alone, two = (mechanism.facts(twice_each(20, tasks)) for tasks in (1, 2))
    assert (alone.recordings, alone.tasks) == (2, 1)
    assert (two.recordings, two.tasks) == (4, 2)
    assert not any("anew for every task" in reason for reason in mechanism.why_not(alone))
    assert "with 2 tasks of 20 people" in next(mechanism.why_not(two))
    nameless = twice_each(20, 2)
    nameless = replace(nameless, data=nameless.data.drop("task"))
    assert mechanism.facts(nameless).tasks == 1, (
        "where no task is named, all recordings share groups"
    )
    some = twice_each(20, 3)
    lacks = (pl.col("task") == "2") & (pl.col("person") != "7")
    assert mechanism.facts(replace(some, data=some.data.filter(~lacks))).tasks == 3


def test_without_a_study_each_recording_is_taken_for_a_task_and_that_is_said():
    quote = eyelid.cost("ksame-paper", people=20, recordings=2, features=2, length=10, k=4)
    (linked, *_) = quote.person_level.reasons
    assert "with 2 tasks, taking each recording for one, of 20 people" in linked
    assert "probability 0.78, not 1/4" in linked


@pytest.mark.parametrize(("people", "k", "tasks"), [(20, 4, 3), (11, 4, 2), (9, 2, 2)])
def test_the_expected_success_of_an_intersection_is_what_draws_give(people, k, tasks):
    # 4000 draws of a share in [1/k, 1], whose spread is below 0.4: 5 σ is 0.032, passed by chance
    # with probability 6e-7. The seed is fixed.
    noise, draws = randomness(1), 4000
    found = np.empty(draws)
    for draw in range(draws):
        member = np.array([groups_and_a_rest(people, k, noise) for _ in range(tasks)])
        found[draw] = 1 / (member == member[:, :1]).all(axis=0).sum()
    assert found.mean() == pytest.approx(found_by_intersection(people, k, tasks), abs=0.032)

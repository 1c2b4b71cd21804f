"""Synthetic rows beside the people they were made of."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import wasserstein_distance

from eyelid.attacks import synthetic
from eyelid.attacks.synthetic import (
    ShownHistograms,
    audit_synthetic,
    names_nobody,
    shown_histograms,
)
from eyelid.attacks.utility import learned_elsewhere
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.mechanism import mechanism_named
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.noise import randomness

FEATURES = [Feature(name, "", "", 0.0, 2.0) for name in "ab"]
CENTRES = {"x": (0.6, 1.4), "y": (1.4, 0.6)}


def original(people=12, rows=8, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.array(list(CENTRES.values()))[None, :, None]
    values = np.clip(rng.normal(centres, 0.15, (people, 2, rows, 2)), 0, 2)
    table = table_from_arrays(values, FEATURES)
    task = pl.col("recording").replace_strict(["0", "1"], list(CENTRES))
    return replace(table, data=table.data.with_columns(task=task))


def rows_of_nobody(values, table):
    """One synthetic participant with so many rows a task: tasks × rows × features."""
    frames = [
        pl.DataFrame({"time_ms": np.arange(len(each), dtype=float)}).select(
            pl.lit("synthetic").alias("person"),
            pl.lit(str(number)).alias("recording"),
            pl.lit(task).alias("task"),
            pl.lit("").alias("stimulus"),
            "time_ms",
            *(pl.Series(name, each[:, j]) for j, name in enumerate("ab")),
        )
        for number, (task, each) in enumerate(zip(CENTRES, values, strict=True), start=1)
    ]
    people = pl.DataFrame({"person": ["synthetic"], "people": [12]})
    return replace(table, data=pl.concat(frames), people=people)


@pytest.fixture(scope="module")
def table():
    return original()


def drawn(seed, spread=0.15):
    rng = np.random.default_rng(seed)
    return rng.normal(np.array(list(CENTRES.values()))[:, None], spread, (2, 60, 2))


def test_rows_of_nobody_are_known_by_their_name(table):
    assert names_nobody(rows_of_nobody(drawn(1), table))
    assert not names_nobody(table)


def test_made_up_people_are_known_by_their_names(table):
    names = pl.DataFrame({"person": ["synthetic01", "synthetic02"]})
    assert names_nobody(replace(table, people=names))


def test_distances_of_distributions_are_those_of_scipy_over_tasks(table):
    made = rows_of_nobody(np.clip(drawn(1), 0, 2), table)
    found = audit_synthetic(table, made)
    by_hand = [
        wasserstein_distance(
            table.data.filter(pl.col("task") == task)["b"] / 2,
            made.data.filter(pl.col("task") == task)["b"] / 2,
        )
        for task in CENTRES
    ]
    told = found.features.filter(pl.col("name") == "b")
    assert told["wasserstein"].item() == pytest.approx(np.mean(by_hand), rel=1e-9)
    assert found.wasserstein < 0.05 < found.uniform
    assert 0 <= told["total_variation"].item() <= 1


def test_even_values_are_no_better_than_what_anybody_could_write_down(table):
    even = np.random.default_rng(0).uniform(0, 2, (2, 500, 2))
    found = audit_synthetic(table, rows_of_nobody(even, table))
    assert found.wasserstein == pytest.approx(found.uniform, rel=0.1)


def test_copies_of_people_are_counted(table):
    values = drawn(1)
    values[0, :3] = table.data.filter(pl.col("task") == "x").select("a", "b")[:3].to_numpy()
    found = audit_synthetic(table, rows_of_nobody(values, table))
    assert found.copies == 3
    assert found.people_apart_of_span > 0
    assert found.membership is None
    assert "not known" in found.not_tried


def test_rows_of_one_feature_may_be_somebodys_by_chance(table, monkeypatch):
    monkeypatch.setattr(synthetic, "_SAME", 1e-4)
    monkeypatch.setattr(synthetic, "_ELSEWHERE", 1e-3)
    few = table.only("a")
    rng = np.random.default_rng(3)
    values = rng.uniform(0.6, 1.4, (2, 4000, 2))
    made = replace(rows_of_nobody(values, table), features=few.features)
    by_chance = audit_synthetic(few, made)
    assert by_chance.copies > 50
    assert not by_chance.copied
    own = rng.choice(few.data["a"].to_numpy(), 400)
    values[0, :400, 0] = own
    copied = audit_synthetic(few, replace(rows_of_nobody(values, table), features=few.features))
    assert copied.copied


class Leaky:
    """Publishes two people as they are."""

    release = ReleaseKind.ROWS

    def apply(self, table, noise):
        first = table.data["person"].unique(maintain_order=True)[:2]
        rows = table.data.filter(pl.col("person").is_in(first.to_list()))
        return replace(table, data=rows)


class Deaf:
    """Publishes the same whoever is in it."""

    release = ReleaseKind.ROWS

    def apply(self, table, noise):
        return rows_of_nobody(drawn(int(noise.words(1)[0] % 1000)), table)


def test_who_was_in_it_is_told_of_a_mechanism_that_copies_and_of_no_other(monkeypatch):
    few = original(people=3)
    monkeypatch.setattr(synthetic, "_TRIALS", 60)
    leaky = audit_synthetic(few, rows_of_nobody(drawn(1), few), Leaky()).membership
    deaf = audit_synthetic(few, rows_of_nobody(drawn(1), few), Deaf()).membership
    # Of three people two are shown: whoever is missing is seen each time.
    assert leaky.advantage.rate == 1.0
    assert abs(deaf.advantage.rate) < 0.5


def test_made_up_people_are_told_by_what_was_measured_and_rows_by_what_is_made_up(monkeypatch):
    monkeypatch.setattr(synthetic, "_TRIALS", 4)
    people = original(people=24)
    mechanism = mechanism_named("synthetic", epsilon=8.0, delta=1e-6, carry=2, records=4)
    found = audit_synthetic(people, mechanism.apply(people, randomness(0)), mechanism)
    assert (found.among, found.attacker) == (24, "likelihood of all noisy answers")
    assert "sees all noisy answers" in found.attack
    assert not found.copied
    rows = audit_synthetic(people, rows_of_nobody(drawn(1), people), Deaf())
    assert (rows.attacker, rows.positive) == ("nearest rows", None)
    assert "stronger attackers may exist" in rows.attack


def test_what_is_learned_from_made_up_rows_is_tested_on_people(table):
    uses = learned_elsewhere(table, rows_of_nobody(drawn(1), table), models=["tree"])
    (task,) = uses
    assert (task.target, task.protocol) == ("task", "synthetic→raw")
    assert task.rate.rate > 0.9
    swapped = rows_of_nobody(drawn(1)[::-1], table)
    (wrong,) = learned_elsewhere(table, swapped, models=["tree"])
    assert wrong.rate.rate < 0.1


def test_who_is_alone_in_a_bin_is_counted_by_hand():
    # Four bins from 0 to 2. Of a: 0, 1 and 2 have the first, 3 alone the last. Of b nobody differs.
    values = np.array([0.0, 0.1, 0.2, 2.0])[:, None, None, None] * np.array([1.0, 0.0])
    people = table_from_arrays(values, FEATURES)
    assert shown_histograms(people, people, 4) == ShownHistograms(
        filled=2, alone=1, shown=1, people=1, ends=1, ends_shown=1
    )
    low = replace(people, data=people.data.with_columns(a=pl.lit(0.3)))
    found = shown_histograms(people, low, 4)
    assert (found.alone, found.shown, found.people, found.ends_shown) == (1, 0, 0, 0)

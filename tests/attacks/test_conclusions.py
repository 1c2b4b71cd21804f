from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.conclusions import conclusions
from eyelid.attacks.task_effects import within_people
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays

FEATURES = [Feature(name, "ms", "", 0.0, 20.0) for name in ("long", "short", "still")]


def study(people: int = 30, shift: float = 1.0, seed: int = 1) -> FeatureTable:
    """Two tasks; the first feature is longer in the second by a shift, the other goes with it."""
    rng = np.random.default_rng(seed)
    values = np.empty((people, 2, 12, 3))
    own, moving = rng.normal(0, 0.5, (people, 1, 1)), rng.normal(0, 0.6, (people, 2, 12))
    values[..., 0] = 4.0 + own + moving + shift * np.arange(2)[:, None]
    values[..., 1] = 5.0 + 0.8 * moving + rng.normal(0, 0.36, moving.shape)
    values[..., 2] = 3.0
    table = table_from_arrays(values, FEATURES)
    recording = pl.int_range(pl.len()) // 12 % 2
    tasks = pl.when(recording == 0).then(pl.lit("read")).otherwise(pl.lit("search"))
    return replace(table, data=table.data.with_columns(task=tasks))


def test_what_is_released_as_it_is_gives_the_same_conclusions():
    table = study()
    found = conclusions(table, table)
    assert found.means_off == pytest.approx(0.0, abs=1e-9)
    assert found.guess_off > 1
    assert [(one.feature, one.tasks) for one in found.clear] == [("long", ("read", "search"))]
    contrast = found.clear[0]
    assert contrast.raw == pytest.approx(contrast.released)
    assert contrast.raw == pytest.approx(-1.0, abs=0.15)
    assert contrast.low < -1.0 < contrast.high
    assert (found.same_sign, found.within, found.size) == pytest.approx((1.0, 1.0, 1.0))
    # Of three features one is constant, and has no correlations.
    assert found.relations.pairs == 1
    assert found.relations.off == pytest.approx(0.0, abs=1e-9)
    assert found.relations.guess == pytest.approx(0.61, abs=0.1)


def test_a_release_that_turns_a_contrast_around_or_halves_it_is_told():
    turned = conclusions(study(), study(shift=-1.0))
    assert (turned.same_sign, turned.within) == (0.0, 0.0)
    assert turned.size == pytest.approx(-1.0, abs=0.2)
    halved = conclusions(study(), study(shift=0.5))
    assert (halved.same_sign, halved.within) == (1.0, 0.0)
    assert halved.size == pytest.approx(0.5, abs=0.15)


def test_relations_that_are_lost_are_as_far_off_as_none_at_all():
    table = study()
    rng = np.random.default_rng(2)
    mixed = table.data.with_columns(pl.Series("short", rng.permutation(table.data["short"])))
    found = conclusions(table, replace(table, data=mixed)).relations
    assert found.off == pytest.approx(found.guess, abs=0.1)


def test_groups_count_for_as_many_people_as_they_have():
    table = study(people=4)
    of_three = table.data.filter(pl.col("person") != table.people["person"][3])
    rest = table.data.filter(pl.col("person") == table.people["person"][3])
    mean = of_three.group_by("recording", "task", "time_ms", maintain_order=True).agg(
        pl.col(table.names).mean(), pl.lit("g1").alias("person"), pl.lit("").alias("stimulus")
    )
    rest = rest.with_columns(person=pl.lit("g2"), stimulus=pl.lit(""))
    columns = ["person", "recording", "task", "stimulus", "time_ms", *table.names]
    groups = replace(
        table,
        data=pl.concat([mean.select(columns), rest.select(columns)]),
        people=pl.DataFrame({"person": ["g1", "g2"], "people": [3, 1]}),
    )
    assert conclusions(table, groups).means_off == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("people", [1, 2])
def test_too_few_people_conclude_nothing(people):
    assert conclusions(study(people=people), study()) is None


def test_without_tasks_features_or_values_nothing_is_concluded():
    table = study()
    assert conclusions(table, replace(table, data=table.data.drop("task"))) is None
    assert conclusions(table, replace(table, features=(replace(FEATURES[0], name="x"),))) is None
    constant = replace(
        table, data=table.data.with_columns(pl.lit(3.0).alias(n) for n in table.names)
    )
    assert conclusions(constant, constant) is None
    empty = table.data.with_columns(pl.lit(None, pl.Float64).alias("long"))
    found = conclusions(table, replace(table, data=empty))
    assert all(one.feature != "long" for one in found.contrasts)


def test_one_task_has_means_and_no_contrasts():
    table = study()
    one = replace(table, data=table.data.with_columns(task=pl.lit("read")))
    found = conclusions(one, one)
    assert found.contrasts == ()
    assert found.same_sign is None
    assert found.size is None


def test_effects_of_tasks_that_a_mixed_model_finds_are_found_in_the_same_data():
    found = conclusions(study(), study()).effects
    assert (found.clear, found.found) == (1, 1.0)
    assert (found.others, found.false) == (1, 0.0)
    lost = conclusions(study(), study(shift=0.0, seed=3)).effects
    assert (lost.clear, lost.found) == (1, 0.0)
    made_up = conclusions(study(shift=0.0), study()).effects
    assert (made_up.clear, made_up.found, made_up.others, made_up.false) == (0, None, 2, 0.5)


def test_effects_of_tasks_are_those_of_least_squares_with_an_intercept_for_each_participant():
    """Unbalanced rows, three tasks; errors by hand from residuals, robust to people."""
    rng = np.random.default_rng(5)
    person = rng.integers(0, 12, 300)
    task = rng.integers(0, 3, 300)
    values = rng.normal(0, 1, 12)[person] + 0.3 * task + rng.normal(0, 0.5, 300)
    design = np.concatenate([np.eye(3)[task][:, 1:], np.eye(12)[person]], axis=1)
    wanted = np.linalg.lstsq(design, values, rcond=None)[0]
    left = values - design @ wanted
    scores = np.stack([(design * left[:, None])[person == one].sum(axis=0) for one in range(12)])
    inverse = np.linalg.inv(design.T @ design)
    errors = np.sqrt(np.diag(inverse @ scores.T @ scores @ inverse)[:2] * 12 / 11)
    cell = np.stack([person, task])
    many, sums = np.zeros((12, 3)), np.zeros((12, 3))
    np.add.at(many, tuple(cell), 1.0)
    np.add.at(sums, tuple(cell), values)
    found = within_people(many, sums)
    assert found[0] == pytest.approx(wanted[:2])
    assert found[1] == pytest.approx(errors)


def test_tasks_of_different_people_have_no_effects_within_them():
    assert within_people(np.array([[4.0, 0.0], [0.0, 4.0], [4.0, 0.0]]), np.ones((3, 2))) is None
    assert within_people(np.full((5, 2), 4.0), np.full((5, 2), 12.0)) is None

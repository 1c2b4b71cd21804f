from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.conclusions import conclusions
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

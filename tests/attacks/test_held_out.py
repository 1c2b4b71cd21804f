"""What is learned from a release of the others: nobody who is tested has a part in it."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.utility import learned_without
from eyelid.engine.cores import alone
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays

PEOPLE, TASKS, ROWS = 20, 3, 8
FEATURES = [Feature(f"f{number}", "1", "", 0.0, 1.0) for number in range(4)]


@pytest.fixture(scope="module", autouse=True)
def _one_core():
    with alone():
        yield


def table_of(centres):
    """Recordings around a centre of each person and task."""
    rng = np.random.default_rng(4)
    noise = rng.normal(0, 0.005, (PEOPLE, TASKS, ROWS, len(FEATURES)))
    values = np.clip(centres[:, :, None, :] + noise, 0, 1)
    return table_from_arrays(values, FEATURES)


@pytest.fixture(scope="module")
def own_ways():
    """Each person has a way of their own of doing each task: known of nobody else."""
    return table_of(np.random.default_rng(1).random((PEOPLE, TASKS, len(FEATURES))))


def test_a_mechanism_that_remembers_its_people_has_no_advantage(own_ways):
    """It gives away everything it gets; a mean of 0.5 at a chance of 1/3 is 4 errors away."""
    honest = learned_without(lambda taken: taken, own_ways, own_ways)
    assert honest.mean() < 0.5
    # The planted fault: those who are tested are in it after all.
    leaking = learned_without(lambda taken: own_ways, own_ways, own_ways)
    assert leaking.mean() > 0.95


def test_everybody_is_tested_once_and_had_no_part_in_what_was_learned(own_ways):
    seen = []

    def run(taken):
        seen.append(set(taken.data["person"]))
        assert set(taken.people["person"]) == seen[-1]
        return taken

    shares = learned_without(run, own_ways, own_ways, folds=4)
    everybody = set(own_ways.data["person"])
    left_out = [everybody - people for people in seen]
    assert sorted(name for out in left_out for name in out) == sorted(everybody)
    assert [len(out) for out in left_out] == [5] * 4
    assert len(shares) == PEOPLE


def test_what_all_people_have_in_common_is_learned():
    centres = np.broadcast_to(np.array([0.2, 0.5, 0.8])[None, :, None], (PEOPLE, TASKS, 4))
    table = table_of(centres)
    assert learned_without(lambda taken: taken, table, table).mean() > 0.95


def test_shares_are_in_the_order_of_people():
    """Of one person tasks are re-identified the wrong way round: their share alone is nothing."""
    centres = np.array(np.broadcast_to(np.array([0.2, 0.5, 0.8])[None, :, None], (PEOPLE, 3, 4)))
    centres[7] = centres[7, [1, 2, 0]]
    table = table_of(centres)
    shares = learned_without(lambda taken: taken, table, table)
    assert np.flatnonzero(shares < 0.5).tolist() == [7]


def test_the_same_seed_gives_the_same_and_folds_are_no_more_than_people(own_ways):
    few = replace(
        own_ways,
        data=own_ways.data.filter(
            pl.col("person").is_in(
                own_ways.data["person"].unique(maintain_order=True)[:4].to_list()
            )
        ),
    )
    found = [learned_without(lambda taken: taken, few, few, seed=5) for _ in range(2)]
    np.testing.assert_array_equal(*found)
    assert len(found[0]) == 4


def test_what_has_no_tasks_teaches_none(own_ways):
    def run(taken):
        return replace(taken, data=taken.data.drop("task"))

    assert learned_without(run, own_ways, own_ways) is None

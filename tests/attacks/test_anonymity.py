from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.anonymity import (
    exact_intersection,
    intersection,
    known_partition,
    mean_off_of_span,
    recover_partition,
)
from eyelid.attacks.groups import collusion, padding
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.slots import slots_of
from eyelid.privacy import randomness

FEATURES = tuple(Feature(f"f{j}", "", "", 0.0, 10.0) for j in range(4))


@pytest.fixture(scope="module")
def people() -> FeatureTable:
    """Twelve people with three tasks, whose recordings end one row after the other."""
    rng = np.random.default_rng(4)
    table = table_from_arrays(rng.uniform(0.0, 10.0, size=(12, 3, 20, 4)), FEATURES)
    row, person = pl.col("time_ms") / 500.0, pl.col("person").cast(pl.Int64)
    return replace(table, data=table.data.filter(row < 9 + person))


def of(name: str, table: FeatureTable, seed: int = 1, **asked) -> FeatureTable:
    return mechanism_named(name, k=4, **asked).apply(table, randomness(seed))


def test_linked_tasks_with_other_groups_name_people_and_one_partition_does_not(people):
    printed = of("ksame-paper", people)
    assert intersection(people, printed).rate > 0.7
    assert exact_intersection(people, printed).rate > 0.7
    for copies in (False, True):
        sound = of("ksame", people, copies=copies)
        found = intersection(people, sound)
        assert found.rate <= 1 / 4
        assert found.chance == pytest.approx(1 / 12)
        assert exact_intersection(people, sound).rate == pytest.approx(1 / 4)


def test_one_task_of_equal_copies_gives_one_in_k_as_ties_are_shared(people):
    alone = replace(people, data=people.data.filter(pl.col("task") == "0"))
    assert exact_intersection(alone, of("ksame-paper", alone)).rate == pytest.approx(1 / 4)


def test_a_release_that_is_the_data_names_everybody(people):
    assert intersection(people, people).rate == 1.0
    assert recover_partition(people, people).fewest == 1


def test_whoever_has_all_recordings_finds_the_partition(people):
    mechanism = mechanism_named("ksame", k=5)
    member = mechanism.partition(people, randomness(8))
    found = recover_partition(people, mechanism.averaged(people, member))
    assert found.behind_all.argmax(axis=0).tolist() == member.tolist()
    assert found.exact
    assert found.one_partition
    assert found.fewest == 6
    assert np.nanmax(found.weights) == pytest.approx(1 / 6)
    printed = recover_partition(people, of("ksame-paper", people))
    assert printed.exact
    assert not printed.one_partition


def test_many_people_are_found_by_plain_least_squares(people, monkeypatch):
    # As with thousands, for whom weights without negative ones would take minutes.
    monkeypatch.setattr("eyelid.attacks.anonymity._MOST_PEOPLE", 0)
    mechanism = mechanism_named("ksame", k=5)
    member = mechanism.partition(people, randomness(8))
    found = recover_partition(people, mechanism.averaged(people, member))
    assert found.behind_all.argmax(axis=0).tolist() == member.tolist()
    assert found.exact
    assert not recover_partition(people, noisy(of("ksame", people))).exact


def noisy(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.with_columns(pl.col("f1") + 0.01 * pl.col("f0")))


def test_whoever_is_told_the_partition_knows_what_could_be_found_out(people):
    mechanism = mechanism_named("ksame", k=5)
    member = mechanism.partition(people, randomness(8))
    released = mechanism.averaged(people, member)
    told, found = known_partition(people, released, member), recover_partition(people, released)
    np.testing.assert_allclose(told.weights, found.weights, atol=1e-6)
    assert (told.members == found.members).all()
    assert told.tasks == found.tasks


def test_the_mean_over_all_groups_is_the_mean_over_everybody(people):
    mechanism = mechanism_named("ksame", k=5)
    released = mechanism.apply(people, randomness(8))
    sizes = released.people["people"].to_numpy()
    assert mean_off_of_span(people, released, sizes) < 2.0**-36
    assert mean_off_of_span(people, noisy(released), sizes) > 1e-4
    other = replace(released, data=released.data.filter(pl.col("person") != "group1"))
    gone = mean_off_of_span(people, other, sizes[1:])
    assert gone > 1e-4


def test_what_is_no_mean_of_people_leaves_a_rest(people):
    assert not recover_partition(people, noisy(of("ksame", people))).exact


def test_recovery_copes_with_gaps_values_beyond_bounds_and_people_without_a_task(people):
    rng = np.random.default_rng(1)
    holes = pl.Series(rng.random(len(people.data)) < 0.1)
    high = pl.Series(rng.random(len(people.data)) < 0.1)
    data = people.data.with_columns(
        f0=pl.when(holes).then(None).otherwise("f0"), f1=pl.when(high).then(30.0).otherwise("f1")
    ).filter(~((pl.col("person") == "3") & (pl.col("task") == "2")))
    table = replace(people, data=data)
    mechanism = mechanism_named("ksame", k=4)
    member = mechanism.partition(table, randomness(2))
    found = recover_partition(table, mechanism.averaged(table, member))
    assert found.exact
    assert found.behind_all.argmax(axis=0).tolist() == member.tolist()
    assert found.there.sum() == 3 * 3 - 1, "a group lacks the task that one of it lacks"
    assert padding(table, mechanism.averaged(table, member), found).values == 0


def test_the_longest_member_s_increments_come_back_from_padded_means(people):
    printed = of("ksame-paper", people)
    found = padding(people, printed)
    # By hand: in a group the two longest, a and b, leave b − a rows of the longest alone.
    longest = people.recordings["rows"].to_numpy()
    groups = recover_partition(people, printed)
    alone = 0
    for place in range(3):
        for group in np.unique(groups.members[place], axis=0):
            of_group = np.sort(longest[slots_of(people).slot == place][group])
            alone += of_group[-1] - of_group[-2]
    assert found.rows == alone
    assert found.values == alone * 4
    assert found.rmse_of_span is not None
    assert found.rmse_of_span < 1e-9
    steps = (longest - 1).sum() * 4
    assert found.share == pytest.approx(found.values / steps)
    sound = padding(people, of("ksame", people))
    assert (sound.rows, sound.values, sound.rmse_of_span) == (0, 0, None)


def test_all_members_but_one_compute_the_last_one(people):
    for name in ("ksame", "ksame-paper"):
        found = collusion(people, of(name, people), "7")
        assert found.exact
        assert found.people == 4
        assert found.blind_rmse_of_span > 0.05


def test_what_does_not_belong_together_is_refused(people):
    sound = of("ksame", people)
    with pytest.raises(InputError, match="unknown person 'nobody'"):
        collusion(people, sound, "nobody")
    with pytest.raises(InputError, match="different features"):
        intersection(people.only("f0", "f1"), sound)
    other = replace(sound, data=sound.data.with_columns(task=pl.lit("another")))
    with pytest.raises(InputError, match="no task in common"):
        recover_partition(people, other)

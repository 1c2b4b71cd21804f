"""Released groups: found out, checked, and attacked with what members and outsiders know."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers.means import Means
from eyelid.attacks.groups import (
    Grouped,
    audit_groups,
    audit_records,
    homogeneity,
    in_groups,
    one_a_group,
    under_names,
)
from eyelid.attacks.identification import identify
from eyelid.attacks.protocols import POSITIVE, Material, find_protocol
from eyelid.attacks.target import folded
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.papers.davidjohn2022.ksame import KSamePaper
from eyelid.privacy.noise import randomness
from eyelid.releases.audits.groups import found_groups

FEATURES = [Feature(name, "1/s", "", 0.0, 10.0) for name in "abc"]


def people_with_tasks(people=9, rows=30, seed=0):
    """Everybody differs, tasks differ, and each recording is one row shorter than the last one."""
    rng = np.random.default_rng(seed)
    own, task = rng.normal(0, 0.6, (people, 1, 1, 3)), rng.normal(0, 1, (1, 3, 1, 3))
    values = 5 + own + task + rng.normal(0, 0.3, (people, 3, rows, 3))
    table = table_from_arrays(values, FEATURES)
    shorter = pl.col("person").rank("dense") - 1
    row = pl.int_range(pl.len()).over("person", "recording")
    data = table.data.with_columns(task="t" + pl.col("recording")).filter(row < rows - shorter)
    names = table.people["person"]
    kind = pl.Series("kind", ["x"] * 3 + ["y"] * (len(names) - 3))
    return replace(table, data=data, people=table.people.with_columns(kind))


@pytest.fixture(scope="module")
def table():
    return people_with_tasks()


@pytest.fixture(scope="module")
def grouped(table):
    mechanism, member = KSame(k=3), np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    return Grouped(mechanism, table, one_a_group(mechanism, table, member), member)


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("length", ["group", "shortest", 7])
def test_groups_are_found_out_however_they_were_released(table, copies, length):
    mechanism = KSame(k=3, copies=copies, length=length)
    member = np.array([2, 0, 1, 1, 0, 2, 2, 1, 0])
    for known in (mechanism, None):
        found, wrong = found_groups(known, table, mechanism.averaged(table, member))
        assert wrong == []
        assert found.member.tolist() == member.tolist()


def edited(released, feature, add):
    late = pl.when(pl.col("time_ms") > 3000).then(add).otherwise(0.0)
    return replace(released, data=released.data.with_columns(pl.col(feature) + late))


def test_whatever_is_not_the_mean_of_groups_is_noticed(table):
    mechanism = KSame(k=3)
    member = np.array([2, 0, 1, 1, 0, 2, 2, 1, 0])
    sound = mechanism.averaged(table, member)
    counts = sound.people.with_columns(pl.col("people") + 1)
    more = sound.people.with_columns(ill=pl.lit("yes"))
    small = mechanism.averaged(table, np.array([0, 0, 1, 1, 1, 1, 2, 2, 2]))
    # Another group for one task.
    other = mechanism.averaged(table, np.roll(member, 1)).data
    lengths = pl.concat(
        [other.filter(pl.col("task") == "t1"), sound.data.filter(pl.col("task") != "t1")]
    )
    faults = {
        "not the means": edited(sound, "a", 0.01),
        "other recordings or rows": replace(
            sound, data=sound.data.filter(pl.col("time_ms") < 4000)
        ),
        "other numbers of people": replace(sound, people=counts),
        "more of its groups": replace(sound, people=more),
        "a group has 2 people": small,
        "not the same in all recordings": replace(sound, data=lengths),
    }
    for words, released in faults.items():
        _, wrong = found_groups(mechanism, table, released)
        assert any(words in said for said in wrong), (words, wrong)


def blank(table, *recordings):
    """The table with one row without a value in the place of some recordings."""
    keys = pl.struct("person", "task").is_in([{"person": p, "task": t} for p, t in recordings])
    first = pl.int_range(pl.len()).over("person", "recording") == 0
    empty = [pl.when(~keys).then(pl.col(name)).alias(name) for name in table.names]
    return replace(table, data=table.data.filter(~keys | first).with_columns(empty))


def test_groups_are_found_out_though_a_member_has_no_value(table):
    person = table.people["person"].to_list()
    lost = blank(table, *((person[0], task) for task in table.data["task"].unique()))
    mechanism, member = KSame(k=3), np.array([2, 0, 1, 1, 0, 2, 2, 1, 0])
    sound = mechanism.averaged(lost, member)
    found, wrong = found_groups(mechanism, lost, sound)
    assert (wrong, found.fresh) == ([], False)
    assert found.member.tolist() == member.tolist()
    # Values where a member has none.
    others = mechanism.averaged(table, member).data.select(sound.data.columns)
    kept = sound.data.select("person", "recording", "time_ms")
    filled = replace(sound, data=kept.join(others, on=kept.columns).select(sound.data.columns))
    assert found_groups(mechanism, lost, filled)[1]


def test_whose_groups_are_empty_everywhere_is_open(table):
    person = table.people["person"].to_list()
    tasks = table.data["task"].unique().to_list()
    lost = blank(table, *((who, task) for who in person[:2] for task in tasks))
    mechanism = KSame(k=3)
    found, wrong = found_groups(
        mechanism, lost, mechanism.averaged(lost, np.array([2, 0, 1, 1, 0, 2, 2, 1, 0]))
    )
    assert (wrong, found.fresh) == ([], True)


def test_with_too_few_values_what_can_be_checked_is(table):
    mechanism = KSame(k=3, length=2)
    sound = mechanism.averaged(table, np.repeat([0, 1, 2], 3))
    groups, wrong = found_groups(mechanism, table, sound)
    assert groups.fresh
    assert wrong == []
    higher = replace(sound, data=sound.data.with_columns(pl.col("a") + 0.01))
    _, wrong = found_groups(mechanism, table, higher)
    assert wrong == ["the mean over all groups is not the mean over everybody"]
    # Those who attack know the groups of the other run as if they had been found out.
    told = audit_records(table, groups.means, groups.found)
    assert told.sizes == (3, 3, 3)
    assert told.exact_intersection.rate == pytest.approx(1 / 3)
    assert told.collusion.exact
    missing = sound.data.filter((pl.col("task") != "t2") | (pl.col("person") != "group3"))
    faults = {
        "not the sizes": replace(sound, people=sound.people.with_columns(people=pl.lit(2))),
        "more of its groups": replace(sound, people=sound.people.with_columns(ill=pl.lit("y"))),
        "people can have in common": replace(sound, data=missing),
    }
    for words, released in faults.items():
        _, wrong = found_groups(mechanism, table, released)
        assert any(words in said for said in wrong), (words, wrong)
    with pytest.raises(InputError, match="too few values to find out who of 9 people"):
        found_groups(None, table, sound)


def test_a_release_whose_empty_cells_were_filled_with_the_midpoint_is_not_as_promised(table):
    mechanism = KSame(k=3)
    first = table.data["person"][0]
    gap = (pl.col("person") == first) & (pl.col("time_ms") == table.data["time_ms"][1])
    lacking = table.data.with_columns(pl.when(~gap).then(pl.col("a")).alias("a"))
    table = replace(table, data=lacking)
    sound = mechanism.averaged(table, np.repeat([0, 1, 2], 3))
    assert sound.data["a"].null_count() > 0
    _, wrong = found_groups(mechanism, table, sound)
    assert wrong == []
    lower, upper = table.features[0].lower, table.features[0].upper
    filled = sound.data.with_columns(pl.col("a").fill_null((lower + upper) / 2))
    _, wrong = found_groups(mechanism, table, replace(sound, data=filled))
    said = "some released values are there though a member of their group has none, or missing"
    assert wrong == [said]


@pytest.mark.parametrize("who", ["two alike", "one at the lower bounds", "all alike"])
def test_people_who_can_stand_for_each_other_refute_nothing(table, who):
    lowest = [f.lower for f in table.features]
    first = table.data.filter(pl.col("person") == table.data["person"][0])
    values = {
        "two alike": [first[name] for name in table.names],
        "one at the lower bounds": [pl.Series([low] * len(first)) for low in lowest],
        "all alike": [pl.Series([low] * len(first)) for low in lowest],
    }[who]
    people = table.data["person"].unique(maintain_order=True).to_list()
    changed = people if who == "all alike" else people[-1:]
    parts = [
        part.with_columns(
            [
                pl.Series(name, np.resize(value.to_numpy(), len(part)))
                for name, value in zip(table.names, values, strict=True)
            ]
        )
        if part["person"][0] in changed
        else part
        for part in table.data.partition_by("person", maintain_order=True)
    ]
    alike = replace(table, data=pl.concat(parts))
    mechanism = KSame(k=3)
    _, wrong = found_groups(mechanism, alike, mechanism.averaged(alike, np.repeat([0, 1, 2], 3)))
    assert wrong == []


def test_somebody_outside_the_bounds_is_found_as_others_are(table):
    beyond = pl.when(pl.col("person") == table.data["person"][0]).then(1e6).otherwise(pl.col("a"))
    outside = replace(table, data=table.data.with_columns(beyond.alias("a")))
    mechanism, member = KSame(k=3), np.repeat([0, 1, 2], 3)
    groups, wrong = found_groups(mechanism, outside, mechanism.averaged(outside, member))
    assert wrong == []
    assert not groups.fresh
    assert (groups.member == member).all()


def test_copies_that_differ_tell_members_apart(table):
    released = KSame(k=3, copies=True).averaged(table, np.repeat([0, 1, 2], 3))
    assert in_groups(released)
    changed = pl.when(pl.col("person") == "group1-2").then(pl.col("a") + 1e-6).otherwise("a")
    means, wrong = folded(replace(released, data=released.data.with_columns(a=changed)))
    assert means is None
    assert "differ" in wrong


def test_members_have_the_mean_of_their_group_under_their_own_names(table, grouped):
    named = under_names(table, grouped.means, grouped.member)
    people = table.people["person"].to_list()
    mine = table.data.filter(pl.col("person").is_in(people[3:6]))
    row = pl.int_range(pl.len()).over("person", "recording").alias("row")
    plain = (
        mine.with_columns(row)
        .group_by("task", "row")
        .agg(pl.col("a").mean(), pl.len())
        .filter(pl.col("len") == 3)
        .sort("task", "row")
    )
    for person in people[3:6]:
        theirs = named.data.filter(pl.col("person") == person).sort("task", "time_ms")
        np.testing.assert_allclose(theirs["a"], plain["a"], rtol=1e-9)


def test_members_of_whom_nothing_is_known_count_as_not_named():
    # One group of six, three of whom did a second task: of these one can be re-identified, of all
    # six too.
    table = people_with_tasks(people=6)
    data = table.data.filter((pl.col("task") == "t0") | (pl.col("person").cast(pl.Int64) < 3))
    half = replace(table, data=data.filter(pl.col("task") != "t2"))
    mechanism, member = KSame(k=6), np.zeros(6, dtype=np.intp)
    named = Grouped(mechanism, half, one_a_group(mechanism, half, member), member).named()
    protocol = [find_protocol("raw→release")]
    (known,) = identify(Material(half, named), [Means()], protocol)
    (everybody,) = identify(Material(half, named), [Means()], protocol, over_all=["raw→release"])
    assert (known.rate.rate, known.rate.people) == (pytest.approx(1 / 3), 3)
    assert (everybody.rate.rate, everybody.rate.people) == (pytest.approx(1 / 6), 6)
    assert everybody.rate.chance == pytest.approx(1 / 6)


def test_nobody_is_named_more_often_than_there_are_groups(table, grouped):
    # One record a group: whoever names its owner is right for one of its members.
    material = Material(table, grouped.named(), grouped.again(0))
    protocols = [find_protocol(name) for name in ("raw→release", "release→raw", "white-box")]
    found = {f.protocol: f.rate.rate for f in identify(material, [Means()], protocols)}
    assert max(found.values()) <= 1 / 3 + 1e-9
    (raw,) = identify(Material(table), [Means()], [POSITIVE])
    assert raw.rate.rate > 0.8


def test_what_groups_hide_and_what_not(table, grouped):
    found = audit_groups(grouped, [Means()], partitions=3)
    assert found.sizes == (3, 3, 3)
    # Everybody is alone in no group: one in three, an attacker who knows the groups.
    assert found.exact_intersection.rate == pytest.approx(1 / 3)
    assert found.intersection.rate <= 1 / 3 + 1e-9
    assert all(one.rate.rate <= 1 / 3 + 1e-9 for one in found.redrawn)
    assert found.padding.values == 0
    assert found.collusion.exact
    assert found.collusion.blind_rmse_of_span > 0.01
    assert found.member_rmse_of_span < 1e-9 < found.outsider_rmse_of_span
    # Raw recordings of another task lead to the right group more often than guessing.
    assert found.linkage.rate > found.linkage.chance == pytest.approx(1 / 3)
    assert all(later > earlier for earlier, later in pairwise(found.released_again))
    assert found.released_again[0] == pytest.approx(1 / 3)


def test_a_member_moves_the_mean_by_their_share(table, grouped):
    found = audit_records(table, grouped.means)
    people = np.array(table.people["person"].to_list()).reshape(3, 3)
    blind = []
    for group in people:
        for task in ("t0", "t1", "t2"):
            rows = [table.data.filter(person=name, task=task) for name in group]
            length = min(len(each) for each in rows)
            values = np.stack([each.select("a", "b", "c").to_numpy()[:length] for each in rows])
            others = (values.sum(axis=0) - values) / 2
            blind.append(np.sqrt(np.mean((values - others) ** 2)) / 10)
    assert np.isclose(blind, found.collusion.blind_rmse_of_span, rtol=0.02).any()
    assert found.outsider_rmse_of_span == pytest.approx(found.collusion.blind_rmse_of_span / 3)


def test_groups_that_are_all_alike_tell_an_attribute(table):
    (told,) = homogeneity(table, np.repeat([0, 1, 2], 3))
    assert (told.attribute, told.fewest, told.alike, told.guessed) == ("kind", 1, 1.0, 1.0)
    assert told.chance == pytest.approx(6 / 9)
    (mixed,) = homogeneity(table, np.tile([0, 1, 2], 3))
    assert (mixed.fewest, mixed.alike) == (2, 0.0)
    assert mixed.guessed == pytest.approx(6 / 9)


def test_one_group_hides_everybody_and_cannot_be_missed(table):
    mechanism, member = KSame(k=9), np.zeros(9, dtype=np.intp)
    one = Grouped(mechanism, table, one_a_group(mechanism, table, member), member)
    found = audit_groups(one, [Means()], partitions=1)
    assert found.linkage is None
    assert found.intersection.rate == pytest.approx(1 / 9)
    assert found.released_again == pytest.approx((1 / 9,) * 3)


def test_groups_as_printed_intersect_and_padding_gives_the_longest_away(table):
    released = KSamePaper(k=3).apply(table, randomness(3))
    found = audit_records(table, released)
    assert found.exact_intersection.rate > 0.6
    assert found.padding.values > 0
    assert found.redrawn == ()
    # Nine people and k = 4 leave a last group of one, who cannot be colluded against.
    alone = audit_records(table, KSamePaper(k=4).apply(table, randomness(3)))
    assert alone.sizes[0] == 1
    assert alone.collusion.people == 4

import itertools
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.partition import group_sizes
from eyelid.mechanisms.groups.slots import lacking
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.privacy import randomness
from eyelid.privacy.unit import PERSON

LOW, HIGH = -1.0, 3.0
FEATURES = (Feature("a", "", "", LOW, HIGH), Feature("group", "", "", LOW, HIGH))


def uneven(seed: int, people: int = 7, gaps: float = 0.0) -> FeatureTable:
    """People with unequal recordings, values beyond the bounds, gaps, and some without a task."""
    rng = np.random.default_rng(seed)
    parts = []
    for person in range(people):
        for number, task in enumerate(("read", "read", "look")):
            if person and number and rng.random() < 0.2:
                continue
            rows = int(rng.integers(2, 7))
            values = rng.uniform(LOW - 1, HIGH + 1, size=(rows, 2))
            values[rng.random(values.shape) < gaps] = np.nan
            parts.append(
                pl.DataFrame(
                    {
                        "person": [f"p{person}"] * rows,
                        "recording": [f"r{number}"] * rows,
                        "task": [task] * rows,
                        "stimulus": [f"{person}"] * rows,
                        "time_ms": np.arange(rows) * 500.0 + person,
                        "a": values[:, 0],
                        "group": values[:, 1],
                    }
                )
            )
    people_frame = pl.DataFrame({"person": [f"p{person}" for person in range(people)]})
    return FeatureTable(pl.concat(parts), FEATURES, people_frame, step_ms=500.0)


def plainly(table: FeatureTable, member: np.ndarray, length: int | str) -> dict:
    """A slow reference: means of (group, task, place in the task), row by row, value by value."""
    own: dict[tuple, list] = {}
    people = list(dict.fromkeys(table.data["person"]))
    for person in people:
        for task in ("look", "read"):
            mine = table.data.filter((pl.col("person") == person) & (pl.col("task") == task))
            for place, name in enumerate(dict.fromkeys(mine["recording"])):
                rows = mine.filter(pl.col("recording") == name).select("a", "group").rows()
                own[person, task, place] = rows
    valued = {key for key, rows in own.items() if any(v == v for row in rows for v in row)}
    shortest = min(len(own[key]) for key in valued or own)
    found = {}
    for group in sorted(set(member)):
        names = [name for name, mine in zip(people, member, strict=True) if mine == group]
        for task in ("look", "read"):
            for place in (0, 1):
                each = [own.get((name, task, place)) for name in names]
                if any(rows is None for rows in each):
                    continue
                lengths = [len(own[n, task, place]) for n in names if (n, task, place) in valued]
                rows = min(lengths, default=shortest)
                if length == "shortest":
                    rows = shortest
                elif length != "group":
                    rows = min(rows, length)
                columns = []
                for j in (0, 1):
                    means = []
                    for row in range(rows):
                        values = [rec[row][j] if row < len(rec) else np.nan for rec in each]
                        known = [min(max(v, LOW), HIGH) for v in values if v == v]
                        whole = len(known) == len(names)
                        means.append(sum(known) / len(names) if whole else np.nan)
                    columns.append(means)
                found[f"group{group + 1}", task, place] = columns
    return found


def left_out(table: FeatureTable, *recordings: tuple[str, str]) -> FeatureTable:
    """The table with one row without a value in the place of some recordings."""
    gone = pl.any_horizontal(
        (pl.col("person") == person) & (pl.col("recording") == name) for person, name in recordings
    )
    first = pl.int_range(pl.len()).over("person", "recording") == 0
    data = table.data.filter(~gone | first)
    empty = [pl.when(~gone).then(pl.col(name)).alias(name) for name in table.names]
    return replace(table, data=data.with_columns(empty))


@pytest.mark.parametrize("length", ["group", "shortest", 3])
def test_a_recording_without_a_value_empties_its_group_and_shortens_nothing(length):
    table = uneven(3, people=6)
    mechanism, member = mechanism_named("ksame", k=3, length=length), np.array([0, 0, 0, 1, 1, 1])
    whole, blank = (
        mechanism.averaged(each, member).data for each in (table, left_out(table, ("p1", "r0")))
    )
    emptied = (pl.col("person") == "group1") & (pl.col("task") == "read")
    emptied &= pl.col("recording") == pl.col("recording").filter(emptied).first()
    assert len(whole.filter(emptied)) > 1
    assert blank.filter(emptied)["a"].null_count() == blank.filter(emptied).height
    if length == "group":
        # Whoever was left out no longer ends the mean, be it the shortest.
        shortest = min(len(rows) for rows in _rows_of(table, ("p0", "p2"), "r0"))
        assert blank.filter(emptied).height == shortest
    assert blank.filter(~emptied).equals(whole.filter(~emptied))


def _rows_of(table, people, recording):
    mine = pl.col("person").is_in(people) & (pl.col("recording") == recording)
    return table.data.filter(mine).partition_by("person")


def test_a_group_of_which_nobody_has_a_value_is_as_long_as_the_shortest_of_all():
    table = left_out(uneven(3, people=6), ("p0", "r0"), ("p1", "r0"), ("p2", "r0"))
    mechanism = mechanism_named("ksame", k=3)
    made = mechanism.averaged(table, np.array([0, 0, 0, 1, 1, 1]))
    rows = made.recordings.filter((pl.col("person") == "group1") & (pl.col("task") == "read"))
    assert rows["rows"][0] == table.shortest > 1
    assert mechanism.facts(table).length == table.shortest


@pytest.mark.parametrize("length", ["group", "shortest", 3])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_the_share_of_empty_cells_is_that_over_all_groups_there_can_be(gaps, length):
    table = left_out(uneven(1, people=6, gaps=gaps), ("p1", "r0"), ("p4", "r1"))
    mechanism = mechanism_named("ksame", k=3, length=length)
    cells, empty, taken = 0, np.zeros(2), 0
    for chosen in itertools.combinations(range(6), 3):
        member = np.ones(6, dtype=np.intp)
        member[list(chosen)] = 0
        mine = mechanism.averaged(table, member).data.filter(pl.col("person") == "group1")
        cells += len(mine)
        empty += [mine[name].null_count() for name in table.names]
        # A recording that one member has no value of is in no mean.
        seen = mine.group_by("recording").agg(pl.len(), pl.col(table.names).is_not_null().any())
        taken += 3 * seen.filter(pl.any_horizontal(table.names))["len"].sum()
    np.testing.assert_allclose(
        list(mechanism.expected_empty(table).values()), empty / cells, atol=1e-9
    )
    had = 10 * table.recordings["rows"].to_numpy()[~table.blank].sum()
    assert mechanism.expected_left_out(table) == pytest.approx(1 - taken / had)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    gaps=st.sampled_from([0.0, 0.2, 0.9]),
    length=st.sampled_from(["group", "shortest", 3]),
)
def test_means_are_those_of_a_plain_loop(seed, gaps, length):
    table = uneven(seed, gaps=gaps)
    mechanism = mechanism_named("ksame", k=3, length=length)
    noise = randomness(seed)
    member = mechanism.partition(table, noise)
    released = mechanism.averaged(table, member)
    wanted = plainly(table, member, length)
    frames = released.data.partition_by("person", "task", "recording", maintain_order=True)
    seen: dict[tuple, int] = {}
    for frame in frames:
        key = (frame["person"][0], frame["task"][0])
        place = seen[key] = seen.get(key, -1) + 1
        np.testing.assert_allclose(
            frame.select("a", "group").to_numpy().T, wanted[*key, place], atol=1e-9
        )
        assert frame["time_ms"].to_list() == [500.0 * row for row in range(len(frame))]
    assert len(frames) == len(wanted)
    assert released.people["people"].to_list() == np.bincount(member).tolist()
    assert set(released.data.columns) == {
        *("person", "recording", "task", "stimulus", "time_ms", "a", "group")
    }
    assert released.data["stimulus"].unique().to_list() == [""]


def test_apply_is_the_partition_and_its_means():
    table = uneven(1)
    mechanism = mechanism_named("ksame", k=3)
    member = mechanism.partition(table, randomness(4))
    assert mechanism.apply(table, randomness(4)).data.equals(mechanism.averaged(table, member).data)


@given(seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_a_release_does_not_depend_on_the_order_of_people_to_the_last_bit(seed):
    # Float sums would: 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1.
    rng = np.random.default_rng(seed)
    values = rng.uniform(LOW, HIGH, size=(6, 2, 4, 2))
    order = rng.permutation(6)
    mechanism = mechanism_named("ksame", k=3)
    member = mechanism.partition(table_from_arrays(values, FEATURES), randomness(seed))
    one = mechanism.averaged(table_from_arrays(values, FEATURES), member)
    other = mechanism.averaged(table_from_arrays(values[order], FEATURES), member[order])
    assert one.data.equals(other.data)


def test_copies_are_equal_one_for_each_member_and_their_names_tell_the_group_only():
    table = table_from_arrays(np.random.default_rng(1).random((5, 2, 3, 2)), FEATURES)
    mechanism = mechanism_named("ksame", k=2, copies="yes")
    released = mechanism.apply(table, randomness(1))
    groups = replace(mechanism, copies=False).apply(table, randomness(1))
    assert sorted(groups.people["people"]) == [2, 3]
    assert released.people.columns == ["person"]
    for name, many in groups.people.rows():
        mean = groups.data.filter(pl.col("person") == name).drop("person")
        for copy in range(1, many + 1):
            mine = released.data.filter(pl.col("person") == f"{name}-{copy}").drop("person")
            assert mine.equals(mean)
    assert len(released.people) == 5


def test_a_feature_with_one_value_stays_as_it_is_and_one_nobody_has_is_empty():
    values = np.full((4, 1, 3, 2), 0.1)
    values[..., 1] = np.nan
    released = mechanism_named("ksame", k=2).apply(
        table_from_arrays(values, FEATURES), randomness(1)
    )
    np.testing.assert_allclose(released.data["a"].to_numpy(), 0.1, atol=1e-9)
    assert released.data["group"].to_list() == [None] * len(released.data)


def test_missing_cells_are_not_filled_with_the_midpoint_which_turned_an_effect_around():
    # Of 24 people, a small measure that two lack, in the task in which it is higher.
    rng = np.random.default_rng(5)
    small = Feature("share", "1", "", 0.0, 1.0)
    values = rng.uniform(0.02, 0.06, size=(24, 2, 1, 1))
    values[:, 0] += 0.04
    values[[3, 17], 1] = np.nan
    mechanism = mechanism_named("ksame", k=4)
    released = mechanism.apply(table_from_arrays(values, [small]), randomness(1))
    first, second = (released.data.filter(pl.col("task") == task)["share"] for task in "01")
    assert first.mean() > second.mean()
    assert released.data["share"].drop_nulls().max() < 0.11
    assert 1 <= second.null_count() <= 2
    assert first.null_count() == 0


def members_who_have_a_value(values: np.ndarray, k: int) -> np.ndarray:
    """Means over those of a group (people, rows) who have one, if k do: not what is released."""
    many = np.isfinite(values).sum(axis=0)
    return np.where(many >= k, np.nansum(values, axis=0) / np.maximum(many, 1), np.nan)


def test_differencing_a_cell_with_and_without_one_member_gives_that_member_s_value_away():
    # A measure that stays the same from row to row, as in windows that overlap.
    own = np.random.default_rng(6).uniform(0.0, 1.0, size=5)
    values = np.repeat(own[:, None], 2, axis=1)
    values[2, 1] = np.nan
    all_five, without = members_who_have_a_value(values, k=4)
    assert 5 * all_five - 4 * without == pytest.approx(own[2])
    table = table_from_arrays(values[:, None, :, None], [Feature("a", "", "", 0.0, 1.0)])
    released = mechanism_named("ksame", k=4).apply(table, randomness(1)).data["a"].to_list()
    assert released == [pytest.approx(own.mean()), None]


def test_values_beyond_the_bounds_are_clipped_and_means_stay_inside():
    values = np.full((4, 1, 2, 2), np.inf)
    values[..., 1] = -np.inf
    released = mechanism_named("ksame", k=4).apply(
        table_from_arrays(values, FEATURES), randomness(1)
    )
    assert released.data.select("a", "group").unique().rows() == [(HIGH, LOW)]


def test_a_gap_of_all_members_but_one_does_not_show_that_one_s_steps():
    values = np.random.default_rng(2).uniform(LOW, HIGH, size=(3, 1, 6, 2))
    values[1:, 0, 2:5] = np.nan
    released = mechanism_named("ksame", k=3).apply(
        table_from_arrays(values, FEATURES), randomness(1)
    )
    means = released.data.select("a", "group").to_numpy()
    assert np.isnan(means[2:5]).all()
    np.testing.assert_allclose(means[[0, 1, 5]], values[:, 0, [0, 1, 5]].mean(axis=0), atol=1e-9)


def test_diversity_and_balance_hold_in_every_group():
    table = table_from_arrays(np.random.default_rng(1).random((12, 1, 2, 2)), FEATURES)
    illness = ["x", "y", "z", "z"] * 3
    gender = ["f", "m"] * 6
    people = table.people.with_columns(illness=pl.Series(illness), gender=pl.Series(gender))
    table = replace(table, people=people)
    mechanism = mechanism_named("ksame", k=4, diverse="illness", l=3, balance="gender")
    for seed in range(10):
        member = mechanism.partition(table, randomness(seed))
        for group in range(3):
            mine = np.flatnonzero(member == group)
            assert {illness[i] for i in mine} == {"x", "y", "z"}
            assert abs(sum(gender[i] == "f" for i in mine) - 2) <= 1
    shown = " ".join(mechanism.unprotected(table))
    assert "the illness of a member to those who know it of the others of the group" in shown
    assert "at least 3 values, and the numbers of people of each differ by at most 1" in shown
    assert "that people who share illness and gender are spread over the groups: two" in shown
    assert "illness" not in mechanism.apply(table, randomness(1)).people.columns


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"k": 1}, "k must be at least 2, got 1"),
        ({"k": 8}, "k=8 needs at least 8 people, this study has 7: choose k ≤ 7"),
        ({"k": "many"}, "k must be a whole number, got 'many'"),
        ({}, "ksame needs k: give it, such as `k=4`"),
        ({"k": 3, "length": 0}, "length must be at least 1, got 0"),
        ({"k": 3, "length": "longest"}, "length must be a number, group or shortest"),
        ({"k": -3}, "k must be at least 2, got -3: nobody is hidden in a group of fewer than two"),
        ({"k": 3, "copies": "maybe"}, "copies must be true or false, got 'maybe'"),
        ({"k": 3, "l": 3}, "l = 3 values of what.* diverse=NAME, or leave l out"),
        ({"k": 3, "diverse": "illness", "l": 1}, "l must be at least 2, got 1"),
        ({"k": 3, "diverse": "illness", "l": 4}, "choose k ≥ 4"),
        ({"k": 3, "diverse": "illness"}, "unknown attribute of people 'illness'"),
        ({"k": 3, "balance": "gender"}, "unknown attribute of people 'gender'"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line_that_says_what_to_do(asked, complaint):
    with pytest.raises(InputError, match=complaint):
        mechanism_named("ksame", **asked).apply(uneven(1), randomness(1))


def with_attribute(table, values):
    return replace(table, people=table.people.with_columns(illness=pl.Series(values)))


@pytest.mark.parametrize(
    ("values", "asked", "complaint"),
    [
        (
            "xxxxxxy",
            {"k": 3},
            "2 groups of 3 or 4 cannot all be sure of 2 values of illness: choose k = 7$",
        ),
        (
            "xxxyyyz",
            {"k": 3, "l": 3},
            "cannot all be sure of 3 values of illness: choose k = 7 or l = 2$",
        ),
        (
            # One of the two may have the extra seat, in the group of the other.
            "xxxxxyy",
            {"k": 3},
            "2 groups of 3 or 4 cannot all be sure of 2 values of illness: choose k = 7$",
        ),
        ("xxxxxxx", {"k": 3}, "illness has 1 value over everybody.* leave diverse out"),
        (
            "xxxxyyy",
            {"k": 3, "l": 3},
            "illness has 2 values over .*: choose l = 2, or leave it out",
        ),
    ],
)
def test_groups_that_cannot_all_be_diverse_are_told_what_would_do(values, asked, complaint):
    table = with_attribute(uneven(1), list(values))
    with pytest.raises(InputError, match=complaint):
        mechanism_named("ksame", diverse="illness", **asked).check(table)
    mended = re.search(r"choose (k|l) = (\d)", complaint)
    if mended:
        asked = asked | {mended[1]: int(mended[2])}
        mechanism_named("ksame", diverse="illness", **asked).check(table)


@pytest.mark.parametrize("name", ["ksame", "ksame-dp"])
def test_an_attribute_that_all_share_cannot_be_balanced(name):
    table = with_attribute(uneven(1), ["x"] * 7)
    epsilon = {"epsilon": 1.0} if name == "ksame-dp" else {}
    with pytest.raises(InputError, match="illness is the same for everybody, nothing to balance"):
        mechanism_named(name, k=3, balance="illness", **epsilon).check(table)


def with_ages(ages):
    table = table_from_arrays(np.random.default_rng(1).random((20, 1, 2, 2)), FEATURES)
    gender = pl.Series(["f", "m"] * 10)
    return replace(table, people=table.people.with_columns(age=pl.Series(ages), gender=gender))


def test_the_last_members_diagnosis_follows_from_the_others_and_the_certificate_says_so():
    table, mechanism = (
        with_ages(["ill"] * 10 + ["well"] * 10),
        mechanism_named("ksame", k=4, diverse="age"),
    )
    for seed in range(10):
        ill = mechanism.partition(table, randomness(seed))[:10]
        assert np.bincount(ill).tolist() == [2] * 5, (
            "a person who knows three of a group knows all four"
        )
    assert any(
        "the age of a member to those who know it of" in s for s in mechanism.unprotected(table)
    )


def test_no_group_is_said_to_have_its_share_of_what_is_dealt_out_within_something_else():
    table = with_ages([n // 3 for n in range(20)])
    women = np.arange(20) % 2 == 0
    mechanism = mechanism_named("ksame", k=4, balance="age,gender")
    uneven_ones = [
        np.ptp(np.bincount(mechanism.partition(table, randomness(seed))[women], minlength=5))
        for seed in range(10)
    ]
    assert max(uneven_ones) > 1
    told = " ".join(mechanism.unprotected(table))
    assert "share of every value" not in told
    assert "who share age and gender are spread" in told
    assert "(of gender by itself groups may differ by more)" in told


@pytest.mark.parametrize(
    "asked", [{"diverse": "age", "balance": "gender"}, {"balance": "age,gender"}]
)
def test_balance_within_what_nobody_shares_is_refused_as_it_does_nothing(asked):
    table = with_ages(list(range(20)))
    with pytest.raises(InputError, match="gender is the same for all who share what comes before"):
        mechanism_named("ksame", k=4, **asked).check(table)


def test_l_is_stated_where_it_is_used_and_nowhere_else():
    assert mechanism_named("ksame", k=3).parameters()["l"] is None
    assert mechanism_named("ksame", k=3, diverse="illness").parameters()["l"] == 2


@pytest.mark.parametrize(
    ("people", "k", "words", "not_words"),
    [
        (20, 8, "2 groups of 10 people.* k = 10 would give the same groups", "nothing to compare"),
        (20, 11, "k = 20 would give the same groups.* nothing to compare: k = 10 or less", "more"),
        (20, 4, "5 groups of 4 people", "would give"),
        (23, 4, "5 groups of 4 or 5 people", "would give"),
        (3, 3, "With one group there is nothing to compare.$", "would give"),
    ],
)
def test_a_larger_k_for_the_same_groups_is_named(people, k, words, not_words):
    mechanism = mechanism_named("ksame", k=k)
    said = mechanism.worth(PublicFacts(people, 3, 100, 5))
    assert re.search(words, said)
    assert not_words not in said
    better = re.search(r"k = (\d+) would give the same groups", said)
    if better:
        assert group_sizes(people, int(better[1])) == group_sizes(people, k)


def test_whoever_lacks_a_recording_is_counted_by_task_and_order():
    table = table_from_arrays(np.zeros((5, 3, 2, 2)), FEATURES)
    recordings = table.data["recording"].unique(maintain_order=True)
    task = dict(zip(recordings, ("read", "read", "look"), strict=True))
    data = table.data.with_columns(task=pl.col("recording").replace_strict(task))
    first, second = data["person"].unique(maintain_order=True)[:2]
    gone = (pl.col("person") == first) & (pl.col("task") == "look")
    gone |= pl.col("person").is_in([first, second]) & (pl.col("recording") == recordings[0])
    assert lacking(replace(table, data=data)) == {}
    assert lacking(replace(table, data=data.filter(~gone))) == {
        "task 'look'": 1,
        "recording 2 of task 'read'": 2,
    }


def test_people_without_anything_in_common_are_refused():
    table = uneven(1)
    lacking = (pl.col("person") == "p0") & (pl.col("task") == "read")
    others = (pl.col("person") != "p0") & (pl.col("task") == "look")
    table = replace(table, data=table.data.filter(~lacking & ~others))
    with pytest.raises(InputError, match="there is no recording that everybody has"):
        mechanism_named("ksame", k=3).apply(table, randomness(1))


def test_features_without_bounds_are_refused():
    table = table_from_arrays(np.zeros((4, 1, 2, 1)), [Feature("a", "", "", 0.0, np.inf)])
    with pytest.raises(InputError, match="feature a has no public bounds"):
        mechanism_named("ksame", k=2).apply(table, randomness(1))


def test_the_guarantee_is_k_without_an_epsilon_and_says_what_is_not_hidden():
    mechanism = mechanism_named("ksame", k=8)
    promised = mechanism.cost(PublicFacts(20, 3, 100, 5), PERSON)
    assert (str(promised.kind), promised.k, promised.epsilon) == ("k-anonymity", 8, None)
    assert promised.holds
    assert "2 groups of 10" in mechanism.sampler(PublicFacts(20, 3, 100, 5))
    assert "not differential privacy" in mechanism.person_total(PublicFacts(20, 3, 100, 5))
    told = " ".join(mechanism_named("ksame", k=3).unprotected(uneven(1)))
    assert "the mean of a group of 3 less those of 2 gives the last one's values exactly" in told
    assert "nobody need be a member" in told
    assert "which group a participant is in" in told
    with pytest.raises(InputError, match="k=8 needs at least 8 people"):
        mechanism.cost(PublicFacts(7, 3, 100, 5), PERSON)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("ksame", {"balance": "illness"}),
        ("ksame", {"diverse": "illness"}),
        ("ksame-dp", {"balance": "illness", "epsilon": 1.0}),
    ],
)
def test_the_size_of_a_group_does_not_tell_who_has_a_rare_illness(name, asked):
    # 21 people in 5 groups: one of them has 5, where everybody is 5 times of 21. In 400 draws 5 σ
    # are 0.107, passed by one of 21 with probability 2e-5. The seed is fixed.
    table = table_from_arrays(np.zeros((21, 1, 1, 2)), FEATURES)
    table = with_attribute(table, ["x"] * 10 + ["rare"] + ["y"] * 10)
    mechanism, noise, draws = mechanism_named(name, k=4, **asked), randomness(5), 400
    larger = np.zeros(21)
    for _ in range(draws):
        drawn = mechanism.partition(table, noise)
        member = drawn if name == "ksame" else drawn.member
        larger += np.bincount(member)[member] == 5
    assert np.abs(larger / draws - 5 / 21).max() < 0.107


def test_resampled_recordings_are_taken_whole_and_lengths_show_nothing():
    long, short = np.arange(12.0), np.arange(4.0) * 3
    rows = [("a", v) for v in long] + [("b", v) for v in short] + [("c", v) for v in long]
    table = one_recording_each(rows)
    mechanism = mechanism_named("ksame", k=3, resample=4)
    shown = mechanism.apply(table, randomness(1))
    # The middle of each quarter: rows 1, 4, 7 and 10 of twelve, all of four.
    expected = (2 * np.array([1, 4, 7, 10]) + np.array([0, 3, 6, 9])) / 3
    np.testing.assert_allclose(shown.data["value"].to_numpy(), expected, rtol=1e-9)
    assert mechanism.facts(table).length == 4
    assert mechanism.expected_left_out(table) == 0
    assert any("nothing of how long" in line for line in mechanism.unprotected(table))
    again = mechanism.taken(mechanism.taken(table))
    assert again.data.equals(mechanism.taken(table).data)


def test_resampling_to_more_rows_than_somebody_has_is_refused():
    table = one_recording_each([("a", v) for v in range(9)] + [("b", v) for v in range(3)])
    with pytest.raises(
        InputError, match=r"resample=4: 1 recording of 2 has fewer.*min_seconds.*people"
    ):
        mechanism_named("ksame", k=2, resample=4).check(table)
    with pytest.raises(InputError, match="choose one"):
        mechanism_named("ksame", k=2, resample=4, length=3)
    with pytest.raises(InputError, match="at least 1"):
        mechanism_named("ksame", k=2, resample=0)


def test_a_recording_without_values_does_not_forbid_to_resample():
    rows = [("a", v) for v in range(9)] + [("b", np.nan)] + [("c", v) for v in range(6)]
    shown = mechanism_named("ksame", k=3, resample=5).apply(one_recording_each(rows), randomness(1))
    assert shown.data["value"].is_null().to_list() == [True] * 5


def one_recording_each(rows: list[tuple[str, float]]) -> FeatureTable:
    """One recording a person, of one feature."""
    data = pl.DataFrame(rows, schema={"person": pl.String, "value": pl.Float64}, orient="row")
    place = pl.int_range(pl.len()).over("person").cast(pl.Float64)
    data = data.select(
        "person",
        pl.lit("r").alias("recording"),
        pl.lit("read").alias("task"),
        pl.lit("").alias("stimulus"),
        place.alias("time_ms"),
        "value",
    )
    people = data.select("person").unique(maintain_order=True)
    return FeatureTable(data, (Feature("value", "1", "", 0.0, 20.0),), people)

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from eyelid.attacks import attributes
from eyelid.attacks.attributes import LeftOut, infer_attributes
from eyelid.attacks.protocols import Material
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness

PEOPLE, WIDTH = 16, 5
FEATURES = [Feature(f"f{n}", "1", "", -10.0, 10.0) for n in range(WIDTH)]
HALF = ["a", "b"] * (PEOPLE // 2)


def people_who(shift, seed=0, **columns):
    """People with habits of their own; every second one is shifted."""
    rng = np.random.default_rng(seed)
    habits = rng.normal(size=(PEOPLE, 1, 1, WIDTH))
    habits[1::2] += shift
    values = habits + 0.5 * rng.normal(size=(PEOPLE, 2, 12, WIDTH))
    table = table_from_arrays(values, FEATURES)
    return replace(
        table, people=table.people.with_columns(**(columns or {"kind": pl.Series(HALF)}))
    )


def columns(**given):
    return {name: pl.Series(values) for name, values in given.items()}


def test_what_shows_is_inferred_and_what_does_not_is_not():
    by_lot = np.random.default_rng(5).permutation(HALF)
    table = people_who(3.0, **columns(kind=HALF, lot=by_lot))
    found, left_out = infer_attributes(Material(table))
    assert left_out == []
    for one in found:
        if one.attribute == "kind":
            assert one.auc.rate > 0.95
            assert one.balanced_accuracy.rate > 0.9
            assert one.p_value < 0.01
        else:
            assert one.p_value > 0.05
            assert one.balanced_accuracy.low < 0.5 < one.balanced_accuracy.high


def test_a_release_for_the_whole_person_gives_no_attribute_away():
    table = people_who(3.0)
    released = mechanism_named("laplace", epsilon=0.1).apply(table, randomness(1))
    found, _ = infer_attributes(Material(table, released), bound=0.6)
    for one in found:
        if one.protocol == "raw→release":
            assert one.p_value > 0.05
            assert one.bound == 0.6
        else:
            assert one.p_value < 0.01
            assert one.bound is None


def released(table, data):
    """A release keeps no attributes."""
    return replace(table, data=data, people=table.people.select("person"))


def test_noise_of_single_rows_is_averaged_away():
    table = people_who(3.0)
    noisy = table.data.with_columns(
        pl.Series(
            name, table.data[name] + 4 * np.random.default_rng(n).normal(size=len(table.data))
        )
        for n, name in enumerate(table.names)
    )
    found, _ = infer_attributes(
        Material(table, replace(table, data=noisy, people=table.people.select("person")))
    )
    means = [f for f in found if f.attacker == "means" and f.protocol == "raw→release"]
    assert means[0].auc.rate > 0.85


def test_a_release_that_is_the_same_for_all_is_told_at_chance():
    """Neither whose label is missing nor whose recordings are may tell anything."""
    table = people_who(3.0)
    same = table.data.with_columns(pl.lit(9.0).alias(name) for name in table.names)
    found, _ = infer_attributes(Material(table, released(table, same)))
    for one in found:
        if one.protocol == "raw→release":
            assert one.auc.rate == 0.5
            assert one.p_value == 1.0


def test_p_values_are_honest_even_when_people_come_in_twins(monkeypatch):
    """Twins are right or wrong together. 300 labellings by lot: at most 5% + 4.5 sd below 0.05."""
    monkeypatch.setattr(attributes, "PERMUTATIONS", 199)
    rng = np.random.default_rng(2)
    values = np.repeat(rng.normal(size=(PEOPLE // 2, 1, 1, WIDTH)), 2, axis=0)
    table = table_from_arrays(values + 1e-3 * rng.normal(size=(PEOPLE, 2, 6, WIDTH)), FEATURES)
    rows = attributes._rows(table, Material(table))
    weights = attributes._weights(rows, rows, np.arange(PEOPLE))
    low = dict.fromkeys(attributes.ATTACKERS, 0)
    for seed in range(300):
        positive = rng.permutation(np.arange(PEOPLE) % 2 == 0)
        question = attributes._Question("lot", "a or b", np.arange(PEOPLE), positive)
        for one in attributes._inferences(question, "raw→raw", weights, seed):
            low[one.attacker] += one.p_value <= 0.05
    allowed = 300 * 0.05 + 4.5 * np.sqrt(300 * 0.05 * 0.95)
    assert max(low.values()) < allowed
    assert sum(low.values()) > 0


def test_scores_are_those_of_scikit_learn_s_regressions():
    """The weights stand for learning anew: for any labels they give what a fit gives."""
    table = people_who(1.0)
    rows = attributes._rows(table, Material(table))
    weights = attributes._weights(rows, rows, np.arange(PEOPLE)).by_attacker
    labels = np.random.default_rng(3).normal(size=PEOPLE)
    for person, other in ((0, 3), (7, 2)):
        known, shown = ~np.isin(rows.person, [person, other]), rows.person == person
        scaler = StandardScaler().fit(rows.values[known])
        ours, theirs = scaler.transform(rows.values[known]), scaler.transform(rows.values[shown])
        wanted = labels[rows.person[known]]
        near = KNeighborsRegressor(11).fit(ours, wanted).predict(theirs).mean()
        assert weights["knn"][person, other] @ labels == pytest.approx(near)
        ridge = KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / WIDTH).fit(ours, wanted)
        assert weights["rbf"][person, other] @ labels == pytest.approx(ridge.predict(theirs).mean())
        others = np.setdiff1d(np.arange(PEOPLE), [person, other])
        means = np.stack([rows.values[rows.person == p].mean(axis=0) for p in others])
        scaler = StandardScaler().fit(means)
        linear = KernelRidge(alpha=WIDTH).fit(scaler.transform(means), labels[others])
        mine = scaler.transform(rows.values[shown].mean(axis=0, keepdims=True))
        assert weights["means"][person, other] @ labels == pytest.approx(linear.predict(mine)[0])


def test_the_area_is_that_of_leaving_out_pairs_one_by_one():
    table = people_who(0.5)
    rows = attributes._rows(table, Material(table))
    weights = attributes._weights(rows, rows, np.arange(PEOPLE))
    positive = np.arange(PEOPLE) < 6
    scores = attributes._scores(weights, "means", positive[:, None])
    matrix, wins = weights.by_attacker["means"], []
    for i in range(6):
        for j in range(6, PEOPLE):
            rest = [k for k in range(PEOPLE) if k not in (i, j)]
            label = np.where(positive[rest], 1 / 5, -1 / (PEOPLE - 7))
            wins.append(matrix[i, j][rest] @ label > matrix[j, i][rest] @ label)
    area = attributes._aucs(scores, weights.group, positive[:, None])[0]
    assert area == pytest.approx(np.mean(wins))


def test_many_people_are_left_out_in_groups(monkeypatch):
    monkeypatch.setattr(attributes, "_MOST_GROUPS", 5)
    found, _ = infer_attributes(Material(people_who(3.0)))
    assert all(one.auc.rate > 0.95 for one in found)
    table = people_who(3.0)
    rows = attributes._rows(table, Material(table))
    weights = attributes._weights(rows, rows, np.arange(PEOPLE))
    for matrix in weights.by_attacker.values():
        for person, group in enumerate(weights.group):
            for other in range(5):
                unseen = (weights.group == group) | (weights.group == other)
                assert (matrix[person, other][unseen] == 0).all()
                assert matrix[person, other].any()


def test_what_cannot_be_asked_is_left_out_with_a_reason():
    given = columns(
        same=["x"] * PEOPLE,
        rare=["y"] * 2 + ["n"] * (PEOPLE - 2),
        unknown=[None] * PEOPLE,
        age=[*range(20, 35), None],
        hand=["left"] * 3 + ["right"] * 12 + ["both"],
    )
    given["unknown"] = given["unknown"].cast(pl.String)
    found, left_out = infer_attributes(Material(people_who(0.0, **given)))
    assert left_out == [
        LeftOut("same", "everybody has the same value"),
        LeftOut("rare", "fewer than 3 people are of a kind, or not of it"),
        LeftOut("unknown", "no value is known"),
    ]
    asked = {(one.attribute, one.asks, one.auc.people) for one in found}
    assert asked == {
        ("age above the median", "which of two", 7),
        ("hand", "kind 2 of 3 or not", 3),
        ("hand", "kind 3 of 3 or not", 4),
    }


def test_an_unknown_column_is_named():
    with pytest.raises(InputError, match="unknown attribute 'knd': did you mean 'kind'"):
        infer_attributes(Material(people_who(0.0)), ["knd"])


def test_nothing_to_infer_is_nothing_found():
    table = people_who(0.0)
    bare = replace(table, people=table.people.select("person"))
    assert infer_attributes(Material(bare)) == ([], [])


def test_gender_shows_in_real_recordings_and_not_in_a_release_of_them(real_windows):
    made = mechanism_named("laplace", epsilon=0.1).apply(real_windows, randomness(7))
    found, _ = infer_attributes(Material(real_windows, released(real_windows, made.data)))
    raw = [one for one in found if one.protocol == "raw→raw"]
    assert min(one.p_value for one in raw) < 0.05
    assert max(one.auc.rate for one in raw) > 0.75
    assert all(one.p_value > 0.05 for one in found if one.protocol == "raw→release")

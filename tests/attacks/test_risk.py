"""Who and what is at risk, against textbook formulas and against people who are all alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f, f_oneway

from eyelid.attacks.identification import Finding
from eyelid.attacks.risk import features_at_risk, group_of, people_at_risk
from eyelid.attacks.statistics import rate_of_decisions
from eyelid.errors import InputError
from eyelid.gaze.features.catalogue import event_feature_set, window_feature_set
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays


def table_of(values):
    """A table of people × recordings × rows × features; recordings are tasks."""
    features = [Feature(f"f{n}", "1", "", -9.0, 9.0) for n in range(values.shape[-1])]
    return table_from_arrays(values, features)


def without_tasks(table):
    return replace(table, data=table.data.with_columns(pl.lit("").alias("task")))


def by_name(table):
    return {row["name"]: row for row in features_at_risk(table).iter_rows(named=True)}


def finding(shares, places=None, attacker="means", honest=True, chance=0.01):
    shares = np.array(shares, dtype=float)
    rate = rate_of_decisions(shares[~np.isnan(shares)], chance)
    places = np.ones(len(shares)) if places is None else np.array(places, dtype=float)
    return Finding("raw→raw", attacker, rate, None, 0.5, (), (), shares, places, honest=honest)


def test_people_are_listed_by_how_often_they_are_named():
    found = people_at_risk(
        [finding([1.0, 0.0, 0.5, 1 / 3, 1.0], [1, 4, 2, 3, 1.5]), finding([0.0] * 5)],
        ["a", "b", "c", "d", "e"],
    )
    assert found["person"].to_list() == ["a", "e", "c", "d", "b"]
    assert found["risk"].to_list() == [
        "re-identified every time",
        "re-identified every time",
        "re-identified often",
        "re-identified sometimes",
        "re-identified no more than by chance",
    ]
    assert found["attacker"].unique().to_list() == ["means"]


def test_one_attacker_is_believed_about_everybody():
    """The best one for each person, chosen afterwards, would name some by luck."""
    weak, strong = finding([0, 0, 1, 0], attacker="weak"), finding([1, 1, 0, 0], attacker="strong")
    found = people_at_risk([weak, strong], list("abcd"))
    assert found.filter(person="c")["named"].item() == 0.0


def test_who_was_not_attacked_is_said():
    found = people_at_risk([finding([np.nan, 1.0, 0.0], [np.nan, 1, 3])], ["a", "b", "c"])
    assert found.row(2) == ("a", None, None, "not attacked", "means")


def test_dishonest_protocols_name_nobody():
    with pytest.raises(InputError, match="leak-free protocol"):
        people_at_risk([finding([1.0, 1.0], honest=False)], ["a", "b"])
    with pytest.raises(InputError, match="about 2 people, not 3"):
        people_at_risk([finding([1.0, 1.0])], ["a", "b", "c"])


@given(st.integers(0, 1000), st.integers(2, 6), st.integers(2, 5))
def test_without_tasks_it_is_the_analysis_of_variance(seed, people, recordings):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(people, recordings, 1, 3)) + rng.normal(size=(people, 1, 1, 3))
    found = by_name(without_tasks(table_of(values)))
    for column in range(3):
        oracle = f_oneway(*values[:, :, 0, column])
        row = found[f"f{column}"]
        assert row["p_value"] == pytest.approx(oracle.pvalue, rel=1e-6)
        shrout_fleiss = (oracle.statistic - 1) / (oracle.statistic + recordings - 1)
        assert row["between_people"] == pytest.approx(max(shrout_fleiss, 0.0), abs=1e-9)


def test_what_a_task_does_to_everybody_is_taken_off():
    """Shrout & Fleiss 1979, their table 2: six targets, four judges."""
    ratings = np.array(
        [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    )
    row = by_name(table_of(ratings[:, :, None, None].astype(float)))["f0"]
    assert row["between_people"] == pytest.approx(0.71, abs=0.005)
    assert row["p_value"] == pytest.approx(f.sf(11.24 / 1.02, 5, 15), rel=0.02)


def test_unequal_numbers_of_recordings_are_a_general_linear_model():
    """Least squares with and without people, feature by feature."""
    rng = np.random.default_rng(3)
    table = table_of(rng.normal(size=(6, 4, 1, 2)) + rng.normal(size=(6, 1, 1, 2)))
    gone = pl.Series(rng.uniform(size=24) < 0.3)
    holes = pl.Series(rng.uniform(size=24) < 0.1)
    data = table.data.with_columns(pl.when(~holes).then("f1").alias("f1")).filter(~gone)
    found = by_name(replace(table, data=data))
    for name in ("f0", "f1"):
        rows = data.drop_nulls(name)
        y = rows[name].to_numpy()
        designs = [rows["task"].to_dummies().to_numpy(), rows["person"].to_dummies().to_numpy()]
        rss, rank = [], []
        for design in (designs[0], np.hstack(designs)):
            fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
            rss.append(((y - fitted) ** 2).sum())
            rank.append(np.linalg.matrix_rank(design))
        df = rank[1] - rank[0], len(y) - rank[1]
        statistic = (rss[0] - rss[1]) / df[0] / (rss[1] / df[1])
        assert found[name]["p_value"] == pytest.approx(f.sf(statistic, *df), rel=1e-6)


def test_the_share_of_variance_is_right_on_average_with_unequal_recordings():
    """True share 0.6; the mean of 400 features has a standard error of about 0.01."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=(12, 5, 1, 400)) * np.sqrt(0.4)
    values += rng.normal(size=(12, 1, 1, 400)) * np.sqrt(0.6)
    table = table_of(values)
    kept = pl.Series(rng.uniform(size=60) < 0.7)
    found = features_at_risk(replace(table, data=table.data.filter(kept)))
    assert found["between_people"].mean() == pytest.approx(0.6, abs=0.04)


def test_people_who_are_alike_are_told_apart_at_the_error_rate():
    """2000 features without people in them: 5 ± 2% below 0.05 (four standard errors)."""
    values = np.random.default_rng(4).normal(size=(8, 3, 1, 2000))
    found = features_at_risk(table_of(values))
    assert (found["p_value"] < 0.05).mean() == pytest.approx(0.05, abs=0.02)
    assert found["rank1"].mean() == pytest.approx(1 / 8, abs=0.01)
    # After Holm's correction one in twenty such tables has anything; this one has not.
    assert found["p_adjusted"].min() > 0.05


def test_shuffled_people_cannot_be_told_apart(simulated_table):
    """One shuffle of 6 × 3 recordings; a false alarm anywhere has a chance of 5%."""
    order = np.random.default_rng(5).permutation(18)
    recordings = simulated_table.recordings.with_row_index("n")
    new = recordings[order].select(pl.col("person").alias("other")).with_row_index("n")
    keys = recordings.join(new, on="n").select("person", "recording", "other")
    data = simulated_table.data.join(keys, on=["person", "recording"], maintain_order="left")
    data = data.with_columns(
        pl.col("other").alias("person"), (pl.col("person") + pl.col("recording")).alias("recording")
    ).drop("other")
    mixed = features_at_risk(replace(simulated_table, data=data))
    assert mixed["p_adjusted"].min() > 0.05
    true = features_at_risk(simulated_table)
    assert true["p_adjusted"].min() < 0.01
    assert true["rank1"].max() > mixed["rank1"].mean()


def test_one_feature_names_people_as_a_plain_loop_does():
    rng = np.random.default_rng(6)
    values = rng.normal(size=(7, 3, 5, 1)) + 3 * rng.normal(size=(7, 1, 1, 1))
    values += np.array([0.0, 50.0, -20.0])[None, :, None, None]
    means = values.mean(axis=2)[..., 0]
    means -= means.mean(axis=0)
    right = 0
    for task in range(3):
        known = np.delete(means, task, axis=1).mean(axis=1)
        for person in range(7):
            right += int(np.argmin(np.abs(known - means[person, task])) == person)
    assert by_name(table_of(values))["f0"]["rank1"] == pytest.approx(right / 21)
    assert right / 21 > 0.4


def test_features_that_say_nothing_have_no_figures():
    values = np.random.default_rng(1).normal(size=(4, 3, 6, 3))
    values[..., 1], values[..., 2] = 0.1, np.nan
    found = by_name(table_of(values))
    for name in ("f1", "f2"):
        assert found[name] | {"name": "", "group": ""} == {
            "name": "",
            "group": "",
            "between_people": None,
            "p_value": None,
            "p_adjusted": None,
            "rank1": None,
        }
    # Holm's correction counts the one that could have been significant.
    assert found["f0"]["p_adjusted"] == found["f0"]["p_value"]


def test_people_with_one_recording_are_compared_with_their_own_second_half():
    values = np.random.default_rng(2).normal(size=(6, 1, 40, 2))
    values[..., 1] += 5 * np.arange(6)[:, None, None]
    found = by_name(table_of(values))
    assert found["f1"]["rank1"] == 1.0
    assert found["f1"]["between_people"] > 0.9 > found["f0"]["between_people"]


def test_a_feature_that_never_varies_within_a_person_is_certain():
    values = np.broadcast_to(np.arange(4.0)[:, None, None, None], (4, 3, 5, 1)).copy()
    row = by_name(table_of(values))["f0"]
    assert (row["between_people"], row["rank1"]) == pytest.approx((1.0, 1.0))
    assert row["p_value"] < 1e-12


def test_one_person_cannot_be_told_from_anybody():
    with pytest.raises(InputError, match="one person"):
        features_at_risk(table_of(np.random.default_rng(1).normal(size=(1, 3, 4, 1))))


def test_every_feature_of_the_catalogue_belongs_to_a_group():
    groups = {f.name: group_of(f.name) for f in window_feature_set()}
    counts = {group: list(groups.values()).count(group) for group in set(groups.values())}
    assert counts == {"fixation": 8, "saccade": 13, "pupil": 4, "blink": 3, "wordbook": 24}
    for kind in ("fixations", "saccades"):
        assert {group_of(f.name) for f in event_feature_set(kind)} == {kind[:-1]}
    assert group_of("heart_rate") == "other"


def test_real_pupils_tell_people_apart(real_windows):
    few = real_windows.people["person"][:8].to_list()
    data = real_windows.data.filter(pl.col("person").is_in(few))
    found = by_name(replace(real_windows, data=data))
    assert found["pupil_mean_mean"]["between_people"] > 0.7
    assert found["pupil_mean_mean"]["p_adjusted"] < 0.01
    assert found["pupil_mean_mean"]["rank1"] > 1 / 8

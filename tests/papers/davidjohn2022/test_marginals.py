"""The Task-based Marginals Model as printed: what it does, and what its test does not see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import PublicFacts, mechanism_named
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.privacy import PERSON, randomness
from eyelid.privacy.unit import RECORD

SHAPE = PublicFacts(people=20, recordings=3, length=1200, features=52)


def mechanism(**parameters):
    return mechanism_named("marginals-paper", **parameters)


def values_of(table):
    return table.data.select(table.names).to_numpy()


def unequal(wandering):
    """Somebody lacks a task, somebody else half of one."""
    table = wandering(people=4, recordings=2, rows=30)
    number = pl.int_range(pl.len()).over("person", "recording")
    lacks = (pl.col("person") == "1") & (pl.col("task") == "1")
    half = (pl.col("person") == "2") & (pl.col("task") == "0") & (number >= 15)
    return replace(table, data=table.data.filter(~lacks & ~half))


def test_everybody_has_as_many_rows_of_each_task_as_before(wandering):
    table = unequal(wandering)
    released = mechanism().apply(table, randomness(0))
    assert released.recordings.equals(table.recordings)
    assert released.recordings["rows"].to_list() == [30, 30, 30, 15, 30, 30, 30]
    keys = ["person", "recording", "task", "stimulus", "time_ms"]
    assert released.data.columns == [*keys, *table.names]


def test_the_model_is_the_histogram_of_each_feature_over_everybody_in_the_task(wandering):
    """Numpy's own histogram; by χ² with a fixed seed, which a right one fails in 1 of 1000."""
    from scipy.stats import chisquare

    table = wandering(people=6, recordings=2, rows=400)
    made = mechanism(bins=8).apply(table, randomness(1))
    for task in ("0", "1"):
        for name in table.names:
            real, drawn = (
                t.data.filter(pl.col("task") == task)[name].to_numpy() for t in (table, made)
            )
            whole = table.data[name].to_numpy()
            ends = (whole.min(), whole.max())
            wanted, _ = np.histogram(real, bins=8, range=ends)
            found, _ = np.histogram(drawn, bins=8, range=ends)
            assert (found[wanted == 0] == 0).all()
            there = wanted > 0
            assert chisquare(found[there], wanted[there]).pvalue > 0.001 / 4


def test_features_are_drawn_one_by_one_and_rows_too():
    """Two features that are always the same, rising over time: nothing of it is left."""
    rising = np.tile(np.arange(500.0)[:, None], (3, 1, 1, 2))
    features = [Feature(name, "", "", 0.0, 500.0) for name in "ab"]
    values = values_of(mechanism().apply(table_from_arrays(rising, features), randomness(2)))
    # Their standard error is 1/√1500 = 0.026.
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.1
    assert abs(np.corrcoef(values[1:, 0], values[:-1, 0])[0, 1]) < 0.1


@pytest.mark.parametrize("gamma", [1.0, 1.5, 100.0])
def test_the_test_cannot_fail_since_the_seed_makes_no_difference(wandering, gamma):
    table = unequal(wandering)
    made = mechanism(gamma=gamma).synthesise(table, randomness(3))
    each = table.data["task"].replace_strict({"0": 4 * 30 - 15, "1": 3 * 30}).to_numpy()
    assert (made.plausible == each).all()


def test_one_person_alone_is_enough_for_the_test():
    """It counts rows: a task that only one person did passes with any k up to its rows."""
    values = np.random.default_rng(0).uniform(size=(1, 1, 40, 1))
    table = table_from_arrays(values, [Feature("rate", "", "", 0.0, 1.0)])
    made = mechanism(k=40).synthesise(table, randomness(4))
    assert (made.plausible == 40).all()


def test_somebody_alone_in_a_bin_is_seen_in_the_release_though_every_row_is_deniable():
    """With or without the one who is different: the release tells, every time.

    Nobody else is near 0.8. Of 400 rows 20 are theirs, so that none is drawn in e⁻²⁰ of releases.
    """
    rng = np.random.default_rng(5)
    features = [Feature("rate", "", "", 0.0, 1.0)]
    others = rng.uniform(0.1, 0.3, size=(20, 1, 20, 1))
    others[0, 0, 0] = 1.0
    one = others.copy()
    one[-1] = 0.8
    for seed in range(20):
        shown = []
        for values in (others, one):
            table = table_from_arrays(values, features)
            made = mechanism(k=200).synthesise(table, randomness(seed))
            assert (made.plausible >= 200).all()
            released = values_of(mechanism(k=200).apply(table, randomness(seed)))
            shown.append(bool(((released > 0.75) & (released < 0.85)).any()))
        assert shown == [False, True]


def test_the_ends_of_the_data_show(wandering):
    """30 bins of the range of 3000 rows: the end is found to a bin's width and a little."""
    table = wandering(people=3, rows=500)
    released = values_of(mechanism().apply(table, randomness(6)))
    real = values_of(table)
    width = np.ptp(real, axis=0) / 30
    assert (real.max(axis=0) - released.max(axis=0) < 2 * width).all()
    assert (released.max(axis=0) <= real.max(axis=0)).all()
    assert (released.min(axis=0) >= real.min(axis=0)).all()


def test_nothing_holds_and_the_certificate_says_why(wandering):
    certificate = eyelid.release(wandering(), mechanism="marginals-paper").certificate
    told = certificate.to_dict()
    assert told["guarantee"]["kind"] == "plausible-deniability"
    assert (told["guarantee"]["k"], told["guarantee"]["gamma"]) == (8, 1.0)
    assert told["guarantee"]["unit"] == "record"
    assert told["guarantee"]["holds"] is told["person_level"]["holds"] is False
    assert told["person_level"]["kind"] == "none"
    reasons = " ".join(told["guarantee"]["reasons"])
    for words in (
        "the model ignores its seed",
        "the test cannot fail where a task has 8 rows",
        "counts rows, not people",
        "have no noise",
        "in this very dataset",
        "marginals-paper does not give the guarantee that its paper prints",
    ):
        assert words in reasons
    assert set(told["rank1_bound"].values()) == {None}


def test_a_row_has_the_printed_numbers_and_a_person_has_none():
    chosen = mechanism(k=5, gamma=2.0)
    assert chosen.unit == RECORD
    assert chosen.cost(SHAPE, RECORD).numbers() == "k = 5, γ = 2"
    assert chosen.cost(SHAPE, PERSON).numbers() == "no guarantee"
    assert chosen.person_total(SHAPE).startswith("no bound")


def test_a_feature_with_one_value_keeps_it_and_gaps_are_in_the_middle(wandering):
    table = wandering(people=2, rows=50)
    flat = table.data.with_columns(pl.lit(70.0).alias("heart_rate"))
    gaps = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("head_pitch"))
    gone = replace(table, data=flat.with_columns(gaps.alias("head_pitch")))
    released = mechanism().apply(gone, randomness(7)).data
    assert released["heart_rate"].unique().to_list() == [70.0]
    assert released["head_pitch"].null_count() == 0
    pitch = gone.data["head_pitch"].drop_nulls().to_numpy()
    middle = Bins(pitch.min(keepdims=True), pitch.max(keepdims=True), 30).codes([[np.nan]])
    codes = Bins(pitch.min(keepdims=True), pitch.max(keepdims=True), 30).codes(
        released["head_pitch"].to_numpy()[:, None]
    )
    # Half of 200 rows, ± 7.
    assert 60 < np.count_nonzero(codes == middle) < 140


def test_numbers_that_stand_for_categories_come_back_as_numbers_in_between():
    values = np.random.default_rng(8).choice([0.0, 1.0, 2.0], size=(3, 1, 40, 1))
    table = table_from_arrays(values, [Feature("hand", "code", "", 0.0, 2.0)])
    released = values_of(mechanism().apply(table, randomness(8)))
    assert not np.isin(released, [0.0, 1.0, 2.0]).any()
    assert np.bincount(Bins.of(table.features, 30).codes(released).ravel()).nonzero()[
        0
    ].tolist() == [
        0,
        15,
        29,
    ]


def with_text(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.with_columns(heart_rate=pl.lit("fast")))


def without_values(table: FeatureTable) -> FeatureTable:
    return replace(table, data=table.data.with_columns(heart_rate=pl.lit(np.nan)))


def test_what_has_no_histogram_is_refused(wandering):
    with pytest.raises(InputError, match="heart_rate"):
        eyelid.release(with_text(wandering()), mechanism="marginals-paper")
    with pytest.raises(InputError, match="feature heart_rate has no value at all"):
        mechanism().apply(without_values(wandering()), randomness(0))


def test_more_rows_than_a_task_has_cannot_be_asked_for(wandering):
    with pytest.raises(InputError, match="k=91 needs at least 91 rows in every task, '1' has 90"):
        mechanism(k=91).apply(unequal(wandering), randomness(0))
    assert len(mechanism(k=90).apply(unequal(wandering), randomness(0)).data) == 195


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": 1}, "k must be at least 2, got 1"),
        ({"gamma": 0.5}, "gamma must be 1, or a number of at least"),
        ({"bins": 0}, "bins must be 1 to 256, got 0"),
        ({"bins": 300}, "bins must be 1 to 256, got 300"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        mechanism(**wrong)


def test_all_of_the_real_windows_pass_as_they_must(real_windows):
    """Two people of the paper's own dataset; the test is run on all of their rows."""
    people = pl.col("person").is_in(real_windows.people["person"][:2].to_list())
    table = replace(
        real_windows,
        data=real_windows.data.filter(people),
        people=real_windows.people.filter(people),
    )
    made = mechanism(k=8).synthesise(table, randomness(9))
    tasks = table.data["task"]
    assert (made.plausible == table.data.select(pl.len().over(tasks)).to_series().to_numpy()).all()

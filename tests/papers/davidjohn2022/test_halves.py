"""First halves released, second halves raw: which document is it?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers import find_attackers
from eyelid.attacks.classifiers import RandomForest
from eyelid.attacks.groups import under_names
from eyelid.attacks.records import records_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.papers.davidjohn2022.halves import (
    MODELS,
    ObliqueForest,
    discriminants,
    first_halves,
    named_by_halves,
    recognised,
    second_halves,
    shown_windows,
    with_spread,
)
from eyelid.privacy.noise import randomness

FEATURES = [Feature(f"feature_{j}", "", "", 0.0, 10.0) for j in range(4)]


def readers(apart: float, people: int = 8, rows: int = 40) -> FeatureTable:
    """People whose documents differ by so many units in each feature, besides what they do."""
    rng = np.random.default_rng(7)
    documents = apart * np.arange(3)[None, :, None, None]
    values = 3.0 + documents + rng.normal(0.0, 0.5, (people, 3, rows, 4))
    return table_from_arrays(np.clip(values, 0.0, 10.0), FEATURES)


def test_halves_share_no_row_and_leave_out_the_gap():
    table = readers(1.0, people=2, rows=11)
    first, second = first_halves(table), second_halves(table, gap=2)
    assert first.recordings["rows"].to_list() == [5] * 6
    assert second.recordings["rows"].to_list() == [4] * 6
    assert second.data["time_ms"].min() == 7 * 500.0


def test_a_gap_that_leaves_nothing_is_refused():
    with pytest.raises(InputError, match="6 recordings are too short"):
        second_halves(readers(1.0, people=2, rows=10), gap=5)


@pytest.mark.parametrize("model", [name for name in MODELS if name != "svm-unscaled"])
def test_documents_that_differ_are_told_and_equal_ones_are_not(model):
    for apart, low, high in ((2.0, 0.95, 1.0), (0.0, 0.15, 0.55)):
        table = readers(apart)
        shares = recognised(first_halves(table), shown_windows(second_halves(table), 4), [model])
        assert shares[model].shape == (8,)
        # 120 windows at chance 1/3: four standard errors are 0.17.
        assert low <= shares[model].mean() <= high


def test_without_scaling_one_wide_feature_drowns_the_others():
    table = readers(2.0)
    wide = replace(FEATURES[0], name="wide", upper=1e7)
    noise = pl.Series("wide", np.random.default_rng(1).uniform(0.0, 1e7, len(table.data)))
    table = replace(table, data=table.data.with_columns(noise), features=(*table.features, wide))
    shown = shown_windows(second_halves(table), 4)
    shares = recognised(first_halves(table), shown, ["svm", "svm-unscaled"])
    assert shares["svm"].mean() > 0.9 > 0.55 > shares["svm-unscaled"].mean()


def test_rows_of_a_mean_get_the_spread_of_one_person():
    # 4 people, 2000 rows of noise: the spread is known to 2 %.
    table = readers(0.0, people=4, rows=2000)
    released = KSame(k=4).apply(table, randomness(0))
    known = records_of(released, ["group1"])
    restored = with_spread(known, np.full(len(known.owner), 4.0))
    one = records_of(table, ["0"]).values
    np.testing.assert_allclose(restored.std(axis=0), one.std(axis=0), rtol=0.1)
    np.testing.assert_allclose(restored.mean(axis=0), known.values.mean(axis=0))


def test_learning_from_one_row_a_group_takes_its_size_from_the_release():
    table = readers(0.4)
    first, shown = first_halves(table), shown_windows(second_halves(table), 2)
    released = KSame(k=4).apply(first, randomness(0))
    nameless = replace(released, people=released.people.drop("people"))
    weighted, plain = (
        recognised(one, shown, ["oblique-forest"])["oblique-forest"].mean()
        for one in (released, nameless)
    )
    assert weighted != plain


def test_what_cannot_be_recognised_is_refused():
    table = readers(1.0, people=2)
    shown = shown_windows(second_halves(table))
    with pytest.raises(InputError, match="svm"):
        recognised(first_halves(table), shown, ["svmm"])
    single = replace(table, data=table.data.filter(pl.col("task") == "0"))
    with pytest.raises(InputError, match="one task only"):
        recognised(first_halves(single), shown_windows(second_halves(single)))


def different_people(people: int = 12) -> FeatureTable:
    """People who lie apart in every feature, whatever they do."""
    rng = np.random.default_rng(2)
    values = rng.uniform(2.0, 8.0, (people, 1, 1, 6)) + rng.normal(0.0, 0.1, (people, 3, 20, 6))
    return table_from_arrays(values, [Feature(f"feature_{j}", "", "", 0.0, 10.0) for j in range(6)])


@pytest.mark.parametrize("name", ["rbf-network", "means"])
def test_everybody_is_named_from_raw_halves(name):
    table = different_people()
    found = named_by_halves(first_halves(table), second_halves(table), find_attackers([name]))
    assert found[name].tolist() == [1.0] * 12


def test_means_of_groups_name_at_most_one_of_k():
    table = different_people()
    mechanism, attackers = KSame(k=4), find_attackers(["means"])
    first, second = first_halves(table), second_halves(table)
    rates = []
    for seed in range(5):
        member = mechanism.partition(first, randomness(seed))
        released = under_names(first, mechanism.averaged(first, member), member)
        rates.append(named_by_halves(released, second, attackers)["means"].mean())
    # Groups of exactly 4 whose members tie: the bound cannot be passed but for rounding.
    assert np.mean(rates) <= 0.25 + 1e-9
    assert np.mean(rates) > 1 / 12


def hidden_in_a_difference(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten features that all go up and down together; two classes differ in the first alone."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(["comic", "textbook"], rows)
    values = rng.normal(0.0, 0.3, (2 * rows, 10)) + rng.normal(0.0, 3.0, (2 * rows, 1))
    values[:, 0] += classes == "textbook"
    return values, classes


def test_it_tells_classes_apart_that_differ_in_a_combination_of_features():
    values, classes = hidden_in_a_difference(200, 1)
    shown, truth = hidden_in_a_difference(1000, 2)
    # 2000 rows: an error of a percent either way.
    oblique = ObliqueForest(20, 0, share_of_features=1.0).fit(values, classes).predict(shown)
    plain = RandomForest(20, 0).fit(values, classes).predict(shown)
    assert np.mean(oblique == truth) > 0.9 > 0.85 > np.mean(plain == truth)


def test_discriminants_are_those_of_linear_discriminant_analysis():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2], 60)
    values = rng.normal(size=(180, 4)) @ rng.normal(size=(4, 4)) + np.eye(4)[codes]
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(values, codes).coef_
    ours = discriminants(values, codes, 0.0).T
    # Classes are equally frequent: the same but for where directions are measured from.
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-6)


def test_constant_and_doubled_features_do_no_harm():
    values, classes = hidden_in_a_difference(100, 4)
    more = np.column_stack([values, values[:, 0], np.full(len(values), 7.0)])
    found = ObliqueForest(10, 0, share_of_features=1.0).fit(more, classes).predict(more)
    assert np.mean(found == classes) > 0.9


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_probabilities_add_up_and_follow_the_order_of_classes(order):
    values, classes = hidden_in_a_difference(50, 5)
    forest = ObliqueForest(5, 0).fit(values[order], classes[order])
    probabilities = forest.predict_proba(values)
    assert forest.classes_.tolist() == ["comic", "textbook"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from eyelid.attacks import classifiers
from eyelid.attacks.classifiers import (
    MODELS,
    Fold,
    RandomForest,
    classes_of,
    judged,
    lots,
    people_apart,
    rbf,
)
from eyelid.attacks.records import records_of
from eyelid.engine.cores import parallel
from eyelid.errors import InputError


def plain(known, shown, codes, folds, model, seed):
    """Scikit-learn as a script uses it: a pipeline a fold."""
    answers = np.full(len(shown), -1)
    for fold in folds:
        rows = fold.known & (codes >= 0)
        fitted = make_pipeline(
            StandardScaler(),
            {
                "knn": KNeighborsClassifier(11),
                "svm": SVC(kernel="rbf", C=1.0, gamma="scale"),
                "tree": DecisionTreeClassifier(random_state=seed),
                "forest": RandomForestClassifier(10, random_state=seed),
            }[model],
        ).fit(known[rows], codes[rows])
        if model == "knn":
            votes = np.rint(11 * fitted.predict_proba(shown[fold.shown]))
            answers[fold.shown] = (votes + lots(*votes.shape, seed)).argmax(axis=1)
        else:
            answers[fold.shown] = fitted.predict(shown[fold.shown])
    return answers


def sampled(table, every):
    where = pl.int_range(pl.len()).over("person", "recording") % every == 0
    rows = records_of(table, tuple(table.people["person"]), where)
    return rows.values, rows.person, classes_of(table.data.filter(where)["task"]).codes


@pytest.fixture(scope="module")
def rows(simulated_table):
    return sampled(simulated_table, 6)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_predictions_are_those_of_plain_scikit_learn(rows, model, noise, two_cores):
    values, person, codes = rows
    known = values + noise * np.random.default_rng(1).normal(size=values.shape)
    # A second target shares the kernel and the neighbours; its gaps are not learned from.
    parity = np.where(np.arange(len(codes)) % 7 == 0, -1, person % 2)
    folds = people_apart(person)
    found = judged(known, values, {"task": codes, "parity": parity}, folds, [model], seed=4)
    for name, target in (("task", codes), ("parity", parity)):
        assert (found[name, model] == plain(known, values, target, folds, model, 4)).all()


def test_real_people_are_judged_as_by_plain_scikit_learn(real_windows):
    values, person, codes = sampled(real_windows, 100)
    folds = people_apart(person)
    found = judged(values, values, {"task": codes}, folds)
    for model in MODELS:
        assert (found["task", model] == plain(values, values, codes, folds, model, 0)).all()
        assert (found["task", model] == codes).mean() > 0.65


def test_many_rows_are_judged_the_same_without_a_kernel_matrix(rows, monkeypatch, two_cores):
    values, person, codes = rows
    folds = people_apart(person)
    usual = judged(values, values, {"task": codes}, folds, ["svm"])
    monkeypatch.setattr(classifiers, "_MOST_KERNEL_ROWS", 10)
    many = judged(values, values, {"task": codes}, folds, ["svm"])
    assert (usual["task", "svm"] == many["task", "svm"]).all()


def test_ties_between_neighbours_are_drawn_by_lot():
    """Five votes each: both classes win about half of 2000 rows (error rate 1e-6)."""
    known, codes = np.zeros((10, 1)), np.repeat([0, 1], 5)
    shown = np.zeros((2000, 1))
    fold = Fold(np.ones(10, bool), np.ones(2000, bool))
    found = judged(known, shown, {"t": codes}, [fold], ["knn"], seed=2)["t", "knn"]
    assert abs(found.mean() - 0.5) < 4.9 * 0.5 / np.sqrt(2000)


def test_who_has_seen_one_class_names_it():
    known, fold = np.arange(6.0)[:, None], Fold(np.ones(6, bool), np.ones(6, bool))
    found = judged(known, known, {"t": np.full(6, 2)}, [fold])
    assert all((answer == 2).all() for answer in found.values())


def test_rows_in_no_fold_have_no_answer(rows):
    values, person, codes = rows
    found = judged(values, values, {"task": codes}, people_apart(person)[:1], ["knn"])
    assert ((found["task", "knn"] == -1) == (person != 0)).all()


@given(st.lists(st.integers(0, 40), min_size=2, max_size=80), st.integers(2, 30))
def test_everybody_is_shown_once_and_never_to_who_knows_them(person, most):
    person = np.array(person)
    folds = people_apart(person, most)
    assert (np.sum([fold.shown for fold in folds], axis=0) == 1).all()
    assert len(folds) == min(most, len(np.unique(person)))
    for fold in folds:
        assert not set(person[fold.known]) & set(person[fold.shown])


@given(st.integers(0, 1000), st.floats(0.01, 2.0))
def test_the_kernel_is_scikit_learn_s(seed, gamma):
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    assert rbf(left, right, gamma) == pytest.approx(rbf_kernel(left, right, gamma), rel=1e-9)


def test_an_unknown_model_is_named():
    with pytest.raises(InputError, match="unknown model 'forst': did you mean 'forest'"):
        judged(np.zeros((2, 1)), np.zeros((2, 1)), {}, [], ["forst"])


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(4)
    classes = rng.choice([2, 5, 9], 200)
    return rng.normal(size=(200, 6)) + classes[:, None] * 0.1, classes


@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 2}])
def test_the_forest_gives_the_same_probabilities_as_scikit_learns(labelled, settings):
    theirs = RandomForestClassifier(12, random_state=7, **settings).fit(*labelled)
    ours = RandomForest(12, 7, **settings).fit(*labelled)
    np.testing.assert_array_equal(
        ours.predict_proba(labelled[0]), theirs.predict_proba(labelled[0])
    )
    np.testing.assert_array_equal(ours.predict(labelled[0]), theirs.predict(labelled[0]))


def test_growing_the_forest_in_threads_leaves_the_warning_filters_alone(labelled):
    before = list(warnings.filters)
    list(parallel(lambda seed: RandomForest(10, seed).fit(*labelled), range(16), "growing"))
    assert list(warnings.filters) == before


def test_words_are_classes_in_order_and_gaps_are_missing():
    found = classes_of(pl.Series("hand", ["right", "left", None, "", "right"]))
    assert found.name == "hand"
    assert found.values == ("left", "right")
    assert found.codes.tolist() == [1, 0, -1, -1, 1]


def test_a_few_numbers_are_classes_and_truth_values_too():
    assert classes_of(pl.Series("glasses", [0, 1, 1])).values == ("0", "1")
    assert classes_of(pl.Series("score", [1.5, 2.0, float("nan")])).codes.tolist() == [0, 1, -1]
    assert classes_of(pl.Series("glasses", [True, False])).values == ("false", "true")


@given(st.lists(st.integers(0, 1000), min_size=7, max_size=40, unique=True))
def test_a_quantity_is_split_at_its_median_and_does_not_say_where(ages):
    found = classes_of(pl.Series("age", ages))
    middle = float(np.median(ages))
    assert found.name == "age above the median"
    assert found.codes.tolist() == [int(age > middle) for age in ages]
    assert abs(int((found.codes == 1).sum()) - len(ages) / 2) <= 0.5

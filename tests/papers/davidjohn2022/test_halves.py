"""First halves released, second halves raw: which document is it?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.svm import SVC

from eyelid.attacks.records import records_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.papers.davidjohn2022.halves import (
    MODELS,
    SAMPLED_ROWS,
    first_halves,
    machine_answers,
    recognised,
    second_halves,
    windows_of,
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


@pytest.mark.parametrize("model", list(MODELS))
def test_documents_that_differ_are_told_and_equal_ones_are_not(model):
    for apart, low, high in ((2.0, 0.95, 1.0), (0.0, 0.15, 0.55)):
        table = readers(apart)
        shares = recognised(first_halves(table), windows_of(second_halves(table), 4), [model])
        assert shares[model].shape == (8,)
        # 120 windows at chance 1/3: four standard errors are 0.17.
        assert low <= shares[model].mean() <= high


def plain_machine(known, shown):
    """The paper's SVM on all windows, by scikit-learn alone."""
    rows, classes = windows(known)
    seen, truth = windows(shown)
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    machine = SVC(kernel="rbf", C=1.0, gamma=1 / rows.shape[1])
    answers = machine.fit((rows - centre) / scale, classes).predict((seen - centre) / scale)
    return np.mean(answers == truth)


def windows(table):
    return table.data.select(table.names).to_numpy(), table.data["task"].to_numpy()


@pytest.mark.parametrize("k", [None, 4], ids=["raw", "groups of 4"])
def test_the_papers_machine_learns_from_every_window(k):
    """More windows than approximations take, told as by scikit-learn from all of them."""
    table = readers(0.25, people=8, rows=400)
    first, second = first_halves(table), second_halves(table)
    assert len(first.data) > SAMPLED_ROWS
    if k is not None:
        first = mechanism_named("ksame-paper", k=k).apply(first, randomness(0))
    found = recognised(first, windows_of(second), ["svm", "svm-sampled"])
    assert found["svm"].mean() == pytest.approx(plain_machine(first, second), abs=1e-3)
    assert not np.array_equal(found["svm"], found["svm-sampled"])


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_equal_rows_are_learned_from_once_by_their_weight(classes):
    rng = np.random.default_rng(classes)
    codes = np.repeat(rng.integers(0, classes, 150), 3)
    rows = np.repeat(rng.normal(size=(150, 5)), 3, axis=0) + 0.7 * codes[:, None]
    order = rng.permutation(len(rows))
    seen = rng.normal(size=(700, 5)) + 0.7 * rng.integers(0, classes, 700)[:, None]
    plain = SVC(C=1.0, gamma=0.2).fit(rows[order], codes[order]).predict(seen)
    ours = machine_answers(rows[order], codes[order], seen)
    # The solver stops within a tolerance: a row on the border may fall to either side.
    assert np.mean(ours != plain) <= 0.005


def test_rows_of_a_mean_get_the_spread_of_one_person():
    # 4 people, 2000 rows of noise: the spread is known to 2%.
    table = readers(0.0, people=4, rows=2000)
    released = KSame(k=4).apply(table, randomness(0))
    known = records_of(released, ["group1"])
    restored = with_spread(known, np.full(len(known.owner), 4.0))
    one = records_of(table, ["0"]).values
    np.testing.assert_allclose(restored.std(axis=0), one.std(axis=0), rtol=0.1)
    np.testing.assert_allclose(restored.mean(axis=0), known.values.mean(axis=0))


def test_learning_from_one_row_a_group_takes_its_size_from_the_release():
    table = readers(0.4)
    first, shown = first_halves(table), windows_of(second_halves(table), 2)
    released = KSame(k=4).apply(first, randomness(0))
    nameless = replace(released, people=released.people.drop("people"))
    weighted, plain = (
        recognised(one, shown, ["oblique-forest"])["oblique-forest"].mean()
        for one in (released, nameless)
    )
    assert weighted != plain


def test_what_cannot_be_recognised_is_refused():
    table = readers(1.0, people=2)
    shown = windows_of(second_halves(table))
    with pytest.raises(InputError, match="svm"):
        recognised(first_halves(table), shown, ["svmm"])
    single = replace(table, data=table.data.filter(pl.col("task") == "0"))
    with pytest.raises(InputError, match="one task only"):
        recognised(first_halves(single), windows_of(second_halves(single)))

"""First halves released, second halves raw: which document is it?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.records import records_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.groups.ksame import KSame
from eyelid.papers.davidjohn2022.document_type import (
    MODELS,
    first_halves,
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

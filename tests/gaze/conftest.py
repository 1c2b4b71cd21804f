from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.table import FeatureTable

# Neighbouring windows share most of their samples; thinner rows name as many people.
EVERY = 16


@pytest.fixture
def rank1_across_documents() -> Callable[[FeatureTable], float]:
    """Trained on comic and newspaper, how many people are known by their textbook."""

    def rank1(table: FeatureTable) -> float:
        train = table.data.filter(pl.col("task") != "textbook")[::EVERY]
        test = table.data.filter(pl.col("task") == "textbook")[::EVERY]
        forest = _forest().fit(train.select(table.names).to_numpy(), train["person"].to_numpy())
        scores = forest.predict_proba(test.select(table.names).to_numpy())
        person = test["person"].to_numpy()
        return float(
            np.mean(
                [
                    forest.classes_[scores[person == name].mean(axis=0).argmax()] == name
                    for name in np.unique(person)
                ]
            )
        )

    return rank1


@pytest.fixture
def document_accuracy() -> Callable[[FeatureTable], float]:
    """Trained on first halves, how many windows of the second halves are told, after a gap."""

    def accuracy(table: FeatureTable) -> float:
        assert table.window_ms is not None
        end_ms = pl.col("time_ms").max().over("person", "recording") + table.window_ms
        begins_ms, ends_ms = pl.col("time_ms"), pl.col("time_ms") + table.window_ms
        train = table.data.filter(ends_ms <= (end_ms - table.window_ms) / 2)[::EVERY]
        test = table.data.filter(begins_ms >= (end_ms + table.window_ms) / 2)
        forest = _forest().fit(train.select(table.names).to_numpy(), train["task"].to_numpy())
        return float(forest.score(test.select(table.names).to_numpy(), test["task"].to_numpy()))

    return accuracy


def _forest():
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, min_samples_leaf=2, max_features=0.3, random_state=0)

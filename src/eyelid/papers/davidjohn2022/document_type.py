"""The utility experiment of David-John et al. 2022 (figure 2): which document is somebody reading?

The first half of every recording is released, a classifier learns the document from the released
windows, and is tested on single raw windows of the second halves. The mechanism sees first halves
only. The paper leaves no gap between them; with one, no window shares gaze with another half.

Means over groups are farther from each other than people are, and all of their features tell the
documents apart: learned from as they are, they do not say which features tell the documents of
single people apart. What helps is known from the release alone (`with_spread`): a mean over n
independent people varies √n times less than one of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.classifiers import Codes, Values
from eyelid.attacks.forest import RandomForest
from eyelid.attacks.records import Records, records_of
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.papers.davidjohn2022.oblique_forest import ObliqueForest

MODELS = {
    "svm": "RBF, C = 1, γ = 1 / features, on standardised rows: the paper's",
    "svm-unscaled": "the same in the features' own units",
    "svm-spread": "the paper's, on rows with their spread restored",
    "forest": "a random forest that splits by single features",
    "oblique-forest": "one that splits by discriminants, on rows with their spread restored",
}

# Neighbouring windows are nearly the same: learned from every one, no model is right more often.
MOST_ROWS = 2000
# One window in so many is tested.
EVERY = 16
_TREES, _OBLIQUE_TREES = 100, 60

_row = pl.int_range(pl.len()).over("person", "recording")
_rows = pl.len().over("person", "recording")


def first_halves(table: FeatureTable) -> FeatureTable:
    """The first half of every recording, in windows."""
    return _kept(table, _row < _rows // 2)


def second_halves(table: FeatureTable, gap: int = 0) -> FeatureTable:
    """The second half of every recording, less its first windows.

    Args:
        table: features.
        gap: windows to leave out; as many as one is long, and nothing is in both halves.
    """
    return _kept(table, _row >= _rows // 2 + gap)


def _kept(table: FeatureTable, rows: pl.Expr) -> FeatureTable:
    kept = table.data.filter(rows)
    recordings = kept.select("person", "recording").n_unique()
    if recordings < len(table.recordings):
        raise InputError(
            f"{len(table.recordings) - recordings} recordings are too short for two halves: leave "
            "them out, or a smaller gap"
        )
    return replace(table, data=kept)


def shown_windows(table: FeatureTable, every: int = EVERY) -> Records:
    """The windows to be recognised: one in so many of each recording."""
    return records_of(table, _people(table), _row % every == 0)


def recognised(
    released: FeatureTable, shown: Records, models: Iterable[str] = tuple(MODELS), seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """For each model and each person shown, the share of windows whose document is told.

    Args:
        released: what is learned from; a column ``people`` says how many a record stands for.
        shown: raw windows of other times, as `shown_windows` gives them.
        models: of `MODELS`.
        seed: of the forests.
    """
    known = records_of(
        released, _people(released), _row % math.ceil(len(released.data) / MOST_ROWS) == 0
    )
    names, codes = np.unique([*known.tasks, *shown.tasks], return_inverse=True)
    learned, truth = codes[: len(known.tasks)][known.record], codes[len(known.tasks) :]
    if len(np.unique(learned)) < 2:
        raise InputError(f"there is one task only, {names[0]}: nothing is to be recognised")
    right = {
        model: _answers(model, released, known, learned, shown, seed) == truth[shown.record]
        for model in models
    }
    return {
        model: np.bincount(shown.person, weights=hits) / np.bincount(shown.person)
        for model, hits in right.items()
    }


def _answers(
    model: str, released: FeatureTable, known: Records, codes: Codes, shown: Records, seed: int
) -> Codes:
    """What a model says of each shown row."""
    from sklearn.svm import SVC

    if model not in MODELS:
        raise unknown("model", model, MODELS)
    rows, seen = known.values, shown.values
    if model in ("svm-spread", "oblique-forest"):
        rows = with_spread(known, _sizes(released, known))
    if model == "forest":
        return np.asarray(RandomForest(_TREES, seed).fit(rows, codes).predict(seen))
    if model == "oblique-forest":
        oblique = ObliqueForest(_OBLIQUE_TREES, seed).fit(_roots(rows), codes)
        return np.asarray(oblique.predict(_roots(seen)))
    if model == "svm-unscaled":
        centre, scale = 0.0, 1 / np.array([feature.span for feature in released.features])
    else:
        centre, scale = rows.mean(axis=0), rows.std(axis=0)
        # As scikit-learn's scaler: what is constant stays so.
        scale = np.where(scale > 0, scale, 1.0)
    machine = SVC(C=1.0, gamma=1 / rows.shape[1]).fit((rows - centre) / scale, codes)
    return np.asarray(machine.predict((seen - centre) / scale))


def with_spread(known: Records, sizes: NDArray[np.float64]) -> Values:
    """Rows that spread around the mean of their record as those of one person do.

    Post-processing: whoever has a release can do it. Rows of a mean over n independent people vary
    √n times less than those of one.

    Args:
        known: released records.
        sizes: for each record, of how many people it is the mean.
    """
    means = known.per_record(known.values)[known.record]
    return np.asarray(means + np.sqrt(sizes)[known.record, None] * (known.values - means))


def _sizes(released: FeatureTable, known: Records) -> NDArray[np.float64]:
    """Of each record, how many people it stands for."""
    if "people" not in released.people.columns:
        return np.ones(len(known.owner))
    sizes = dict(released.people.select("person", "people").iter_rows())
    return np.array([sizes[known.people[who]] for who in known.owner], dtype=np.float64)


def _roots(values: Values) -> Values:
    """Square roots of values inside their bounds: of counts and spreads, they are less skewed."""
    return np.sqrt(np.clip(values, 0.0, 1.0))


def _people(table: FeatureTable) -> list[str]:
    """Everybody, in the order of their recordings."""
    return table.data["person"].unique(maintain_order=True).to_list()

"""Which document is somebody reading? First halves released, second halves shown raw.

A classifier learns the document from the released windows of first halves, and is tested on single
raw windows of second halves: figure 2 of David-John et al. 2022. The mechanism sees first halves
only. The paper leaves no gap between the halves; with one, no window shares gaze with the other
half.

**The paper's SVM** learns from every window. Rows that are the same, as those of a group of k are,
are one row with their number as its weight: the optimum is the same, and so is what is told.

**Approximations** learn from `SAMPLED_ROWS` windows, and say so by their name.

Means over groups are farther from each other than people are, and all of their features tell the
documents apart: learned from as they are, they do not say which features tell the documents of
single people apart. What helps is known from the release alone (`with_spread`): a mean over n
independent people varies √n times less than one of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.classifiers import Codes, RandomForest, Values, rbf
from eyelid.attacks.records import Records, records_of
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.papers.davidjohn2022.oblique_forest import ObliqueForest

SAMPLED_ROWS = 2000
"""Windows that approximations learn from, at most: neighbouring ones are nearly the same."""

MODELS = {
    "svm": "RBF, C = 1, γ = 1 / features, on standardised rows, from all windows: the paper's",
    "svm-sampled": f"the same from {SAMPLED_ROWS:,} windows: an approximation",
    "forest": f"a random forest that splits by single features, from {SAMPLED_ROWS:,} windows",
    "oblique-forest": (
        f"one that splits by discriminants, on rows with their spread restored, from "
        f"{SAMPLED_ROWS:,} windows"
    ),
}

_TREES, _OBLIQUE_TREES = 100, 60
# In MB, for libsvm's kernel columns.
_KERNEL_CACHE = 700
# Shown rows whose kernel is evaluated at a time.
_BATCH = 512

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


def windows_of(table: FeatureTable, every: int = 1) -> Records:
    """The windows to be recognised: all of them, or one in so many of each recording."""
    return records_of(table, _people(table), None if every == 1 else _row % every == 0)


def recognised(
    released: FeatureTable, shown: Records, models: Iterable[str] = tuple(MODELS), seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """For each model and each person shown, the share of windows whose document is told.

    Args:
        released: what is learned from; a column ``people`` says how many a record stands for.
        shown: raw windows of other times, as `windows_of` gives them.
        models: of `MODELS`.
        seed: of the forests.
    """
    right = hits(released, shown, models, seed)
    return {model: by_person(shown, found) for model, found in right.items()}


def by_person(shown: Records, right: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each person shown, the share of windows that were told right."""
    return np.asarray(np.bincount(shown.person, weights=right) / np.bincount(shown.person))


def hits(
    released: FeatureTable, shown: Records, models: Iterable[str], seed: int
) -> dict[str, NDArray[np.bool_]]:
    """For each model, of which of the shown windows the document is told right.

    Args:
        released: what is learned from, as for `recognised`.
        shown: raw windows of other times.
        models: of `MODELS`.
        seed: of the forests.
    """
    found = {}
    for model in models:
        if model not in MODELS:
            raise unknown("model", model, MODELS)
        every = 1 if model == "svm" else math.ceil(len(released.data) / SAMPLED_ROWS)
        known = windows_of(released, every)
        names, codes = np.unique([*known.tasks, *shown.tasks], return_inverse=True)
        learned, truth = codes[: len(known.tasks)][known.record], codes[len(known.tasks) :]
        if len(np.unique(learned)) < 2:
            raise InputError(f"there is one task only, {names[0]}: nothing is to be recognised")
        answers = _answers(model, released, known, learned, shown, seed)
        found[model] = answers == truth[shown.record]
    return found


def _answers(
    model: str, released: FeatureTable, known: Records, codes: Codes, shown: Records, seed: int
) -> Codes:
    """What a model says of each shown row."""
    rows, seen = known.values, shown.values
    if model == "forest":
        return np.asarray(RandomForest(_TREES, seed).fit(rows, codes).predict(seen))
    if model == "oblique-forest":
        rows = with_spread(known, _sizes(released, known))
        oblique = ObliqueForest(_OBLIQUE_TREES, seed).fit(_roots(rows), codes)
        return np.asarray(oblique.predict(_roots(seen)))
    centre, scale = rows.mean(axis=0), rows.std(axis=0)
    # As scikit-learn's scaler: what is constant stays so.
    scale = np.where(scale > 0, scale, 1.0)
    return machine_answers((rows - centre) / scale, codes, (seen - centre) / scale)


def machine_answers(rows: Values, codes: Codes, seen: Values) -> Codes:
    """What an SVM with an RBF kernel, C = 1 and γ = 1 / features, says of rows.

    Answers are those of scikit-learn's ``SVC(C=1.0, gamma=1 / features)`` fitted on all rows; rows
    that are the same are learned from once, with their number as weight, and the kernel of what is
    shown comes from matrix products.

    Args:
        rows: learned from.
        codes: the class of each.
        seen: to be told.
    """
    from sklearn.svm import SVC

    gamma = 1 / rows.shape[1]
    _, first, count = np.unique(
        np.column_stack([rows, codes]), axis=0, return_index=True, return_counts=True
    )
    machine = SVC(C=1.0, gamma=gamma, cache_size=_KERNEL_CACHE)
    machine.fit(rows[first], codes[first], sample_weight=count.astype(np.float64))
    return np.concatenate(
        [
            _voted(machine, rbf(seen[start : start + _BATCH], machine.support_vectors_, gamma))
            for start in range(0, len(seen), _BATCH)
        ]
    )


def _voted(machine: Any, kernel: Values) -> Codes:
    """The class that wins most of the machines of two classes each; of equals the first.

    Args:
        machine: a fitted ``SVC``.
        kernel: of shown rows with its support vectors.
    """
    ends = np.cumsum([0, *machine.n_support_])
    own = [slice(start, end) for start, end in itertools.pairwise(ends)]
    # Of two classes scikit-learn turns the sign around, of more it does not.
    sign = -1.0 if len(own) == 2 else 1.0
    votes = np.zeros((len(kernel), len(own)))
    for number, (one, other) in enumerate(itertools.combinations(range(len(own)), 2)):
        decision = machine.intercept_[number] * sign
        for mine, weights in ((own[one], other - 1), (own[other], one)):
            decision = decision + sign * kernel[:, mine] @ machine.dual_coef_[weights, mine]
        votes[:, one] += decision > 0
        votes[:, other] += decision <= 0
    return np.asarray(machine.classes_[votes.argmax(axis=1)])


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
    """How many people each record stands for."""
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

"""First halves released, second halves shown raw: figures 1 and 2 of David-John et al. 2022.

**Which document is somebody reading?** A classifier learns the document from the released
windows, and is tested on single raw windows of the second halves. The mechanism sees first halves
only. The paper leaves no gap between them; with one, no window shares gaze with another half.

Means over groups are farther from each other than people are, and all of their features tell the
documents apart: learned from as they are, they do not say which features tell the documents of
single people apart. What helps is known from the release alone (`with_spread`): a mean over n
independent people varies √n times less than one of them.

**Who is it?** Names were kept, or somebody told the attacker who is in which group. Scores are
averaged over everything that is shown of a person: one decision each. The halves are of the same
recordings, so whatever a recording has of its own helps; `eyelid.attacks.identification` splits by
task instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.classifiers import Codes, RandomForest, Values
from eyelid.attacks.identification import decided
from eyelid.attacks.records import Records, records_of
from eyelid.attacks.scores import named
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable

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


def named_by_halves(
    released: FeatureTable, shown: FeatureTable, attackers: Sequence[Attacker], seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """For each attacker and each person, the chance that they are named; ties are drawn by lot.

    Args:
        released: first halves, under people's names.
        shown: raw second halves of the same people.
        attackers: who learns and names.
        seed: of their choices.
    """
    people = shown.data["person"].unique(maintain_order=True).to_list()
    known, seen = records_of(released, people), records_of(shown, people)
    found = {}
    for attacker in attackers:
        (scores,) = decided(attacker, known, [seen], seed)
        totals = np.zeros((len(people), len(people)))
        np.add.at(totals, scores.owner, scores.averaged)
        found[attacker.name] = named(totals, np.arange(len(people)))
    return found


# A feature that varies less than this is constant.
_CONSTANT = 1e-12
# Of the variance of a standardised feature: lets features that follow from others be solved for.
_FLOOR = 1e-9


class ObliqueForest:
    """Trees on the discriminants of rows and features drawn anew; probabilities are averaged.

    >>> rng = np.random.default_rng(0)
    >>> classes = np.repeat([3, 7], 100)
    >>> common, own = rng.normal(0.0, 5.0, 200), rng.normal(0.0, 0.1, 200)
    >>> values = np.column_stack([common, common + own + (classes == 7)])
    >>> forest = ObliqueForest(10, seed=0, share_of_features=1.0).fit(values, classes)
    >>> forest.predict(np.array([[9.0, 9.0], [-9.0, -8.0]])).tolist()
    [3, 7]
    """

    def __init__(
        self,
        trees: int,
        seed: int,
        share_of_features: float = 0.6,
        shrinkage: float = 0.03,
        least_rows: int = 20,
    ) -> None:
        """The forest before it has learned.

        Args:
            trees: how many.
            seed: of what they draw.
            share_of_features: that each tree knows.
            shrinkage: how far the spread within classes is drawn towards independent features.
            least_rows: of a leaf.
        """
        self._count, self._seed = trees, seed
        self._share, self._shrinkage, self._least_rows = share_of_features, shrinkage, least_rows
        self._trees: list[tuple[NDArray[np.intp], Values, Any]] = []
        self.classes_: NDArray[Any] = np.array([])

    def fit(self, values: Values, classes: NDArray[Any]) -> ObliqueForest:
        """Grow them."""
        from sklearn.tree import DecisionTreeClassifier

        rng = np.random.default_rng(self._seed)
        self.classes_, codes = np.unique(classes, return_inverse=True)
        self._centre, scale = values.mean(axis=0), values.std(axis=0)
        # A constant feature tells no classes apart.
        varies = np.flatnonzero(scale > _CONSTANT)
        self._scale = np.where(scale > _CONSTANT, scale, np.inf)
        rows = self._standardised(values)
        many = max(1, round(self._share * varies.size))
        for _ in range(self._count):
            known = rng.choice(varies, min(many, varies.size), replace=False)
            drawn = rng.integers(0, len(rows), len(rows))
            mine, truth = rows[drawn][:, known], codes[drawn]
            axes = discriminants(mine, truth, self._shrinkage)
            tree = DecisionTreeClassifier(
                min_samples_leaf=self._least_rows, random_state=int(rng.integers(1 << 31))
            )
            # Codes as numbers: a tree on rows that lack a class then still knows its own.
            self._trees.append((known, axes, tree.fit(mine @ axes, truth)))
        return self

    def predict_proba(self, values: Values) -> Values:
        """Rows × classes."""
        rows = self._standardised(values)
        total = np.zeros((len(rows), len(self.classes_)))
        for known, axes, tree in self._trees:
            total[:, tree.classes_] += tree.predict_proba(rows[:, known] @ axes)
        return total / self._count

    def predict(self, values: Values) -> NDArray[Any]:
        """The likeliest class of each row."""
        return np.asarray(self.classes_[self.predict_proba(values).argmax(axis=1)])

    def _standardised(self, values: Values) -> Values:
        return np.asarray((values - self._centre) / self._scale)


def discriminants(values: Values, codes: NDArray[np.intp], shrinkage: float) -> Values:
    """Features × classes: the direction in which each class stands out, given the spread within.

    Args:
        values: rows × features, of about unit variance.
        codes: the class of each row, from 0.
        shrinkage: how far the spread is drawn towards independent features.
    """
    present, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
    centres = np.zeros((len(present), values.shape[1]))
    np.add.at(centres, place, values)
    centres /= counts[:, None]
    apart = values - centres[place]
    spread = (1 - shrinkage) * (apart.T @ apart) / len(values)
    spread[np.diag_indices_from(spread)] += shrinkage * (apart**2).mean(axis=0) + _FLOOR
    return np.asarray(np.linalg.solve(spread, (centres - centres.mean(axis=0)).T))

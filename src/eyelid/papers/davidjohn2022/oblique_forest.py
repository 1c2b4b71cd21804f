"""A forest that splits along discriminants, which single features do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.classifiers import Values

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

"""A random forest that may grow in a thread.

scikit-learn's own resets Python's warning filters around every tree, for the whole process. When
several threads do that at once the filters are lost. This grows the same trees one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LARGEST_SEED = np.iinfo(np.int32).max


class RandomForest:
    """Trees on rows drawn anew, whose probabilities are averaged; as RandomForestClassifier.

    >>> values = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> forest = RandomForest(5, seed=0).fit(values, np.repeat([3, 7], 20))
    >>> forest.predict(np.array([[0.0], [1.0]])).tolist()
    [3, 7]
    """

    def __init__(self, trees: int, seed: int, **settings: Any) -> None:
        """So many trees, with settings of scikit-learn's trees."""
        self._count = trees
        self._seed = seed
        self._settings = {"max_features": "sqrt"} | settings
        self._trees: list[Any] = []
        self.classes_: NDArray[Any] = np.array([])

    def fit(self, values: NDArray[np.float64], classes: NDArray[Any]) -> RandomForest:
        """Grow them."""
        from sklearn.tree import DecisionTreeClassifier

        rows = np.ascontiguousarray(values, dtype=np.float32)
        self.classes_, codes = np.unique(classes, return_inverse=True)
        truth = codes.astype(np.float64)[:, None]
        # The same stream of numbers as scikit-learn's, so that the trees are the same.
        source = np.random.RandomState(self._seed)
        for seed in [source.randint(_LARGEST_SEED) for _ in range(self._count)]:
            drawn = np.random.RandomState(seed).randint(0, len(rows), len(rows), dtype=np.int32)
            weights = np.bincount(drawn, minlength=len(rows)).astype(np.float64)
            tree = DecisionTreeClassifier(random_state=seed, **self._settings)
            self._trees.append(tree.fit(rows, truth, sample_weight=weights, check_input=False))
        return self

    def predict_proba(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows × classes."""
        rows = np.ascontiguousarray(values, dtype=np.float32)
        total = sum(tree.predict_proba(rows, check_input=False) for tree in self._trees)
        return np.asarray(total) / self._count

    def predict(self, values: NDArray[np.float64]) -> NDArray[Any]:
        """The likeliest class of each row."""
        return np.asarray(self.classes_[self.predict_proba(values).argmax(axis=1)])

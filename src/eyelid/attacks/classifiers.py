"""The four classifiers of Bozkir et al. 2021 and a logistic regression, over many folds.

kNN (k = 11, ties by lot), SVM (RBF, C = 1, γ = 1 / features), decision tree, random forest of 10
trees; the logistic regression is scikit-learn's as it comes. Rows are standardised by what was
learned from. Predictions are those of scikit-learn's pipelines fitted fold by fold; what is saved
is the work they repeat:

- libsvm gets the kernel as a matrix, from one product: evaluated pair by pair it is most of its
  time;
- kernel and neighbours of a fold serve all targets;
- folds run side by side.

A random forest that may grow in a thread.
scikit-learn's own resets Python's warning filters around every tree, for the whole process. When
several threads do that at once the filters are lost. This grows the same trees one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.engines import spread_with
from eyelid.errors import unknown

NEIGHBOURS = 11
TREES = 10
MODELS = ("knn", "svm", "tree", "forest")
"""What the paper learns with."""
EVERY_MODEL = (*MODELS, "logistic")

# A kernel matrix of so many rows takes 200 MB a core; beyond, libsvm evaluates its own.
_MOST_KERNEL_ROWS = 5000

# Far more steps than a logistic regression of standardised rows takes.
_STEPS = 5000

# With more people than this several are left out at once.
_MOST_FOLDS = 24

Codes = NDArray[np.intp]
Values = NDArray[np.float64]


# A number that takes more values than this is a quantity, not a class.
_MOST_NUMERIC_CLASSES = 6
_LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Fold:
    """Which rows are learned from, and which are judged."""

    known: NDArray[np.bool_]
    shown: NDArray[np.bool_]


def people_apart(person: Codes, most: int = _MOST_FOLDS) -> list[Fold]:
    """Each person shown in turn, the others known; groups of people where there are many.

    >>> [fold.shown.tolist() for fold in people_apart(np.array([0, 0, 1]))]
    [[True, True, False], [False, False, True]]
    """
    place = np.unique(person, return_inverse=True)[1]
    group = place % most
    return [Fold(group != n, group == n) for n in range(min(most, int(place.max()) + 1))]


def judged(
    known: Values,
    shown: Values,
    targets: Mapping[str, Codes],
    folds: Sequence[Fold],
    models: Sequence[str] = MODELS,
    seed: int = 0,
) -> dict[tuple[str, str], Codes]:
    """What each model says of the shown rows, for every target.

    Args:
        known: rows × features to learn from.
        shown: rows × features to judge.
        targets: for each row of ``known`` its class, from 0; rows at −1 are not learned from.
        folds: each row should be shown in one of them at most.
        models: of `EVERY_MODEL`.
        seed: of trees, and of ties between neighbours.

    Returns:
        By target and model: the class of every row that is shown; −1 for those in no fold.
    """
    for model in models:
        if model not in EVERY_MODEL:
            raise unknown("model", model, EVERY_MODEL)
    found = {
        (target, model): np.full(len(shown), -1, dtype=np.intp)
        for target in targets
        for model in models
    }
    # Targets that are known of the same rows share their distances.
    alike: dict[bytes, list[str]] = {}
    for target, codes in targets.items():
        alike.setdefault((codes >= 0).tobytes(), []).append(target)
    jobs = [(fold, names) for names in alike.values() for fold in folds]
    rows = _Rows(known, shown, targets, tuple(models), seed, _Kernels())
    for (fold, _), answers in zip(
        jobs, spread_with(_study, rows, jobs, "recognising"), strict=True
    ):
        for key, answer in answers.items():
            found[key][fold.shown] = answer
    return found


@dataclass(frozen=True, eq=False)
class _Rows:
    """What all folds share."""

    known: Values
    shown: Values
    targets: Mapping[str, Codes]
    models: tuple[str, ...]
    seed: int
    kernels: _Kernels


def _study(rows: _Rows, job: tuple[Fold, list[str]]) -> dict[tuple[str, str], Codes]:
    """What each model says of the rows that one fold shows."""
    fold, names = job
    learned = fold.known & (rows.targets[names[0]] >= 0)
    lesson = _Lesson(rows.known[learned], rows.shown[fold.shown], rows.kernels)
    return {
        (name, model): _answer(lesson, model, rows.targets[name][learned], rows.seed)
        for name in names
        for model in rows.models
    }


def lots(rows: int, classes: int, seed: int) -> Values:
    """Numbers in [0, 1) that decide between classes with equally many votes: the highest wins."""
    return np.random.default_rng(seed).random((rows, classes))


class _Kernels(threading.local):
    """Room for a kernel matrix, one a thread: fresh memory takes longer to get than to fill."""

    def __init__(self) -> None:
        self._room = np.empty(0)

    def of(self, rows: int) -> Values:
        if len(self._room) < rows * rows:
            self._room = np.empty(rows * rows)
        return self._room[: rows * rows].reshape(rows, rows)

    def __reduce__(self) -> tuple[type[_Kernels], tuple[()]]:
        """Workers elsewhere have room of their own."""
        return _Kernels, ()


class _Lesson:
    """The rows of one fold, standardised, with what models and targets share."""

    def __init__(self, known: Values, shown: Values, kernels: _Kernels) -> None:
        self.known, self.shown = standardised(known, shown)
        spread = float(self.known.var())
        self._gamma = 1.0 / (known.shape[1] * spread) if spread else 1.0
        self._kernels = kernels

    @cached_property
    def nearest(self) -> Codes:
        """For each shown row, the places of the nearest known ones."""
        from sklearn.neighbors import NearestNeighbors

        count = min(NEIGHBOURS, len(self.known))
        near = NearestNeighbors(n_neighbors=count).fit(self.known)
        return np.asarray(near.kneighbors(self.shown, return_distance=False))

    @cached_property
    def kernel(self) -> Values:
        """How alike known rows are: known × known."""
        return rbf(self.known, self.known, self._gamma, self._kernels.of(len(self.known)))

    @cached_property
    def shown_kernel(self) -> Values:
        """How like known rows the shown ones are: shown × known."""
        return rbf(self.shown, self.known, self._gamma)


def standardised(known: Values, shown: Values) -> tuple[Values, Values]:
    """Rows less the mean of the known ones, in their standard deviations, as StandardScaler's.

    It takes longer to ask what it was given than to compute, and is asked for every fold.

    >>> standardised(np.array([[0.0, 3.0], [4.0, 3.0]]), np.array([[6.0, 5.0]]))[1].tolist()
    [[2.0, 2.0]]
    """
    centre, variance = known.mean(axis=0), known.var(axis=0)
    # No more than rounding: a constant.
    rounding = len(known) * np.finfo(np.float64).eps
    constant = variance <= rounding * variance + (rounding * centre) ** 2
    scale = np.where(constant, 1.0, np.sqrt(variance))
    return (known - centre) / scale, (shown - centre) / scale


def rbf(left: Values, right: Values, gamma: float, out: Values | None = None) -> Values:
    """exp(−γ |a − b|²) of all rows of two tables, left × right.

    One product: −γ (|a|² + |b|² − 2ab) is (2γa, −γ|a|², 1) · (b, 1, −γ|b|²).

    >>> rbf(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 3.0]]), 0.25).round(4).tolist()
    [[1.0, 0.3679]]
    """
    squares = [-gamma * np.square(rows).sum(axis=1) for rows in (left, right)]
    first = np.column_stack([2 * gamma * left, squares[0], np.ones(len(left))])
    second = np.column_stack([right, np.ones(len(right)), squares[1]])
    product = np.matmul(first, second.T, out=out)
    return np.exp(product, out=product)


def _answer(lesson: _Lesson, model: str, codes: Codes, seed: int) -> Codes:
    """What a model says of the shown rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC
    from sklearn.tree import DecisionTreeClassifier

    if np.ptp(codes) == 0:
        return np.full(len(lesson.shown), codes[0])
    if model == "knn":
        votes = (codes[lesson.nearest][:, :, None] == np.arange(codes.max() + 1)).sum(axis=1)
        return np.asarray((votes + lots(len(votes), votes.shape[1], seed)).argmax(axis=1))
    if model == "svm" and len(codes) <= _MOST_KERNEL_ROWS:
        # Shrinking saves kernel evaluations, and here there are none to save.
        machine = SVC(kernel="precomputed", shrinking=False).fit(lesson.kernel, codes)
        return np.asarray(machine.predict(lesson.shown_kernel))
    plain = {
        "svm": SVC(),
        "tree": DecisionTreeClassifier(random_state=seed),
        "forest": RandomForest(TREES, seed),
        "logistic": LogisticRegression(max_iter=_STEPS),
    }
    return np.asarray(plain[model].fit(lesson.known, codes).predict(lesson.shown))


@dataclass(frozen=True, eq=False)
class Classes:
    """A column as classes.

    Attributes:
        name: of the column; of a quantity also that it was split, such as ``age above the median``.
        values: what the classes are called, in order.
        codes: for each row the place of its class in ``values``; −1 where it is missing.
    """

    name: str
    values: tuple[str, ...]
    codes: NDArray[np.intp]


def classes_of(column: pl.Series) -> Classes:
    """The classes of a column; quantities are split at their median.

    >>> ages = classes_of(pl.Series("age", [20, 25, 31, 40, 52, 60, 33, None]))
    >>> ages.name, ages.values, ages.codes.tolist()
    ('age above the median', ('no', 'yes'), [0, 0, 0, 1, 1, 1, 0, -1])
    """
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64)
        column = numbers.set(~numbers.is_finite().fill_null(False), None)
        if column.drop_nulls().n_unique() > _MOST_NUMERIC_CLASSES:
            middle = float(np.median(column.drop_nulls().to_numpy()))
            above = (column > middle).cast(pl.Int64).fill_null(-1)
            # Where exactly would be a fact about these people.
            name = f"{column.name} above the median"
            return Classes(name, ("no", "yes"), above.to_numpy().astype(np.intp))
    else:
        column = column.cast(pl.String).replace("", None)
    values = column.drop_nulls().unique().sort().to_list()
    codes = column.replace_strict(values, range(len(values)), default=-1, return_dtype=pl.Int64)
    names = tuple(f"{value:g}" if isinstance(value, float) else value for value in values)
    return Classes(column.name, names, codes.to_numpy().astype(np.intp))


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
        from sklearn import config_context
        from sklearn.tree import DecisionTreeClassifier

        rows = np.ascontiguousarray(values, dtype=np.float32)
        self.classes_, codes = np.unique(classes, return_inverse=True)
        truth = codes.astype(np.float64)[:, None]
        # The same stream of numbers as scikit-learn's, so that the trees are the same.
        source = np.random.RandomState(self._seed)
        # The settings are the same for every tree, and were tried.
        with config_context(skip_parameter_validation=True):
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

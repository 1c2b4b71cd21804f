"""What an attacker is: it learns from records of people and then says whose strange records are.

To add one (a deep network, say), write a class with ``name`` and ``learn`` and hand it to
``eyelid.audit(…, attackers=[…])``, or announce it under the entry point group ``eyelid.attackers``
of your own package; ``eyelid audit --attackers NAME`` then finds it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.records import ROWS_PER_PERSON, Records
from eyelid.attacks.scores import Scores

Recognise = Callable[[Records], Scores | NDArray[np.float64]]


@runtime_checkable
class Attacker(Protocol):
    """Learns whose records are whose.

    An attacker may also state ``most_people``: beyond so many it takes too long to be worth it.
    """

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def learn(self, known: Records, seed: int) -> Recognise:
        """What was learned: a function from records to scores.

        Each shown record must be scored on its own: the bounds printed beside the rates hold for
        attackers who judge one released record at a time. ``known.usual`` says what is usual in
        each task, shown ones included; it comes from what the attacker knows, never from what is
        shown.

        Args:
            known: records with their owners.
            seed: of any random choice.
        """
        ...


class RowAttacker:
    """Scores every row by a classifier, then averages and counts votes over each record."""

    name: str
    most_people: int | None = None
    rows_per_person: int = ROWS_PER_PERSON

    @abstractmethod
    def classifier(self, seed: int, rows: int) -> Any:
        """An unfitted classifier of scikit-learn's kind, for so many rows to learn from."""

    def learn(self, known: Records, seed: int) -> Recognise:
        """Fit on standardised rows; the same scaling is used on whatever is shown."""
        # What is shown is condensed alike, or its noise would be another.
        rows_per_record = max(1, self.rows_per_person // known.records_per_person)
        rows = known.without(known.usual).condensed(rows_per_record)
        centre, scale = rows.values.mean(axis=0), rows.values.std(axis=0)
        # A constant feature tells nobody apart, however small its span.
        scale = np.where(scale > 1e-12, scale, np.inf)
        # In random order, so that equal distances and equal splits are settled by lot.
        order = np.random.default_rng(seed).permutation(len(rows.values))
        people = np.unique(rows.owner)
        model = self.classifier(seed, len(order))
        if len(people) > 1:
            model.fit(((rows.values - centre) / scale)[order], rows.person[order])

        def recognise(shown: Records) -> Scores:
            seen = shown.without(known.usual).condensed(rows_per_record)
            if len(people) > 1:
                found = row_scores(model, (seen.values - centre) / scale)
            else:
                found = np.zeros((len(seen.values), len(people)))
            best = found == found.max(axis=1, keepdims=True)
            votes = np.zeros((len(seen.owner), len(seen.people)))
            votes[:, people] = seen.per_record(best / best.sum(axis=1, keepdims=True))
            averaged = for_everybody(seen.per_record(found), people, len(seen.people))
            return Scores(averaged, votes, seen.owner)

        return recognise


def for_everybody(
    scores: NDArray[np.float64], known: NDArray[np.intp], people: int
) -> NDArray[np.float64]:
    """Scores of the people that were learned, as scores of all: the others come last.

    >>> for_everybody(np.array([[0.5, 0.25]]), np.array([0, 2]), 3).argsort().tolist()
    [[1, 2, 0]]
    """
    everybody = np.full((len(scores), people), -np.inf)
    everybody[:, known] = scores
    return last_where_impossible(everybody)


def last_where_impossible(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores with a number a little below the least of their record in place of every −∞.

    Little beside their span, so that it spoils no mean, and much beside rounding.

    >>> last_where_impossible(np.array([[0.5, -np.inf, 0.25]])).argsort().tolist()
    [[1, 2, 0]]
    """
    possible = np.isfinite(scores)
    least = np.where(possible, scores, np.inf).min(axis=1, keepdims=True)
    least = np.where(np.isfinite(least), least, 0.0)
    most = np.where(possible, scores, least).max(axis=1, keepdims=True)
    size = np.maximum(most - least, np.maximum(np.abs(most), np.abs(least)))
    return np.where(possible, scores, least - 1e-6 * np.where(size > 0, size, 1.0))


def row_scores(model: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows × classes: probabilities where the model has them, else its decision values."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(values))
    decided = np.asarray(model.decision_function(values))
    return np.column_stack([-decided, decided]) if decided.ndim == 1 else decided

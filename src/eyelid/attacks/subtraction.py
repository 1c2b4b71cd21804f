"""The subtraction attack: who knows all others takes them off an aggregate, and one remains.

A mean of N people is their sum over N. An attacker who has it and the data of N − 1 of them gets
N·mean − Σ others, which is the last person: exactly when nothing was added, and off by N times
the noise when something was. The error is thus the same for every person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError

Aggregate = Literal["mean", "sum"]


@dataclass(frozen=True)
class Subtraction:
    """How near the attack came to people, each in turn being the one who is left.

    Attributes:
        people: how many are in the aggregate.
        rmse_of_span: error of the recovered values, as shares of the range; the same for everybody.
        largest_of_span: the largest error of any value, as shares of the range.
        blind_rmse_of_span: error of guessing everybody to be the mean of the others, which needs no
            aggregate: an attack that is no better has learned nothing worth having.
    """

    people: int
    rmse_of_span: float
    largest_of_span: float
    blind_rmse_of_span: float

    @property
    def exact(self) -> bool:
        """Whether people come back as they were, but for rounding."""
        return self.largest_of_span < 1e-9

    @property
    def learned(self) -> bool:
        """Whether the aggregate told more than the others did."""
        return self.rmse_of_span < self.blind_rmse_of_span


def subtract(
    aggregate: ArrayLike, others: ArrayLike, of: Aggregate = "mean"
) -> NDArray[np.float64]:
    """The one who is left: numbers, or a map.

    Args:
        aggregate: what was published about everybody.
        others: the data of everybody but one, people first.
        of: whether a mean or a sum was published.

    >>> subtract([2.0, 4.0], [[1.0, 1.0], [2.0, 5.0]]).tolist()
    [3.0, 6.0]
    """
    published, known = _checked(aggregate, others)
    total = published * (len(known) + 1) if of == "mean" else published
    return np.asarray(total - known.sum(axis=0))


def subtraction(
    aggregate: ArrayLike, people: ArrayLike, span: ArrayLike = 1.0, of: Aggregate = "mean"
) -> Subtraction:
    """Leave each person out in turn and get them back from the aggregate and the others.

    Args:
        aggregate: what was published about everybody.
        people: everybody's data, people first.
        span: upper minus lower public bound, of all values or of each.
        of: whether a mean or a sum was published.

    >>> people = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> subtraction(people.mean(axis=0), people).exact
    True
    """
    published, everybody = _checked(aggregate, people)
    count = len(everybody)
    if count < 2:
        raise InputError(f"an aggregate of {count} people has no others to subtract: give all")
    # N·mean − (Σ − x) − x does not depend on x.
    total = published * count if of == "mean" else published
    error = (total - everybody.sum(axis=0)) / span
    blind = (everybody - everybody.mean(axis=0)) * (count / (count - 1)) / span
    return Subtraction(
        people=count,
        rmse_of_span=_root_mean_square(error),
        largest_of_span=float(np.abs(error).max()),
        blind_rmse_of_span=_root_mean_square(blind),
    )


def _root_mean_square(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _checked(
    aggregate: ArrayLike, people: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    published = np.asarray(aggregate, dtype=np.float64)
    each = np.asarray(people, dtype=np.float64)
    if each.ndim != published.ndim + 1 or each.shape[1:] != published.shape:
        raise InputError(
            f"the aggregate has the shape {published.shape} and the people {each.shape}: give "
            "people first, each with the aggregate's shape"
        )
    if not (np.isfinite(published).all() and np.isfinite(each).all()):
        raise InputError("the aggregate or the people have missing values: fill them in first")
    return published, each

"""Rows of people as bins, in order of time: the same number of each person and task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.binning import Bins, Codes
from eyelid.mechanisms.synthetic.recordings import owners_of, tasks_of

BEND = 3
"""Bins are equal in the cube root: fine where features of gaze are."""

# So few that what is looked up of them stays in the cache.
_BLOCK_PEOPLE = 64

LENGTH_BINS = 64
"""Numbers of rows from 1 to two million, three bins for each doubling."""


@dataclass(frozen=True, eq=False)
class Sequences:
    """Rows evenly spread over what there is of a task, each with the rows some lags away.

    Attributes:
        codes: (people, tasks, rows, 1 + lags, features): a row, and the one each lag after it, or
            before it where the recording ends. ``missing`` where there is none, or no value.
        lengths: (people, tasks): rows there are, 0 for none.
        missing: the code of nothing; bins are those below it.
        group: (people,): of everybody, the number of their public group.
    """

    codes: Codes
    lengths: NDArray[np.int64]
    missing: int
    group: NDArray[np.intp]

    @property
    def people(self) -> int:
        """How many people."""
        return len(self.codes)

    def of(self, which: slice | NDArray[np.intp]) -> Sequences:
        """The sequences of some people, in that order."""
        return replace(
            self, codes=self.codes[which], lengths=self.lengths[which], group=self.group[which]
        )

    def blocks(self) -> Iterator[Sequences]:
        """The sequences of some people at a time."""
        for start in range(0, self.people, _BLOCK_PEOPLE):
            yield self.of(slice(start, start + _BLOCK_PEOPLE))


def lags_of(window: int) -> tuple[int, ...]:
    """How many rows apart rows are compared: one, and about one window.

    >>> lags_of(60), lags_of(1)
    ((1, 15, 60, 240), (1, 4, 16))
    """
    wide = max(window, 4)
    return tuple(sorted({1, wide // 4, wide, 4 * wide}))


def picked(lengths: NDArray[np.int64], rows: int, lags: Sequence[int]) -> NDArray[np.int64]:
    """Which rows of recordings of these lengths are looked at: (…, rows, 1 + lags).

    >>> picked(np.array([10]), 2, [3])
    array([[[2, 5],
            [7, 4]]])
    """
    many = lengths[..., None]
    first = np.minimum((2 * np.arange(rows) + 1) * many // (2 * rows), np.maximum(many - 1, 0))
    later = [np.where(first + lag < many, first + lag, np.maximum(first - lag, 0)) for lag in lags]
    return np.stack([first, *later], axis=-1)


def sequences_of_values(values: Values, bins: Bins, rows: int, lags: Sequence[int]) -> Sequences:
    """Sequences of values (people, tasks, rows, features); a task without any number is none."""
    there = ~np.isnan(values).all(axis=(-1, -2))
    lengths = np.where(there, values.shape[-2], 0)
    where = picked(lengths, rows, lags)
    found = np.take_along_axis(
        values[..., None, :], where.reshape(*lengths.shape, -1, 1, 1), axis=2
    ).reshape(*where.shape, values.shape[-1])
    codes = _coded(found, bins)
    codes[lengths == 0] = bins.count
    together = np.zeros(len(codes), dtype=np.intp)
    return Sequences(codes, lengths.astype(np.int64), bins.count, together)


def sequences_of(
    table: FeatureTable,
    columns: Sequence[int],
    bins: Bins,
    rows: int,
    window: int,
    group: NDArray[np.intp],
) -> tuple[list[str], Sequences]:
    """The tasks by name, and everybody's sequences of some features.

    What a person has of a task is one sequence, however many recordings it is made of.

    Args:
        table: features of people.
        columns: which of them.
        bins: of these.
        rows: T, that are looked at of each person and task.
        window: rows that one window covers.
        group: of everybody in the table, in its order, the public group.
    """
    person, (names, task) = owners_of(table), tasks_of(table)
    many = table.recordings["rows"].to_numpy()
    people = int(person.max()) + 1
    cell = person * len(names) + task
    lengths = np.bincount(cell, weights=many, minlength=people * len(names)).astype(np.int64)
    # Rows of one person and task after each other, as they stand in the table.
    order = np.argsort(np.repeat(cell, many), kind="stable")
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).reshape(people, len(names))
    lengths = lengths.reshape(people, len(names))
    lags = lags_of(window)
    wanted = [table.names[column] for column in columns]
    codes = np.empty((*lengths.shape, rows, 1 + len(lags), len(wanted)), dtype=np.uint8)
    for first in range(0, people, _BLOCK_PEOPLE):
        some = slice(first, first + _BLOCK_PEOPLE)
        where = starts[some][..., None, None] + picked(lengths[some], rows, lags)
        where[lengths[some] == 0] = 0
        data = table.data[order[where.ravel()]].select(pl.col(wanted).cast(pl.Float64)).to_numpy()
        codes[some] = _coded(data.reshape(*where.shape, len(wanted)), bins)
        codes[some][lengths[some] == 0] = bins.count
    return names, Sequences(codes, lengths, bins.count, group)


def _coded(values: Values, bins: Bins) -> Codes:
    """Bins of values; a missing one is in none."""
    codes = bins.codes(values)
    codes[np.isnan(values)] = bins.count
    return codes


def length_bin(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of a number of rows, −1 for none.

    >>> length_bin(np.array([0, 1, 2, 3, 4, 1200])).tolist()
    [-1, 0, 3, 4, 6, 30]
    """
    return np.searchsorted(length_edges()[:-1], rows, side="right") - 1


def length_edges() -> NDArray[np.int64]:
    """The fewest rows of each bin of lengths, and the end of the last."""
    return np.ceil(2.0 ** (np.arange(LENGTH_BINS + 1) / 3) - 1e-9).astype(np.int64)

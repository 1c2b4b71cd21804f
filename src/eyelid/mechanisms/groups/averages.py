"""Means over groups of people: which rows go into which mean, added up exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.groups.partition import Members
from eyelid.mechanisms.groups.slots import slots_of

# Of a range: the public grid that values are put on, fine enough for every use, and so coarse that
# sums over 100 000 people are exact.
_STEPS = 2.0**36
ENDLESS = np.iinfo(np.int64).max
"""More rows than there are."""


def rows_that_end(table: FeatureTable) -> NDArray[np.int64]:
    """Where each recording ends, in rows; never where it has no value.

    That a recording was left out must not make its group's shorter: its cells are empty anyway.
    """
    return np.where(table.blank, ENDLESS, table.recordings["rows"].to_numpy())


def resampled(table: FeatureTable, rows: int) -> FeatureTable:
    """A table whose recordings all have so many rows, spread evenly over each of them.

    Row i is the one in the middle of the i-th of ``rows`` equal parts. Of a recording that has
    fewer rows some would be taken twice: there the others would move alone, so that such recordings
    are to be refused; of one without any value that shows nothing.

    Args:
        table: of everybody.
        rows: of each recording.
    """
    has = table.recordings["rows"].to_numpy().astype(np.int64)
    if (has == rows).all():
        return table
    places = (2 * np.arange(rows) + 1) * has[:, None] // (2 * rows)
    data = table.data[(np.cumsum(has) - has)[:, None].repeat(rows, axis=1).ravel() + places.ravel()]
    times = np.tile(np.arange(rows) * (table.step_ms or 1.0), len(has))
    if "time_ms" in data.columns:
        data = data.with_columns(pl.Series("time_ms", times))
    return replace(table, data=data)


@dataclass(frozen=True, eq=False)
class Sums:
    """How rows of a table go into rows of means.

    Attributes:
        matrix: released rows × rows of the table, 1 where one goes into the other.
        group: of each released row.
        slot: of each released row.
        row: its number in its recording.
        sizes: people of each group.
    """

    matrix: Any
    group: NDArray[np.intp]
    slot: NDArray[np.intp]
    row: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def mean(self, column: pl.Series, feature: Feature) -> pl.Series:
        """The mean over all members of each released row; null where one of them has no value.

        Means over those who have one would show the others: two neighbouring rows with and without
        a member differ by that member's value.
        """
        steps = _STEPS / feature.span
        values = np.clip(column.to_numpy().astype(np.float64), feature.lower, feature.upper)
        values -= feature.lower
        values *= steps
        # Whole numbers add up to the same whatever their order.
        sums = self.matrix @ np.rint(values, out=values)
        means = sums / (self.sizes[self.group] * steps) + feature.lower
        # Rounding may go beyond the bounds.
        found = pl.Series(feature.name, means).fill_nan(None)
        return found.clip(upper_bound=feature.upper)


def summing(table: FeatureTable, member: Members, length: int | str) -> Sums:
    """Which rows of the table go into which mean."""
    from scipy.sparse import csr_matrix

    slots, rows = slots_of(table), table.recordings["rows"].to_numpy().astype(np.int64)
    starts, ends = np.cumsum(rows) - rows, rows_that_end(table)
    sizes = np.bincount(member)
    cell = member[slots.owner] * len(slots.names) + slots.slot
    cells = sizes.size * len(slots.names)
    shortest = np.full(cells, ENDLESS)
    np.minimum.at(shortest, cell, ends)
    shortest[shortest == ENDLESS] = table.shortest
    # Of a group, what all its members have.
    complete = np.bincount(cell, minlength=cells) == np.repeat(sizes, len(slots.names))
    if isinstance(length, int):
        shortest = np.minimum(shortest, length)
    elif length == "shortest":
        shortest[:] = table.shortest
    kept = np.where(complete, shortest, 0)
    # Members of one cell stand together: row r of it takes row r of each, and any of one without
    # values, all of whose rows are alike.
    recordings = np.argsort(cell, kind="stable")
    recordings = recordings[complete[cell[recordings]]]
    begins, last = starts[recordings], rows[recordings] - 1
    whose = np.repeat(np.arange(cells), kept)
    row = np.arange(kept.sum()) - np.repeat(np.cumsum(kept) - kept, kept)
    many = np.where(complete, np.repeat(sizes, len(slots.names)), 0)
    first = (np.cumsum(many) - many)[whose]
    count = many[whose]
    pointers = np.concatenate([[0], np.cumsum(count)])
    within = np.arange(pointers[-1]) - np.repeat(pointers[:-1], count)
    whom = np.repeat(first, count) + within
    taken = begins[whom] + np.minimum(np.repeat(row, count), last[whom])
    matrix = csr_matrix(
        (np.ones(taken.size), taken, pointers), shape=(whose.size, len(table.data)), copy=False
    )
    group, slot = np.divmod(whose, len(slots.names))
    return Sums(matrix, group, slot, row, sizes.astype(np.int64))


def copied(data: pl.DataFrame, people: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One copy for each member, under names that say no more than the group."""
    each = people.select(
        pl.col("person"), pl.int_ranges(1, pl.col("people") + 1).alias("copy")
    ).explode("copy")
    each = each.with_columns(pl.format("{}-{}", "person", "copy").alias("name"))
    copied = each.join(data, on="person", how="left", maintain_order="left_right")
    named = copied.with_columns(pl.col("name").alias("person")).drop("copy", "name")
    return named, each.select(pl.col("name").alias("person"))

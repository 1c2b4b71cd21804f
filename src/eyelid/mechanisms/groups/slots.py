"""Recordings of different people side by side: by task, and by their order within it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import PublicFacts, Values

_BLOCK_VALUES = 1 << 18


@dataclass(frozen=True, eq=False)
class Slots:
    """Every recording that any person has, side by side over people.

    Attributes:
        names: one row a slot: ``recording`` (its number), ``task`` and ``stimulus`` (none).
        slot: of each recording of the table, which slot; -1 for one beyond the slots of its task.
        owner: whose it is, from 0.
    """

    names: pl.DataFrame
    slot: NDArray[np.intp]
    owner: NDArray[np.intp]

    def of_some(self, first: int, recordings: int) -> Slots:
        """The slots of some whole people, beside everybody's.

        Args:
            first: of their recordings.
            recordings: how many they have.
        """
        mine = slice(first, first + recordings)
        return replace(self, slot=self.slot[mine], owner=self.owner[mine] - self.owner[first])


def slots_of(table: FeatureTable, per_task: int | None = None) -> Slots:
    """Recordings by task, in the order of its name, and by their order within the task.

    Args:
        table: of everybody.
        per_task: slots of each task, whatever any person has; as many as the person with most
            recordings of it fills by default, which shows that person.
    """
    recordings = table.recordings
    person = recordings["person"].to_numpy()
    owner = np.cumsum(np.concatenate([[False], person[1:] != person[:-1]]))
    tasks = np.full(len(owner), "")
    if "task" in recordings.columns:
        tasks = np.array([str(task or "") for task in recordings["task"].to_list()])
    names, task = np.unique(tasks, return_inverse=True)
    whose = owner * len(names) + task
    sorted_ = np.argsort(whose, kind="stable")
    mine = whose[sorted_]
    order = np.empty(len(owner), dtype=np.intp)
    order[sorted_] = np.arange(len(owner)) - np.searchsorted(mine, mine)
    often = np.zeros(len(names), dtype=np.intp)
    np.maximum.at(often, task, order + 1)
    if per_task is not None:
        often[:] = per_task
    found = pl.DataFrame(
        {
            "recording": np.arange(1, often.sum() + 1).astype(str),
            "task": np.repeat(names, often),
            # What people looked at need not be the same.
            "stimulus": np.full(often.sum(), ""),
        }
    )
    slot = (np.cumsum(often) - often)[task] + order
    return Slots(found, np.where(order < often[task], slot, -1), owner)


def everybody(table: FeatureTable, facts: PublicFacts, slots: Slots) -> Iterator[Values]:
    """Blocks of whole people × recordings × rows × features, cut at the length; NaN for nothing.

    Args:
        table: of everybody, or of some whole people.
        facts: the public facts of everybody.
        slots: of the people of the table, beside everybody's.
    """
    rows = table.recordings["rows"].to_numpy()
    people = int(slots.owner[-1]) + 1
    start = np.zeros((people, facts.recordings), dtype=np.int64)
    count = np.zeros_like(start)
    placed = slots.slot >= 0
    where = (slots.owner[placed], slots.slot[placed])
    start[where], count[where] = (np.cumsum(rows) - rows)[placed], rows[placed]
    size = max(1, _BLOCK_VALUES // (facts.recordings * facts.length * facts.features))
    row = np.arange(facts.length)
    for first in range(0, people, size):
        begin, many = start[first : first + size, :, None], count[first : first + size, :, None]
        low, high = int(begin[many > 0].min()), int((begin + many).max())
        flat = table.data[low:high].select(pl.col(table.names).cast(pl.Float64)).to_numpy()
        there = row < many
        values = flat[np.where(there, begin - low + row, 0)]
        values[~there] = np.nan
        yield values


def lacking(table: FeatureTable) -> dict[str, int]:
    """How many people lack each recording that others have, by task and order within it.

    A person who lacks one takes it from their whole group.
    """
    slots = slots_of(table)
    people = int(slots.owner[-1]) + 1
    often = np.bincount(slots.slot, minlength=len(slots.names))
    return {
        name: people - int(have)
        for name, have in zip(slot_names(slots.names), often, strict=True)
        if have < people
    }


def slot_names(slots: pl.DataFrame) -> list[str]:
    """Recordings that a person has, in words: by task, numbered where it has several.

    >>> slot_names(pl.DataFrame({"task": ["look", "read", "read"]}))
    ["task 'look'", "recording 1 of task 'read'", "recording 2 of task 'read'"]
    """
    number, many = pl.int_range(1, pl.len() + 1).over("task"), pl.len().over("task")
    task = pl.format("task '{}'", "task")
    words = (
        pl.when(pl.col("task") == "")
        .then(pl.format("recording {}", number))
        .when(many > 1)
        .then(pl.format("recording {} of {}", number, task))
        .otherwise(task)
    )
    named: list[str] = slots.select(words).to_series().to_list()
    return named

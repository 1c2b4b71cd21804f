"""The signals that the papers perturb: per task, everybody's recordings side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import PublicFacts, Values


@dataclass(frozen=True, eq=False)
class TaskSignals:
    """The recordings of one task.

    Attributes:
        task: its name.
        values: (recordings, features, rows), zero beyond a recording's own rows.
        lengths: rows of each recording.
        places: of each among the table's recordings.
    """

    task: str
    values: Values
    lengths: NDArray[np.int64]
    places: NDArray[np.intp]

    @property
    def inside(self) -> NDArray[np.bool_]:
        """(recordings, 1, rows): which values are a recording's own."""
        own: NDArray[np.bool_] = np.arange(self.values.shape[2]) < self.lengths[:, None, None]
        return own

    def padded(self) -> TaskSignals:
        """Every recording as long as the longest, by its last row."""
        rows = self.values.shape[2]
        row = np.minimum(np.arange(rows), self.lengths[:, None] - 1)
        values = np.take_along_axis(self.values, row[:, None, :], axis=2)
        return replace(self, values=values, lengths=np.full_like(self.lengths, rows))

    def differences(self, chunk: int) -> TaskSignals:
        """The steps from row to row inside chunks; a chunk's first value is kept."""
        steps = np.diff(self.values, axis=2, prepend=0.0)
        steps[..., ::chunk] = self.values[..., ::chunk]
        return replace(self, values=np.where(self.inside, steps, 0.0))


def signals_of(table: FeatureTable) -> Iterator[TaskSignals]:
    """One task after the other; missing values repeat the last known one, or zero.

    The papers say nothing about missing values.
    """
    rows = _filled(table)
    recordings = table.recordings
    lengths = recordings["rows"].to_numpy()
    starts = np.cumsum(lengths) - lengths
    for task, mine in tasks_of(table):
        longest = int(lengths[mine].max())
        row = np.arange(longest)
        inside = row < lengths[mine, None]
        values = rows[np.where(inside, starts[mine, None] + row, 0)] * inside[..., None]
        yield TaskSignals(
            task, np.ascontiguousarray(values.transpose(0, 2, 1)), lengths[mine], mine
        )


def tasks_of(table: FeatureTable) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Each task with the places of its recordings; one nameless task where none is named.

    A task with a single recording is refused: the papers scale their noise by comparing two.
    """
    recordings = table.recordings
    tasks = pl.repeat("", len(recordings), eager=True)
    if "task" in recordings.columns:
        tasks = recordings["task"].cast(pl.String).fill_null("")
    for task in tasks.unique(maintain_order=True):
        mine = np.flatnonzero((tasks == task).to_numpy())
        if len(mine) < 2:
            raise InputError(
                f"task '{task}' has one recording only: the paper's noise is scaled by comparing "
                "two; leave the task out"
            )
        yield task, mine


def _filled(table: FeatureTable) -> Values:
    """Rows × features without gaps."""
    number = np.repeat(np.arange(len(table.recordings)), table.recordings["rows"].to_numpy())
    values = pl.col(table.names).cast(pl.Float64)
    known = pl.when(values.is_finite()).then(values)
    filled = known.forward_fill().backward_fill().over(pl.Series(number)).fill_null(0.0)
    return table.data.select(filled.name.keep()).to_numpy()


def sensitivities(values: Values, chunk: int, power: int) -> Values:
    """The largest L1 or L2 distance of two recordings, (features, chunks), over each chunk's rows.

    Equation 7 of Bozkir et al. 2021: the largest over the people there are, not over those there
    could be. It speaks of vectors of the longest recording's length, so shorter ones go on as zero.
    """
    recordings, features, rows = values.shape
    firsts = np.arange(0, rows, chunk)
    largest = np.zeros((features, len(firsts)))
    for one in range(recordings - 1):
        apart = np.abs(values[one + 1 :] - values[one])
        if power == 2:
            apart *= apart
        sums = np.add.reduceat(apart, firsts, axis=2)
        np.maximum(largest, sums.max(axis=0), out=largest)
    return largest if power == 1 else np.sqrt(largest)


def table_of(tasks: Sequence[TaskSignals], table: FeatureTable) -> FeatureTable:
    """A table of the same recordings with these values, at the table's step, without labels."""
    each = {
        int(place): values[:, :rows].T
        for signals in tasks
        for place, values, rows in zip(signals.places, signals.values, signals.lengths, strict=True)
    }
    ordered = [each[place] for place in range(len(table.recordings))]
    counts = [len(values) for values in ordered]
    flat = np.concatenate(ordered)
    row = np.concatenate([np.arange(count) for count in counts])
    keys = [c for c in ("person", "recording", "task", "stimulus") if c in table.data.columns]
    data = table.recordings.select(keys)[np.repeat(np.arange(len(counts)), counts)].with_columns(
        pl.Series("time_ms", row * (table.step_ms or 1.0)),
        *[pl.Series(name, flat[:, j].copy()) for j, name in enumerate(table.names)],
    )
    return replace(table, data=data)


def subsampled(table: FeatureTable, every: int) -> FeatureTable:
    """Every so many-th row of each recording, as Steil et al. 2019 thin out overlapping windows."""
    if every == 1:
        return table
    number = np.concatenate([np.arange(rows) for rows in table.recordings["rows"]])
    step = None if table.step_ms is None else table.step_ms * every
    return replace(table, data=table.data.filter(pl.Series(number % every == 0)), step_ms=step)


def longest_facts(table: FeatureTable) -> PublicFacts:
    """People, the most recordings of one, the longest recording's rows, features."""
    recordings = table.recordings
    return PublicFacts(
        people=recordings["person"].n_unique(),
        recordings=int(recordings["person"].unique_counts().max()),  # type: ignore[arg-type]
        length=int(recordings["rows"].to_numpy().max()),
        features=len(table.features),
    )

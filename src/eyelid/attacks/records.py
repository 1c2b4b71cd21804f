"""What attackers look at: rows of feature values, and which record of whom each row belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable

# Neighbouring windows are nearly the same: more rows of a person cost time and tell little.
# Settled on simulated people, raw and released: twice as many rows recognise no more of them.
ROWS_PER_PERSON = 60

# As shares of the range; squares of more would be no numbers.
_FARTHEST = 1e12


_KEY = ["person", "recording", "row_in_recording"]


@dataclass(frozen=True, eq=False)
class Records:
    """Some recordings of some people, as numbers.

    Attributes:
        values: rows × features, as shares of the range above the lower bound; missing values are
            0.5.
        record: for each row, which record it belongs to; rows of a record stand together.
        owner: for each record, whose it is, as an index into ``people``.
        tasks: for each record, what its owner was doing.
        people: the names of everybody who could be meant, the same for all records of an audit.
        usual: for each task that at least half of the people did, what is usual there: the mean of
            all records of the source, shown ones included, without their names.
        channels: of signals, how many stand one after the other in a row of samples.
        crowd: of signals, all records of the source, without their names: what is usual is learned
            from them.
    """

    values: NDArray[np.float64]
    record: NDArray[np.intp]
    owner: NDArray[np.intp]
    tasks: tuple[str, ...]
    people: tuple[str, ...]
    usual: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    channels: int = 1
    crowd: Records | None = None

    @property
    def person(self) -> NDArray[np.intp]:
        """For each row, whose it is."""
        return self.owner[self.record]

    @property
    def windows(self) -> NDArray[np.float32]:
        """Rows of signals: windows × channels × samples."""
        return self.values.reshape(len(self.values), self.channels, -1).astype(np.float32)

    @property
    def rows(self) -> NDArray[np.intp]:
        """For each record, how many rows it has."""
        return np.bincount(self.record, minlength=len(self.owner))

    @property
    def records_per_person(self) -> int:
        """The most that any person has."""
        return int(np.bincount(self.owner).max())

    def per_record(self, row_values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Row values averaged over each record: records × whatever a row has."""
        starts = np.searchsorted(self.record, np.arange(len(self.owner)))
        totals = np.add.reduceat(row_values, starts, axis=0)
        return np.asarray((totals.T / self.rows).T)

    def only(self, kept: NDArray[np.bool_]) -> Records:
        """Some of the records.

        Args:
            kept: for each record, whether it stays.
        """
        rows = kept[self.record]
        return replace(
            self,
            values=self.values[rows],
            record=(np.cumsum(kept) - 1)[self.record[rows]],
            owner=self.owner[kept],
            tasks=tuple(task for task, stays in zip(self.tasks, kept, strict=True) if stays),
        )

    def one_by_one(self) -> list[Records]:
        """Each record on its own."""
        ends = np.cumsum(self.rows)
        return [
            replace(
                self,
                values=self.values[end - rows : end],
                record=np.zeros(rows, dtype=np.intp),
                owner=self.owner[number : number + 1],
                tasks=self.tasks[number : number + 1],
            )
            for number, (rows, end) in enumerate(zip(self.rows, ends, strict=True))
        ]

    def without(self, usual: Mapping[str, NDArray[np.float64]]) -> Records:
        """Every value less what is usual in its task, so that people stand out and tasks do not.

        Tasks of which nothing is known are taken for average ones. Taking off the mean of all N
        people, or that of the other N − 1, are the same but for a factor (N − 1) / N: nobody is
        given away by having been counted themselves.

        Args:
            usual: by task, of the source that the attacker learned from.
        """
        if not usual:
            return self
        average = np.mean(list(usual.values()), axis=0)
        base = np.stack([usual.get(task, average) for task in self.tasks])
        return replace(self, values=self.values - base[self.record])

    def condensed(self, rows_per_record: int) -> Records:
        """At most so many rows of every record, each the mean of neighbouring ones.

        Means rather than samples: they keep what a person does and lose noise that was added to
        single rows.
        """
        rows = self.rows
        kept = np.minimum(rows, rows_per_record)
        position = np.arange(len(self.record)) - (np.cumsum(rows) - rows)[self.record]
        block = position * kept[self.record] // rows[self.record]
        blocks = replace(
            self,
            record=(np.cumsum(kept) - kept)[self.record] + block,
            owner=np.repeat(self.owner, kept),
        )
        return replace(
            self,
            values=blocks.per_record(self.values),
            record=np.repeat(np.arange(len(rows)), kept),
        )


def joined(parts: Sequence[Records]) -> Records:
    """Records of the same people from several sources, one after the other."""
    counts = np.cumsum([0, *[len(part.owner) for part in parts]])
    shared = set.intersection(*[set(part.usual) for part in parts])
    return Records(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.record + first for part, first in zip(parts, counts, strict=False)]),
        np.concatenate([part.owner for part in parts]),
        tuple(task for part in parts for task in part.tasks),
        parts[0].people,
        {task: np.mean([part.usual[task] for part in parts], axis=0) for task in sorted(shared)},
    )


def records_of(table: FeatureTable, people: Sequence[str], where: pl.Expr | None = None) -> Records:
    """The rows of a table that qualify, as records.

    Args:
        table: raw or released features.
        people: everybody who could be meant; rows of others are left out.
        where: which rows.
    """
    rows = table.data.filter(pl.col("person").is_in(list(people)))
    everything = replace(heads_of(rows, people), values=values_of(table, rows))
    everything = replace(everything, usual=usual_in(everything))
    if where is None:
        return everything
    return _rows(everything, rows.select(where.fill_null(False).alias("wanted"))["wanted"])


def heads_of(rows: pl.DataFrame, people: Sequence[str]) -> Records:
    """Which record of whom each row belongs to, without any values.

    Args:
        rows: with their keys; rows of a recording stand together.
        people: everybody who could be meant.
    """
    place = {name: index for index, name in enumerate(people)}
    starts = pl.any_horizontal(
        pl.col(key).ne_missing(pl.col(key).shift()) for key in ("person", "recording")
    )
    first = rows.select((starts | (pl.int_range(pl.len()) == 0)).alias("first"))["first"]
    heads = rows.filter(first)
    tasks = heads["task"].to_list() if "task" in heads.columns else [""] * len(heads)
    return Records(
        np.zeros((len(rows), 0)),
        np.cumsum(first.to_numpy()).astype(np.intp) - 1,
        np.array([place[name] for name in heads["person"]], dtype=np.intp),
        tuple(task or "" for task in tasks),
        tuple(people),
    )


def _rows(records: Records, wanted: pl.Series) -> Records:
    """Some rows, and the records that have any."""
    kept = wanted.to_numpy()
    present, record = np.unique(records.record[kept], return_inverse=True)
    return replace(
        records,
        values=records.values[kept],
        record=record.astype(np.intp),
        owner=records.owner[present],
        tasks=tuple(records.tasks[index] for index in present),
    )


def usual_in(records: Records) -> dict[str, NDArray[np.float64]]:
    """The mean record of each task.

    Tasks that less than half of the people did are left out: their mean is those people themselves.
    """
    means, tasks = records.per_record(records.values), np.array(records.tasks)
    doing = {task: tasks == task for task in sorted(set(records.tasks))}
    return {
        task: means[who].mean(axis=0)
        for task, who in doing.items()
        if 2 * len(np.unique(records.owner[who])) >= len(records.people)
    }


def values_of(table: FeatureTable, rows: pl.DataFrame) -> NDArray[np.float64]:
    """The features of some rows, scaled to the range; missing ones at the midpoint."""
    lowers = np.array([f.lower for f in table.features])
    spans = np.array([f.span for f in table.features])
    values = rows.select(pl.col(table.names).cast(pl.Float64).fill_null(np.nan)).to_numpy()
    scaled = (values - lowers) / spans
    # As mechanisms do: what is missing lies in the middle, what is infinite at a bound.
    scaled = np.nan_to_num(scaled, nan=0.5, posinf=1.0, neginf=0.0)
    return np.asarray(np.clip(scaled, -_FARTHEST, _FARTHEST))


def empty_cells(table: FeatureTable, rows: pl.DataFrame) -> NDArray[np.bool_]:
    """Where some rows have no value of a feature: rows × features."""
    values = rows.select(pl.col(table.names).cast(pl.Float64).fill_null(np.nan)).to_numpy()
    return np.asarray(np.isnan(values))


def aligned(original: FeatureTable, released: FeatureTable) -> tuple[FeatureTable, FeatureTable]:
    """The rows that both have: the n-th row of a recording beside the n-th.

    A release cuts or pads recordings to a common length and rewrites times, so rows are matched by
    their number, and by every so many of it where the release has longer steps. Labels and bounds
    are the original's.
    """
    number = pl.int_range(pl.len()).over("person", "recording").alias(_KEY[-1])
    every = 1
    if original.step_ms and released.step_ms:
        every = max(1, round(released.step_ms / original.step_ms))
    ours, theirs = (
        original.data.with_columns(number),
        released.data.with_columns(number * every),
    )
    ours = ours.join(theirs.select(_KEY), on=_KEY, how="semi", maintain_order="left")
    theirs = ours.select(_KEY).join(theirs, on=_KEY, how="left", maintain_order="left")
    if ours.is_empty():
        raise InputError("the release has no recording of the original: are these the right two?")
    return (
        replace(original, data=ours.drop(_KEY[-1])),
        replace(
            released,
            data=theirs.select(c for c in released.data.columns),
            features=original.features,
        ),
    )

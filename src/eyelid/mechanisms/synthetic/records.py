"""Single rows of people as records: at most so many of each person and task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.binning import Codes
from eyelid.mechanisms.synthetic.recordings import MADE_UP, owners_of, tasks_of
from eyelid.privacy.noise import Randomness


@dataclass(frozen=True, eq=False)
class TaskRecords:
    """Records of everybody of one task.

    Attributes:
        name: of the task.
        values: (people, records, features); of what is not there, nothing that counts.
        there: (people, records), which records there are: the first ones.
        codes: bins of the values.
    """

    name: str
    values: Values
    there: NDArray[np.bool_]
    codes: Codes

    @property
    def people(self) -> int:
        """How many people, whether they have records or not."""
        return len(self.there)

    @property
    def listed(self) -> tuple[NDArray[np.intp], Codes]:
        """One line a record: whose it is, and its bins."""
        return np.nonzero(self.there)[0], self.codes[self.there]

    def of(self, people: NDArray[np.intp]) -> TaskRecords:
        """The records of some people, in that order."""
        return TaskRecords(self.name, self.values[people], self.there[people], self.codes[people])


def records_of_tasks(table: FeatureTable, most: int, noise: Randomness) -> list[TaskRecords]:
    """At most so many random rows of each person and task, tasks by name."""
    person, (names, task) = owners_of(table), tasks_of(table)
    rows = table.recordings["rows"].to_numpy()
    people = int(person.max()) + 1
    cell = np.repeat(person * len(names) + task, rows)
    order = np.lexsort((noise.words(len(cell)), cell))
    place = np.arange(len(cell)) - np.searchsorted(cell[order], cell[order])
    chosen = place < most
    where = (*np.divmod(cell[order][chosen], len(names)), place[chosen])
    values = np.full((people, len(names), most, len(table.names)), np.nan)
    there = np.zeros(values.shape[:-1], dtype=bool)
    found = table.data.select(pl.col(table.names).cast(pl.Float64))[order[chosen]].to_numpy()
    values[where], there[where] = found, True
    none = np.zeros(0, dtype=np.uint8)
    return [
        TaskRecords(name, values[:, number], there[:, number], none)
        for number, name in enumerate(names)
    ]


def frame_of_rows(task: str, number: int, columns: dict[str, NDArray[Any]]) -> pl.DataFrame:
    """Rows of one task that are nobody's, in no order of time.

    Args:
        task: its name.
        number: of its recording.
        columns: the released ones.
    """
    keys = {"person": MADE_UP, "recording": str(number), "task": task, "stimulus": ""}
    rows = len(next(iter(columns.values())))
    frame = pl.DataFrame({"time_ms": np.arange(rows, dtype=np.float64)})
    frame = frame.select(*[pl.lit(v).alias(k) for k, v in keys.items()], "time_ms")
    return frame.with_columns(
        pl.Series(name, np.ascontiguousarray(values)) for name, values in columns.items()
    )

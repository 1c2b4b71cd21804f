"""What the attacker knows of a person, and what they are shown: never parts of one moment.

Split by task where there are several, else by recording, else in halves with the length of a window
between them. Never by random windows: neighbours overlap, and would be known already.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable

# More parts than this cost time and tell little.
MOST_PARTS = 5


# Whoever did nothing in particular did the same.
_task_of = pl.col("task").fill_null("")
# A split is of use when it can be made of so many people.
ENOUGH = 0.5


@dataclass(frozen=True, eq=False)
class Split:
    """One way to part a study.

    Attributes:
        name: what is shown, in words.
        known: rows that the attacker knows.
        shown: rows that the attacker is to recognise.
        across: what lies between the two: ``tasks``, ``recordings`` or ``halves``.
    """

    name: str
    known: pl.Expr
    shown: pl.Expr
    across: str


def splits_of(table: FeatureTable) -> list[Split]:
    """Every task, or else every part of the recordings, shown in turn; or else second halves."""
    tasks = _tasks(table)
    task = _task_of if "task" in table.recordings.columns else pl.lit("")
    each = table.recordings.group_by("person").agg(pl.len(), task.n_unique().alias("tasks"))
    # Whoever has one task or one recording only cannot be recognised in another.
    if len(tasks) > 1 and (each["tasks"].to_numpy() > 1).mean() >= ENOUGH:
        return [
            Split(f"task {task}", _task_of != task, _task_of == task, "tasks") for task in tasks
        ]
    of_person = each["len"].to_numpy()
    if (of_person > 1).mean() >= ENOUGH:
        parts = min(int(of_person.max()), MOST_PARTS)
        # Of people with more recordings than parts, a part has several.
        part = (pl.col("recording").rank("dense").over("person") - 1) % parts + 1
        return [
            Split(f"recordings, part {n} of {parts}", part != n, part == n, "recordings")
            for n in range(1, parts + 1)
        ]
    return [halves(table)]


def _tasks(table: FeatureTable) -> list[str]:
    """The tasks to split by; none where a recording has several, whose windows overlap."""
    if "task" not in table.data.columns:
        return []
    tasks = table.data.select("person", "recording", "task").unique()
    if len(tasks) > len(table.recordings):
        return []
    return sorted(tasks["task"].fill_null("").unique())


def halves(table: FeatureTable, gap: int | None = None) -> Split:
    """First halves known, second halves shown, as long as those of the shortest recording.

    They are counted in rows from the start, the same for everybody: a release that cuts or pads
    recordings then shows no moment that its original has made known.

    Args:
        table: for its window, its step and its shortest recording.
        gap: rows left out between the halves; by default as many as one window is long.
    """
    gap = _window_rows(table) if gap is None else gap
    shortest = table.shortest
    half = shortest // 2
    if half + gap >= shortest or half < 1:
        raise InputError(
            f"recordings of {shortest} rows are too short to know one half and show the other "
            f"with {gap} rows between: give people several recordings, or longer ones"
        )
    row = pl.int_range(pl.len()).over("person", "recording")
    return Split("second halves", row < half, row >= half + gap, "halves")


def _window_rows(table: FeatureTable) -> int:
    """How many rows one window is long."""
    if not table.window_ms:
        return 0
    steps_ms = pl.col("time_ms").diff().over("person", "recording")
    step_ms = table.step_ms or table.data.select(steps_ms.min()).item()
    return math.ceil(table.window_ms / step_ms) if step_ms else 0

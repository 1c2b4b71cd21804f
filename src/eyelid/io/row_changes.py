"""What becomes of rows as they are read: a recording for each task, degrees, a task a stimulus.

A recording is of one task: where its rows name several, each is a recording of its own.

Means put recordings side by side by task and order. Where people saw several stimuli in a task, in
orders of their own, the first recording of one shows another stimulus than that of the next. So
each stimulus may be a task of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.geometry import degrees_on_screen, missing_for_degrees
from eyelid.gaze.study import INDEX_COLUMNS, RECORDING_KEY, Study, of_one_task, ordered
from eyelid.io.part import Part

Recorded = TypeVar("Recorded", Study, Part)

_NAMED = pl.col("stimulus").fill_null("") != ""
_SEVERAL = (pl.col("stimulus").fill_null("").n_unique() > 1).over(RECORDING_KEY)


@dataclass(frozen=True)
class RowChanges:
    """What is done to the rows of a study when they are read.

    Attributes:
        degrees: how to name what was read, where places are to become degrees.
        each_stimulus: whether each stimulus is to be a task of its own.
        tasks: that there will be then.
    """

    degrees: str | None = None
    each_stimulus: bool = False
    tasks: frozenset[str] = frozenset()

    def of(self, study: Study) -> Study:
        """The study, or some people of it, with these changes."""
        if self.each_stimulus:
            study = with_home(by_stimulus(study), self.tasks)
        return study if self.degrees is None else in_degrees(study, self.degrees)


def in_degrees(recorded: Recorded, where: str) -> Recorded:
    """Recordings with x and y in degrees from straight ahead, y up.

    Args:
        recorded: with x and y on a screen of known geometry.
        where: how to name it when something is not known.
    """
    if recorded.units == "deg":
        return recorded
    if not {"x", "y"} <= set(recorded.data.columns):
        raise InputError(f"{where} has no x and y to turn into degrees")
    missing = missing_for_degrees(recorded.screen, recorded.units, recorded.xy_origin)
    if missing:
        raise InputError(
            f"{where}: degrees need to know {missing}; say it, such as "
            "`map='screen=1920x1080,screen_m=0.53x0.30,distance_m=0.65,xy_origin=top-left'`"
        )
    places = recorded.data.select(pl.col("x", "y").cast(pl.Float64).fill_null(float("nan")))
    x, y = degrees_on_screen(
        places["x"].to_numpy(),
        places["y"].to_numpy(),
        recorded.screen,
        recorded.units,
        recorded.xy_origin,
    )
    turned = [pl.Series(name, values).fill_nan(None) for name, values in (("x", x), ("y", y))]
    data = recorded.data.with_columns(turned)
    return replace(recorded, data=data, units="deg", xy_origin="centre")


def by_task(recorded: Recorded, *, alone: bool = False) -> Recorded:
    """Recordings of which each has one task, named after it where there were several in one.

    Args:
        recorded: one file, with person and recording in its rows.
        alone: whether names of recordings say nothing, so that those of tasks do without them.
    """
    data = of_one_task(recorded.data, alone=alone)
    if data is recorded.data:
        return recorded
    events = recorded.events
    if events is not None:
        events = _with_recordings(events, recorded.data, pl.lit(data["recording"]))
    return replace(recorded, data=ordered(data), events=events)


def by_stimulus(recorded: Recorded) -> Recorded:
    """Recordings with the stimulus in the name of the task, and in that of one with several.

    What is done to a row depends on its own recording alone. Rows without a stimulus keep their
    task and recording.

    Args:
        recorded: with person and recording in its rows; some or all people, or one file.

    >>> rows = {"person": ["a"] * 2, "recording": ["1"] * 2, "task": ["read"] * 2}
    >>> data = pl.DataFrame(rows | {"stimulus": ["p1", "p2"], "time_ms": [0.0, 1.0]})
    >>> done = by_stimulus(Study("samples", data, data.select("person").unique())).data
    >>> done["task"].to_list(), done["recording"].to_list()
    (['read-p1', 'read-p2'], ['1-p1', '1-p2'])
    """
    data = recorded.data
    if "stimulus" not in data.columns:
        return recorded
    events = recorded.events
    if events is not None:
        events = _with_recordings(events, data, _recording())
    data = ordered(data.with_columns(_task(data), _recording().alias("recording")))
    return replace(recorded, data=data, events=events)


def _task(data: pl.DataFrame) -> pl.Expr:
    own = pl.col("task").fill_null("") if "task" in data.columns else pl.lit("")
    both = (
        pl.when(own == "").then("stimulus").otherwise(pl.concat_str(own, "stimulus", separator="-"))
    )
    return pl.when(_NAMED).then(both).otherwise(own).alias("task")


def tasks_by_stimulus(recordings: pl.DataFrame) -> frozenset[str]:
    """Tasks that there will be, by the stimuli that recordings have.

    Args:
        recordings: one row each, or all rows of a study.

    >>> sorted(tasks_by_stimulus(pl.DataFrame({"task": ["read"] * 2, "stimulus": ["p1", ""]})))
    ['read-p1']
    """
    if "stimulus" not in recordings.columns:
        return frozenset()
    return frozenset(recordings.filter(_NAMED).select(_task(recordings)).to_series())


def with_home(recorded: Recorded, tasks: Collection[str]) -> Recorded:
    """Recordings in the place of lost ones, which tell no stimulus, in a task that others have.

    A task of their own would show in releases that a person lost a recording. They are taken for
    the first stimulus of their task by name: no value tells otherwise.

    Args:
        recorded: after `by_stimulus`.
        tasks: that others have.
    """
    data = recorded.data
    if not tasks:
        return recorded
    values = [name for name in data.columns if name not in (*INDEX_COLUMNS, "eye")]
    lost = pl.all_horizontal(
        pl.len().over(RECORDING_KEY) == 1,
        *[
            (pl.col(name).fill_nan(None) if data[name].dtype.is_float() else pl.col(name)).is_null()
            for name in values
        ],
    )
    if "stimulus" in data.columns:
        lost &= ~_NAMED
    own = pl.col("task").fill_null("") if "task" in data.columns else pl.lit("")
    homes = {task: _home(task, tasks) for task in data.select(own.unique()).to_series()}
    task = pl.when(lost).then(own.replace(homes)).otherwise(own)
    return replace(recorded, data=data.with_columns(task.alias("task")))


def _home(task: str, tasks: Collection[str]) -> str:
    own = (each for each in tasks if each == task or each.startswith(f"{task}-"))
    return min(own, default=min(tasks))


def _recording() -> pl.Expr:
    several = pl.concat_str("recording", "stimulus", separator="-")
    return pl.when(_NAMED & _SEVERAL).then(several).otherwise("recording")


def _with_recordings(events: pl.DataFrame, data: pl.DataFrame, now: pl.Expr) -> pl.DataFrame:
    """Events with the recording that they are in, by that of the sample at their onset.

    Those that began before the first sample are in the first one.
    """
    named = data.select(*RECORDING_KEY, "time_ms", now.alias("now")).sort("time_ms")
    found = (
        events.with_row_index("place")
        .with_columns(pl.col("onset_ms").cast(pl.Float64).alias("time_ms"))
        .sort("time_ms")
        .join_asof(named, on="time_ms", by=RECORDING_KEY, check_sortedness=False)
        .join(named.unique(RECORDING_KEY, keep="first"), on=RECORDING_KEY, how="left", suffix="_1")
        .sort("place")
    )
    now = pl.coalesce("now", "now_1", "recording").alias("recording")
    return found.with_columns(now).select(events.columns)


def check_stimuli(study: Study) -> Study:
    """Fail where no stimulus has a name.

    Args:
        study: with all rows, or an excerpt of them.
    """
    if "stimulus" not in study.data.columns or not study.data.select(_NAMED.any()).item():
        raise InputError(
            "no stimulus has a name, so none can be a task of its own: name the column with "
            "`map='stimulus=COLUMN'`, or leave out task=each-stimulus"
        )
    return study

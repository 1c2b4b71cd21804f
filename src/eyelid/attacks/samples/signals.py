"""Windows of how gaze moves and how the pupil changes, as rows that attackers learn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.protocols import Material, Source
from eyelid.attacks.records import Records, heads_of, joined
from eyelid.errors import InputError
from eyelid.gaze.events import gaze_of, lost_in
from eyelid.gaze.sampling import usual_step_ms
from eyelid.gaze.study import Feature, Recording, Study
from eyelid.gaze.table import FeatureTable

Windows = NDArray[np.float32]

WINDOW_S = 8.5
# Faster recordings are averaged down to about this: more tells little more, and takes longer.
FASTEST_HZ = 125.0
# Of one recording, spread over all of it.
MOST_WINDOWS = 80
# Of a window must have been seen.
_LEAST_SEEN = 0.5
_SHORTEST_SAMPLES = 100
_INDEX = Feature("window", "", "which window of signals it is", 0.0, 1e9)


@dataclass(frozen=True)
class Grid:
    """Regular times that all signals of an audit are brought to.

    Attributes:
        step_ms: from sample to sample.
        length: samples of a window.
        pupil: whether there is a pupil in all sources.
    """

    step_ms: float
    length: int
    pupil: bool

    @classmethod
    def of(cls, *studies: Study) -> Grid:
        """The grid of a study and what was released of it; refused where samples are too few."""
        steps = studies[0].data.select(
            pl.col("time_ms").diff().over("person", "recording").drop_nulls()
        )["time_ms"]
        step_ms = usual_step_ms(steps.to_numpy())
        if not step_ms or step_ms <= 0:
            raise InputError("the recordings have no usual rate: signals need regular samples")
        step_ms *= max(1, int(1000.0 / (FASTEST_HZ * step_ms)))
        length = int(WINDOW_S * 1000.0 / step_ms)
        if length < _SHORTEST_SAMPLES:
            raise InputError(
                f"samples every {step_ms:g} ms are too few for how gaze moves: record 12 a second "
                "or more"
            )
        return cls(step_ms, length, all("pupil" in study.data.columns for study in studies))

    @property
    def channels(self) -> int:
        """Velocity across and down, and the pupil where there is one."""
        return 2 + self.pupil


@dataclass(frozen=True, eq=False)
class SignalTable(FeatureTable):
    """One row a window, whose only feature is its place among the signals.

    Attributes:
        signals: windows × channels × samples.
    """

    signals: Windows = field(default_factory=lambda: np.zeros((0, 1, 1), np.float32))


@dataclass(frozen=True, eq=False)
class SignalMaterial(Material):
    """What there is to attack, as windows of signals: its tables are `SignalTable`."""

    def _records(self, source: Source, where: pl.Expr) -> Records:
        tables = self.tables(source)
        assert tables is not None, f"there is no {source}"
        everything = joined([_records(table, self.people) for table in tables])
        chosen = joined([_records(table, self.people, where) for table in tables])
        channels = cast(SignalTable, tables[0]).signals.shape[1]
        return replace(chosen, channels=channels, crowd=replace(everything, channels=channels))


def signal_table(study: Study, grid: Grid) -> SignalTable:
    """The windows of a study of samples, spread over each recording.

    Args:
        study: of samples.
        grid: to bring them to.
    """
    cut, rows = [], []
    for recording, _ in gaze_of(study):
        windows, onset_ms = _windows(recording, grid)
        cut.append(windows)
        keys = (recording.person, recording.recording, recording.task, recording.stimulus)
        rows += [(*keys, onset) for onset in onset_ms.tolist()]
    signals = np.concatenate(cut)
    if not len(signals):
        raise InputError(f"no recording has {WINDOW_S:g} s of gaze, half of it seen")
    names = ["person", "recording", "task", "stimulus", "time_ms"]
    data = pl.DataFrame(
        rows, schema=dict.fromkeys(names[:4], pl.String) | {"time_ms": pl.Float64}, orient="row"
    ).with_columns(pl.int_range(pl.len()).cast(pl.Float64).alias(_INDEX.name))
    return SignalTable(
        data,
        (_INDEX,),
        study.people,
        window_ms=grid.step_ms * grid.length,
        released=study.released,
        signals=signals,
    )


def signal_records(table: SignalTable, people: Sequence[str]) -> Records:
    """All windows of a table as records, which are their own crowd.

    Args:
        table: of signals.
        people: everybody who could be meant.
    """
    found = _records(table, tuple(people))
    found = replace(found, channels=table.signals.shape[1])
    return replace(found, crowd=found)


def _records(table: FeatureTable, people: tuple[str, ...], where: pl.Expr | None = None) -> Records:
    """The windows of a table that qualify, as records, for whom they are known or shown."""
    rows = table.data.filter(pl.col("person").is_in(list(people)))
    rows = rows if where is None else rows.filter(where)
    bare = heads_of(rows, people)
    # Half the size of other records' values, of which there are many here.
    values: Any = cast(SignalTable, table).signals[rows[_INDEX.name].to_numpy().astype(np.intp)]
    return replace(bare, values=values.reshape(len(values), -1))


def _windows(recording: Recording, grid: Grid) -> tuple[Windows, NDArray[np.float64]]:
    """Windows of one recording, and when they begin; none of gaze that is mostly lost."""
    seen = ~lost_in(recording)
    time_ms = recording.time_ms
    nothing = np.zeros((0, grid.channels, grid.length), np.float32), np.zeros(0)
    if seen.sum() < grid.length // 2 or time_ms[-1] - time_ms[0] < grid.step_ms * grid.length:
        return nothing
    regular_ms = np.arange(time_ms[0], time_ms[-1], grid.step_ms)
    # Of faster recordings the mean of each step, so that noise averages out as far as it can.
    place = np.minimum(((time_ms - time_ms[0]) / grid.step_ms).astype(np.intp), len(regular_ms) - 1)
    usable = np.bincount(place, weights=seen, minlength=len(regular_ms))
    there = usable > 0
    series = []
    for name in ("x", "y", "pupil")[: grid.channels]:
        values = recording[name]
        total = np.bincount(place, weights=np.where(seen, values, 0.0), minlength=len(regular_ms))
        mean = total[there] / usable[there]
        series.append(np.interp(regular_ms, regular_ms[there], mean))
    channels = [np.diff(axis, prepend=axis[0]) / (grid.step_ms / 1000.0) for axis in series[:2]]
    if grid.pupil:
        channels.append((series[2] - series[2].mean()) / (series[2].std() or 1.0))
    signal = np.stack(channels).astype(np.float32)
    last = len(regular_ms) - grid.length
    count = min(MOST_WINDOWS, 1 + 2 * last // grid.length)
    onset = np.unique(np.linspace(0, last, max(1, count)).astype(np.intp))
    filled = np.concatenate([[0], np.cumsum(there)])
    onset = onset[filled[onset + grid.length] - filled[onset] >= _LEAST_SEEN * grid.length]
    if not len(onset):
        return nothing
    return np.stack([signal[:, at : at + grid.length] for at in onset]), regular_ms[onset]

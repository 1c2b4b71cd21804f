"""How like real participants synthetic ones are: distributions, pairs, memory and trends.

Everything is compared task by task. Of large studies some people are looked at, evenly spread over
all of them: the figures are about what people have in common, and a hundred show that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.records import empty_cells, values_of
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.sequences import BEND, lags_of

# Bins between the public bounds: for the total variation, and as fine as any that are measured.
_BINS, _FINEST = 20, 64
# Rows of each side that shares and distances are taken of, evenly spread over everybody.
_MOST_ROWS, _MOST_MOVED = 120_000, 30_000
# Values of each side that are looked at for whatever goes over time.
_MOST_VALUES = 8_000_000
_MARGINALS = {
    "name": pl.String,
    "task": pl.String,
    "wasserstein": pl.Float64,
    "uniform": pl.Float64,
    "total_variation": pl.Float64,
}
# Parts of a recording of which the first and the last are compared.
_PARTS = 4


@dataclass(frozen=True, eq=False)
class Likeness:
    """What of the order of people's values synthetic participants have too.

    Attributes:
        names: the features.
        pairs: (2, features, features): rank correlations within tasks, the mean over tasks, of
            people and of synthetic ones; not a number for what never varies.
        lags: how many rows apart values are compared.
        memory: (2, lags, features): the same of a feature with itself so many rows later, in the
            same recording; not a number where no recording is that long.
        trends: (2, tasks × features): how much higher the last quarter of a recording is than the
            first, in standard deviations of a task.
        tasks: that both have.
        lengths: (2, tasks): median rows of a recording.
        length_distance: rows that recordings must be shortened or made longer by to be as long as
            people's, over the median, the mean over tasks.
    """

    names: tuple[str, ...]
    pairs: Values
    lags: tuple[int, ...]
    memory: Values
    trends: Values
    tasks: tuple[str, ...]
    lengths: Values
    length_distance: float

    @property
    def pair_difference(self) -> float:
        """Mean size of the difference over all pairs; not a number where there is none."""
        above = np.triu_indices(len(self.names), 1)
        return _mean(np.abs(self.pairs[0] - self.pairs[1])[above])

    @property
    def pair_size(self) -> float:
        """Mean size of people's own correlations: what leaving them out would be off by."""
        return _mean(np.abs(self.pairs[0])[np.triu_indices(len(self.names), 1)])

    @property
    def memories(self) -> list[tuple[int, float, float, float]]:
        """The mean over features at each lag: of people, of synthetic ones, of the difference."""
        return [
            (lag, _mean(real), _mean(made), _mean(np.abs(real - made)))
            for lag, real, made in zip(self.lags, *self.memory, strict=True)
        ]

    @property
    def memory_difference(self) -> float:
        """Mean size of the difference over lags and features."""
        return _mean(np.abs(self.memory[0] - self.memory[1]))

    @property
    def memory_size(self) -> float:
        """Mean size of people's own: what rows without a memory would be off by."""
        return _mean(np.abs(self.memory[0]))

    @property
    def trend_difference(self) -> float:
        """Mean size of the difference over tasks and features, in standard deviations."""
        return _mean(np.abs(self.trends[0] - self.trends[1]))

    @property
    def trend_size(self) -> float:
        """Mean size of people's own trends: what leaving them out would be off by."""
        return _mean(np.abs(self.trends[0]))


def likeness(original: FeatureTable, released: FeatureTable) -> Likeness:
    """Compare synthetic participants with people.

    Args:
        original: everybody's recordings.
        released: synthetic participants, with the same features.
    """
    tasks = tasks_in_common(original, released)
    lags = lags_of(window_rows(original))
    sides = [_ranked(table, tasks) for table in (original, released)]
    lengths = [_lengths(table, tasks) for table in (original, released)]
    return Likeness(
        names=tuple(original.names),
        pairs=np.stack([_pairs(side) for side in sides]),
        lags=lags,
        memory=np.stack([_memory(side, lags) for side in sides]),
        trends=np.stack([_trends(side) for side in sides]),
        tasks=tasks,
        lengths=np.array([[np.median(rows) for rows in side] for side in lengths]),
        length_distance=_length_distance(*lengths),
    )


def marginals(original: FeatureTable, released: FeatureTable) -> pl.DataFrame:
    """How far each feature is distributed as people's is: one row a feature and task.

    ``wasserstein`` is how far values must be moved, on average, as a share of the range,
    ``uniform`` the same of values evenly spread between the bounds, ``total_variation`` of bins
    evenly wide, ``share_error`` and ``share_size`` as in `share_errors`. Values that are there are
    compared; a feature and task without any on one side has no row.
    """
    from scipy.stats import wasserstein_distance

    even = (np.arange(1000) + 0.5) / 1000
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    some = [_some_rows(table, _MOST_MOVED) for table in (original, released)]
    found = []
    for task in tasks_in_common(original, released):
        mine = [rows.filter(task_of(rows) == task) for rows in some]
        sides = [np.clip(values_of(original, rows), 0.0, 1.0) for rows in mine]
        known = [~empty_cells(original, rows) for rows in mine]
        for place, name in enumerate(original.names):
            ours, theirs = (
                side[there[:, place], place] for side, there in zip(sides, known, strict=True)
            )
            if not (ours.size and theirs.size):
                continue
            shares = [np.histogram(v, edges)[0] / len(v) for v in (ours, theirs)]
            found.append(
                {
                    "name": name,
                    "task": task,
                    "wasserstein": wasserstein_distance(ours, theirs),
                    "uniform": wasserstein_distance(ours, even),
                    "total_variation": float(np.abs(shares[0] - shares[1]).sum() / 2),
                }
            )
    errors = share_errors(original, released)
    return pl.DataFrame(found, schema=_MARGINALS).join(
        errors, on=["name", "task"], how="left", maintain_order="left"
    )


def share_errors(original: FeatureTable, released: FeatureTable) -> pl.DataFrame:
    """How far shares of tasks are off, and are apart: name, task, share_error, share_size.

    Values are told apart as 64 public bins tell them and lie evenly inside these, since nothing
    finer is measured. Each feature is cut at the quartiles of the release, over all tasks. Of each
    task, the share of rows in each of the four parts is compared between the release and the
    original, people counting alike: the root mean square over the parts. What
    `Synthetic.expected_share_error` foresees is this. ``share_size`` is what there is: how far the
    original's shares are from a quarter each, which is what a release that is the same in all tasks
    would be off by.
    """
    names, tasks = original.names, tasks_in_common(original, released)
    sides = [_some_rows(table) for table in (original, released)]
    edges = np.arange(_FINEST + 1)
    off, there_is = np.empty((2, len(names), len(tasks)))
    for number, feature in enumerate(original.features):
        ours, theirs = (_to_each_edge(rows, feature, tasks) for rows in sides)
        cuts = np.interp((0.25, 0.5, 0.75), _over_first(theirs), edges)
        parts, made_up = (
            np.diff([np.interp(cuts, edges, task) for task in side], prepend=0.0, append=1.0)
            for side in (ours, theirs)
        )
        off[number] = np.sqrt(np.mean((parts - made_up) ** 2, axis=-1))
        there_is[number] = np.sqrt(np.mean((parts - 0.25) ** 2, axis=-1))
    return pl.DataFrame(
        {
            "name": np.repeat(names, len(tasks)),
            "task": np.tile(np.array(tasks, dtype=str), len(names)),
            "share_error": off.ravel(),
            "share_size": there_is.ravel(),
        }
    )


def share_error(errors: pl.DataFrame, column: str = "share_error") -> float:
    """The root mean square over features and tasks."""
    return float(np.sqrt(_mean(errors[column].to_numpy() ** 2)))


def tasks_in_common(original: FeatureTable, released: FeatureTable) -> tuple[str, ...]:
    """By name, in order; "" stands for none."""
    ours, theirs = (set(task_of(t.recordings)) for t in (original, released))
    if not ours & theirs:
        raise InputError("original and release have no task in common: are these the right two?")
    return tuple(sorted(ours & theirs))


def task_of(rows: pl.DataFrame) -> pl.Series:
    """What each row is of."""
    if "task" not in rows.columns:
        return pl.repeat("", len(rows), eager=True)
    return rows["task"].cast(pl.String).fill_null("")


def _some_rows(table: FeatureTable, most: int = _MOST_ROWS) -> pl.DataFrame:
    """Rows evenly far apart: neighbouring windows are nearly the same."""
    return table.data.gather_every(-(-len(table.data) // most))


def _numbers(rows: pl.DataFrame, names: Sequence[str]) -> Values:
    """Features as they are; not a number where one is missing."""
    return rows.select(pl.col(list(names)).cast(pl.Float64).fill_null(np.nan)).to_numpy()


def _to_each_edge(rows: pl.DataFrame, feature: Feature, tasks: Sequence[str]) -> Values:
    """(tasks, bins + 1): mean over people of the share of their rows below each edge of bins."""
    value = _numbers(rows, [feature.name])
    number = task_of(rows).replace_strict(tasks, range(len(tasks)), default=None)
    there = ~np.isnan(value[:, 0]) & number.is_not_null().to_numpy()
    people = rows["person"].n_unique()
    person = rows["person"].rank("dense").to_numpy()[there] - 1
    task = number.to_numpy()[there].astype(np.int64)
    many = np.bincount(task * people + person, minlength=len(tasks) * people)
    place = task * _FINEST + Bins.of([feature], _FINEST, BEND).codes(value[there])[:, 0]
    weight = 1 / many[task * people + person]
    shares = np.bincount(place, weight, len(tasks) * _FINEST).reshape(len(tasks), _FINEST)
    people_with = np.count_nonzero(many.reshape(len(tasks), people), axis=1)[:, None]
    below = np.cumsum(shares / np.where(people_with, people_with, np.nan), axis=1)
    return np.insert(below, 0, 0.0, axis=1)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Some people's values as ranks within their task, of mean 0 and variance 1.

    Attributes:
        values: rows × features; 0 where one is missing or a feature never varies in a task.
        known: whether one is there.
        varies: (tasks, features): whether a feature does.
        task: of each row.
        recording: of each row.
        place: of each row in its recording, from 0 to 1.
        tasks: how many there are.
    """

    values: Values
    known: NDArray[np.bool_]
    varies: NDArray[np.bool_]
    task: NDArray[np.intp]
    recording: NDArray[np.intp]
    place: Values
    tasks: int


def _ranked(table: FeatureTable, tasks: Sequence[str]) -> _Ranked:
    from scipy.stats import rankdata

    people = table.recordings["person"].unique(maintain_order=True)
    every = max(1, -(-len(table.data) * len(table.names) // _MOST_VALUES))
    names = people.gather_every(min(every, len(people)))
    known = dict(zip(tasks, range(len(tasks)), strict=True))
    rows = table.data.filter(pl.col("person").is_in(names.to_list()))
    code = task_of(rows).replace_strict(known, default=-1, return_dtype=pl.Int64).to_numpy()
    rows, code = rows.filter(pl.Series(code >= 0)), code[code >= 0]
    some = replace(table, data=rows)
    lengths = some.recordings["rows"].to_numpy()
    recording = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = (np.arange(len(rows)) - starts + 0.5) / lengths[recording]
    raw = _numbers(rows, table.names)
    missing = np.isnan(raw)
    values = np.zeros(raw.shape)
    varies = np.zeros((len(tasks), raw.shape[1]), dtype=bool)
    for number in range(len(tasks)):
        mine = code == number
        ranks = rankdata(raw[mine], axis=0, nan_policy="omit")
        ranks -= _over_first(ranks)
        spread = np.sqrt(_over_first(ranks**2))
        varies[number] = np.nan_to_num(spread) > 0
        ranks[:, varies[number]] /= spread[varies[number]]
        values[mine] = ranks
    values[missing] = 0.0
    return _Ranked(values, ~missing, varies, code, recording, place, len(tasks))


def _pairs(side: _Ranked) -> Values:
    """Correlations of all pairs within tasks, the mean over tasks."""
    found = np.full((side.tasks, *(side.values.shape[1],) * 2), np.nan)
    for task in range(side.tasks):
        mine = side.values[side.task == task]
        # Of rows that have both.
        squares = (mine**2).T @ side.known[side.task == task].astype(np.float64)
        found[task] = _ratio(mine.T @ mine, squares * squares.T)
    return _over_first(found)


def _memory(side: _Ranked, lags: Sequence[int]) -> Values:
    """Correlations of features with themselves some rows later, the mean over tasks."""
    found = np.full((side.tasks, len(lags), side.values.shape[1]), np.nan)
    for number, lag in enumerate(lags):
        same = side.recording[lag:] == side.recording[:-lag]
        for task in range(side.tasks):
            mine = np.flatnonzero(same & (side.task[lag:] == task))
            if not len(mine):
                continue
            now = side.values[mine] * side.known[mine + lag]
            later = side.values[mine + lag] * side.known[mine]
            squares = (now**2).sum(axis=0) * (later**2).sum(axis=0)
            found[task, number] = _ratio((now * later).sum(axis=0), squares)
    return _over_first(found)


def _ratio(product: Values, squares: Values) -> Values:
    """A correlation; not a number where there is nothing to go by."""
    found = np.full(product.shape, np.nan)
    np.divide(product, np.sqrt(squares), out=found, where=squares > 0)
    return found


def _trends(side: _Ranked) -> Values:
    """How much higher the end of a recording is than its beginning, by task and feature."""
    found = np.full((side.tasks, side.values.shape[1]), np.nan)
    for task in range(side.tasks):
        first, last = (
            np.flatnonzero((side.task == task) & where)
            for where in (side.place < 1 / _PARTS, side.place > 1 - 1 / _PARTS)
        )
        found[task] = _present(side, last) - _present(side, first)
    found[~side.varies] = np.nan
    return found.ravel()


def _present(side: _Ranked, rows: NDArray[np.intp]) -> Values:
    """The mean of what is there of some rows."""
    many = side.known[rows].sum(axis=0)
    found: Values = side.values[rows].sum(axis=0) / np.where(many, many, np.nan)
    return found


def _lengths(table: FeatureTable, tasks: Sequence[str]) -> list[NDArray[np.int64]]:
    """Rows of what people have of each task."""
    each = table.recordings.with_columns(task_of(table.recordings).alias("task"))
    whole = each.group_by("person", "task", maintain_order=True).agg(pl.col("rows").sum())
    return [whole.filter(pl.col("task") == task)["rows"].to_numpy() for task in tasks]


def _length_distance(
    ours: Sequence[NDArray[np.int64]], theirs: Sequence[NDArray[np.int64]]
) -> float:
    from scipy.stats import wasserstein_distance

    both = zip(ours, theirs, strict=True)
    return float(np.mean([wasserstein_distance(a, b) / np.median(a) for a, b in both]))


def _over_first(found: Values) -> Values:
    """The mean over the first axis of what there is."""
    many = np.isfinite(found).sum(axis=0)
    with np.errstate(invalid="ignore"):
        mean: Values = np.nansum(found, axis=0) / np.where(many, many, np.nan)
    return mean


def _mean(numbers: Values) -> float:
    there = numbers[np.isfinite(numbers)]
    return float(there.mean()) if there.size else float("nan")

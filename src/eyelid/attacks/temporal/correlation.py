"""How far feature signals remember themselves: correlation coefficients over a time difference.

Bozkir et al. 2021, Differential privacy for eye tracking with temporal correlations, figures 3 to
6: for one feature and one recording type, the values of everybody at the fifth time instance are
correlated with the values of everybody Δt later; once for the signals themselves, once for their
differences x_t − x_{t−1}. The figures describe the data they are computed from: they carry no
guarantee, and nothing here lowers any noise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.error import correlation
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import windows_of

Floats = NDArray[np.float64]

# Two points lie on a line whatever they are.
FEWEST_RECORDINGS = 3
# What rounding leaves of equal neighbours, as a share of the largest value.
_ROUNDING = 1e-12
# Numbers held at once for one task: about half a gigabyte with everything derived from them.
_BATCH = 8_000_000


def temporal_correlations(
    source: Study | FeatureTable, *, instance: int = 5, longest_delta_t: int | None = None
) -> pl.DataFrame:
    """Correlation of everybody's values at one instance with everybody's values Δt rows later.

    A point of a coefficient is one recording, so with one recording of a task by each person the
    coefficients run over people, as in the paper. Recordings that are too short for a Δt, or miss
    one of the two values, are left out of that coefficient alone. Null stands where fewer than
    three recordings are left, and where a feature is the same for everybody.

    Args:
        source: at least three recordings, or features of them.
        instance: which row is correlated with the later ones, counted from one.
        longest_delta_t: how many rows ahead; as far as three recordings go by default.

    Returns:
        One row a task, feature and Δt: ``task``, ``feature``, ``delta_t`` (in rows, from 1),
        ``raw`` and ``difference``, and ``recordings``, over how many ``raw`` runs.

    >>> from eyelid.gaze.study import Feature
    >>> from eyelid.gaze.table import table_from_arrays
    >>> walks = np.random.default_rng(1).normal(size=(50, 1, 20, 1)).cumsum(axis=2)
    >>> table = table_from_arrays(walks, [Feature("walk", "1", "", -20.0, 20.0)])
    >>> found = temporal_correlations(table, longest_delta_t=1)
    >>> found.select("raw", "difference").mean().row(0)[0] > 0.8
    True
    """
    if instance < 1:
        raise InputError(f"instances are counted from 1, got {instance}")
    if longest_delta_t is not None and longest_delta_t < 1:
        raise InputError(f"the longest time difference must be at least 1, got {longest_delta_t}")
    table = windows_of(source)
    if not len(table.data):
        raise InputError("the table is empty: there is nothing to correlate")
    frames = [
        _of_task(task, values, table.names, instance)
        for task, values in _signals(table, instance, longest_delta_t)
    ]
    if not frames:
        raise InputError(
            f"no task has {FEWEST_RECORDINGS} recordings of more than {instance} rows: "
            "correlations across people need them"
        )
    return pl.concat(frames)


def mean_over_features(correlations: pl.DataFrame) -> pl.DataFrame:
    """The mean coefficients of all features that have one: ``task``, ``delta_t``, two columns."""
    return correlations.group_by("task", "delta_t", maintain_order=True).agg(
        pl.col("raw", "difference").mean()
    )


def _signals(
    table: FeatureTable, instance: int, longest_delta_t: int | None
) -> Iterator[tuple[str, Floats]]:
    """Each task that has enough recordings: (recordings, rows, features), NaN where unknown."""
    recordings = table.recordings
    lengths = recordings["rows"].to_numpy()
    starts = np.cumsum(lengths) - lengths
    tasks = _tasks(recordings)
    columns = pl.col(table.names).cast(pl.Float64).fill_null(np.nan)
    values = table.data.select(columns).to_numpy()
    for task in tasks.unique(maintain_order=True):
        mine = ((tasks == task).to_numpy()) & (lengths > instance)
        if mine.sum() < FEWEST_RECORDINGS:
            continue
        # Beyond this no coefficient has enough recordings.
        rows = int(np.sort(lengths[mine])[-FEWEST_RECORDINGS])
        if longest_delta_t is not None:
            rows = min(rows, instance + longest_delta_t)
        place = np.arange(rows)
        inside = place < lengths[mine, None]
        row = np.where(inside, starts[mine, None] + place, 0)
        yield task, np.where(inside[..., None], values[row], np.nan)


def _tasks(recordings: pl.DataFrame) -> pl.Series:
    if "task" not in recordings.columns:
        return pl.repeat("", len(recordings), eager=True)
    return recordings["task"].cast(pl.String).fill_null("")


def _of_task(task: str, values: Floats, names: list[str], instance: int) -> pl.DataFrame:
    raw, recordings = _from(values, instance)
    difference, _ = _from(_differences(values), instance)
    ahead = len(raw)
    frame = pl.DataFrame(
        {
            "task": pl.repeat(task, ahead * len(names), eager=True),
            "feature": np.repeat(names, ahead),
            "delta_t": np.tile(np.arange(1, ahead + 1), len(names)),
            "raw": raw.T.ravel(),
            "difference": difference.T.ravel(),
            "recordings": recordings.T.ravel(),
        }
    )
    return frame.with_columns(pl.col("raw", "difference").fill_nan(None))


def _differences(values: Floats) -> Floats:
    """To the row before; the first is kept (equation 16 of the paper)."""
    steps = np.diff(values, axis=1, prepend=0.0)
    size = np.nanmax(np.abs(values), axis=(0, 1), initial=0.0)
    return np.where(np.abs(steps) <= _ROUNDING * size, 0.0, steps)


def _from(values: Floats, instance: int) -> tuple[Floats, NDArray[np.intp]]:
    """Coefficients (Δt, feature) of one row with all later ones, and over how many they run."""
    now, later = values[:, instance - 1 : instance], values[:, instance:]
    step = max(1, _BATCH // (len(values) * values.shape[2]))
    parts = []
    for first in range(0, later.shape[1], step):
        then = later[:, first : first + step]
        known = np.isfinite(now) & np.isfinite(then)
        counts = known.sum(axis=0)
        found = correlation(now, then, known)
        parts.append((np.where(counts < FEWEST_RECORDINGS, np.nan, found), counts))
    coefficients, counts = zip(*parts, strict=True)
    return np.concatenate(coefficients), np.concatenate(counts)

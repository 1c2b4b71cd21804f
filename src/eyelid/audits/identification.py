"""Who is it? Attackers who know everybody's other recordings name the people of a release.

They learn from raw recordings of some tasks and are shown another task, raw or released. They never
train on the release they are shown: noise that runs through a whole recording would act as a
watermark and be recognised instead of the person.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.audits.statistics import clopper_pearson
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable

_TREES = 150
_EVERY = 10


@dataclass(frozen=True)
class Rate:
    """A share of people or windows, with its confidence limits over people.

    Attributes:
        rate: the share.
        low: lower limit at 95 %.
        high: upper limit.
        chance: what guessing gives.
        people: how many people decide it.
    """

    rate: float
    low: float
    high: float
    chance: float
    people: int


def identify(raw: FeatureTable, shown: FeatureTable, seed: int = 0) -> dict[str, Rate]:
    """How many people are named correctly in one task, by attackers who know the other tasks.

    Every task is shown in turn; one decision a person and task. ``forest``: class probabilities of
    a random forest, averaged over windows. ``means``: the nearest recording mean, which averages a
    release's noise away. Limits are over people and allow for there being two attackers.

    Args:
        raw: what the attackers know.
        shown: what they are shown: the raw table itself (a positive control) or a release.
        seed: of the forest.
    """
    tasks = sorted(raw.data["task"].unique())
    if len(tasks) < 2:
        raise InputError("identification needs at least 2 tasks: one to know, one to recognise")
    return {
        "forest": _rate([_by_forest(raw, shown, task, seed) for task in tasks], raw),
        "means": _rate([_by_means(raw, shown, task) for task in tasks], raw),
    }


def strongest(rates: dict[str, Rate]) -> Rate:
    """The attacker that names most people: the one to fear."""
    return max(rates.values(), key=lambda rate: rate.rate)


def _rate(named: Sequence[NDArray[np.bool_]], raw: FeatureTable) -> Rate:
    """The share of right decisions; a person's decisions count as one, since they are alike."""
    people = raw.data["person"].n_unique()
    rate = float(np.concatenate(named).mean())
    low, high = clopper_pearson(rate * people, people, alpha=0.05 / 2)
    return Rate(rate, float(low), float(high), 1 / people, people)


def _by_forest(raw: FeatureTable, shown: FeatureTable, task: str, seed: int) -> NDArray[np.bool_]:
    target, target_rows = _matrix(shown, pl.col("task") == task)
    forest = _forest_of_people(raw, task, seed)
    guesses = forest.predict_proba(target)
    truth = _names(target_rows, "person")
    people = np.unique(truth)
    best = [forest.classes_[guesses[truth == p].mean(axis=0).argmax()] for p in people]
    return np.asarray(np.array(best) == people)


@functools.lru_cache(maxsize=4)
def _forest_of_people(raw: FeatureTable, task: str, seed: int):  # type: ignore[no-untyped-def]
    """What the attackers learned from the other tasks: once, whatever they are then shown."""
    known, rows = _matrix(raw, pl.col("task") != task)
    return _forest(seed).fit(known, _names(rows, "person"))


def _by_means(raw: FeatureTable, shown: FeatureTable, task: str) -> NDArray[np.bool_]:
    """Nearest mean, in units of how much a person's mean moves between tasks and by noise.

    Each shown recording is judged alone: what a task does to everybody is taken off with the raw
    average of that task, not with the other recordings of the release.
    """
    known, _, keys = _means(raw, pl.col("task") != task)
    for other in keys["task"].unique():
        rows = (keys["task"] == other).to_numpy()
        known[rows] -= known[rows].mean(axis=0)
    names = keys["person"].unique(maintain_order=True).to_numpy()
    owner = keys["person"].to_numpy()
    gallery = np.stack([known[owner == name].mean(axis=0) for name in names])
    within = np.stack([known[owner == name].var(axis=0) for name in names]).mean(axis=0)
    floor = 1e-4 * gallery.var(axis=0).mean() + 1e-12
    average = _means(raw, pl.col("task") == task)[0].mean(axis=0)
    target, noise, target_keys = _means(shown, pl.col("task") == task)
    scale = (within + noise + floor)[:, None]
    distance = ((target - average)[:, None] - gallery) ** 2 / scale
    nearest = names[distance.sum(axis=2).argmin(axis=1)]
    return np.asarray(nearest == target_keys["person"].to_numpy())


def _means(
    table: FeatureTable, where: pl.Expr
) -> tuple[NDArray[np.float64], NDArray[np.float64], pl.DataFrame]:
    """One mean vector a recording, in units of the span, its squared error, and whose it is."""
    rows = table.data.filter(where).with_columns(
        pl.col(table.names).cast(pl.Float64).fill_nan(None)
    )
    groups = rows.group_by("person", "task", maintain_order=True)
    spans = np.array([f.span for f in table.features])
    means = groups.agg(pl.col(table.names).mean())
    errors = groups.agg(pl.col(table.names).var() / pl.len()).select(table.names).to_numpy()
    values = np.nan_to_num(means.select(table.names).to_numpy() / spans, nan=0.5)
    return values, np.nan_to_num(errors / spans**2, nan=0.0), means.select("person", "task")


def recognise_task(raw: FeatureTable, shown: FeatureTable, seed: int = 0) -> Rate:
    """How many windows of second halves are given the right task by a model of first halves.

    What the data are still good for: the model learns from the shown table's first halves and is
    tested on the raw second halves, with a window's gap between them. Limits are over people, by
    the spread of their shares.

    Args:
        raw: what is tested on.
        shown: what is learned from: the raw table itself or a release.
        seed: of the forest.
    """
    gap = int(np.ceil((raw.window_ms or 0.0) / (raw.step_ms or 1.0)))
    row = pl.int_range(pl.len()).over("person", "recording")
    rows = pl.len().over("person", "recording")
    learned, learned_rows = _matrix(shown, row < rows // 2)
    tested, tested_rows = _matrix(raw, row >= rows // 2 + gap)
    if tested_rows.is_empty():
        raise InputError(
            f"recordings of {int(raw.recordings['rows'].to_numpy().max())} rows are too short to "
            f"learn from one half and test on the other with {gap} rows between"
        )
    forest = _forest(seed).fit(learned, _names(learned_rows, "task"))
    right = forest.predict(tested) == _names(tested_rows, "task")
    people = _names(tested_rows, "person")
    shares = np.array([right[people == person].mean() for person in np.unique(people)])
    margin = 1.96 * float(shares.std(ddof=1)) / len(shares) ** 0.5 if len(shares) > 1 else 1.0
    rate = float(shares.mean())
    return Rate(
        rate,
        max(0.0, rate - margin),
        min(1.0, rate + margin),
        1 / len(forest.classes_),
        len(shares),
    )


def _matrix(table: FeatureTable, where: pl.Expr) -> tuple[NDArray[np.float64], pl.DataFrame]:
    """Every tenth window that qualifies: its features in units of the span, and its row."""
    spans = np.array([f.span for f in table.features])
    lowers = np.array([f.lower for f in table.features])
    rows = table.data.filter(where).gather_every(_EVERY)
    values = rows.select(pl.col(table.names).cast(pl.Float64).fill_null(np.nan)).to_numpy()
    return np.nan_to_num((values - lowers) / spans, nan=0.5), rows


def _names(rows: pl.DataFrame, column: str) -> NDArray[np.str_]:
    return rows[column].to_numpy().astype(str)


def _forest(seed: int):  # type: ignore[no-untyped-def]
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_TREES, min_samples_leaf=2, n_jobs=-1, random_state=seed)

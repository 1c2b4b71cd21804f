"""What a mixed model of a study finds, and what the same model finds in a release.

A linear model of rows, an intercept for each participant and a fixed effect for each task but the
first. Intercepts are taken out within participants, which is the mixed model's estimate where
everybody has as many rows of each task, and needs no distribution of intercepts where not. Limits
are 95%, by standard errors that are robust to what a participant's rows have in common. On a
release it is what a colleague's ordinary code says, who takes its participants for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable

Floats = NDArray[np.float64]

_FEWEST_PEOPLE = 3


@dataclass(frozen=True)
class TaskEffects:
    """Fixed effects of tasks by a mixed model, in raw data and in a release.

    Attributes:
        clear: how many have limits on one side of zero in raw data.
        found: of these, the share that has them on the same side in the release; None without any.
        others: how many have not.
        false: of these, the share that has them on one side in the release; None without any.
    """

    clear: int
    found: float | None
    others: int
    false: float | None


def task_effects(
    original: FeatureTable, released: FeatureTable, names: Sequence[str], tasks: Sequence[str]
) -> TaskEffects | None:
    """Which effects of tasks a mixed model finds in both; None where there are too few people.

    Args:
        original: everybody's recordings.
        released: a release.
        names: features of both.
        tasks: tasks of both, of which the first is what others are compared with.
    """
    if len(tasks) < 2:
        return None
    ours, theirs = (_signs(table, names, tasks) for table in (original, released))
    if ours is None or theirs is None:
        return None
    both = np.isfinite(ours) & np.isfinite(theirs)
    clear, others = both & (ours != 0), both & (ours == 0)
    return TaskEffects(
        clear=int(clear.sum()),
        found=float((ours == theirs)[clear].mean()) if clear.any() else None,
        others=int(others.sum()),
        false=float((theirs != 0)[others].mean()) if others.any() else None,
    )


def _signs(table: FeatureTable, names: Sequence[str], tasks: Sequence[str]) -> Floats | None:
    """On which side of zero limits lie, (features, tasks but the first): 0 where around it."""
    from scipy.special import stdtrit

    bounds = {feature.name: (feature.lower, feature.upper) for feature in table.features}
    shown = table.data.filter(pl.col("task").is_in(tasks))
    person = shown["person"].rank("dense").to_numpy().astype(np.int64) - 1
    people = int(person.max(initial=-1)) + 1
    if people < _FEWEST_PEOPLE:
        return None
    task = shown["task"].replace_strict(tasks, list(range(len(tasks)))).to_numpy()
    cell = person * len(tasks) + task
    found = np.full((len(names), len(tasks) - 1), np.nan)
    for place, name in enumerate(names):
        values = shown[name].cast(pl.Float64).fill_null(np.nan).to_numpy().clip(*bounds[name])
        there = np.isfinite(values)
        size = people * len(tasks)
        many = np.bincount(cell[there], minlength=size).reshape(people, -1).astype(np.float64)
        sums = np.bincount(cell[there], weights=values[there], minlength=size)
        fitted = within_people(many, sums.reshape(people, -1).astype(np.float64))
        if fitted is None:
            continue
        effects, errors = fitted
        wide = float(stdtrit(people - 1, 0.975)) * errors
        found[place] = np.where(np.abs(effects) > wide, np.sign(effects), 0.0)
    return found


def within_people(many: Floats, sums: Floats) -> tuple[Floats, Floats] | None:
    """Effects of tasks but the first and their standard errors, from rows and sums by person, task.

    None where effects cannot be told apart, or nothing varies.
    """
    rows = many.sum(axis=1)
    many, sums, rows = many[rows > 0], sums[rows > 0], rows[rows > 0]
    if len(rows) < _FEWEST_PEOPLE:
        return None
    design = np.diag(many.sum(axis=0)) - (many.T / rows) @ many
    score = (sums - many * (sums.sum(axis=1) / rows)[:, None]).sum(axis=0)
    kept = design[1:, 1:]
    if np.linalg.matrix_rank(kept) < len(kept):
        return None
    effects = np.concatenate([[0.0], np.linalg.solve(kept, score[1:])])
    own = (sums.sum(axis=1) - many @ effects) / rows
    left = (sums - many * (effects + own[:, None]))[:, 1:]
    inverse = np.linalg.inv(kept)
    spread = inverse @ (left.T @ left) @ inverse * len(rows) / (len(rows) - 1)
    errors = np.sqrt(np.diag(spread))
    size = np.abs(sums).sum() / rows.sum()
    # What is the same in every row has no effects, whatever rounding says.
    if not (errors > 1e-12 * size).all():
        return None
    return effects[1:], errors

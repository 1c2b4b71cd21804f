"""What a release of some people teaches about others: the mechanism is run without those tested.

Where nobody's own record is released, those who are tested cannot be left out afterwards: what they
gave has gone into every row. So people are parted in a few groups, and the mechanism is run again
without each group in turn. What is learned from comes from somewhat fewer people than there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.attacks.classifiers import Fold, judged
from eyelid.attacks.records import records_of
from eyelid.gaze.table import FeatureTable

FOLDS = 5
# About so many windows of everybody are tested, and so many rows learned from.
_SHOWN, _KNOWN = 900, 3000

Run = Callable[[FeatureTable], FeatureTable]


def learned_without(
    run: Run,
    taken: FeatureTable,
    original: FeatureTable,
    *,
    model: str = "forest",
    folds: int = FOLDS,
    seed: int = 0,
) -> NDArray[np.float64] | None:
    """Of each person, the share of raw windows whose task is told by a release of the others.

    Args:
        run: the mechanism: from what it takes of some people to what it releases.
        taken: what it takes of everybody.
        original: the windows to be recognised.
        model: who recognises, of `eyelid.attacks.classifiers.MODELS`.
        folds: groups of people who are left out together.
        seed: of the model, and of who is left out with whom.

    Returns:
        In the order of people; None where what is released has no tasks.
    """
    people = original.data["person"].unique(maintain_order=True).to_list()
    rng = np.random.default_rng([seed, *b"who is left out with whom"])
    group = rng.permutation(len(people)) % min(folds, len(people))
    right = np.zeros(len(people))
    for number in np.unique(group):
        places = np.flatnonzero(group == number)
        out = [people[place] for place in places]
        without = ~pl.col("person").is_in(out)
        released = run(
            replace(taken, data=taken.data.filter(without), people=taken.people.filter(without))
        )
        if "task" not in released.data.columns:
            return None
        right[places] = _told(released, original, out, model, seed)
    return right


def _told(
    released: FeatureTable, original: FeatureTable, people: list[str], model: str, seed: int
) -> NDArray[np.float64]:
    """Of each of these people, the share of raw windows whose task is told."""
    names = [name for name in original.names if name in released.names]
    original = original.only(*names)
    every = math.ceil(len(original.data) / _SHOWN)
    row = pl.int_range(pl.len()).over("person", "recording")
    shown = records_of(original, people, row % every == 0)
    thin = math.ceil(len(released.data) / _KNOWN)
    # Both in spans of the original.
    rows = replace(released, data=released.data.gather_every(thin), features=original.features)
    known = records_of(rows, rows.data["person"].unique(maintain_order=True).to_list())
    tasks = sorted({*shown.tasks, *known.tasks})
    codes = np.array([tasks.index(task) for task in known.tasks], dtype=np.intp)[known.record]
    truth = np.array([tasks.index(task) for task in shown.tasks], dtype=np.intp)[shown.record]
    everything = Fold(np.ones(len(known.values), bool), np.ones(len(shown.values), bool))
    answers = judged(known.values, shown.values, {"task": codes}, [everything], [model], seed)
    hits = np.bincount(shown.person, weights=answers["task", model] == truth)
    return np.asarray(hits / np.bincount(shown.person))

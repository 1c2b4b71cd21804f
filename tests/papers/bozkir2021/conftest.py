"""Small tables of made-up people, in this process: workers would take longer to start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.engine.cores import alone
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.papers.bozkir2021.sources import Source

NAMES = ("large_saccade_ratio", "blink_rate", "fixation_rate")


@pytest.fixture(autouse=True, scope="module")
def in_one_process() -> Iterator[None]:
    with alone():
        yield


@pytest.fixture(scope="session")
def table_of() -> Callable[[np.ndarray], FeatureTable]:
    """A table around (people, tasks, rows, features), with a gender and windows of ten rows."""

    def make(values: np.ndarray) -> FeatureTable:
        features = [Feature(name, "1", "", -100.0, 100.0) for name in NAMES[: values.shape[3]]]
        table = table_from_arrays(values, features)
        gender = pl.Series("gender", ["female", "male"] * len(table.people)).head(len(values))
        return replace(table, people=table.people.with_columns(gender), window_ms=5000.0)

    return make


@pytest.fixture(scope="session")
def make_source(table_of) -> Callable[..., Source]:
    """Random walks with a level of each person's own and a slope of each task's own."""

    def make(people: int = 4, tasks: int = 3, rows: int = 40, seed: int = 3) -> Source:
        rng = np.random.default_rng(seed)
        shape = (people, tasks, rows, len(NAMES))
        walks = rng.normal(0, 0.1, shape).cumsum(axis=2)
        levels = rng.normal(5, 2, (people, 1, 1, len(NAMES)))
        loud = 1 + np.arange(tasks)[:, None, None]
        return Source(
            "made up", table_of(levels + loud * walks), "a few", every=4, every_of_person=2
        )

    return make

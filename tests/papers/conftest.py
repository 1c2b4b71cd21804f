"""Made-up feature signals that wander, as windowed features do, and a plain run of the paper."""

from collections.abc import Callable

import numpy as np
import pytest

from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays

HEART = (
    Feature("heart_rate", "1/min", "beats per minute", 30.0, 220.0),
    Feature("head_pitch", "deg", "rotation up and down", -90.0, 90.0),
)


@pytest.fixture
def wandering() -> Callable[..., FeatureTable]:
    """A heart rate and a head angle, two things that are no gaze, over slow random walks."""

    def make(people: int = 5, recordings: int = 2, rows: int = 70, seed: int = 3) -> FeatureTable:
        rng = np.random.default_rng(seed)
        steps = rng.normal(0, [0.5, 1.0], size=(people, recordings, rows, 2))
        level = rng.uniform([50, 5], [110, 40], size=(people, 1, 1, 2))
        return table_from_arrays(level + steps.cumsum(axis=2), HEART)

    return make

"""Synthetic participants whose records differ by as much as a test wants."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.attacks.records import Records


@pytest.fixture
def make_records():
    """Records of people around centres of their own; ``apart`` 0 makes everybody alike."""

    def make(
        people: int = 6,
        records: int = 2,
        rows: int = 20,
        features: int = 5,
        apart: float = 3.0,
        seed: int = 0,
        centres_seed: int = 1,
    ) -> Records:
        centres = np.random.default_rng(centres_seed).normal(0, apart, (people, features))
        rng = np.random.default_rng(seed)
        owner = np.repeat(np.arange(people), records)
        record = np.repeat(np.arange(people * records), rows)
        values = centres[owner[record]] + rng.normal(size=(len(record), features))
        return Records(
            values,
            record,
            owner,
            tuple(f"task {n % records}" for n in range(people * records)),
            tuple(f"P{n}" for n in range(people)),
        )

    return make

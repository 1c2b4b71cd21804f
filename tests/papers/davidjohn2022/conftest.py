"""Small made-up readers, and a dataset in the layout of 360_em."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eyelid.engine.cores import alone
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays

FEATURES = tuple(Feature(f"f{n}", "1", "made up", 0.0, 1.0) for n in range(4))

ARFF = """@RELATION gaze_360

%@METADATA height_px 1080
%@METADATA width_px 1920

@ATTRIBUTE time INTEGER
@ATTRIBUTE x NUMERIC
@ATTRIBUTE y NUMERIC
@ATTRIBUTE confidence NUMERIC
@ATTRIBUTE x_head NUMERIC
@ATTRIBUTE y_head NUMERIC
@ATTRIBUTE angle_deg_head NUMERIC

@DATA
"""


@pytest.fixture(scope="session")
def make_readers():
    """People who differ, in documents that differ, with a little noise."""

    def make(people: int = 6, documents: int = 3, rows: int = 48, apart: float = 0.3):
        rng = np.random.default_rng(3)
        values = np.full((people, documents, rows, len(FEATURES)), 0.35)
        values += apart * rng.random((people, 1, 1, len(FEATURES)))
        values += 0.3 * rng.random((1, documents, 1, len(FEATURES)))
        values += rng.normal(0.0, 0.02, values.shape)
        return replace(table_from_arrays(values, FEATURES), simulated=True)

    return make


@pytest.fixture(scope="session")
def readers(make_readers) -> FeatureTable:
    return make_readers()


@pytest.fixture(scope="module")
def one_core():
    """Trials in this very process: starting others takes longer than the trials do."""
    with alone():
        yield


@pytest.fixture(scope="session")
def spheres(tmp_path_factory) -> Path:
    """Four people and eight videos, everybody with saccades of their own size."""
    home = tmp_path_factory.mktemp("data") / "360_em"
    rng = np.random.default_rng(4)
    time_us = np.arange(0, 4_000_000, 8_000)
    for person, jump_px in zip(("001", "002", "005", "014"), (30, 60, 90, 120), strict=True):
        folder = home / "gaze" / person
        folder.mkdir(parents=True)
        for video in range(1, 9):
            # To and fro every half second, over two samples.
            far = (time_us // 500_000) % 2 == 1
            x = 900 + jump_px * np.convolve(far, [0.5, 0.5], "same") + rng.normal(0, 0.05, len(far))
            y = 540 + 5 * video + rng.normal(0, 0.05, len(far))
            rows = np.column_stack(
                [time_us, x, y, np.ones_like(x), 0 * x + 960, 0 * x + 540, 0 * x]
            )
            lines = "\n".join(",".join(f"{value:.6g}" for value in row) for row in rows)
            (folder / f"{person}_{video:02d}_park_6e-L_{video}.arff").write_text(
                f"{ARFF}{lines}\n", encoding="utf-8"
            )
    (home / "participant_info.csv").write_text("id,age\n1,30\n", encoding="utf-8")
    return home

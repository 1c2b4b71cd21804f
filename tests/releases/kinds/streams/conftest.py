"""A small study of gaze, in px, on a screen."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.study import Screen, Study
from eyelid.io import write


@pytest.fixture(autouse=True)
def _not_compiled(monkeypatch):
    """To compile filters takes longer than what tests let them do; it has tests of its own."""
    monkeypatch.setattr("eyelid.mechanisms.streams.filter_run.compiled", lambda kernel: None)


def gaze(person: str, recording: str, samples: int, rng: np.random.Generator) -> pl.DataFrame:
    """A new place every 15 samples, some of them lost, some not to be relied on."""
    places = rng.uniform((0, 0), (1000, 500), size=(-(-samples // 15), 2)).repeat(15, axis=0)
    x, y = (places[:samples] + rng.normal(0, 3, (samples, 2))).T
    x[5] = np.nan
    return pl.DataFrame(
        {
            "person": person,
            "recording": recording,
            "task": recording,
            "stimulus": "",
            "time_ms": 5000.0 + np.arange(samples) * 20.0,
            "x": x,
            "y": y,
            "pupil": rng.uniform(2, 4, samples),
            "confidence": np.where(np.arange(samples) == 30, 0.1, 1.0),
        }
    )


@pytest.fixture
def make_gaze():
    def make(people: int = 3, recordings: int = 2, samples: int = 200, **facts: object) -> Study:
        rng = np.random.default_rng(4)
        parts = [
            gaze(f"P{p}", f"r{r}", samples - 10 * p, rng)
            for p in range(people)
            for r in range(recordings)
        ]
        names = [f"P{p}" for p in range(people)]
        told = {"units": "px", "rate_hz": 50.0, "screen": Screen(1000, 500)} | facts
        attributes = pl.DataFrame({"person": names, "age": range(30, 30 + people)})
        return Study("samples", pl.concat(parts), attributes, xy_origin="top-left", **told)

    return make


@pytest.fixture
def gaze_folder(tmp_path, make_gaze):
    write(make_gaze(), tmp_path / "study")
    return tmp_path / "study"

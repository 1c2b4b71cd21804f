"""Gaze to detect events in: made up, walking at random, or real."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from eyelid.gaze.events import gaze_of
from eyelid.gaze.simulator import simulate
from eyelid.io import read


@pytest.fixture(scope="session")
def made_up() -> Callable[[float], tuple[np.ndarray, ...]]:
    """Arrays of one simulated recording at some rate, with its blinks and short losses."""

    def make(rate_hz: float) -> tuple[np.ndarray, ...]:
        study = simulate(people=1, tasks=("comic",), rate_hz=rate_hz, minutes=0.4, seed=3)
        recording = next(study.recordings())
        return recording.time_ms, recording["x"], recording["y"]

    return make


@st.composite
def _walks(draw: st.DrawFn, coarse: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(6, 400))
    leaps = rng.random((2, count)) < draw(st.sampled_from([0.0, 0.01, 0.05, 0.3]))
    noise = draw(st.sampled_from([0.002, 0.02, 0.2]))
    gaze = np.cumsum(np.where(leaps, rng.normal(0.0, 3.0, (2, count)), 0.0), axis=1)
    gaze += np.cumsum(rng.normal(0.0, noise / 5, (2, count)), axis=1)
    gaze += rng.normal(0.0, noise, (2, count))
    if coarse:
        gaze = np.round(gaze * 8) / 8
    for _ in range(draw(st.integers(0, 4))):
        begin = int(rng.integers(0, count))
        end = begin + int(rng.integers(1, 40))
        # Mostly both axes are lost together.
        which = slice(None) if rng.random() < 0.8 else int(rng.integers(0, 2))
        gaze[which, begin:end] = np.nan
    return gaze[0], gaze[1]


@pytest.fixture(scope="session")
def walks() -> Callable[..., st.SearchStrategy[tuple[np.ndarray, np.ndarray]]]:
    """Fixations, drifts and leaps with runs of lost samples.

    With ``coarse`` every place is a multiple of 1/8, which sums and differences keep exactly, so
    that thresholds are met and not only passed.
    """
    return _walks


@pytest.fixture(scope="session")
def lund_recordings():
    """The recordings of Lund 2013 in degrees."""
    folder = Path(os.environ.get("EYELID_DATA") or "nowhere") / "lund2013"
    if not folder.is_dir():
        pytest.skip("needs real recordings: set EYELID_DATA to a folder that holds lund2013")
    return [recording for recording, _ in gaze_of(read(folder))]

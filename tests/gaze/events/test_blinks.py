from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.events import detect_events
from eyelid.gaze.events.blinks import detect_blinks, lost
from eyelid.gaze.simulator import simulate

TIME_MS = np.arange(100) * 10.0


@pytest.mark.parametrize("rate_hz", [30.0, 60.0, 1000.0])
def test_true_blinks_are_found_and_short_losses_are_not(rate_hz):
    study = simulate(people=4, tasks=("comic",), rate_hz=rate_hz, minutes=2.0, seed=5)
    found = detect_events(study).filter(pl.col("name") == "blink")
    true = study.events.filter(pl.col("name") == "blink")
    assert len(found) == pytest.approx(len(true), rel=0.05)
    paired = true.sort("onset_ms").join_asof(
        found.sort("onset_ms"), on="onset_ms", by=["person", "recording"], strategy="nearest"
    )
    error_ms = (paired["duration_ms"] - paired["duration_ms_right"]).abs()
    # A blink begins and ends somewhere between two samples; losses of signal may adjoin it.
    assert error_ms.quantile(0.9) <= 1000 / rate_hz


@pytest.mark.parametrize(("samples", "blinks"), [(6, 0), (7, 1), (50, 1), (51, 0)])
def test_a_blink_lasts_as_long_as_blinks_do(samples, blinks):
    missing = np.zeros(100, dtype=bool)
    missing[20 : 20 + samples] = True
    assert len(detect_blinks(TIME_MS, missing).onset) == blinks


def test_a_flicker_does_not_break_a_blink():
    missing = np.zeros(100, dtype=bool)
    missing[20:26] = missing[27:33] = True
    assert [index.tolist() for index in detect_blinks(TIME_MS, missing)] == [[20], [33]]


def test_all_lost_is_no_blink():
    assert len(detect_blinks(TIME_MS, np.ones(100, dtype=bool)).onset) == 0


def test_no_samples_have_no_blinks():
    assert len(detect_blinks(np.array([]), np.array([], dtype=bool)).onset) == 0


def test_gaze_is_lost_where_missing_or_below_a_known_confidence():
    x = np.array([1.0, np.nan, 1.0, 1.0])
    confidence = np.array([0.9, 0.9, 0.5, np.nan])
    assert lost(x, x, confidence).tolist() == [False, True, True, False]

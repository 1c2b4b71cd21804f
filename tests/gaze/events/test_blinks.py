from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.events import detect_events
from eyelid.gaze.events.blinks import detect_blinks, lost, with_lids
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study

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


def test_a_pupil_of_nothing_is_lost_unless_it_never_was_measured():
    x, pupil = np.ones(4), np.array([3.0, 0.0, np.nan, 3.0])
    assert lost(x, x, pupil=pupil).tolist() == [False, True, False, False]
    assert not lost(x, x, pupil=np.zeros(4)).any()


def closing_lid(rate_hz: float = 500.0) -> tuple[np.ndarray, np.ndarray]:
    """A blink of 150 ms; the lid takes 40 ms to cover the pupil and 60 ms to uncover it."""
    time_ms = np.arange(0.0, 1000.0, 1000 / rate_hz)
    pupil = np.interp(time_ms, [0, 400, 440, 590, 650, 1000], [4.0, 4.0, 1.0, 1.0, 4.0, 4.0])
    return time_ms, np.where((time_ms > 440) & (time_ms < 590), np.nan, pupil)


@pytest.mark.parametrize("rate_hz", [60.0, 250.0, 500.0, 1000.0])
def test_a_blink_begins_and_ends_with_the_movement_of_the_lid(rate_hz):
    time_ms, pupil = closing_lid(rate_hz)
    missing = np.isnan(pupil)
    onset, offset = detect_blinks(time_ms, with_lids(time_ms, missing, pupil))
    step_ms = max(1000 / rate_hz, 20.0)
    assert time_ms[onset] == pytest.approx([400.0], abs=step_ms)
    assert time_ms[offset] == pytest.approx([650.0], abs=step_ms)
    assert with_lids(time_ms, missing, pupil)[missing].all()


@pytest.mark.parametrize("unit", [1.0, 200.0])
def test_the_unit_of_the_pupil_does_not_matter(unit):
    time_ms, pupil = closing_lid()
    found = with_lids(time_ms, np.isnan(pupil), unit * pupil)
    assert (found == with_lids(time_ms, np.isnan(pupil), pupil)).all()


def test_a_pupil_that_changes_as_pupils_do_widens_nothing():
    time_ms = np.arange(0.0, 3000.0, 2.0)
    pupil = 4.0 + 0.5 * np.sin(time_ms / 300.0)
    pupil += np.random.default_rng(0).normal(0.0, 0.01, len(pupil))
    missing = (time_ms > 1000) & (time_ms < 1150)
    assert (with_lids(time_ms, missing, pupil) == missing).all()


def test_a_fast_change_far_from_any_loss_is_left_alone():
    time_ms, pupil = closing_lid()
    seen = np.where(np.isnan(pupil), 1.0, pupil)
    assert not with_lids(time_ms, np.zeros(len(seen), dtype=bool), seen).any()
    elsewhere = np.arange(len(seen)) < 20
    assert (with_lids(time_ms, elsewhere, seen) == elsewhere).all()


def test_what_looks_like_a_saccade_under_a_moving_lid_is_none():
    time_ms, pupil = closing_lid()
    # The middle of what is seen of the pupil sinks with the lid.
    y = np.where(np.isnan(pupil), np.nan, 2.0 * (pupil - 4.0))
    table = {"time_ms": time_ms, "x": np.zeros(len(y)), "y": y, "pupil": pupil}
    keys = {"person": pl.lit("a"), "recording": pl.lit("r")}
    data = pl.DataFrame(table).with_columns(**keys).fill_nan(None)
    people = pl.DataFrame({"person": ["a"]})
    study = Study(kind="samples", data=data, people=people, units="deg", pupil_unit="mm")
    assert detect_events(study)["name"].to_list() == ["fixation", "blink", "fixation"]
    blind = study.derive(data=data.drop("pupil"))
    assert "saccade" in detect_events(blind)["name"].to_list()

"""Recordings as nobody wants them, given to every detector."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.events import METHODS, detect_events
from eyelid.gaze.study import Study

METHOD = pytest.mark.parametrize("method", METHODS)


def named(events: pl.DataFrame, name: str) -> pl.DataFrame:
    return events.filter(pl.col("name") == name)


def noise(count: int) -> tuple[np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(4).normal(0.0, 0.01, (2, count)))


@METHOD
@pytest.mark.parametrize("samples", [0, 1, 2, 3, 5])
def test_a_few_samples_are_no_events(method, samples):
    signals = (np.arange(samples) * 10.0, np.zeros(samples), np.zeros(samples))
    assert detect_events(signals, method).is_empty()


@METHOD
@pytest.mark.parametrize("axis", ["x", "y", "both"])
def test_all_samples_lost_are_no_events(method, axis):
    lost = np.full(500, np.nan)
    x, y = (lost if axis in (name, "both") else np.zeros(500) for name in "xy")
    assert detect_events((np.arange(500) * 4.0, x, y), method).is_empty()


@METHOD
def test_constant_gaze_is_one_fixation(method):
    events = detect_events((np.arange(500) * 4.0, np.full(500, 7.0), np.full(500, 3.0)), method)
    assert events["name"].to_list() == ["fixation"]
    # Those that need neighbours know no speed at the very ends.
    assert events["duration_ms"].item() >= 1996.0 - 16.0


@METHOD
def test_a_single_noisy_fixation_is_one(method):
    # With a threshold that follows the noise some of it always stands out.
    chosen = {"threshold_factor": 20.0} if method == "ek" else {}
    events = detect_events((np.arange(500) * 4.0, *noise(500)), method, **chosen)
    assert events["name"].to_list() == ["fixation"]


@METHOD
def test_a_loss_of_200_ms_is_a_blink_between_two_fixations(method):
    x, y = noise(500)
    x[200:250] = y[200:250] = np.nan
    chosen = {"threshold_factor": 20.0} if method == "ek" else {}
    events = detect_events((np.arange(500) * 4.0, x, y), method, **chosen)
    assert events["name"].to_list() == ["fixation", "blink", "fixation"]
    for event in named(events, "fixation").iter_rows(named=True):
        assert event["offset_ms"] <= 800.0 or event["onset_ms"] >= 1000.0


@METHOD
def test_a_gap_in_time_ends_a_fixation_and_is_no_blink(method):
    time_ms = np.arange(500) * 4.0
    time_ms[250:] += 300.0
    events = detect_events((time_ms, np.zeros(500), np.zeros(500)), method)
    assert events["name"].to_list() == ["fixation", "fixation"]
    assert events["duration_ms"].max() <= 1000.0


@METHOD
def test_irregular_samples_give_about_the_events_of_regular_ones(method):
    rng = np.random.default_rng(0)
    time_ms = np.arange(600) * 4.0
    x = np.interp(time_ms, [0, 800, 840, 1600, 1640, 2400], [0, 0, 8, 8, 2, 2])
    y = np.zeros(600)
    x, y = (axis + rng.normal(0.0, 0.01, 600) for axis in (x, y))
    regular = detect_events((time_ms, x, y), method)
    jittered = detect_events((time_ms + rng.uniform(-1.0, 1.0, 600), x, y), method)
    assert (named(regular, "saccade").height, named(regular, "fixation").height) == (2, 3)
    for name in ("saccade", "fixation"):
        ours, theirs = (
            named(events, name)["onset_ms"].to_numpy() for events in (regular, jittered)
        )
        assert theirs == pytest.approx(ours, abs=13.0)


@METHOD
@pytest.mark.parametrize("rate_hz", [5.0, 10.0, 18.0])
def test_below_20_hz_long_fixations_are_still_found(method, rate_hz):
    time_ms = np.arange(int(8 * rate_hz)) * 1000 / rate_hz
    x = np.where(time_ms < 4000, 0.0, 12.0)
    chosen = {"fast_deg_s": 30.0} if method == "is5t" else {}
    events = named(detect_events((time_ms, x, np.zeros(len(x))), method, **chosen), "fixation")
    assert events.height == 2
    assert events["duration_ms"].min() > 2000.0


@METHOD
def test_time_that_does_not_increase_is_refused(method):
    for time_ms in ([0.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, np.nan, 1.0]):
        with pytest.raises(InputError, match="time_ms must increase"):
            detect_events((np.array(time_ms), np.zeros(3), np.zeros(3)), method)


@METHOD
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "many"])
def test_settings_that_are_no_numbers_are_refused(method, value):
    with pytest.raises(
        InputError, match="min_fixation_ms must be a number from 0 to a million, got"
    ):
        detect_events((np.arange(9.0), np.zeros(9), np.zeros(9)), method, min_fixation_ms=value)


@METHOD
def test_unknown_settings_are_named(method):
    with pytest.raises(InputError, match=f"setting of {method} 'min_fixation': did you mean"):
        detect_events((np.arange(9.0), np.zeros(9), np.zeros(9)), method, min_fixation=10.0)


@METHOD
@settings(max_examples=40)
@given(data=st.data(), rate_hz=st.sampled_from([10.0, 60.0, 500.0]))
def test_events_lie_in_the_recording_in_order_and_take_time(walks, method, data, rate_hz):
    x, y = data.draw(walks())
    events = detect_events((np.arange(len(x)) * 1000 / rate_hz, x, y), method, min_fixation_ms=20.0)
    assert (events["duration_ms"] > 0).all()
    assert events["onset_ms"].is_sorted()
    assert (events["offset_ms"] <= (len(x) - 1) * 1000 / rate_hz).all()
    for name in ("fixation", "saccade"):
        kind = named(events, name)
        assert (kind["onset_ms"][1:] >= kind["offset_ms"][:-1]).all()


def test_a_study_with_neither_places_nor_directions_is_refused():
    data = pl.DataFrame({"person": ["a"], "recording": ["r"], "time_ms": [0.0], "pupil": [3.0]})
    study = Study(kind="samples", data=data, people=pl.DataFrame({"person": ["a"]}), units="deg")
    with pytest.raises(InputError, match="no column x: events need it"):
        detect_events(study)

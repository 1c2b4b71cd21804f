"""I-VT, to the sample as pymovements finds it."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.events.ivt import ivt


def by_pymovements(time_ms, x, y, rate_hz, velocity="fivepoint", **settings):
    """Onsets and offsets as a user of pymovements gets them: from_polars, pos2vel, detect."""
    import pymovements as pm

    frame = pl.DataFrame({"time": time_ms, "x": x, "y": y})
    gaze = pm.Gaze(
        frame,
        experiment=pm.Experiment(sampling_rate=rate_hz),
        time_column="time",
        time_unit="ms",
        position_columns=["x", "y"],
    )
    gaze.pos2vel(method=velocity)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ivt: No events were detected")
        gaze.detect("ivt", **settings)
    found = gaze.events.frame
    return found["onset"].to_list(), found["offset"].to_list()


def by_eyelid(time_ms, x, y, **settings):
    onset, offset = ivt(time_ms, x, y, **settings)["fixation"]
    return time_ms[onset].tolist(), time_ms[offset].tolist()


@settings(max_examples=60)
@given(data=st.data(), rate_hz=st.sampled_from([50.0, 250.0, 500.0, 1000.0]))
def test_fixations_are_those_of_pymovements(walks, data, rate_hz):
    gaze = data.draw(walks())
    time_ms = np.arange(len(gaze[0])) * 1000 / rate_hz
    assert by_eyelid(time_ms, *gaze) == by_pymovements(time_ms, *gaze, rate_hz)


@settings(max_examples=60)
@given(data=st.data(), threshold=st.sampled_from([20.0, 62.5, 125.0]))
def test_also_where_speeds_meet_the_threshold(walks, data, threshold):
    gaze = data.draw(walks(coarse=True))
    time_ms = np.arange(len(gaze[0])) * 2.0
    theirs = by_pymovements(
        time_ms, *gaze, 500.0, "neighbors", velocity_threshold=threshold, minimum_duration=20
    )
    chosen = {"velocity": "neighbors", "threshold_per_s": threshold, "min_fixation_ms": 20.0}
    assert by_eyelid(time_ms, *gaze, **chosen) == theirs


@pytest.mark.parametrize("velocity", ["fivepoint", "neighbors", "preceding"])
@pytest.mark.parametrize("rate_hz", [60.0, 120.0, 500.0, 1000.0])
def test_every_way_to_take_velocity_gives_what_pymovements_gives(made_up, rate_hz, velocity):
    signals = made_up(rate_hz)
    # Noise makes the difference of two samples faster the closer they are.
    threshold = {"fivepoint": 60.0, "neighbors": 150.0, "preceding": 300.0}[velocity]
    theirs = by_pymovements(*signals, rate_hz, velocity, velocity_threshold=threshold)
    assert len(theirs[0]) > 5
    assert by_eyelid(*signals, velocity=velocity, threshold_per_s=threshold) == theirs


def test_real_recordings_give_what_pymovements_gives(lund_recordings):
    for recording in lund_recordings:
        signals = recording.time_ms, recording["x"], recording["y"]
        rate_hz = float(round(1000 / np.median(np.diff(recording.time_ms))))
        assert by_eyelid(*signals) == by_pymovements(*signals, rate_hz)


def test_saccades_are_the_runs_at_or_above_the_threshold():
    x = np.repeat([0.0, 5.0], 300)
    time_ms = np.arange(600) * 5.0
    onset, offset = ivt(time_ms, x, np.zeros(600))["saccade"]
    # The two samples before a leap and the two after it see it in their five points.
    assert (onset.tolist(), offset.tolist()) == ([298], [301])


def test_a_saccade_of_one_sample_or_a_shorter_one_is_left_out():
    x = np.repeat([0.0, 5.0], 300)
    time_ms = np.arange(600) * 5.0
    assert len(ivt(time_ms, x, x, min_saccade_ms=16.0)["saccade"].onset) == 0
    alone = ivt(time_ms, x, x, velocity="preceding", min_saccade_ms=0.0)
    assert len(alone["saccade"].onset) == 0


def test_no_event_goes_across_a_gap_in_time():
    time_ms = np.arange(400) * 2.0
    time_ms[200:] += 500.0
    onset, offset = ivt(time_ms, np.zeros(400), np.zeros(400))["fixation"]
    assert (onset.tolist(), offset.tolist()) == ([2, 202], [197, 397])


def test_an_unknown_velocity_is_named():
    with pytest.raises(InputError, match="did you mean 'neighbors'"):
        detect_events((np.arange(9.0), np.zeros(9), np.zeros(9)), "ivt", velocity="neighbours")

"""I-DT, to the sample as pymovements finds it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.gaze.events.idt import idt


def by_pymovements(time_ms, x, y, **settings):
    from pymovements.events.detection import idt as peer

    with warnings.catch_warnings():
        # It takes the largest of nothing where all is lost.
        warnings.simplefilter("ignore", RuntimeWarning)
        found = peer(np.column_stack([x, y]), timesteps=time_ms, **settings).frame
    return found["onset"].to_list(), found["offset"].to_list()


def by_eyelid(time_ms, x, y, **settings):
    onset, offset = idt(time_ms, x, y, **settings)["fixation"]
    return time_ms[onset].tolist(), time_ms[offset].tolist()


@settings(max_examples=150)
@given(data=st.data(), coarse=st.booleans(), step_ms=st.sampled_from([1.0, 2.0, 20.0]))
def test_fixations_are_those_of_pymovements(walks, data, coarse, step_ms):
    gaze = data.draw(walks(coarse))
    time_ms = np.arange(len(gaze[0])) * step_ms
    assert by_eyelid(time_ms, *gaze) == by_pymovements(time_ms, *gaze)


@pytest.mark.parametrize("rate_hz", [50.0, 100.0, 250.0, 500.0])
@pytest.mark.parametrize(("degrees", "duration_ms"), [(1.0, 100), (0.5, 60), (2.0, 200)])
def test_made_up_recordings_give_what_pymovements_gives(made_up, rate_hz, degrees, duration_ms):
    signals = made_up(rate_hz)
    theirs = by_pymovements(*signals, dispersion_threshold=degrees, minimum_duration=duration_ms)
    assert len(theirs[0]) > 10
    ours = by_eyelid(*signals, max_dispersion=degrees, min_fixation_ms=float(duration_ms))
    assert ours == theirs


def test_real_recordings_give_what_pymovements_gives(lund_recordings):
    for recording in lund_recordings:
        # It takes nothing but whole and even time steps.
        step_ms = round(float(np.median(np.diff(recording.time_ms))))
        signals = np.arange(len(recording.time_ms)) * float(step_ms), recording["x"], recording["y"]
        assert by_eyelid(*signals) == by_pymovements(*signals)


def test_a_saccade_lies_between_two_fixations():
    x = np.r_[np.zeros(100), np.linspace(0.0, 8.0, 12), np.full(100, 8.0)]
    time_ms = np.arange(212) * 4.0
    onset, offset = idt(time_ms, x, np.zeros(212))["saccade"]
    assert x[offset] - x[onset] == pytest.approx(8.0, abs=2.0)
    lost = np.where(np.arange(212) == 105, np.nan, x)
    assert len(idt(time_ms, lost, np.zeros(212))["saccade"].onset) == 0


def test_a_leap_between_two_samples_of_a_slow_tracker_has_its_amplitude():
    x = np.repeat([10.0, 15.0], 15)
    onset, offset = idt(np.arange(30) * 1000 / 30, x, np.zeros(30))["saccade"]
    assert x[offset] - x[onset] == 5.0


def test_uneven_durations_are_rounded_up_to_whole_samples():
    # At 144 Hz 100 ms are 14.4 samples, which pymovements refuses.
    time_ms = np.arange(14) * 1000 / 144
    assert len(idt(time_ms, np.zeros(14), np.zeros(14))["fixation"].onset) == 0
    time_ms = np.arange(15) * 1000 / 144
    assert len(idt(time_ms, np.zeros(15), np.zeros(15))["fixation"].onset) == 1


def test_no_event_goes_across_a_gap_in_time():
    time_ms = np.arange(400) * 2.0
    time_ms[200:] += 500.0
    found = idt(time_ms, np.zeros(400), np.zeros(400))
    assert [index.tolist() for index in found["fixation"]] == [[0, 200], [199, 399]]
    assert len(found["saccade"].onset) == 0

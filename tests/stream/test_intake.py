"""What is let in to the gatekeeper: in order of time, and not too much of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.mechanisms.streams.scene import Scene
from eyelid.stream.intake import Fit, Intake
from eyelid.stream.samples import RawGaze

times = st.floats(-1e6, 1e6) | st.sampled_from([math.nan, math.inf, -math.inf, 0.0])


def raw(time_ms, arrived_s=0.0):
    marks = [float(i) for i in range(len(time_ms))]
    return RawGaze([float(t) for t in time_ms], [marks, marks], arrived_s)


def test_time_that_goes_backwards_is_dropped_and_counted():
    intake = Intake(1000.0)
    let_in = intake.admit(raw([0, 10, 5, 10, 7, 20, math.nan, math.inf], arrived_s=1.0))
    assert let_in.time_ms == [0, 10, 10, 20]
    assert let_in.parts[0] == [0, 1, 3, 5]
    assert intake.admit(raw([19], arrived_s=1.1)) is None
    assert intake.dropped == {
        "time not a number": 2,
        "time backwards": 3,
        "too many per second": 0,
    }


@given(st.lists(st.lists(times, min_size=1, max_size=8), min_size=1, max_size=8))
def test_times_never_go_backwards_and_everything_is_let_in_or_counted(batches):
    intake = Intake(1e9)
    let_in = [intake.admit(raw(batch, float(i))) for i, batch in enumerate(batches)]
    stamps = [t for gaze in let_in if gaze is not None for t in gaze.time_ms]
    assert all(math.isfinite(t) for t in stamps)
    assert stamps == sorted(stamps)
    assert len(stamps) + sum(intake.dropped.values()) == sum(map(len, batches))


@given(st.lists(times, min_size=1, max_size=20))
def test_samples_together_fare_as_they_do_one_by_one(batch):
    together, alone = Intake(1e9), Intake(1e9)
    at_once = together.admit(raw(batch, 1.0))
    one_by_one = [alone.admit(raw([t], 1.0)) for t in batch]
    kept = [t for gaze in one_by_one if gaze is not None for t in gaze.time_ms]
    assert (at_once.time_ms if at_once else []) == kept
    assert together.dropped == alone.dropped


def test_a_flood_gets_in_no_faster_than_allowed():
    intake = Intake(180.0)
    came = let_in = 0
    for i in range(400):
        # 100 samples every 10 ms: 10 000 per second instead of 120.
        gaze = intake.admit(raw(10.0 * i + np.arange(100) / 10, arrived_s=0.01 * i))
        came, let_in = came + 100, let_in + (len(gaze) if gaze else 0)
    # Half a second's worth at once, and four seconds of the rate.
    assert let_in == 90 + int(180 * 3.99)
    assert intake.dropped["too many per second"] == came - let_in


def test_a_replay_at_full_speed_is_held_against_its_own_clock():
    intake = Intake(180.0, by_arrival=False)
    stamps = np.arange(100_000) * (1000 / 120)
    kept = [intake.admit(raw(part, arrived_s=0.0)) for part in stamps.reshape(-1, 1000)]
    assert sum(map(len, kept)) == len(stamps)
    assert intake.admit(raw(np.full(2000, stamps[-1]))) is not None
    assert intake.dropped["too many per second"] == 2000 - 90


@pytest.mark.parametrize("pause_s", [0.0, 3.0])
def test_a_tracker_that_starts_again_goes_on_after_what_was(pause_s):
    intake = Intake(1000.0)
    intake.begin()
    assert intake.admit(raw([5000, 5008], arrived_s=10.0)).time_ms == [5000, 5008]
    intake.begin()
    after = intake.admit(raw([0, 8], arrived_s=10.0 + pause_s)).time_ms
    assert after == [5008 + 1000 * pause_s, 5016 + 1000 * pause_s]
    # A clock that went on is left alone.
    intake.begin()
    assert intake.admit(raw([90_000], arrived_s=20.0)).time_ms == [90_000]


def test_one_absurd_time_does_not_end_the_stream():
    intake = Intake(1000.0)
    assert intake.admit(raw([0, 1e15], arrived_s=0.0)) is not None
    let_in = [intake.admit(raw([8.0 * i], arrived_s=0.008 * i)) for i in range(1, 200)]
    kept = [gaze.time_ms[0] for gaze in let_in if gaze is not None]
    # Dropped for a second, and then taken for a new clock.
    assert len(kept) > 60
    assert kept == sorted(kept)


@pytest.mark.parametrize("size", [1, 20])
def test_the_rate_is_measured_without_the_tracker_s_pauses(size):
    intake = Intake(180.0)
    stamps = np.arange(0, 4000.0, 2.0).reshape(-1, size)
    for part in stamps:
        intake.admit(raw(part, arrived_s=part[-1] / 1000))
    assert intake.measured_hz is None
    for part in stamps + 3_600_000:
        intake.admit(raw(part, arrived_s=part[-1] / 1000))
    # Also of those that are not let in.
    assert intake.measured_hz == pytest.approx(500, rel=0.01)


def test_raw_gaze_shows_no_value_in_its_text():
    assert repr(raw([123.456])) == str(raw([123.456])) == "RawGaze(1 samples)"


SCREEN = Scene.of("px", "0,0,1920,1080")


def told(x, y, scene=SCREEN, count=600):
    fit = Fit(scene)
    for _ in range(count):
        fit.add(RawGaze([0.0], [[float(x)], [float(y)]], 0.0))
    return fit.trouble


def test_gaze_outside_of_the_scene_is_told_in_round_numbers():
    fit = Fit(SCREEN)
    fit.add(RawGaze([0.0] * 1000, [[-3.0] * 433 + [800.0] * 567, [5.0] * 1000], 0.0))
    assert fit.trouble.startswith("about 40% of the first samples lie outside of the scene")


def test_fractions_in_a_scene_of_pixels_are_noticed():
    assert "fractions" in told(0.7, 0.4)


@pytest.mark.parametrize(
    ("x", "y", "scene"),
    [
        (800, 400, SCREEN),
        (math.nan, 0.4, SCREEN),
        (math.nan, math.inf, SCREEN),
        (0.7, 0.4, Scene.of("fraction")),
    ],
)
def test_gaze_that_fits_or_is_lost_is_not_worth_a_word(x, y, scene):
    assert told(x, y, scene) == ""


def test_a_few_samples_are_not_either():
    assert told(-5, 5, count=100) == ""

"""Two thresholds on the sphere."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events, gaze_of
from eyelid.gaze.events.is5t import is5t
from eyelid.gaze.geometry import direction, in_head
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study

RATE_HZ = 120.0


def stepped(*places_deg: float, each: int = 60) -> np.ndarray:
    """Fixations with a saccade of 400 degrees a second between them."""
    parts = [np.full(each, places_deg[0])]
    for here, there in itertools.pairwise(places_deg):
        count = max(int(abs(there - here) / 400 * RATE_HZ), 2)
        parts += [np.linspace(here, there, count + 1)[1:-1], np.full(each, there)]
    return np.concatenate(parts)


def found_in(azimuth: np.ndarray, elevation: np.ndarray | float = 0.0, **settings: float):
    time_ms = np.arange(len(azimuth)) * 1000 / RATE_HZ
    return is5t(time_ms, azimuth, np.broadcast_to(elevation, azimuth.shape), **settings)


def spread_over_a_study(azimuth: np.ndarray, elevation: np.ndarray, head=None) -> Study:
    """A study of nothing but directions."""
    world = direction(azimuth, elevation)
    columns = dict(zip(("gaze_x", "gaze_y", "gaze_z"), world, strict=True))
    if head is not None:
        columns = dict(zip(columns, in_head(world, head), strict=True))
        columns |= dict(zip(("head_x", "head_y", "head_z"), head, strict=True))
    time_ms = np.arange(len(azimuth)) * 1000 / RATE_HZ
    keys = {"person": "a", "recording": "r", "task": "t", "stimulus": "s"}
    data = pl.DataFrame(columns).with_columns(time_ms=time_ms)
    data = data.with_columns(pl.lit(value).alias(name) for name, value in keys.items())
    return Study(kind="samples", data=data, people=pl.DataFrame({"person": ["a"]}))


def test_finds_fixations_and_the_saccade_between_them():
    found = found_in(stepped(0.0, 12.0))
    assert len(found["fixation"].onset) == 2
    assert len(found["saccade"].onset) == 1


@pytest.mark.parametrize("elevation", [0.0, 60.0, 85.0])
@pytest.mark.parametrize("turn", [0.0, 170.0, -175.0])
def test_neither_the_poles_nor_the_back_are_special(elevation, turn):
    # The same movement on a great circle, wherever it is: it goes up.
    up = stepped(elevation, elevation + 10.0)
    found = found_in(np.full(len(up), turn), up)
    at_home = found_in(np.zeros(len(up)), up - elevation)
    for kind in ("fixation", "saccade"):
        assert [i.tolist() for i in found[kind]] == [i.tolist() for i in at_home[kind]]


def test_a_movement_must_reach_the_fast_threshold():
    slow = np.r_[np.zeros(60), np.linspace(0, 10, 13)[1:-1], np.full(60, 10.0)]
    assert len(found_in(slow)["saccade"].onset) == 0
    assert len(found_in(slow, fast_deg_s=90.0)["saccade"].onset) == 1


def test_a_saccade_lasts_as_long_as_it_is_faster_than_the_slow_threshold():
    speed_deg_s = np.r_[np.zeros(60), 30, 50, 200, 300, 200, 50, 30, np.zeros(60)]
    azimuth = np.r_[0.0, np.cumsum(speed_deg_s / RATE_HZ)]
    assert [i.tolist() for i in found_in(azimuth)["saccade"]] == [[61], [66]]


@pytest.mark.parametrize(("duration", "saccades"), [(1, 0), (2, 1), (24, 1), (26, 0)])
def test_a_saccade_lasts_15_to_200_ms(duration, saccades):
    speed_deg_s = np.r_[np.zeros(60), np.full(duration, 200.0), np.zeros(60)]
    found = found_in(np.r_[0.0, np.cumsum(speed_deg_s / RATE_HZ)])
    assert len(found["saccade"].onset) == saccades


def test_pursuit_is_no_fixation():
    steps = np.arange(240) / RATE_HZ
    assert len(found_in(8.0 * steps)["fixation"].onset) == 0
    assert len(found_in(2.0 * steps)["fixation"].onset) == 1


def test_gaze_that_spreads_is_no_fixation():
    noise = np.random.default_rng(0).normal(0.0, 1.0, (2, 240))
    assert len(found_in(0.2 * noise[0], 0.2 * noise[1])["fixation"].onset) == 1
    assert len(found_in(noise[0], noise[1])["fixation"].onset) == 0


def test_a_head_that_turns_while_gaze_stays_leaves_the_fixation_whole():
    gaze = stepped(0.0, 15.0, each=120)
    head = direction(np.linspace(-20.0, 30.0, len(gaze)), np.full(len(gaze), 5.0))
    study = spread_over_a_study(gaze, np.zeros(len(gaze)), head)
    names = detect_events(study, "is5t")["name"].to_list()
    assert names == ["fixation", "saccade", "fixation"]
    # Seen from the head, gaze is never still: without the head's direction it moves.
    alone = study.derive(data=study.data.drop("head_x", "head_y", "head_z"))
    assert detect_events(alone, "is5t")["name"].to_list() == ["saccade"]


@pytest.mark.parametrize("method", ["robust", "ivt", "idt", "ek", "is5t"])
def test_directions_across_the_back_of_the_head_are_no_leap(method):
    rng = np.random.default_rng(1)
    azimuth = stepped(172.0, 188.0, each=120)
    azimuth = azimuth + rng.normal(0.0, 0.02, len(azimuth))
    study = spread_over_a_study(azimuth, rng.normal(0.0, 0.02, len(azimuth)))
    events = detect_events(study, method)
    assert events["name"].to_list() == ["fixation", "saccade", "fixation"]
    recording, units = next(gaze_of(study))
    assert units == "deg"
    assert recording["x"] == pytest.approx(azimuth)


def test_degrees_are_taken_as_directions():
    study = simulate(people=1, tasks=("image",), rate_hz=500.0, minutes=0.5, seed=2)
    names = detect_events(study, "is5t")["name"].value_counts()
    assert set(names["name"]) == {"fixation", "saccade", "blink"}


def test_pixels_of_an_unknown_screen_are_refused():
    signals = (np.arange(9.0), np.zeros(9), np.zeros(9))
    with pytest.raises(InputError, match=r"is5t needs directions or degrees.* in px"):
        detect_events(signals, "is5t", units="px")

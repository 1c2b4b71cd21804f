"""Streams beside their originals: nothing changed, a little, and everything."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import linregress, wasserstein_distance
from sklearn.metrics import cohen_kappa_score, f1_score

from eyelid.attacks.streams import stream_measures
from eyelid.attacks.streams.measures import event_f1, f1, kappa
from eyelid.attacks.streams.movement import (
    Saccades,
    impossible,
    main_sequence,
    main_sequence_distance,
    pairs,
)
from eyelid.errors import InputError
from eyelid.gaze.features import event_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen

AGREEMENTS = ["fixation_kappa", "fixation_f1", "fixation_event_f1", "aoi_agreement", "aoi_kappa"]
DISTANCES = ["gaze_rmse", "lost", "main_sequence_distance", "speed_distance", "speed_log_ratio"]
KEY = ["person", "recording"]


@pytest.fixture(scope="module")
def study():
    return simulate(people=5, tasks=("comic", "image"), minutes=0.5, rate_hz=60.0, seed=11)


def with_data(study, *columns):
    return replace(study, data=study.data.with_columns(*columns))


def jittered(study, deviation):
    noise = np.random.default_rng(3).normal(0, deviation, (2, len(study.data)))
    return with_data(study, pl.col("x") + pl.Series(noise[0]), pl.col("y") + pl.Series(noise[1]))


def every(study, samples):
    kept = pl.int_range(pl.len()).over(KEY) % samples == 0
    return replace(study, data=study.data.filter(kept))


def shuffled(study):
    return with_data(study, pl.col("x", "y").shuffle(seed=3).over(KEY))


def values(original, released, **settings):
    found = stream_measures(original, released, **settings).measures
    return {name: None if one is None else one.value for name, one in found.items()}


def test_what_was_not_changed_is_the_same(study):
    same = values(study, study)
    assert [same[name] for name in AGREEMENTS] == [1.0] * len(AGREEMENTS)
    assert [same[name] for name in DISTANCES] == [0.0] * len(DISTANCES)
    assert same["main_sequence_exponent_original"] == same["main_sequence_exponent_released"]


def test_more_jitter_is_further_away(study):
    steps = [values(study, jittered(study, d)) for d in (0.02, 0.1, 0.4)]
    for name in AGREEMENTS:
        assert 1.0 > steps[0][name] > steps[1][name] > steps[2][name], name
    for name in ("gaze_rmse", "main_sequence_distance", "speed_distance", "speed_log_ratio"):
        assert 0.0 < steps[0][name] < steps[1][name] < steps[2][name], name
    assert steps[0]["fixation_kappa"] > 0.9
    # Two axes, each with that deviation.
    assert steps[1]["gaze_rmse"] == pytest.approx(0.1 * np.sqrt(2), rel=0.02)


def test_shuffled_time_destroys_everything_but_the_places(study):
    found = values(study, shuffled(study))
    assert abs(found["fixation_kappa"]) < 0.05
    assert abs(found["aoi_kappa"]) < 0.05
    assert found["fixation_event_f1"] < 0.05
    assert found["impossible_saccades_released"] > 0.5 > found["impossible_saccades_original"]


def test_a_slower_stream_is_held_until_its_next_sample(study):
    slow = every(study, 3)
    recording = study.data.filter(person="P01", recording=study.data["recording"][0])
    pair = next(pairs(study, slow))
    assert pair.match.tolist() == [n // 3 for n in range(len(recording))]
    found = values(study, slow)
    assert 0.5 < found["aoi_kappa"] < 1.0
    assert found["main_sequence_exponent_released"] is not None


def test_what_is_not_released_is_lost(study):
    late = pl.col("time_ms") >= pl.col("time_ms").max().over(KEY) / 2
    half = replace(study, data=study.data.filter(~late))
    found = values(study, half)
    assert found["lost"] == pytest.approx(0.5, abs=0.02)
    # Half of the gaze is exact but for the last sample, which holds for 75 ms; nothing else agrees.
    assert found["gaze_rmse"] < 0.1
    assert found["aoi_agreement"] == pytest.approx(1 - found["lost"], abs=0.005)
    # All of what is found and half of what there is.
    assert found["fixation_f1"] == pytest.approx(2 / 3, abs=0.03)


def test_a_stream_that_stands_still_has_no_speed(study):
    still = with_data(study, pl.col("x", "y").first().over(KEY))
    found = values(study, still)
    assert found["speed_log_ratio"] is None
    assert found["main_sequence_distance"] is None
    assert found["impossible_saccades_released"] is None
    assert found["fixation_kappa"] < 0.05


def test_figures_are_those_of_independent_software(study):
    released = jittered(study, 0.15)
    found = stream_measures(study, released).recordings
    saccades = event_features(study, "saccades").data
    for pair, row in zip(pairs(study, released), found.iter_rows(named=True), strict=True):
        ours, theirs = (s.recording for s in (pair.original, pair.released))
        seen = pair.original.seen
        moved = np.hypot(theirs["x"] - ours["x"], theirs["y"] - ours["y"])[seen]
        assert row["gaze_rmse"] == pytest.approx(np.sqrt(np.mean(moved**2)))
        speeds = []
        for recording in (ours, theirs):
            speed = np.hypot(np.diff(recording["x"]), np.diff(recording["y"]))
            speed = speed / np.diff(recording.time_ms) * 1000
            # Over a single lost sample too, as an event goes on across it.
            speeds.append(speed[np.isfinite(speed)])
        assert row["speed_distance"] == pytest.approx(wasserstein_distance(*speeds), rel=0.1)
        own = saccades.filter(person=row["person"], recording=row["recording"])
        peak, amplitude = (own[f"saccade_{n}"].log().to_numpy() for n in ("speed_max", "amplitude"))
        expected = linregress(amplitude, peak).slope
        # Amplitudes of event features are never below the least that is detected.
        assert row["main_sequence_exponent_original"] == pytest.approx(expected, rel=0.05)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=50))
def test_kappa_and_f1_are_those_of_scikit_learn(said):
    one, other = (np.array(column) for column in zip(*said, strict=True))
    found = kappa(one, other)
    if found is None:
        assert len(np.unique(np.concatenate([one, other]))) == 1
    else:
        assert found == pytest.approx(cohen_kappa_score(one, other))
    expected = f1_score(one > 1, other > 1, zero_division=np.nan)
    assert f1(one > 1, other > 1) == (None if np.isnan(expected) else pytest.approx(expected))


spans = st.lists(st.floats(1, 100), max_size=20).map(
    # Pauses and events in turn, so that events are apart and in order.
    lambda lengths: np.cumsum(lengths)[: len(lengths) // 2 * 2].reshape(-1, 2)
)


@given(spans, spans)
def test_events_are_matched_as_in_a_plain_loop(ours, theirs):
    matched = 0
    for onset, offset in ours:
        for begin, end in theirs:
            shared = min(offset, end) - max(onset, begin)
            matched += shared > 0.5 * (max(offset, end) - min(onset, begin))
    count = len(ours) + len(theirs)
    expected = 2 * matched / count if count else None
    assert event_f1((ours[:, 0], ours[:, 1]), (theirs[:, 0], theirs[:, 1])) == expected


def test_areas_are_in_the_units_of_the_study(study):
    middle = study.data["x"].median()
    left = [[-1e6, -1e6], [middle, -1e6], [middle, 1e6], [-1e6, 1e6]]
    moved = with_data(study, pl.col("x") + 1e4)
    found = stream_measures(study, moved, aois=[left])
    assert found.aois == "polygons: 1"
    assert found.measures["aoi_agreement"].value == pytest.approx(0.5, abs=0.01)


def test_a_screen_of_known_size_is_the_grid(study):
    pixels = replace(
        study, units="px", screen=Screen(1920, 1080, 0.53, 0.3, 0.65), xy_origin="top-left"
    )
    pixels = with_data(pixels, pl.col("x", "y") * 35.0)
    found = stream_measures(pixels, with_data(pixels, pl.col("x") + 480.0))
    assert found.aois == "4 × 3 grid of the screen"
    assert found.units == "deg"
    # A whole column further, except beyond the last one.
    assert found.measures["aoi_agreement"].value < 0.2


def test_the_middle_of_the_screen_may_be_zero(study):
    corner = replace(study, units="fraction", screen=None, xy_origin="bottom-left")
    corner = with_data(corner, pl.col("x", "y") / 40.0 + 0.5)
    centred = with_data(replace(corner, xy_origin="centre"), pl.col("x", "y") - 0.5)
    found = [
        values(one, with_data(one, pl.col("x") + 0.1))["aoi_agreement"] for one in (corner, centred)
    ]
    assert found[0] == pytest.approx(found[1], abs=1e-3)
    assert 0.3 < found[0] < 0.9


def test_twice_as_fast_is_a_logarithm_of_two_away():
    amplitude = np.geomspace(1.0, 20.0, 30)
    slow, fast = (Saccades(amplitude, v * amplitude**0.6, amplitude) for v in (90.0, 180.0))
    assert main_sequence_distance(slow, fast) == pytest.approx(np.log(2.0))
    assert main_sequence_distance(fast, slow) == pytest.approx(np.log(2.0))


def test_a_main_sequence_is_found_and_needs_some_saccades():
    amplitude = np.geomspace(1.0, 20.0, 30)
    mechanism = main_sequence(Saccades(amplitude, 90.0 * amplitude**0.6, amplitude))
    assert mechanism is not None
    assert (np.exp(mechanism.log_scale), mechanism.exponent) == pytest.approx((90.0, 0.6))
    assert main_sequence(Saccades(amplitude[:5], amplitude[:5], amplitude[:5])) is None
    alike = np.full(30, 5.0)
    assert main_sequence(Saccades(alike, amplitude, alike)) is None


def test_saccades_that_no_eye_makes_are_counted():
    saccades = Saccades(
        np.array([5.0, 50.0, 5.0, 5.0]),
        np.array([200.0, 200.0, 2000.0, 200.0]),
        np.array([40.0, 40.0, 40.0, 400.0]),
    )
    assert impossible(saccades, "deg") == 0.75


def test_both_eyes_are_compared_with_themselves(study):
    left = study.data.with_columns(pl.lit("left").alias("eye"))
    right = left.with_columns(pl.col("x", "y") + 1.0, pl.lit("right").alias("eye"))
    unseen = pl.int_range(pl.len()) % 10 == 0
    half_right = right.with_columns(pl.when(~unseen).then(pl.col("x", "y")).name.keep())
    half_left = left.with_columns(pl.when(~unseen).then(pl.col("x", "y")).name.keep())
    original = replace(study, data=pl.concat([left, half_right]))
    released = replace(study, data=pl.concat([half_left, right]))
    assert values(original, released)["gaze_rmse"] == 0.0
    with pytest.raises(InputError, match="no left eye in the release"):
        stream_measures(original, replace(study, data=right))


def test_limits_are_over_people_and_json_can_hold_them(study):
    found = stream_measures(study, jittered(study, 0.1))
    per_person = found.recordings.group_by("person").agg(pl.col("fixation_kappa").mean())
    one = found.measures["fixation_kappa"]
    assert one.value == pytest.approx(per_person["fixation_kappa"].mean())
    assert one.low < one.value < one.high
    assert one.people == 5
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["measures"]["gaze_rmse"]["unit"] == "deg"
    assert told["measures"]["speed_distance"]["unit"] == "deg/s"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: replace(s, data=s.data.filter(pl.col("person") != "P02")), "person P02, .* not"),
        (lambda s: with_data(s, pl.col("person") + "x"), "not in the release"),
        (lambda s: replace(s, units="px"), "units of the original is deg, of the release px"),
        (lambda s: replace(s, kind="features"), "the release is a study of features"),
        (lambda s: with_data(s, pl.col("time_ms") + 1e9), "nothing in common"),
        (lambda s: replace(s, data=s.data.drop("x")), "no column x"),
    ],
)
def test_what_cannot_be_compared_is_refused(study, change, says):
    released = change(study)
    released = replace(released, people=released.data.select("person").unique())
    with pytest.raises(InputError, match=says):
        stream_measures(study, released)


@pytest.mark.parametrize(
    "aois", [[], [[[0, 0], [1, 1]]], [[0, 1, 2]], [[[0, 0], [1, 1], [0, np.nan]]]]
)
def test_areas_need_corners(study, aois):
    with pytest.raises(InputError, match="area"):
        stream_measures(study, study, aois=aois)


def test_real_streams_degrade_as_made_up_ones(real_readers):
    few = real_readers.people["person"][:3].to_list()
    study = real_readers.derive(data=real_readers.data.filter(pl.col("person").is_in(few)))
    same, little, much = (values(study, jittered(study, d)) for d in (0.0, 0.001, 0.02))
    assert same["fixation_kappa"] == 1.0
    assert 0.9 < little["fixation_kappa"] < 1.0
    assert much["fixation_kappa"] < 0.1
    # Uncalibrated pupils at 30 Hz: the exponent of eyes is about 0.5 to 0.8.
    assert 0.5 < same["main_sequence_exponent_original"] < 0.8
    assert much["impossible_saccades_released"] > 10 * same["impossible_saccades_original"]

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import eyelid
from eyelid.errors import InputError
from eyelid.gaze.events import METHODS, detect_events
from eyelid.gaze.features import event_feature_set, event_features
from eyelid.gaze.features.catalogue import SCALES
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen
from eyelid.io import read, write

KINDS = ["fixations", "saccades"]
fixtures_are_stateless = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
any_gaze = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "units": st.sampled_from(list(SCALES)),
        "rate_hz": st.sampled_from([12.0, 30.0, 60.0, 250.0, 1000.0]),
        "hold": st.integers(2, 400),
        "size": st.sampled_from([1e-3, 0.1, 10.0, 1e3, 1e6]),
        "noise": st.sampled_from([0.0, 1e-4, 0.05, 2.0]),
        "lost": st.floats(0, 0.6),
        "jitter": st.sampled_from([0.0, 0.5]),
        "pause_s": st.sampled_from([0.0, 0.2, 5.0]),
    }
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate_hz", [30.0, 1000.0])
def test_simulated_reading_equals_a_plain_computation(kind, rate_hz, plain, same_as_plain):
    study = simulate(people=1, tasks=("comic",), rate_hz=rate_hz, minutes=0.4, seed=4)
    study = study.derive(screen=None)
    table = event_features(study, kind)
    rows = table.data.to_dicts()
    reference = plain[kind](study)
    assert len(rows) == len(reference) > 20
    for row, expected in zip(rows, reference, strict=True):
        assert row["time_ms"] == expected["time_ms"]
        same_as_plain(row, expected, table.features)


@pytest.mark.parametrize("kind", KINDS)
@fixtures_are_stateless
@given(gaze=any_gaze)
def test_any_gaze_equals_a_plain_computation(kind, gaze, random_study, plain, same_as_plain):
    study = random_study(**gaze, seconds=3.0)
    reference = plain[kind](study)
    if not reference:
        with pytest.raises(InputError, match="without such an event"):
            event_features(study, kind)
        return
    table = event_features(study, kind)
    for row, expected in zip(table.data.to_dicts(), reference, strict=True):
        same_as_plain(row, expected, table.features)
    for f in table.features:
        assert table.data[f.name].drop_nulls().is_between(f.lower, f.upper).all(), f.name


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_there_is_one_row_an_event_with_any_detector(kind, method):
    study = simulate(people=2, tasks=("comic",), rate_hz=250.0, minutes=0.5, seed=2)
    table = event_features(study, kind, method)
    found = detect_events(study, method).filter(pl.col("name") == kind[:-1])
    assert table.data["time_ms"].to_list() == found["onset_ms"].to_list()
    assert table.data["person"].to_list() == found["person"].to_list()
    assert (table.step_ms, table.window_ms) == (None, None)


def test_a_single_fixation_has_nothing_before_it(study_of):
    time_ms = np.arange(600) * 10.0
    still = np.full(600, 5.0)
    row = event_features(study_of(time_ms, still, still)).data.row(0, named=True)
    assert row["fixation_x"] == row["fixation_y"] == 5.0
    assert row["fixation_path_length"] == row["fixation_x_std"] == 0.0
    undefined = ["previous_distance", "previous_angle", "x_skewness", "y_kurtosis"]
    assert [row[f"fixation_{name}"] for name in undefined] == [None] * 4


def test_a_saccade_between_two_samples_has_a_speed_but_no_acceleration(study_of):
    time_ms = np.arange(60) * 20.0
    x = np.repeat([0.0, 3.0], 30)
    row = event_features(study_of(time_ms, x, x * 0), "saccades").data.row(0, named=True)
    assert row["saccade_amplitude"] == 3.0
    assert row["saccade_angle"] == 0.0
    assert row["saccade_speed_max"] == pytest.approx(150.0)
    assert row["saccade_average_speed"] == pytest.approx(150.0)
    assert row["saccade_ratio"] == pytest.approx(150.0 / 0.02)
    assert row["saccade_speed_std"] == 0.0
    assert row["saccade_acceleration_mean"] is None
    assert row["saccade_speed_kurtosis"] is None


def test_angles_turn_from_x_towards_y(study_of):
    time_ms = np.arange(120) * 10.0
    x = np.repeat([0.0, 5.0, 5.0, 0.0], 30)
    y = np.repeat([0.0, 0.0, 5.0, 5.0], 30)
    table = event_features(study_of(time_ms, x, y), "saccades").data
    assert table["saccade_angle"].to_list() == pytest.approx([0.0, 90.0, 180.0])
    assert table["saccade_previous_angle"].to_list() == [None, pytest.approx(90), pytest.approx(90)]
    fixations = event_features(study_of(time_ms, x, y)).data
    assert fixations["fixation_previous_angle"].drop_nulls().to_list() == pytest.approx(
        [0.0, 90.0, 180.0]
    )


def test_a_head_that_turns_round_twice_looks_within_half_a_turn(study_of):
    time_ms = np.arange(120) * 10.0
    x = np.repeat([0.0, 170.0, 190.0, 740.0], 30)
    table = event_features(study_of(time_ms, x, x * 0)).data
    assert table["fixation_x"].to_list() == pytest.approx([0.0, 170.0, -170.0, 20.0])
    assert table["fixation_previous_distance"][2] == pytest.approx(20.0)


def test_where_a_fixation_can_be_follows_from_the_screen():
    def place(units, screen=None, xy_origin=None):
        x, y = event_feature_set("fixations", units, screen, xy_origin)[1:3]
        return (x.lower, x.upper), (y.lower, y.upper)

    screen = Screen(1000, 500, 1.0, 0.5, 0.5)
    assert place("px", screen, "top-left") == ((0, 1000), (0, 500))
    assert place("px", screen, "centre") == ((-500, 500), (-250, 250))
    assert place("px") == ((0, 1920), (0, 1080))
    assert place("fraction") == place("normalised") == ((0, 1), (0, 1))
    assert place("deg") == ((-180, 180), (-90, 90))
    assert place("deg", screen)[0] == pytest.approx((-45, 45))


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_without_events_is_refused(kind, study_of):
    time_ms = np.arange(100) * 10.0
    lost = np.full(100, np.nan)
    with pytest.raises(
        InputError, match=r"no recording can be summarised, of 1 .1 without such an event"
    ):
        event_features(study_of(time_ms, lost, lost), kind)


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match=r"unknown kind of event features 'saccade'.*saccades"):
        event_features(simulate(people=1, minutes=0.1, seed=1), "saccade")


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_cuts_to_one_length_and_numbers_the_rows(kind, tmp_path):
    table = event_features(simulate(people=3, tasks=("comic",), minutes=0.3, seed=1), kind)
    rows = table.recordings["rows"]
    assert rows.n_unique() > 1
    write(table.study(), tmp_path / "events")
    done = eyelid.release(tmp_path / "events", tmp_path / "out", mechanism="laplace", epsilon=1.0)
    assert done.certificate.person_level.holds
    released = read(tmp_path / "out").data
    assert released.null_count().sum_horizontal()[0] == 0
    for _, one in released.group_by("person", "recording"):
        assert one["time_ms"].to_list() == list(range(20))


def test_places_in_degrees_from_a_corner_are_not_cut_off(simulated):
    table = event_features(simulated, "fixations")
    for name in ("fixation_x", "fixation_y"):
        feature = next(f for f in table.features if f.name == name)
        assert (table.data[name] == feature.upper).mean() < 0.01
        assert feature.lower == 0.0

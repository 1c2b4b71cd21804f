from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.events import METHODS
from eyelid.gaze.events.blinks import MAX_BLINK_MS
from eyelid.gaze.features import window_features
from eyelid.gaze.features.catalogue import MAX_FIXATION_MS, SCALES
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Origin

# What the default detector does for windows: it follows events across blinks.
BRIDGED = {"max_gap_ms": MAX_BLINK_MS}

any_gaze = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "units": st.sampled_from(list(SCALES)),
        "rate_hz": st.sampled_from([12.0, 30.0, 60.0, 250.0, 1000.0]),
        "hold": st.integers(1, 400),
        "size": st.sampled_from([0.0, 1e-3, 0.1, 10.0, 1e3, 1e6]),
        "noise": st.sampled_from([0.0, 1e-4, 0.05, 2.0]),
        "lost": st.floats(0, 1),
        "jitter": st.sampled_from([0.0, 0.5]),
        "pause_s": st.sampled_from([0.0, 0.2, 5.0]),
    }
)
fixtures_are_stateless = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.parametrize(
    ("rate_hz", "minutes", "windows"), [(30.0, 1.0, 14), (60.0, 1.0, 14), (1000.0, 0.4, 4)]
)
def test_simulated_reading_equals_a_plain_computation(
    rate_hz, minutes, windows, plain, same_as_plain
):
    study = simulate(people=1, tasks=("comic",), rate_hz=rate_hz, minutes=minutes, seed=4)
    table = window_features(study, window_s=10.0, step_s=2.5)
    assert len(table.data) >= windows
    for row in table.data.iter_rows(named=True):
        same_as_plain(
            row, plain["window"](study, row["time_ms"], 10_000.0, **BRIDGED), table.features
        )


@fixtures_are_stateless
@given(gaze=any_gaze, window_s=st.sampled_from([1.0, 2.5, 6.0]))
def test_any_gaze_equals_a_plain_computation(gaze, window_s, random_study, plain, same_as_plain):
    study = random_study(**gaze)
    table = window_features(study, window_s=window_s, step_s=1.7)
    for row in table.data.iter_rows(named=True):
        reference = plain["window"](study, row["time_ms"], window_s * 1000.0, **BRIDGED)
        same_as_plain(row, reference, table.features)


@fixtures_are_stateless
@given(gaze=any_gaze, window_s=st.sampled_from([1.0, 2.0, 2.5]))
def test_values_never_leave_the_bounds(gaze, window_s, random_study):
    table = window_features(random_study(**gaze, seconds=3.0), window_s=window_s)
    for feature in table.features:
        column = table.data[feature.name]
        assert not column.is_nan().any()
        assert column.drop_nulls().is_between(feature.lower, feature.upper).all(), feature.name


@pytest.mark.parametrize("method", METHODS)
def test_every_detector_gives_features(method):
    study = simulate(people=1, tasks=("comic",), rate_hz=250.0, minutes=0.6, seed=2)
    table = window_features(study, method=method)
    assert len(table.names) == 52
    assert table.data["fixation_rate"].min() > 0.5
    assert table.data["saccade_rate"].min() > 0.5


def test_bounds_depend_on_public_facts_only():
    one, other = (simulate(people=2, minutes=0.6, seed=seed) for seed in (1, 2))
    assert window_features(one, 10.0).features == window_features(other, 10.0).features


def test_windows_start_on_a_grid_that_is_the_same_for_everybody():
    study = simulate(people=2, tasks=("comic",), minutes=1.0, seed=1)
    moved = study.derive(data=study.data.with_columns(pl.col("time_ms") + 1234567.0))
    for table in (window_features(study), window_features(moved)):
        for _, rows in table.data.group_by("person", "recording"):
            assert rows["time_ms"].to_list() == [500.0 * i for i in range(len(rows))]
    assert (table.step_ms, table.window_ms) == (500.0, 30_000.0)


def test_a_recording_of_exactly_one_window_gives_one_row(study_of):
    time_ms = np.arange(1800) * 1000 / 60
    assert len(window_features(study_of(time_ms, time_ms * 0, time_ms * 0)).data) == 1


def test_people_and_origin_are_inherited():
    study = simulate(people=2, tasks=("comic",), minutes=1.0, seed=1)
    table = window_features(study.derive(origin=Origin("them")))
    assert table.origin == Origin("them")
    assert table.people.equals(study.people)
    assert table.simulated


def test_a_study_shorter_than_a_window_is_refused():
    study = simulate(people=1, tasks=("image",), minutes=0.2, seed=1)
    with pytest.raises(
        InputError, match=r"1 shorter than 30 s; the longest lasts 11\.7 s.*`window_s`"
    ):
        window_features(study)


def test_shorter_windows_are_advised_only_where_there_are_any(study_of):
    time_ms = np.arange(5) * 2.0
    with pytest.raises(InputError, match=r"longest lasts 0\.01 s\): a window lasts at least 1 s"):
        window_features(study_of(time_ms, time_ms * 0, time_ms * 0))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"window_s": 0.0}, "window_s must be at least 1, got 0"),
        ({"step_s": 0.0}, "step_s must be positive, got 0"),
        ({"step_s": float("nan")}, "step_s must be positive, got nan"),
        ({"method": "x"}, "unknown method 'x'"),
        ({"magic": 1.0}, "unknown setting of robust 'magic'"),
    ],
)
def test_says_what_is_wrong(arguments, text, study_of):
    time_ms = np.arange(4000) * 10.0
    with pytest.raises(InputError, match=text):
        window_features(study_of(time_ms, time_ms * 0, time_ms * 0), **arguments)


def test_lost_gaze_counts_nothing_and_defines_nothing(study_of):
    time_ms = np.arange(2000) * 1000 / 60
    lost = np.full(2000, np.nan)
    table = window_features(study_of(time_ms, lost, lost, pupil=lost))
    for feature in table.features:
        column = table.data[feature.name]
        if feature.name.endswith("_rate") or feature.name.startswith("wb"):
            assert (column == 0).all(), feature.name
        else:
            assert column.null_count() == len(column), feature.name


def test_constant_gaze_is_one_long_fixation(study_of):
    time_ms = np.arange(2000) * 1000 / 60
    still = np.full(2000, 5.0)
    row = window_features(study_of(time_ms, still, still, pupil=still)).data.row(0, named=True)
    assert row["fixation_rate"] == pytest.approx(1 / 30)
    assert row["fixation_duration_mean"] == row["fixation_duration_max"] == MAX_FIXATION_MS
    assert row["pupil_mean_mean"] == 5.0
    assert row["fixation_x_var_mean"] == row["pupil_mean_var"] == row["saccade_rate"] == 0.0
    assert row["saccade_amplitude_mean"] is None
    assert row["blink_duration_mean"] is None
    assert row["wb1_nonzero"] == row["wb4_var"] == 0.0


def test_a_fixation_goes_on_across_a_blink_and_an_eye_that_went_elsewhere_made_a_saccade(study_of):
    time_ms = np.arange(2000) * 1000 / 60
    x = np.zeros(2000)
    x[500:512] = np.nan
    x[1000:1012] = np.nan
    x[1006:] += np.where(np.isnan(x[1006:]), 0.0, 5.0)
    row = window_features(study_of(time_ms, x, x * 0)).data.row(0, named=True)
    assert row["saccade_rate"] == pytest.approx(1 / 30)
    assert row["fixation_rate"] == pytest.approx(2 / 30)
    assert row["blink_rate"] == pytest.approx(2 / 30)
    apart = window_features(study_of(time_ms, x, x * 0), max_gap_ms=75.0).data.row(0, named=True)
    assert apart["saccade_rate"] == 0.0
    assert apart["fixation_rate"] == pytest.approx(3 / 30)


def test_without_a_pupil_there_are_no_pupil_features(study_of):
    time_ms = np.arange(2000) * 1000 / 60
    table = window_features(study_of(time_ms, time_ms * 0, time_ms * 0))
    assert len(table.names) == 48
    assert not any(name.startswith("pupil") for name in table.names)


def test_directions_in_space_give_features_in_degrees(study_of):
    from eyelid.gaze.geometry import direction

    study = simulate(people=1, tasks=("comic",), minutes=0.7, seed=3)
    turned = direction(study.data["x"].to_numpy(), study.data["y"].to_numpy())
    vectors = {f"gaze_{axis}": v for axis, v in zip("xyz", turned, strict=True)}
    data = study.data.drop("x", "y").with_columns(
        **{name: pl.Series(values).fill_nan(None) for name, values in vectors.items()}
    )
    flat = window_features(study)
    space = window_features(study.derive(data=data, units=None, screen=None))
    assert space.features == flat.features
    for name in ("fixation_rate", "saccade_rate", "wb1_max", "saccade_amplitude_mean"):
        assert space.data[name].to_list() == pytest.approx(flat.data[name].to_list(), rel=1e-3)

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.windows import MAX_FIXATION_MS, SCALES, window_feature_set, window_features

UNITS = list(SCALES)


def study_of(time_ms, x, y, units="deg", **columns) -> Study:
    keys = {name: ["a"] * len(time_ms) for name in ("person", "recording", "task", "stimulus")}
    return Study(
        kind="samples",
        data=pl.DataFrame(keys | {"time_ms": time_ms, "x": x, "y": y} | columns),
        people=pl.DataFrame({"person": ["a"]}),
        units=units,
    )


def plain_window(study: Study, start_ms: float, window_ms: float) -> dict[str, float]:
    """One window of a study of one recording, straight from the definitions."""
    scale = SCALES[study.units]
    recording = next(study.recordings())
    time_ms, x, y = recording.time_ms, recording["x"], recording["y"]
    rows = detect_events(study)
    rows = rows.filter(pl.col("onset_ms") >= start_ms, pl.col("onset_ms") < start_ms + window_ms)
    amplitudes, rights, fixation_ms, blink_ms, inside = [], [], [], [], []
    for name, onset_ms, offset_ms in rows.select("name", "onset_ms", "offset_ms").iter_rows():
        i, j = int(np.searchsorted(time_ms, onset_ms)), int(np.searchsorted(time_ms, offset_ms))
        if name == "saccade":
            rights.append(x[j] - x[i])
            amplitudes.append(min(math.hypot(x[j] - x[i], y[j] - y[i]), scale.max_amplitude))
        elif name == "blink":
            blink_ms.append(offset_ms - onset_ms)
        else:
            fixation_ms.append(min(offset_ms - onset_ms, MAX_FIXATION_MS))
            samples = np.array([recording[c][i : j + 1] for c in ("x", "y", "pupil")])
            samples = samples[:, np.isfinite(samples).all(axis=0)]
            spread = np.minimum(samples[:2].var(axis=1), scale.max_extent**2 / 4)
            inside.append((*spread, samples[2].var(), samples[2].mean()))

    def mean(values):
        return sum(values) / len(values) if len(values) else math.nan

    def var(values):
        return mean([(v - mean(values)) ** 2 for v in values])

    amplitudes, rights, inside = np.array(amplitudes), np.array(rights), np.array(inside)
    x_var, y_var, pupil_var, pupil_mean = inside.T
    groups = {
        "small": amplitudes < scale.small,
        "large": amplitudes >= scale.small,
        "positive": rights > 0,
        "negative": rights < 0,
    }
    seconds = window_ms / 1000
    return {
        "fixation_rate": len(fixation_ms) / seconds,
        "saccade_rate": len(amplitudes) / seconds,
        **{f"{kind}_saccade_rate": which.sum() / seconds for kind, which in groups.items()},
        "saccade_fixation_ratio": len(amplitudes) / len(fixation_ms),
        **{f"{kind}_saccade_ratio": which.mean() for kind, which in groups.items()},
        "saccade_amplitude_mean": mean(amplitudes),
        "saccade_amplitude_var": var(amplitudes),
        "saccade_amplitude_max": max(amplitudes),
        "fixation_duration_mean": mean(fixation_ms),
        "fixation_duration_var": var(fixation_ms),
        "fixation_duration_max": max(fixation_ms),
        "fixation_x_var_mean": mean(x_var),
        "fixation_y_var_mean": mean(y_var),
        "fixation_x_var_var": var(x_var),
        "fixation_y_var_var": var(y_var),
        "pupil_mean_mean": mean(pupil_mean),
        "pupil_mean_var": var(pupil_mean),
        "pupil_var_mean": mean(pupil_var),
        "pupil_var_var": var(pupil_var),
        "blink_duration_mean": mean(blink_ms),
        "blink_duration_var": var(blink_ms),
        "blink_rate": len(blink_ms) / seconds,
    }


@pytest.mark.parametrize("rate_hz", [30.0, 60.0, 1000.0])
def test_equals_a_plain_computation_window_by_window(rate_hz):
    study = simulate(people=1, tasks=("comic",), rate_hz=rate_hz, minutes=1.0, seed=4)
    table = window_features(study, window_s=10.0, step_s=2.5)
    assert len(table.data) >= 14
    for row in table.data.iter_rows(named=True):
        plain = plain_window(study, row["time_ms"], 10_000.0)
        assert list(plain) == table.names
        for name, value in plain.items():
            found = math.nan if row[name] is None else row[name]
            assert found == pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True), name


def test_features_have_the_published_order_and_honest_bounds():
    features = window_feature_set("deg", 30.0)
    assert len(features) == 28
    assert (features[0].name, features[14].name) == ("fixation_rate", "fixation_duration_mean")
    assert (features[21].name, features[27].name) == ("pupil_mean_mean", "blink_rate")
    for units in UNITS:
        for feature in window_feature_set(units, 1.0):
            assert feature.lower < feature.upper
            assert feature.definition
            assert feature.unit


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


def test_a_recording_of_exactly_one_window_gives_one_row():
    time_ms = np.arange(1800) * 1000 / 60
    assert len(window_features(study_of(time_ms, time_ms * 0, time_ms * 0)).data) == 1


def test_people_and_origin_are_inherited():
    study = simulate(people=2, tasks=("comic",), minutes=1.0, seed=1)
    table = window_features(study.derive(origin=Origin("them")))
    assert table.origin == Origin("them")
    assert table.people.equals(study.people)
    assert table.simulated


def test_a_recording_shorter_than_a_window_is_named():
    study = simulate(people=1, tasks=("image",), minutes=0.2, seed=1)
    with pytest.raises(InputError, match=r"recording image of person P01 lasts 1.* window of 30 s"):
        window_features(study)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"window_s": 0.0}, "window_s must be at least 1, got 0"),
        ({"step_s": 0.0}, "step_s must be positive, got 0"),
        ({"step_s": float("nan")}, "step_s must be positive, got nan"),
        ({"method": "x"}, "unknown method 'x'"),
    ],
)
def test_says_what_is_wrong(arguments, text):
    time_ms = np.arange(4000) * 10.0
    with pytest.raises(InputError, match=text):
        window_features(study_of(time_ms, time_ms * 0, time_ms * 0), **arguments)


def test_lost_gaze_has_rates_of_zero_and_nothing_else():
    time_ms = np.arange(2000) * 1000 / 60
    lost = np.full(2000, np.nan)
    table = window_features(study_of(time_ms, lost, lost, pupil=lost))
    for feature in table.features:
        column = table.data[feature.name]
        if feature.name.endswith("_rate"):
            assert (column == 0).all()
        else:
            assert column.null_count() == len(column), feature.name


def test_constant_gaze_is_one_long_fixation():
    time_ms = np.arange(2000) * 1000 / 60
    still = np.full(2000, 5.0)
    row = window_features(study_of(time_ms, still, still, pupil=still)).data.row(0, named=True)
    assert row["fixation_rate"] == pytest.approx(1 / 30)
    assert row["fixation_duration_mean"] == row["fixation_duration_max"] == MAX_FIXATION_MS
    assert row["pupil_mean_mean"] == 5.0
    assert row["fixation_x_var_mean"] == row["pupil_mean_var"] == row["saccade_rate"] == 0.0
    assert row["saccade_amplitude_mean"] is None
    assert row["blink_duration_mean"] is None


def test_without_a_pupil_there_are_no_pupil_features():
    time_ms = np.arange(2000) * 1000 / 60
    table = window_features(study_of(time_ms, time_ms * 0, time_ms * 0))
    assert len(table.names) == 24
    assert not any(name.startswith("pupil") for name in table.names)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    units=st.sampled_from(UNITS),
    rate_hz=st.sampled_from([30.0, 60.0, 250.0, 1000.0]),
    hold=st.integers(1, 400),
    size=st.sampled_from([0.0, 1e-3, 0.1, 10.0, 1e3, 1e6]),
    lost=st.floats(0, 1),
    window_s=st.sampled_from([1.0, 2.0, 2.5]),
)
def test_values_never_leave_the_bounds(seed, units, rate_hz, hold, size, lost, window_s):
    rng = np.random.default_rng(seed)
    count = int(3 * rate_hz)
    steps = rng.normal(0, size, (3, count // hold + 1)).repeat(hold, axis=1)[:, :count]
    steps[:, rng.random(count // hold + 1).repeat(hold)[:count] < lost] = np.nan
    study = study_of(
        np.arange(count) * 1000 / rate_hz, steps[0], steps[1], units=units, pupil=steps[2]
    )
    table = window_features(study, window_s=window_s)
    for feature in table.features:
        column = table.data[feature.name]
        assert not column.is_nan().any()
        assert column.drop_nulls().is_between(feature.lower, feature.upper).all(), feature.name

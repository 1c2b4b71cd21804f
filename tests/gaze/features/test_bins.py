"""Bins against a plain loop over events, their caps, and what they are to windows."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events, lost_in
from eyelid.gaze.events.blinks import MAX_BLINK_MS
from eyelid.gaze.features import window_features
from eyelid.gaze.features.bins import bin_streams, bins_of_window, stream_set, units_of
from eyelid.gaze.features.catalogue import MAX_FIXATION_MS, PUPILS, SCALES, window_feature_set
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Feature, Origin

ALL = tuple(stream.name for stream in stream_set())


def plain_bins(study, bins, step_ms, max_events, max_blinks):
    """Every stream of the only recording, event by event."""
    recording = next(study.recordings())
    time_ms, lost = recording.time_ms.tolist(), lost_in(recording).tolist()
    x, y, pupil = (recording[name].tolist() for name in ("x", "y", "pupil"))
    scale = SCALES[study.units]
    sizes = PUPILS[study.pupil_unit or scale.pupil_unit]
    bounds = {f.name: (f.lower, f.upper) for f in window_feature_set(study.units)}
    rows = [dict.fromkeys(ALL, 0.0) for _ in range(bins)]
    seen = {}

    def variance(values):
        mean = math.fsum(values) / len(values)
        return math.fsum((v - mean) ** 2 for v in values) / len(values)

    def add(row, name, value):
        low, high = bounds[f"{name}_mean"]
        off = min(max(value, low), high) - (low + high) / 2
        row[f"{name}_sum"] += off
        row[f"{name}_squares"] += off**2

    events = detect_events(study, max_gap_ms=MAX_BLINK_MS)
    for kind, onset, offset in events.select("name", "onset_ms", "offset_ms").iter_rows():
        place = int((onset - time_ms[0]) // step_ms)
        seen[kind, place] = seen.get((kind, place), 0) + 1
        most = max_blinks if kind == "blink" else max_events
        if place >= bins or seen[kind, place] > most:
            continue
        row, first, last = rows[place], time_ms.index(onset), time_ms.index(offset)
        row[f"{kind}s"] += 1
        if kind == "blink":
            add(row, "blink_duration", offset - onset)
        elif kind == "saccade":
            right = x[last] - x[first]
            amplitude = min(math.hypot(right, y[last] - y[first]), scale.max_amplitude)
            row["small_saccades" if amplitude < scale.small else "large_saccades"] += 1
            row["positive_saccades"] += right > 0
            row["negative_saccades"] += right < 0
            add(row, "saccade_amplitude", amplitude)
        else:
            inside = [k for k in range(first, last + 1) if not lost[k]]
            add(row, "fixation_duration", min(offset - onset, MAX_FIXATION_MS))
            add(row, "fixation_x_var", variance([x[k] for k in inside]))
            add(row, "fixation_y_var", variance([y[k] for k in inside]))
            diameters = [pupil[k] for k in inside if not math.isnan(pupil[k])]
            if diameters:
                row["pupil_fixations"] += 1
                mean = math.fsum(diameters) / len(diameters)
                add(row, "pupil_mean", min(max(mean, sizes.diameter[0]), sizes.diameter[1]))
                add(row, "pupil_var", variance(diameters))
    return rows


def same(table, reference):
    assert len(table.data) == len(reference)
    for stream in table.features:
        found = table.data[stream.name].to_numpy()
        expected = np.array([row[stream.name] for row in reference])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * stream.span)


@pytest.mark.parametrize(("max_events", "max_blinks"), [(1, 1), (2, 1), (3, 1), (20, 20)])
def test_simulated_reading_equals_a_plain_loop(max_events, max_blinks):
    study = simulate(people=1, tasks=("comic",), minutes=1.0, seed=4)
    table = bin_streams(study, ALL, max_events=max_events, max_blinks=max_blinks)
    same(table, plain_bins(study, len(table.data), 500.0, max_events, max_blinks))


any_gaze = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "units": st.sampled_from(list(SCALES)),
        "rate_hz": st.sampled_from([30.0, 60.0, 250.0]),
        "hold": st.integers(1, 100),
        "size": st.sampled_from([0.0, 0.1, 10.0, 1e6]),
        "noise": st.sampled_from([0.0, 1e-4, 0.05, 2.0]),
        "lost": st.floats(0, 1),
        "jitter": st.sampled_from([0.0, 0.5]),
        "pause_s": st.sampled_from([0.0, 5.0]),
    }
)


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(gaze=any_gaze, most=st.integers(1, 4), step_s=st.sampled_from([0.25, 0.5, 1.0]))
def test_any_gaze_equals_a_plain_loop_and_stays_in_bounds(gaze, most, step_s, random_study):
    study = random_study(**gaze)
    table = bin_streams(study, ALL, 2.0, step_s, max_events=most, max_blinks=most)
    same(table, plain_bins(study, len(table.data), step_s * 1000.0, most, most))
    for stream in table.features:
        column = table.data[stream.name]
        assert column.null_count() == 0
        assert column.is_between(stream.lower, stream.upper).all(), stream.name


def test_every_event_is_in_one_bin_only():
    study = simulate(people=1, tasks=("comic",), minutes=2.0, seed=9)
    table = bin_streams(study, ["fixations", "saccades", "blinks"], max_events=20, max_blinks=20)
    start = next(study.recordings()).time_ms[0]
    events = detect_events(study, max_gap_ms=MAX_BLINK_MS)
    events = events.filter(pl.col("onset_ms") - start < 500.0 * len(table.data))
    for name in ("fixation", "saccade", "blink"):
        assert table.data[f"{name}s"].sum() == events.filter(pl.col("name") == name).height


def test_an_event_on_an_edge_belongs_to_the_later_bin_and_the_later_window(study_of):
    time_ms = np.arange(0.0, 4000.0, 10.0)
    x = np.where(time_ms < 1500.0, 0.0, 8.0)
    study = study_of(time_ms, x, np.zeros_like(x), pupil=np.full_like(x, 4.0))
    fixations = bin_streams(study, ["fixations"], 1.0).data["fixations"].to_numpy()
    windows = window_features(study, 1.0).data["fixation_rate"].to_numpy()
    np.testing.assert_array_equal(fixations[1:] + fixations[:-1], windows)


def test_windows_have_one_bin_more_for_each_step_they_are_long():
    study = simulate(people=2, tasks=("comic", "newspaper"), minutes=1.0, seed=1)
    bins = bin_streams(study, ["fixations"])
    windows = window_features(study)
    assert (bins.recordings["rows"] - windows.recordings["rows"]).to_list() == [59] * 4
    assert bins.recordings["rows"].n_unique() > 1, "the recordings differ in length"
    assert bins.step_ms == bins.window_ms == 500.0
    assert bins.data["time_ms"].head(3).to_list() == [0.0, 500.0, 1000.0]


def test_whose_bins_these_are_is_kept():
    study = simulate(people=2, tasks=("comic",), minutes=0.6, seed=1).derive(origin=Origin("o"))
    table = bin_streams(study, ["blinks"])
    assert table.origin == Origin("o")
    assert table.simulated
    assert table.people.equals(study.people)


def test_lost_signal_is_zero_and_never_null(study_of):
    time_ms = np.arange(0.0, 4000.0, 10.0)
    nothing = np.full_like(time_ms, np.nan)
    table = bin_streams(study_of(time_ms, nothing, nothing, pupil=nothing), ALL, 1.0)
    assert (table.data.select(ALL).to_numpy() == 0).all()


def test_a_pupil_that_is_not_seen_is_not_counted(study_of):
    time_ms = np.arange(0.0, 4000.0, 10.0)
    x = np.repeat([0.0, 8.0, 0.0, 8.0], 100)
    pupil = np.where(time_ms < 1000.0, np.nan, 4.0)
    names = ["fixations", "pupil_fixations", "pupil_mean_sum", "pupil_mean_squares"]
    table = bin_streams(study_of(time_ms, x, x, pupil=pupil), names, 1.0)
    off = 4.0 - (1.5 + 9.0) / 2
    assert table.data.select(names).sum().row(0) == (4.0, 3.0, 3 * off, 3 * off**2)


def test_recordings_without_a_pupil_have_no_stream_of_it(study_of):
    time_ms = np.arange(0.0, 2000.0, 10.0)
    study = study_of(time_ms, np.zeros_like(time_ms), np.zeros_like(time_ms))
    assert bin_streams(study, ["fixations"], 1.0).names == ["fixations"]
    with pytest.raises(InputError, match="no pupil, which pupil_mean_sum is about"):
        bin_streams(study, ["pupil_mean_sum"], 1.0)


def test_a_recording_shorter_than_a_window_has_one_bin_without_a_value():
    study = simulate(people=1, tasks=("comic",), minutes=0.3, seed=1)
    assert bin_streams(study, ["fixations"]).data["fixations"].to_list() == [None]


def test_an_unknown_stream_is_refused():
    study = simulate(people=1, tasks=("comic",), minutes=0.6, seed=1)
    with pytest.raises(InputError, match="unknown stream 'fixation'"):
        bin_streams(study, ["fixation"])


@pytest.mark.parametrize(
    ("window_s", "step_s"), [(30.0, 0.7), (0.2, 0.5), (1.0, 0.0), (-1.0, 0.5), (np.inf, 0.5)]
)
def test_a_window_has_whole_bins(window_s, step_s):
    with pytest.raises(InputError, match="does not have whole bins"):
        bins_of_window(window_s, step_s)


@pytest.mark.parametrize("units", SCALES)
@pytest.mark.parametrize("pupil_unit", PUPILS)
def test_streams_say_their_units_whatever_their_caps(units, pupil_unit):
    assert units_of(stream_set(units, pupil_unit, 7, 4)) == (units, pupil_unit)


def test_other_features_say_no_units():
    with pytest.raises(InputError, match="no streams of bins"):
        units_of([Feature("heart_rate", "1/min", "beats", 40.0, 200.0)])


def test_bounds_grow_with_the_caps_and_hold_the_extremes():
    for one, other in pairwise(stream_set("deg", None, most, most) for most in (1, 2, 3)):
        assert all(
            b.upper > a.upper and b.lower <= a.lower for a, b in zip(one, other, strict=True)
        )
    streams = {s.name: s for s in stream_set("deg", None, 3, 1)}
    assert streams["saccades"].upper == 3.0
    assert streams["saccade_amplitude_sum"].upper == pytest.approx(3 * (40.0 - 0.4) / 2)
    assert streams["saccade_amplitude_squares"].upper == pytest.approx(3 * ((40.0 - 0.4) / 2) ** 2)

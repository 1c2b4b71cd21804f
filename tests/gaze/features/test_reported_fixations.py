"""Features of a study that has fixations and no samples, as most public reading data."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.features import event_features, window_features
from eyelid.gaze.features.quantities import usual_kind
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen, Study

ROWS = {
    "person": "a",
    "recording": "1",
    "time_ms": [0.0, 230.0, 500.0, 1500.0, 1720.0, 1990.0],
    "duration_ms": [200.0, 240.0, 300.0, 200.0, 250.0, 60.0],
    "x": [0.0, 30.0, 30.0, 100.0, None, 90.0],
    "y": [0.0, 40.0, 40.0, 0.0, None, 0.0],
}


def study(rows=None, **facts):
    data = pl.DataFrame(ROWS if rows is None else rows)
    facts = {"units": "px", "xy_origin": "top-left"} | facts
    return Study("fixations", data, data.select("person").unique(), **facts)


def test_fixations_of_a_report_have_their_places_and_durations():
    table = event_features(study(), "fixations")
    assert table.names == [
        "fixation_duration",
        "fixation_x",
        "fixation_y",
        "fixation_previous_distance",
        "fixation_previous_angle",
    ]
    assert table.data["time_ms"].to_list() == ROWS["time_ms"]
    # Nothing is cut off at what eyelid's own detector would have found.
    assert table.data["fixation_duration"].to_list() == ROWS["duration_ms"]
    assert table.data["fixation_x"].to_list() == ROWS["x"]
    distance = [None, 50.0, 0.0, math.hypot(70, 40), None, None]
    assert table.data["fixation_previous_distance"].to_list() == distance
    angle = table.data["fixation_previous_angle"].to_list()
    assert angle[1] == pytest.approx(math.degrees(math.atan2(40, 30)))
    assert angle[2] is None


def test_saccades_lead_from_one_known_place_to_another_without_a_pause_in_between():
    table = event_features(study(), "saccades")
    # Not within a place, not over a pause of 700 ms, not from or to an unknown place.
    assert table.data["time_ms"].to_list() == [200.0]
    row = table.data.row(0, named=True)
    assert row["saccade_amplitude"] == 50.0
    assert row["saccade_duration"] == 30.0
    assert row["saccade_average_speed"] == pytest.approx(50.0 / 0.03)
    assert row["saccade_previous_angle"] is None


def test_fixations_that_follow_each_other_at_once_have_saccades_without_a_duration():
    rows = ROWS | {"time_ms": [0.0, 200.0, 440.0, 740.0, 940.0, 1190.0]}
    table = event_features(study(rows), "saccades")
    assert table.data["saccade_amplitude"].to_list() == [50.0, pytest.approx(math.hypot(70, 40))]
    assert table.data["saccade_duration"].to_list() == [None, None]
    assert table.data["saccade_average_speed"].to_list() == [None, None]


def test_a_recording_of_one_fixation_does_not_stop_the_others():
    more = {"person": ["b"], "recording": ["1"], "time_ms": [0.0], "duration_ms": [200.0]}
    rows = pl.concat([pl.DataFrame(ROWS), pl.DataFrame(more | {"x": [1.0], "y": [1.0]})])
    table = event_features(study(rows), "saccades")
    left_out = table.data.filter(person="b")
    assert left_out.height == 1
    assert left_out["saccade_amplitude"].to_list() == [None]
    assert event_features(study(rows), "fixations").data["person"].n_unique() == 2


def test_windows_of_reported_fixations_are_those_of_the_samples_they_were_found_in():
    samples = simulate(people=2, tasks=("comic",), rate_hz=250.0, minutes=1.2, seed=3)
    samples = samples.derive(screen=None)
    found = detect_events(samples, max_gap_ms=500.0).filter(pl.col("name") == "fixation")
    places = [
        samples.data.filter(
            (pl.col("person") == row["person"])
            & pl.col("time_ms").is_between(row["onset_ms"], row["offset_ms"])
        )
        .select(pl.col("x", "y").mean())
        .row(0)
        for row in found.iter_rows(named=True)
    ]
    rows = found.select(
        "person", "recording", pl.col("onset_ms").alias("time_ms"), "duration_ms"
    ).with_columns(pl.Series(axis, [p[i] for p in places]) for i, axis in enumerate("xy"))
    # A fixation at the start, so that windows begin where those of the samples do.
    first = rows.group_by("person", maintain_order=True).first()
    rows = pl.concat([first.with_columns(time_ms=0.0, duration_ms=pl.lit(None, pl.Float64)), rows])
    rows = rows.filter((pl.col("time_ms") > 0) | pl.col("duration_ms").is_null())
    rows = rows.sort("person", "time_ms")
    report = Study("fixations", rows, samples.people, units="deg")
    ours, theirs = window_features(report).data, window_features(samples).data
    both = ours.join(theirs, on=["person", "recording", "time_ms"], suffix="_samples")
    # The last fixation may end before the recording does.
    assert len(both) == len(ours) > 60
    later = both.filter(pl.col("time_ms") > 500)
    for name in ("fixation_rate", "fixation_duration_mean", "fixation_duration_max"):
        assert later[name].to_numpy() == pytest.approx(later[f"{name}_samples"].to_numpy()), name
    for name in ("saccade_rate", "saccade_amplitude_mean", "positive_saccade_ratio"):
        near = np.abs(later[name].to_numpy() / later[f"{name}_samples"].to_numpy() - 1)
        assert near.mean() < 0.1, name


def test_windows_of_a_report_have_no_feature_that_needs_samples():
    rows = {
        "person": "a",
        "recording": "1",
        "time_ms": np.arange(200) * 250.0,
        "duration_ms": 220.0,
        "x": np.arange(200) % 7 * 100.0,
        "y": 300.0,
        "pupil": [0.0, 1000.0] * 100,
    }
    table = window_features(study(rows, pupil_unit="arbitrary"))
    assert len(table.names) == 43
    assert not [n for n in table.names if "blink" in n or "pupil_var" in n or "x_var" in n]
    assert table.data["fixation_rate"].unique().to_list() == [4.0]
    # A pupil of 0 was not seen.
    assert table.data["pupil_mean_mean"].unique().to_list() == [1000.0]
    assert table.data["wb1_nonzero"].unique().to_list() == [2.0]
    without = {name: values for name, values in rows.items() if name != "pupil"}
    assert len(window_features(study(without)).names) == 41


def test_what_the_screen_makes_degrees_is_in_degrees():
    screen = Screen(1000, 500, 0.5, 0.25, 0.5)
    table = event_features(study(screen=screen), "saccades")
    assert table.features[1].unit == "deg"
    assert 2.0 < table.data["saccade_amplitude"][0] < 3.5


def test_of_two_eyes_the_one_with_more_fixations_counts():
    left = pl.DataFrame(ROWS).with_columns(eye=pl.lit("left"))
    right = left[:2].with_columns(eye=pl.lit("right"), x=pl.col("x") + 5)
    table = event_features(study(pl.concat([right, left])), "fixations")
    assert table.data["fixation_x"].to_list() == ROWS["x"]


@pytest.mark.parametrize("features", [window_features, event_features])
def test_there_is_nothing_to_detect_in_fixations(features):
    with pytest.raises(InputError, match="nothing is detected: leave out method ivt"):
        features(study(), method="ivt")


def test_what_a_row_is_does_not_depend_on_anybody_s_recording():
    assert usual_kind(study()) == "fixations"
    assert usual_kind(study(planned_ms=60_000.0)) == "windows"
    long = ROWS | {"time_ms": [0.0, 2e4, 4e4, 6e4, 8e4, 1e5]}
    assert usual_kind(study(long)) == usual_kind(study())

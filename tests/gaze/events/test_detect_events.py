from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.events import METHODS, detect_events, gaze_of
from eyelid.gaze.geometry import direction
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import EVENT_COLUMNS, Study


@pytest.fixture(scope="module")
def study() -> Study:
    return simulate(people=2, tasks=("comic", "image"), minutes=0.5, seed=1)


def test_a_study_gives_its_events_in_order_under_its_keys(study):
    events = detect_events(study)
    assert events.columns == EVENT_COLUMNS
    for _, rows in events.group_by("person", "recording"):
        assert rows["onset_ms"].is_sorted()
    assert events["duration_ms"].min() > 0
    keys = study.data.select("person", "recording").unique()
    assert events.select("person", "recording").unique().sort(pl.all()).equals(keys.sort(pl.all()))


def test_arrays_give_the_events_of_that_recording(study):
    recording = next(study.recordings())
    alone = detect_events((recording.time_ms, recording["x"], recording["y"]))
    assert alone.columns == EVENT_COLUMNS[2:]
    together = detect_events(study).filter(person=recording.person, recording=recording.recording)
    assert alone.equals(together.select(EVENT_COLUMNS[2:]))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_fixations_saccades_and_blinks(study, method):
    events = detect_events(study, method)
    assert set(events["name"]) == {"fixation", "saccade", "blink"}
    recordings = study.data.partition_by("person", "recording", maintain_order=True)
    parts = [detect_events(study.derive(data=rows), method) for rows in recordings]
    assert len(parts) == 4
    assert pl.concat(parts).equals(events)


def test_pixels_of_a_known_screen_are_detected_as_degrees(study):
    screen = study.screen

    def pixels(name: str, size_px: int, size_m: float) -> pl.Expr:
        half = np.degrees(np.arctan2(size_m / 2, screen.distance_m))
        tangent = ((pl.col(name) - half) * np.pi / 180).tan()
        return (tangent * screen.distance_m / size_m + 0.5) * size_px

    data = study.data.with_columns(
        x=pixels("x", screen.width_px, screen.width_m),
        y=pixels("y", screen.height_px, screen.height_m),
    )
    in_pixels = detect_events(study.derive(data=data, units="px"))
    in_degrees = detect_events(study)
    assert in_pixels.select("name", "onset_ms").equals(in_degrees.select("name", "onset_ms"))


def test_settings_reach_the_detector(study):
    strict = detect_events(study, threshold_per_s=200.0)
    saccades = [(events["name"] == "saccade").sum() for events in (strict, detect_events(study))]
    assert saccades[0] < 0.8 * saccades[1]


def in_space(study: Study, **vectors: np.ndarray) -> Study:
    """The same study with directions besides."""
    return study.derive(data=study.data.with_columns(**vectors))


def test_directions_are_taken_where_x_and_y_cannot_become_degrees(study):
    x, y = (study.data[name].fill_null(np.nan).to_numpy() for name in "xy")
    gaze = dict(zip(("gaze_x", "gaze_y", "gaze_z"), direction(x, y), strict=True))
    both = in_space(study, **gaze).derive(units="fraction", screen=None)
    recording, units = next(gaze_of(both))
    assert units == "deg"
    assert recording["x"] == pytest.approx(next(study.recordings())["x"], nan_ok=True)
    assert next(gaze_of(both, "fraction"))[1] == "fraction"
    unseen = in_space(study, **gaze | {"gaze_x": None}).derive(units="fraction", screen=None)
    assert next(gaze_of(unseen))[1] == "fraction"


def test_the_roll_of_the_head_turns_gaze_in_the_world(study):
    count = len(study.data)
    gaze = dict(zip(("gaze_x", "gaze_y", "gaze_z"), direction(10.0, 0.0), strict=True))
    head = {"head_x": 0.0, "head_y": 0.0, "head_z": 1.0, "head_roll_deg": 90.0}
    columns = {name: np.full(count, value) for name, value in (gaze | head).items()}
    turned = in_space(study.derive(data=study.data.drop("x", "y")), **columns)
    recording, _ = next(gaze_of(turned))
    # Right of a head that lies on its right side is down.
    assert recording["x"] == pytest.approx(0.0, abs=1e-9)
    assert recording["y"] == pytest.approx(-10.0)


def test_a_recording_without_any_gaze_has_no_events(study):
    lost = study.derive(data=study.data.with_columns(x=pl.lit(None, pl.Float64)))
    assert detect_events(lost).height == 0


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"units": None}, "units of x and y"),
        ({"units": "furlong"}, "unknown units 'furlong'"),
        ({"kind": "features"}, "study of features"),
    ],
)
def test_says_what_is_wrong_with_a_study(study, change, text):
    with pytest.raises(InputError, match=text):
        detect_events(study.derive(**change))


def test_says_what_is_wrong_with_the_data(study):
    with pytest.raises(InputError, match="no column y"):
        detect_events(study.derive(data=study.data.drop("y")))
    with pytest.raises(InputError, match="empty"):
        detect_events(study.derive(data=study.data.clear()))
    with pytest.raises(InputError, match=r"of person P01, comic must increase, but 0 .* by 0"):
        detect_events(study.derive(data=study.data.with_columns(time_ms=pl.lit(0.0))))


def test_says_what_is_wrong_with_arrays():
    with pytest.raises(InputError, match="as long as each other"):
        detect_events((np.arange(3.0), np.zeros(2), np.zeros(3)))
    with pytest.raises(InputError, match="time_ms must increase, but 1 is followed by 1"):
        detect_events((np.array([0.0, 1.0, 1.0]), np.zeros(3), np.zeros(3)))
    with pytest.raises(InputError, match="unknown method 'itv': did you mean 'ivt'"):
        detect_events((np.arange(3.0), np.zeros(3), np.zeros(3)), method="itv")

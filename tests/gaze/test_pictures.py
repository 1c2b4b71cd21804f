"""Pictures draw what they are given, on the axes they are given."""

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.features import event_features
from eyelid.gaze.pictures import (
    draw_events,
    draw_features,
    draw_main_sequence,
    draw_overview,
    draw_scanpath,
)
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Recording, Screen


@pytest.fixture(scope="module")
def study():
    return simulate(people=2, tasks=("image",), rate_hz=250.0, minutes=0.5, seed=3)


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    return Figure().subplots(1, 2)


def test_a_scanpath_has_a_circle_for_every_fixation(study, axes):
    recording = next(study.recordings())
    events = detect_events((recording.time_ms, recording["x"], recording["y"]))
    drawn = draw_scanpath(recording, events, xy_origin="top-left", ax=axes[0])
    assert drawn is axes[0]
    assert drawn.yaxis_inverted()
    (circles,) = drawn.collections
    fixations = events.filter(name="fixation")
    assert len(circles.get_offsets()) == len(fixations)
    x, _ = np.asarray(circles.get_offsets())[0]
    inside = (recording.time_ms >= fixations["onset_ms"][0]) & (
        recording.time_ms <= fixations["offset_ms"][0]
    )
    assert x == pytest.approx(np.nanmean(recording["x"][inside]))


def test_a_screen_is_drawn_as_a_frame(study):
    recording = next(study.recordings())
    drawn = draw_scanpath(recording, screen=Screen(1000, 500))
    assert max(drawn.lines[-1].get_xdata()) == 1000


def test_events_are_bands_of_colour_in_the_time_that_is_shown(study):
    recording = next(study.recordings())
    drawn = draw_events(recording, study.events.filter(person="P01"), start_s=5.0, length_s=2.0)
    assert drawn.get_xlim() == (5.0, 7.0)
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert {"x", "y", "fixation", "saccade"} <= set(labels)


def test_a_main_sequence_has_a_point_for_every_saccade(study):
    table = event_features(study, "saccades")
    drawn = draw_main_sequence(table)
    (points,) = drawn.collections
    assert len(points.get_offsets()) == len(
        table.data.select("saccade_amplitude", "saccade_speed_max").drop_nulls()
    )
    assert drawn.get_ylabel() == "peak speed [deg/s]"


def test_features_are_shares_of_their_bounds(simulated_table):
    drawn = draw_features(simulated_table, ["fixation_rate"], person="P02")
    (line,) = drawn.lines
    values = np.asarray(line.get_ydata())
    assert np.nanmin(values) >= 0
    assert np.nanmax(values) <= 1
    assert drawn.get_title(loc="left").startswith("P02")


def test_an_overview_needs_no_events(study, axes):
    for events in (study.events, None):
        shown = study.derive(events=events)
        assert draw_overview(next(shown.recordings()), shown, axes) is axes


@pytest.mark.parametrize(
    ("draw", "complaint"),
    [
        (lambda t: draw_features(t, ["fixation_rat"]), "did you mean 'fixation_rate'"),
        (lambda t: draw_features(t, person="nobody"), "unknown person 'nobody'"),
        (lambda t: draw_main_sequence(t), "a main sequence is of saccades"),
    ],
)
def test_what_is_not_there_is_named(simulated_table, draw, complaint):
    with pytest.raises(InputError, match=complaint):
        draw(simulated_table)


def test_a_recording_without_gaze_cannot_be_drawn():
    blind = Recording("p", "r", "", "", np.arange(3.0), {"pupil": np.ones(3)})
    with pytest.raises(InputError, match="has no gaze to draw"):
        draw_scanpath(blind)
    with pytest.raises(InputError, match="needs a time in the recording"):
        draw_events(blind, start_s=-1.0)

"""Engbert & Kliegl, to the sample as pymovements finds it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eyelid.gaze.events.ek import ek
from eyelid.gaze.events.velocity import velocity_per_s


def by_pymovements(time_ms, x, y, **settings):
    from pymovements.events.detection import microsaccades

    velocities = np.column_stack(velocity_per_s(time_ms, x, y))
    found = microsaccades(velocities, timesteps=time_ms, **settings).frame
    return found["onset"].to_list(), found["offset"].to_list()


def by_eyelid(time_ms, x, y, **settings):
    onset, offset = ek(time_ms, x, y, **settings)["saccade"]
    return time_ms[onset].tolist(), time_ms[offset].tolist()


@settings(max_examples=60)
@given(data=st.data(), step_ms=st.sampled_from([1.0, 2.0, 20.0]))
def test_saccades_are_those_of_pymovements(walks, data, step_ms):
    gaze = data.draw(walks())
    time_ms = np.arange(len(gaze[0])) * step_ms
    # It refuses velocities that hardly differ, such as a single one.
    assume(np.isfinite(velocity_per_s(time_ms, *gaze)).all(axis=0).sum() > 2)
    assert by_eyelid(time_ms, *gaze) == by_pymovements(time_ms, *gaze)


@pytest.mark.parametrize(("factor", "least_ms"), [(6.0, 6), (3.0, 12), (10.0, 0)])
def test_settings_mean_what_they_mean_to_pymovements(made_up, factor, least_ms):
    signals = made_up(500.0)
    theirs = by_pymovements(*signals, threshold_factor=factor, minimum_duration=least_ms)
    assert len(theirs[0]) > 10
    ours = by_eyelid(*signals, threshold_factor=factor, min_saccade_ms=float(least_ms))
    assert ours == theirs


def test_real_recordings_give_what_pymovements_gives(lund_recordings):
    for recording in lund_recordings:
        signals = recording.time_ms, recording["x"], recording["y"]
        assert by_eyelid(*signals) == by_pymovements(*signals)


@pytest.mark.parametrize("unit", [1.0, 35.0, 0.01])
def test_units_do_not_matter(made_up, unit):
    time_ms, x, y = made_up(250.0)
    assert by_eyelid(time_ms, x, y) == by_eyelid(time_ms, x * unit, y * unit)


def test_a_fast_moment_too_short_for_a_saccade_does_not_end_a_fixation():
    rng = np.random.default_rng(0)
    x = rng.normal(0.0, 0.01, 500)
    x[250] += 0.5
    found = ek(np.arange(500) * 2.0, x, rng.normal(0.0, 0.01, 500), min_saccade_ms=10.0)
    assert len(found["fixation"].onset) == 1


def test_without_noise_every_movement_stands_out():
    x = np.repeat([0.0, 5.0], 100)
    found = ek(np.arange(200) * 4.0, x, np.zeros(200))
    assert [index.tolist() for index in found["saccade"]] == [[98], [101]]

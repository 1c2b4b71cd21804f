"""Recordings that measure as they should."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.gaze.generator import PARAMETERS, Planned, Profile, generated, measured, tuned
from eyelid.gaze.simulator import SCREEN
from eyelid.gaze.study import Study

PLAN = (Planned("page", "read", "", 60_000.0),)
# What is seen of a few seconds, and what stays near its norm whatever is asked.
CHECKED = (
    *("fixation_ms", "saccade_amplitude_deg", "rightward_share", "saccade_log_sd", "noise_8hz"),
    "saccades_per_fixation",
)
WISHED = {"fixation_ms": np.log(220.0), "saccade_amplitude_deg": np.log(2.5), "sweep": 0.4}


def averages(profiles: dict[str, Profile], rate_hz: float) -> dict[str, float]:
    rng = np.random.default_rng(11)
    data, events = generated(profiles, 60, PLAN, rate_hz, SCREEN, rng, xy_origin="centre")
    people = data.select("person").unique(maintain_order=True)
    study = Study("samples", data, people, units="deg", rate_hz=rate_hz, events=events)
    table = measured(study)
    return {
        one.name: float(one.scaled(table[one.name].drop_nulls().to_numpy()).mean())
        for one in PARAMETERS
        if one.name in CHECKED
    }


# At 30 Hz small saccades and slow noise are hardly told apart, whatever is asked for.
@pytest.mark.parametrize(("rate_hz", "most"), [(30.0, 1.1), (60.0, 0.45), (250.0, 0.45)])
def test_recordings_measure_as_was_wished_for(rate_hz, most):
    profiles = {"read": Profile(WISHED, movement="reading")}
    inputs = tuned(profiles, PLAN, rate_hz, SCREEN, np.random.default_rng(1), xy_origin="centre")
    plain, better = averages(profiles, rate_hz), averages(inputs, rate_hz)
    wishes = {one.name: WISHED.get(one.name, one.centre) for one in PARAMETERS}
    spreads = {one.name: one.between for one in PARAMETERS}

    def misses(found: dict[str, float]) -> list[float]:
        return [abs(found[name] - wishes[name]) / spreads[name] for name in CHECKED]

    assert max(misses(better)) < most
    assert np.mean(misses(better)) < np.mean(misses(plain))


def test_what_cannot_be_measured_keeps_its_value():
    inputs = tuned({"read": Profile()}, PLAN, 30.0, None, np.random.default_rng(1))
    means = inputs["read"].means
    for one in PARAMETERS:
        if "pupil" in one.needs or one.least_hz > 30.0:
            assert means[one.name] == one.centre


def test_is_the_same_for_the_same_seed():
    plan = (Planned("page", "read", "", 6_000.0),)
    first, again = (
        tuned({"read": Profile()}, plan, 30.0, None, np.random.default_rng(4)) for _ in range(2)
    )
    assert first["read"].means == again["read"].means

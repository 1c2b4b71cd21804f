"""What is measured of events, beyond what windows show of it."""

import numpy as np

from eyelid.gaze.features.quantities import quantities_of


def measured(study, **settings):
    return quantities_of(next(study.recordings()), study.units, study.pupil_unit, **settings)


def test_onsets_count_from_the_first_sample(study_of):
    time_ms = 1e6 + np.arange(0.0, 2000.0, 10.0)
    x = np.repeat([0.0, 8.0], 100)
    found = measured(study_of(time_ms, x, np.zeros_like(x)))
    assert found.onset_ms["fixation"][0] == 0.0
    assert 900.0 < found.onset_ms["saccade"][0] < 1000.0
    kind, amplitude = found.of_events["saccade_amplitude"]
    assert (kind, amplitude.tolist()) == ("saccade", [8.0])
    assert {name: which.tolist() for name, which in found.saccades.items()} == {
        "small": [False],
        "large": [True],
        "positive": [True],
        "negative": [False],
    }
    assert found.letter.tolist() == [0]


def test_a_blink_does_not_end_a_fixation_unless_asked(study_of):
    time_ms = np.arange(0.0, 2000.0, 10.0)
    x = np.where((time_ms > 900) & (time_ms < 1100), np.nan, 0.0)
    study = study_of(time_ms, x, x)
    assert len(measured(study).onset_ms["fixation"]) == 1
    assert len(measured(study).onset_ms["blink"]) == 1
    assert len(measured(study, max_gap_ms=0.0).onset_ms["fixation"]) == 2


def test_without_a_pupil_nothing_is_measured_of_it(study_of):
    time_ms = np.arange(0.0, 2000.0, 10.0)
    study = study_of(time_ms, np.zeros_like(time_ms), np.zeros_like(time_ms))
    assert not any(name.startswith("pupil") for name in measured(study).of_events)

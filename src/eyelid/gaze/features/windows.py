"""Window features: what the eyes did in half a minute, every half second."""

from __future__ import annotations

import math

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.events import DEFAULT_METHOD, units_of_gaze
from eyelid.gaze.events.spans import Floats
from eyelid.gaze.features.catalogue import reported_window_feature_set, window_feature_set
from eyelid.gaze.features.omission import Omissions, Rows, length_s, outline_of, summarised
from eyelid.gaze.features.quantities import Quantities, check_nothing_to_detect, quantities_in
from eyelid.gaze.features.statistics import Ranges, ratio
from eyelid.gaze.features.wordbook import LENGTHS, word_statistics
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Recording, Study
from eyelid.gaze.table import FeatureTable

WINDOW_S, STEP_S = 30.0, 0.5
MIN_WINDOW_S = 1.0
_MOST_WINDOWS = 1_000_000
MIN_STEP_S = 0.01


def window_features(
    study: Study,
    window_s: float = WINDOW_S,
    step_s: float = STEP_S,
    method: str = DEFAULT_METHOD,
    **settings: float,
) -> FeatureTable:
    """Features of every window of every recording.

    A window covers [i·step, i·step + window) from the first sample of its recording, on a grid
    that is the same for everybody; `time_ms` is its start. An event belongs to the windows that
    hold its onset, a word of saccades to those that hold all its onsets. Values are cut off at the
    public bounds of `window_feature_set`.

    A recording that is shorter than a window, or than ``study.min_seconds``, or has fewer than ten
    samples a second, is left out: it has one row at time 0 without any value, so that it counts
    as any other where numbers of people and recordings are released.

    Rates are per second of window; they and the wordbook are zero where nothing happened. What is
    undefined is null: shares and amplitudes without a saccade, durations, spreads and saccades per
    fixation without a fixation, diameters without a fixation in which the pupil was seen, and blink
    durations without a blink. The variance of a single event is zero. A study without a pupil
    column has no pupil features. A study of fixations has the features of
    `reported_window_feature_set`: those of its fixations and of the saccades between them.

    Args:
        study: a study of samples or of fixations, with x and y in deg, px, fractions of a screen or
            normalised eye camera units. Places on a screen of known geometry become degrees.
        window_s: length of a window.
        step_s: time from one window to the next.
        method: the event detector, see `detect_events`.
        settings: of the detector. The default one follows events across losses as long as a blink
            here, unless ``max_gap_ms`` says otherwise: an eye that comes back elsewhere has made a
            saccade, and one that comes back to the same place is still in its fixation.

    >>> from eyelid.gaze.simulator import simulate
    >>> table = window_features(simulate(people=2, tasks=("comic",), minutes=1.0, seed=1))
    >>> table.data["time_ms"].head(3).to_list()
    [0.0, 500.0, 1000.0]
    """
    refuse_frame(study, "window_features", gaze=True)
    table, omitted = windows_and_omissions(study, window_s, step_s, method, **settings)
    omitted.check_some(least_s(study, window_s), how_to_fit(study, omitted))
    return table


def windows_and_omissions(
    study: Study,
    window_s: float = WINDOW_S,
    step_s: float = STEP_S,
    method: str = DEFAULT_METHOD,
    **settings: float,
) -> tuple[FeatureTable, Omissions]:
    """What `window_features` makes of some people, also where nothing of theirs can be summarised.

    Args:
        study: whole people.
        window_s: length of a window.
        step_s: time from one window to the next.
        method: the event detector.
        settings: of the detector.
    """
    outline = window_outline(study, window_s, step_s)
    if study.kind == "fixations":
        check_nothing_to_detect(method, settings)

    def describe(recording: Recording, units: str) -> Rows | None:
        start_ms = window_starts_ms(recording, window_s, step_s)
        if not len(start_ms):
            return None
        measured = quantities_in(study, recording, units, method, **settings)
        return start_ms, _features_of(measured, start_ms, window_s * 1000.0)

    return summarised(study, outline, least_s(study, window_s), describe)


def how_to_fit(study: Study, omitted: Omissions) -> str:
    """What makes recordings fit of which every one is left out, in words.

    Args:
        study: with or without rows.
        omitted: with the length of the longest.
    """
    if omitted.longest_s < MIN_WINDOW_S:
        return f"a window lasts at least {MIN_WINDOW_S:g} s, longer than any of them"
    seconds = " and a smaller `min_seconds`" if study.min_seconds else ""
    return f"choose shorter windows (`window_s`){seconds}"


def least_s(study: Study, window_s: float) -> float:
    """Seconds that a recording has to last to be summarised in windows of a length.

    Args:
        study: with or without rows.
        window_s: length of a window.
    """
    if study.min_seconds is None:
        return window_s
    if not window_s <= study.min_seconds < np.inf:
        raise InputError(
            f"min_seconds must be at least {window_s:g}, the length of one window, got "
            f"{study.min_seconds:g}: make features of shorter windows for shorter recordings "
            "('eyelid features IN OUT --window S')"
        )
    return study.min_seconds


def window_outline(
    study: Study, window_s: float = WINDOW_S, step_s: float = STEP_S
) -> FeatureTable:
    """What `window_features` makes of a study, but for the rows: the same for everybody.

    Args:
        study: with all rows, some, or none.
        window_s: length of a window.
        step_s: time from one window to the next.
    """
    if not MIN_WINDOW_S <= window_s < np.inf:
        raise InputError(f"window_s must be at least {MIN_WINDOW_S:g}, got {window_s:g}")
    if not 0 < step_s < np.inf:
        raise InputError(f"step_s must be positive, got {step_s:g}")
    if step_s < MIN_STEP_S:
        raise InputError(f"step_s must be at least {MIN_STEP_S:g}, got {step_s:g}")
    least_s(study, window_s)
    known = reported_window_feature_set if study.kind == "fixations" else window_feature_set
    features = known(units_of_gaze(study), window_s, study.pupil_unit)
    pupil = study.data.schema.get("pupil")
    if pupil is None or not pupil.is_numeric():
        features = tuple(f for f in features if not f.name.startswith("pupil_"))
    planned = planned_windows(study, window_s, step_s)
    return outline_of(study, features, step_s * 1000.0, window_s * 1000.0, planned)


def window_starts_ms(recording: Recording, window_s: float, step_s: float) -> Floats:
    """The starts of the windows that fit into a recording; none where it is too short."""
    windows = max(0, _windows_in(length_s(recording) * 1000.0, window_s, step_s))
    if windows > _MOST_WINDOWS:
        raise InputError(
            f"recording {recording.recording} of person {recording.person} lasts "
            f"{length_s(recording) / 3600:,.0f} hours by its time stamps: is one of them wrong, or "
            "their unit another (`map='time_unit=s'`)?"
        )
    return np.arange(windows, dtype=np.float64) * (step_s * 1000.0)


def planned_windows(study: Study, window_s: float, step_s: float) -> int | None:
    """Windows of a recording of the planned length; None where nobody said how long it is.

    Args:
        study: with or without rows.
        window_s: length of a window.
        step_s: time from one window to the next.
    """
    if study.planned_ms is None:
        return None
    return max(1, _windows_in(study.planned_ms, window_s, step_s))


def _windows_in(length_ms: float, window_s: float, step_s: float) -> int:
    """How many windows fit into so much time; none or fewer where it is too short for one."""
    return math.floor((length_ms - window_s * 1000.0) / (step_s * 1000.0) + 1e-6) + 1


def _features_of(measured: Quantities, start_ms: Floats, window_ms: float) -> dict[str, Floats]:
    """The features of the windows of one recording, NaN where undefined."""
    windows = {
        name: Ranges(
            np.searchsorted(onset_ms, start_ms), np.searchsorted(onset_ms, start_ms + window_ms)
        )
        for name, onset_ms in measured.onset_ms.items()
    }
    saccades = windows["saccade"]
    rate = {name: events.count() * (1000.0 / window_ms) for name, events in windows.items()}
    values = {f"{name}_rate": per_s for name, per_s in rate.items()}
    values["saccade_fixation_ratio"] = ratio(rate["saccade"], rate["fixation"])
    for kind, which in measured.saccades.items():
        count = saccades.count(which)
        values[f"{kind}_saccade_rate"] = count * (1000.0 / window_ms)
        values[f"{kind}_saccade_ratio"] = ratio(count, saccades.count())

    for name, (kind, column) in measured.of_events.items():
        values[f"{name}_mean"], values[f"{name}_var"] = windows[kind].moments(column)
    for name in ("saccade_amplitude", "fixation_duration"):
        kind, column = measured.of_events[name]
        values[f"{name}_max"] = windows[kind].largest(column)

    for length in LENGTHS:
        for name, statistic in word_statistics(measured.letter, saccades, length).items():
            values[f"wb{length}_{name}"] = statistic
    return values

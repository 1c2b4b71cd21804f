"""Event features: what each fixation or each saccade was like."""

from __future__ import annotations

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.events import DEFAULT_METHOD, events_of, lost_in, units_of_gaze
from eyelid.gaze.events.spans import Floats, Spans
from eyelid.gaze.features.catalogue import (
    event_feature_set,
    reported_event_feature_set,
    scale_of,
)
from eyelid.gaze.features.omission import (
    LEAST_EVENTS_S,
    Omissions,
    Rows,
    outline_of,
    summarised,
)
from eyelid.gaze.features.quantities import check_nothing_to_detect, scanpath_of
from eyelid.gaze.features.statistics import Stretches, ratio, samples_of
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Recording, Study
from eyelid.gaze.table import FeatureTable

# What varies less than this share of what is possible does not vary: rounding has no skewness.
_STILL = 1e-9
HOW_TO_FIT = "choose a smaller `min_seconds`, or another detector (`method`)"


def event_features(
    study: Study, kind: str = "fixations", method: str = DEFAULT_METHOD, **settings: float
) -> FeatureTable:
    """Features of every fixation, or of every saccade, of every recording.

    One row an event; `time_ms` is its onset. Values are cut off at the public bounds of
    `event_feature_set`. Only samples that were seen count: speed is between one and the next, and
    acceleration between one such speed and the next. What is undefined is null: distance and angle
    to the previous event for the first one, the direction of what does not move, skewness and
    kurtosis of fewer than three values or of equal ones, acceleration of fewer than three samples.

    Recordings have as many rows as they have events. A release cuts or pads them to one length and
    numbers the rows in place of times. One without an event, shorter than a second or than
    ``study.min_seconds``, or with fewer than ten samples a second, is left out: it has one row
    without any value.

    A study of fixations has the features of `reported_event_feature_set`: of its fixations, or of
    the saccades from one to the next. A recording without saccades has no row.

    Args:
        study: a study of samples or of fixations, see `window_features`.
        kind: ``fixations`` or ``saccades``.
        method: the event detector, see `detect_events`.
        settings: of the detector.

    >>> from eyelid.gaze.simulator import simulate
    >>> study = simulate(people=2, tasks=("comic",), minutes=1.0, seed=1)
    >>> event_features(study, "saccades").names[:3]
    ['saccade_duration', 'saccade_amplitude', 'saccade_angle']
    """
    refuse_frame(study, "event_features", gaze=True)
    table, omitted = events_and_omissions(study, kind, method, **settings)
    omitted.check_some(least_s(study), HOW_TO_FIT)
    return table


def events_and_omissions(
    study: Study, kind: str = "fixations", method: str = DEFAULT_METHOD, **settings: float
) -> tuple[FeatureTable, Omissions]:
    """What `event_features` makes of some people, also where none of theirs has an event.

    Args:
        study: whole people.
        kind: ``fixations`` or ``saccades``.
        method: the event detector.
        settings: of the detector.
    """
    outline = event_outline(study, kind)
    if study.kind == "fixations":
        check_nothing_to_detect(method, settings)

    def reported(recording: Recording, units: str) -> Rows | None:
        onset_ms, values = _reported(recording, kind, units)
        known = any(np.isfinite(of_feature).any() for of_feature in values.values())
        return (onset_ms, values) if known else None

    def detected(recording: Recording, units: str) -> Rows | None:
        spans = events_of(recording, method, units, **settings)[kind.removesuffix("s")]
        describe = _fixations if kind == "fixations" else _saccades
        return (
            (recording.time_ms[spans.onset], describe(recording, spans, units))
            if len(spans.onset)
            else None
        )

    describe = reported if study.kind == "fixations" else detected
    return summarised(study, outline, least_s(study), describe, without_rows="empty")


def least_s(study: Study) -> float:
    """Seconds that a recording has to last for its events to be described.

    A report of fixations has no least: its events are there already.

    Args:
        study: with or without rows.
    """
    if study.min_seconds is None:
        return 0.0 if study.kind == "fixations" else LEAST_EVENTS_S
    if not 0 <= study.min_seconds < np.inf:
        raise InputError(f"min_seconds must not be negative, got {study.min_seconds:g}")
    return study.min_seconds


def event_outline(study: Study, kind: str = "fixations") -> FeatureTable:
    """What `event_features` makes of a study, but for the rows: the same for everybody.

    Args:
        study: with all rows, some, or none.
        kind: ``fixations`` or ``saccades``.
    """
    least_s(study)
    units = units_of_gaze(study)
    # What becomes degrees is counted from straight ahead.
    xy_origin = study.xy_origin if units == study.units else None
    known = reported_event_feature_set if study.kind == "fixations" else event_feature_set
    return outline_of(study, known(kind, units, study.screen, xy_origin))


def _reported(recording: Recording, kind: str, units: str) -> tuple[Floats, dict[str, Floats]]:
    """When the fixations of a report, or the saccades between them, begin, and their features."""
    if kind == "fixations":
        x, y, duration_ms = (recording[name] for name in ("x", "y", "duration_ms"))
        right, up = _since_previous(x), _since_previous(y)
        return recording.time_ms, {
            "fixation_duration": np.where(duration_ms > 0, duration_ms, np.nan),
            "fixation_x": _half_turn_deg(x) if units == "deg" else x,
            "fixation_y": y,
            "fixation_previous_distance": np.hypot(right, up),
            "fixation_previous_angle": _angle_deg(right, up),
        }
    path = scanpath_of(recording)
    amplitude, angle_deg = np.hypot(path.right, path.up), _angle_deg(path.right, path.up)
    return path.saccade_onset_ms, {
        "saccade_duration": path.saccade_ms,
        "saccade_amplitude": amplitude,
        "saccade_angle": angle_deg,
        "saccade_average_speed": ratio(amplitude * 1000.0, np.nan_to_num(path.saccade_ms)),
        "saccade_previous_angle": _half_turn_deg(_since_previous(angle_deg)),
    }


def _fixations(recording: Recording, spans: Spans, units: str) -> dict[str, Floats]:
    scale = scale_of(units)
    index, samples = samples_of(spans, ~lost_in(recording))
    x, y = (recording[axis][index] for axis in "xy")
    duration_ms = recording.time_ms[spans.offset] - recording.time_ms[spans.onset]
    path_length = _path_length(x, y, samples)
    values = {
        "fixation_duration": duration_ms,
        "fixation_dispersion": samples.extent(x) + samples.extent(y),
        "fixation_path_length": path_length,
        "fixation_average_speed": ratio(path_length * 1000.0, duration_ms),
    }
    for axis, place in (("x", x), ("y", y)):
        values |= {
            f"fixation_{axis}": samples.mean(place),
            f"fixation_{axis}_std": np.sqrt(samples.moment(place, 2)),
            **_shape(f"fixation_{axis}", place, samples, scale.max_extent),
        }
    right, up = (_since_previous(values[f"fixation_{axis}"]) for axis in "xy")
    values["fixation_previous_distance"] = np.hypot(right, up)
    values["fixation_previous_angle"] = _angle_deg(right, up)
    if units == "deg":
        # Azimuth goes on beyond half a turn, so that distances are true.
        values["fixation_x"] = _half_turn_deg(values["fixation_x"])
    return values


def _saccades(recording: Recording, spans: Spans, units: str) -> dict[str, Floats]:
    scale = scale_of(units)
    index, samples = samples_of(spans, ~lost_in(recording))
    time_s, x, y = recording.time_ms[index] / 1000.0, recording["x"][index], recording["y"][index]
    duration_ms = recording.time_ms[spans.offset] - recording.time_ms[spans.onset]
    right, up = (recording[axis][spans.offset] - recording[axis][spans.onset] for axis in "xy")
    amplitude, angle_deg = np.hypot(right, up), _angle_deg(right, up)
    values = {
        "saccade_duration": duration_ms,
        "saccade_amplitude": amplitude,
        "saccade_angle": angle_deg,
        "saccade_dispersion": samples.extent(x) + samples.extent(y),
        "saccade_path_length": _path_length(x, y, samples),
        "saccade_x_std": np.sqrt(samples.moment(x, 2)),
        "saccade_y_std": np.sqrt(samples.moment(y, 2)),
        "saccade_average_speed": ratio(amplitude * 1000.0, duration_ms),
        "saccade_previous_distance": np.hypot(
            _since_previous(samples.mean(x)), _since_previous(samples.mean(y))
        ),
        "saccade_previous_angle": _half_turn_deg(_since_previous(angle_deg)),
    }
    for what, most in (
        ("speed", scale.max_speed_per_s),
        ("acceleration", scale.max_acceleration_per_s2),
    ):
        # The first round makes speeds of places, the second one accelerations of speeds.
        time_s, x, y, samples = _rates(time_s, x, y, samples)
        for name, size in (("", np.hypot(x, y)), ("x_", np.abs(x)), ("y_", np.abs(y))):
            values |= _statistics(f"saccade_{name}{what}", size, samples, most)
    values["saccade_ratio"] = ratio(values["saccade_speed_max"] * 1000.0, duration_ms)
    return values


def _rates(
    time_s: Floats, x: Floats, y: Floats, samples: Stretches
) -> tuple[Floats, Floats, Floats, Stretches]:
    """What changes per second between neighbouring values of an event, at the time between."""
    same = samples.steps()
    passed_s = np.diff(time_s)[same]
    between_s = ((time_s[1:] + time_s[:-1]) / 2)[same]
    right, up = (np.diff(values)[same] / passed_s for values in (x, y))
    return between_s, right, up, Stretches(samples.owner[1:][same], samples.events)


def _statistics(name: str, values: Floats, samples: Stretches, most: float) -> dict[str, Floats]:
    return {
        f"{name}_mean": samples.mean(values),
        f"{name}_median": samples.median(values),
        f"{name}_max": samples.largest(values),
        f"{name}_std": np.sqrt(samples.moment(values, 2)),
        **_shape(name, values, samples, most),
    }


def _shape(name: str, values: Floats, samples: Stretches, most: float) -> dict[str, Floats]:
    skewness, kurtosis = samples.skewness_and_kurtosis(values, _STILL * most)
    return {f"{name}_skewness": skewness, f"{name}_kurtosis": kurtosis}


def _path_length(x: Floats, y: Floats, samples: Stretches) -> Floats:
    same = samples.steps()
    steps = np.hypot(np.diff(x)[same], np.diff(y)[same])
    return Stretches(samples.owner[1:][same], samples.events).total(steps)


def _since_previous(values: Floats) -> Floats:
    """How much each value differs from the one before, NaN for the first."""
    return np.diff(values, prepend=np.nan)


def _half_turn_deg(angle_deg: Floats) -> Floats:
    """An angle as one within half a turn to either side."""
    return np.asarray((angle_deg + 180.0) % 360.0 - 180.0)


def _angle_deg(right: Floats, up: Floats) -> Floats:
    """Direction of a movement, NaN where there is none."""
    moved = (right != 0) | (up != 0)
    return np.where(moved, np.degrees(np.arctan2(up, right)), np.nan)

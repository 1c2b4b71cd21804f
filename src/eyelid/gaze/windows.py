"""Window features: what the eyes did in half a minute, every half second."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown
from eyelid.gaze.events import events_of, gaze_of, lost_in
from eyelid.gaze.events.blinks import MAX_BLINK_MS, MIN_BLINK_MS
from eyelid.gaze.events.ivt import MIN_AMPLITUDE, MIN_FIXATION_MS
from eyelid.gaze.events.spans import Floats, Indices
from eyelid.gaze.study import INDEX_COLUMNS, Feature, Recording, Study
from eyelid.gaze.table import FeatureTable

Range = tuple[float, float]

# Public caps, from what eyes can do and never from anyone's data.
MIN_WINDOW_S = 1.0
MAX_FIXATION_MS = 3000.0
MAX_BLINKS_PER_S = 2.0
MAX_SACCADES_PER_FIXATION = 3.0


class Scale(NamedTuple):
    """Public sizes in the units of a study.

    Attributes:
        small: a saccade below this amplitude is small.
        max_amplitude: the field of view, which no saccade leaves.
        max_extent: of one fixation, along one axis.
        pupil_unit: of the diameter, where the study does not say.
    """

    small: float
    max_amplitude: float
    max_extent: float
    pupil_unit: str


class PupilScale(NamedTuple):
    """Public sizes of pupils.

    Attributes:
        diameter: smallest and largest.
        max_extent: the most that it changes within one fixation.
    """

    diameter: Range
    max_extent: float


# Normalised are pupil positions in an eye camera image; a fraction is of a screen 1920 px wide.
SCALES = {
    "deg": Scale(3.0, 40.0, 1.0, "mm"),
    "px": Scale(105.0, 1400.0, 35.0, "mm"),
    "fraction": Scale(0.055, 0.73, 0.018, "mm"),
    "normalised": Scale(0.03, 0.5, 0.05, "px"),
}

# Arbitrary are EyeLink's: an area or a diameter in units of its own, in the thousands.
PUPILS = {
    "mm": PupilScale((1.5, 9.0), 1.0),
    "px": PupilScale((0.0, 400.0), 40.0),
    "arbitrary": PupilScale((0.0, 16000.0), 2000.0),
}


def window_feature_set(
    units: str = "deg", window_s: float = 30.0, pupil_unit: str | None = None
) -> tuple[Feature, ...]:
    """The features of a window, in the published order, with bounds from public facts alone.

    A ratio lies in [0, 1]. A rate is at most what the shortest fixation allows. Amplitudes,
    durations and diameters lie between the least that is detected and a public cap, and a
    variance is at most a quarter of the squared width of what varies. No bound looks at data.

    Paper: Steil et al. 2019, Privacy-aware eye tracking using differential privacy; the order is
    that of #0 to #27 of its dataset, MPIIDPEye.

    >>> feature = window_feature_set("deg")[7]
    >>> feature.name, feature.lower, feature.upper
    ('small_saccade_ratio', 0.0, 1.0)
    """
    if units not in SCALES:
        raise unknown("units", units, SCALES)
    scale = SCALES[units]
    pupil = pupil_unit or scale.pupil_unit
    if pupil not in PUPILS:
        raise unknown("pupil unit", pupil, PUPILS)
    diameter = PUPILS[pupil].diameter
    ratio = (0.0, 1.0)
    rate = (0.0, 1000.0 / MIN_FIXATION_MS)
    amplitude = (MIN_AMPLITUDE[units], scale.max_amplitude)
    fixation_ms = (MIN_FIXATION_MS, min(MAX_FIXATION_MS, window_s * 1000.0))
    blink_ms = (MIN_BLINK_MS, MAX_BLINK_MS)
    spread = _variance((0.0, scale.max_extent))
    pupil_spread = _variance((0.0, PUPILS[pupil].max_extent))
    small, large = f"below {scale.small:g} {units}", f"of {scale.small:g} {units} or more"
    squared, pupil_squared = f"{units}²", f"{pupil}²"
    fourth, pupil_fourth = f"{units}⁴", f"{pupil}⁴"
    per_fixation = (0.0, MAX_SACCADES_PER_FIXATION)
    rows = [
        ("fixation_rate", "1/s", "fixations", rate),
        ("saccade_rate", "1/s", "saccades", rate),
        ("small_saccade_rate", "1/s", f"saccades {small}", rate),
        ("large_saccade_rate", "1/s", f"saccades {large}", rate),
        ("positive_saccade_rate", "1/s", "saccades to the right", rate),
        ("negative_saccade_rate", "1/s", "saccades to the left", rate),
        ("saccade_fixation_ratio", "1", "saccades per fixation", per_fixation),
        ("small_saccade_ratio", "1", f"share of saccades {small}", ratio),
        ("large_saccade_ratio", "1", f"share of saccades {large}", ratio),
        ("positive_saccade_ratio", "1", "share of saccades to the right", ratio),
        ("negative_saccade_ratio", "1", "share of saccades to the left", ratio),
        ("saccade_amplitude_mean", units, "mean saccade amplitude", amplitude),
        ("saccade_amplitude_var", squared, "its variance", _variance(amplitude)),
        ("saccade_amplitude_max", units, "largest saccade amplitude", amplitude),
        ("fixation_duration_mean", "ms", "mean fixation duration", fixation_ms),
        ("fixation_duration_var", "ms²", "its variance", _variance(fixation_ms)),
        ("fixation_duration_max", "ms", "longest fixation", fixation_ms),
        ("fixation_x_var_mean", squared, "mean over fixations of var(x)", spread),
        ("fixation_y_var_mean", squared, "mean over fixations of var(y)", spread),
        ("fixation_x_var_var", fourth, "variance over fixations of var(x)", _variance(spread)),
        ("fixation_y_var_var", fourth, "variance over fixations of var(y)", _variance(spread)),
        ("pupil_mean_mean", pupil, "mean over fixations of mean diameter", diameter),
        (
            "pupil_mean_var",
            pupil_squared,
            "variance over fixations of mean diameter",
            _variance(diameter),
        ),
        ("pupil_var_mean", pupil_squared, "mean over fixations of var(diameter)", pupil_spread),
        (
            "pupil_var_var",
            pupil_fourth,
            "variance over fixations of var(diameter)",
            _variance(pupil_spread),
        ),
        ("blink_duration_mean", "ms", "mean blink duration", blink_ms),
        ("blink_duration_var", "ms²", "its variance", _variance(blink_ms)),
        ("blink_rate", "1/s", "blinks", (0.0, MAX_BLINKS_PER_S)),
    ]
    return tuple(Feature(name, unit, what, *bounds) for name, unit, what, bounds in rows)


def window_features(
    study: Study, window_s: float = 30.0, step_s: float = 0.5, method: str = "ivt"
) -> FeatureTable:
    """Features of every window of every recording.

    A window covers [i·step, i·step + window) from the first sample of its recording, on a grid
    that is the same for everybody; `time_ms` is its start. An event belongs to the windows that
    hold its onset. Values are cut off at the public bounds of `window_feature_set`.

    Rates are per second of window, zero where nothing happened. What is undefined is null: shares
    and amplitudes without a saccade, durations, spreads and saccades per fixation without a
    fixation, diameters without a fixation in which the pupil was seen, and blink durations without
    a blink. The variance of a single event is zero. A study without a pupil column has no pupil
    features.

    Args:
        study: a study of samples, with x and y in deg, px, fractions of a screen or normalised
            eye camera units. Places on a screen of known geometry become degrees.
        window_s: length of a window.
        step_s: time from one window to the next.
        method: the event detector, see `detect_events`.

    >>> from eyelid.gaze.simulator import simulate
    >>> table = window_features(simulate(people=2, tasks=("comic",), minutes=1.0, seed=1))
    >>> table.data["time_ms"].head(3).to_list()
    [0.0, 500.0, 1000.0]
    """
    if not MIN_WINDOW_S <= window_s < np.inf:
        raise InputError(f"window_s must be at least {MIN_WINDOW_S:g}, got {window_s:g}")
    if not 0 < step_s < np.inf:
        raise InputError(f"step_s must be positive, got {step_s:g}")
    features: tuple[Feature, ...] = ()
    frames = []
    for recording, units in gaze_of(study):
        features = window_feature_set(units, window_s, study.pupil_unit)
        if "pupil" not in recording.columns:
            features = tuple(f for f in features if not f.name.startswith("pupil_"))
        start_ms = _window_starts_ms(recording, window_s, step_s)
        pupils = PUPILS[study.pupil_unit or SCALES[units].pupil_unit]
        values = _features_of(recording, units, pupils, method, start_ms, window_s * 1000.0)
        bounded = {f.name: np.clip(values[f.name], f.lower, f.upper) for f in features}
        keys = {
            name: pl.repeat(getattr(recording, name), len(start_ms), eager=True)
            for name in INDEX_COLUMNS[:-1]
            if name in study.data.columns
        }
        frames.append(pl.DataFrame(keys | {"time_ms": start_ms} | bounded))
    data = pl.concat(frames).with_columns(pl.col(f.name).fill_nan(None) for f in features)
    return FeatureTable(
        data=data,
        features=features,
        people=study.people,
        step_ms=step_s * 1000.0,
        window_ms=window_s * 1000.0,
        origin=study.origin,
        simulated=study.simulated,
        released=study.released,
    )


def _variance(values: Range) -> Range:
    """Bounds of the variance of values in a range (Popoviciu)."""
    return 0.0, (values[1] - values[0]) ** 2 / 4


def _window_starts_ms(recording: Recording, window_s: float, step_s: float) -> Floats:
    """The starts of the windows that fit into a recording."""
    time_ms = recording.time_ms
    # The last sample stands for one more sampling interval.
    interval_ms = float(np.median(np.diff(time_ms))) if len(time_ms) > 1 else 0.0
    length_ms = time_ms[-1] - time_ms[0] + interval_ms
    spare = (length_ms - window_s * 1000.0) / (step_s * 1000.0)
    if spare < -1e-6:
        raise InputError(
            f"recording {recording.recording} of person {recording.person} lasts "
            f"{length_ms / 1000.0:.1f} s, less than one window of {window_s:g} s: "
            "choose a shorter window or leave the recording out"
        )
    return np.arange(int(spare + 1e-6) + 1, dtype=np.float64) * (step_s * 1000.0)


def _features_of(
    recording: Recording,
    units: str,
    pupils: PupilScale,
    method: str,
    start_ms: Floats,
    window_ms: float,
) -> dict[str, Floats]:
    """The features of the windows of one recording, NaN where undefined."""
    scale = SCALES[units]
    found = events_of(recording, method, units)
    time_ms = recording.time_ms - recording.time_ms[0]
    windows, duration_ms = {}, {}
    for name in ("fixation", "saccade", "blink"):
        onset_ms, offset_ms = (time_ms[index] for index in found[name])
        windows[name] = _Ranges(
            np.searchsorted(onset_ms, start_ms), np.searchsorted(onset_ms, start_ms + window_ms)
        )
        duration_ms[name] = offset_ms - onset_ms
    fixations, saccades = windows["fixation"], windows["saccade"]

    onset, offset = found["saccade"]
    right = recording["x"][offset] - recording["x"][onset]
    amplitude = np.hypot(right, recording["y"][offset] - recording["y"][onset])
    amplitude = np.minimum(amplitude, scale.max_amplitude)
    fixation_ms = np.minimum(duration_ms["fixation"], MAX_FIXATION_MS)

    rate = {name: events.count() * (1000.0 / window_ms) for name, events in windows.items()}
    values = {f"{name}_rate": per_s for name, per_s in rate.items()}
    values["saccade_fixation_ratio"] = _ratio(rate["saccade"], rate["fixation"])
    values["saccade_amplitude_max"] = saccades.largest(amplitude)
    values["fixation_duration_max"] = fixations.largest(fixation_ms)
    small = amplitude < scale.small
    kinds = {"small": small, "large": ~small, "positive": right > 0, "negative": right < 0}
    for kind, which in kinds.items():
        count = saccades.count(which)
        values[f"{kind}_saccade_rate"] = count * (1000.0 / window_ms)
        values[f"{kind}_saccade_ratio"] = _ratio(count, saccades.count())

    per_event = {
        "saccade_amplitude": (saccades, amplitude),
        "fixation_duration": (fixations, fixation_ms),
        "blink_duration": (windows["blink"], duration_ms["blink"]),
    }
    seen = np.where(lost_in(recording), np.nan, 1.0)
    during = _Ranges(found["fixation"].onset, found["fixation"].offset + 1)
    for axis in "xy":
        variance = during.moments(recording[axis] * seen)[1]
        per_event[f"fixation_{axis}_var"] = fixations, np.minimum(variance, scale.max_extent**2 / 4)
    if "pupil" in recording.columns:
        mean, variance = during.moments(recording["pupil"] * seen)
        per_event["pupil_mean"] = fixations, np.clip(mean, *pupils.diameter)
        per_event["pupil_var"] = fixations, np.minimum(variance, pupils.max_extent**2 / 4)
    for name, (events, column) in per_event.items():
        values[f"{name}_mean"], values[f"{name}_var"] = events.moments(column)
    return values


class _Ranges:
    """Statistics over many ranges of one array at once: differences of running sums.

    Args:
        low: first index of each range.
        high: one past its last index.
    """

    def __init__(self, low: Indices, high: Indices) -> None:
        self.low, self.high = low, high

    def total(self, values: Floats) -> Floats:
        """Sum of the values in each range."""
        running = np.r_[0.0, np.cumsum(values)]
        return np.asarray(running[self.high] - running[self.low])

    def count(self, which: NDArray[np.bool_] | None = None) -> Floats:
        """How many values each range has, of those wanted."""
        if which is None:
            return (self.high - self.low).astype(np.float64)
        return self.total(which.astype(np.float64))

    def moments(self, values: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of the values in each range that are not NaN; NaN without any."""
        known = np.isfinite(values)
        count = self.count(known)
        # Around the middle, so that the squares of large values do not swallow their differences.
        middle = float(values[known].mean()) if known.any() else 0.0
        around = np.where(known, values - middle, 0.0)
        mean = _ratio(self.total(around), count)
        variance = _ratio(self.total(around**2), count) - mean**2
        return mean + middle, np.maximum(variance, 0.0)

    def largest(self, values: Floats) -> Floats:
        """Largest value in each range: of the two runs of a power of two that cover it."""
        length = self.high - self.low
        result = np.full(len(length), np.nan)
        best, width = values, 1
        while np.any(length >= width):
            now = (length >= width) & (length < 2 * width)
            result[now] = np.maximum(best[self.low[now]], best[self.high[now] - width])
            best = np.maximum(best[:-width], best[width:])
            width *= 2
        return result


def _ratio(part: Floats, whole: Floats) -> Floats:
    """The quotient, NaN where there is nothing to divide by."""
    result = np.full(len(whole), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result

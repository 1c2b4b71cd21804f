"""The parameters of recordings, as our detectors find them."""

from __future__ import annotations

import numpy as np
import polars as pl

from eyelid.gaze.events import events_of, gaze_of, lost_in
from eyelid.gaze.events.spans import Floats, Spans, covered
from eyelid.gaze.generator.parameters import NAMES, NOISE_HZ, PARAMETERS, PIVOT_DEG
from eyelid.gaze.generator.spectra import level, resting_spectrum
from eyelid.gaze.geometry import in_units
from eyelid.gaze.study import Recording, Study

# Fewer events have no spread worth the name.
_LEAST_EVENTS = 5
SCHEMA = {
    **dict.fromkeys(("person", "recording", "task", "stimulus"), pl.String),
    **dict.fromkeys(NAMES, pl.Float64),
}


def measured(study: Study) -> pl.DataFrame:
    """Every parameter of every recording: one row a recording, null where there is no such value.

    Angles are degrees where a screen's geometry or directions give them, and nominal ones elsewhere
    (`eyelid.gaze.geometry.PER_DEGREE`). Values are not cut off at their bounds. People can be
    measured apart: a row depends on its own recording alone.

    Args:
        study: of samples.

    >>> from eyelid.gaze.simulator import simulate
    >>> found = measured(simulate(2, ("comic",), minutes=0.5, seed=1))
    >>> found.shape, found["noise_128hz"].null_count()
    ((2, 23), 2)
    """
    in_mm = study.pupil_unit == "mm"
    rows = []
    for recording, units in gaze_of(study):
        values = _parameters(recording, units)
        if not in_mm:
            values["pupil_mm"] = np.nan
        rows.append(
            {
                "person": recording.person,
                "recording": recording.recording,
                "task": recording.task,
                "stimulus": recording.stimulus,
                **{name: float(values.get(name, np.nan)) for name in NAMES},
            }
        )
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(
        pl.col(NAMES).fill_nan(None)
    )


def _parameters(recording: Recording, units: str) -> dict[str, float]:
    """Those that this recording has."""
    time_ms = recording.time_ms
    if len(time_ms) < 3:
        return {}
    degree = in_units(1.0, units)
    missing = lost_in(recording)
    x, y = (np.where(missing, np.nan, recording[axis]) / degree for axis in "xy")
    events = events_of(recording, "robust", units)
    rate_hz = 1000.0 / float(np.median(np.diff(time_ms)))
    lasted_s = float(time_ms[-1] - time_ms[0]) / 1000.0
    values = {
        **_of_fixations(time_ms, events["fixation"]),
        **_of_saccades(time_ms, x, y, events["saccade"]),
        "blinks_per_min": 60.0 * len(events["blink"].onset) / lasted_s,
        "lost_share": float((missing & ~covered(events["blink"], len(missing))).mean()),
    }
    if (~missing).sum() > 2:
        values |= {"spread_x_deg": float(np.nanstd(x)), "spread_y_deg": float(np.nanstd(y))}
    frequency_hz, power = resting_spectrum(time_ms, x, y, events["fixation"])
    values |= {f"noise_{hz:g}hz": level(frequency_hz, power, hz) for hz in NOISE_HZ}
    if "pupil" in recording.columns:
        pupil = recording["pupil"][~missing]
        pupil = pupil[pupil > 0]
        if len(pupil) > 2:
            values["pupil_mm"] = float(pupil.mean())
            values["pupil_variation"] = float(pupil.std() / pupil.mean())
    for one in PARAMETERS:
        # Rates of real trackers are a little off.
        if rate_hz < 0.95 * one.least_hz:
            values.pop(one.name, None)
    return values


def _of_fixations(time_ms: Floats, fixations: Spans) -> dict[str, float]:
    duration_ms = time_ms[fixations.offset] - time_ms[fixations.onset]
    logs = np.log(duration_ms[duration_ms > 0])
    if len(logs) < _LEAST_EVENTS:
        return {}
    return {"fixation_ms": float(np.exp(logs.mean())), "fixation_log_sd": float(logs.std())}


def _of_saccades(time_ms: Floats, x: Floats, y: Floats, saccades: Spans) -> dict[str, float]:
    right, up = (axis[saccades.offset] - axis[saccades.onset] for axis in (x, y))
    amplitude = np.hypot(right, up)
    known = amplitude > 0
    right, up, amplitude = right[known], up[known], amplitude[known]
    if len(amplitude) < _LEAST_EVENTS:
        return {}
    logs = np.log(amplitude)
    flat = np.abs(right) > np.abs(up)
    rightward, leftward = flat & (right > 0), flat & (right < 0)
    values = {
        "saccade_amplitude_deg": float(np.exp(logs.mean())),
        "saccade_log_sd": float(logs.std()),
        "rightward_share": float(rightward.mean()),
        "leftward_share": float(leftward.mean()),
    }
    if min(rightward.sum(), leftward.sum()) >= 2:
        values["sweep"] = float(logs[leftward].mean() - logs[rightward].mean())
    peak = peak_speed_per_s(time_ms, x, y, saccades.keep(known))
    fast = peak > 0
    if fast.sum() >= _LEAST_EVENTS and logs[fast].std() > 0:
        speeds, away = np.log(peak[fast]), logs[fast] - np.log(PIVOT_DEG)
        slope = float(np.cov(away, speeds)[0, 1] / away.var(ddof=1))
        values["speed_slope"] = slope
        values["peak_speed_deg_s"] = float(np.exp(speeds.mean() - slope * away.mean()))
    return values


def peak_speed_per_s(time_ms: Floats, x: Floats, y: Floats, saccades: Spans) -> Floats:
    """The fastest that gaze moves between two neighbouring samples of each saccade."""
    if not len(saccades.onset):
        return np.zeros(0)
    speed = np.hypot(np.diff(x), np.diff(y)) / np.diff(time_ms) * 1000.0
    ends = np.column_stack([saccades.onset, saccades.offset]).ravel()
    speed = np.append(np.nan_to_num(speed), 0.0)
    return np.asarray(np.maximum.reduceat(speed, ends)[::2])

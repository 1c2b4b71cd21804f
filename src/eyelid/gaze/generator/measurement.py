"""The parameters of recordings, as our detectors find them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from eyelid.gaze.events import DEFAULT_METHOD, events_of, gaze_of, lost_in
from eyelid.gaze.events.spans import Floats, Mask, Spans, covered
from eyelid.gaze.generator.parameters import NAMES, NOISE_HZ, PARAMETERS, PIVOT_DEG
from eyelid.gaze.generator.spectra import level, resting_spectrum
from eyelid.gaze.geometry import in_units
from eyelid.gaze.study import Recording, Study

# Fewer events have no spread worth the name.
_LEAST_EVENTS = 5
_LEAST_FOR_SKEW = 10
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
    ((2, 25), 2)
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


class Found(NamedTuple):
    """The events of one recording, in degrees, nominal ones where there are no others.

    Attributes:
        time_ms: of its samples.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze.
        missing: where it was lost.
        fixations: where gaze rests.
        blinks: where the eye was closed.
        fixation_ms: how long each fixation lasted.
        fixation_x: where it was on average.
        fixation_y: likewise.
        right: how far each saccade went to the right.
        up: and up.
        amplitude: how far it went.
        peak_per_s: the fastest that gaze moved between two neighbouring samples seen of it.
        rate_hz: of the samples.
        lasted_s: from the first sample to the last.
    """

    time_ms: Floats
    x: Floats
    y: Floats
    missing: Mask
    fixations: Spans
    blinks: Spans
    fixation_ms: Floats
    fixation_x: Floats
    fixation_y: Floats
    right: Floats
    up: Floats
    amplitude: Floats
    peak_per_s: Floats
    rate_hz: float
    lasted_s: float


def found_in(recording: Recording, units: str) -> Found | None:
    """What eyelid's detector finds in a recording; None where it is too short to have events.

    Args:
        recording: with x and y in these units, as `eyelid.gaze.events.gaze_of` gives it.
        units: of x and y.
    """
    time_ms = recording.time_ms
    if len(time_ms) < 3:
        return None
    degree = in_units(1.0, units)
    missing = lost_in(recording)
    x, y = (np.where(missing, np.nan, recording[axis]) / degree for axis in "xy")
    events = events_of(recording, DEFAULT_METHOD, units)
    fixations, saccades = events["fixation"], events["saccade"]
    right, up = (axis[saccades.offset] - axis[saccades.onset] for axis in (x, y))
    moved = np.hypot(right, up) > 0
    return Found(
        time_ms,
        x,
        y,
        missing,
        fixations,
        events["blink"],
        time_ms[fixations.offset] - time_ms[fixations.onset],
        fixations.mean(x),
        fixations.mean(y),
        right[moved],
        up[moved],
        np.hypot(right, up)[moved],
        _peak_per_s(time_ms, x, y, saccades.keep(moved)),
        1000.0 / float(np.median(np.diff(time_ms))),
        float(time_ms[-1] - time_ms[0]) / 1000.0,
    )


def _parameters(recording: Recording, units: str) -> dict[str, float]:
    """Those that this recording has."""
    found = found_in(recording, units)
    if found is None:
        return {}
    missing, blinks = found.missing, found.blinks
    values = {
        **_of_fixations(found.fixation_ms),
        **_of_saccades(found),
        "blinks_per_min": 60.0 * len(blinks.onset) / found.lasted_s,
        "lost_share": float((missing & ~covered(blinks, len(missing))).mean()),
    }
    if min(len(found.fixation_ms), len(found.amplitude)) >= _LEAST_EVENTS:
        values["saccades_per_fixation"] = len(found.amplitude) / len(found.fixation_ms)
    if (~missing).sum() > 2:
        values["spread_x_deg"] = float(np.nanstd(found.x))
        values["spread_y_deg"] = float(np.nanstd(found.y))
    frequency_hz, power = resting_spectrum(found.time_ms, found.x, found.y, found.fixations)
    values |= {f"noise_{hz:g}hz": level(frequency_hz, power, hz) for hz in NOISE_HZ}
    if "pupil" in recording.columns:
        pupil = recording["pupil"][~missing]
        pupil = pupil[pupil > 0]
        if len(pupil) > 2:
            values["pupil_mm"] = float(pupil.mean())
            values["pupil_variation"] = float(pupil.std() / pupil.mean())
    for one in PARAMETERS:
        # Rates of real trackers are a little off.
        if found.rate_hz < 0.95 * one.least_hz:
            values.pop(one.name, None)
    return values


def _of_fixations(duration_ms: Floats) -> dict[str, float]:
    logs = np.log(duration_ms[duration_ms > 0])
    if len(logs) < _LEAST_EVENTS:
        return {}
    return {"fixation_ms": float(np.exp(logs.mean())), "fixation_log_sd": float(logs.std())}


def _of_saccades(found: Found) -> dict[str, float]:
    right, up, amplitude, peak = found.right, found.up, found.amplitude, found.peak_per_s
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
    if len(logs) >= _LEAST_FOR_SKEW and logs.std() > 0:
        values["saccade_skew"] = float((((logs - logs.mean()) / logs.std()) ** 3).mean())
    if min(rightward.sum(), leftward.sum()) >= 2:
        values["sweep"] = float(logs[leftward].mean() - logs[rightward].mean())
    fast = peak > 0
    if fast.sum() >= _LEAST_EVENTS and logs[fast].std() > 0:
        speeds, away = np.log(peak[fast]), logs[fast] - np.log(PIVOT_DEG)
        slope = float(np.cov(away, speeds)[0, 1] / away.var(ddof=1))
        values["speed_slope"] = slope
        values["peak_speed_deg_s"] = float(np.exp(speeds.mean() - slope * away.mean()))
    return values


def _peak_per_s(time_ms: Floats, x: Floats, y: Floats, saccades: Spans) -> Floats:
    """The fastest that gaze moves between two neighbouring samples of each saccade.

    Neighbouring are those between which none was seen.
    """
    if not len(saccades.onset):
        return np.zeros(0)
    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    time_ms, x, y = time_ms[seen], x[seen], y[seen]
    speed = np.append(np.hypot(np.diff(x), np.diff(y)) / np.diff(time_ms) * 1000.0, 0.0)
    onset, offset = (np.searchsorted(seen, ends) for ends in saccades)
    ends = np.column_stack([onset, np.maximum(offset, onset + 1)]).ravel()
    return np.asarray(np.maximum.reduceat(speed, np.minimum(ends, len(speed) - 1))[::2])

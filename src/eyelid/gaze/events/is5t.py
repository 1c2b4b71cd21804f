"""I-S5T: two speed thresholds on the sphere, for gaze that moves with the head."""

from __future__ import annotations

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.events.spans import Floats, Mask, Spans, covered, nothing, runs
from eyelid.gaze.events.velocity import MAX_GAP_MS, around, no_gap
from eyelid.gaze.geometry import direction


def is5t(
    time_ms: Floats,
    x: Floats,
    y: Floats,
    *,
    units: str = "deg",
    fast_deg_s: float = 150.0,
    slow_deg_s: float = 35.0,
    min_saccade_ms: float = 15.0,
    max_saccade_ms: float = 200.0,
    span_ms: float = 4.0,
    min_fixation_ms: float = 100.0,
    max_spread_deg: float = 0.55,
    max_drift_deg_s: float = 5.0,
    max_gap_ms: float = MAX_GAP_MS,
) -> dict[str, Spans]:
    """Fixations and saccades of gaze as directions in space.

    Angles are taken between unit vectors, so that neither the poles nor the back of the head are
    special. A saccade is a movement faster than ``slow_deg_s`` that somewhere reaches
    ``fast_deg_s``. What is between saccades is cut into equal pieces of at least
    ``min_fixation_ms``; a piece in which gaze neither spreads nor drifts is a fixation, together
    with such pieces next to it. The rest, pursuit for example, is neither.

    The thresholds are those of the papers on 360° video that followed Dorr et al. (2010),
    Variability of eye movements when viewing dynamic natural scenes, and Agtzidis, Startsev & Dorr
    (2019), 360-degree video gaze behaviour, who name the detector. How spread and drift are
    measured is our reading.

    Args:
        time_ms: increasing times of the samples.
        x: azimuth, degrees to the right, NaN where gaze was lost.
        y: elevation, degrees up, NaN where gaze was lost.
        units: of x and y; nothing but ``deg``.
        fast_deg_s: a saccade reaches this speed.
        slow_deg_s: and lasts for as long as it is faster than this.
        min_saccade_ms: shorter movements are no saccades.
        max_saccade_ms: nor are longer ones.
        span_ms: time over which speed is measured, or one interval where that is longer.
        min_fixation_ms: shorter fixations are left out.
        max_spread_deg: root mean square distance of a fixation's directions from their mean.
        max_drift_deg_s: speed between the means of the first and of the second half.
        max_gap_ms: events go on across lost signal up to this long, and end at longer losses.

    Returns:
        ``fixation`` and ``saccade`` spans, each in order of time.

    >>> import numpy as np
    >>> azimuth = np.repeat([175.0, 185.0], 30)
    >>> found = is5t(np.arange(60) * 1000 / 60, azimuth, np.zeros(60))
    >>> [index.tolist() for index in found["saccade"]]
    [[29], [30]]
    """
    if units != "deg":
        raise InputError(
            f"is5t needs directions or degrees, and x and y are in {units}: say how large and how "
            "far away the screen is (screen_m and distance_m of `map`), or choose another method"
        )
    seen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
    if len(seen) < 2:
        return nothing()
    time_ms = time_ms[seen]
    towards = np.stack(direction(x[seen], y[seen]))
    unbroken = no_gap(np.diff(time_ms), max_gap_ms)
    low, high = around(time_ms, unbroken, span_ms)
    speed_deg_s = _angle_deg(towards[:, low], towards[:, high]) / (time_ms[high] - time_ms[low])
    speed_deg_s *= 1000.0

    saccades = runs(unbroken & (speed_deg_s > slow_deg_s))
    reached = np.r_[0, np.cumsum(speed_deg_s >= fast_deg_s)]
    saccades = saccades.keep(reached[saccades.offset] > reached[saccades.onset])
    saccades = saccades.lasting(time_ms, min_saccade_ms, max_saccade_ms)

    between = runs(unbroken & ~covered(saccades, len(unbroken)))
    pieces = _pieces(between.lasting(time_ms, min_fixation_ms), time_ms, min_fixation_ms)
    steady = _steady(pieces, time_ms, towards, max_spread_deg, max_drift_deg_s)
    pieces = pieces.keep(steady)
    fixations = pieces.joined(pieces.onset[1:] != pieces.offset[:-1])
    fixations = fixations.lasting(time_ms, min_fixation_ms)
    return {
        "fixation": Spans(seen[fixations.onset], seen[fixations.offset]),
        "saccade": Spans(seen[saccades.onset], seen[saccades.offset]),
    }


def _angle_deg(one: Floats, other: Floats) -> Floats:
    """Angle between unit vectors, by half their distance: exact for small angles too."""
    half = np.sqrt(np.sum((one - other) ** 2, axis=0)) / 2
    return np.asarray(np.degrees(2 * np.arcsin(np.minimum(half, 1.0))))


def _pieces(spans: Spans, time_ms: Floats, least_ms: float) -> Spans:
    """Each span as equal pieces that last about as long as they must, or longer."""
    begin_ms, end_ms = time_ms[spans.onset], time_ms[spans.offset]
    count = np.maximum(((end_ms - begin_ms) / max(least_ms, 1.0)).astype(np.intp), 1)
    span = np.repeat(np.arange(len(count)), count)
    number = np.arange(len(span)) - (np.cumsum(count) - count)[span]
    step_ms = ((end_ms - begin_ms) / count)[span]
    onset = np.searchsorted(time_ms, begin_ms[span] + number * step_ms)
    onset = np.where(number == 0, spans.onset[span], onset)
    is_last = number == count[span] - 1
    offset = np.where(is_last, spans.offset[span], np.append(onset[1:], 0))
    # At a slow or uneven tracker a piece may have no interval of its own.
    return Spans(onset, offset).keep(offset > onset)


def _steady(
    pieces: Spans, time_ms: Floats, towards: Floats, max_spread_deg: float, max_drift_deg_s: float
) -> Mask:
    """Whether gaze neither spreads nor drifts in each piece."""
    # Of unit vectors with a mean of length R, the mean squared distance from it is 2 - 2R.
    length = np.linalg.norm([pieces.mean(axis) for axis in towards], axis=0)
    spread_deg = np.degrees(np.sqrt(np.maximum(2 - 2 * length, 0.0)))
    middle = (pieces.onset + pieces.offset) // 2
    halves = [Spans(pieces.onset, middle), Spans(middle + 1, pieces.offset)]
    means = [np.stack([half.mean(axis) for axis in towards]) for half in halves]
    first, second = (mean / np.linalg.norm(mean, axis=0) for mean in means)
    apart_ms = halves[1].mean(time_ms) - halves[0].mean(time_ms)
    drift_deg_s = _angle_deg(first, second) / apart_ms * 1000.0
    return np.asarray((spread_deg <= max_spread_deg) & (drift_deg_s < max_drift_deg_s))

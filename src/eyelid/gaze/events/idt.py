"""I-DT: fixations are where gaze stays within a small area for a while."""

from __future__ import annotations

import math

import numpy as np

from eyelid.gaze.events.spans import Floats, Indices, Mask, Spans, covered, nothing, runs_of_samples
from eyelid.gaze.events.velocity import MAX_GAP_MS, no_gap, nominal_rate_hz
from eyelid.gaze.geometry import in_units


def idt(
    time_ms: Floats,
    x: Floats,
    y: Floats,
    *,
    units: str = "deg",
    max_dispersion: float | None = None,
    min_fixation_ms: float = 100.0,
    min_saccade_ms: float = 10.0,
    max_saccade_ms: float = 200.0,
    max_gap_ms: float = MAX_GAP_MS,
) -> dict[str, Spans]:
    """Fixations by their dispersion, and the saccades between them.

    Fixations agree to the sample with pymovements' ``idt`` wherever that takes the input, its
    habits included: the sample that breaks the dispersion is the fixation's last, and a fixation
    across lost samples is cut there and keeps the parts that are long enough.

    A saccade goes from the last sample within one fixation to the first of the next, if nothing
    was lost between them.

    Salvucci & Goldberg (2000), Identifying fixations and saccades in eye-tracking protocols.

    Args:
        time_ms: increasing times of the samples.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze, NaN where it was lost.
        units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``.
        max_dispersion: extent along x plus extent along y; 1°.
        min_fixation_ms: shorter fixations are left out; as a number of samples at the nominal rate.
        min_saccade_ms: shorter moves between fixations are no saccades.
        max_saccade_ms: nor are longer ones.
        max_gap_ms: events end at longer intervals between samples.

    Returns:
        ``fixation`` and ``saccade`` spans, each in order of time.

    >>> import numpy as np
    >>> x = np.repeat([0.0, 5.0], 300)
    >>> found = idt(np.arange(600) * 1.0, x, np.zeros(600))
    >>> [index.tolist() for index in found["fixation"]]
    [[0, 301], [300, 599]]
    """
    limit = in_units(1.0, units) if max_dispersion is None else max_dispersion
    if len(time_ms) < 2:
        return nothing()
    interval_ms = np.diff(time_ms)
    samples = max(math.ceil(min_fixation_ms * nominal_rate_hz(interval_ms) / 1000 - 1e-6), 2)
    past = _past_ends(no_gap(interval_ms, max_gap_ms))
    windows = _windows(x, y, past, samples, limit)

    # A sample lost along either axis cuts, and only what comes before the last sample can.
    missing = ~(np.isfinite(x) & np.isfinite(y))
    lost_before = np.r_[0, np.cumsum(missing)]
    onset, end = windows
    whole = lost_before[end - 1] == lost_before[onset]
    inside = covered(Spans(onset[~whole], end[~whole] - 1), len(x))
    parts = runs_of_samples(inside & ~missing)
    parts = parts.keep(parts.offset - parts.onset + 1 >= samples)

    first = np.concatenate([onset[whole], parts.onset])
    last = np.concatenate([end[whole] - 1, parts.offset])
    within = np.concatenate([end[whole] - 2, parts.offset])
    order = np.argsort(first)
    fixations = Spans(first[order], last[order])
    moves = Spans(within[order][:-1], first[order][1:])
    seen = lost_before[moves.offset + 1] == lost_before[moves.onset]
    moves = moves.keep(seen & (past[moves.onset] == past[moves.offset]))
    return {
        "fixation": fixations,
        "saccade": moves.lasting(time_ms, min_saccade_ms, max_saccade_ms),
    }


def _past_ends(unbroken: Mask) -> Indices:
    """For each sample, one past the last sample before the next gap."""
    ends = np.r_[np.flatnonzero(~unbroken) + 1, len(unbroken) + 1]
    return np.asarray(np.repeat(ends, np.diff(ends, prepend=0)))


def _windows(x: Floats, y: Floats, past: Indices, samples: int, limit: float) -> Spans:
    """Windows that begin within the limit and go on to the first sample that breaks it.

    The offset is one past that sample. Each step looks at twice as many samples as the one before,
    so that the work is linear in the samples.
    """
    # Lost samples neither raise the largest value nor lower the smallest one.
    highs = [np.where(np.isfinite(axis), axis, -np.inf) for axis in (x, y)]
    lows = [np.where(np.isfinite(axis), axis, np.inf) for axis in (x, y)]
    begin = np.arange(max(len(x) - samples + 1, 0))
    most = [_sliding(np.maximum, axis, samples) for axis in highs]
    least = [_sliding(np.minimum, axis, samples) for axis in lows]
    dispersion = (most[0] - least[0]) + (most[1] - least[1])
    within = (dispersion > -np.inf) & (dispersion <= limit) & (begin + samples <= past[begin])
    starts = np.flatnonzero(within)

    onset, end = [], []
    place = 0
    while place < len(starts):
        start = int(starts[place])
        stop = start + samples
        last = int(past[start])
        if dispersion[start] < limit:
            stop = _extended(start, stop, last, samples, limit, highs, lows)
        onset.append(start)
        end.append(stop)
        place = int(np.searchsorted(starts, stop))
    return Spans(np.array(onset, dtype=np.intp), np.array(end, dtype=np.intp))


def _extended(
    start: int,
    stop: int,
    last: int,
    step: int,
    limit: float,
    highs: list[Floats],
    lows: list[Floats],
) -> int:
    """One past the first sample that breaks the limit, or the end."""
    most = [float(axis[start:stop].max()) for axis in highs]
    least = [float(axis[start:stop].min()) for axis in lows]
    while stop < last:
        ahead = slice(stop, min(stop + step, last))
        so_far = [
            np.maximum(np.maximum.accumulate(high[ahead]), top)
            - np.minimum(np.minimum.accumulate(low[ahead]), bottom)
            for high, low, top, bottom in zip(highs, lows, most, least, strict=True)
        ]
        broken = so_far[0] + so_far[1] >= limit
        where = int(broken.argmax())
        if broken[where]:
            return stop + where + 1
        most = [max(top, float(axis[ahead].max())) for axis, top in zip(highs, most, strict=True)]
        least = [min(low, float(axis[ahead].min())) for axis, low in zip(lows, least, strict=True)]
        stop, step = ahead.stop, 2 * step
    return stop


def _sliding(by: np.ufunc, values: Floats, width: int) -> Floats:
    """The largest or smallest of every run of ``width`` values, by doubling."""
    if len(values) < width:
        return values[:0]
    done = 1
    while 2 * done <= width:
        values = by(values[:-done], values[done:])
        done *= 2
    rest = width - done
    return by(values[: len(values) - rest], values[rest:]) if rest else values

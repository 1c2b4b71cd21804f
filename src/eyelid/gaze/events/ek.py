"""Engbert & Kliegl: saccades are outliers among a recording's own velocities."""

from __future__ import annotations

import numpy as np

from eyelid.gaze.events.spans import Floats, Mask, Spans, covered, runs_of_samples
from eyelid.gaze.events.velocity import MAX_GAP_MS, velocity_per_s

_TINY = 1e-10


def ek(
    time_ms: Floats,
    x: Floats,
    y: Floats,
    *,
    units: str = "deg",
    threshold_factor: float = 6.0,
    min_saccade_ms: float = 6.0,
    min_fixation_ms: float = 100.0,
    velocity: str = "fivepoint",
    max_gap_ms: float = MAX_GAP_MS,
) -> dict[str, Spans]:
    """Saccades and microsaccades of one recording, and the fixations between them.

    A sample is in a saccade where its velocity lies outside an ellipse whose half axes are
    ``threshold_factor`` times the median-based deviation of the velocities along x and y. The
    threshold adapts to noise, and is the same in any units. Saccades agree to the sample with
    pymovements' ``microsaccades``. Where more than half of the velocities are alike, as without any
    noise, every movement stands out; pymovements refuses that.

    Engbert & Kliegl (2003), Microsaccades uncover the orientation of covert attention; deviation
    as in Engbert et al. (2015), Microsaccade Toolbox.

    Args:
        time_ms: increasing times of the samples.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze, NaN where it was lost.
        units: of x and y; any.
        threshold_factor: λ.
        min_saccade_ms: shorter saccades, from their first to their last sample, are left out.
        min_fixation_ms: the same for fixations.
        velocity: how it is measured, see `eyelid.gaze.events.velocity.velocity_per_s`.
        max_gap_ms: events end at longer intervals between samples.

    Returns:
        ``fixation`` and ``saccade`` spans, each in order of time.

    >>> import numpy as np
    >>> x = np.repeat([0.0, 5.0], 300) + np.random.default_rng(0).normal(0.0, 0.02, 600)
    >>> found = ek(np.arange(600) * 2.0, x, x)
    >>> [index.tolist() for index in found["saccade"]]
    [[298], [302]]
    """
    components = np.stack(velocity_per_s(time_ms, x, y, velocity, max_gap_ms))
    known: Mask = np.all(np.isfinite(components), axis=0)
    fast: Mask = np.zeros(len(time_ms), dtype=np.bool_)
    if known.any():
        middle = np.nanmedian(components, axis=1, keepdims=True)
        deviation = np.sqrt(np.nanmedian((components - middle) ** 2, axis=1, keepdims=True))
        radius = np.maximum(deviation, _TINY) * threshold_factor
        fast = np.sum((components / radius) ** 2, axis=0) > 1
    saccades = runs_of_samples(fast).lasting(time_ms, min_saccade_ms)
    # A fast moment too short for a saccade is noise, and the fixation goes on.
    still = known & ~covered(Spans(saccades.onset, saccades.offset + 1), len(time_ms))
    return {
        "fixation": runs_of_samples(still).lasting(time_ms, min_fixation_ms),
        "saccade": saccades,
    }

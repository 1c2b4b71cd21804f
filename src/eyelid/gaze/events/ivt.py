"""I-VT: fixations are where gaze is slower than a threshold, saccades where it is not."""

from __future__ import annotations

import numpy as np

from eyelid.gaze.events.spans import Floats, Spans, runs_of_samples
from eyelid.gaze.events.velocity import MAX_GAP_MS, velocity_per_s
from eyelid.gaze.geometry import in_units


def ivt(
    time_ms: Floats,
    x: Floats,
    y: Floats,
    *,
    units: str = "deg",
    threshold_per_s: float | None = None,
    min_fixation_ms: float = 100.0,
    min_saccade_ms: float = 10.0,
    velocity: str = "fivepoint",
    max_gap_ms: float = MAX_GAP_MS,
) -> dict[str, Spans]:
    """Fixations and saccades of one recording, as in the textbook.

    Fixations agree to the sample with pymovements' ``ivt`` after its ``pos2vel``, at its defaults.
    Lost samples have no velocity, nor have the two on either side of them: events end there.

    Salvucci & Goldberg (2000), Identifying fixations and saccades in eye-tracking protocols.

    Args:
        time_ms: increasing times of the samples.
        x: horizontal gaze, NaN where it was lost.
        y: vertical gaze, NaN where it was lost.
        units: of x and y: ``deg``, ``px``, ``fraction`` or ``normalised``.
        threshold_per_s: speed below which the eye fixates; 20°/s.
        min_fixation_ms: shorter fixations, from their first to their last sample, are left out.
        min_saccade_ms: the same for saccades; one sample alone is never a saccade.
        velocity: how it is measured, see `eyelid.gaze.events.velocity.velocity_per_s`.
        max_gap_ms: events end at longer intervals between samples.

    Returns:
        ``fixation`` and ``saccade`` spans, each in order of time.

    >>> import numpy as np
    >>> x = np.repeat([0.0, 5.0], 300)
    >>> found = ivt(np.arange(600) * 1.0, x, np.zeros(600))
    >>> [index.tolist() for index in found["fixation"]]
    [[2, 302], [297, 597]]
    """
    threshold_per_s = in_units(20.0, units) if threshold_per_s is None else threshold_per_s
    along, across = velocity_per_s(time_ms, x, y, velocity, max_gap_ms)
    # In place, since fresh memory costs more than the sums.
    speed = np.multiply(along, along, out=along)
    speed += np.multiply(across, across, out=across)
    np.sqrt(speed, out=speed)
    slow, fast = runs_of_samples(speed < threshold_per_s), runs_of_samples(speed >= threshold_per_s)
    fast = fast.keep(fast.offset > fast.onset)
    return {
        "fixation": slow.lasting(time_ms, min_fixation_ms),
        "saccade": fast.lasting(time_ms, min_saccade_ms),
    }

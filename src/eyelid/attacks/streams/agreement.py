"""How well two streams agree on what is a fixation, moment by moment and event by event."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.events.spans import Floats, Mask, Spans, covered

# Two fixations are one when they share more than this of the time that either takes.
_SHARED = 0.5


def kappa(one: NDArray[np.generic], other: NDArray[np.generic]) -> float | None:
    """Cohen's κ of two who name each sample; None where chance alone makes them agree.

    >>> kappa(np.array([1, 1, 2, 2]), np.array([1, 1, 2, 1]))
    0.5
    """
    if not len(one):
        return None
    names, both = np.unique(np.concatenate([one, other]), return_inverse=True)
    first, second = (np.bincount(half, minlength=len(names)) for half in np.split(both, 2))
    chance = float(first @ second) / len(one) ** 2
    agreed = float(np.mean(one == other))
    return (agreed - chance) / (1 - chance) if chance < 1 else None


def f1(one: Mask, other: Mask) -> float | None:
    """Harmonic mean of precision and recall of two who say yes or no; None if nobody says yes.

    >>> f1(np.array([True, True, False]), np.array([True, False, False]))
    0.6666666666666666
    """
    said = int(one.sum() + other.sum())
    return 2 * int((one & other).sum()) / said if said else None


def fixating(found: dict[str, Spans], samples: int) -> Mask:
    """Which samples are of fixations; one that a saccade shares is the saccade's."""
    fixation, saccade = (
        covered(Spans(found[kind].onset, found[kind].offset + 1), samples)
        for kind in ("fixation", "saccade")
    )
    return fixation & ~saccade


def event_f1(ours_ms: tuple[Floats, Floats], theirs_ms: tuple[Floats, Floats]) -> float | None:
    """F1 of events by their onsets and offsets; two are the same by most of their joint time.

    >>> ours = np.array([0.0, 300.0]), np.array([200.0, 500.0])
    >>> event_f1(ours, (np.array([20.0]), np.array([220.0])))
    0.6666666666666666
    """
    (onset, offset), (begin, end) = ours_ms, theirs_ms
    if not len(onset) or not len(begin):
        return 0.0 if len(onset) or len(begin) else None
    # Whoever shares more than half of an event's time has its middle.
    near = np.maximum(np.searchsorted(begin, (onset + offset) / 2, side="right") - 1, 0)
    shared = np.minimum(offset, end[near]) - np.maximum(onset, begin[near])
    joint = np.maximum(offset, end[near]) - np.minimum(onset, begin[near])
    return 2 * int((shared > _SHARED * joint).sum()) / (len(onset) + len(begin))

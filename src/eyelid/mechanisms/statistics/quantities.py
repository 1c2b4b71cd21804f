"""What each person adds to a sum, in whole steps: at most Δ = 2³⁰ of them, whatever they are like.

Places are numbers in their public range: 0 at its lower end, 1 at its upper one, NaN where a person
has none. The grid costs nothing: any map of one person into {0 … Δ} moves a sum by at most Δ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import Values

DELTA = 2**30
"""Δ: how far one person moves a sum, at most, in steps."""


def _steps(shares: Values) -> Integers:
    """Shares between 0 and 1 as whole steps."""
    return np.rint(np.clip(shares, 0.0, 1.0) * DELTA).astype(np.int64)


def imputed(places: Values) -> Values:
    """The middle of the range where a number is missing, and everything inside the range."""
    return np.clip(np.where(np.isnan(places), 0.5, places), 0.0, 1.0)


def mean(places: Values) -> Integers:
    """A person's number; the middle of the range where there is none."""
    return _steps(imputed(places))


def second_moment(places: Values) -> Integers:
    """Its square about the middle of the range: 0 there, Δ at both ends."""
    return _steps((2 * imputed(places) - 1) ** 2)


def higher(places: Values) -> Integers:
    """Whether a difference is above 0, the middle of its range; half for 0 and for none."""
    return _steps(0.5 + 0.5 * np.nan_to_num(np.sign(places - 0.5)))


def clipped(places: Values) -> Integers:
    """Whether a number lies outside of its range."""
    return _steps(np.asarray((places < 0) | (places > 1), dtype=np.float64))


SUMS: dict[str, Callable[[Values], Integers]] = {
    "mean": mean,
    "sd": second_moment,
    "higher": higher,
    "clipped": clipped,
}
"""What a person adds to a statistic of one entry, from places (…, people)."""


def clipped_anywhere(places: Values) -> Integers:
    """Whether any of a person's numbers (…, people, entries) lies outside of its range."""
    return _steps(np.asarray(((places < 0) | (places > 1)).any(axis=-1), dtype=np.float64))


def in_steps(sums: Integers, sensitivity: int) -> Integers:
    """Whole numbers that a person moves by at most ``sensitivity``, in steps: ⌊S·Δ/s⌋.

    Rounding down keeps what differs by at most s within Δ.
    """
    # In two parts, so that nothing grows beyond what integers hold.
    whole, rest = np.divmod(sums, sensitivity)
    return np.asarray(whole * DELTA + rest * DELTA // sensitivity, dtype=np.int64)

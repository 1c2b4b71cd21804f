"""What would be shown of people who are as norms say: for promises before there are any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.statistics.estimate import Estimate
from eyelid.mechanisms.statistics.estimates import estimated_place, estimates, spread_of
from eyelid.mechanisms.statistics.intervals import clipped_moments
from eyelid.mechanisms.statistics.parts import Part
from eyelid.mechanisms.statistics.quantities import DELTA
from eyelid.mechanisms.statistics.ranges import LOG, Entry


def foreseen(
    parts: Sequence[Part], entries: Sequence[Entry], yes_or_no: Sequence[bool]
) -> list[Estimate]:
    """Results of people who are as norms say, in the middle of ranges without one.

    Shares are one half and relations none, where intervals are widest.

    Args:
        parts: of the mechanism.
        entries: every number with its range.
        yes_or_no: whether a number is 0 or 1.
    """
    return estimates(
        parts, entries, yes_or_no, [_shown(part, entries, yes_or_no) for part in parts]
    )


def _shown(part: Any, entries: Sequence[Entry], yes_or_no: Sequence[bool]) -> Integers:
    """Whole numbers without noise."""
    first = part.statistics[0]
    if first.cells:
        return np.full(part.shown, part.people * DELTA // first.cells)
    if part.noise is None:
        return np.array([part.candidates // 2])
    start, step = part.mean_of(0), part.mean_of(1) - part.mean_of(0)
    places = [_place(statistic, entries, yes_or_no) for statistic in part.statistics]
    return np.asarray(np.rint((np.array(places) - start) / step), dtype=np.int64)


def _place(statistic: Any, entries: Sequence[Entry], yes_or_no: Sequence[bool]) -> float:
    """Where a statistic lies for people whose mean is where the norm says."""
    if statistic.name not in ("mean", "sd"):
        return 0.5 if statistic.name == "higher" else 0.0
    (column,) = statistic.columns
    if yes_or_no[column]:
        return 0.5
    range_ = entries[column].range
    moments = clipped_moments(
        np.array(_middle(entries[column])), np.array(spread_of(range_)), range_.clips
    )
    return float((moments[0] + 1) / 2 if statistic.name == "mean" else moments[1])


def _middle(entry: Entry) -> float:
    """Where a norm's mean lies."""
    place = entry.range.place_of_norm
    return 0.5 if place is None else place


def off_by_one_sd(entry: Entry) -> float | None:
    """How far a mean is off by clipping, in its unit, should the norm be one deviation off.

    Args:
        entry: with its range; None comes of one that has no norm.
    """
    range_, sd = entry.range, entry.range.sd_in_places
    if sd is None:
        return None
    found = []
    for side in (-sd, sd):
        place = _middle(entry) + side
        clipped, *_ = clipped_moments(np.array(place), np.array(sd), range_.clips)
        there = estimated_place(float(clipped + 1) / 2, entry)
        found.append(abs(float(range_.value(place)) - float(range_.value(there))))
    return max(found)


def off_at_worst(entry: Entry) -> float | None:
    """How far a mean is off at worst for each hundredth of people outside of its range.

    Of logarithms as a factor, in its unit otherwise; None where there is no limit.

    Args:
        entry: with its range.
    """
    range_ = entry.range
    least, most = (
        float(range_.averaged(end)) if range_.scale == LOG else end for end in range_.within
    )
    low, high = (float(range_.averaged(end)) for end in (range_.lower, range_.upper))
    below, above = range_.clips
    farthest = max(low - least if below else 0.0, most - high if above else 0.0, 0.0)
    if not np.isfinite(farthest):
        return None
    return float(np.exp(farthest / 100)) if range_.scale == LOG else farthest / 100

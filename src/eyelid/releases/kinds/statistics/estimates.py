"""Estimates and intervals, of what was measured and public facts: nothing else of anybody."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.statistics.quantities import DELTA
from eyelid.mechanisms.statistics.ranges import Entry, Range
from eyelid.releases.kinds.statistics.foreseen import SPREADS_IN_RANGE
from eyelid.reporting.statistics.quote import QUANTILE

INTERVALS = "normal"
"""How intervals are made, as certificates name it."""
_SHARES = ("higher", "clipped")


class Estimate(NamedTuple):
    """One result.

    Attributes:
        estimate: in the measure's own unit.
        low: end of the 95 % interval, which covers sampling and noise.
        high: the other end.
        noise_sd: of the noise alone.
        people: over how many.
        unit: of all of them.
        p: of a test; None where there is none.
        note: what to know of it.
    """

    estimate: float | None
    low: float | None
    high: float | None
    noise_sd: float | None
    people: int
    unit: str
    p: float | None = None
    note: str = ""


def estimates(
    parts: Sequence[Any],
    entries: Sequence[Entry],
    shares: Sequence[bool],
    shown: Sequence[Integers],
) -> list[Estimate]:
    """All results, in the order of what was measured.

    Args:
        parts: of the mechanism.
        entries: every number with its range.
        shares: whether the mean of a number is a share of people.
        shown: whole numbers of each part.
    """
    found = []
    for part, numbers in zip(parts, shown, strict=True):
        if part.spread is None:
            found += list(_chosen(part, entries, numbers))
            continue
        for statistic, number in zip(part.statistics, numbers.tolist(), strict=True):
            found.append(_of_sum(part, statistic, number, entries, shares))
    return found


def _of_sum(
    part: Any, statistic: Any, number: int, entries: Sequence[Entry], shares: Sequence[bool]
) -> Estimate:
    """Of one noisy sum over people."""
    name, people, spread = statistic.name, part.people, part.spread
    if name in ("mean", "sd"):
        entry, share = entries[statistic.columns[0]], shares[statistic.columns[0]]
        place = part.mean_of(number)
        return (_mean if name == "mean" else _sd)(entry, share, place, spread, people)
    if name in _SHARES:
        return _share(part.mean_of(number), spread, people)
    if name == "superiority":
        first, second = (part.sizes[which] for which in statistic.groups)
        moved = max(first, second) / (first * second)
        noise = moved * spread * people
        sampling = math.sqrt((first + second + 1) / (12 * first * second))
        value = 0.5 + moved * number / DELTA
        return _around(value, sampling, noise, people, (0.0, 1.0))
    # Kendall's τ over N(N − 1)/2 pairs, the signed rank over N(N + 1)/2.
    rank = part.sensitivity(statistic)
    pairs = people * (people + (1 if name == "signed-rank" else -1)) / 2
    noise = rank * spread * people / pairs
    sampling = math.sqrt(2 * (2 * people + 5) / (9 * people * (people - 1)))
    return _around(rank * number / DELTA / pairs, sampling, noise, people, (-1.0, 1.0))


def _mean(entry: Entry, share: bool, place: float, spread: float, people: int) -> Estimate:
    """In the measure's own unit; of logarithms the geometric mean."""
    range_: Range = entry.range
    if share:
        return _share(place, spread, people)
    sd = range_.width / SPREADS_IN_RANGE if range_.sd is None else 1.25 * range_.sd
    half = QUANTILE * math.hypot(spread * range_.width, sd / math.sqrt(people)) / range_.width
    value, low, high = (float(range_.value(at)) for at in (place, place - half, place + half))
    noise = spread * range_.width * (value if range_.scale == "log" else 1.0)
    note = "" if range_.sd is not None else "spread between people taken as a sixth of the range"
    return Estimate(value, low, high, noise, people, entry.unit, None, note)


def _sd(entry: Entry, share: bool, place: float, spread: float, people: int) -> Estimate:
    """The root of the second moment about the middle of the range."""
    half = entry.range.width / 2
    value = half * math.sqrt(max(place, 0.0))
    return Estimate(
        value, None, None, None, people, entry.unit, None, "about the middle of the range"
    )


def _share(place: float, spread: float, people: int) -> Estimate:
    inside = min(max(place, 0.5 / people), 1 - 0.5 / people)
    sampling = math.sqrt(inside * (1 - inside) / people)
    return _around(place, sampling, spread, people, (0.0, 1.0))


def _around(
    value: float,
    sampling: float,
    noise: float,
    people: int,
    within: tuple[float, float],
) -> Estimate:
    """With an interval of sampling and noise, within what is possible."""
    total = math.hypot(sampling, noise)
    least, most = within
    low, high = (min(max(value + side * QUANTILE * total, least), most) for side in (-1.0, 1.0))
    return Estimate(min(max(value, least), most), low, high, noise, people, "1")


def _chosen(part: Any, entries: Sequence[Entry], numbers: Integers) -> Iterator[Estimate]:
    """Of what was drawn from candidates, or counted in cells: there is no interval."""
    (statistic,) = part.statistics
    entry, people = entries[statistic.columns[-1]], part.people
    if statistic.cells:
        noise = math.sqrt(part.distribution.variance) / DELTA
        for number in numbers.tolist():
            yield Estimate(number / DELTA, None, None, noise, people, "people")
        return
    at = int(numbers[0])
    if statistic.name == "slope":
        up, across = (entries[column].range.width for column in reversed(statistic.columns))
        yield Estimate(math.tan(part.angles[at]) * up / across, None, None, None, people, "")
    else:
        value = float(entry.range.value(part.grid[at]))
        yield Estimate(value, None, None, None, people, entry.unit)

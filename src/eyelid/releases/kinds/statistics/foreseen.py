"""How exact results will be, from public facts alone: noise, intervals, and what they can show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eyelid.errors import InputError
from eyelid.mechanisms.statistics.estimates import SPREADS_IN_RANGE
from eyelid.mechanisms.statistics.ranges import Range
from eyelid.mechanisms.statistics.summary import StatisticsFacts, Summary
from eyelid.reporting.statistics.quote import Exactness

_MOST_PEOPLE, _MOST_EPSILON = 1_000_000, 1000.0


def exactness_of(
    mechanism: Summary, facts: StatisticsFacts, ranges: Sequence[Range], shares: Sequence[bool]
) -> list[Exactness | None]:
    """How exact every result will be, in the order of what is measured; None where it is not known.

    Args:
        mechanism: with its parameters.
        facts: the public facts.
        ranges: of every number.
        shares: whether its mean is a share of people.
    """
    return [
        _exactness(part, statistic, ranges, shares)
        for part in mechanism.parts_for(facts)
        for statistic in part.statistics
        for _ in range(statistic.cells + 1)
    ]


def _exactness(
    part: Any, statistic: Any, ranges: Sequence[Range], shares: Sequence[bool]
) -> Exactness | None:
    spread, people = part.spread, part.people
    if spread is None:
        return None
    if statistic.name == "mean":
        return _of_mean(ranges[statistic.columns[0]], shares[statistic.columns[0]], spread, people)
    if statistic.name in ("higher", "clipped"):
        return Exactness(spread, 0.5 / math.sqrt(people), 1.0)
    if statistic.name == "superiority":
        first, second = (part.sizes[which] for which in statistic.groups)
        # A person moves U by at most max(n₁, n₂), and U is divided by n₁·n₂.
        sampling = math.sqrt((first + second + 1) / (12 * first * second))
        return Exactness(spread * people / min(first, second), sampling, 1.0)
    if statistic.name == "tau":
        sampling = math.sqrt(2 * (2 * people + 5) / (9 * people * (people - 1)))
        return Exactness(4 * spread, sampling, 1.0)
    return None


def _of_mean(range_: Range, is_share: bool, spread: float, people: int) -> Exactness:
    if is_share:
        return Exactness(spread * range_.width, 0.5 / math.sqrt(people), 1.0)
    sd = range_.width / SPREADS_IN_RANGE if range_.sd is None else range_.sd
    return Exactness(spread * range_.width, sd / math.sqrt(people), sd, range_.sd is None)


def least_people(enough: Callable[[int], bool], fewest: int = 2) -> int | None:
    """From how many people on something is enough; None where no number is.

    Args:
        enough: whether so many are; once true, always true of more.
        fewest: to begin with.
    """
    high = fewest
    while not enough(high):
        if high >= _MOST_PEOPLE:
            return None
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(high, fewest)


def least_epsilon(enough: Callable[[float], bool]) -> float | None:
    """The least ε, with two digits, that is enough; None where none is.

    Args:
        enough: whether it is; once true, always true of more.
    """
    grid = [float(f"{value:.2g}") for value in _epsilons()]
    low, high = 0, len(grid) - 1
    if not enough(grid[high]):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(grid[middle]) else (middle + 1, high)
    return grid[low]


def _epsilons() -> Iterator[float]:
    """From 0.01 on, in steps of one part in fifty."""
    value = 0.01
    while value <= _MOST_EPSILON:
        yield value
        value *= 1.02


def wanted_width(said: str) -> float:
    """The width of an interval from ``width=W``.

    >>> wanted_width("width=0.3")
    0.3
    """
    name, _, value = said.partition("=")
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if name.strip() != "width" or not (math.isfinite(found) and found > 0):
        raise InputError(
            "--want takes width=W, of a 95 % interval in standard deviations between people, such "
            f"as width=0.3, got '{said}'"
        )
    return found

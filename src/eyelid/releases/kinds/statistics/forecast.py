"""How exact results will be, from public facts alone: noise, intervals, and what they can show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from eyelid.errors import InputError
from eyelid.mechanisms.statistics.estimate import Estimate
from eyelid.mechanisms.statistics.estimates import spread_of
from eyelid.mechanisms.statistics.parts import Part, each_result
from eyelid.mechanisms.statistics.power import effect_found, noise_of_test
from eyelid.mechanisms.statistics.ranges import Entry
from eyelid.mechanisms.statistics.typical import foreseen
from eyelid.reporting.statistics.quote import Exactness

_MOST_PEOPLE, _MOST_EPSILON = 1_000_000, 1000.0
QUANTILE, _POWER = 1.959963984540054, 0.8416212335729143
"""Quantiles of a two-sided test at 5%, and of one that finds four of five effects."""
# Studies of more people are not simulated: their tests are as those of normal numbers.
_MOST_SIMULATED = 120


def widths_of(
    parts: Sequence[Part], entries: Sequence[Entry], shares: Sequence[bool]
) -> list[float | None]:
    """How wide the interval of every result will be, in standard deviations between people.

    Of shares and relations as it is; None of what is not told in these.

    Args:
        parts: of the mechanism.
        entries: every number with its range.
        shares: whether its mean is a share of people.
    """
    found = foreseen(parts, entries, shares)
    return [
        _relative(one, statistic, entries, shares)
        for one, (_, statistic) in zip(found, each_result(parts), strict=True)
    ]


def exactness_of(
    parts: Sequence[Part], entries: Sequence[Entry], shares: Sequence[bool]
) -> list[Exactness | None]:
    """How exact every result will be, in the order of what is measured; None where it is not known.

    Args:
        parts: of the mechanism.
        entries: every number with its range.
        shares: whether its mean is a share of people.
    """
    found = foreseen(parts, entries, shares)
    return [
        _exactness(one, part, statistic, _relative(one, statistic, entries, shares), entries)
        for one, (part, statistic) in zip(found, each_result(parts), strict=True)
    ]


def _exactness(
    found: Estimate, part: Any, statistic: Any, relative: float | None, entries: Sequence[Entry]
) -> Exactness | None:
    if found.low is None or found.high is None:
        return None
    width = found.high - found.low
    known = all(entries[column].range.sd is not None for column in statistic.columns)
    in_sds = statistic.name in _IN_SDS and not _of_share(found.unit, statistic, entries)
    effect = _effect(part, statistic, width)
    return Exactness(found.noise_sd, width, effect, relative, in_sds and not known, found.shares)


def _of_share(unit: str, statistic: Any, entries: Sequence[Entry]) -> bool:
    """Whether it is of numbers without a unit between 0 and 1."""
    ranges = [entries[column].range for column in statistic.columns]
    return unit == "1" and all(each.lower >= -1 and each.upper <= 1 for each in ranges)


def _relative(
    found: Estimate, statistic: Any, entries: Sequence[Entry], shares: Sequence[bool]
) -> float | None:
    """The width in standard deviations between people, where a result has one."""
    if found.low is None or found.high is None or statistic.name not in (*_IN_SDS, *_AS_THEY_ARE):
        return None
    if statistic.name in _AS_THEY_ARE or shares[statistic.columns[0]]:
        return found.high - found.low
    range_ = entries[statistic.columns[0]].range
    low, high = (range_.place(end) for end in (found.low, found.high))
    return float((high - low) / spread_of(range_))


def _effect(part: Any, statistic: Any, width: float) -> float | None:
    """The smallest effect that a test at 5% finds in four of five studies, in its own unit."""
    test = _TESTS.get(statistic.name)
    if statistic.name not in (*_IN_SDS, *_TESTS):
        return None
    groups = [part.sizes[which] for which in statistic.groups or ()] or [part.people]
    if test is None or sum(groups) > _MOST_SIMULATED:
        # Sampling and noise are normal then, next to what else is not known.
        return (QUANTILE + _POWER) * width / (2 * QUANTILE)
    noise = noise_of_test(test, float(part.epsilon), *groups, numbers=part.shown)
    effect = effect_found(test, noise, *groups)
    return None if effect is None else _IN_ITS_UNIT[test](effect)


def _chance(effect: float) -> float:
    """Φ."""
    return (1 + math.erf(effect / math.sqrt(2))) / 2


# What is told in standard deviations between people, and what as it is.
_IN_SDS = ("mean", "median", "quantile")
_AS_THEY_ARE = ("higher", "clipped", "signed-rank", "superiority", "tau")
_TESTS = {
    "higher": "sign",
    "signed-rank": "signed-rank",
    "superiority": "superiority",
    "tau": "tau",
}
# An effect in standard deviations, as what is released of it: beyond one half, or beyond 0.
_IN_ITS_UNIT: dict[str, Callable[[float], float]] = {
    "sign": lambda effect: _chance(effect) - 0.5,
    "signed-rank": lambda effect: 2 * _chance(math.sqrt(2) * effect) - 1,
    "superiority": lambda effect: _chance(effect / math.sqrt(2)) - 0.5,
    "tau": lambda effect: effect,
}


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
            "--want takes width=W, of a 95% interval in standard deviations between people, such "
            f"as width=0.3, got '{said}'"
        )
    return found

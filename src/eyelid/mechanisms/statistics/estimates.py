"""Results: estimates with intervals and tests, from what was shown and public facts alone.

An estimate of a mean is the noisy mean of clipped numbers, moved by what clipping takes away from
normally distributed people. Its interval is about people: it says where the mean of those lies of
whom the study is a sample, had nobody been clipped. Where the noisy count of people outside of the
range says that more of them were clipped than a model can put right, estimate, interval and note
are about the clipped mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.statistics import intervals
from eyelid.mechanisms.statistics.estimate import Estimate
from eyelid.mechanisms.statistics.intervals import WIDER, Interval
from eyelid.mechanisms.statistics.parts import Part
from eyelid.mechanisms.statistics.planning import width_of
from eyelid.mechanisms.statistics.quantities import DELTA
from eyelid.mechanisms.statistics.ranges import LOG, Entry, Range
from eyelid.mechanisms.statistics.significance import p_value
from eyelid.mechanisms.statistics.spread import NoiseOfOne
from eyelid.mechanisms.statistics.statistic import Statistic

INTERVALS = "modelled"
"""How intervals are made, as certificates name it."""
SPREADS_IN_RANGE = 6.0
"""Where nobody knows how people spread, a range by definition is taken for so many of them."""
TIES = "ties and people without a number count half"
"""What a share of people who are higher, and a probability of superiority, counts them as."""
MOST_CLIPPED = 0.03
"""The share of people outside of a range that intervals put right."""
# Standard deviations of the noise by which it must be exceeded.
_DOUBT = 0.5
# How far off the share outside is by people who are not normal: skewed ones have some 1% more.
_NOT_NORMAL = 0.01
_SDS_IN_INTERVAL = 3.92
# Without a norm a spread that is measured may be anything.
_UNKNOWN_FACTOR = 2.5
_ASSUMED = (
    "spread between people taken as a sixth of the range: the interval is too narrow where it is "
    "larger"
)
_ONE_PEAK = (
    "spread between people taken as large as one peak in this range allows: the interval is too "
    "narrow only where they form two clumps"
)
_ASSUMED_BEFORE = "thought beforehand to be about a sixth of the range: far smaller ones are missed"
_NORM_SPREAD = "spread between people by the norm"
CLIPPED, _AT_THE_END = "a clipped mean", "at the end of its range"
_FAR = "far from its norm"
WARNINGS = (CLIPPED, _AT_THE_END, _FAR)
"""How notes begin that say that a result is not what it is called."""


def estimates(
    parts: Sequence[Part],
    entries: Sequence[Entry],
    yes_or_no: Sequence[bool],
    shown: Sequence[Integers],
) -> list[Estimate]:
    """All results, in the order of what was measured.

    Args:
        parts: of the mechanism.
        entries: every number with its range.
        yes_or_no: whether a number is 0 or 1, so that its mean is a share of people.
        shown: whole numbers of each part.
    """
    found: list[Estimate] = []
    outside = people_outside(parts, shown, entries)
    counted = any(one.name == "clipped" for part in parts for one in part.statistics)
    for part, numbers in zip(parts, shown, strict=True):
        if part.noise is None:
            found.append(_chosen(part, entries, int(numbers[0])))
        elif part.statistics[0].cells:
            found += _counts(part, numbers)
        else:
            found += _of_sums(_Shown(part, numbers.tolist(), outside, counted), entries, yes_or_no)
    return found


@dataclass(frozen=True)
class _Shown:
    """Noisy sums over the same people.

    Attributes:
        part: that showed them.
        numbers: in its order.
        outside: people outside of a range, by their group and of which numbers (of any: none),
            where more of them were clipped than intervals put right.
        counted: whether people outside of their range are counted.
    """

    part: Any
    numbers: list[int]
    outside: Mapping[tuple[int | None, tuple[int, ...]], Estimate]
    counted: bool = False

    @property
    def noise(self) -> NoiseOfOne:
        """On the mean over people, in places."""
        noise: NoiseOfOne = self.part.noise
        return noise

    def mean(self, statistic: Statistic) -> float:
        """The noisy mean over people of what each added, between 0 and 1 without noise."""
        at = self.part.statistics.index(statistic)
        mean: float = self.part.mean_of(self.numbers[at])
        return mean

    def clipped(self, statistic: Statistic) -> Estimate | None:
        """The share of people outside of these numbers' range, or of any, where it is too large."""
        group = self.part.group
        return self.outside.get((group, statistic.columns)) or self.outside.get((group, ()))

    def other(self, name: str, statistic: Statistic) -> float | None:
        """The noisy mean of another statistic of the same numbers; None where it was not asked."""
        wanted = replace(statistic, name=name)
        return self.mean(wanted) if wanted in self.part.statistics else None


def _of_sums(
    shown: _Shown, entries: Sequence[Entry], yes_or_no: Sequence[bool]
) -> Iterator[Estimate]:
    for statistic in shown.part.statistics:
        name = statistic.name
        told_apart = bool(statistic.columns) and yes_or_no[statistic.columns[0]]
        if name in ("higher", "clipped") or (name == "mean" and told_apart):
            yield _share(shown, statistic)
        elif name == "sd" and told_apart:
            # Of a yes or no the share says it all, and its second moment nothing.
            yield Estimate(None, None, None, None, shown.part.people, "1", None, "see the share")
        elif name in ("mean", "sd"):
            yield (_mean if name == "mean" else _sd)(
                shown, statistic, entries[statistic.columns[0]]
            )
        else:
            yield _of_pairs(shown, statistic)


# Means and spreads.


def _mean(shown: _Shown, statistic: Statistic, entry: Entry) -> Estimate:
    """In the measure's own unit; of logarithms the geometric mean."""
    range_, people, noise = entry.range, shown.part.people, shown.noise
    place = shown.mean(statistic)
    fitted = _fitted(shown, statistic, range_)
    unknown = fitted is None and range_.sd is None and not any(range_.clips)
    if unknown:
        sd = float(intervals.widest_spread(np.clip(place, 0.0, 1.0)))
        found = intervals.mean_of_one_peak(place, people, noise)
    elif fitted is None:
        sd = WIDER * spread_of(range_)
        found = intervals.mean_by_norm(place, people, sd / WIDER, noise, range_.clips)
    else:
        sd, found = fitted.sd_estimate, fitted.mean
    spread = spread_of(range_) if fitted is None else fitted.sd_estimate
    inside = estimated_place(place, entry, spread)
    outside = shown.clipped(statistic)
    notes = []
    if outside is not None:
        inside = float(np.clip(place, 0.0, 1.0))
        half = width_of(noise, min(sd, 0.5) / math.sqrt(people)) / 2
        found = Interval(max(place - half, 0.0), min(place + half, 1.0))
        notes.append(_about_clipped(outside, entry))
    elif intervals.is_outside(place, spread, range_.clips):
        notes.append(
            f"{_AT_THE_END}: most people may lie outside of it, and their mean as far beyond the "
            "estimate as the interval reaches"
        )
    elif (
        fitted is None
        and not entry.contrast
        and not shown.counted
        and _is_far(place, shown, range_)
    ):
        notes.append(
            f"{_FAR}: noise and sampling alone hardly explain it, so that more people may lie "
            "outside of the range than the interval puts right"
        )
    if fitted is None:
        assumed = _ONE_PEAK if unknown else _ASSUMED
        notes.append(assumed if range_.sd is None else _NORM_SPREAD)
    found = found.around(inside)
    # Nobody is beyond the end of a definition, and so is no mean.
    below, above = range_.clips
    found = Interval(
        found.low if below else max(found.low, 0.0), found.high if above else min(found.high, 1.0)
    )
    value, low, high = (float(range_.value(at)) for at in (inside, found.low, found.high))
    return Estimate(
        value,
        low,
        high,
        noise.sd * range_.width * (value if range_.scale == LOG else 1.0),
        people,
        entry.unit,
        None,
        "; ".join(notes),
        _parted(found, sd / math.sqrt(people), noise),
    )


def _is_far(place: float, shown: _Shown, range_: Range) -> bool:
    centre, sd = range_.place_of_norm, range_.sd_in_places
    if centre is None or sd is None:
        return False
    return intervals.is_seldom(place - centre, sd / math.sqrt(shown.part.people), shown.noise)


def estimated_place(shown: float, entry: Entry, spread: float | None = None) -> float:
    """Where people's mean lies in their range, from the noisy mean of clipped numbers.

    Args:
        shown: the noisy mean, in places.
        entry: what it is of.
        spread: of people, in places; by default the norm's.
    """
    # How differences are spread is a guess: nothing is moved by it.
    clips = (False, False) if entry.contrast else entry.range.clips
    spread = spread_of(entry.range) if spread is None else spread
    return intervals.unclipped(shown, spread, clips)


def _sd(shown: _Shown, statistic: Statistic, entry: Entry) -> Estimate:
    """How far people are spread; of logarithms that of logarithms."""
    range_, people = entry.range, shown.part.people
    unit = "1" if range_.scale == LOG else entry.unit
    note = "of natural logarithms" if range_.scale == LOG else ""
    fitted = _fitted(shown, statistic, range_)
    if fitted is None:
        value = range_.width / 2 * math.sqrt(max(shown.mean(statistic), 0.0))
        about = "; ".join(filter(None, ("about the middle of the range", note)))
        return Estimate(value, None, None, None, people, unit, None, about)
    if range_.sd is None:
        note = "; ".join(filter(None, (_ASSUMED_BEFORE, note)))
    ends = (fitted.sd_estimate, fitted.sd.low, fitted.sd.high)
    value, low, high = (end * range_.width for end in ends)
    return Estimate(value, low, high, None, people, unit, None, note)


def _fitted(shown: _Shown, statistic: Statistic, range_: Range) -> intervals.Fitted | None:
    """Mean and spread together, where second moments were asked of the same numbers."""
    mean, moment = shown.other("mean", statistic), shown.other("sd", statistic)
    if mean is None or moment is None:
        return None
    factor = intervals.PRIOR_FACTOR if range_.sd is not None else _UNKNOWN_FACTOR
    return intervals.mean_and_spread(
        mean, moment, shown.part.people, shown.noise, spread_of(range_), factor, range_.clips
    )


def spread_of(range_: Range) -> float:
    """How far people are thought to be spread before the study, as a share of the range.

    Args:
        range_: of their numbers.
    """
    return range_.sd_in_places or 1 / SPREADS_IN_RANGE


def _parted(found: Interval, sampling_sd: float, noise: NoiseOfOne) -> tuple[float, ...]:
    """Shares of sampling, noise and clipping in a squared width."""
    from scipy.special import ndtri

    sampling = (2 * float(ndtri((1 + intervals.LEVEL) / 2)) * sampling_sd) ** 2
    of_noise = width_of(noise, 0.0) ** 2 if noise.scale else 0.0
    clipping = max(0.0, (found.high - found.low) ** 2 - sampling - of_noise)
    total = sampling + of_noise + clipping
    return sampling / total, of_noise / total, clipping / total


def people_outside(
    parts: Sequence[Part], shown: Sequence[Integers], entries: Sequence[Entry]
) -> dict[tuple[int | None, tuple[int, ...]], Estimate]:
    """Where more people lie outside of a range than intervals put right, as far as can be seen.

    Args:
        parts: of the mechanism.
        shown: whole numbers of each part.
        entries: every number with its range.

    Returns:
        the share of people, by group and entries (none of them where it is any).
    """
    found = {}
    for part, numbers in zip(parts, shown, strict=True):
        counted = _Shown(part, numbers.tolist(), {})
        for statistic in part.statistics:
            if statistic.name != "clipped":
                continue
            share, sd = _share_outside(counted, statistic, entries)
            # Of those outside of any range some may be outside of one alone.
            most = MOST_CLIPPED * (1 if statistic.columns else len(entries))
            if beyond(counted.mean(statistic), counted.noise.sd, most) or beyond(share, sd, most):
                said = _share(counted, statistic)
                share, high = min(max(share, said.estimate or 0.0), 1.0), said.high or 1.0
                found[part.group, statistic.columns] = replace(
                    said, estimate=share, high=max(share, high)
                )
    return found


def beyond(share: float, sd: float, most: float = MOST_CLIPPED) -> bool:
    """Whether more people were clipped than intervals put right, as far as noise lets one see.

    Args:
        share: of people outside, as it is estimated.
        sd: of that estimate.
        most: what is put right.
    """
    return share > most + _DOUBT * sd


def _share_outside(
    counted: _Shown, statistic: Statistic, entries: Sequence[Entry]
) -> tuple[float, float]:
    """The share of people outside of a range, or of any, and how far off it may be.

    The count has the noise of every other number, which is large for what is small; means that lie
    near the end of their range, and spreads, say the same of normal people. Both are weighed.
    """
    share, sd = counted.mean(statistic), counted.noise.sd
    columns = statistic.columns or range(len(entries))
    modelled = [_modelled(counted, column, statistic, entries[column]) for column in columns]
    known = [each for each in modelled if each is not None]
    if len(known) < len(modelled) or not sd:
        return share, sd
    model, model_sd = sum(one for one, _ in known), math.hypot(*(sd for _, sd in known))
    weight = sd**2 / (sd**2 + model_sd**2)
    return share + weight * (model - share), model_sd * math.sqrt(weight)


def _modelled(
    counted: _Shown, column: int, statistic: Statistic, entry: Entry
) -> tuple[float, float] | None:
    """The share of normal people outside of a range by their mean and spread; how far off it is.

    None where their mean was not asked, and of differences, whose spread is a guess.
    """
    from scipy.special import ndtr

    mean = replace(statistic, name="mean", columns=(column,))
    if entry.contrast or mean not in counted.part.statistics:
        return None
    range_, place = entry.range, float(np.clip(counted.mean(mean), 0.0, 1.0))
    fitted = _fitted(counted, mean, range_)
    spread, off = spread_of(range_), (WIDER - 1) * spread_of(range_)
    if fitted is not None:
        spread, off = fitted.sd_estimate, (fitted.sd.high - fitted.sd.low) / _SDS_IN_INTERVAL
    place = intervals.unclipped(place, spread, range_.clips)
    share, by_mean, by_spread = 0.0, 0.0, 0.0
    for clips, z, side in zip(
        range_.clips, (-place / spread, (place - 1) / spread), (-1, 1), strict=True
    ):
        if clips:
            density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / spread
            share += float(ndtr(z))
            by_mean += side * density
            by_spread -= z * density
    return share, math.hypot(by_mean * counted.noise.sd, by_spread * off, _NOT_NORMAL)


def _about_clipped(outside: Estimate, entry: Entry) -> str:
    """That a mean is one of clipped numbers, and how far off people's mean may be."""
    range_ = entry.range
    least, most = range_.within
    farthest = max(range_.lower - least, most - range_.upper, 0.0)
    worst = "without a limit"
    if not math.isinf(farthest):
        most = float(f"{(outside.high or 1.0) * farthest:.3g}")
        worst = f"by up to {most:,.10g} {entry.unit}".rstrip()
    return (
        f"{CLIPPED}: about {100 * (outside.estimate or 0.0):.0f}% of people lie outside of "
        f"the range, and their mean itself may be off {worst}"
    )


# Shares and rank statistics.


def _share(shown: _Shown, statistic: Statistic) -> Estimate:
    """A share of people."""
    people, noise = shown.part.people, shown.noise
    place = shown.mean(statistic)
    inside = float(np.clip(place, 0.0, 1.0))
    found = intervals.share(place, people, noise).around(inside)
    sampling = math.sqrt(max(inside * (1 - inside), 0.25 / people) / people)
    p, note = None, ""
    if statistic.name == "higher":
        note = TIES
        p = p_value("sign", 2 * place - 1, noise.times(2), people)
    return Estimate(
        inside,
        found.low,
        found.high,
        noise.sd,
        people,
        "1",
        p,
        note,
        _parted(found, sampling, noise),
    )


def _of_pairs(shown: _Shown, statistic: Statistic) -> Estimate:
    """Kendall's τ, the signed rank over its largest value, or the probability of superiority."""
    part, people = shown.part, shown.part.people
    groups: tuple[int, ...] = (people,)
    if statistic.name == "signed-rank":
        pairs, spread = people * (people + 1) / 2, intervals.signed_rank_spread(people)
    elif statistic.name == "tau":
        pairs, spread = people * (people - 1) / 2, intervals.tau_spread(people)
    else:
        groups = tuple(part.sizes[which] for which in statistic.groups or ())
        pairs, spread = math.prod(groups), intervals.dominance_spread(*groups)
    # What is shown is the sum over the sensitivity, and its noise that of a mean over people.
    factor = part.sensitivity(statistic) * people / pairs
    noise = shown.noise.times(factor)
    value = factor * shown.mean(statistic)
    inside = float(np.clip(value, -1.0, 1.0))
    found = intervals.of_pairs(value, spread, noise).around(inside)
    p = p_value(statistic.name, value, noise, *groups)
    shares = _parted(found, float(spread(np.array([inside]))[0]), noise)
    if statistic.name == "superiority":
        inside, low, high = ((1 + at) / 2 for at in (inside, found.low, found.high))
        return Estimate(inside, low, high, noise.sd / 2, sum(groups), "1", p, TIES, shares)
    return Estimate(inside, found.low, found.high, noise.sd, people, "1", p, "", shares)


# What is chosen, or counted in cells.


def _chosen(part: Any, entries: Sequence[Entry], at: int) -> Estimate:
    """A point or a slope among public candidates.

    Its noise is that of ranks, which the density of people turns into that of numbers.
    """
    from scipy.special import ndtri

    (statistic,) = part.statistics
    ranges = [entries[column].range for column in statistic.columns]
    people, epsilon = part.people, float(part.epsilon)
    note = _ASSUMED if any(each.sd is None for each in ranges) else _NORM_SPREAD
    sds = [spread_of(each) for each in ranges]
    if statistic.name == "slope":
        place, unit = math.tan(part.angles[at]), ""
        # τ of the residuals turns by 2/π for each step of a residual's spread.
        turn = math.pi / 2 * WIDER * sds[1] / sds[0]
        noise = NoiseOfOne(8 / (epsilon * people) * turn, 1)
        sampling = 2 / (3 * math.sqrt(people)) * turn
        factor = ranges[1].width / ranges[0].width
        half = width_of(noise, sampling) / 2
        value, low, high = (factor * end for end in (place, place - half, place + half))
        noise_sd = factor * noise.sd
    else:
        (range_,), (sd,), unit = ranges, sds, entries[statistic.columns[0]].unit
        level = float(statistic.level)
        z = float(ndtri(level))
        density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi) / (WIDER * sd)
        noise = NoiseOfOne(2 / (epsilon * people) / density, 1)
        sampling = math.sqrt(level * (1 - level) / people) / density
        place = float(part.grid[at])
        half = width_of(noise, sampling) / 2 + 1 / (part.candidates - 1)
        ends = (place, max(place - half, 0.0), min(place + half, 1.0))
        value, low, high = (float(range_.value(end)) for end in ends)
        noise_sd = noise.sd * range_.width * (value if range_.scale == LOG else 1.0)
    shares = _parted(Interval(-half, half), sampling, noise)
    return Estimate(value, low, high, noise_sd, people, unit, None, note, shares)


def _counts(part: Any, numbers: Integers) -> Iterator[Estimate]:
    """People in each cell, of those who took part: there is no sampling in it."""
    noise = part.noise
    half = width_of(noise, 1e-9) / 2
    for number in numbers.tolist():
        inside = min(max(number / DELTA, 0.0), float(part.people))
        yield Estimate(
            inside,
            max(inside - half, 0.0),
            min(inside + half, float(part.people)),
            noise.sd,
            part.people,
            "people",
            None,
            "of those who took part",
            (0.0, 1.0, 0.0),
        )

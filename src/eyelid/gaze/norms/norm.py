"""A norm: where people's averages of a measure lie, as far as it is published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from eyelid.errors import InputError, unknown
from eyelid.gaze.norms.definitions import definitions
from eyelid.gaze.study import Feature

ANY = "any"
DIFFERENCE = "difference"
TASKS = {
    "silent-reading": "reading sentences or passages silently",
    "reading-aloud": "reading aloud",
    "scene-viewing": "looking at pictures",
    "search": "searching for something on a display",
    "free-viewing": "watching films, or looking around freely",
    "walking": "walking with free gaze",
    "fixation": "looking at one place",
    "vr": "in a head-mounted display",
    "webcam": "recorded by a webcam",
    DIFFERENCE: "the difference that a person has between two tasks: of norms of your own",
    ANY: "whatever people do on a screen or around them",
}
"""Kinds of task that norms are for, in words."""
# What differs so much that norms for any task say nothing of it.
BY_THEMSELVES = ("vr", "webcam", DIFFERENCE)
MEASURED, ASSUMED, OWN = "measured", "assumed", "own"
GRADES = {
    MEASURED: "a source that was opened gives the mean and the spread between people",
    ASSUMED: "a source that was opened gives a typical value; the spread is eyelid's generous "
    "choice",
    OWN: "given by a file, with its source",
}
"""How well a norm is known, in words."""
LINEAR, LOG = "linear", "log"
SCALES = (LINEAR, LOG)
STATISTICS = ("mean", "median")
READ_OFF = "data"
"""The source of a norm of one's own that was read off the study itself."""

# Each unit as an exact multiple of the first of its kind.
_UNITS: Mapping[str, tuple[str, Fraction]] = {
    "ms": ("time", Fraction(1)),
    "s": ("time", Fraction(1000)),
    "min": ("time", Fraction(60_000)),
    "1/s": ("rate", Fraction(1)),
    "1/min": ("rate", Fraction(1, 60)),
    "1": ("share", Fraction(1)),
    "%": ("share", Fraction(1, 100)),
    "words/s": ("words", Fraction(1)),
    "words/min": ("words", Fraction(1, 60)),
    "deg/s": ("speed", Fraction(1)),
    "deg/ms": ("speed", Fraction(1000)),
}


@dataclass(frozen=True)
class Source:
    """Where a norm comes from.

    Attributes:
        text: authors, year, title.
        short: authors and year, where there is room for few words.
        reference: a DOI, or an address where there is none.
        place: the table, page or section.
        printed: the figures in the source's own wording.
        population: who they are of.
        instrument: what they were measured with.
        arithmetic: what was computed of the printed figures; empty where they are taken as printed.
    """

    text: str
    short: str = ""
    reference: str = ""
    place: str = ""
    printed: str = ""
    population: str = ""
    instrument: str = ""
    arithmetic: str = ""


@dataclass(frozen=True)
class Norm:
    """Where people's averages of a measure lie.

    On a log scale the mean is the geometric mean, and both spreads are standard deviations of the
    natural logarithm.

    Attributes:
        measure: its name, that of a feature where eyelid has one.
        task: one of `TASKS`.
        unit: of the mean, and of the spreads on a linear scale.
        mean: of people's averages.
        between: standard deviation of people's averages.
        within: standard deviation of one person's averages from one occasion to the next.
        scale: ``linear`` or ``log``.
        statistic: what is taken of each person: ``mean`` or ``median``.
        grade: ``measured``, ``assumed``, or ``own``.
        source: where it comes from.
        note: what to know before it is used.

    >>> norm = Norm("blink_rate", "any", "1/min", 12.0, 5.0)
    >>> norm.range(2), norm.range(3), norm.converted("1/s").mean
    ((2.0, 22.0), (0.0, 27.0), 0.2)
    """

    measure: str
    task: str
    unit: str
    mean: float
    between: float
    within: float | None = None
    scale: str = LINEAR
    statistic: str = "mean"
    grade: str = OWN
    source: Source = field(default_factory=lambda: Source(""))
    note: str = ""

    def __post_init__(self) -> None:
        for what, word, known in (
            ("task", self.task, TASKS),
            ("scale", self.scale, SCALES),
            ("statistic", self.statistic, STATISTICS),
            ("grade", self.grade, GRADES),
        ):
            if word not in known:
                raise unknown(f"{what} of a norm of {self.measure}", word, known)
        if not self.unit:
            raise InputError(f"the norm of {self.measure} has no unit: a number without one is '1'")
        spreads = {"between": self.between}
        if self.within is not None:
            spreads["within"] = self.within
        for name, value in {"mean": self.mean, **spreads}.items():
            if not math.isfinite(value):
                raise InputError(f"{name} of the norm of {self.measure} is {value}: give a number")
        for name, value in spreads.items():
            if value <= 0:
                raise InputError(
                    f"{name} of the norm of {self.measure} is {value:g}: a standard deviation is "
                    "positive"
                )
        if self.scale == LOG and self.mean <= 0:
            raise InputError(
                f"mean of the norm of {self.measure} is {self.mean:g}: a geometric mean is "
                "positive; use scale linear"
            )

    @property
    def is_read_off(self) -> bool:
        """Whether it was read off the study that it is for, and so shows its data."""
        return self.grade == OWN and self.source.text.strip().lower() == READ_OFF

    def range(self, k: float, feature: Feature | None = None) -> tuple[float, float]:
        """The norm's mean ± k standard deviations between people, within what can be at all.

        On a log scale that is mean · exp(± k · between).

        Args:
            k: how many standard deviations.
            feature: whose definition bounds it, in the norm's unit or one that converts to it; by
                default the built-in measure of this name, if there is one.
        """
        if not (math.isfinite(k) and k > 0):
            raise InputError(f"k must be positive, got {k:g}")
        lower, upper = self._around(k)
        feature = feature or definitions().get(self.measure)
        if feature is None:
            return lower, upper
        ends = (feature.lower, feature.upper)
        least, most = (times(end, feature.unit, self.unit, self.measure) for end in ends)
        if upper <= least or lower >= most:
            raise InputError(
                f"the norm of {self.measure} reaches from {lower:g} to {upper:g} {self.unit}, and "
                f"by its definition it lies between {least:g} and {most:g}: correct the norm"
            )
        return max(lower, least), min(upper, most)

    def _around(self, k: float) -> tuple[float, float]:
        if self.scale == LOG:
            return self.mean * math.exp(-k * self.between), self.mean * math.exp(k * self.between)
        return self.mean - k * self.between, self.mean + k * self.between

    def converted(self, unit: str) -> Norm:
        """This norm in another unit.

        Args:
            unit: one that differs by an exact factor, such as ``s`` for ``ms``.
        """

        def exact(value: float) -> float:
            return times(value, self.unit, unit, self.measure)

        if self.scale == LOG:
            return replace(self, unit=unit, mean=exact(self.mean))
        within = None if self.within is None else exact(self.within)
        return replace(
            self, unit=unit, mean=exact(self.mean), between=exact(self.between), within=within
        )


def converts(unit: str, other: str) -> bool:
    """Whether a number in one unit is one in the other, times an exact factor.

    >>> converts("ms", "s"), converts("ms", "deg")
    (True, False)
    """
    kind, same = _UNITS.get(unit), _UNITS.get(other)
    return unit == other or (kind is not None and same is not None and kind[0] == same[0])


def times(value: float, unit: str, other: str, measure: str) -> float:
    """A number in another unit.

    Args:
        value: in ``unit``.
        unit: that it is in.
        other: that it should be in.
        measure: whose number it is, for the message.

    >>> times(0.5, "s", "ms", "gaze_duration")
    500.0
    """
    if unit == other:
        return value
    if not other:
        raise InputError(
            f"the norm of {measure} is in '{unit}', and the feature has no unit: give it one "
            f"(features.csv, or `bounds={{'{measure}': (lower, upper, '{unit}')}}`)"
        )
    if not converts(unit, other):
        raise InputError(
            f"the norm of {measure} and what it is for are in '{unit}' and '{other}', which do "
            "not convert: give both in one unit"
        )
    factor = _UNITS[unit][1] / _UNITS[other][1]
    return value * factor.numerator / factor.denominator

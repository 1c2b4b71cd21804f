"""Entries: what there is one number a person of, and the public range that the number lies in."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Values

LINEAR, LOG = "linear", "log"
SOURCES = ("definition", "norm", "file", "data")


@dataclass(frozen=True)
class Range:
    """The public range of people's numbers, and what is known of people before the study.

    Numbers are clipped to it. On a log scale logarithms are averaged, and a mean is the geometric
    mean. Inside, numbers are *places*: 0 at the lower end, 1 at the upper one.

    Attributes:
        lower: in the measure's own unit.
        upper: the same.
        scale: ``linear`` or ``log``: what is averaged.
        source: where it is from: a ``definition``, a ``norm``, a ``file``, or the ``data``.
        mean: of people's numbers by a norm, in the measure's own unit; of a log scale the geometric
            mean. None where nothing is known.
        sd: of what is averaged, between people; of a log scale that of natural logarithms.
        within: what is possible by definition, outside of the range too.

    >>> round(Range(100, 400, "log").place(200), 9)
    0.5
    """

    lower: float
    upper: float
    scale: str = LINEAR
    source: str = "definition"
    mean: float | None = None
    sd: float | None = None
    within: tuple[float, float] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper)):
            raise InputError(f"a range needs two numbers, got {self.lower:g} to {self.upper:g}")
        if self.lower >= self.upper:
            raise InputError(
                f"a range goes from a smaller to a larger number, got {self.lower:g} to "
                f"{self.upper:g}"
            )
        if self.scale not in (LINEAR, LOG):
            raise InputError(f"the scale of a range is linear or log, got '{self.scale}'")
        if self.source not in SOURCES:
            raise InputError(
                f"a range comes from {', '.join(SOURCES)}: there is no source '{self.source}'"
            )
        if self.scale == LOG and self.lower <= 0:
            raise InputError(
                f"a range on a log scale lies above 0, got {self.lower:g}: choose a linear one"
            )
        if self.sd is not None and not (math.isfinite(self.sd) and self.sd > 0):
            raise InputError(f"the spread between people must be positive, got {self.sd:g}")

    @classmethod
    def around(
        cls,
        mean: float,
        sd: float,
        k: float,
        scale: str = LINEAR,
        within: tuple[float, float] = (-math.inf, math.inf),
    ) -> Range:
        """A norm's mean ± k standard deviations, cut to what the definition allows.

        Args:
            mean: of people's numbers; on a log scale their geometric mean.
            sd: between people, of what is averaged.
            k: how many of them to both sides.
            scale: of the norm.
            within: bounds by definition.

        >>> Range.around(220, 30, 2.5, within=(0, 3000)).lower
        145.0
        """
        at = math.log(mean) if scale == LOG else mean
        ends = [at - k * sd, at + k * sd]
        if scale == LOG:
            ends = [math.exp(end) for end in ends]
        lower, upper = max(ends[0], within[0]), min(ends[1], within[1])
        if lower >= upper:
            raise InputError(
                f"a norm of {mean:g} ± {sd:g} lies outside of what the definition allows, "
                f"{within[0]:g} to {within[1]:g}: it has another unit, or is of another measure"
            )
        return cls(lower, upper, scale, "norm", mean, sd, within)

    def averaged(self, values: Any) -> Any:
        """What is averaged of numbers: themselves, or their logarithms."""
        if self.scale == LINEAR:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            # What is not above 0 lies below every range.
            return np.where(np.asarray(values) <= 0, -np.inf, np.log(np.maximum(values, 1e-300)))

    def restored(self, averages: Any) -> Any:
        """Averages in the measure's own unit again."""
        return averages if self.scale == LINEAR else np.exp(averages)

    @property
    def _ends(self) -> tuple[float, float]:
        return float(self.averaged(self.lower)), float(self.averaged(self.upper))

    @property
    def width(self) -> float:
        """Between the ends, of what is averaged."""
        lower, upper = self._ends
        return upper - lower

    def place(self, values: Any) -> Any:
        """Where numbers lie: 0 at the lower end, 1 at the upper one; not clipped."""
        lower, _ = self._ends
        found = (self.averaged(np.asarray(values, dtype=np.float64)) - lower) / self.width
        return found if np.ndim(found) else float(found)

    def value(self, places: Any) -> Any:
        """The number at a place, in the measure's own unit."""
        lower, _ = self._ends
        found = self.restored(lower + np.asarray(places) * self.width)
        return found if np.ndim(found) else float(found)

    @property
    def clips(self) -> tuple[bool, bool]:
        """Whether a value can lie below it, and above it: not beyond a definition's end."""
        if self.source == "definition":
            return False, False
        least, most = self.within
        return self.lower > least, self.upper < most

    @property
    def place_of_norm(self) -> float | None:
        """Where the norm's mean lies."""
        return None if self.mean is None else float(self.place(self.mean))

    @property
    def sd_in_places(self) -> float | None:
        """The norm's spread between people, as a share of the range."""
        return None if self.sd is None else self.sd / self.width


@dataclass(frozen=True)
class Entry:
    """One number a person.

    Attributes:
        measure: what was measured.
        task: where; of a contrast both tasks.
        range: of the numbers.
        unit: of the measure.
        contrast: the two tasks whose difference, first less second, each person's number is.
    """

    measure: str
    task: str
    range: Range
    unit: str = ""
    contrast: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.contrast is None:
            return
        one, other = self.contrast
        if one == other:
            raise InputError(f"a contrast needs two tasks, got '{one}' twice")
        if self.range.scale == LINEAR and self.range.lower != -self.range.upper:
            raise InputError(
                f"the range of a difference is as wide to both sides of 0, got "
                f"{self.range.lower:g} to {self.range.upper:g}"
            )


def places_of(values: Values, entries: tuple[Entry, ...]) -> Values:
    """Numbers of everybody (people × entries) as places in their ranges; what is missing is NaN."""
    if values.ndim != 2 or values.shape[1] != len(entries):
        raise InputError(
            f"{len(entries)} entries need as many numbers a person, got an array of {values.shape}"
        )
    columns = [entry.range.place(values[:, j]) for j, entry in enumerate(entries)]
    return np.stack(columns, axis=1) if columns else np.empty((len(values), 0))

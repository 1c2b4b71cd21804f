"""Filters that only make gaze coarser or noisier: to compare with, since they promise nothing."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.stream import Floats, Run, StreamMechanism
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import Neighbours, Trust, Unit

DAVID_JOHN = (
    "David-John, Hosfelt, Butler & Jain (2021), A privacy-preserving approach to streaming "
    "eye-tracking data"
)


@dataclass(frozen=True, kw_only=True)
class Baseline(StreamMechanism):
    """A filter without a promise."""

    kind: ClassVar[Kind] = Kind.NONE
    units: ClassVar[tuple[str, ...]] = ("person",)
    claims_to_hold: ClassVar[bool] = False
    why_not: ClassVar[tuple[str, ...]]
    """Why nothing is promised, in words."""

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """Nothing is promised, and why."""
        return Guarantee(
            kind=Kind.NONE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=Trust.LOCAL,
            epsilon=math.inf,
        ).broken(*self.why_not)

    @classmethod
    def as_formal(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        """Own parameters where those of a formal filter were given; ε has nothing to set.

        >>> from eyelid.papers.baselines.noisy import Jitter
        >>> Jitter.as_formal({"epsilon": 1.0, "window": 60, "radius": 50.0})
        {'sd': 50.0}
        """
        formal = ("epsilon", "window", "radius")
        own = {key: value for key, value in parameters.items() if key not in formal}
        for theirs, ours in cls.strength.items():
            if theirs in parameters:
                own.setdefault(ours, parameters[theirs])
        return own

    def person_total(self, facts: PublicFacts) -> str:
        """That there is none."""
        return "no bound: the filter promises nothing"

    @property
    def numerics(self) -> str:
        """Floating point."""
        return "floating point: low-order digits betray values"


class BaselineRun(Run):
    """Clamp a sample to the scene, filter it, clamp what comes out; lost ones repeat the last."""

    def __init__(self, mechanism: Baseline) -> None:
        self._x0, self._y0, self._x1, self._y1 = mechanism.place.plane
        # Nothing was seen yet: the middle says nothing.
        self._last = (self._x0 + self._x1) / 2, (self._y0 + self._y1) / 2

    def due(self, index: Any) -> Any:
        """Whether samples of these numbers are looked at."""
        return True

    @abstractmethod
    def one(self, x: float, y: float) -> tuple[float, float]:
        """What becomes of the next sample that was not lost."""

    @abstractmethod
    def many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """What is shown of many samples."""

    def push(self, x: float, y: float) -> tuple[float, float]:
        """What is released for the next sample."""
        # Anything that is not a number is lost, infinities too.
        if x - x == 0.0 and y - y == 0.0 and self.due(self.samples):
            x0, y0, x1, y1 = self._x0, self._y0, self._x1, self._y1
            x, y = self.one(min(max(x, x0), x1), min(max(y, y0), y1))
            self._last = min(max(x, x0), x1), min(max(y, y0), y1)
        self.samples += 1
        return self._last

    def push_many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Release many samples, as if they had been pushed one by one."""
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        index = np.arange(self.samples, self.samples + len(x))
        seen = np.isfinite(x) & np.isfinite(y) & self.due(index)
        moved = self.many(
            np.clip(x[seen], self._x0, self._x1), np.clip(y[seen], self._y0, self._y1)
        )
        latest = np.cumsum(seen)
        across = np.append(self._last[0], np.clip(moved[0], self._x0, self._x1))
        up = np.append(self._last[1], np.clip(moved[1], self._y0, self._y1))
        self._last = float(across[-1]), float(up[-1])
        self.samples += len(x)
        return across[latest], up[latest]


def check_positive(name: str, value: float) -> None:
    """Refuse what is no positive number."""
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be positive and finite, got {value:g}")

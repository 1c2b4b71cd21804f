"""The public scene of a stream: where gaze can be, in what units, and how far apart.

Everything that is said of it is known before any gaze is recorded: the size of the screen, the
field of view of the headset. Filters work in a plane; directions are brought to one first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, unknown

Floats = NDArray[np.float64]

DIRECTION = "direction"
# What units may be called, and what a scene is where nobody says.
UNITS: dict[str, tuple[float, float, float, float] | None] = {
    "px": None,
    "deg": None,
    "fraction": (0.0, 0.0, 1.0, 1.0),
    "normalised": (0.0, 0.0, 1.0, 1.0),
    DIRECTION: (-50.0, -40.0, 50.0, 40.0),
}
EXAMPLES = {"px": "0,0,1920,1080", "deg": "-20,-12,20,12", DIRECTION: "-50,-40,50,40"}
_DEG = 180 / math.pi
_BEHIND = 90.0
# Squared lengths of what may be a direction: outside of these the squares are no longer numbers.
_SHORTEST, _LONGEST = 1e-200, 1e200
THREE_PARTS = "directions have three parts: give x, y and z"


@dataclass(frozen=True)
class Scene:
    """A rectangle in the plane in which noise is added.

    On a screen the plane is the screen itself. A direction (x, y, z), a unit vector with z straight
    ahead, is seen from the front, as (x, y)·180/π: near the middle these are degrees. That map
    moves no two directions farther apart than the angle between them, wherever they are, so
    a radius in degrees is a radius in this plane.

    Attributes:
        units: of x and y; ``direction`` for unit vectors.
        x0: the left end; of directions, in degrees from straight ahead.
        y0: the end of smaller y.
        x1: the right end.
        y1: the end of larger y.
    """

    units: str
    x0: float
    y0: float
    x1: float
    y1: float

    def __post_init__(self) -> None:
        if self.units not in UNITS:
            raise unknown("unit of gaze", self.units, UNITS)
        corners = (self.x0, self.y0, self.x1, self.y1)
        if not all(math.isfinite(c) for c in corners) or self.x0 >= self.x1 or self.y0 >= self.y1:
            raise InputError(
                f"scene {self} has no area: give it as x0,y0,x1,y1 with x0 < x1 and y0 < y1"
            )
        if self.units == DIRECTION and max(map(abs, corners)) >= _BEHIND:
            raise InputError(
                f"scene {self} reaches behind the eyes: directions go up to 90 degrees from "
                "straight ahead"
            )

    @classmethod
    def of(cls, units: str, given: Any = None) -> Scene:
        """The scene that the user wrote: four numbers, text with commas, or nothing.

        >>> Scene.of("px", "0,0,1920,1080").diameter
        2202.9071700822983
        """
        if units not in UNITS:
            raise unknown("unit of gaze", units, UNITS)
        if given is None or given == "":
            given = UNITS[units]
            if given is None:
                raise InputError(
                    f"a scene in {units} must be told, since the noise follows from it: "
                    f"scene={EXAMPLES[units]}, what everybody could look at"
                )
        parts = given.split(",") if isinstance(given, str) else list(given)
        try:
            x0, y0, x1, y1 = (float(part) for part in parts)
        except (TypeError, ValueError):
            raise InputError(
                f"scene '{given}' is not four numbers x0,y0,x1,y1: write it as "
                f"{EXAMPLES.get(units, '0,0,1,1')}"
            ) from None
        return cls(units, x0, y0, x1, y1)

    def __str__(self) -> str:
        return ",".join(f"{corner:.12g}" for corner in (self.x0, self.y0, self.x1, self.y1))

    @property
    def directions(self) -> bool:
        """Whether gaze comes as unit vectors."""
        return self.units == DIRECTION

    @property
    def spoken_units(self) -> str:
        """What a radius is measured in."""
        return spoken_units(self.units)

    @property
    def plane(self) -> tuple[float, float, float, float]:
        """The corners in the plane, in the order x0, y0, x1, y1."""
        corners = (self.x0, self.y0, self.x1, self.y1)
        if not self.directions:
            return corners
        x0, y0, x1, y1 = (math.sin(corner / _DEG) * _DEG for corner in corners)
        return x0, y0, x1, y1

    @property
    def diameter(self) -> float:
        """D, the farthest that two points of the plane can be apart."""
        x0, y0, x1, y1 = self.plane
        return math.hypot(x1 - x0, y1 - y0)

    def point(self, x: float, y: float, z: float | None = None) -> tuple[float, float]:
        """One gaze as a point of the plane; lost gaze is NaN."""
        if not self.directions:
            return x, y
        if z is None:
            raise InputError(THREE_PARTS)
        square = x * x + y * y + z * z
        per_length = _DEG / math.sqrt(square) if _SHORTEST < square < _LONGEST else math.nan
        return x * per_length, y * per_length

    def gaze(self, x: float, y: float) -> tuple[float, ...]:
        """One point of the plane as gaze: x and y, or a unit vector to the front."""
        if not self.directions:
            return x, y
        across, up = x / _DEG, y / _DEG
        within = max(1.0, math.sqrt(across * across + up * up))
        across, up = across / within, up / within
        return across, up, math.sqrt(max(0.0, 1 - across * across - up * up))

    def to_plane(self, x: Floats, y: Floats, z: Floats | None = None) -> tuple[Floats, Floats]:
        """Gaze as points of the plane; lost gaze is NaN."""
        if not self.directions:
            return x, y
        if z is None:
            raise InputError(THREE_PARTS)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            square = x * x + y * y + z * z
            there = (square > _SHORTEST) & (square < _LONGEST)
            per_length = np.where(there, _DEG / np.sqrt(square), np.nan)
            return x * per_length, y * per_length

    def from_plane(self, x: Floats, y: Floats) -> tuple[Floats, ...]:
        """Points of the plane as gaze: x and y, or unit vectors to the front."""
        if not self.directions:
            return x, y
        across, up = x / _DEG, y / _DEG
        within = np.maximum(1.0, np.sqrt(across * across + up * up))
        across, up = across / within, up / within
        return across, up, np.sqrt(np.maximum(0.0, 1 - across * across - up * up))


def spoken_units(units: str) -> str:
    """What a radius is measured in; of directions, degrees."""
    return "deg" if units == DIRECTION else units

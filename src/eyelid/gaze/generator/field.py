"""Between degrees from straight ahead, in which gaze is made, and the units it is wanted in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import Floats
from eyelid.gaze.geometry import PER_DEGREE, in_units, missing_for_degrees
from eyelid.gaze.study import Screen


@dataclass(frozen=True)
class Field:
    """What is looked at, in degrees x to the right and y up from its middle.

    Attributes:
        units: that gaze is wanted in.
        screen: where things are shown, as far as it is known.
        xy_origin: of those units.
    """

    units: str = "deg"
    screen: Screen | None = None
    xy_origin: str | None = None

    def __post_init__(self) -> None:
        in_units(1.0, self.units)

    @property
    def has_geometry(self) -> bool:
        """Whether degrees are true ones on a screen."""
        return not missing_for_degrees(self.screen, self.units, self.xy_origin)

    @property
    def has_screen(self) -> bool:
        """Whether it is known where on the screen gaze is, so that there can be places."""
        if self.has_geometry or self.units == "fraction":
            return True
        screen = self.screen or Screen()
        if self.units == "px":
            return bool(screen.width_px and screen.height_px)
        return self.units == "deg" and bool(
            screen.width_m and screen.height_m and screen.distance_m
        )

    @property
    def half_deg(self) -> tuple[float, float]:
        """Half the width and half the height; infinite where there is no screen."""
        if not self.has_screen:
            return np.inf, np.inf
        right, up = self.from_shares(np.array([1.0]), np.array([0.0]))
        return float(right[0]), float(up[0])

    def shares(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Degrees as shares of the screen from its top left corner.

        Args:
            x: degrees to the right of the middle.
            y: degrees above it.
        """
        wide, high = self._per_share()
        if self._flat:
            return 0.5 + x / wide, 0.5 - y / high
        return 0.5 + np.tan(np.radians(x)) / wide, 0.5 - np.tan(np.radians(y)) / high

    def from_shares(self, across: Floats, down: Floats) -> tuple[Floats, Floats]:
        """Degrees of shares of the screen: the reverse of `shares`."""
        wide, high = self._per_share()
        right, up = (np.asarray(across) - 0.5) * wide, (0.5 - np.asarray(down)) * high
        if self._flat:
            return right, up
        return np.degrees(np.arctan(right)), np.degrees(np.arctan(up))

    @property
    def _flat(self) -> bool:
        screen = self.screen or Screen()
        return not (screen.width_m and screen.height_m and screen.distance_m)

    def _per_share(self) -> tuple[float, float]:
        """The screen's width and height: in distances from the eye, or in nominal degrees."""
        screen = self.screen or Screen()
        if screen.width_m and screen.height_m and screen.distance_m:
            return screen.width_m / screen.distance_m, screen.height_m / screen.distance_m
        if self.units == "fraction":
            high = (screen.height_px or 9) / (screen.width_px or 16)
            return 1.0 / PER_DEGREE["fraction"], high / PER_DEGREE["fraction"]
        if self.units == "px" and screen.width_px and screen.height_px:
            return screen.width_px / PER_DEGREE["px"], screen.height_px / PER_DEGREE["px"]
        raise InputError("places need a screen of known size")

    def written(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Degrees in the units and from the origin that are wanted.

        Args:
            x: degrees to the right of the middle.
            y: degrees above it.

        >>> field = Field("normalised")
        >>> field.written(np.array([15.0]), np.array([0.0]))[0]
        array([0.6])
        """
        up = -1.0 if self.xy_origin == "top-left" else 1.0
        centred = self.xy_origin == "centre"
        if self.units == "normalised":
            degree = PER_DEGREE[self.units]
            return 0.5 + x * degree, 0.5 + y * degree
        if self.units == "deg":
            half = (0.0, 0.0) if centred or not self.has_screen else self.half_deg
            return half[0] + x, half[1] + up * y
        if not self.has_screen:
            degree = PER_DEGREE[self.units]
            return x * degree, up * y * degree
        across, down = self.shares(x, y)
        if centred:
            across, down = across - 0.5, 0.5 - down
        elif up > 0:
            down = 1.0 - down
        screen = self.screen or Screen()
        if self.units == "px":
            return across * (screen.width_px or 1), down * (screen.height_px or 1)
        return across, down

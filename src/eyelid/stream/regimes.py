"""Settings that came one after the other, and what they promise together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Self

from eyelid.mechanisms.streams.filter import Filter


@dataclass(frozen=True)
class Regime:
    """What any window of some settings has cost at most.

    Attributes:
        window: w, in samples.
        radius: in units of gaze.
        coordinates: the units of gaze.
        radii_of_scene: the scene's diameter in radii, at least 1.
        epsilon: what a window was promised at most.
        worst: what a window has spent at most.
    """

    window: int
    radius: float
    coordinates: str
    radii_of_scene: float
    epsilon: float
    worst: float

    @classmethod
    def of(cls, law: Filter, worst: float) -> Self:
        """Of these settings."""
        return cls(
            window=law.window,
            radius=law.radius,
            coordinates=law.coordinates,
            radii_of_scene=law.radii_of_scene,
            epsilon=law.epsilon,
            worst=worst,
        )

    @property
    def unit(self) -> tuple[int, float, str, float]:
        """What the numbers are about; those of equal ones can be compared."""
        return self.window, self.radius, self.coordinates, self.radii_of_scene

    def for_unit(self, value: float, law: Filter) -> float:
        """What a window has lost under other settings, for a window and a radius of these.

        Losses grow in proportion to the radius, until it is the whole scene; radii in other units
        count as that.
        """
        radii = self.radii_of_scene
        if self.coordinates == law.coordinates:
            radii = min(radii, max(1.0, law.radius / self.radius))
        return value * -(-law.window // self.window) * radii


def merged(regimes: Iterable[Regime], new: Regime) -> tuple[Regime, ...]:
    """With one more; of equal units the largest numbers count."""
    kept = {regime.unit: regime for regime in regimes}
    old = kept.get(new.unit, new)
    largest = replace(new, epsilon=max(old.epsilon, new.epsilon), worst=max(old.worst, new.worst))
    return tuple((kept | {new.unit: largest}).values())


def together(regimes: Iterable[Regime], law: Filter, which: Literal["epsilon", "worst"]) -> float:
    """What any w samples in a row have lost at most, w and the radius being those of ``law``.

    Next to samples of a regime with windows of v there are always v − 1 that were not used. So w
    samples in a row that have one with v ≥ w are all of one regime and run, in one of its windows.
    Others may have samples of every regime with v < w, which add up, ⌈w/v⌉ windows of each.
    """
    alone, added = 0.0, 0.0
    for regime in regimes:
        lost = regime.for_unit(getattr(regime, which), law)
        if regime.window >= law.window:
            alone = max(alone, lost)
        else:
            added += lost
    return max(alone, added)

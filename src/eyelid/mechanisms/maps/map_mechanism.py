"""Mechanisms that take people's gaze points in cells of a picture, and give one map of them all."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.differential import DifferentialMechanism, offered_unit
from eyelid.mechanisms.mechanism import Form, NeighbourPair, PublicFacts, Values, parameter
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust, Unit

ANY_GAZE = Form(
    "of any length, with gaze anywhere on these pictures or on none of them,",
    recordings=True,
    lengths=True,
)
"""What a person's gaze may be exchanged for in sums over people."""
_FEWEST_PEOPLE = 2
# In games: how much the others have looked, one everywhere and one nowhere.
_OTHERS = (1.0, 0.0)


@dataclass(frozen=True)
class MapFacts(PublicFacts):
    """Public facts of maps: ``recordings`` are layers, ``length`` is the cells of one layer.

    Attributes:
        grid: of each layer.
    """

    grid: Grid = field(default=Grid(1, 1, 1, 1))

    @classmethod
    def of(cls, people: int, layers: int, grid: Grid) -> MapFacts:
        """The facts of so many people and layers."""
        return cls(people, layers, grid.cells, 1, window=1, grid=grid)

    @property
    def size(self) -> tuple[int, int, int]:
        """Layers, rows and columns."""
        return self.recordings, self.grid.rows, self.grid.columns


@dataclass(frozen=True)
class MapMechanism(DifferentialMechanism):
    """One map of all people for each layer: a picture, or a stretch of time of one.

    A person's data are counts in the cells of all layers. The grid is public.
    """

    takes: ClassVar[str] = "gaze maps"
    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    release: ClassVar[ReleaseKind] = ReleaseKind.MAPS
    command: ClassVar[str] = "heatmap"
    draws_people: ClassVar[bool] = False
    """Whether only some people, drawn at random, are in a map."""
    of_shares: ClassVar[bool] = False
    """Whether everybody counts with shares of their gaze, and not with counts."""

    unit: Unit = offered_unit()
    grid: str = parameter("cells of a picture: COLUMNSxROWS, pixels, or auto", default="pixels")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.grid not in ("auto", "pixels") and not re.fullmatch(
            r"[1-9]\d*x[1-9]\d*", self.grid
        ):
            raise InputError(f"grid must be COLUMNSxROWS, pixels or auto, got '{self.grid}'")

    @property
    def may_differ(self) -> Form:
        """Everything: of a person there are counts within public limits, and no more."""
        return ANY_GAZE

    @abstractmethod
    def measure(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Values:
        """What is released about the mean over people: layers × rows × columns.

        It limits everybody's counts itself, and nothing else of them is ever seen.
        """

    @abstractmethod
    def without_noise(self, counts: PersonCounts, facts: MapFacts) -> Values:
        """What is measured but for the noise: layers × rows × columns. Not private.

        It shows how much of an error is the noise's, to those who may see the data.
        """

    def settled(self, counts: PersonCounts, facts: MapFacts, noise: Randomness) -> Self:
        """The mechanism with whatever it chooses by the data chosen; most choose nothing.

        Its own cost is no longer that of the whole: ask the mechanism that was not settled.
        """
        return self

    def may_become(self, chosen: MapMechanism) -> bool:
        """Whether it can turn out like this once it has chosen."""
        return chosen == self

    def fixed_at(self, facts: MapFacts) -> Self:
        """The mechanism with numbers in the place of words that stand for these public facts."""
        return self

    def clip_at(self, facts: MapFacts) -> float | None:
        """L2 length within which a person's shares of gaze are kept, where there is one."""
        return None

    @property
    def most_of_person(self) -> float:
        """The most that all cells of a person add up to, in the unit of the map."""
        return math.inf

    def check_room(self, facts: PublicFacts) -> None:
        """Refuse what could not be added up, whatever the data are."""

    @abstractmethod
    def in_spans(
        self, counts: PersonCounts, facts: MapFacts, cells: Values
    ) -> tuple[Values, Values]:
        """What of each entry of everybody's counts is in the map, and the sum that it publishes.

        As a share of the most that a person can have in a cell. Those who know all others subtract
        by these two.

        Args:
            counts: everybody's gaze points, as the mechanism takes them.
            facts: the public facts.
            cells: what was released, as `measure` gives it.
        """

    @abstractmethod
    def cell_sd(self, facts: MapFacts) -> float:
        """Standard deviation of the noise in each measured cell, from public facts."""

    @abstractmethod
    def cells_of_about(self, people: int, layers: int) -> float:
        """About how many cells so many people can fill: the public rule behind ``grid=auto``."""

    def facts_of(
        self, people: int, layers: int, width_px: int, height_px: int, sigma_px: float = 0.0
    ) -> MapFacts:
        """The public facts of a map.

        Args:
            people: N, everybody who may have looked.
            layers: pictures, or stretches of time.
            width_px: of the picture.
            height_px: of the picture.
            sigma_px: of the point spread: cells finer than half of it would show nothing more.
        """
        if people < _FEWEST_PEOPLE:
            raise InputError(
                f"a map of {people} person is that person's own: there must be at least "
                f"{_FEWEST_PEOPLE} people"
            )
        if self.grid == "pixels":
            grid = Grid.of_pixels(width_px, height_px)
        elif self.grid == "auto":
            useful = width_px * height_px / max(1.0, sigma_px / 2) ** 2
            about = min(self.cells_of_about(people, layers), useful)
            grid = Grid.of_about(width_px, height_px, about)
        else:
            columns, rows = (int(count) for count in self.grid.split("x"))
            grid = Grid(width_px, height_px, columns, rows)
        return MapFacts.of(people, layers, grid)

    def person_total(self, facts: PublicFacts) -> str:
        """Calibrated to the person."""
        layers = f"{facts.recordings} map{'s' * (facts.recordings != 1)}"
        return f"calibrated to the person: all looks at {layers} together"

    def unprotected(self, facts: MapFacts) -> list[str]:
        """What of the output is outside the guarantee, in words."""
        return [
            f"the number of people ({facts.people}) and that each of them took part",
            f"the names and order of the {facts.recordings} pictures or stretches of time"
            if facts.recordings > 1
            else "the picture, and that it was shown to these people",
        ]

    def within(self, facts: PublicFacts, unit: Unit) -> tuple[slice, slice, slice]:
        """Everything of a person."""
        return slice(None), slice(None), slice(None)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person who looked here against there, everywhere or nowhere, and far too often."""
        facts = MapFacts.of(1 + len(_OTHERS), 2, Grid(2, 2, 2, 2))
        corner, side, sides = np.zeros((3, 2, 4, 1))
        corner[0, 0] = side[0, :2] = sides[:, :2] = 1.0
        for name, one, often in (
            ("here against there", corner, 1.0),
            ("one half against the other", side, 1.0),
            ("halves of both pictures, far too often", sides, 1e6),
            ("here against there, far too often", corner, 1e9),
        ):
            # From the left or upper half of a picture to the other one.
            yield NeighbourPair(name, facts, unit, often * one, often * one[:, ::-1])
        everywhere, nowhere = np.full((2, 2, 4, 1), [[[[1e6]]], [[[np.nan]]]])
        yield NeighbourPair("everywhere against nowhere", facts, unit, everywhere, nowhere)


def cleaned(counts: Values) -> Values:
    """Counts that are none become 0, those beyond measure the most that is meant."""
    return np.clip(np.nan_to_num(counts, nan=0.0, posinf=1e12, neginf=0.0), 0.0, 1e12)


def with_others(values: Values) -> PersonCounts:
    """A person's counts (layers, cells, 1) and those of the others in a game."""
    everybody = [values.ravel(), *(np.full(values.size, each) for each in _OTHERS)]
    return PersonCounts.of_dense(np.stack(everybody))

"""Public regions of a scene: areas of interest, and the cells of a grid wherever no area is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.areas import Area, Floats, Places, Polygon, check_areas, within
from eyelid.mechanisms.streams.scene import Scene

_EXAMPLE = "logo:0,0,200,80; face:500,300,700,300,600,500"
_MOST_CELLS = 1_000_000


def areas_of(text: str) -> tuple[Area, ...]:
    """Areas from text, so that a certificate can say them: rectangles or polygons, by name.

    A rectangle is four numbers x0,y0,x1,y1, a polygon the x and y of three or more corners.

    >>> [area.name for area in areas_of("logo:0,0,200,80; face:500,300,700,300,600,500")]
    ['logo', 'face']
    """
    return check_areas([_area(part) for part in text.split(";") if part.strip()])


def spelled(areas: Sequence[Area]) -> str:
    """The text of areas.

    >>> spelled([Area("logo", [[0, 0], [200, 0], [200, 80], [0, 80]])])
    'logo:0,0,200,0,200,80,0,80'
    """
    for area in areas:
        if set(area.name) & set(":;"):
            raise InputError(f"area of interest '{area.name}': its name may have no : and no ;")
    return "; ".join(
        f"{area.name}:{','.join(f'{number:.12g}' for number in area.corners.ravel())}"
        for area in areas
    )


def _area(part: str) -> Area:
    name, colon, coordinates = part.strip().partition(":")
    try:
        numbers = [float(number) for number in coordinates.split(",")]
    except ValueError:
        numbers = []
    if not colon or len(numbers) < 4 or len(numbers) % 2:
        raise InputError(
            f"area '{part.strip()}' is not NAME:x0,y0,x1,y1 (a rectangle) or NAME: with the x,y of "
            f"three or more corners: write areas as '{_EXAMPLE}'"
        )
    if len(numbers) == 4:
        x0, y0, x1, y1 = numbers
        numbers = [x0, y0, x1, y0, x1, y1, x0, y1]
    return Area(name.strip(), np.array(numbers).reshape(-1, 2))


@dataclass(frozen=True)
class Regions:
    """Areas first, in their order, then cells row by row; a place that two hold is in the first.

    Everything is in the plane of the scene; of directions corners are told in degrees.

    Attributes:
        scene: the public scene.
        text: areas as `areas_of` reads them; nothing for none.
        columns: of the grid.
        rows: of the grid.
    """

    scene: Scene
    text: str = ""
    columns: int = 1
    rows: int = 1

    def __post_init__(self) -> None:
        x0, y0, x1, y1 = self.scene.plane
        for area, polygon in zip(self.areas, self.polygons, strict=True):
            (left, low), (right, high) = polygon.min(axis=0), polygon.max(axis=0)
            if left >= x1 or low >= y1 or right <= x0 or high <= y0:
                raise InputError(
                    f"area of interest '{area.name}' lies outside the scene {self.scene}: nobody "
                    "could ever look at it"
                )

    @classmethod
    def with_cells(cls, scene: Scene, text: str, cell: float) -> Regions:
        """A grid of whole cells, as near to squares of this size as the scene allows."""
        if not (math.isfinite(cell) and cell > 0):
            raise InputError(f"cell must be positive and finite, got {cell:g}")
        x0, y0, x1, y1 = scene.plane
        columns, rows = max(1, round((x1 - x0) / cell)), max(1, round((y1 - y0) / cell))
        if columns * rows > _MOST_CELLS:
            raise InputError(
                f"cells of {cell:g} {scene.spoken_units} are {columns * rows} in this scene: "
                "choose larger ones"
            )
        return cls(scene, text, columns, rows)

    @cached_property
    def areas(self) -> tuple[Area, ...]:
        """The areas of interest."""
        return areas_of(self.text) if self.text.strip() else ()

    @cached_property
    def polygons(self) -> list[Polygon]:
        """Their corners in the plane."""
        corners = [area.corners for area in self.areas]
        if self.scene.directions:
            return [np.degrees(np.sin(np.radians(each))) for each in corners]
        return corners

    @cached_property
    def _sides(self) -> list[list[tuple[float, float, float, float]]]:
        """The sides of each area that are not level, for single places."""
        return [
            [
                (x0, y0, x1, y1)
                for (x0, y0), (x1, y1) in zip(
                    corners.tolist(), np.roll(corners, -1, axis=0).tolist(), strict=True
                )
                if y0 != y1
            ]
            for corners in self.polygons
        ]

    def area_at(self, x: float, y: float) -> int:
        """The first area that holds one place, or -1: `within` for a single sample, and faster."""
        for number, sides in enumerate(self._sides):
            inside = False
            for x0, y0, x1, y1 in sides:
                if ((y0 <= y) != (y1 <= y)) and x < x0 + (y - y0) * (x1 - x0) / (y1 - y0):
                    inside = not inside
            if inside:
                return number
        return -1

    def areas_at(self, x: Floats, y: Floats) -> Places:
        """The areas of many points."""
        return within(self.polygons, x, y)

    def region_at(self, x: float, y: float) -> int:
        """The region that holds one place of the scene."""
        found = self.area_at(x, y)
        if found >= 0:
            return found
        x0, y0, x1, y1 = self.scene.plane
        column = min(int((x - x0) / (x1 - x0) * self.columns), self.columns - 1)
        row = min(int((y - y0) / (y1 - y0) * self.rows), self.rows - 1)
        return len(self._sides) + row * self.columns + column

    def middle(self, region: int) -> tuple[float, float]:
        """The middle of a cell, or of the smallest rectangle around an area."""
        cell = region - len(self.areas)
        if cell < 0:
            polygon = self.polygons[region]
            x, y = (polygon.min(axis=0) + polygon.max(axis=0)) / 2
            return float(x), float(y)
        x0, y0, x1, y1 = self.scene.plane
        row, column = divmod(cell, self.columns)
        return (
            x0 + (column + 0.5) / self.columns * (x1 - x0),
            y0 + (row + 0.5) / self.rows * (y1 - y0),
        )

    def name(self, region: int) -> str:
        """An area's own name, or the row and column of a cell, from 1."""
        cell = region - len(self.areas)
        if cell < 0:
            return self.areas[region].name
        row, column = divmod(cell, self.columns)
        return f"row {row + 1}, column {column + 1}"

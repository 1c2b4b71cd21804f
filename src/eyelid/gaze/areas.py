"""Areas of interest: polygons on a picture or screen, and which of them holds a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eyelid.errors import InputError

Floats = NDArray[np.float64]
Polygon = NDArray[np.float64]
Places = NDArray[np.intp]

ELSEWHERE = "elsewhere"
"""What is in no area; no area may be called so."""

# Corners farther away than this are a mistake, and their products would not be numbers.
_FARTHEST = 1e9
# All pairs of sides are looked at, at once.
_MOST_CORNERS = 2000
# Of the squared size of a polygon: what is flatter than this lies on one line.
_FLAT = 1e-12


@dataclass(frozen=True, eq=False)
class Area:
    """An area of interest, checked: a polygon with an inside that does not cross itself.

    Attributes:
        name: what tables call it.
        corners: in order along the border, one row (x, y) each; in px of the picture for maps. The
            first need not be repeated at the end.
    """

    name: str
    corners: Polygon

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("an area of interest has no name: give each area one")
        if self.name.strip().lower() == ELSEWHERE:
            raise InputError(
                f"an area of interest may not be called '{self.name}': that is what lies in no area"
            )
        polygon = checked_corners(f"area of interest '{self.name}'", self.corners)
        object.__setattr__(self, "corners", polygon)


def check_areas(areas: Sequence[Area]) -> tuple[Area, ...]:
    """The areas, if there is at least one and no two have the same name.

    They may overlap: a place that several hold is in the first of them.
    """
    if not areas:
        raise InputError("there are no areas of interest: give at least one")
    name, times = Counter(area.name for area in areas).most_common(1)[0]
    if times > 1:
        raise InputError(f"{times} areas of interest are called '{name}': names must differ")
    return tuple(areas)


def check_on_picture(areas: Sequence[Area], width_px: int, height_px: int) -> None:
    """Refuse areas that lie wholly beside the picture: nobody could ever look at them."""
    for area in areas:
        left, top = area.corners.min(axis=0)
        right, bottom = area.corners.max(axis=0)
        if left >= width_px or top >= height_px or right <= 0 or bottom <= 0:
            raise InputError(
                f"area of interest '{area.name}' (x {left:g} to {right:g}, y {top:g} to "
                f"{bottom:g}) lies outside the picture of {width_px} × {height_px} px: corners are "
                "in px from the picture's top left"
            )


def overlapping(areas: Sequence[Area]) -> tuple[str, str] | None:
    """The first two areas that have places in common; sharing a border is no such thing.

    >>> square = [[0, 0], [2, 0], [2, 2], [0, 2]]
    >>> beside, over = ([[x + shift, y] for x, y in square] for shift in (2, 1))
    >>> overlapping([Area("a", square), Area("b", beside)])
    >>> overlapping([Area("a", square), Area("b", over)])
    ('a', 'b')
    """
    for number, one in enumerate(areas):
        for other in areas[number + 1 :]:
            if _share_places(one.corners, other.corners):
                return one.name, other.name
    return None


def _share_places(one: Polygon, other: Polygon) -> bool:
    """Whether the insides of two polygons have places in common.

    They have if a side crosses another, if a corner or the middle of a side of one lies inside of
    the other, or if they are the same.
    """
    if (one.max(axis=0) <= other.min(axis=0)).any() or (other.max(axis=0) <= one.min(axis=0)).any():
        return False
    across = _crossing_sides(one, other)
    if across:
        return True
    # No side crosses another: one lies in the other, beside it, or is the same.
    for inner, outer in ((one, other), (other, one)):
        ends = np.roll(inner, -1, axis=0)
        places = np.concatenate([inner, (inner + ends) / 2.0])
        apart = ~_on_border(outer, places)
        if (within([outer], *places[apart].T) >= 0).any():
            return True
    return bool(_on_border(other, one).all() and _on_border(one, other).all())


def _crossing_sides(one: Polygon, other: Polygon) -> bool:
    """Whether a side of one goes right through a side of the other."""
    a, b = (each[:, None] for each in (one, np.roll(one, -1, axis=0)))
    c, d = (each[None, :] for each in (other, np.roll(other, -1, axis=0)))

    def split(p: Floats, q: Floats, r: Floats, s: Floats) -> NDArray[np.bool_]:
        """Whether r and s lie on different sides of the line through p and q, and not on it."""
        along = q - p
        sides = np.sign(_cross(along, r - p)) * np.sign(_cross(along, s - p))
        return np.asarray(sides < 0)

    return bool((split(a, b, c, d) & split(c, d, a, b)).any())


def _on_border(polygon: Polygon, places: Floats) -> NDArray[np.bool_]:
    """Whether each place lies on a side of the polygon."""
    start, end = polygon[None], np.roll(polygon, -1, axis=0)[None]
    place = places[:, None]
    length = (end - start) ** 2
    size = length.sum(axis=-1)
    off = _cross(end - start, place - start) ** 2
    along = ((place - start) * (end - start)).sum(axis=-1)
    return np.asarray(((off <= _FLAT * size**2) & (along >= 0) & (along <= size)).any(axis=1))


def polygons_of(aois: Sequence[ArrayLike]) -> list[Polygon]:
    """The corners of each area that has no name, checked."""
    if not len(aois):
        raise InputError("there are no areas of interest: give at least one polygon, or None")
    return [checked_corners(f"area of interest {n}", corners) for n, corners in enumerate(aois)]


def within(polygons: Sequence[Polygon], x: Floats, y: Floats) -> Places:
    """The first polygon that holds each place; -1 where none does.

    >>> triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> within([triangle], np.array([1.0, 3.0]), np.array([1.0, 3.0])).tolist()
    [0, -1]
    """
    area = np.full(len(x), -1, dtype=np.intp)
    for number, corners in reversed(list(enumerate(polygons))):
        inside = np.zeros(len(x), dtype=bool)
        # A ray to the right crosses the border an odd number of times.
        for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            if y0 != y1:
                at = x0 + (y - y0) * (x1 - x0) / (y1 - y0)
                inside ^= ((y0 <= y) != (y1 <= y)) & (x < at)
        area[inside] = number
    return area


def checked_corners(what: str, corners: ArrayLike) -> Polygon:
    """The corners as an array, none twice in a row, if they are those of a simple polygon.

    Args:
        what: the area, as an error names it.
        corners: one row (x, y) each.
    """
    try:
        polygon: Polygon = np.asarray(corners, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what} must be three or more corners (x, y): {error}") from None
    wrong = polygon.ndim != 2 or polygon.shape[-1] != 2 or len(polygon) < 3
    if wrong or not np.isfinite(polygon).all():
        raise InputError(
            f"{what} must be three or more corners (x, y), got an array of shape {polygon.shape}"
            + (" with values that are no numbers" if not wrong else "")
        )
    if np.abs(polygon).max() > _FARTHEST:
        raise InputError(
            f"{what} has a corner at {np.abs(polygon).max():g}: corners must lie within "
            f"±{_FARTHEST:g}"
        )
    if len(polygon) > _MOST_CORNERS:
        raise InputError(f"{what} has {len(polygon)} corners: draw it with at most {_MOST_CORNERS}")
    polygon = polygon[(polygon != np.roll(polygon, -1, axis=0)).any(axis=1)]
    if not _has_inside(polygon):
        raise InputError(f"{what} has no inside: all its corners lie on one line")
    crossing = _first_crossing(polygon)
    if crossing is not None:
        (x0, y0), (x1, y1) = polygon[list(crossing)]
        raise InputError(
            f"{what} crosses or touches itself: the side from ({x0:g}, {y0:g}) meets the one from "
            f"({x1:g}, {y1:g}). List the corners in order along the border"
        )
    return polygon


def _has_inside(polygon: Polygon) -> bool:
    """Whether some corner lies off the line through the first and the one farthest from it."""
    if len(polygon) < 3:
        return False
    away = polygon - polygon[0]
    squares = (away**2).sum(axis=1)
    farthest = away[squares.argmax()]
    return bool(np.abs(_cross(farthest, away)).max() > _FLAT * squares.max())


def _first_crossing(polygon: Polygon) -> tuple[int, int] | None:
    """Two sides that meet where they should not: each side has its number's corner first."""
    count = len(polygon)
    one, other = np.triu_indices(count, 1)
    start, end = polygon, np.roll(polygon, -1, axis=0)
    neighbours = (other - one == 1) | (other - one == count - 1)
    meet = _meet(start[one], end[one], start[other], end[other])
    # Sides that share a corner always meet there; they may not run back along each other.
    along = end - start
    back = (_cross(along[one], along[other]) == 0) & ((along[one] * along[other]).sum(axis=1) < 0)
    crossings = np.flatnonzero(np.where(neighbours, back, meet))
    return (int(one[crossings[0]]), int(other[crossings[0]])) if crossings.size else None


def _meet(a: Floats, b: Floats, c: Floats, d: Floats) -> NDArray[np.bool_]:
    """Whether the segments from a to b and from c to d have a point in common."""

    def apart(p: Floats, q: Floats, r: Floats, s: Floats) -> NDArray[np.bool_]:
        """Whether r and s lie on the same side of the line through p and q."""
        along = q - p
        sides = np.sign(_cross(along, r - p)) * np.sign(_cross(along, s - p))
        return np.asarray(sides > 0)

    boxes = (np.maximum(a, b) >= np.minimum(c, d)) & (np.maximum(c, d) >= np.minimum(a, b))
    return np.asarray(boxes.all(axis=1) & ~apart(a, b, c, d) & ~apart(c, d, a, b))


def _cross(one: Floats, other: Floats) -> Floats:
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])

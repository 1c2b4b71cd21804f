"""A picture cut into cells, and which cell a place is in."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError

Floats = NDArray[np.float64]
Cells = NDArray[np.int64]

Mask = NDArray[np.bool_]

MOST_CELLS = 1 << 28
# So many points at a time that what is made of them stays in the cache.
_CHUNK = 3 << 14


@dataclass(frozen=True)
class Grid:
    """A picture of so many px, cut into columns and rows of equal cells.

    Cells are numbered from the top left, along rows. A cell has its left and upper border.

    Attributes:
        width_px: of the picture.
        height_px: of the picture.
        columns: side by side.
        rows: one below the other.

    >>> x_px, y_px = np.array([0.0, 1679.9, 1680.0]), np.array([0.0, 1049.0, 5.0])
    >>> Grid(1680, 1050, 14, 9).cell_of(x_px, y_px)
    array([  0, 125,  -1])
    """

    width_px: int
    height_px: int
    columns: int
    rows: int

    def __post_init__(self) -> None:
        for name, cells, pixels in (
            ("columns", self.columns, self.width_px),
            ("rows", self.rows, self.height_px),
        ):
            if pixels < 1:
                raise InputError(
                    f"a picture must be at least 1 px wide and high, got "
                    f"{self.width_px} × {self.height_px}"
                )
            if not 1 <= cells <= pixels:
                raise InputError(
                    f"{name} of the grid must be between 1 and the picture's {pixels} px, got "
                    f"{cells}"
                )
        if self.cells > MOST_CELLS:
            raise InputError(f"a grid of {self.cells:,} cells is too large: take a coarser one")

    @classmethod
    def of_pixels(cls, width_px: int, height_px: int) -> Grid:
        """Every pixel a cell."""
        return cls(width_px, height_px, width_px, height_px)

    @classmethod
    def of_about(cls, width_px: int, height_px: int, cells: float) -> Grid:
        """About so many cells, about square.

        >>> Grid.of_about(1680, 1050, 128.0)
        Grid(width_px=1680, height_px=1050, columns=14, rows=9)
        """
        side = math.sqrt(width_px * height_px / max(1.0, cells))

        def parts(length: int) -> int:
            return min(length, max(1, round(length / side)))

        return cls(width_px, height_px, parts(width_px), parts(height_px))

    @property
    def cells(self) -> int:
        """How many there are."""
        return self.columns * self.rows

    @property
    def cell_px(self) -> tuple[float, float]:
        """Width and height of a cell."""
        return self.width_px / self.columns, self.height_px / self.rows

    def cell_of(self, x_px: Floats, y_px: Floats) -> Cells:
        """The cell of each place in px from the picture's top left; -1 outside and where lost."""
        cell = np.empty(len(x_px), dtype=np.int64)
        for here, found in _in_chunks(self, x_px, y_px, outside=-1):
            cell[here] = found
        return cell


def counted(grid: Grid, x_px: Floats, y_px: Floats, weight: Floats | None = None) -> Floats:
    """Rows × columns: how many places are in each cell, or their weights added up.

    The same as ``bincount`` of `Grid.cell_of`, without ever holding all cells of all places.

    >>> counted(Grid(40, 20, 2, 1), np.array([3.0, 25.0, 39.0, 40.0]), np.zeros(4))
    array([[1., 2.]])
    """
    # Counts of half the size stay in the cache; a cell cannot get more than there are places.
    number = np.int32 if len(x_px) <= np.iinfo(np.int32).max else np.int64
    # One cell more, for all that is outside.
    total = np.zeros(grid.cells + 1, dtype=number if weight is None else np.float64)
    one = total.dtype.type(1)
    for here, cell in _in_chunks(grid, x_px, y_px, outside=grid.cells):
        np.add.at(total, cell, one if weight is None else weight[here])
    return total[:-1].reshape(grid.rows, grid.columns).astype(np.float64)


def _in_chunks(
    grid: Grid, x_px: Floats, y_px: Floats, outside: int
) -> Iterator[tuple[slice, Cells]]:
    """The cells of some places after the other; each array is overwritten by the next."""
    x_px, y_px = np.asarray(x_px, dtype=np.float64), np.asarray(y_px, dtype=np.float64)
    size = min(_CHUNK, len(x_px))
    columns, rows = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    masks, cells = np.empty((2, size), dtype=np.bool_), np.empty(size, dtype=np.int64)
    for first in range(0, len(x_px), _CHUNK):
        here = slice(first, min(first + _CHUNK, len(x_px)))
        length = here.stop - first
        column, row, cell = columns[:length], rows[:length], cells[:length]
        inside, below = masks[:, :length]
        with np.errstate(invalid="ignore"):
            _part_of(x_px[here], grid.width_px, grid.columns, column, inside)
            _part_of(y_px[here], grid.height_px, grid.rows, row, below)
            inside &= below
        row *= grid.columns
        row += column
        cell[:] = row
        cell[np.flatnonzero(np.logical_not(inside, out=inside))] = outside
        yield here, cell


def _part_of(place: Floats, length: int, parts: int, part: NDArray[np.int32], inside: Mask) -> None:
    """Which of the equal parts of a length each place is in, and whether it is in any.

    Places beyond the length, and lost ones, get any part.
    """
    # Comparisons with NaN are false, so that lost places are outside.
    np.greater_equal(place, 0.0, out=inside)
    inside &= place < length
    if parts == length:
        np.copyto(part, place, casting="unsafe")
        return
    np.copyto(part, place * (parts / length), casting="unsafe")
    # The product is rounded: a place next to a border may have come to the wrong side of it.
    np.clip(part, 0, parts - 1, out=part)
    borders = _borders(length, parts)
    part -= place < borders[part]
    part += place >= borders[part + 1]


@functools.lru_cache(maxsize=64)
def _borders(length: int, parts: int) -> Floats:
    """Where each part begins, and infinity: the least floats that are not before it."""
    borders = [part * length / parts for part in range(parts)]
    exact = [border.as_integer_ratio() for border in borders]
    early = [top * parts < part * length * bottom for part, (top, bottom) in enumerate(exact)]
    return np.append(np.where(early, np.nextafter(borders, np.inf), borders), np.inf)

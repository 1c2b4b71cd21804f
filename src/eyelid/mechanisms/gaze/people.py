"""What people give to synthetic recordings: their parameters, and shares of where they looked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.generator.parameters import Parameter
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid

Floats = NDArray[np.float64]

# A map's cells are the same whatever the screen's pixels are.
_WIDTH, _HEIGHT = 1600, 900


@dataclass(frozen=True, eq=False)
class PeopleGaze:
    """Private numbers of everybody, people first.

    Attributes:
        values: people × tasks × parameters, in each parameter's unit; NaN where a person has none.
        looks: people × slots × cells: how much of a person's gaze was where, in any unit.
    """

    values: Floats
    looks: Floats

    @property
    def people(self) -> int:
        """How many there are."""
        return len(self.values)

    def some(self, chosen: NDArray[np.intp]) -> PeopleGaze:
        """Some of the people."""
        return PeopleGaze(self.values[chosen], self.looks[chosen])


def grid_of(columns: int, rows: int) -> Grid:
    """Cells of a screen in which places are shares of width and height times its size."""
    return Grid(_WIDTH, _HEIGHT, columns, rows)


def grid_of_about(cells: float) -> Grid:
    """About so many cells, about square."""
    return Grid.of_about(_WIDTH, _HEIGHT, cells)


def looks_of(grid: Grid, across: Floats, down: Floats) -> Floats:
    """How many places are in each cell.

    Args:
        grid: of `grid_of`.
        across: from the left, as shares of the width; NaN where gaze was lost.
        down: from the top, as shares of the height.
    """
    cells = grid.cell_of(across * _WIDTH, down * _HEIGHT)
    return np.bincount(cells[cells >= 0], minlength=grid.cells).astype(np.float64)


def averaged(values: Floats, parameters: Sequence[Parameter]) -> Floats:
    """Each person's average over tasks (people × parameters), in each parameter's unit.

    Averages are taken on the parameter's scale, over the tasks that a person has a value of.

    Args:
        values: people × tasks × parameters.
        parameters: in order.
    """
    found = np.full((len(values), len(parameters)), np.nan)
    for number, each in enumerate(parameters):
        scaled = np.where(
            np.isfinite(values[..., number]), each.scaled(values[..., number]), np.nan
        )
        known = np.isfinite(scaled)
        count = known.sum(axis=1)
        total = np.where(known, scaled, 0.0).sum(axis=1)
        mean = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
        found[:, number] = np.where(count > 0, each.natural(np.nan_to_num(mean)), np.nan)
    return found


def shares_of(looks: Floats, layers: Sequence[int]) -> PersonCounts:
    """Where each person looked, as shares that add up to 1 at most over all maps.

    Each of L maps gets 1/L of a person who looked there at all, and nothing of any other.

    Args:
        looks: people × slots × cells.
        layers: the map of each slot.
    """
    clean = np.clip(np.nan_to_num(looks, nan=0.0, posinf=1e12, neginf=0.0), 0.0, 1e12)
    people, _, cells = clean.shape
    many = max(layers) + 1
    summed = np.zeros((people, many, cells))
    for slot, layer in enumerate(layers):
        summed[:, layer] += clean[:, slot]
    total = summed.sum(axis=2, keepdims=True)
    shares = np.divide(summed, total * many, out=np.zeros_like(summed), where=total > 0)
    return PersonCounts.of_dense(shares.reshape(people, many * cells))

"""How much of each person is in each cell: individual count maps, without the many zeros."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.maps.grid import Cells, Floats

People = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PersonCounts:
    """One vector of counts a person, sparse. What it counts, its makers know.

    Attributes:
        people: how many there are, those without any count included.
        cells: length of each vector.
        person: of each entry whose it is, from 0, in order.
        cell: and where; no two entries have the same person and cell.
        count: how much; at least 0.
    """

    people: int
    cells: int
    person: People
    cell: Cells
    count: Floats

    @classmethod
    def added_up(
        cls, people: int, cells: int, person: People, cell: Cells, weight: Floats | None = None
    ) -> PersonCounts:
        """Counts of single gaze points, of which a person may have many in one cell.

        >>> looks = PersonCounts.added_up(2, 9, np.array([0, 0, 1]), np.array([4, 4, 2]))
        >>> looks.cell.tolist(), looks.count.tolist()
        ([4, 2], [2.0, 1.0])
        """
        place = person * cells + cell
        # Stable, so that weights are added in the order of time; and quick when people stand
        # together.
        order = np.argsort(place, kind="stable")
        place = place[order]
        first = np.flatnonzero(np.diff(place, prepend=-1))
        if weight is None:
            count: Floats = np.diff(first, append=place.size).astype(np.float64)
        else:
            entry = np.repeat(np.arange(first.size), np.diff(first, append=place.size))
            count = np.bincount(entry, weights=weight[order]).astype(np.float64)
        place = place[first]
        return cls(people, cells, place // cells, place % cells, count)

    @classmethod
    def of_dense(cls, values: Floats) -> PersonCounts:
        """From people × cells."""
        people, cells = values.shape
        person, cell = np.nonzero(values)
        return cls(people, cells, person, cell, values[person, cell].astype(np.float64))

    @property
    def dense(self) -> Floats:
        """People × cells: for few people, or few cells."""
        values = np.zeros((self.people, self.cells))
        values[self.person, self.cell] = self.count
        return values

    def blocks(self, people: int) -> Iterator[PersonCounts]:
        """The counts of so many people at a time."""
        for first in range(0, self.people, people):
            last = min(first + people, self.people)
            here = slice(*np.searchsorted(self.person, [first, last]))
            yield PersonCounts(
                last - first,
                self.cells,
                self.person[here] - first,
                self.cell[here],
                self.count[here],
            )

    def per_person(self, values: Floats) -> Floats:
        """The sum of entries' values over each person."""
        return np.bincount(self.person, values, self.people).astype(np.float64)

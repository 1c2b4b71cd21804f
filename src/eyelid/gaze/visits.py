"""Visits to areas of interest, and what each person's come to: dwell, counts, transitions, order.

A visit is a run of gaze points in one area, without another place in between. Gaze that leaves an
area and comes back makes two visits, wherever on the picture it was meanwhile; gaze that is lost or
off the picture has no gaze points and interrupts nothing. Gaze points in no area are no visits:
transitions go from one visit to the next visit to any area, so that 'logo → logo' is a person who
looked away from the logo and came back. Nothing goes on from one layer (a picture, or a stretch of
time) to the next; two recordings of one picture are taken one after the other, so that a visit may
go on from the first to the second.

Each table is one vector a person, all its layers one after the other. None is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eyelid.gaze.areas import Area, Places, check_areas, check_on_picture, within
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_points import GazePoints

Integers = NDArray[np.int64]


def area_of(points: GazePoints, areas: Sequence[Area]) -> Places:
    """The first area that holds each look; -1 where none does."""
    check_on_picture(areas, points.width_px, points.height_px)
    return within([area.corners for area in check_areas(areas)], points.x_px, points.y_px)


def dwell_of(points: GazePoints, area: Places, areas: int) -> PersonCounts:
    """Each person's share of gaze points, by weight, in each area and elsewhere (last).

    All of a person's shares add up to 1 over all layers; those of a person who never looked to 0.

    Args:
        points: of everybody.
        area: of each look, -1 elsewhere.
        areas: how many there are.
    """
    places = areas + 1
    cell = points.layer * places + np.where(area < 0, areas, area)
    counts = PersonCounts.added_up(
        len(points.people), len(points.layers) * places, points.person, cell, points.weight
    )
    sums = counts.per_person(counts.count)
    return replace(counts, count=counts.count / np.where(sums > 0, sums, 1.0)[counts.person])


@dataclass(frozen=True, eq=False)
class Visits:
    """Everybody's visits: those of a person together, layer by layer, each layer's in order.

    Attributes:
        people: how many there are, those without a visit included.
        layers: how many there are.
        areas: how many there are.
        person: of each visit whose it is, from 0.
        layer: and in which layer, from 0.
        area: and to which area, from 0.
    """

    people: int
    layers: int
    areas: int
    person: Integers
    layer: Integers
    area: Integers

    def only(self, which: NDArray[np.bool_]) -> Visits:
        """Some of the visits."""
        person, layer, area = self.person[which], self.layer[which], self.area[which]
        return Visits(self.people, self.layers, self.areas, person, layer, area)

    def first(self, most: int) -> Visits:
        """Each person's first visits to each layer, so many at most."""
        return self.only(_position(self.person * self.layers + self.layer) < most)

    def counts(self) -> PersonCounts:
        """How often each person visited each area of every layer."""
        return self.counted(self.area, self.areas)

    def transitions(self) -> PersonCounts:
        """How often each person went from one area (rows) to another (columns), or back to it."""
        on = np.zeros(self.area.size, dtype=bool)
        on[:-1] = (np.diff(self.person) == 0) & (np.diff(self.layer) == 0)
        following = np.roll(self.area, -1)[on]
        begun = self.only(on)
        return begun.counted(begun.area * self.areas + following, self.areas**2)

    def order(self, ranks: int) -> PersonCounts:
        """Whether an area (rows) was each person's 1st, 2nd, … to be visited (columns)."""
        place = (self.person * self.layers + self.layer) * self.areas + self.area
        news = np.zeros(self.area.size, dtype=bool)
        news[np.unique(place, return_index=True)[1]] = True
        first = self.only(news)
        rank = _position(first.person * self.layers + first.layer)
        ranked = first.only(rank < ranks)
        return ranked.counted(ranked.area * ranks + rank[rank < ranks], self.areas * ranks)

    def counted(self, place: Integers, places: int) -> PersonCounts:
        """One for every visit, at its place among those of a layer."""
        cell = self.layer * places + place
        return PersonCounts.added_up(self.people, self.layers * places, self.person, cell)


def visits_of(points: GazePoints, area: Places, areas: int) -> Visits:
    """Everybody's visits to so many areas, by the area of each look (-1 elsewhere)."""
    in_turn = np.lexsort((points.layer, points.person))
    person, layer, area = points.person[in_turn], points.layer[in_turn], area[in_turn]
    begins = np.ones(area.size, dtype=bool)
    begins[1:] = (np.diff(person) != 0) | (np.diff(layer) != 0) | (np.diff(area) != 0)
    begins &= area >= 0
    return Visits(
        len(points.people),
        len(points.layers),
        areas,
        person[begins],
        layer[begins],
        area[begins].astype(np.int64),
    )


def _position(group: Integers) -> Integers:
    """How many of its group, which stands together, come before each entry."""
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    lengths = np.diff(starts, append=group.size)
    return np.arange(group.size) - np.repeat(starts, lengths)

"""What of a heatmap and of tables of areas can be told from the noise, in sentences.

A hotspot is a square of width w in which gaze is D times as dense as on average. What is
measured is linear in the noisy cells, so that its mean over the square has a known standard error,
and the hotspot counts as reliable when that mean lies above two of them in at least nine draws of
ten, wherever on the picture the square lies:

    D·T/A·s_x·s_y ≥ (2 + 1.28)·τ·v_x·v_y

with T the total of its map, of several that of the one with the least, A its area and τ the noise
of a cell. Along each side, s is the share of the square's gaze that is still in it after cells and
point spread have moved it, and v the length of the weights that the cells have in its mean. Both
depend on how the square lies on the cells, and s/v is the least over all places. As both sides are
multiplied, the worst place is the worst one across and the worst one down. Gaze around the square
only adds.

D is the least of 2, 4, 8 and 16 for which hotspots of a quarter of the picture's width are
reliable; if there is none, the least for which hotspots of any width are.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelid.gaze.maps.gaze_map import (
    RELIABLE_ERRORS,
    GazeMap,
    difference_standing_out,
    standing_out,
)
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.spread import shares
from eyelid.mechanisms.maps.aoi_tables import AoiTables, AreaFacts
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.reporting.sentences import number
from eyelid.spelling import plural

DENSITIES = (2, 4, 8, 16)
# Of the picture's width: hotspots as wide as this are worth telling.
_NARROW = 0.25
# Nine draws of ten lie above this many standard errors below the expected value.
_DRAWS, _POWER = 0.9, 1.2816
# Full width at half of the height, in standard deviations of the point spread.
_FULL_WIDTH = 2.355
_MOST_PEOPLE = 10**8
# How many people are needed is told for hotspots of this share of the width, so dense.
_WANTED_SHARE, _WANTED_DENSITY = 0.1, 4
# Standard errors taken off a noisy total. With so many, no more than one draw in ten of all the
# noise, the total's included, states a width at which a hotspot at the worst place is lost.
_MARGIN = 0.5
# What clipping is taken to leave of people's gaze before it is known.
_LEFT = 0.5
# Of the most that a person can have in a cell: with more noise than that little can be told.
_LITTLE = 0.1
# Places of a square that are looked at along a side: all, unless cells are too many for that. Then
# they are narrow, and how a square lies on them makes no difference.
_FEWEST_PLACES, _MOST_ENTRIES = 64, 1 << 18
# How often Laplace noise is above two of its standard deviations.
_BY_CHANCE = 0.5 * math.exp(-RELIABLE_ERRORS * math.sqrt(2))


@dataclass(frozen=True)
class Reliability:
    """What hotspots of a map can be trusted, from public facts and what was released.

    Attributes:
        width_px: hotspots at least so wide are reliable, wherever they lie; None if none is.
        density: where gaze is at least so many times as dense as on average.
        people_needed: for hotspots a tenth as wide as the picture and four times as dense as the
            average, from public numbers alone; None if no number would do, or where there are
            enough.
        picture_px: width of the picture.
        maps: how many share the budget.
        groups: of how many groups of people it is true, each with a map of its own.
        condition: what it rests on as long as nothing is measured; empty afterwards.
        limit: whose gaze counts less than others', in words; empty where nobody's does.
        noisy: whether there is any noise.
    """

    width_px: float | None
    density: int
    people_needed: int | None
    picture_px: int
    maps: int = 1
    groups: int = 1
    condition: str = ""
    limit: str = ""
    noisy: bool = True

    @property
    def sentence(self) -> str:
        """For people."""
        average = "on average on its map" if self.maps > 1 else "on average"
        gaze = "gaze that counts" if self.limit else "gaze"
        if not self.noisy:
            return "No noise was added: what the map shows was there, and is not protected."
        if self.width_px is not None:
            text = (
                f"hotspots wider than {math.ceil(self.width_px)} px are reliable where {gaze} is "
                f"at least {self.density} times as dense as {average}: over a square that wide, "
                "wherever on the picture, the map's mean lies above two standard errors of the "
                f"noise in at least {10 * _DRAWS:g} draws of 10."
            )
        else:
            text = (
                f"no hotspot is reliable for sure: even {gaze} {self.density} times as dense as "
                f"{average} may be lost in the noise, and what stands out all the same is denser."
            )
        text = f"{self.condition}, {text}" if self.condition else text
        return _sentence(text) + (f" {self.limit}" if self.limit else "") + self._advice

    @property
    def _advice(self) -> str:
        if self.people_needed is None:
            return ""
        people = plural(self.people_needed, "person", "people")
        each = " in each group" if self.groups > 1 else ""
        fewer = ", or fewer maps at once" if self.maps > 1 else ""
        return (
            f" About {people}{each} would be needed for hotspots of "
            f"{round(_WANTED_SHARE * self.picture_px)} px, a tenth of the width, "
            f"{_WANTED_DENSITY} times as dense; or a larger ε{fewer}."
        )

    def to_dict(self) -> dict[str, float | int | str | None]:
        """As in a certificate."""
        width = None if self.width_px is None else math.ceil(self.width_px)
        return {
            "hotspots_wider_than_px": width,
            "times_as_dense": self.density,
            "draws_at_the_worst_place": None if width is None else _DRAWS,
            "people_needed": self.people_needed,
            "says": self.sentence,
        }


def reliability(
    mechanism: MapMechanism, facts: MapFacts, sigma_px: float, cells: Floats | None = None
) -> Reliability | None:
    """What hotspots of a map can be trusted; None where nothing can be said before it is made.

    Args:
        mechanism: as settled.
        facts: the public facts.
        sigma_px: of the point spread.
        cells: what was measured and released; before anything runs, a share of everybody's gaze is
            taken to count, and that is said.
    """
    grid, cell_sd = facts.grid, mechanism.cell_sd(facts)
    if cell_sd == 0:
        return Reliability(None, max(DENSITIES), None, grid.width_px, noisy=False)
    most, assumed, condition = _totals(mechanism, facts)
    assumed /= facts.recordings
    total = assumed
    if cells is not None:
        # Noisy totals are released as well. What is true of the map with the least gaze is true of
        # all; less a share of its own error, the total seldom promises too much.
        least = float(cells.sum(axis=(1, 2)).min())
        total = min(most, least - _MARGIN * cell_sd * math.sqrt(facts.length))
        condition = ""
    elif facts.recordings > 1:
        condition += " and every map gets as much of it"
    if math.isinf(total):
        return None
    density, width_px = _trusted(grid, sigma_px, cell_sd, total)
    few = width_px is None or density > _WANTED_DENSITY
    return Reliability(
        width_px=width_px,
        density=density,
        people_needed=_people_needed(mechanism, facts, sigma_px, assumed) if few else None,
        picture_px=grid.width_px,
        maps=facts.recordings,
        condition=condition,
        limit=_limit(mechanism, facts),
    )


def worst(found: Sequence[Reliability | None]) -> Reliability | None:
    """What is true of the map of each of several groups; None without any."""
    known = [each for each in found if each is not None]
    if not known:
        return None
    one = max(known, key=lambda each: (each.width_px is None, each.density))
    # As dense as the one needs it and as wide as any does: that is reliable on all.
    widths = [each.width_px for each in known if each.width_px is not None]
    width_px = None if one.width_px is None else max(widths)
    return replace(one, width_px=width_px, groups=len(known))


def places_sentence(maps: Sequence[GazeMap]) -> str:
    """How many places of released maps have more gaze than the average of their page."""
    counts = [standing_out(each) for each in maps]
    certain, perhaps = (sum(each) for each in zip(*counts, strict=True))
    where, page = ("", "the page")
    if len(maps) > 1:
        where, page = f"on {plural(len(maps), 'map')} together ", "their page"
    return _sentence(
        f"{where}{_places(certain, 'stand')} out clearly from the average of {page}, "
        f"{_more(certain, perhaps)}. Each was tested for more gaze than that average, over the "
        "whole map at once: on a page that is looked at evenly, noise makes a clear one on at "
        "most 1 map of 20."
    )


def difference_sentence(first: GazeMap, second: GazeMap) -> str:
    """Whether two released maps differ by more than noise."""
    certain, perhaps = difference_standing_out(first, second)
    return (
        f"Between {first.name} and {second.name} {_places(certain, 'differ')} clearly, "
        f"{_more(certain, perhaps)}. Each difference was tested against zero, over the whole map "
        "at once."
    )


def tables_sentence(
    mechanism: AoiTables,
    facts: AreaFacts,
    released: pl.DataFrame | None = None,
    *,
    beside_map: bool = False,
) -> str:
    """What of tables of areas can be told from the noise.

    Args:
        mechanism: of the tables.
        facts: the public facts.
        released: the tables; None as long as there are none.
        beside_map: whether a map has the other half of ε.
    """
    limits = mechanism.limits(facts)
    starts = np.cumsum([0, *(one.cells for one in limits[:-1])])
    errors = dict(zip(mechanism.names, mechanism.cell_sd(facts)[0, starts].tolist(), strict=True))
    each = ", ".join(f"{number(errors[name], 2)} ({name})" for name in mechanism.names)
    text = f"Tables of areas: standard errors of the noise are {each}"
    if released is not None:
        above = released.filter(pl.col("measured") > RELIABLE_ERRORS * pl.col("standard_error"))
        by_chance = number(len(released) * _BY_CHANCE, 2)
        text += (
            f"; {len(above)} of {plural(len(released), 'number')} "
            f"{'is' if len(above) == 1 else 'are'} above two of them, where noise alone gives "
            f"about {by_chance}"
        )
    text += "."
    lost = [one.table for one in limits if errors[one.table] > _LITTLE * one.most]
    if lost:
        advice = ["--only areas"] * beside_map
        advice += [f"--set tables={mechanism.names[0]}"] * (len(mechanism.names) > 1)
        remedies = ", ".join([*advice, "a larger ε", "more people"])
        text += f" Little can be read from {', '.join(lost)}: take {remedies}."
    if set(mechanism.names) - {"dwell"}:
        visits = plural(mechanism.visits, "visit")
        text += f" Of each person the first {visits} to a picture or in a stretch count."
    return text


def _places(count: int, verb: str) -> str:
    """How many places do something."""
    return f"{plural(count, 'place') if count else 'no place'} {verb}{'s' * (count < 2)}"


def _more(certain: int, perhaps: int) -> str:
    return f"{perhaps}{' more' * (certain > 0)} may be noise"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _totals(mechanism: MapMechanism, facts: MapFacts) -> tuple[float, float, str]:
    """What all cells of the mean add up to: at most, as assumed, and on what condition."""
    most, clip = mechanism.most_of_person, mechanism.clip_at(facts)
    if clip is not None:
        half = "clipping leaves half of people's gaze" if clip < 1 else "half of the people looked"
        return most, _LEFT, f"if {half}"
    if math.isinf(most):
        return most, most, ""
    return most, most, f"if everybody fills the cap of {int(most)}"


def _limit(mechanism: MapMechanism, facts: MapFacts) -> str:
    """Whose gaze counts less than others', in words."""
    clip = mechanism.clip_at(facts)
    if clip is not None:
        if clip >= 1:
            return ""
        return "People who look at few places count less: clipping leaves less of their gaze."
    if mechanism.parameters().get("cap") == "none":
        return ""
    return (
        "Gaze points beyond the cap do not count, so that people who look at few places count less."
    )


def _trusted(grid: Grid, sigma_px: float, cell_sd: float, total: float) -> tuple[int, float | None]:
    """The density to tell hotspots of, and the least width of those."""
    found = [
        (density, reliable_width(grid, sigma_px, cell_sd, total, density)) for density in DENSITIES
    ]
    some = [(density, width) for density, width in found if width is not None]
    narrow = [each for each in some if each[1] <= _NARROW * grid.width_px]
    return next(iter([*narrow, *some]), found[-1])


# What is measured has no part in it: the answer is the same for every draw.
@functools.lru_cache(maxsize=32)
def _people_needed(
    mechanism: MapMechanism, facts: MapFacts, sigma_px: float, total: float
) -> int | None:
    """How many people would make hotspots a tenth as wide as the picture reliable."""
    width_px, height_px = facts.grid.width_px, facts.grid.height_px
    if math.isinf(total):
        return None

    def enough(people: int) -> bool:
        more = mechanism.facts_of(people, facts.recordings, width_px, height_px, sigma_px)
        wanted = math.floor(_WANTED_SHARE * width_px)
        return wanted >= _narrowest(more.grid, sigma_px) and _stands_out(
            more.grid, sigma_px, mechanism.cell_sd(more), total, _WANTED_DENSITY, wanted
        )

    few, many = facts.people, 2 * facts.people
    if enough(few):
        return None
    while not enough(many):
        few, many = many, 2 * many
        if many > _MOST_PEOPLE:
            return None
    while many > 1.02 * few + 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    digits = int(10 ** max(0, len(str(many)) - 2))
    return -(-many // digits) * digits


def reliable_width(
    grid: Grid, sigma_px: float, cell_sd: float, total: float, density: float
) -> int | None:
    """The least width in px of hotspots that stand out of the noise anywhere; None if none does.

    Args:
        grid: of the cells.
        sigma_px: of the point spread.
        cell_sd: of the noise in a cell.
        total: of a map over all its cells.
        density: of the hotspots, in units of the average.

    >>> grid = Grid(1000, 1000, 10, 10)
    >>> reliable_width(grid, 20.0, 0.005, 1.0, 4), reliable_width(grid, 20.0, 0.5, 1.0, 4)
    (100, None)
    """
    area = grid.width_px * grid.height_px
    # So that it fits into the picture, and its gaze is no more than everything.
    widest = math.floor(min(grid.width_px, grid.height_px, math.sqrt(area / density)))
    narrowest = _narrowest(grid, sigma_px)

    def stands_out(width: int) -> bool:
        return _stands_out(grid, sigma_px, cell_sd, total, density, width)

    if narrowest > widest or not stands_out(widest):
        return None
    if stands_out(narrowest):
        return narrowest
    low, high = narrowest, widest
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if stands_out(middle) else (middle, high)
    return high


def _narrowest(grid: Grid, sigma_px: float) -> int:
    """Hotspots are at least as wide as a cell, and as the point spread at half of its height."""
    return math.ceil(max(*grid.cell_px, _FULL_WIDTH * sigma_px, 1.0))


def _stands_out(
    grid: Grid, sigma_px: float, cell_sd: float, total: float, density: float, width: int
) -> bool:
    """Whether a square of so many px stands out in nine draws of ten, wherever it lies."""
    signal = density * total / (grid.width_px * grid.height_px)
    shown = signal * _squares(grid, sigma_px).at_worst(width)
    return shown >= (RELIABLE_ERRORS + _POWER) * cell_sd


class _Squares:
    """Squares on a map: how much of their gaze shows, beside the noise, where that is least."""

    def __init__(self, grid: Grid, sigma_px: float) -> None:
        down, across = shares(grid, sigma_px)
        self._sides = [
            (np.cumsum(np.pad(each, ((1, 0), (0, 0))), axis=0), _overlaps(*each.shape))
            for each in (down, across)
        ]
        self._known: dict[int, float] = {}

    def at_worst(self, width: int) -> float:
        """Mean over a square of a density of 1, in standard errors for noise of 1 in every cell.

        Args:
            width: of the square in px.
        """
        if width not in self._known:
            self._known[width] = math.prod(_least(*side, width) for side in self._sides)
        return self._known[width]


@functools.lru_cache(maxsize=1)
def _squares(grid: Grid, sigma_px: float) -> _Squares:
    return _Squares(grid, sigma_px)


def _overlaps(length: int, parts: int) -> Floats:
    """How much of each of the equal parts of a line lies before each px, and before its end."""
    begin = np.arange(parts) * (length / parts)
    return np.clip(np.arange(length + 1.0)[:, None] - begin, 0.0, length / parts)


def _least(weights: Floats, overlaps: Floats, width: int) -> float:
    """The least ratio of a stretch's share to the length of its weights, over all places.

    Args:
        weights: what all px before each, and before the end, get of each cell.
        overlaps: how much of each cell lies before each px, and before the end.
        width: of the stretch in px.
    """
    length, parts = len(weights) - 1, weights.shape[1]
    places = min(length - width + 1, max(_FEWEST_PLACES, _MOST_ENTRIES // parts))
    begin = np.unique(np.linspace(0, length - width, places).round().astype(np.intp))
    inside = (weights[begin + width] - weights[begin]) / width
    share = np.sum(inside * (overlaps[begin + width] - overlaps[begin]), axis=1)
    return float((share / np.sqrt(np.sum(inside**2, axis=1))).min())

"""Whether a private map is likely to show more than a blob in the middle of the picture.

People look at the middle of any picture, so that a Gaussian there, which needs no data and costs no
privacy, resembles most heatmaps. Before anything is paid, both are compared on simulated pictures:
with the heatmap without noise, and by public facts alone (people, ε, δ, the size of the picture,
cells, the point spread, how many maps share ε).

Each simulated picture has eight hotspots of unequal weight, placed by the centre bias of Clarke &
Tatler (2014); nine fixations in ten fall on them, 0.04 of the width around, the others anywhere,
ten of each person. That is about as OSIE's 700 photographs are viewed (Xu et al. 2014; 15 people,
9.6 fixations each): there the blob has a correlation of 0.33, and maps at ε = 1.5, 3 and 5 have
0.38, 0.61 and 0.74. Gaze on texts, interfaces and films is another: it is an expectation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eyelid.attacks.maps import CENTRE_VARIANCE, centre_bias
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.gaze.maps.spread import shares
from eyelid.mechanisms.maps.aoi_tables import AoiTables
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.mechanisms.maps.map_mechanism import MapFacts, MapMechanism
from eyelid.reporting.sentences import number
from eyelid.spelling import plural

# In fewer of the simulated pictures than this a map is not clearly nearer the truth than the blob.
_CLEARLY = 0.8
# Of correlations: less is not worth telling.
_BETTER = 0.05
_A_LITTLE_MORE = 1.15
_SCENES, _DRAWS, _SEED = 24, 6, 20140
_HOTSPOTS, _SD, _ANYWHERE, _FIXATIONS = 8, 0.04, 0.1, 10
# More people than these have nearly the same mean.
_MOST_SIMULATED = 60
# Longest side of a simulated picture in px, and the finest grid that is simulated.
_SIDE, _FINEST = 96, 400
# Many consider a larger ε no protection.
_MOST_PEOPLE, _MOST_EPSILON = 10**6, 10.0
# How many areas a table in the place of a map has, and the largest error that is of use.
_AREAS, _LITTLE = 4, 0.1


@dataclass(frozen=True)
class Likeness:
    """How like the map without noise a private map and a blob in the middle are expected to be.

    Attributes:
        private: mean correlation of the private map, over simulated pictures.
        blob: mean correlation of the blob.
        wins: share of simulated pictures in which the private map's is the higher one.
    """

    private: float
    blob: float
    wins: float

    @property
    def as_good(self) -> bool:
        """Whether the blob is likely as good as the map."""
        return self.wins < _CLEARLY


@dataclass(frozen=True)
class Outlook:
    """What a map is expected to be worth, from public facts alone, and what would help.

    Attributes:
        likeness: of the map.
        people: of the map with the fewest.
        epsilon: of the maps.
        maps: how many share it.
        groups: of how many groups of people it is true.
        people_needed: so many that the map is clearly better than the blob at this ε; None where
            it is, or where no number would do.
        epsilon_needed: such an ε for these people; None likewise.
        alone: correlation of one map that has all of ε; None where there is one.
        coarse: correlation of `map-grid` at this ε; None where it is that, or no better.
        dwell_error: standard error of a person's share of gaze in an area, in a table that has all
            of ε; None where that is too much to be of use.
    """

    likeness: Likeness
    people: int
    epsilon: float
    maps: int
    groups: int
    people_needed: int | None
    epsilon_needed: float | None
    alone: float | None
    coarse: float | None
    dwell_error: float | None

    @property
    def sentence(self) -> str:
        """For people."""
        like = self.likeness
        on = (
            "on simulated pictures (hotspots placed by the centre bias of Clarke & Tatler 2014, "
            f"{_FIXATIONS} fixations a person)"
        )
        if not like.as_good:
            return (
                f"The {self._map} likely to show more than a blob in the middle of the picture: "
                f"{on} it has an expected correlation of {like.private:.2f} with the map without "
                f"noise, and the blob, which needs no data, {like.blob:.2f}."
            )
        return (
            f"A blob in the middle of the picture is likely as good as {self._this}: {on} the map "
            f"has an expected correlation of {like.private:.2f} with the one without noise, the "
            f"blob, which needs no data, {like.blob:.2f}, and the map is nearer on "
            f"{100 * like.wins:.0f} of 100 pictures. {self._advice}"
        )

    @property
    def _map(self) -> str:
        return "maps are each" if self.maps * self.groups > 1 else "map is"

    @property
    def _this(self) -> str:
        return "each of these maps" if self.maps * self.groups > 1 else "this map"

    @property
    def _advice(self) -> str:
        advice = []
        if self.coarse is not None:
            advice.append(f"--mechanism map-grid (an expected correlation of {self.coarse:.2f})")
        if self.people_needed is not None:
            each = " in each group" if self.groups > 1 else ""
            advice.append(f"about {self.people_needed:,} people{each} at this ε")
        if self.epsilon_needed is not None:
            these = plural(self.people, "person", "people")
            advice.append(f"ε = {number(self.epsilon_needed, 2)} for the map with these {these}")
        if self.alone is not None:
            advice.append(
                f"one map instead of {self.maps} (an expected correlation of {self.alone:.2f})"
            )
        if self.dwell_error is not None:
            advice.append(
                "areas instead of maps (--areas FILE --only areas --set tables=dwell: a share of "
                f"gaze in one of {_AREAS} areas has a standard error of "
                f"{number(self.dwell_error, 2)})"
            )
        if not advice:
            return "More people, a larger ε or areas instead of maps hardly help: too few people."
        return f"What would help: {'; '.join(advice)}."

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid heatmap --dry-run --json`` prints it."""
        return {
            "from": "simulated pictures and public facts",
            "correlation": self.likeness.private,
            "blob_correlation": self.likeness.blob,
            "nearer_than_blob": self.likeness.wins,
            "blob_is_as_good": self.likeness.as_good,
            "people_needed": self.people_needed,
            "epsilon_needed": self.epsilon_needed,
            "correlation_of_one_map": self.alone,
            "correlation_of_map_grid": self.coarse,
            "dwell_standard_error": self.dwell_error,
            "says": self.sentence,
        }


def outlook(
    mechanism: MapMechanism,
    facts: MapFacts,
    sigma_px: float,
    *,
    groups: int = 1,
    epsilon: float | None = None,
) -> Outlook | None:
    """What a map is expected to be worth; None where that is not known before it is made.

    Args:
        mechanism: of the maps.
        facts: the public facts of those with the fewest people.
        sigma_px: of the point spread.
        groups: of how many groups of people there are maps.
        epsilon: that tables would have in the place of maps; by default that of the maps.
    """
    found = likeness(mechanism, facts, sigma_px)
    if found is None:
        return None
    size = facts.grid.width_px, facts.grid.height_px

    def with_people(people: int, layers: int = facts.recordings) -> Likeness | None:
        more = mechanism.facts_of(people, layers, *size, sigma_px)
        return likeness(mechanism, more, sigma_px)

    def with_epsilon(larger: float) -> Likeness | None:
        stronger = replace(mechanism, epsilon=larger)
        more = stronger.facts_of(facts.people, facts.recordings, *size, sigma_px)
        return likeness(stronger, more, sigma_px)

    people = tried = alone = coarse = None
    if found.as_good:
        if not mechanism.of_shares:
            stronger = MapGrid(epsilon=mechanism.epsilon)
            shares_in_cells = stronger.facts_of(facts.people, facts.recordings, *size, sigma_px)
            coarse = likeness(stronger, shares_in_cells, sigma_px)
        people = _least(lambda many: with_people(int(many)), facts.people, _MOST_PEOPLE)
        tried = _least(with_epsilon, mechanism.epsilon, _MOST_EPSILON)
        if facts.recordings > 1:
            alone = with_people(facts.people, 1)
    tables = AoiTables(epsilon=epsilon or mechanism.epsilon, tables="dwell")
    of_areas = tables.facts_of(facts.people, facts.recordings, _AREAS)
    error = float(tables.cell_sd(of_areas)[0, 0])
    return Outlook(
        likeness=found,
        people=facts.people,
        epsilon=mechanism.epsilon,
        maps=facts.recordings,
        groups=groups,
        people_needed=None if people is None else int(people),
        epsilon_needed=tried,
        alone=_if_better(alone, found),
        coarse=_if_better(coarse, found),
        dwell_error=error if error <= _LITTLE else None,
    )


def _if_better(other: Likeness | None, found: Likeness) -> float | None:
    """Another map's expected correlation, where it is clearly higher."""
    better = other is not None and other.private > found.private + _BETTER
    return other.private if other is not None and better else None


def _least(tried: Callable[[float], Likeness | None], start: float, most: float) -> float | None:
    """The least of something from which on the map is clearly better than the blob, two digits."""

    def enough(value: float) -> bool:
        # A little more may have other cells, and must do as well.
        found = [tried(_two_digits(each)) for each in (value, _A_LITTLE_MORE * value)]
        return all(each is not None and not each.as_good for each in found)

    low, high = start, 2 * start
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _two_digits(high)


def _two_digits(value: float) -> float:
    """Rounded up to two digits.

    >>> _two_digits(1234.0), _two_digits(2.31)
    (1300.0, 2.4)
    """
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / unit - 1e-9) * unit:.6g}")


@functools.lru_cache(maxsize=256)
def likeness(mechanism: MapMechanism, facts: MapFacts, sigma_px: float) -> Likeness | None:
    """How like the map without noise a private one and a blob are expected to be.

    Every number in it follows from public facts and fixed pictures: the same whatever the data are.

    Args:
        mechanism: of the map.
        facts: the public facts.
        sigma_px: of the point spread.
    """
    grid, cell_sd = facts.grid, mechanism.cell_sd(facts)
    if math.isinf(mechanism.most_of_person) or not cell_sd > 0:
        return None
    small = _Small.of(grid, sigma_px)
    if small is None:
        return None
    aspect, people = grid.height_px / grid.width_px, min(facts.people, _MOST_SIMULATED)
    truth = _truth(small, aspect, people)
    signal = _limited(mechanism, facts, _counts(small.grid, aspect, people))
    # Of cells that are put together the noise adds up in squares.
    noise_sd = cell_sd * math.sqrt(grid.cells / small.grid.cells)
    white = _white_noise(small.grid.rows, small.grid.columns)
    shown = small.blurred(signal[:, None] + noise_sd * white, small.grid)
    down, across = (np.sqrt(np.sum(each**2, axis=1)) for each in small.weights(small.grid))
    shown = np.maximum(shown - noise_sd * np.outer(down, across), 0.0)
    blob = centre_bias(small.pixels.width_px, small.pixels.height_px)
    private = _correlations(truth[:, None], shown)
    rival = _correlations(truth, blob)
    return Likeness(
        private=float(private.mean()),
        blob=float(rival.mean()),
        wins=float(np.mean(private > rival[:, None])),
    )


def _limited(mechanism: MapMechanism, facts: MapFacts, counts: Floats) -> Floats:
    """The mean over people of what a mechanism takes of each picture, but for its noise."""
    own = counts.sum(axis=(2, 3), keepdims=True)
    share = counts / np.maximum(own, 1.0) / facts.recordings
    clip = mechanism.clip_at(facts)
    if clip is None:
        # A participant who looks long enough fills the cap.
        return np.asarray(mechanism.most_of_person * share.mean(axis=1))
    square = np.sum(share**2, axis=(2, 3), keepdims=True)
    if facts.recordings > 1:
        # All pictures of a person are one vector.
        square = facts.recordings * square.mean(axis=0, keepdims=True)
    length = np.sqrt(np.maximum(square, 1e-300))
    return np.asarray((share * np.minimum(1.0, clip / length)).mean(axis=1))


@dataclass(frozen=True)
class _Small:
    """A picture made small, so that many are compared at once.

    Attributes:
        grid: of its cells.
        pixels: of its px.
        sigma_px: of the point spread, in its px.
    """

    grid: Grid
    pixels: Grid
    sigma_px: float

    @classmethod
    def of(cls, grid: Grid, sigma_px: float) -> _Small | None:
        """As small as the cells and the point spread allow; None where that is not small."""
        side = max(grid.width_px, grid.height_px)
        # Cells that are finer than a third of the point spread are put together.
        useful = 3 * side / max(sigma_px, 1e-9)
        wanted = max(_SIDE, min(max(grid.columns, grid.rows), useful))
        if wanted > _FINEST and wanted < side:
            return None
        factor = min(1.0, wanted / side)
        width, height = (max(1, round(factor * n)) for n in (grid.width_px, grid.height_px))
        columns, rows = min(grid.columns, width), min(grid.rows, height)
        return cls(
            Grid(width, height, columns, rows),
            Grid.of_pixels(width, height),
            sigma_px * width / grid.width_px,
        )

    def weights(self, grid: Grid) -> tuple[Floats, Floats]:
        """What each px gets of each row and column of cells."""
        return _weights(grid, self.sigma_px)

    def blurred(self, cells: Floats, grid: Grid) -> Floats:
        """Cells (…, rows, columns) spread out over the px."""
        down, across = self.weights(grid)
        return np.asarray(down @ cells @ across.T)


# Asked for again with every ε and number of people that is tried; nobody writes into them.
@functools.lru_cache(maxsize=4)
def _truth(small: _Small, aspect: float, people: int) -> Floats:
    """The maps of all pictures without noise."""
    return small.blurred(_counts(small.pixels, aspect, people).mean(axis=1), small.pixels)


@functools.lru_cache(maxsize=2)
def _counts(grid: Grid, aspect: float, people: int) -> Floats:
    """Pictures × people × rows × columns: fixations in each cell."""
    places = _places(aspect)[:, :people]
    pictures = len(places)
    column, row = (places * (grid.columns, grid.rows)).astype(np.intp).reshape(-1, 2).T
    who = np.repeat(np.arange(pictures * people), places.shape[2])
    flat = np.bincount(
        who * grid.cells + row * grid.columns + column, minlength=pictures * people * grid.cells
    )
    return flat.reshape(pictures, people, grid.rows, grid.columns).astype(np.float64)


@functools.lru_cache(maxsize=8)
def _weights(grid: Grid, sigma_px: float) -> tuple[Floats, Floats]:
    return shares(grid, sigma_px)


@functools.lru_cache(maxsize=4)
def _places(aspect: float) -> Floats:
    """Pictures × people × fixations × 2: shares of width and height, all on the picture."""
    rng = np.random.default_rng(_SEED)
    # Of the width and of the height; the centre bias is known in half widths.
    spread = np.sqrt(np.array(CENTRE_VARIANCE)) / 2 / (1.0, aspect)
    found = []
    for _ in range(_SCENES):
        middles = _on_picture(0.5 + spread * rng.normal(size=(4 * _HOTSPOTS, 2)))[:_HOTSPOTS]
        weight = rng.dirichlet(np.ones(len(middles)))
        count = 2 * _MOST_SIMULATED * _FIXATIONS
        drawn = middles[rng.choice(len(middles), size=count, p=weight)]
        drawn = drawn + rng.normal(0.0, _SD, (count, 2)) / (1.0, aspect)
        anywhere = rng.random(count) < _ANYWHERE
        drawn[anywhere] = rng.random((int(anywhere.sum()), 2))
        kept = _on_picture(drawn)
        kept = np.resize(kept, (_MOST_SIMULATED * _FIXATIONS, 2))
        found.append(kept.reshape(_MOST_SIMULATED, _FIXATIONS, 2))
    return np.stack(found)


def _on_picture(places: Floats) -> Floats:
    return np.asarray(places[((places >= 0) & (places < 1)).all(axis=1)])


@functools.lru_cache(maxsize=4)
def _white_noise(rows: int, columns: int) -> Floats:
    """White noise, equal for every number of people and ε, so that they are compared alike."""
    rng = np.random.default_rng(_SEED + 1)
    return rng.normal(size=(_SCENES, _DRAWS, rows, columns))


def _correlations(truth: Floats, shown: Floats) -> Floats:
    """Pearson's over the px of each pair of maps; 0 of a map on which nothing is left."""
    one, other = (each - each.mean(axis=(-2, -1), keepdims=True) for each in (truth, shown))
    both = np.sum(one * other, axis=(-2, -1))
    norms = np.sqrt(np.sum(one**2, axis=(-2, -1)) * np.sum(other**2, axis=(-2, -1)))
    return np.asarray(np.divide(both, norms, out=np.zeros_like(both), where=norms > 0))

"""How wide a hotspot must be to be told from the noise: one sentence about a released map.

A hotspot is a square of width w in which gaze is four times as dense as on average. What is
measured is linear in the noisy cells, so that its mean over the square has a known standard error,
and the hotspot counts as reliable when that mean lies above two of them in nine draws of ten:

    4·T/A·k(w/s)² ≥ (2 + 1.28)·τ·k(w/(√2·t)) / (w·c)

with T the total of a map, A its area, τ the noise of a cell of width c, and k(w/s) the share of the
square's gaze that is still in it after a spread of standard deviation s. Looks are moved by their
cell, by the slope between cells and by the point spread σ, s² = σ² + c²/12 + c²/6; noise by the
last two, t² = σ² + c²/6, and its variance is that of two moves. Gaze around the square only adds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from eyelid.gaze.maps.gaze_map import RELIABLE_ERRORS
from eyelid.gaze.maps.grid import Floats, Grid
from eyelid.mechanisms.maps.capped_map import CappedMap
from eyelid.mechanisms.maps.map_grid import MapGrid
from eyelid.mechanisms.maps.map_mechanism import MapMechanism, MapShape
from eyelid.releases.words import plural

DENSITY = 4.0
# Nine draws of ten lie above this many standard errors below the expected value.
_POWER = 1.2816
# Full width at half of the height, in standard deviations of the point spread.
_FULL_WIDTH = 2.355
_MOST_PEOPLE = 10**8
_WANTED_SHARE = 0.1
# Of somebody's gaze, whatever clips it: the smallest default clip leaves no less.
_LEAST_COUNTED = 0.2
_TIMES = "four times"


@dataclass(frozen=True)
class Reliability:
    """What hotspots of a map can be trusted, from public facts and what was released.

    Attributes:
        width_px: hotspots at least so wide are reliable; None if none is.
        people_needed: for hotspots a tenth as wide as the picture; None if no number would do, or
            where hotspots are as narrow already.
        picture_px: width of the picture.
        noisy: whether there is any noise.
    """

    width_px: float | None
    people_needed: int | None
    picture_px: int
    noisy: bool = True

    @property
    def sentence(self) -> str:
        """For people."""
        if not self.noisy:
            return "No noise was added: whatever the map shows was there, and is not protected."
        if self.width_px is not None:
            return (
                f"Hotspots wider than {math.ceil(self.width_px)} px are reliable: where gaze is at "
                f"least {_TIMES} as dense as on average over a square that wide, the map's "
                "mean over it lies above two standard errors of the noise, in 9 draws of 10."
            )
        text = (
            f"No hotspot is reliable at {_TIMES} the average density, however wide: it would be "
            "lost in the noise, and only denser ones stand out."
        )
        if self.people_needed is None:
            return text
        return (
            f"{text} About {plural(self.people_needed, 'person', 'people')} would be needed for "
            f"hotspots a tenth as wide as the picture ({round(_WANTED_SHARE * self.picture_px)} px)"
            ", or a larger ε, or fewer maps at once."
        )

    def to_dict(self) -> dict[str, float | int | str | None]:
        """As in a certificate."""
        width = None if self.width_px is None else math.ceil(self.width_px)
        return {
            "hotspots_wider_than_px": width,
            "people_needed": self.people_needed,
            "says": self.sentence,
        }


def reliability(
    mechanism: MapMechanism, shape: MapShape, sigma_px: float, cells: Floats | None = None
) -> Reliability | None:
    """What hotspots of a map can be trusted; None where nothing can be said before it is made.

    Args:
        mechanism: as settled.
        shape: the public facts.
        sigma_px: of the point spread.
        cells: what was measured and released; before anything runs, everybody's gaze is taken to
            count in full, which a clip may well prevent.
    """
    grid, cell_sd, full = shape.grid, mechanism.cell_sd(shape), _full(mechanism)
    if cell_sd == 0:
        return Reliability(None, None, grid.width_px, noisy=False)
    total = likely = full
    if cells is not None:
        # The noisy total is released as well; less half of its own error, it seldom promises too
        # much.
        found = float(cells.sum())
        total = min(full, found - 0.5 * cell_sd * math.sqrt(cells.size))
        likely = min(full, max(found, _LEAST_COUNTED * full))
    if math.isinf(total):
        return None
    width_px = reliable_width(grid, sigma_px, cell_sd, total / shape.recordings)
    needed = None if width_px is not None else _people_needed(mechanism, shape, sigma_px, likely)
    return Reliability(width_px, needed, grid.width_px)


def worst(found: Sequence[Reliability | None]) -> Reliability | None:
    """What is true of each of several maps; None without any."""
    known = [each for each in found if each is not None]
    return max(known, key=lambda each: each.width_px or math.inf, default=None)


def _full(mechanism: MapMechanism) -> float:
    """The most that the cells of a person can add up to, over all layers."""
    if isinstance(mechanism, MapGrid):
        return 1.0
    return float(mechanism.samples) if isinstance(mechanism, CappedMap) else math.inf


def _people_needed(
    mechanism: MapMechanism, shape: MapShape, sigma_px: float, total: float
) -> int | None:
    """How many people would make hotspots a tenth as wide as the picture reliable."""
    width_px, height_px = shape.grid.width_px, shape.grid.height_px
    if math.isinf(total):
        return None

    def enough(people: int) -> bool:
        more = mechanism.shape_of(people, shape.recordings, width_px, height_px, sigma_px)
        least = reliable_width(
            more.grid, sigma_px, mechanism.cell_sd(more), total / shape.recordings
        )
        return least is not None and least <= _WANTED_SHARE * width_px

    few, many = shape.people, 2 * shape.people
    while not enough(many):
        few, many = many, 2 * many
        if many > _MOST_PEOPLE:
            return None
    while many > 1.02 * few + 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    digits = int(10 ** max(0, len(str(many)) - 2))
    return -(-many // digits) * digits


def reliable_width(grid: Grid, sigma_px: float, cell_sd: float, total: float) -> float | None:
    """The least width in px of hotspots that stand out of the noise; None if none does.

    Args:
        grid: of the cells.
        sigma_px: of the point spread.
        cell_sd: of the noise in a cell.
        total: of a map over all its cells.

    >>> grid = Grid(1000, 1000, 10, 10)
    >>> round(reliable_width(grid, 20.0, 0.005, 1.0)), reliable_width(grid, 20.0, 0.5, 1.0)
    (100, None)
    """
    cell_x, cell_y = grid.cell_px
    area = grid.width_px * grid.height_px
    # So that it fits into the picture, and four times the average is no more than everything.
    widest = min(grid.width_px, grid.height_px, math.sqrt(area / DENSITY))
    narrowest = max(cell_x, cell_y, _FULL_WIDTH * sigma_px)

    def stands_out(width: float) -> bool:
        shares, noises = (
            [_kept(width / math.hypot(sigma_px, cell / 2)) for cell in (cell_x, cell_y)],
            [
                _kept(width / math.sqrt(2 * (sigma_px**2 + cell**2 / 6)))
                for cell in (cell_x, cell_y)
            ],
        )
        density = DENSITY * total / area * math.prod(shares)
        error = cell_sd * math.sqrt(math.prod(noises) / (cell_x * cell_y)) / width
        return density >= (RELIABLE_ERRORS + _POWER) * error

    if narrowest > widest or not stands_out(widest):
        return None
    if stands_out(narrowest):
        return narrowest
    low, high = narrowest, widest
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if stands_out(middle) else (middle, high)
    return high


def _kept(width: float) -> float:
    """The share of an even stretch that a Gaussian move of sd 1 leaves within it."""
    inside = math.erf(width / math.sqrt(2))
    return inside - math.sqrt(2 / math.pi) / width * -math.expm1(-(width**2) / 2)

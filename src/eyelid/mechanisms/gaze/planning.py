"""What ε buys of so many people: which numbers are measured, and which are left to the norm.

Errors are foreseen from public facts alone. A parameter's error is in standard deviations between
people: that of a norm is taken as one of them, that of an average over tasks in the place of a
task's own as 0.7 (0.2 where only what eyes and trackers are like is averaged so), that of a norm's
spread as 0.3. A map's error is the share of gaze that would have to be moved to make it right
(total variation), a half of which counts as one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eyelid.gaze.generator.parameters import parameter
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.people import grid_of_about
from eyelid.mechanisms.statistics.planning import best_k, clipping_bias
from eyelid.mechanisms.statistics.spread import NoiseOfOne

FEWEST_FOR_NUMBERS = 100.0
"""People times ε from which on parameters are measured: below, noise is about half of what people
differ by, and everything goes to the map. A user can ask for them all the same."""
NORM_OFF, TASKS_APART, SPREAD_OFF = 1.0, 0.7, 0.3
# Of total variation: of a norm's places, of one map for several tasks or stimuli, and what counts
# as one standard deviation.
_PLACES_OFF, _MAPS_APART, _UNIT = 0.5, 0.3, 0.5
_COARSE = 0.8
_BY_TASK = ("rightward_share", "leftward_share", "sweep", "spread_x_deg", "spread_y_deg")
_OF_THE_TASK = 2.0
# What eyes and trackers are like, whatever people do; all else is measured of each task first.
_OF_THE_EYE = (
    "fixation_log_sd",
    "peak_speed_deg_s",
    "speed_slope",
    "noise_2hz",
    "noise_8hz",
    "noise_32hz",
    "noise_128hz",
    "pupil_mm",
    "pupil_variation",
    "lost_share",
)
_EYES_APART = 0.2
# Nobody measures maps of more stimuli apart.
_MOST_LAYERS = 60
_SHARES = tuple(Fraction(each, 10) for each in range(11))
_CELLS = (4, 6, 12, 24, 48, 96, 192)
MOST_NUMBERS = 600
"""Numbers in one box, at most."""

NORM, ALL, SOME, TASK = "norm", "all", "some", "task"
SCREEN, STIMULUS = "screen", "stimulus"
PAID, AUTO = "paid", "auto"


@dataclass(frozen=True)
class Asked:
    """What a user leaves to public facts, and what not.

    Attributes:
        means: ``auto``; or means of every ``task``, of ``some`` parameters so and of others over
            all tasks, over ``all`` tasks, or the ``norm``.
        spreads: ``auto``, ``paid`` or the ``norm``.
        places: ``auto``; or a map for each ``stimulus`` or ``task``, of the ``screen``, or the
            ``norm``.
        share: of ε that places get; None to leave it to public facts.
        cells: of a map; None likewise.
    """

    means: str = AUTO
    spreads: str = AUTO
    places: str = AUTO
    share: Fraction | None = None
    cells: int | None = None


@dataclass(frozen=True)
class Bought:
    """What is measured, and how well, by public facts.

    Attributes:
        means: ``task``, ``some``, ``all`` or ``norm``.
        spreads: ``paid`` or ``norm``.
        places: ``stimulus``, ``task``, ``screen`` or ``norm``.
        share: of ε that places get.
        cells: of one map.
        mean_error: foreseen of a mean, in standard deviations between people.
        spread_error: foreseen of a spread, as a share of it.
        place_error: foreseen of a map: the share of gaze at a wrong place.
        k: how many standard deviations a parameter's range reaches to both sides of the norm, but
            for `reach`.
        noise: standard deviation of the noise in a mean, as a share of its range; 0 without any.
    """

    means: str
    spreads: str
    places: str
    share: Fraction
    cells: int
    mean_error: float
    spread_error: float
    place_error: float
    k: float
    noise: float = 0.0

    def error_of(self, name: str) -> float:
        """The foreseen error of a parameter's mean, in standard deviations between people.

        Args:
            name: of the parameter.
        """
        if self.means == NORM:
            return NORM_OFF
        if not self.noise:
            return 0.0
        k, one = self.k * reach(name), parameter(name)
        # A range is so many deviations of single recordings wide, which vary within people, too.
        wider = math.hypot(one.between, one.within) / one.between
        return wider * math.hypot(2 * k * self.noise, clipping_bias(k))

    @property
    def grid(self) -> Grid:
        """The cells of one map."""
        return grid_of_about(self.cells)

    @property
    def only_places(self) -> bool:
        """Whether all of ε goes to the map."""
        return self.means == NORM and self.places != NORM


def reach(name: str) -> float:
    """How much wider than others a parameter's range is.

    Directions and places depend on the task far more than on the person: text is read to the right.

    Args:
        name: of the parameter.
    """
    return _OF_THE_TASK if name in _BY_TASK else 1.0


def numbers_of(means: str, spreads: str, facts: GazeDesignFacts) -> int:
    """How many numbers the box has.

    Args:
        means: what is asked of means.
        spreads: what is asked of spreads.
        facts: the public facts.
    """
    return len(columns_of(means, spreads, facts))


Column = tuple[int | None, int]
"""A number that is taken of a person: of which task, None for all of them, and which parameter."""


def columns_of(means: str, spreads: str, facts: GazeDesignFacts) -> list[Column]:
    """The means in a box, and behind them what only spreads are asked of: averages over tasks.

    Args:
        means: what is asked of means.
        spreads: what is asked of spreads.
        facts: the public facts.
    """
    if means == NORM:
        return []
    names = facts.measurable
    apart = [
        number
        for number, name in enumerate(names)
        if means == TASK or (means == SOME and name not in _OF_THE_EYE)
    ]
    found: list[Column] = [(task, number) for task in range(len(facts.tasks)) for number in apart]
    found += [(None, number) for number in range(len(names)) if number not in apart]
    if spreads == PAID:
        found += [(None, number) for number in range(len(names))]
    return found


@functools.lru_cache(maxsize=256)
def bought(facts: GazeDesignFacts, epsilon: float, asked: Asked) -> Bought:
    """What is foreseen to be nearest to the people, of everything that may be asked.

    Args:
        facts: the public facts.
        epsilon: the total for a person.
        asked: what the user said.
    """
    found = min(
        _all(facts, epsilon, asked),
        key=lambda each: (round(_error(each, facts), 9), each.share),
    )
    return found


def _all(facts: GazeDesignFacts, epsilon: float, asked: Asked) -> Iterator[Bought]:
    for means, spreads in _of_numbers(facts, epsilon, asked):
        for places, cells in _of_places(facts, asked):
            for share in _shares(means, places, asked):
                yield foreseen(facts, epsilon, means, spreads, places, share, cells)


def _of_numbers(facts: GazeDesignFacts, epsilon: float, asked: Asked) -> Iterator[tuple[str, str]]:
    means = [asked.means] if asked.means != AUTO else [NORM, ALL, SOME, TASK]
    few = facts.people * epsilon < FEWEST_FOR_NUMBERS
    if not facts.measurable or (asked.means == AUTO and few):
        means = [NORM]
    if asked.means == AUTO and len(facts.tasks) == 1:
        means = [each for each in means if each in (NORM, ALL)]
    for each in means:
        spreads = [asked.spreads] if asked.spreads != AUTO else [NORM, PAID]
        for spread in [NORM] if each == NORM else spreads:
            if asked.means != AUTO or numbers_of(each, spread, facts) <= MOST_NUMBERS:
                yield each, spread


def _of_places(facts: GazeDesignFacts, asked: Asked) -> Iterator[tuple[str, int]]:
    places = [asked.places] if asked.places != AUTO else [SCREEN, TASK, STIMULUS]
    if not facts.on_surface:
        places = [NORM]
    for each in places:
        if each == NORM:
            yield NORM, 1
            continue
        layers = max(facts.layers(each)) + 1
        coarser = {TASK: 1, STIMULUS: len(facts.tasks)}.get(each, 0)
        if asked.places == AUTO and not coarser < layers <= _MOST_LAYERS:
            continue
        for cells in [asked.cells] if asked.cells is not None else _CELLS:
            yield each, cells


def _shares(means: str, places: str, asked: Asked) -> tuple[Fraction, ...]:
    if places == NORM:
        return (Fraction(0),)
    if means == NORM:
        return (Fraction(1),)
    return _SHARES[1:-1] if asked.share is None else (asked.share,)


def foreseen(
    facts: GazeDesignFacts,
    epsilon: float,
    means: str,
    spreads: str,
    places: str,
    share: Fraction,
    cells: int,
) -> Bought:
    """How far off everything will be.

    Args:
        facts: the public facts.
        epsilon: the total for a person.
        means: what is measured of means.
        spreads: what is measured of spreads.
        places: what there is a map for each of.
        share: of ε that places get.
        cells: of a map.
    """
    k, mean_error, spread_error, of_mean = 3.0, NORM_OFF, SPREAD_OFF, 0.0
    numbers = numbers_of(means, spreads, facts)
    if numbers:
        of_mean = NoiseOfOne(1.0 / (facts.people * epsilon * float(1 - share)), numbers).sd
        k = best_k(of_mean)
        mean_error = math.hypot(2 * k * of_mean, clipping_bias(k))
        if spreads == PAID:
            # The variance is k² times the mean of (2·place − 1)², less the mean squared.
            spread_error = k * k * of_mean / 2
    place_error = _PLACES_OFF
    if places != NORM:
        layers = max(facts.layers(places)) + 1
        noise = cells * layers / (facts.people * epsilon * float(share))
        place_error = min(1.0, math.hypot(noise, _COARSE / math.sqrt(cells)))
    errors = mean_error, spread_error, place_error
    return Bought(means, spreads, places, share, cells, *errors, k, of_mean)


def _error(each: Bought, facts: GazeDesignFacts) -> float:
    """What the choice makes small: squared errors of means, spreads and places, added up."""
    apart = {TASK: 0.0, SOME: _EYES_APART}.get(each.means, TASKS_APART)
    several = apart if len(facts.tasks) > 1 else 0.0
    maps = [SCREEN, TASK, STIMULUS].index(each.places) if each.places != NORM else 0
    finest = 2 if len(facts.slots) > len(facts.tasks) else 1 if len(facts.tasks) > 1 else 0
    maps_apart = _MAPS_APART * max(0, finest - maps)
    return (
        each.mean_error**2
        + several**2
        + each.spread_error**2
        + (each.place_error**2 + maps_apart**2) / _UNIT**2
    )


def described(each: Bought, facts: GazeDesignFacts) -> dict[str, Any]:
    """What is measured, and how far off it will be, for a certificate.

    Args:
        each: what is bought.
        facts: the public facts.
    """
    places = each.places != NORM
    return {
        "means": each.means,
        "spreads": each.spreads,
        "places": each.places,
        "share_of_places": float(each.share),
        "grid": [each.grid.columns, each.grid.rows] if places else None,
        "maps": max(facts.layers(each.places)) + 1 if places else 0,
        "place_error": each.place_error,
    }

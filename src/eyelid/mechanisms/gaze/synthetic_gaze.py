"""Synthetic recordings after sums over people under noise: pure ε for everything of a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.generator.parameters import PARAMETERS
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.mechanisms.differential import DifferentialMechanism, Integers, exact
from eyelid.mechanisms.gaze.facts import GazeDesignFacts, GazeForm
from eyelid.mechanisms.gaze.gaze_mechanism import Answers, GazeMechanism
from eyelid.mechanisms.gaze.people import PeopleGaze, averaged, shares_of
from eyelid.mechanisms.gaze.planning import (
    ALL,
    AUTO,
    NORM,
    PAID,
    SCREEN,
    SOME,
    STIMULUS,
    TASK,
    Asked,
    Bought,
    bought,
    columns_of,
    reach,
)
from eyelid.mechanisms.gaze.portrait import (
    WIDER,
    Portrait,
    as_shares,
    believed,
    norm_means,
    norm_spreads,
    range_of,
)
from eyelid.mechanisms.maps.map_laplace import MapLaplace
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.statistics.parts import BoxPart
from eyelid.mechanisms.statistics.ranges import Range
from eyelid.mechanisms.statistics.summary import StatisticsFacts
from eyelid.mechanisms.statistics.summary_box import SummaryBox
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Neighbours, Unit

_MEANS = (AUTO, TASK, SOME, ALL, NORM)
_SPREADS = (AUTO, PAID, NORM)
_PLACES = (AUTO, STIMULUS, TASK, SCREEN, NORM)
# Shares of ε are rounded down to so much.
_BILLION = 10**9
_MOST_CELLS = 4096
# In games: how many people, and what all but one of them are like.
_IN_GAMES = 4
_GAME_FACTS = GazeDesignFacts.of(
    _IN_GAMES,
    (("look", "one"), ("look", "two"), ("read", "one")),
    ("fixation_ms", "rightward_share"),
    rate_hz=30.0,
    minutes=0.1,
    form=GazeForm("fraction", "top-left"),
)
_FAR = 1e9


@register
@dataclass(frozen=True)
class SyntheticGaze(GazeMechanism, DifferentialMechanism):
    """Recordings of synthetic participants, drawn after sums over people under noise."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Recordings of synthetic participants, drawn after sums over people under noise.",
        takes="""of each person the generator's parameters, an average over the recordings of a
        task, clipped to a public range (the norm's mean ± k standard deviations, within what the
        parameter can be), the middle where there is none; and where they looked, as shares of 1/L
        in the cells of each of L maps. Which of these are taken, how finely, and how ε is split
        between them, follows from public facts alone; all else is the norm's.""",
        protects="""a person, replace-one, pure ε, over everything that is released; trust is
        central. N, the tasks and stimuli, the columns, units, screen and rate, and the planned
        length are public.""",
        why="""everything that is released is drawn from public facts, fresh randomness and two
        answers. One is sums of d whole numbers, each of which a person moves by at most Δ = 2^30
        whatever the others do, under noise with P(z) ∝ exp(−‖z‖∞/t), t = ⌈Δ/ε₁⌉: ε₁-DP. The other
        is sums of shares that are at least 0 and add up to at most 1 over all maps, so that a
        person moves them by at most 2 in L1, under discrete Laplace noise of scale 2/ε₂ on a grid
        to which shares were cut: ε₂-DP. ε₁ + ε₂ ≤ ε, and what is made of them costs nothing:
        spreads, places, lengths, losses and offsets of synthetic recordings are drawn of these
        answers or of the norm, never of a recording.""",
        paper="""Ours; the noise is that of `summary-box` (Hardt & Talwar 2010; Awan & Slavković
        2021) and `map-laplace` (Dwork et al. 2006; Liu et al. 2019).""",
    )
    name: ClassVar[str] = "synthetic-gaze"
    family: ClassVar[str] = "synthetic-gaze"
    kind: ClassVar[Kind] = Kind.PURE
    delta: ClassVar[None] = None
    paper: ClassVar[str] = (
        "ours; Hardt & Talwar (2010), On the geometry of differential privacy; Dwork, McSherry, "
        "Nissim & Smith (2006)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {
            "epsilon": 2.0,
            "means": TASK,
            "spreads": PAID,
            "places": STIMULUS,
            "share": 0.5,
            "cells": 4,
        },
        {"epsilon": 1.0, "means": ALL, "spreads": PAID, "places": NORM},
        {"epsilon": 1.0, "means": NORM, "places": TASK, "cells": 4},
    )

    means: str = parameter(
        "of parameters that are measured: of each task, of some so and of those of eyes and "
        "trackers over all tasks, over all tasks, or the norm; auto goes by what is foreseen to be "
        "nearest",
        default=AUTO,
    )
    spreads: str = parameter(
        "between people: paid for, or 1.25 times the norm's; auto as above", default=AUTO
    )
    places: str = parameter(
        "a map for each stimulus or task, one of the screen, or the norm's; auto as above",
        default=AUTO,
    )
    share: float | None = parameter("of ε that maps get; chosen as above", default=None)
    cells: int | None = parameter("of a map, about; chosen as above", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, known in (("means", _MEANS), ("spreads", _SPREADS), ("places", _PLACES)):
            value = getattr(self, name)
            if value not in known:
                raise InputError(f"{name} must be one of {', '.join(known)}, got '{value}'")
        if self.share is not None and not 0 < self.share < 1:
            raise InputError(f"share must be above 0 and below 1, got {self.share:g}")
        if self.cells is not None and not 2 <= self.cells <= _MOST_CELLS:
            raise InputError(f"cells must be between 2 and {_MOST_CELLS}, got {self.cells}")
        if self.means == NORM and self.places == NORM:
            raise InputError(
                "means and places are both the norm's: nothing would be of these people. "
                "'eyelid simulate' makes such recordings without them"
            )
        if self.means == NORM and self.spreads == PAID:
            raise InputError("spreads are measured beside means: ask for these, or leave out both")

    def bought(self, facts: GazeDesignFacts) -> Bought:
        """What is foreseen to be nearest to the people, of what may be asked."""
        if self.places not in (AUTO, NORM) and not facts.on_surface:
            raise InputError(
                f"places={self.places} needs gaze on a known screen, and this study does not say "
                "where that is: leave it out, or give the screen's size"
            )
        share = None if self.share is None else exact(self.share)
        asked = Asked(self.means, self.spreads, self.places, share, self.cells)
        found = bought(facts, self.epsilon, asked)
        if found.means == NORM and found.places == NORM:
            raise InputError(
                f"of {facts.people} people at epsilon {self.epsilon:g} neither parameters nor "
                "places can be measured: nothing would be of these people"
            )
        return found

    # What is asked.

    def _part(self, share: Fraction) -> float:
        """A share of ε, rounded down."""
        return floor(exact(self.epsilon) * share * _BILLION) / _BILLION

    def box(self, facts: GazeDesignFacts) -> SummaryBox | None:
        """The noise on parameters; None where none is measured."""
        plan = self.bought(facts)
        if plan.means == NORM:
            return None
        means = len(columns_of(plan.means, NORM, facts))
        asked = [f"mean:{number}" for number in range(1, means + 1)]
        # Of averages over all tasks, which stand behind what means are asked of.
        every = len(columns_of(plan.means, plan.spreads, facts))
        asked += [f"sd:{number}" for number in range(means + 1, every + 1)]
        return SummaryBox(epsilon=self._part(1 - plan.share), statistics=",".join(asked))

    def box_facts(self, facts: GazeDesignFacts) -> StatisticsFacts:
        """The public facts of everybody's numbers."""
        return StatisticsFacts.of(facts.people, len(self.ranges(facts)))

    def ranges(self, facts: GazeDesignFacts) -> list[Range]:
        """Where every number of a person is clipped to: tasks after each other, then averages."""
        plan = self.bought(facts)
        own = [range_of(each, plan.k * reach(each.name)) for each in facts.parameters]
        return [own[which] for _, which in columns_of(plan.means, plan.spreads, facts)]

    def maps(self, facts: GazeDesignFacts) -> MapLaplace | None:
        """The noise on places; None where none are measured."""
        plan = self.bought(facts)
        if plan.places == NORM:
            return None
        grid = f"{plan.grid.columns}x{plan.grid.rows}"
        return MapLaplace(epsilon=self._part(plan.share), cap=1, samples=1, grid=grid)

    def map_facts(self, facts: GazeDesignFacts) -> MapFacts:
        """The public facts of the maps."""
        plan = self.bought(facts)
        return MapFacts.of(facts.people, max(facts.layers(plan.places)) + 1, plan.grid)

    # What it costs.

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """ε, for everything that is measured."""
        self.bought(as_design(facts))
        return Guarantee(
            kind=Kind.PURE,
            unit=unit,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            epsilon=float(self.epsilon),
            delta=0.0,
        )

    def person_total(self, facts: PublicFacts) -> str:
        """Calibrated to the person."""
        plan = self.bought(as_design(facts))
        places = plan.share * 100
        if plan.means == NORM:
            split = "all of ε goes to maps of places"
        elif plan.places == NORM:
            split = "all of ε goes to parameters"
        else:
            split = f"{float(places):g}% of ε goes to maps of places, the rest to parameters"
        return f"calibrated to the person, over all recordings together: {split}"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise of both answers, in words."""
        design = as_design(facts)
        box, maps = self.box(design), self.maps(design)
        found = [] if box is None else [box.sampler(self.box_facts(design))]
        found += [] if maps is None else [maps.sampler(self.map_facts(design))]
        return "; ".join(found)

    # What it does.

    def places_of(self, people: PeopleGaze, facts: GazeDesignFacts) -> Values:
        """Everybody's numbers (people × numbers) as places in their ranges."""
        plan = self.bought(facts)
        overall = averaged(people.values, facts.parameters)
        columns = columns_of(plan.means, plan.spreads, facts)
        numbers = [
            overall[:, which] if task is None else people.values[:, task, which]
            for task, which in columns
        ]
        ranges = self.ranges(facts)
        return np.stack([r.place(own) for r, own in zip(ranges, numbers, strict=True)], axis=1)

    def shares(self, people: PeopleGaze, facts: GazeDesignFacts) -> PersonCounts:
        """Everybody's shares of gaze in the cells of all maps."""
        return shares_of(people.looks, facts.layers(self.bought(facts).places))

    def asked_of_box(self, people: PeopleGaze, facts: GazeDesignFacts) -> Integers | None:
        """The sums of numbers, without noise."""
        part = self.box_part(facts)
        if part is None:
            return None
        labels = np.zeros(people.people, dtype=np.int64)
        return part.query(self.places_of(people, facts), labels)

    def box_part(self, facts: GazeDesignFacts) -> BoxPart | None:
        """The one part of the box."""
        box = self.box(facts)
        if box is None:
            return None
        (part,) = box.parts_for(self.box_facts(facts))
        assert isinstance(part, BoxPart)
        return part

    def asked_of_maps(self, people: PeopleGaze, facts: GazeDesignFacts) -> Integers | None:
        """The sums of shares, in steps, without noise."""
        maps = self.maps(facts)
        if maps is None:
            return None
        return maps.total(self.shares(people, facts), self.map_facts(facts))

    def noisy_numbers(self, sums: Integers, facts: GazeDesignFacts, noise: Randomness) -> Integers:
        """Sums of numbers (…, numbers) with noise."""
        box, part = self.box(facts), self.box_part(facts)
        assert box is not None, "no number is asked for"
        assert part is not None, "no number is asked for"
        return box.perturb(part, sums, noise)

    def noisy_places(self, sums: Integers, facts: GazeDesignFacts, noise: Randomness) -> Integers:
        """Sums of shares (…, cells) with noise."""
        maps = self.maps(facts)
        assert maps is not None, "no place is asked for"
        return maps.perturb(sums, self.map_facts(facts), noise)

    def measure(self, people: PeopleGaze, facts: GazeDesignFacts, noise: Randomness) -> Answers:
        """Both answers, each under its noise."""
        if people.people != facts.people:
            raise InputError(
                f"{people.people} people do not fit what is public: {facts.people} people"
            )
        numbers, places = self.asked_of_box(people, facts), self.asked_of_maps(people, facts)
        return Answers(
            () if numbers is None else (self.noisy_numbers(numbers, facts, noise),),
            () if places is None else (self.noisy_places(places, facts, noise),),
            (facts.people,),
        )

    def portraits(self, answers: Answers, facts: GazeDesignFacts) -> tuple[Portrait, ...]:
        """What everybody is drawn after."""
        means, between = self._of_numbers(answers, facts)
        return (Portrait(facts.people, tuple(means), between, self._of_places(answers, facts)),)

    def _of_numbers(
        self, answers: Answers, facts: GazeDesignFacts
    ) -> tuple[list[dict[str, float]], dict[str, float]]:
        plan, part = self.bought(facts), self.box_part(facts)
        means, between = norm_means(facts), norm_spreads(WIDER)
        if part is None:
            return means, between
        ranges, (sums,) = self.ranges(facts), answers.numbers
        overall: dict[str, list[float]] = {name: [] for name in facts.measurable}
        seconds = []
        columns = columns_of(plan.means, plan.spreads, facts)
        for number, statistic in zip(sums.tolist(), part.statistics, strict=True):
            (column,) = statistic.columns
            place = part.mean_of(number)
            if statistic.name == "sd":
                seconds.append((column, place))
                continue
            task, which = columns[column]
            name = facts.measurable[which]
            value = float(ranges[column].averaged(ranges[column].value(np.clip(place, 0.0, 1.0))))
            overall[name].append(float(np.clip(place, 0.0, 1.0)))
            for each in means if task is None else [means[task]]:
                each[name] = value
        known = {each.name: each for each in PARAMETERS}
        for column, second in seconds:
            name = facts.measurable[columns[column][1]]
            width = ranges[column].width
            middle = 2 * float(np.mean(overall[name])) - 1
            variance = (second - middle**2) * (width / 2) ** 2
            between[name] = believed(variance, known[name], len(facts.slots))
        return means, between

    def _of_places(self, answers: Answers, facts: GazeDesignFacts) -> tuple[Values | None, ...]:
        maps = self.maps(facts)
        if maps is None:
            return (None,) * len(facts.slots)
        found = maps.divided(answers.places[0], self.map_facts(facts))
        own = [as_shares(layer * len(found)) for layer in found]
        return tuple(own[layer] for layer in facts.layers(self.bought(facts).places))

    # Games over the whole.

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person at one end of all numbers who looked here, against one who looked there."""
        facts = _GAME_FACTS
        numbers = len(facts.tasks) * len(facts.measurable)
        cells = len(facts.slots) * self._game_cells(facts)
        size = (1, 1, numbers + cells)
        low, high = np.zeros(size), np.zeros(size)
        for column in range(numbers):
            each = facts.parameters[column % len(facts.measurable)]
            low[..., column], high[..., column] = each.lower, each.upper
        here, there = np.zeros(cells), np.zeros(cells)
        here[:: self._game_cells(facts)] = 1.0
        there[self._game_cells(facts) - 1 :: self._game_cells(facts)] = 1.0
        low[..., numbers:], high[..., numbers:] = here, there
        nothing, far = np.full(size, np.nan), high.copy()
        far[..., :numbers] = _FAR
        far[..., numbers:] *= _FAR
        wide = high.copy()
        wide[..., numbers:] = 1.0
        yield NeighbourPair(
            "an end and here against the other end and there", facts, unit, low, high
        )
        yield NeighbourPair("everywhere against here, at the other end", facts, unit, wide, low)
        yield NeighbourPair(
            "far outside, far too often, against nothing", facts, unit, far, nothing
        )

    def _game_cells(self, facts: GazeDesignFacts) -> int:
        """Cells of a map in games; one where there is none."""
        plan = self.bought(facts)
        return plan.grid.cells if plan.places != NORM else 1

    def with_others(self, values: Values, facts: GazeDesignFacts) -> PeopleGaze:
        """One person, as games have them, and others who stay the same."""
        numbers = len(facts.tasks) * len(facts.measurable)
        one = np.asarray(values, dtype=np.float64).ravel()
        tasks = one[:numbers].reshape(1, len(facts.tasks), len(facts.measurable))
        looks = one[numbers:].reshape(1, len(facts.slots), -1)
        norm = np.array([float(each.natural(each.centre)) for each in facts.parameters])
        others = np.broadcast_to(norm, (facts.people - 1, *tasks.shape[1:]))
        alike = np.ones((facts.people - 1, *looks.shape[1:]))
        return PeopleGaze(np.concatenate([tasks, others]), np.concatenate([looks, alike]))

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Both answers about one person with these data and others who stay the same."""
        design = as_design(facts)
        people = self.with_others(values, design)
        numbers, places = self.asked_of_box(people, design), self.asked_of_maps(people, design)
        return self.shown(numbers, places, design, runs, noise)

    def shown(
        self,
        numbers: Integers | None,
        places: Integers | None,
        facts: GazeDesignFacts,
        runs: int,
        noise: Randomness,
    ) -> Values:
        """Both answers under fresh noise, again and again: runs × numbers, those of the box first.

        Args:
            numbers: the sums of numbers; None where none are asked for.
            places: the sums of shares, likewise.
            facts: the public facts.
            runs: how often.
            noise: the randomness.
        """
        columns = []
        if numbers is not None:
            asked = np.broadcast_to(numbers, (runs, numbers.size))
            columns.append(self.noisy_numbers(asked, facts, noise))
        if places is not None:
            asked = np.broadcast_to(places, (runs, places.size))
            columns.append(self.noisy_places(asked, facts, noise))
        return np.concatenate(columns, axis=1).astype(np.float64)

    def log_chance(self, outputs: Values, people: PeopleGaze, facts: GazeDesignFacts) -> Values:
        """Logarithm of the probability of both answers, up to a constant.

        Args:
            outputs: runs × numbers, those of the box first.
            people: whom they would be about.
            facts: the public facts.
        """
        numbers, places = self.asked_of_box(people, facts), self.asked_of_maps(people, facts)
        return self.log_chance_of(outputs, numbers, places, facts)

    def log_chance_of(
        self,
        outputs: Values,
        numbers: Integers | None,
        places: Integers | None,
        facts: GazeDesignFacts,
    ) -> Values:
        """Logarithm of the probability of both answers where these are the sums.

        Args:
            outputs: runs × numbers, those of the box first.
            numbers: the sums of numbers; None where none are asked for.
            places: the sums of shares, likewise.
            facts: the public facts.
        """
        found, start = np.zeros(len(outputs)), 0
        part, maps = self.box_part(facts), self.maps(facts)
        if part is not None and numbers is not None:
            start = numbers.size
            found += part.log_chance(outputs[:, :start].astype(np.int64), numbers)
        if maps is not None and places is not None:
            noise = maps.noise(self.map_facts(facts))
            found += noise.log_mass(outputs[:, start:].astype(np.int64) - places).sum(axis=1)
        return found

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of both answers together, the best test there is."""
        facts = as_design(pair.facts)
        one, other = (
            self.log_chance(outputs, self.with_others(side, facts), facts)
            for side in (pair.one, pair.other)
        )
        return other - one


def as_design(facts: PublicFacts) -> GazeDesignFacts:
    """The public facts as those of synthetic recordings; tasks have names of their own."""
    if isinstance(facts, GazeDesignFacts):
        return facts
    slots = tuple((f"task{number}", "") for number in range(1, facts.recordings + 1))
    return GazeDesignFacts.of(facts.people, slots)

"""Synthetic recordings after means over random groups of at least k people, without noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.gaze.facts import GazeDesignFacts
from eyelid.mechanisms.gaze.gaze_mechanism import Answers, GazeMechanism
from eyelid.mechanisms.gaze.people import PeopleGaze, grid_of_about, shares_of
from eyelid.mechanisms.gaze.planning import NORM, SCREEN, STIMULUS, TASK, Bought
from eyelid.mechanisms.gaze.portrait import (
    WHOLE,
    Portrait,
    as_shares,
    norm_means,
    norm_spreads,
    range_of,
)
from eyelid.mechanisms.groups.anonymity import KAnonymity
from eyelid.mechanisms.groups.partition import (
    Members,
    everything_of_the_last,
    group_names,
    group_sizes,
    groups_in_words,
    random_groups,
)
from eyelid.mechanisms.mechanism import Form, PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.statistics.quantities import DELTA, mean
from eyelid.mechanisms.statistics.ranges import Range
from eyelid.privacy.noise import Randomness

_PLACES = (STIMULUS, TASK, SCREEN, NORM)
_MOST_CELLS = 4096


@register
@dataclass(frozen=True)
class KSameGaze(GazeMechanism, KAnonymity):
    """Recordings of synthetic participants, drawn after means over random groups of k people."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Recordings of synthetic participants, drawn after means over random groups of k
        people.""",
        takes="""of each person the generator's parameters, an average over the recordings of a
        task, clipped to their public bounds, the norm where there is none; and where they looked,
        as shares of 1/L in the cells of each of L maps. Both are averaged over each group. Spreads
        between the synthetic participants of a group are the norm's.""",
        protects="""who of a group synthetic recordings are drawn after. An attacker who has raw
        recordings of a person says which of the k or more members of a group a synthetic
        participant was made for with probability 1/k at most. It is about telling members apart,
        not about what the means of a group show of each, and it is not differential privacy: which
        group a person is in can be found by those who have recordings of them; those who have the
        recordings of all members but one narrow down what the last one's are like, the closer the
        longer synthetic recordings are; and two releases with other groups intersect.""",
        why="""all synthetic participants of a group are drawn, with fresh randomness, from one list
        of numbers: sums over its members in whole steps, which are the same to the last digit
        in whatever order members stand, and from public facts. Nothing of a recording depends on
        which member it might stand for, so given the release, and any recordings, all members are
        as likely as before: a guess is right with probability 1/|group| ≤ 1/k. This takes that
        groups are drawn without a look at gaze, once for all recordings of a person, that every
        group has k people, leftovers being dealt out to the others, and that lengths, rates, tasks
        and stimuli are public. The numbers are means of a whole group; a person without a value
        counts with the norm's, so that who has none does not show in what is empty.""",
        paper="""David-John, Butler & Jain 2022 (k-same-select sequence), after Gross et al. 2005
        and Newton et al. 2005, here of a generator's parameters and not of features.""",
    )
    name: ClassVar[str] = "ksame-gaze"
    family: ClassVar[str] = "gaze-groups"
    drawn: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets; Gross, Airoldi, Malin & Sweeney (2005); the generator is ours"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"k": 3, "cells": 4},
        {"k": 4, "places": NORM},
    )

    places: str = parameter(
        "a map of each group for each stimulus or task, one of the screen, or the norm's",
        default=STIMULUS,
    )
    cells: int = parameter("of a map, about", default=96)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.places not in _PLACES:
            raise InputError(f"places must be one of {', '.join(_PLACES)}, got '{self.places}'")
        if not 2 <= self.cells <= _MOST_CELLS:
            raise InputError(f"cells must be between 2 and {_MOST_CELLS}, got {self.cells}")

    @property
    def group_size(self) -> int:
        """K."""
        return self.k

    @property
    def may_differ(self) -> Form:
        """Nothing but what is told apart within a group: members change places."""
        return super().may_differ

    def bought(self, facts: GazeDesignFacts) -> Bought:
        """Means of every task, and maps; spreads are the norm's."""
        places = self.places if facts.on_surface else NORM
        return Bought(TASK, NORM, places, Fraction(0), self.cells, 0.0, 0.0, 0.0, WHOLE)

    def sampler(self, facts: PublicFacts) -> str:
        """That groups are drawn at random."""
        return f"no noise: who is in which of {groups_in_words(facts.people, self.k)}"

    def unprotected(self, facts: GazeDesignFacts) -> list[str]:
        """What of the output is outside the guarantee, in words."""
        smallest = min(group_sizes(facts.people, self.k))
        return [
            *super().unprotected(facts),
            "which group a person is in, to those who have recordings of them, and what its "
            "members have in common",
            everything_of_the_last(smallest),
        ]

    def partition(self, people: int, noise: Randomness) -> Members:
        """Who is in which group: no gaze goes into it. Never to be shown."""
        return random_groups(people, self.k, noise)

    def ranges(self, facts: GazeDesignFacts) -> list[Range]:
        """The public bounds of each parameter, of every task."""
        return [range_of(each, WHOLE) for each in facts.parameters] * len(facts.tasks)

    def measure(self, people: PeopleGaze, facts: GazeDesignFacts, noise: Randomness) -> Answers:
        """Sums over each group."""
        if people.people != facts.people:
            raise InputError(
                f"{people.people} people do not fit what is public: {facts.people} people"
            )
        return self.averaged(people, facts, self.partition(people.people, noise))

    def averaged(self, people: PeopleGaze, facts: GazeDesignFacts, member: Members) -> Answers:
        """Sums over given groups, in whole steps: the same in any order of members."""
        numbers, places = (
            self._steps_of_numbers(people, facts),
            self._steps_of_places(people, facts),
        )
        sizes = np.bincount(member)
        return Answers(
            tuple(numbers[member == group].sum(axis=0) for group in range(sizes.size)),
            tuple(places[member == group].sum(axis=0) for group in range(sizes.size))
            if places is not None
            else (),
            tuple(sizes.tolist()),
        )

    def _steps_of_numbers(self, people: PeopleGaze, facts: GazeDesignFacts) -> Integers:
        flat = people.values.reshape(people.people, -1)
        steps = []
        for column, each in enumerate(self.ranges(facts)):
            place = np.asarray(each.place(flat[:, column]))
            norm = 0.5 if each.place_of_norm is None else each.place_of_norm
            steps.append(mean(np.where(np.isnan(place), norm, place)))
        return np.stack(steps, axis=1)

    def _steps_of_places(self, people: PeopleGaze, facts: GazeDesignFacts) -> Integers | None:
        places = self.bought(facts).places
        if places == NORM:
            return None
        shares = shares_of(people.looks, facts.layers(places)).dense
        return np.floor(shares * DELTA).astype(np.int64)

    def portraits(self, answers: Answers, facts: GazeDesignFacts) -> tuple[Portrait, ...]:
        """What the synthetic participants of each group are drawn after."""
        names, ranges = group_names(len(answers.sizes)), self.ranges(facts)
        found = []
        for group, size in enumerate(answers.sizes):
            means = norm_means(facts)
            for column, number in enumerate(answers.numbers[group].tolist()):
                task, which = divmod(column, len(facts.measurable))
                own = ranges[column]
                value = own.averaged(own.value(number / DELTA / size))
                means[task][facts.measurable[which]] = float(value)
            places = self._places_of(answers.places[group] if answers.places else None, facts)
            found.append(Portrait(size, tuple(means), norm_spreads(), places, names[group]))
        return tuple(found)

    def _places_of(
        self, sums: Integers | None, facts: GazeDesignFacts
    ) -> tuple[np.ndarray | None, ...]:
        if sums is None:
            return (None,) * len(facts.slots)
        grid, layers = grid_of_about(self.cells), facts.layers(self.bought(facts).places)
        own = sums.reshape(max(layers) + 1, grid.rows, grid.columns).astype(np.float64)
        # Nobody of the group looked at it: the norm's.
        shares = [as_shares(each / each.sum()) if each.sum() else None for each in own]
        return tuple(shares[layer] for layer in layers)

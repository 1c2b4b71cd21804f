"""Synthetic recordings after means over random groups of at least k people, without noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

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
        task, clipped to their public bounds; and where they looked, as shares of 1/L in the cells
        of each of L maps. Both are averaged over each group, each number and each map only where
        every member has it. Where one lacks it, the group's mean over other tasks stands there, or
        the mean of its other maps, and where it has none of these, the norm. Spreads between the
        synthetic participants of a group are the norm's.""",
        protects="""who of a group synthetic recordings are drawn after. An attacker who has raw
        recordings of a person says which of the k or more members of a group a synthetic
        participant was made for with probability 1/k at most. It is about telling members apart,
        not about what the means of a group show of each, and it is not differential privacy: which
        group a person is in can be found by those who have recordings of them; those who have the
        recordings of all members but one can work out the last one's numbers, the closer the
        longer synthetic recordings are, and perhaps exactly; and two releases with other groups
        intersect.""",
        why="""all synthetic participants of a group are drawn, with fresh randomness, from one list
        of numbers: sums over its members in whole steps, which are the same to the last digit
        in whatever order members stand, and from public facts. Nothing of a recording depends on
        which member it might stand for, so given the release, and any recordings, all members are
        as likely as before: a guess is right with probability 1/|group| ≤ 1/k. This takes that
        groups are drawn without a look at gaze, once for all recordings of a person, that every
        group has k people, leftovers being dealt out to the others, and that lengths, rates, tasks
        and stimuli are public. The numbers are means of a whole group, never of those of its
        members who happen to have a value: of one alone that would be the person's own. What
        stands in the place of a mean that not all of them have is made of the other means.""",
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
            "that a member of a group has no value of a parameter in a task, or no gaze on a "
            "stimulus: the group's mean over others stands there, or the norm",
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
        groups = [people.some(np.flatnonzero(member == one)) for one in range(member.max() + 1)]
        places = [self.sums_of_places(each, facts) for each in groups]
        return Answers(
            tuple(self.sums_of_numbers(each, facts) for each in groups),
            tuple(each for each in places if each is not None),
            tuple(each.people for each in groups),
        )

    def sums_of_numbers(self, group: PeopleGaze, facts: GazeDesignFacts) -> Integers:
        """Sums over the members of a group (tasks × parameters), of what all of them have.

        Args:
            group: its members alone.
            facts: the public facts.
        """
        flat = group.values.reshape(group.people, -1)
        sums = np.empty(flat.shape[1], dtype=np.int64)
        shared = np.empty(flat.shape[1], dtype=bool)
        for column, each in enumerate(self.ranges(facts)):
            place = np.asarray(each.place(flat[:, column]))
            shared[column] = not np.isnan(place).any()
            norm = 0.5 if each.place_of_norm is None else each.place_of_norm
            sums[column] = mean(np.where(shared[column], place, norm)).sum()
        # Made of means that are released anyway: what one member alone has goes into nothing.
        table, known = (each.reshape(len(facts.tasks), -1) for each in (sums, shared))
        for task, which in np.argwhere(~known):
            others = table[known[:, which], which]
            if others.size:
                table[task, which] = others.sum() // others.size
        return table.ravel()

    def sums_of_places(self, group: PeopleGaze, facts: GazeDesignFacts) -> Integers | None:
        """Sums over the members of a group in the cells of all maps, of maps that all of them have.

        A map that one of them has no gaze in is the mean of the group's others of the same task, or
        else that of the task, where the group has none of its stimuli; then the mean of all others,
        or else that of the screen.

        Args:
            group: its members alone.
            facts: the public facts.
        """
        of = self.bought(facts).places
        if of == NORM:
            return None
        layers = facts.layers(of)
        found, shared = _of_everybody(group, layers)
        tasks = facts.layers(TASK)
        if of == STIMULUS:
            coarse, whole = _of_everybody(group, tasks)
            for task in range(max(tasks) + 1):
                mine = np.array([layer for layer, own in enumerate(tasks) if own == task])
                if shared[mine].any():
                    _filled(found, mine, shared)
                elif whole[task]:
                    found[mine] = coarse[task]
                    shared[mine] = True
        if shared.any():
            _filled(found, np.arange(len(found)), shared)
        else:
            (screen,), _ = _of_everybody(group, (0,) * len(layers))
            found[:] = screen
        return found.ravel()

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
        # Nothing that all of the group have: the norm's.
        shares = [as_shares(each / each.sum()) if each.sum() else None for each in own]
        return tuple(shares[layer] for layer in layers)


def _of_everybody(group: PeopleGaze, layers: Sequence[int]) -> tuple[Integers, NDArray[np.bool_]]:
    """Sums of shares (maps × cells), none where one member lacks a map; and which all have."""
    many = max(layers) + 1
    shares = shares_of(group.looks, layers).dense.reshape(group.people, many, -1)
    shared = (shares.sum(axis=2) > 0).all(axis=0)
    sums = np.floor(shares * DELTA).astype(np.int64).sum(axis=0)
    return np.where(shared[:, np.newaxis], sums, 0), shared


def _filled(found: Integers, mine: NDArray[np.intp], shared: NDArray[np.bool_]) -> None:
    """Fill maps among these that not all members have with the mean of those that all have."""
    found[mine[~shared[mine]]] = found[mine[shared[mine]]].mean(axis=0).astype(np.int64)
    shared[mine] = True

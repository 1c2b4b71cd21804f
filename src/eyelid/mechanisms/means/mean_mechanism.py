"""The base of `groupmean` and `ksame-dp`: means over groups, under the noise of one person."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Study
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.groups.public_groups import Groups
from eyelid.mechanisms.groups.slots import Slots, everybody, slots_of
from eyelid.mechanisms.means.inner_mechanism import AUTO, candidates, fits, inside, least_noise
from eyelid.mechanisms.mechanism import (
    Form,
    NeighbourPair,
    PublicFacts,
    Values,
    parameter,
)
from eyelid.mechanisms.records.record_mechanism import RecordMechanism, frame
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import DiscreteNoise, Randomness
from eyelid.privacy.unit import PERSON, Trust, Unit

# In games: the others of a group, one with values in the middle of nowhere, one without any.
_OTHERS = (0.25, np.nan)
TEAM_SIZE = 1 + len(_OTHERS)
TEAM, PLACE = "team", "place"


@dataclass(frozen=True)
class MeanMechanism(RecordMechanism):
    """The mean over the people of each of some disjoint groups, under the noise of one person.

    Each person's values are clipped and turned into integers by the mechanism inside, these are
    summed up over a group, and its noise is drawn once for the sum. One person is one term of one
    sum, whatever the groups are, as long as nobody's gaze decides about them.
    """

    family: ClassVar[str] = "means"
    takes: ClassVar[str] = "features or samples"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    trust: ClassVar[Trust] = Trust.CENTRAL
    release: ClassVar[ReleaseKind] = ReleaseKind.MEANS
    execution: ClassVar[Execution] = Execution.BY_SUMS
    shows_measured: ClassVar[bool] = False

    inner: str = parameter(
        "the mechanism inside, with its settings: dct, cfpa:chunk=128:k=3; auto takes the one of "
        "dct, laplace, gaussian and dct:law=spherical with the least expected error by public "
        "facts, of the kind that delta asks for",
        default=AUTO,
    )
    delta: float | None = parameter(
        "δ, where the mechanism inside has one; 0 for pure ε, and auto chooses either without it",
        default=None,
    )
    per_task: int = parameter(
        "recordings of each task that count, the first of everybody: a number chosen beforehand",
        default=1,
    )
    clipped: bool = parameter("whether means are clipped to the bounds", default=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.per_task < 1:
            raise InputError(f"per_task must be at least 1, got {self.per_task}")
        # What is wrong with the mechanism inside is said at once.
        self._inside_as_asked()

    def set_for_outputs(self) -> Iterator[Self]:
        """As it is, and over windows that are made of noisy bins."""
        yield self
        yield replace(self, inner="prewindow:window_s=2.0:step_s=0.5:others=dct")

    @property
    def core(self) -> RecordMechanism:
        """The mechanism inside.

        With ``inner=auto`` any of those that may be chosen: right about what they have in common
        (what they take, the rows of a table, how values are clipped), and not about noise, for
        which `core_at` is.
        """
        return self._inside_as_asked()

    def _inside_as_asked(self) -> RecordMechanism:
        asked = (self.epsilon, self.delta, self.unit, self.length)
        if self.undecided:
            return next(iter(candidates(*asked).values()))
        return inside(self.inner, *asked)

    @property
    def undecided(self) -> bool:
        """Whether public facts are still to choose the mechanism inside."""
        return self.inner == AUTO

    def decided(self, facts: PublicFacts) -> Self:
        """The mechanism with the one inside by its name, which a certificate then states."""
        if not self.undecided:
            return self
        inner = least_noise(self.epsilon, self.delta, self.unit, self.length, facts)
        return replace(self, inner=inner, delta=self.delta or None)

    def core_at(self, facts: PublicFacts) -> RecordMechanism:
        """The mechanism inside, for a dataset with these public facts."""
        return self.decided(facts).core

    def core_for(self, size: int, facts: PublicFacts) -> RecordMechanism:
        """The mechanism inside for groups of one size, where it has a use for that."""
        core = self.core_at(facts)
        return replace(core, averaged=size) if self._averages else core  # type: ignore[call-arg]

    def settled(self, table: FeatureTable) -> Self:
        """The mechanism with the length as a number, and with the one inside by its name."""
        settled = super().settled(table)
        return settled.decided(settled.facts(table)) if settled.undecided else settled

    @property
    def _averages(self) -> bool:
        """Whether the mechanism inside takes account of how many people a mean is over."""
        return "averaged" in {item.name for item in fields(self.core)}

    @property
    def may_differ(self) -> Form:
        """Who has which recordings is hidden too: what a person lacks counts as the midpoint."""
        if self.unit != PERSON:
            return super().may_differ
        length = "any" if self.length_is_public else "the same"
        return Form(
            f"of {length} length, with any recordings that leave the study the same tasks,",
            recordings=True,
            lengths=self.length_is_public,
        )

    def public_length(self, table: FeatureTable) -> int:
        """The length that the mechanism inside makes public."""
        return self.core.public_length(table)

    def slots(self, table: FeatureTable) -> Slots:
        """Recordings of everybody side by side: as many of each task as were chosen beforehand."""
        return slots_of(table, self.per_task)

    @abstractmethod
    def partition(self, table: FeatureTable, noise: Randomness) -> Groups:
        """Who is in which group, drawn first of all where it is left to chance.

        No gaze may go into it.
        """

    @abstractmethod
    def smallest(self, facts: PublicFacts) -> int:
        """People in the smallest group."""

    @abstractmethod
    def groups_shown(self, table: FeatureTable) -> list[str]:
        """What the groups show that noise does not hide, in words."""

    @abstractmethod
    def in_teams(self) -> MeanMechanism:
        """The mechanism for the tables of games, with one person of each place in every group.

        These tables have people's ``team`` and ``place`` as attributes.
        """

    def summarise(self, source: Study | FeatureTable) -> FeatureTable:
        """What the mechanism inside takes of a study."""
        return self.core.summarise(source)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """The guarantee of the mechanism inside: a sum moves as far as one person's term."""
        return replace(self.core_at(facts).cost(facts, unit), trust=self.trust)

    def blocks(self, facts: PublicFacts, unit: Unit) -> int:
        """How many blocks a unit covers for the mechanism inside."""
        return self.core_at(facts).blocks(facts, unit)

    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """How many coordinates a unit can move of the mechanism inside."""
        return self.core_at(facts).coordinates(facts, unit)

    def noise(self, facts: PublicFacts) -> DiscreteNoise:
        """The noise of the mechanism inside, drawn once for a group."""
        return self.core_at(facts).noise(facts)

    def step(self, facts: PublicFacts) -> Any:
        """The grid step of the mechanism inside."""
        return self.core_at(facts).step(facts)

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """How far one unit of one person can move the sum."""
        return self.core_at(facts).sensitivity(facts, unit)

    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The norm of the mechanism inside."""
        if self.undecided:
            raise TypeError("which norm it is depends on what is chosen by public facts")
        return self.core.distance(difference)

    def analyse(self, values: Values, facts: PublicFacts) -> Values:
        """The coordinates of the mechanism inside."""
        return self.core_at(facts).analyse(values, facts)

    def rebuild(self, coordinates: Values, facts: PublicFacts) -> Values:
        """Values of means from their coordinates."""
        return self.core_for(self.smallest(facts), facts).rebuild(coordinates, facts)

    @property
    def fewest_rows(self) -> int:
        """Those that the mechanism inside needs."""
        return self.core.fewest_rows

    @property
    def numerics(self) -> str:
        """The numerics of the mechanism inside: sums are exact."""
        return self.core.numerics

    def measured_facts(
        self, people: int, recordings: int, length: int, features: int
    ) -> PublicFacts:
        """The public facts about what the mechanism inside measures."""
        return self.core.measured_facts(people, recordings, length, features)

    def released(self, facts: PublicFacts) -> PublicFacts:
        """The public facts about what the mechanism inside releases."""
        return self.core.released(facts)

    def fewest_of_task(self, facts: PublicFacts) -> int:
        """Two: that a person has a task of their own shows that they took part."""
        return 2

    def facts(self, table: FeatureTable) -> PublicFacts:
        """The public facts: N, tasks times the recordings that count, the common length, F."""
        return replace(self.core.facts(table), recordings=len(self.slots(table).names))

    def integers(self, values: Values, facts: PublicFacts) -> Integers:
        """What each person adds to the sum, people first."""
        return self.core_at(facts).query(values, facts)

    def from_sums(
        self, table: FeatureTable, groups: Groups, totals: Integers, noise: Randomness
    ) -> FeatureTable:
        """What is released of everybody's exact sums.

        Args:
            table: of everybody; its rows are left alone.
            groups: drawn from the same noise before.
            totals: the exact sums over each group.
            noise: for each group.
        """
        facts = self.facts(table)
        noisy = self.perturb(totals, facts, noise)
        return self.present(self._table(table, groups, noisy, facts))

    def sums(
        self, table: FeatureTable, groups: Groups, facts: PublicFacts, slots: Slots | None = None
    ) -> Integers:
        """The exact sums over the people of each group. Nothing of this may be shown.

        Args:
            table: of everybody, or of some whole people.
            groups: with as many members as the table has people.
            facts: the public facts of everybody.
            slots: of the people of the table, beside everybody's; those of the table by default.
        """
        self._check_room(facts)
        bounds = Bounds({f.name: (f.lower, f.upper) for f in table.features})
        lowers, spans = bounds.lowers(), bounds.spans()
        totals: Integers | None = None
        first = 0
        for values in everybody(table, facts, slots or self.slots(table)):
            each = self.integers((values - lowers) / spans, facts)
            if totals is None:
                totals = np.zeros((len(groups.people), *each.shape[1:]), dtype=np.int64)
            np.add.at(totals, groups.member[first : first + len(each)], each)
            first += len(each)
        assert totals is not None, "a table has people"
        return totals

    def divided(self, totals: Integers, sizes: NDArray[np.int64], facts: PublicFacts) -> Values:
        """Values of means, in spans above the lower bound, from noisy sums."""
        means = totals * self.step(facts) / sizes[:, None, None, None]
        values = np.empty((len(means), facts.recordings, facts.length, facts.features))
        for size in np.unique(sizes):
            same = sizes == size
            values[same] = self.core_for(int(size), facts).rebuild(means[same], facts)
        return values

    def perturb(self, integers: Integers, facts: PublicFacts, noise: Randomness) -> Integers:
        """The sums with the noise of the mechanism inside, one draw a group."""
        return self.core_at(facts).perturb(integers, facts, noise)

    def perturbed(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """One person a group: its noisy means, one recording for each that a person has."""
        return self.noisy_means(table, self.partition(table, noise), noise)

    def noisy_means(self, table: FeatureTable, groups: Groups, noise: Randomness) -> FeatureTable:
        """The noisy means of given groups."""
        facts = self.facts(table)
        noisy = self.perturb(self.sums(table, groups, facts), facts, noise)
        return self._table(table, groups, noisy, facts)

    def exact(self, table: FeatureTable, groups: Groups) -> FeatureTable:
        """What would be released if no noise were added: for checks, never to be shown."""
        facts = self.facts(table)
        return self.present(self._table(table, groups, self.sums(table, groups, facts), facts))

    def _table(
        self, table: FeatureTable, groups: Groups, totals: Integers, facts: PublicFacts
    ) -> FeatureTable:
        """The means behind sums, one person a group."""
        bounds = Bounds({f.name: (f.lower, f.upper) for f in table.features})
        means = self.divided(totals, groups.sizes, facts) * bounds.spans() + bounds.lowers()
        keys = groups.people.select("person").join(self.slots(table).names, how="cross")
        data = frame(keys, means.reshape(-1, *means.shape[2:]), table)
        return replace(table, data=data, people=groups.people)

    def present(self, private: FeatureTable) -> FeatureTable:
        """What the mechanism inside shows, clipped to the features' bounds."""
        shown = self.core.present(private)
        if not self.clipped:
            return shown
        inside = [pl.col(f.name).clip(f.lower, f.upper) for f in shown.features]
        return replace(shown, data=shown.data.with_columns(inside))

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """The inner mechanism's error over the people of the smallest group, before clipping."""
        core = self.core_for(self.smallest(facts), facts)
        return self._of_mean(core.expected_rmse_of_span(facts), facts)

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """The inner mechanism's error of a recording's mean, over the smallest group's people."""
        core = self.core_for(self.smallest(facts), facts)
        return self._of_mean(core.expected_mean_rmse_of_span(facts), facts)

    def noise_sd_of_span(self, facts: PublicFacts, averaged: int = 1) -> tuple[Values, float]:
        """The noise of the mechanism inside, drawn once for so many people."""
        return self.core_for(averaged, facts).noise_sd_of_span(facts, averaged)

    def _of_mean(self, error: float, facts: PublicFacts) -> float:
        """The error of a mean from that of one person: it divides the noise, and not the bias."""
        if self._averages:
            return error
        return self.core_at(facts).error_in_mean(error, self.smallest(facts), facts)

    def cut_off(self, facts: PublicFacts) -> str:
        """What the mechanism inside cuts off."""
        return self.core_at(facts).cut_off(facts)

    def person_total(self, facts: PublicFacts) -> str:
        """As for the mechanism inside: a person is in one sum only."""
        return f"{self.core_at(facts).person_total(facts)}, in the mean of one group only"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        self._check_room(facts)
        core = self.core_for(self.smallest(facts), facts)
        return f"{core.sampler(facts)}, once on the sum over the people of a group"

    def _check_room(self, facts: PublicFacts) -> None:
        """Refuse what could not be added up, whatever the data are."""
        if not fits(self.core_at(facts), facts):
            raise InputError(
                f"{facts.people} people at epsilon {self.epsilon:g} add up to more than there are "
                "numbers for: choose a smaller ε"
            )

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the means show besides; names and who has which recordings are not among it."""
        tasks = ", ".join(self.slots(table).names["task"].unique(maintain_order=True))
        # Of what the mechanism inside lists, people's own recordings and names are not shown here.
        people, _, length, _, *more = self.core.unprotected(table)
        shown = [
            people,
            f"the names of the tasks ({tasks or 'none'})",
            length,
            *self.groups_shown(table),
        ]
        if self.unit != PERSON:
            shown.append(
                "which recordings each person has: with one less, later ones of the task take its "
                f"place, which moves more than one {self.unit}"
            )
        return shown + more

    def within(self, facts: PublicFacts, unit: Unit) -> tuple[slice, slice, slice]:
        """As for the mechanism inside."""
        return self.core_at(facts).within(facts, unit)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Neighbours of the mechanism inside, for one person among others who stay the same."""
        for pair in self.core.neighbour_pairs(unit):
            yield replace(pair, facts=replace(pair.facts, people=TEAM_SIZE))

    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """The sum over a person with these values and the others of a game."""
        return self.total(with_others(values), facts)

    def total(self, values: Values, facts: PublicFacts) -> Integers:
        """The sum over people (…, people, recordings, rows, features)."""
        summed: Integers = self.integers(values, facts).sum(axis=-4)
        return summed

    def measured(self, values: Values, facts: PublicFacts) -> Values:
        """The noisy sums behind released means of a game."""
        return self.core_for(TEAM_SIZE, facts).measured(values, facts) * TEAM_SIZE

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Each run is a group of one person with these data and others who stay the same."""
        features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(facts.features)]
        everybody = np.broadcast_to(with_others(values), (runs, TEAM_SIZE, *values.shape))
        table = table_from_arrays(everybody.reshape(-1, *values.shape), features)
        team, place = np.divmod(np.arange(runs * TEAM_SIZE), TEAM_SIZE)
        table = replace(
            table,
            people=table.people.with_columns(pl.Series(TEAM, team), pl.Series(PLACE, place)),
            window_ms=facts.window * (table.step_ms or 1.0),
        )
        released = self.in_teams().perturbed(table, noise)
        outputs: Values = released.data.select(released.names).to_numpy().reshape(runs, -1)
        return outputs


def with_others(values: Values) -> Values:
    """A person's values and those of the others in a game: (…, people, recordings, rows, features).

    >>> with_others(np.ones((1, 1, 1)))[:, 0, 0, 0].tolist()
    [1.0, 0.25, nan]
    """
    others = [np.full_like(values, fixed) for fixed in _OTHERS]
    return np.stack([values, *others], axis=-4)

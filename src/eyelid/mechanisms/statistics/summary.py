"""Results of a study under person-level differential privacy: what boxes and Gaussians share."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.differential import DifferentialMechanism, Integers
from eyelid.mechanisms.mechanism import Form, NeighbourPair, PublicFacts, Values, parameter
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.mechanisms.statistics.choices import QuantilePart, SlopePart
from eyelid.mechanisms.statistics.parts import HistogramPart, Labels, Part, check_loss
from eyelid.mechanisms.statistics.statistic import Asked, parse
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust, Unit

FEWEST_PEOPLE = 2
_IN_GAMES = 6
# Far outside of every range, on both sides, and farther.
_HIGH, _LOW, _FAR = 2.0, -1.0, 1e9
_IN_BATCH = 50_000

ANYTHING = Form(
    "of any length, with any recordings that leave the study the same tasks, pages, columns, "
    "units and screen,",
    recordings=True,
    lengths=True,
)
"""What a person's data may be exchanged for: of each there is a number an entry, or none. Which
tasks, pages and columns a study has, in which units and on which screen, settles what is asked."""


@dataclass(frozen=True)
class StatisticsFacts(PublicFacts):
    """The public facts about people's numbers: ``features`` are the entries.

    Attributes:
        groups: people in each public group; one group of everybody where there are none.
    """

    groups: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.groups:
            object.__setattr__(self, "groups", (self.people,))
        if sum(self.groups) != self.people:
            raise InputError(
                f"groups of {', '.join(map(str, self.groups))} people are not {self.people} people"
            )
        if min(self.groups) < FEWEST_PEOPLE:
            raise InputError(
                "statistics of one person are that person's own: every group needs at least "
                f"{FEWEST_PEOPLE} people, got groups of {', '.join(map(str, self.groups))}"
            )

    @classmethod
    def of(cls, people: int, entries: int, groups: tuple[int, ...] = ()) -> StatisticsFacts:
        """The facts of so many people with so many entries each."""
        return cls(people, 1, 1, entries, window=1, groups=groups)


@dataclass(frozen=True)
class Summary(DifferentialMechanism):
    """Statistics of people's numbers, part by part."""

    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    release: ClassVar[ReleaseKind] = ReleaseKind.STATISTICS
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    family: ClassVar[str] = "statistics"
    takes: ClassVar[str] = "one number for each person, measure and task"
    command: ClassVar[str] = "summary"

    statistics: str = parameter(
        "what of which entries: mean, sd, higher, clipped, signed-rank, superiority, tau:1:2, "
        "median:1, quantile:1:0.25, histogram:1:10, slope:1:2; parts apart by ';', a share of ε "
        "behind '@'",
        default="mean",
    )
    by: str | None = parameter(
        "public attribute of people: each of its groups gets its own", default=None
    )
    candidates: int = parameter("points or angles that one is chosen of", default=200)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "epsilon", float(self.epsilon))
        self._check(self.asked)
        if not 2 <= self.candidates <= 10_000:
            raise InputError(f"candidates must be between 2 and 10000, got {self.candidates}")
        for asked in self.asked:
            check_loss(self.of_epsilon(asked.share))

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The parts as they were written."""
        return parse(self.statistics)

    def _check(self, asked: tuple[Asked, ...]) -> None:
        """Refuse what it cannot be asked."""
        if any(part.between for part in asked) and self.by is None:
            raise InputError("superiority compares two groups of people: say by which attribute")

    @property
    def may_differ(self) -> Form:
        """Everything of a person but the public group that they are in."""
        return ANYTHING

    def of_epsilon(self, share: Fraction) -> Fraction:
        """A share of ε, which is read as the decimal number that was written."""
        return Fraction(repr(float(self.epsilon))) * share

    def parts_for(self, facts: PublicFacts) -> tuple[Part, ...]:
        """What is asked of whom: every part of everybody, or of each group."""
        return _parts(self, _with_groups(facts))

    @abstractmethod
    def in_one_draw(
        self, asked: Asked, facts: StatisticsFacts, group: int | None, epsilon: Fraction
    ) -> Part:
        """Sums that share a draw of noise."""

    def part(self, asked: Asked, facts: StatisticsFacts, group: int | None) -> Part:
        """One part."""
        epsilon = self.of_epsilon(asked.share)
        if not asked.alone:
            return self.in_one_draw(asked, facts, group, epsilon)
        statistics = asked.statistics(facts.features, len(facts.groups))
        given = (statistics, facts.groups, group, epsilon)
        if asked.terms[0].name == "histogram":
            return HistogramPart(*given)
        kind = SlopePart if asked.terms[0].name == "slope" else QuantilePart
        return kind(*given, candidates=self.candidates)

    def query(self, part: Part, places: Values, labels: Labels) -> Integers:
        """What a part asks, in whole numbers."""
        return part.query(places, labels)

    def perturb(self, part: Part, query: Integers, noise: Randomness) -> Integers:
        """What a part shows of its answers."""
        return part.draw(query, noise)

    def measure(
        self, places: Values, labels: Labels | None, facts: PublicFacts, noise: Randomness
    ) -> tuple[Integers, ...]:
        """What is released: for each part its whole numbers.

        Args:
            places: people × entries, 0 and 1 at the ends of each range, NaN where one is missing.
            labels: the public group of each person, from 0; None for one group.
            facts: the public facts.
            noise: the randomness.
        """
        known = _with_groups(facts)
        labels = np.zeros(known.people, dtype=np.int64) if labels is None else labels
        counts = tuple(np.bincount(labels, minlength=len(known.groups)).tolist())
        if places.shape != (known.people, known.features) or counts != known.groups:
            raise InputError(
                f"{places.shape[0]} people with {places.shape[-1]} numbers in groups of "
                f"{', '.join(map(str, counts))} do not fit what is public: {known.people} people, "
                f"{known.features} numbers, groups of {', '.join(map(str, known.groups))}"
            )
        return tuple(
            self.perturb(part, self.query(part, places, labels), noise)
            for part in self.parts_for(known)
        )

    def sampler(self, facts: PublicFacts) -> str:
        """The noise of each part in words."""
        return "; ".join(dict.fromkeys(part.in_words for part in self.parts_for(facts)))

    def person_total(self, facts: PublicFacts) -> str:
        """Calibrated to the person."""
        parts = len(self.asked)
        each = f"ε over {parts} parts" if parts > 1 else "one part"
        apart = f", groups of {self.by} apart (a person is in one)" if self.by else ""
        return f"calibrated to the person: {each}{apart}"

    def unprotected(self, facts: PublicFacts) -> list[str]:
        """What of the output is outside the guarantee, in words."""
        known = _with_groups(facts)
        lines = [f"the number of people ({known.people}) and that each of them took part"]
        if self.by is not None:
            lines.append(f"the number of people in each group of {self.by}, and who is in which")
        return lines

    # Games.

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person at one end of everything against one at the other, or nowhere."""
        entries = 1 + max(
            (column for asked in self.asked for term in asked.terms for column in term.columns),
            default=1,
        )
        groups = (_IN_GAMES, _IN_GAMES) if self.by else ()
        facts = StatisticsFacts.of(2 * _IN_GAMES, entries, groups)
        size = (1, 1, entries)
        high, low = np.full(size, _HIGH), np.full(size, _LOW)
        alternating = np.where(np.arange(entries) % 2, low, high)
        yield NeighbourPair("at the ends of all numbers", facts, unit, high, low)
        yield NeighbourPair("half of the numbers at the other end", facts, unit, high, alternating)
        yield NeighbourPair("an end against the middle", facts, unit, high, np.full(size, 0.5))
        yield NeighbourPair(
            "far outside against missing", facts, unit, np.full(size, _FAR), np.full(size, np.nan)
        )

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """What is shown of this person and others who stay the same, one row a run."""
        places, labels = with_others(values, _with_groups(facts))
        columns = []
        for part in self.parts_for(facts):
            query = self.query(part, places, labels)
            each = [
                self.perturb(part, np.broadcast_to(query, (some, query.size)), noise)
                for some in _batches(runs)
            ]
            columns.append(np.concatenate(each).astype(np.float64))
        return np.concatenate(columns, axis=1)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio, the best test there is."""
        ratio, start = np.zeros(len(outputs)), 0
        for part in self.parts_for(pair.facts):
            shown = outputs[:, start : start + part.shown].astype(np.int64)
            one, other = (
                part.query(*with_others(side, _with_groups(pair.facts)))
                for side in (pair.one, pair.other)
            )
            ratio += part.log_chance(shown, other) - part.log_chance(shown, one)
            start += part.shown
        return ratio


@functools.lru_cache(maxsize=256)
def _parts(mechanism: Summary, facts: StatisticsFacts) -> tuple[Part, ...]:
    found = []
    for asked in mechanism.asked:
        apart = mechanism.by is not None and not asked.between
        groups: list[int | None] = [*range(len(facts.groups))] if apart else [None]
        found += [mechanism.part(asked, facts, group) for group in groups]
    return tuple(found)


def _with_groups(facts: PublicFacts) -> StatisticsFacts:
    """Public facts, with everybody in one group where none are known."""
    if isinstance(facts, StatisticsFacts):
        return facts
    return StatisticsFacts.of(facts.people, facts.features)


def _batches(runs: int) -> Iterator[int]:
    for start in range(0, runs, _IN_BATCH):
        yield min(_IN_BATCH, runs - start)


def with_others(values: Values, facts: StatisticsFacts) -> tuple[Values, Labels]:
    """One person's numbers, and those of others who stay the same and agree in all entries."""
    others = (np.arange(facts.people - 1) + 1.0) / facts.people
    everybody = np.concatenate(
        [values.reshape(1, -1), np.repeat(others[:, None], facts.features, axis=1)]
    )
    return everybody, np.repeat(np.arange(len(facts.groups)), facts.groups)

"""A study of synthetic participants: what many have in common, and no person's record."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import SCALE, DifferentialMechanism, offered_unit
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.public_groups import GroupedFacts, Groups, grouped, groups_by, plain
from eyelid.mechanisms.mechanism import (
    Form,
    NeighbourPair,
    PublicFacts,
    Values,
    parameter,
    register,
)
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.mechanisms.release_kind import Execution, Gaps, ReleaseKind
from eyelid.mechanisms.synthetic import capacity
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.calibration import measurement_of
from eyelid.mechanisms.synthetic.capacity import EVERY_PAIR
from eyelid.mechanisms.synthetic.copula import rows_of_people
from eyelid.mechanisms.synthetic.games import in_game, worst_pairs
from eyelid.mechanisms.synthetic.measurement import (
    CLEARLY_THERE,
    MOST_ERROR,
    Measurement,
    error_of_share,
)
from eyelid.mechanisms.synthetic.person_model import model_of
from eyelid.mechanisms.synthetic.person_rounds import Alike, Nested
from eyelid.mechanisms.synthetic.public_pairs import public_tree
from eyelid.mechanisms.synthetic.recordings import MADE_UP, tasks_of
from eyelid.mechanisms.synthetic.rounds import AllPairs, Shares, Signs
from eyelid.mechanisms.synthetic.sequences import BEND, Sequences, sequences_of
from eyelid.mechanisms.synthetic.utility import ALL, COMMON, shown_of_people, too_few, worth
from eyelid.mechanisms.synthetic.whole_numbers import rounded
from eyelid.privacy.gaussian import check_delta, discreteness_slack
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Trust, Unit

MOST_BINS = 128
_POWERS = tuple(1 << power for power in range(2, MOST_BINS.bit_length()))
MOST_BY_DEFAULT = 8
"""Features that are carried unless others are asked for: each makes the noise on all larger."""
# How far noise on shares moves two tasks' means apart, in standard deviations of the feature.
_TASKS_APART = 5.0
_GAME = {"epsilon": 4.0, "delta": 1e-5, "bins": 8, "records": 2}


@register
@dataclass(frozen=True)
class Synthetic(DifferentialMechanism, FeatureMechanism):
    """A study of synthetic participants, drawn from noisy measurements of all people."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="A study of synthetic participants, drawn from noisy measurements of all people.",
        takes="""a FeatureTable. Of each person and task T rows count, evenly spread over what there
        is, and each with its part: all together no more than one person. Values are put in public
        bins. In rounds, under Gaussian noise: how each feature is distributed over all tasks, in
        nested tables; how much of each task, and of each public group, lies in each eighth of the
        Gaussian that is most like that, and how many rows recordings have; along a tree of
        features, how they go together, how long they stay as they are, how people stay the same
        over tasks, and how they change in the course of a recording. The tree is public, or chosen
        by a round of its own. Where rows are no windows of a signal: how every two features go
        together, and how much a person's rows are alike. Of a public order of features, the
        measures that are reported most first, eight are carried unless others are asked for, and
        fewer where the error that is wanted does not allow so many; the rest is left out. A missing
        value counts nowhere. Where noisy counts show that hardly anyone has a feature, its column
        stays empty; otherwise synthetic rows have a value everywhere, and how much is missing is
        lost, but for rows that are no windows, of which as many values are missing as noisy counts
        clearly show.""",
        protects="""a person, replace-one, (ε, δ) in total over everything that is released; trust
        is central. The number of people, of groups and their members, and the names of tasks are
        public.""",
        why="""a replaced person moves the sums of a round by no more than its reach (see each
        round), and a round's noise is calibrated to that with its share of μ². What a round asks
        depends on noisy answers of those before it alone, so that they compose as Gaussians do,
        μ² = Σ μᵢ² (Dong, Roth & Su 2022, also for adaptive questions), and μ is that of (ε, δ). All
        sums are integers, with discrete Gaussian noise. Synthetic participants are drawn from the
        answers: the data are not used again.""",
        paper="""marginals under Gaussian noise and a spanning tree as in McKenna, Miklau & Sheldon
        2021, whose unit is a row; here it is a person. Mechanisms of the literature that sell an ε
        of rows for one of people are off by the number of rows.""",
    )
    name: ClassVar[str] = "synthetic"
    family: ClassVar[str] = "synthetic"
    takes: ClassVar[str] = "features"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    release: ClassVar[ReleaseKind] = ReleaseKind.SYNTHETIC
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    gaps: ClassVar[Gaps] = Gaps.UNCOUNTED
    one_length: ClassVar[bool] = False
    paper: ClassVar[str] = (
        "McKenna, Miklau & Sheldon (2021), Winning the NIST contest: a scalable and general "
        "approach to differentially private synthetic data, at the level of people and with time"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        _GAME | {"carry": 2, "rows": 2, "pairs": "public"},
        _GAME | {"carry": 2, "pairs": "all"},
        _GAME | {"carry": 3, "pairs": "private"},
    )

    unit: Unit = offered_unit()
    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)
    error: float = parameter(
        "how far the share of a task that lies in a quarter of a feature may be off; features that "
        "would make it worse are left out",
        default=0.15,
    )
    carry: int | str | None = parameter(
        "features of synthetic participants, the first of a public order: a number; common (at "
        f"most {MOST_BY_DEFAULT}, the most reported first); or all that the error allows",
        default=COMMON,
    )
    made_up: int | None = parameter(
        "how many synthetic participants; as many as real ones when not given", default=None
    )
    rows: int | None = parameter(
        "rows of a synthetic recording; as many as real ones have, measured, when not given",
        default=None,
    )
    by: str | None = parameter(
        "public attributes of people that synthetic ones have too: gender, or a,b", default=None
    )
    pairs: str | None = parameter(
        "which features are measured together: public, along a tree by simulated people; private, "
        "along one whose choice is paid for; or all, and people apart from their rows, without "
        "order of time, as where rows are no windows when not given",
        default=None,
    )
    whole: str | None = parameter(
        "features that are whole numbers: fixations or a,b; those with the unit 'count' are, too",
        default=None,
    )
    records: int = parameter("rows of each person and task that count", default=32)
    bins: int | None = parameter(
        "bins of each feature, a power of two; by the number of people when not given", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None and check_delta(self.delta) == 0:
            raise InputError("delta must be above 0 for Gaussian noise")
        if not 0 < self.error < MOST_ERROR:
            raise InputError(
                f"error must be above 0 and below {MOST_ERROR:g}, as far off as noise alone is, "
                f"got {self.error:g}"
            )
        if isinstance(self.carry, str) and self.carry not in (COMMON, ALL):
            raise InputError(f"carry must be a whole number, {COMMON} or {ALL}, got '{self.carry}'")
        for name in ("carry", "made_up", "rows", "records"):
            number = getattr(self, name)
            if (name, number) in (("carry", COMMON), ("carry", ALL)):
                continue
            if number is not None and (not isinstance(number, int) or number < 1):
                raise InputError(f"{name} must be a whole number of at least 1, got {number}")
        if self.pairs not in (None, "public", "private", EVERY_PAIR):
            raise InputError(f"pairs must be public, private or {EVERY_PAIR}, got '{self.pairs}'")
        if self.bins is not None and self.bins not in _POWERS:
            raise InputError(f"bins must be a power of two from 4 to {MOST_BINS}, got {self.bins}")

    def bins_for(self, facts: PublicFacts) -> int:
        """As many as were asked for; all if not: distributions are smooth, whatever they are."""
        return self.bins or MOST_BINS

    def of_people(self, facts: PublicFacts) -> bool:
        """Whether rows are no signal, which has an order of time."""
        return self.pairs == EVERY_PAIR or (self.pairs is None and facts.window == 1)

    def measurement(self, facts: PublicFacts) -> Measurement:
        """What is measured of the carried features."""
        return measurement_of(self, self.carried_facts(facts))

    def carried_facts(self, facts: PublicFacts) -> PublicFacts:
        """The public facts of what is measured."""
        return plain(replace(facts, features=self.carried(facts)))

    def carried(self, facts: PublicFacts) -> int:
        """How many features are made up."""
        if isinstance(self.carry, int):
            if self.carry > facts.features:
                raise InputError(
                    f"carry={self.carry} is more than the {facts.features} features there are"
                )
            return self.carry
        most = self.features_within(facts)
        if not most:
            raise InputError(too_few(self, facts))
        return min(most, MOST_BY_DEFAULT) if self.carry == COMMON else most

    def useful(self, facts: PublicFacts) -> bool:
        """Whether a feature is made up within the error that is wanted, or was asked for anyway."""
        return isinstance(self.carry, int) or self.features_within(facts) > 0

    @classmethod
    def variants(cls, table: FeatureTable, **settings: Any) -> Iterable[dict[str, Any]]:
        """Fewer features, where there are too few people for as many as are wanted."""
        mechanism = cls(**settings)
        facts = mechanism.facts(table)
        if mechanism.useful(facts):
            return ({},)
        return [{"carry": carry} for carry in (1, 2, 4, 8) if carry <= facts.features] or [{}]

    def people_for_all_features(self, facts: PublicFacts) -> int | None:
        """From how many people on all features are made up as wanted; None if none are enough."""
        try:
            return replace(self, carry=ALL).people_needed(facts)
        except InputError:
            return None

    def fewest_of_task(self, facts: PublicFacts) -> int:
        """As many as the noise on a count is; 0 where nothing useful is released anyway."""
        if not self.useful(facts):
            return 0
        return math.ceil(self.measurement(facts).shares.noise_of_person(self.carried_facts(facts)))

    def tree(self, names: Sequence[str]) -> tuple[list[int], tuple[int, ...]]:
        """The public order of features, as places in ``names``, and the tree over them.

        Where all are asked for, or a certificate of an older version says nothing of it, they are
        ordered by what they tell of tasks.
        """
        return public_tree(names, common=self.carry not in (None, ALL))

    def features_within(self, facts: PublicFacts) -> int:
        """The most features that keep the error that is wanted; 0 if none do."""

        def too_many(features: int) -> bool:
            return self.error_with_all(replace(facts, features=features)) > self.error

        return bisect.bisect_left(range(1, facts.features + 1), True, key=too_many)

    def noise_of_shares(self, facts: PublicFacts) -> float:
        """Standard deviation of the noise on a quarter's share of a task, all features carried.

        Of the smallest group, where there are several; if everybody in it has the task.
        """
        return self.noise_of_people(facts) / grouped(facts, self.by).smallest

    def noise_of_people(self, facts: PublicFacts) -> float:
        """The noise on the number of people in a quarter."""
        measured = plain(facts)
        return measurement_of(self, measured).shares.noise_of_person(measured)

    def error_with_all(self, facts: PublicFacts) -> float:
        """How far released numbers will be off with all features: the smallest group's.

        The largest of that of shares of a quarter of a task, root mean square over features, tasks
        and quarters: the quarters of the release over all tasks, values told apart as 64 public
        bins tell them; of means over everybody, .2 standard deviations counting as .15; and where
        rows are no signal, of correlations of two features.
        """
        return capacity.error_with_all(self, facts)

    def expected_share_error(self, facts: PublicFacts) -> float:
        """Expected error of released shares: carried features, drawn participants, all groups."""
        groups = grouped(facts, self.by).groups
        noise = self.noise_of_people(self.carried_facts(facts)) * math.sqrt(groups)
        return error_of_share(noise / facts.people, self.made_up or facts.people)

    def noise_of_correlations(self, facts: PublicFacts) -> float:
        """Standard deviation of the noise on a correlation near 0: of two features, or over time.

        A mean product of signs, which is what is measured, is 2/π of the correlation there.
        """
        made = self.measurement(facts)
        asked = made.choice if made.of_people and made.choice else made.signs
        return math.pi / 2 * asked.noise_of_person(self.carried_facts(facts)) / facts.people

    def mean_errors(self, table: FeatureTable) -> dict[str, float]:
        """How far each feature's mean over everybody will be off, at most about, in its unit."""
        return capacity.means_off(self, table)

    def tasks_apart(self, facts: PublicFacts) -> float:
        """How far the difference of two tasks' means will be off, in sd of the feature, about."""
        return _TASKS_APART * self.noise_of_shares(replace(facts, features=self.carried(facts)))

    def tells_nobody(self, facts: PublicFacts) -> bool:
        """Whether noisy counts show it if nobody has a feature and everybody has another."""
        noise = self.noise_of_shares(replace(facts, features=self.carried(facts)))
        pieces = self.measurement(facts).shares.pieces
        parts = pieces * grouped(facts, self.by).groups / facts.recordings
        part = grouped(facts, self.by).smallest / facts.people
        return bool(CLEARLY_THERE * noise * part * math.sqrt(parts) <= 1.0)

    def noise_in_people(self, facts: PublicFacts) -> dict[str, float]:
        """Standard deviation of the noise on the counts of each round, in people."""
        measured = self.carried_facts(facts)
        return {
            one.name.removeprefix("synthetic "): one.noise_of_person(measured)
            for one in self.measurement(facts).rounds
        }

    def people_needed(self, facts: PublicFacts) -> int:
        """The fewest people for the error that is wanted with all features of a shape.

        Groups are taken to be as large, of the whole, as they are.
        """
        return capacity.people_needed(self, facts)

    @property
    def may_differ(self) -> Form:
        """Everything but the tasks: recordings are counted in sums over everybody."""
        return Form(
            "of any length and any of these tasks, at least one row,", recordings=True, lengths=True
        )

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for."""
        made, measured = self.measurement(facts), self.carried_facts(facts)
        return replace(
            made.levels.cost(measured, unit),
            mu=math.sqrt(sum(one.mu(measured) ** 2 for one in made.rounds)),
            slack=discreteness_slack(sum(one.cells(measured) for one in made.rounds), SCALE),
        )

    def person_total(self, facts: PublicFacts) -> str:
        """How the rounds add up."""
        parts = ", ".join(
            f"{one.share:.2f} {one.name.removeprefix('synthetic ')}"
            for one in self.measurement(facts).rounds
        )
        return f"calibrated to the person: of μ², {parts}"

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        measured = self.carried_facts(facts)
        return "; ".join(
            f"{one.name.removeprefix('synthetic ')}: {one.sampler(measured)}"
            for one in self.measurement(facts).rounds
        )

    def facts(self, table: FeatureTable) -> PublicFacts:
        """People, tasks, rows of each that count, features."""
        counted = {
            "people": table.recordings["person"].n_unique(),
            "recordings": len(tasks_of(table)[0]),
            "length": self.records,
            "features": len(table.features),
            "window": window_rows(table),
        }
        if not self.by:
            return PublicFacts(**counted)
        sizes = self.groups(table).sizes
        return GroupedFacts(**counted, smallest=int(sizes.min()), groups=len(sizes))

    def groups(self, table: FeatureTable) -> Groups:
        """The public groups that are told apart."""
        found = groups_by(table, self.by)
        if self.by and len(found.people) == 1:
            raise InputError(
                f"everybody has the same {self.by}: there is nothing to tell apart, leave out by"
            )
        return found

    def check(self, table: FeatureTable) -> None:
        """Refuse what could not be made, before anything is paid."""
        super().check(table)
        rounded(self, table)
        people = table.recordings["person"].n_unique()
        if self.bins is not None and self.bins > people:
            raise InputError(
                f"{self.bins} bins for {people} people leave most of them empty: choose "
                f"bins ≤ {people}, or leave it out"
            )

    def chosen(self, table: FeatureTable) -> list[int]:
        """The features that are made up, as places in the table, in the public order."""
        order, _ = self.tree(table.names)
        return order[: self.carried(self.facts(table))]

    def dropped(self, table: FeatureTable) -> list[str]:
        """The names of those that are not."""
        kept = set(self.chosen(table))
        return [name for place, name in enumerate(table.names) if place not in kept]

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """Synthetic participants, one recording of each task for each of them."""
        self.check(table)
        chosen, groups = self.chosen(table), self.groups(table)
        tasks, sequences = self.sequences(table)
        _, parents = self.tree(table.names)
        measurement = self.measurement(self.facts(table))
        answers = measurement.measured(sequences, parents[: len(chosen)], noise)
        copula = model_of(measurement, answers, self.bins_of(table))
        empty = measurement.hardly_anyone(answers.shares)
        # In the order of the table again.
        back = np.argsort(chosen)
        names = [table.names[chosen[place]] for place in back]
        rng = np.random.default_rng(noise.words(4))
        frames, people = [], []
        for number, made in enumerate(self.people_of(groups)):
            if not made:
                continue
            rows = (
                np.full((len(made), len(tasks)), self.rows)
                if self.rows
                else copula.rows(number, len(made), rng)
            )
            blocks = track(copula.drawn(number, rows, rng), "drawing synthetic participants")
            frame = rows_of_people(made, tasks, rows, table.step_ms or 1.0, blocks, names, back)
            frame = frame.with_columns(pl.col(names).fill_nan(None))
            frames.append(frame.with_columns(rounded(self, table)))
            attributes = groups.people.drop("people", "person")[[number] * len(made)]
            people.append(pl.DataFrame({"person": made}).hstack(attributes.get_columns()))
        return replace(
            table,
            # Values of what hardly anyone has would be noise.
            data=pl.concat(frames).with_columns(
                pl.lit(None, pl.Float64).alias(table.names[chosen[place]])
                for place in np.flatnonzero(empty)
            ),
            features=tuple(table.features[chosen[place]] for place in back),
            people=pl.concat(people),
        )

    def bins_of(self, table: FeatureTable) -> Bins:
        """Bins between public bounds, of the features that are made up."""
        features = [table.features[place] for place in self.chosen(table)]
        return Bins.of(features, self.bins_for(self.facts(table)), BEND)

    def sequences(self, table: FeatureTable) -> tuple[list[str], Sequences]:
        """The tasks by name, and all rows as bins: all that is used of the data."""
        chosen, member = self.chosen(table), self.groups(table).member
        rows = self.records, window_rows(table)
        return sequences_of(table, chosen, self.bins_of(table), *rows, member)

    def people_of(self, groups: Groups) -> list[list[str]]:
        """Names of synthetic participants, group by group, in proportion to real ones."""
        wanted = self.made_up or int(groups.sizes.sum())
        ends = np.rint(np.cumsum(groups.sizes) / groups.sizes.sum() * wanted).astype(int)
        digits = len(str(wanted))
        names = [f"{MADE_UP}{number:0{digits}d}" for number in range(1, wanted + 1)]
        return [names[a:b] for a, b in itertools.pairwise([0, *ends])]

    def informative(self, facts: PublicFacts) -> bool:
        """Whether the carried features keep the wanted error, at this number of people."""
        return (
            self.carried(facts) <= self.features_within(facts)
            and self.expected_share_error(facts) <= self.error
        )

    def worth(self, facts: PublicFacts) -> str:
        """What is kept, what is not, and how far off."""
        return worth(self, facts)

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What is public."""
        return shown_of_people(self, table)

    def parts(self) -> Iterator[DifferentialMechanism]:
        """The rounds by themselves, each with all of μ²."""
        settings: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta or 1e-5, "bins": 8}
        yield Shares(**settings)
        yield Signs(**settings, parents=(-1, 0, 1))
        yield AllPairs(**settings)
        yield Nested(**settings)
        yield Alike(**settings)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """From bound to bound and longer, outside them, absent, one feature or another."""
        features = self.carry if isinstance(self.carry, int) else 2
        return worst_pairs(self.records, features, unit)

    def game_sequences(self, values: Values) -> Sequences:
        """One with these values (tasks, rows, features), and others who stay the same, as bins."""
        return self.sequences(in_game(values))[1]

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """All noisy sums, and the tree: whatever is released is made of them."""
        return self.measurement(facts).played(self.game_sequences(values), runs, noise)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise, each round given those before it."""
        one, other = self.game_sequences(pair.one), self.game_sequences(pair.other)
        return self.measurement(pair.facts).log_ratio(outputs, one, other)

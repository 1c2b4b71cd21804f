"""Synthetic rows that begin as a person's, released if many others could have begun them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError, unknown
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import DifferentialMechanism, offered_unit
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import (
    Form,
    NeighbourPair,
    PublicFacts,
    Values,
    parameter,
    register,
)
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.release_kind import Execution, Gaps, ReleaseKind
from eyelid.mechanisms.synthetic.binning import Bins, Codes
from eyelid.mechanisms.synthetic.chain import Chain, ChainMarginals, whole_odds
from eyelid.mechanisms.synthetic.deniability import (
    LEAST_GAMMA,
    Threshold,
    plausible_people,
    that_fits,
    threshold_for,
)
from eyelid.mechanisms.synthetic.games import GameFacts
from eyelid.mechanisms.synthetic.recordings import MADE_UP, tasks_of
from eyelid.mechanisms.synthetic.records import TaskRecords, frame_of_rows, records_of_tasks
from eyelid.mechanisms.synthetic.utility import shown_of_rows, total_of_rows, worth_of_rows
from eyelid.privacy.gaussian import check_delta
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import below
from eyelid.privacy.unit import PERSON, Neighbours, Trust, Unit

SEEDED = "label_seeded"
# In games: how many times the people that the test needs.
_CROWD = 10
_MOST_GAMMA = 1e6
# In games: the evidence of what only one side gives.
_CERTAIN = 1e6


@register
@dataclass(frozen=True)
class Seeded(DifferentialMechanism, FeatureMechanism):
    """Rows that keep a few features of a person's row, if enough people could have given them."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Rows that keep a few features of a person's row, if enough people could have
        given them.""",
        takes="""a FeatureTable; every value is put in one of a public number of equal bins between
        its public bounds, a missing one in the bin of the midpoint. Of each person and task at most
        T rows are used, chosen at random. A model says how each feature follows the one before it,
        in a public order: it is measured under Gaussian noise on a share of the people, who are
        used for nothing else. A candidate keeps the first ω features of a row of a random one of
        the others, and draws the rest from the model. It is released if at least k people, plus
        Laplace noise unless the test is deterministic, have a row that would give it with a
        probability in the same range between powers of γ. In the place of any other, and with a
        randomised test also of some that a coin picks, a row is released that was drawn from the
        model alone, so that the number of rows is public.""",
        protects="""a person, replace-one within the public tasks, (ε, δ) in total over all rows and
        the model. With ``test=deterministic`` there is no noise in the test and no ε for those who
        may be seeds: (k, γ)-plausible deniability of each row, with one row a person and task;
        people in the model have its (ε, δ).""",
        why="""let D and D' differ in person a, N people. Let Q_j be the probability that a
        candidate is y and its seed's probability p(y) is in range j, and c_j how many people have a
        row there. Others give at least c_j/(N·T)·γ^(−j−1) of Q_j, and a at most γ^(−j)/N. With t
        others or more, Q'_j ≤ (1 + Tγ/t)·Q_j; c_j moves by one, which noise of scale 1/ε₀ turns
        into a factor e^ε₀. With fewer than t others the count is t at most, which passes with a
        probability π of about e^(−ε₀(k−t))/2, and only what a gives, 1/N at most over all rows, is
        more than e^ε₀ times as likely: δ = π/N. A row without a seed has the probability
        1 − β + β·F, F that a candidate fails: F' ≤ e^ε₀·F + 1/N, and β, the coin, is such that
        1 − β makes up for 1/N. So each row, and whether it has a seed, is (ε₀ + ln(1 + Tγ/t), δ)-DP
        for a person. Rows are independent given the model, and compose (Kairouz, Oh & Viswanath
        2015). The model costs other people than the rows do, and who is which is drawn without a
        look at the data: a person's total is that of one of the two.""",
        paper="""Bindschaedler, Shokri & Gunter 2017, whose theorem is about adding one record,
        leaves the number of discarded candidates secret, and takes a model of no one's data;
        David-John, Butler & Jain 2022 use it with a model that ignores its seed
        (`marginals-paper`).""",
    )
    name: ClassVar[str] = "seeded"
    family: ClassVar[str] = "seeded"
    takes: ClassVar[str] = "features"
    kind: ClassVar[Kind] = Kind.APPROXIMATE
    units: ClassVar[tuple[str, ...]] = ("person",)
    trust: ClassVar[Trust] = Trust.CENTRAL
    release: ClassVar[ReleaseKind] = ReleaseKind.ROWS
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    gaps: ClassVar[Gaps] = Gaps.MIDPOINT
    paper: ClassVar[str] = (
        "Bindschaedler, Shokri & Gunter (2017), Plausible deniability for privacy-preserving data "
        "synthesis, at the level of people; David-John, Butler & Jain (2022), For your eyes only: "
        "privacy-preserving eye-tracking datasets"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 2.0, "delta": 1e-3, "rows": 1, "gamma": 1.05, "keep_features": 1, "bins": 2},
        {"epsilon": 2.0, "delta": 1e-2, "rows": 2, "gamma": 1.5, "keep_features": "1-2", "bins": 2},
        {"epsilon": 3.0, "delta": 1e-3, "rows": 1, "records": 20, "keep_features": 1, "bins": 2},
    )

    unit: Unit = offered_unit()
    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)
    k: int | None = parameter(
        "people who must have a row as likely to give what is released; as many as ε needs when "
        "not given",
        default=None,
    )
    gamma: float = parameter("how much likelier one of them may be than another", default=2.0)
    keep_features: int | str = parameter(
        "features of a person's row that are kept: a number, or a range such as 1-3", default=1
    )
    rows: int = parameter("rows that are released of each task", default=20)
    records: int = parameter("rows of each person and task that are used", default=1)
    bins: int = parameter("bins of each feature", default=8)
    order: str | None = parameter(
        "features, the first to be kept first, each drawn given the one before: a,b,c; as the "
        "table has them when not given",
        default=None,
    )
    share: float = parameter("of the people, whom the model is measured on", default=0.5)
    test: str = parameter(
        "randomised, or deterministic: then ε is for the model alone", default="randomised"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is not None and check_delta(self.delta) == 0:
            raise InputError("delta must be above 0: neither test nor model is pure")
        if not LEAST_GAMMA <= self.gamma <= _MOST_GAMMA:
            raise InputError(
                f"gamma must be more than 1 (from {LEAST_GAMMA} to {_MOST_GAMMA:g}), got "
                f"{self.gamma!r}: with 1 or less no two probabilities are alike"
            )
        if self.k is not None and self.k < 2:
            raise InputError(
                f"k must be at least 2, got {self.k}: one person would be the only possible seed"
            )
        if self.test not in ("randomised", "deterministic"):
            raise InputError(f"test must be randomised or deterministic, got '{self.test}'")
        if self.test == "deterministic" and self.records > 1:
            raise InputError(
                f"a deterministic test takes one row of a person and task, got records = "
                f"{self.records}: with more, one person may be likelier than another by more than γ"
            )
        for name in ("k", "rows", "records", "bins"):
            if getattr(self, name) is not None and not isinstance(getattr(self, name), int):
                raise InputError(f"{name} must be a whole number, got {getattr(self, name)}")
        if not 0 < self.share < 1:
            raise InputError(f"share must be between 0 and 1, got {self.share:g}")
        if self.rows < 1:
            raise InputError(f"rows must be at least 1, got {self.rows}")
        if self.test == "deterministic" and self.k is None:
            raise InputError("a deterministic test needs k: give it with `k=10`")
        low, high = self.kept
        if not 0 <= low <= high or high < 1:
            raise InputError(
                f"keep_features must be a number or a range such as 1-3, got '{self.keep_features}'"
            )
        # What is wrong with the model is told at once.
        self.marginals(2)

    @property
    def may_differ(self) -> Form:
        """Everything but the tasks: of each, a public number of random rows is used at most."""
        return Form(
            "of any length and any of these tasks, at least one row,", recordings=True, lengths=True
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Which rows began as a person's: released where the ε covers it."""
        return (SEEDED,) if self.test == "randomised" else ()

    def fewest_of_task(self, facts: PublicFacts) -> int:
        """k: fewer people give rows that come from the model."""
        return self.threshold(facts).k

    @property
    def kept(self) -> tuple[int, int]:
        """The fewest and the most features of a seed that are kept."""
        if isinstance(self.keep_features, int):
            return self.keep_features, self.keep_features
        found = re.fullmatch(r"(\d+)-(\d+)", self.keep_features)
        return (int(found[1]), int(found[2])) if found else (1, 0)

    def modelled(self, people: int) -> int:
        """How many people the model is measured on."""
        return round(people * self.share)

    def seeds(self, people: int) -> int:
        """How many people may be seeds."""
        return people - self.modelled(people)

    def marginals(self, people: int) -> ChainMarginals:
        """The measurement behind the model."""
        return ChainMarginals(
            epsilon=self.epsilon,
            delta=self.delta_for(people),
            bins=self.bins,
            records=self.records,
        )

    def threshold(self, facts: PublicFacts) -> Threshold:
        """The test, from public numbers: for each of all rows of all tasks."""
        if self.kept[1] > facts.features:
            raise InputError(
                f"keep_features={self.keep_features} is more than the {facts.features} features "
                "there are"
            )
        rows = self.rows * facts.recordings
        found, seeds = self.wanted(facts.people, rows), self.seeds(facts.people)
        if not 1 <= seeds < facts.people:
            what = "the model" if seeds else "rows to begin with"
            raise InputError(
                f"share={self.share:g} of {facts.people} people leaves nobody for {what}: choose "
                "0.5 or so"
            )
        if found.k <= seeds:
            return found
        may = f"and {seeds} of {facts.people} may be seeds"
        if self.k is not None:
            raise InputError(f"k={found.k} needs as many people, {may}: choose k ≤ {seeds}")
        raise InputError(
            f"{rows} rows at epsilon {self.epsilon:g} need k = {found.k} people who could have "
            f"given each, {may}: {that_fits(self, facts, seeds)}use ksame or groupmean"
        )

    def wanted(self, people: int, rows: int) -> Threshold:
        """The test for so many rows, whether there are people enough for it or not."""
        return threshold_for(self, people, rows)

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """(ε, δ) as asked for; of a deterministic test k and γ."""
        test = self.threshold(facts)
        about: dict[str, Any] = {
            "unit": PERSON,
            "neighbours": Neighbours.REPLACE_ONE,
            "trust": self.trust,
        }
        if self.test == "deterministic":
            return Guarantee(kind=Kind.DENIABILITY, k=test.k, gamma=self.gamma, **about)
        return Guarantee(
            kind=self.kind, epsilon=self.epsilon, delta=self.delta_for(facts.people), **about
        )

    def person_total(self, facts: PublicFacts) -> str:
        """How rows and model add up."""
        return total_of_rows(self, facts)

    def sampler(self, facts: PublicFacts) -> str:
        """The test and the model's noise, in words."""
        test = self.threshold(facts)
        modelled = self.model_facts(facts)
        model = self.marginals(facts.people).sampler(modelled)
        return (
            f"{test.words(self.test == 'randomised')}; model of {modelled.people} people: {model}"
        )

    def model_facts(self, facts: PublicFacts) -> PublicFacts:
        """The public facts of what the model is measured on."""
        return replace(facts, people=self.modelled(facts.people), length=self.records)

    def facts(self, table: FeatureTable) -> PublicFacts:
        """People, tasks, rows released of each, features."""
        return PublicFacts(
            people=table.recordings["person"].n_unique(),
            recordings=len(tasks_of(table)[0]),
            length=self.rows,
            features=len(table.features),
            window=1,
        )

    def check(self, table: FeatureTable) -> None:
        """Refuse what could not be made, before anything is paid."""
        super().check(table)
        self._columns(table)

    def _columns(self, table: FeatureTable) -> list[int]:
        """The features in the order of the chain."""
        if self.order is None:
            return list(range(len(table.names)))
        names = [name.strip() for name in self.order.split(",") if name.strip()]
        for name in names:
            if name not in table.names:
                raise unknown("feature", name, table.names)
        if len(set(names)) < len(names):
            raise InputError(f"order names a feature twice: '{self.order}'")
        # Whatever is not named follows in the order of the table.
        rest = [name for name in table.names if name not in names]
        return [table.names.index(name) for name in [*names, *rest]]

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """One synthetic participant with one recording a task, whose rows are in no order of time.

        Whether a row had a seed is told where the ε covers it.
        """
        self.check(table)
        facts, columns = self.facts(table), self._columns(table)
        bins = Bins.of([table.features[j] for j in columns], self.bins)
        tasks = records_of_tasks(table, self.records, noise)
        coded = [replace(task, codes=bins.codes(task.values[..., columns])) for task in tasks]
        people = np.argsort(noise.words(facts.people))
        measured = people[: self.modelled(facts.people)]
        seeding = people[facts.people - self.seeds(facts.people) :]
        chains = self.chains([task.of(measured) for task in coded], facts, noise)
        frames = []
        for number, (task, chain) in enumerate(
            track(list(zip(coded, chains, strict=True)), "drawing rows"), start=1
        ):
            codes, seeded = self.made_up(task.of(seeding), chain, self.rows, facts, noise)
            values = np.empty(codes.shape)
            values[:, columns] = bins.inside(codes, noise)
            shown = dict(zip(table.names, values.T, strict=True))
            shown |= dict.fromkeys(self.labels, seeded)
            frames.append(frame_of_rows(task.name, number, shown))
        people_told = pl.DataFrame({"person": [MADE_UP], "people": [facts.people]})
        return replace(table, data=pl.concat(frames), people=people_told, step_ms=None)

    def chains(
        self, tasks: list[TaskRecords], facts: PublicFacts, noise: Randomness
    ) -> list[Chain]:
        """The model of each task, from noisy counts alone."""
        modelled = self.model_facts(facts)
        mechanism = self.marginals(facts.people)
        codes = np.stack([task.codes for task in tasks], axis=1)
        there = np.stack([task.there for task in tasks], axis=1)
        noisy = mechanism.perturb(mechanism.total(codes, there, modelled), modelled, noise)
        sd = mechanism.noise_of_person(modelled)
        return [Chain.of(tables, sd) for tables in mechanism.tables(noisy, modelled)]

    def made_up(
        self, seeds: TaskRecords, chain: Chain, rows: int, facts: PublicFacts, noise: Randomness
    ) -> tuple[Codes, NDArray[np.bool_]]:
        """Rows of one task, and which of them had a seed: independent given the chain."""
        low, high = self.kept
        test = self.threshold(facts)
        owner, codes = seeds.listed
        first = np.searchsorted(owner, np.arange(seeds.people))
        many = np.searchsorted(owner, np.arange(seeds.people), side="right") - first
        person = below(noise, np.full(rows, seeds.people))
        has = many[person] > 0
        seed = np.where(has, first[person] + below(noise, np.maximum(many[person], 1)), 0)
        kept = low + below(noise, np.full(rows, high - low + 1))
        candidates = (
            chain.drawn(codes[seed], kept, noise)
            if len(codes)
            else np.zeros((rows, seeds.codes.shape[-1]), dtype=np.uint8)
        )
        counts = np.zeros(rows, dtype=np.int64)
        if has.any():
            counts[has] = self.counted(candidates[has], seed[has], codes, owner, chain)
        passed = self.passes(counts, test, noise) & test.coin(rows, noise) & has
        alone = chain.drawn(np.zeros_like(candidates), np.zeros(rows, dtype=np.intp), noise)
        return np.where(passed[:, None], candidates, alone), passed

    def counted(
        self,
        candidates: Codes,
        seed: NDArray[np.integer],
        codes: Codes,
        owner: NDArray[np.integer],
        chain: Chain,
    ) -> NDArray[np.int64]:
        """How many people have a row that could have given each candidate, its own among them."""
        return plausible_people(
            candidates, seed, codes, owner, chain.weights, self.kept, self.gamma
        )

    def passes(
        self, counts: NDArray[np.int64], test: Threshold, noise: Randomness
    ) -> NDArray[np.bool_]:
        """Whether enough people could have given each candidate, fresh noise for each."""
        if self.test == "deterministic":
            return np.asarray(counts >= test.k)
        return test.passes(counts, noise)

    def worth(self, facts: PublicFacts) -> str:
        """How the model's noise compares with what it measures."""
        return worth_of_rows(self, facts)

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What is public, and what of the test may be told."""
        return shown_of_rows(self, self.facts(table))

    def parts(self) -> Iterator[DifferentialMechanism]:
        """The model's own measurement, which has games of its own."""
        yield self.marginals(2)

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """A person who is, or is not, among those who could have given a row."""
        people = 4
        while self.seeds(people) < self.wanted(people, self.rows).k:
            people += 1
        few = GameFacts(people, 1, self.rows, 2, window=1, there=self.seeds(people) - 1)
        here = np.full((1, self.records, 2), 0.1)
        away = np.full((1, self.records, 2), 0.9)
        yield NeighbourPair("the last of k, or elsewhere", few, unit, away, here)
        yield NeighbourPair("the last of k, or absent", few, unit, away * np.nan, here)
        # Nearly all pass, so that a row without a seed is a rare thing.
        crowd = replace(few, people=_CROWD * people, there=self.seeds(_CROWD * people) - 1)
        yield NeighbourPair("the only one to be elsewhere", crowd, unit, here, away)
        if self.records > 1:
            # Were rows counted and not people, all of one person's would make k.
            fewer = replace(few, there=max(1, few.there + 1 - self.records))
            yield NeighbourPair("with several rows, or elsewhere", fewer, unit, away, here)

    def _game_seeds(self, values: Values, facts: PublicFacts) -> TaskRecords:
        """Everybody who may be a seed: one with these values, and others, some with one row there.

        The others' rows are elsewhere.
        """
        assert isinstance(facts, GameFacts), "only games have such people"
        each = np.full((self.seeds(facts.people) - 1, self.records, 2), 0.9)
        each[: facts.there, 0] = 0.1
        everybody = np.concatenate([values, each])
        there = np.asarray(~np.isnan(everybody).all(axis=-1))
        bins = Bins(np.zeros(2), np.ones(2), self.bins)
        return TaskRecords("", everybody, there, bins.codes(everybody))

    def _game_chain(self) -> Chain:
        """Any that is public will do: its own measurement is played against by itself."""
        odds = np.arange(1.0, 1 + 2 * self.bins**2).reshape(2, self.bins, self.bins)
        return Chain(whole_odds(odds, Chain.BITS))

    def play(self, values: Values, facts: PublicFacts, runs: int, noise: Randomness) -> Values:
        """Bins of all rows, and which had a seed: rows are independent, runs are rows."""
        seeds = self._game_seeds(values, facts)
        codes, seeded = self.made_up(seeds, self._game_chain(), runs * self.rows, facts, noise)
        outputs = np.concatenate([codes, seeded[:, None]], axis=1).astype(np.float64)
        return outputs.reshape(runs, -1)

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio, from the exact probability of every output."""
        width = pair.one.shape[-1] + 1
        base = self.bins ** np.arange(width - 1)
        each = outputs.reshape(len(outputs), -1, width)
        number = (each[..., :-1] @ base).astype(np.intp)
        distributions = [
            self.row_distribution(
                self._game_seeds(side, pair.facts), self._game_chain(), pair.facts
            )
            for side in (pair.one, pair.other)
        ]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log(distributions[1]) - np.log(distributions[0])
        # What neither gives is no evidence.
        ratios = np.nan_to_num(ratio, nan=0.0, posinf=_CERTAIN, neginf=-_CERTAIN)[
            each[..., -1].astype(np.intp), number
        ]
        summed: Values = ratios.sum(axis=1)
        return summed

    def row_distribution(self, seeds: TaskRecords, chain: Chain, facts: PublicFacts) -> Values:
        """The exact probability of every row without and with a seed: (2, bins^features).

        For few features and bins: all rows there can be are gone through. The first feature is the
        lowest digit.
        """
        low, high = self.kept
        test = self.threshold(facts)
        owner, codes = seeds.listed
        features = seeds.codes.shape[-1]
        digits = itertools.product(range(self.bins), repeat=features)
        every = np.array([row[::-1] for row in digits], dtype=np.uint8)
        chances = np.exp(chain.log_chance(every))
        after = np.concatenate(
            [np.cumprod(chances[:, ::-1], axis=1)[:, ::-1], np.ones((len(every), 1))], axis=1
        )
        many = np.bincount(owner, minlength=seeds.people)
        same = np.cumprod(every[:, None, :] == codes[None], axis=2).sum(axis=2)
        longest = np.arange(low, high + 1)
        given = np.where(same[..., None] >= longest, after[:, None, low : high + 1], 0.0)
        given = given.mean(axis=-1)
        row, seed = np.nonzero(given)
        counts = self.counted(every[row], seed, codes, owner, chain)
        passing = (
            (counts >= test.k).astype(float)
            if self.test == "deterministic"
            else test.chance(counts)
        )
        mass = given[row, seed] / many[owner[seed]] / seeds.people
        seeded = np.bincount(row, mass * passing * test.coin_chance, minlength=len(every))
        alone = after[:, 0] * (1.0 - seeded.sum())
        return np.stack([alone, seeded])

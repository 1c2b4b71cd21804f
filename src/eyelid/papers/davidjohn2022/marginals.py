"""The Task-based Marginals Model as printed in David-John et al. 2022, and what it shows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.record_mechanism import window_rows
from eyelid.mechanisms.release_kind import Execution, ReleaseKind
from eyelid.mechanisms.synthetic.binning import Bins, Codes
from eyelid.mechanisms.synthetic.deniability import Integers, check_gamma, plausible_people
from eyelid.papers.signals import longest_facts
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import below
from eyelid.privacy.unit import RECORD, Neighbours, Trust, Unit


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Made-up rows, one for each of a table.

    Attributes:
        codes: their bins, (rows, features).
        plausible: k', how many rows of the task might be the seed of each.
    """

    codes: Codes
    plausible: Integers


@register
@dataclass(frozen=True)
class MarginalsPaper(FeatureMechanism):
    """Rows drawn from the histograms of a task: the Task-based Marginals Model as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "Rows drawn from the histograms of a task: the Task-based Marginals Model as printed."
        ),
        takes="""a FeatureTable, unclipped; values are put in B equal bins over the range that each
        feature has in this very dataset, a missing one in the middle. Numbers that stand for
        categories are numbers here, and come back as numbers in between.""",
        protects="""nothing; it is here to be compared with `seeded`. Printed is (k, γ)-plausible
        deniability of a row: that k rows of the dataset might have been the seed of each released
        one, with probabilities that differ by γ at most.""",
        why="""every feature is drawn from its own histogram over all rows of the task,
        independently. So the probability of a synthetic row is the same whatever its seed was: all
        rows of the task are in the same bucket, and the test passes whenever there are k of them,
        also where all are one person's. Nothing keeps the histograms from exposing a person: they
        have no noise, and their bins begin and end at the most extreme values of the data.""",
        paper="""David-John, Butler & Jain 2022 (Task-based Marginals Model) with the test of
        Bindschaedler, Shokri & Gunter 2017. B = 30, and γ = 1 as on the poster, where buckets are
        empty and equality is meant. How a seed is picked is not printed; here each row is the seed
        of the one that takes its place, which makes no difference.""",
    )
    name: ClassVar[str] = "marginals-paper"
    family: ClassVar[str] = "deniability"
    takes: ClassVar[str] = "features"
    kind: ClassVar[Kind] = Kind.DENIABILITY
    units: ClassVar[tuple[str, ...]] = ("record",)
    trust: ClassVar[Trust] = Trust.LOCAL
    release: ClassVar[ReleaseKind] = ReleaseKind.ROWS
    execution: ClassVar[Execution] = Execution.ON_EVERYBODY
    claims_to_hold: ClassVar[bool] = False
    mixes_people: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "David-John, Butler & Jain (2022), For your eyes only: privacy-preserving eye-tracking "
        "datasets (Task-based Marginals Model); Bindschaedler, Shokri & Gunter (2017), Plausible "
        "deniability for privacy-preserving data synthesis"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = ({},)

    k: int = parameter("rows that might have been the seed, at least", default=8)
    gamma: float = parameter("how far their probabilities may be apart; 1 for equal", default=1.0)
    bins: int = parameter("bins of each feature", default=30)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 2:
            raise InputError(f"k must be at least 2, got {self.k}: one row is the seed itself")
        check_gamma(self.gamma)
        # What is wrong with the number is told at once.
        Bins.of((), self.bins)

    @property
    def bare_bins(self) -> int:
        """Rows are drawn from histograms of so many bins."""
        return self.bins

    @property
    def unit(self) -> Unit:
        """A row: the test counts rows."""
        return RECORD

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """The printed k and γ of a row, which do not hold; of a person nothing is printed."""
        about: dict[str, Any] = {
            "unit": unit,
            "neighbours": Neighbours.REPLACE_ONE,
            "trust": self.trust,
        }
        printed = (
            Guarantee(kind=self.kind, k=self.k, gamma=self.gamma, **about)
            if unit == self.unit
            else Guarantee(kind=Kind.NONE, epsilon=math.inf, **about)
        )
        return printed.broken(*self.why_not())

    def why_not(self) -> Iterator[str]:
        """Why the printed guarantee does not hold, in words."""
        yield (
            "the model ignores its seed: a synthetic row has the same probability whatever row it "
            f"was made of, so that the test cannot fail where a task has {self.k} rows, and says "
            "nothing"
        )
        yield (
            f"the test counts rows, not people: all {self.k} may be the same person's, who has "
            "many in each task"
        )
        yield (
            "the histograms that rows are drawn from have no noise: a bin that only one person "
            "fills shows that person"
        )
        yield (
            "bins cover the range of each feature in this very dataset: its ends are the values of "
            "the most extreme people"
        )

    def person_total(self, facts: PublicFacts) -> str:
        """That there is none."""
        return (
            "no bound: what is printed is about single rows, and the histograms that they are "
            "drawn from show people without any noise"
        )

    @property
    def numerics(self) -> str:
        """There is no noise whose digits could tell anything."""
        return "no noise"

    def facts(self, table: FeatureTable) -> PublicFacts:
        """People, the most recordings of one, the longest recording's rows, features."""
        return replace(longest_facts(table), window=window_rows(table))

    def check(self, table: FeatureTable) -> None:
        """Refuse tasks of which no candidate would pass, and features without any value."""
        super().check(table)
        for task, rows in _rows_of_tasks(table):
            if rows.size < self.k:
                raise InputError(
                    f"k={self.k} needs at least {self.k} rows in every task, '{task}' has "
                    f"{rows.size}: no candidate would pass; choose k ≤ {rows.size}, or leave the "
                    "task out"
                )
        _ranges(table)

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The synthetic rows that passed the test, in the places of the real ones.

        Time stamps are rewritten to the step, labels are dropped.
        """
        self.check(table)
        made = self.synthesise(table, noise)
        values = Bins(*_ranges(table), self.bins).inside(made.codes, noise)
        lengths = table.recordings["rows"].to_numpy()
        row = np.arange(len(table.data)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        keys = [c for c in ("person", "recording", "task", "stimulus") if c in table.data.columns]
        data = table.data.select(keys).with_columns(
            pl.Series("time_ms", row * (table.step_ms or 1.0)),
            *[pl.Series(name, values[:, j].copy()) for j, name in enumerate(table.names)],
        )
        return replace(table, data=data.filter(pl.Series(made.plausible >= self.k)))

    def synthesise(self, table: FeatureTable, noise: Randomness) -> Synthetic:
        """Candidates for every row of a table, each tested against all rows of its task."""
        values = table.data.select(pl.col(table.names).cast(pl.Float64)).to_numpy()
        codes = Bins(*_ranges(table), self.bins).codes(values)
        made = Synthetic(np.empty_like(codes), np.empty(len(codes), dtype=np.int64))
        for _, rows in track(list(_rows_of_tasks(table)), "drawing synthetic rows"):
            real = codes[rows]
            histograms = np.stack([np.bincount(column, minlength=self.bins) for column in real.T])
            candidates = _drawn(histograms, len(rows), noise)
            own = np.arange(len(rows))
            # A chain in which nothing depends on the feature before, and that keeps no feature.
            odds = np.broadcast_to(histograms[:, None, :], (len(histograms), self.bins, self.bins))
            made.codes[rows] = candidates
            made.plausible[rows] = plausible_people(
                candidates, own, real, own, odds, (0, 0), self.gamma
            )
        return made

    def sampler(self, facts: PublicFacts) -> str:
        """What is random, in words."""
        return (
            f"no noise: every value is drawn from the task's histogram of {self.bins} bins over "
            "the data's range, evenly inside its bin"
        )

    def worth(self, facts: PublicFacts) -> str:
        """That single features keep their distribution, and nothing else is left."""
        return (
            "Synthetic rows: each feature keeps the distribution that it has in a task over all "
            "people, and nothing is left of how features go together, of the course of time, or of "
            "differences between people."
        )

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What is released as it is; the reasons say why the rest is not safe."""
        return [
            "the number of people, their names and order, their recordings, tasks and stimuli",
            "how long recordings are: there are as many synthetic rows as real ones",
            f"the largest and the smallest value of each of {len(table.features)} features, almost",
            "how often each bin of a feature occurs in a task, as well as so many draws can tell",
        ]


def _rows_of_tasks(table: FeatureTable) -> Iterator[tuple[str, NDArray[np.intp]]]:
    """Each task with the numbers of its rows; one nameless task where none is named."""
    tasks = pl.repeat("", len(table.data), eager=True)
    if "task" in table.data.columns:
        tasks = table.data["task"].cast(pl.String).fill_null("")
    for task in tasks.unique(maintain_order=True):
        yield task, np.flatnonzero((tasks == task).to_numpy())


def _ranges(table: FeatureTable) -> tuple[Values, Values]:
    """The smallest and the largest value of each feature, over everybody and all tasks."""
    values = pl.col(table.names).cast(pl.Float64)
    known = pl.when(values.is_finite()).then(values)
    ends = table.data.select(known.min().name.suffix("<"), known.max().name.suffix(">"))
    lowest, highest = np.array(ends.row(0), dtype=object).reshape(2, -1)
    for name, value in zip(table.names, lowest, strict=True):
        if value is None:
            raise InputError(
                f"feature {name} has no value at all, so it has no range: leave it out"
            )
    return lowest.astype(np.float64), highest.astype(np.float64)


def _drawn(histograms: Integers, rows: int, noise: Randomness) -> Codes:
    """So many rows, each feature drawn from its own histogram."""
    draws = below(noise, np.full((len(histograms), rows), histograms[0].sum()))
    ends = np.cumsum(histograms, axis=1)
    drawn = [np.searchsorted(*pair, side="right") for pair in zip(ends, draws, strict=True)]
    return np.stack(drawn, axis=1).astype(np.uint8)

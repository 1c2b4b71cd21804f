"""What is counted of people whose rows are no signal: nested bins, and how alike their rows are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.mechanisms.differential import Integers
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.synthetic.rounds import Levels, Lookup, Round, any_signs, signs_of
from eyelid.mechanisms.synthetic.sequences import Sequences


def widths(bins: int) -> list[int]:
    """Bins that are counted together: from a quarter of all down to two.

    >>> widths(128), widths(8), widths(4)
    ([32, 16, 8, 4, 2], [2], [1])
    """
    found = [bins >> power for power in range(2, bins.bit_length()) if bins >> power > 1]
    return found or [1]


@dataclass(frozen=True)
class Nested(Levels):
    """How values are distributed, coarse and fine: nested tables a feature, over all tasks."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="How values are distributed, coarse and fine, over all tasks together.",
        takes="""T rows of each person and task; a row counts U/(R·T) in one bin of each of L nested
        tables of each of its features, a missing value nowhere.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="""a person counts at most U in each of F·L tables, never less than nothing: the squared
        norm is at most F·L·U², and two such are at most √(2·F·L)·U apart.""",
        paper="""noisy counts of nested ranges as in Hay, Rastogi, Miklau & Suciu 2010, with
        everybody's rows weighted so that the person is the unit.""",
    )
    name: ClassVar[str] = "synthetic nested"
    paper: ClassVar[str] = (
        "Hay, Rastogi, Miklau & Suciu (2010), Boosting the accuracy of differentially private "
        "histograms through consistency"
    )

    def cells(self, facts: PublicFacts) -> int:
        """Bins of all tables of all features."""
        return facts.features * sum(self.bins // width for width in widths(self.bins))

    def reach(self, facts: PublicFacts) -> float:
        """√(2·F·L)."""
        return math.sqrt(2 * facts.features * len(widths(self.bins)))

    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """Everybody's nested histograms, features × bins of all widths; nothing is looked up."""
        single = super().counted(sequences, facts).reshape(-1, facts.features, self.bins)
        tables = [
            single.reshape(*single.shape[:-1], -1, width).sum(axis=-1)
            for width in widths(self.bins)
        ]
        return np.concatenate(tables, axis=-1).reshape(len(single), -1)


@dataclass(frozen=True)
class Alike(Round):
    """How much a person's rows are alike: what lies between people, and what within them."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="How much a person's rows are alike: what lies between people, what within them.",
        takes="""a public table that says of each task and bin whether it is high (1), low (−1) or
        neither (0). One number a feature: the square of the mean of a person's signs over rows and
        tasks, from 0 to U.""",
        protects="a person, replace-one, (ε, δ) with its μ.",
        why="""of F numbers none is below 0 or above U: two people are at most √F·U apart.""",
        paper="""the variance of people's means, of signs; those of a Gaussian copula give the share
        of its variance that lies between people.""",
    )
    name: ClassVar[str] = "synthetic alike"
    paper: ClassVar[str] = "ours; noise as in Dong, Roth & Su (2022), Gaussian differential privacy"

    def cells(self, facts: PublicFacts) -> int:
        """One number a feature."""
        return facts.features

    def reach(self, facts: PublicFacts) -> float:
        """√F."""
        return math.sqrt(facts.features)

    def terms(self, facts: PublicFacts) -> int:
        """Pairs of rows of all tasks."""
        return (facts.recordings * facts.length) ** 2

    def any_lookup(self, facts: PublicFacts, rng: np.random.Generator) -> Lookup:
        """Any sign of each bin; none of what is missing."""
        return any_signs(self.bins, facts, rng)

    def counted(
        self, sequences: Sequences, facts: PublicFacts, lookup: Lookup | None = None
    ) -> Integers:
        """Everybody's squares; the lookup is that of the signs."""
        signs: Any = signs_of(sequences, sequences.codes[..., :1, :], lookup)
        sums = signs.sum(axis=(-4, -3, -2), dtype=np.int64)
        found: Integers = sums**2 * self.each(facts, self.terms(facts))
        return found

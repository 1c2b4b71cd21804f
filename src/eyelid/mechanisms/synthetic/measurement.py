"""All that is measured of people for synthetic ones: in rounds, one after the other's noise.

A round may ask what noisy answers suggest, and nothing else: which bins make a quarter of a feature
is read off the noisy levels, which are high off levels and shares, and a private tree off the noisy
products of all pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.differential import Integers, noise_of
from eyelid.mechanisms.mechanism import PublicFacts, Values
from eyelid.mechanisms.synthetic.densities import best_gaussian, nested
from eyelid.mechanisms.synthetic.estimates import (
    halves,
    nearest_shares,
    of_tasks,
    quarters,
    spanning_tree,
    towards_common,
    towards_mean,
)
from eyelid.mechanisms.synthetic.person_rounds import Nested, widths
from eyelid.mechanisms.synthetic.rounds import (
    AllPairs,
    Lookup,
    Round,
    Shares,
    Signs,
)
from eyelid.mechanisms.synthetic.sequences import Sequences
from eyelid.privacy.noise import Randomness

# Of the error of a share, as found with simulated people: what smoothness takes of the noise comes
# back where quarters end; a share varies so much over recordings; tasks differ inside quarters; and
# it cannot be more.
_SHARE_NOISE = 1.0
_SHARE_SD = 0.24
_SHARE_SHAPE = 0.012
MOST_ERROR = 0.35
"""As far as the share of a quarter is off by noise alone."""
# A feature is taken for one that nobody has below so much of what most have.
_HARDLY_ANYONE = 1 / 8
CLEARLY_THERE = 16.0
"""If what most have is so many times the noise on it."""
# Runs of a game that are made at once.
_RUNS = 4_096


@dataclass(frozen=True, eq=False)
class Answers:
    """Noisy sums of all rounds, in steps, and the tree; all of it may have axes in front.

    Attributes:
        levels: (…, cells).
        shares: (…, groups, cells).
        choice: (…, cells); of no width where the tree is public.
        parents: (…, features): of each feature, the one before it in the tree.
        signs: (…, cells).
    """

    levels: Integers
    shares: Integers
    choice: Integers
    parents: NDArray[np.int64]
    signs: Integers

    def listed(self) -> Values:
        """Everything side by side, one row a run."""
        parts = (self.levels, self.shares, self.choice, self.parents, self.signs)
        runs = len(self.levels)
        return np.concatenate([part.reshape(runs, -1) for part in parts], axis=1).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Measurement:
    """The rounds, in this order, and the public facts that they are about.

    Attributes:
        facts: people, tasks, rows of each that count, features that are made up.
        levels: how values are distributed.
        shares: how in each task.
        choice: how much all features go together; None where the tree is public.
        signs: how they go together along the tree, and over time.
    """

    of_people: ClassVar[bool] = False
    """Whether rows are no signal, and people's rows only more alike than others'."""

    facts: PublicFacts
    levels: Nested
    shares: Shares
    choice: AllPairs | None
    signs: Round

    @property
    def rounds(self) -> list[Round]:
        """Those that there are."""
        every = (self.levels, self.shares, self.choice, self.signs)
        return [one for one in every if one is not None]

    def measured(
        self,
        sequences: Sequences,
        tree: Sequence[int],
        noise: Randomness,
        runs: tuple[int, ...] = (),
    ) -> Answers:
        """Measure everybody, round by round.

        Args:
            sequences: all people's bins. Nothing else of their data is used.
            tree: the public one.
            noise: where it comes from.
            runs: axes in front, for measurements that are repeated.
        """
        facts = self.facts
        whole = self.levels.total(sequences, facts)
        levels = self.levels.perturb(np.broadcast_to(whole, (*runs, whole.size)), facts, noise)
        asked = self.shares.total(sequences, facts, self.quarters(levels))
        shares = self.shares.perturb(asked, facts, noise)
        by_half = self.halves(levels, shares)
        parents = np.broadcast_to(np.array(tree, dtype=np.int64), (*runs, len(tree)))
        choice = np.zeros((*runs, 0), dtype=np.int64)
        if self.choice is not None:
            choice = self.choice.perturb(self.choice.total(sequences, facts, by_half), facts, noise)
            parents = self.trees(choice)
        signs = self.signs.perturb(self.along(sequences, parents, by_half), facts, noise)
        return Answers(levels, shares, choice, parents, signs)

    def quarters(self, levels: Integers) -> Lookup:
        """Which bins are in which quarter, by the noisy levels."""
        return quarters(self.overall(levels), self.shares.pieces)

    def halves(self, levels: Integers, shares: Integers) -> Lookup:
        """Which bins are high or low in each group and task, by noisy answers."""
        return halves(self.distributions(levels, shares))

    def trees(self, choice: Integers) -> NDArray[np.int64]:
        """The trees of the strongest pairs, by noisy products."""
        features = self.facts.features
        first, second = np.triu_indices(features, 1)
        flat = np.abs(choice.reshape(-1, choice.shape[-1])[:, : len(first)])
        # A tree depends on nothing but their order, and repeated runs have few of these.
        ranks = flat.argsort(axis=1).argsort(axis=1)
        orders, which = np.unique(ranks, axis=0, return_inverse=True)
        table = np.full((len(orders), features, features), -1.0)
        table[:, first, second] = table[:, second, first] = orders
        found = np.array([spanning_tree(strengths) for strengths in table], dtype=np.int64)
        return found[which.ravel()].reshape(*choice.shape[:-1], features)

    def along(self, sequences: Sequences, parents: NDArray[np.int64], by_half: Lookup) -> Integers:
        """The exact sums of the signs, along each tree there is."""
        flat = parents.reshape(-1, parents.shape[-1])
        found = np.empty((len(flat), self.signs.cells(self.facts)), dtype=np.int64)
        lookup = by_half.reshape(len(flat), *by_half.shape[parents.ndim - 1 :])
        for tree in np.unique(flat, axis=0):
            mine = (flat == tree).all(axis=1)
            found[mine] = self.asked(tree).total(sequences, self.facts, lookup[mine])
        return found.reshape(*parents.shape[:-1], -1)

    def asked(self, parents: NDArray[np.int64]) -> Round:
        """What is asked last: how features go together along a tree, and over time."""
        assert isinstance(self.signs, Signs), "others override this"
        return replace(self.signs, parents=tuple(int(parent) for parent in parents))

    @property
    def sums(self) -> Values:
        """Which bins each nested count is of, (counts, bins)."""
        return nested(self.levels.bins, tuple(widths(self.levels.bins)))

    def level_counts(self, levels: Integers) -> Values:
        """Nested counts in people, (…, features, counts)."""
        counts = self.levels.in_people(levels, self.facts)
        return counts.reshape(*levels.shape[:-1], self.facts.features, -1)

    def overall(self, levels: Integers) -> Values:
        """The Gaussian that is most like the noisy counts of each feature, to ask further by."""
        return best_gaussian(self.level_counts(levels), self.sums)

    def distributions(self, levels: Integers, shares: Integers) -> Values:
        """Distributions by noisy answers: (…, groups, tasks, features, bins)."""
        known = self.overall(levels)
        counts = self.in_quarters(shares)
        people = self.people_with(shares)
        groups, tasks, features, _ = counts.shape[-4:]
        front = (*counts.shape[:-4], groups * tasks, features)
        noisy = (counts / people[..., None]).reshape(*front, -1)
        sd = self.shares.noise_of_person(self.facts) / people.reshape(front)
        each = nearest_shares(towards_common(noisy, sd))
        found = of_tasks(known, quarters(known, self.shares.pieces), each)
        return found.reshape(*counts.shape[:-1], -1)

    def people_with(self, shares: Integers) -> Values:
        """How many people have values, by noisy answers: (…, groups, tasks, features).

        As many of one feature as of another, unless they differ by more than noise: what is missing
        must not look like few people in every quarter.
        """
        many = self.in_quarters(shares).sum(axis=-1)
        sd = self.shares.noise_of_person(self.facts) * np.sqrt(self.shares.pieces)
        found: Values = np.maximum(towards_mean(many, sd), 1.0)
        return found

    def hardly_anyone(self, shares: Integers) -> NDArray[np.bool_]:
        """Features that next to nobody has, by noisy answers about shares: (…, features)."""
        many = self.in_quarters(shares).sum(axis=(-4, -3, -1))
        cells = self.shares.pieces * self.facts.recordings * shares.shape[-2]
        noise = self.shares.noise_of_person(self.facts) * np.sqrt(cells)
        most = many.max(axis=-1, keepdims=True)
        return np.asarray((many < _HARDLY_ANYONE * most) & (most >= CLEARLY_THERE * noise))

    def in_quarters(self, shares: Integers) -> Values:
        """People in each quarter, (…, groups, tasks, features, quarters)."""
        shape = (self.facts.recordings, self.facts.features, self.shares.pieces)
        counts = self.shares.in_people(shares, self.facts)[..., : math.prod(shape)]
        return counts.reshape(*shares.shape[:-1], *shape)

    def unlisted(self, outputs: Values) -> Answers:
        """Answers about people of one group, as they were before they were listed."""
        facts = self.facts
        widths = [
            self.levels.cells(facts),
            self.shares.cells(facts),
            self.choice.cells(facts) if self.choice else 0,
            facts.features,
        ]
        levels, shares, choice, parents, signs = (
            part.astype(np.int64) for part in np.split(outputs, np.cumsum(widths), axis=1)
        )
        return Answers(levels, shares[:, None], choice, parents, signs)

    def residuals(self, answers: Answers, sequences: Sequences) -> list[tuple[Round, Integers]]:
        """What of each round's answers (runs, …) is noise if people have these bins.

        Each is judged by what it would have asked after the answers before it.
        """
        facts, runs = self.facts, len(answers.levels)
        by_half = self.halves(answers.levels, answers.shares)
        shares = self.shares.total(sequences, facts, self.quarters(answers.levels))
        along = self.along(sequences, answers.parents, by_half)
        found: list[tuple[Round, Integers]] = [
            (self.levels, answers.levels - self.levels.total(sequences, facts)),
            (self.shares, (answers.shares - shares).reshape(runs, -1)),
            (self.signs, answers.signs - along),
        ]
        if self.choice is not None:
            products = self.choice.total(sequences, facts, by_half)
            found.append((self.choice, answers.choice - products))
        return found

    def log_mass(self, answers: Answers, sequences: Sequences) -> Values:
        """How likely answers (runs, …) are if people have these bins."""
        found = np.zeros(len(answers.levels))
        for mechanism, residuals in self.residuals(answers, sequences):
            found += noise_of(mechanism, self.facts).log_mass(residuals).sum(axis=-1)
        return found

    def played(self, sequences: Sequences, runs: int, noise: Randomness) -> Values:
        """Listed answers of so many runs about people with these bins, one row a run."""
        tree = range(-1, self.facts.features - 1)
        parts = [
            self.measured(sequences, tree, noise, (min(_RUNS, runs - start),)).listed()
            for start in range(0, runs, _RUNS)
        ]
        return np.concatenate(parts)

    def log_ratio(self, outputs: Values, one: Sequences, other: Sequences) -> Values:
        """How much listed answers (runs, …) speak for one's bins against the other's."""
        ratio = np.empty(len(outputs))
        for start in range(0, len(outputs), _RUNS):
            some = slice(start, start + _RUNS)
            answers = self.unlisted(outputs[some])
            ratio[some] = self.log_mass(answers, other) - self.log_mass(answers, one)
        return ratio


def error_of_share(noise: float, made_up: float) -> float:
    """The error of a share that has this noise, drawn of so many synthetic participants."""
    error = math.hypot(_SHARE_NOISE * noise, _SHARE_SD / math.sqrt(made_up), _SHARE_SHAPE)
    return error / math.hypot(1.0, error / MOST_ERROR)

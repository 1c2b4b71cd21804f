"""A choice made by looking at people's data, and paid for: blocks of people vote."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import ClassVar

import numpy as np
import polars as pl

from eyelid.attacks.outcome import Outcome, Questions, Trial
from eyelid.comparisons.candidates import Candidate
from eyelid.comparisons.goals import Goals
from eyelid.comparisons.settings import mechanism_of
from eyelid.comparisons.verdicts import judged, ranked
from eyelid.engine.cores import alone
from eyelid.engine.engines import Shared, as_done, shared
from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms import find
from eyelid.mechanisms.exponential_mechanism import Integers, choose
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.gaussian import check_epsilon
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Neighbours, Trust
from eyelid.releases.audits.kinds import measured
from eyelid.reporting.comparisons.setting import Setting
from eyelid.spelling import plural

# With fewer people hardly anything can be judged.
FEWEST_IN_BLOCK = 8
# One vote in steps of the exponential mechanism's scale: ε/2 of 2³⁰, rounded down.
_SCALE = 1 << 30
# Beyond it the winner is certain, and integers would overflow.
_LARGEST = 1000.0
_SURE = 0.5

Vote = int | None


@dataclass(frozen=True)
class PrivateChoice:
    """One of m public candidates, by the votes of disjoint blocks of people.

    Attributes:
        epsilon: what the choice costs every person.
        candidates: m.
        people: N.
    """

    note: ClassVar[ProofNote] = ProofNote(
        summary="One of m public candidates, by the votes of disjoint blocks of people.",
        takes="""people, parted into B = ⌊N/8⌋ disjoint blocks whose sizes differ by one at most, by
        coins alone. The vote for a block sees that block's people and public facts, and casts
        one vote or none. Candidates, B and the sizes are public: they follow from goals and public
        facts.""",
        protects="""a person, replace-one, with pure ε-DP; trust is central. Neighbours have the
        same public facts: who has which recordings of which tasks, and the planned length. Nothing
        but the chosen candidate may be shown: no votes, no figures of these people, no word on what
        failed. How long it took, and what a progress bar looked like on the way, depends on data
        and is not covered: it is for the owner's eyes.""",
        why="""blocks are drawn without a look at data, so a replaced person stays in one block and
        can change that block's vote alone, whatever the vote is made of: one count falls by one at
        most and one rises by one at most. A block whose run fails casts no vote, which is the same
        or less. The exponential mechanism with P(i) ∝ exp(ε·votesᵢ/2) then moves each weight by a
        factor within e^(±ε/2), and their sum too: e^ε at most in all (McSherry & Talwar 2007). It
        is drawn exactly, in integers, with ε/2 rounded down to a multiple of 2⁻³⁰.""",
        paper="""sample and aggregate (Nissim, Raskhodnikova & Smith 2007), with the exponential
        mechanism over votes.""",
    )

    epsilon: float
    candidates: int
    people: int

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    @property
    def blocks(self) -> int:
        """How many vote."""
        return self.people // FEWEST_IN_BLOCK

    @property
    def guarantee(self) -> Guarantee:
        """What every person is promised about the choice."""
        return Guarantee(
            Kind.PURE,
            PERSON,
            Neighbours.REPLACE_ONE,
            Trust.CENTRAL,
            epsilon=self.epsilon,
            delta=0.0,
        )

    @property
    def sure(self) -> float:
        """The chance that a candidate with all votes is chosen, from public facts.

        >>> round(PrivateChoice(epsilon=2.0, candidates=5, people=40).sure, 3)
        0.974
        """
        return 1 / (1 + (self.candidates - 1) * math.exp(-self.epsilon * self.blocks / 2))

    @property
    def epsilon_needed(self) -> float | None:
        """From which ε on a unanimous vote decides more often than not; None without blocks."""
        if not self.blocks:
            return None
        return 2 * math.log(max(self.candidates - 1, 1)) / self.blocks

    @property
    def people_needed(self) -> int:
        """From how many people on it does at this ε."""
        blocks = 2 * math.log(max(self.candidates - 1, 1)) / self.epsilon
        return FEWEST_IN_BLOCK * max(1, math.ceil(blocks - 1e-9))

    def check(self, simulable: bool = True) -> None:
        """Refuse what is hardly more than a lot, before anything is paid.

        Args:
            simulable: whether simulated participants could decide instead.
        """
        if self.blocks and self.sure >= _SURE - 1e-12:
            return
        needed = self.epsilon_needed
        more = "" if needed is None else f" `tuning_epsilon={math.ceil(100 * needed) / 100:g}`, or"
        instead = "Leave out `own` to choose on simulated participants for nothing, or " * simulable
        raise InputError(
            f"{self.people} people make {plural(self.blocks, 'block')} of {FEWEST_IN_BLOCK} or "
            "more: even if all of "
            f"them agreed on one of {self.candidates} candidates, it would be chosen with a chance "
            f"of {self.sure if self.blocks else 1 / self.candidates:.0%} at ε = {self.epsilon:g}, "
            f"hardly more than a lot. It takes{more} {self.people_needed} people. {instead}see "
            "'eyelid compare', which is for your eyes only"
        )

    def parted(self, people: Sequence[str], noise: Randomness) -> list[list[str]]:
        """Everybody in one block, by coins."""
        order = np.random.default_rng(noise.words(4)).permutation(len(people))
        return [[people[place] for place in order[b :: self.blocks]] for b in range(self.blocks)]

    def votes(
        self, blocks: Iterable[Sequence[str]], vote: Callable[[Sequence[str]], Vote]
    ) -> Integers:
        """How many blocks are for each candidate."""
        cast = [one for one in map(vote, blocks) if one is not None]
        return np.bincount(np.array(cast, dtype=np.intp), minlength=self.candidates)

    def chosen(self, votes: Integers, noise: Randomness) -> int:
        """The candidate that is chosen: all that may be shown."""
        return int(self.many(votes, 1, noise)[0])

    def many(self, votes: Integers, runs: int, noise: Randomness) -> Integers:
        """Choices of independent runs on these votes, for those who play against it."""
        weight = math.floor(min(self.epsilon, _LARGEST) / 2 * _SCALE)
        costs = (votes.max() - votes) * weight
        drawn = choose(np.broadcast_to(costs, (runs, self.candidates)), _SCALE, noise)
        return np.asarray(drawn, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Ballot:
    """What blocks of people vote on, and by what.

    Attributes:
        table: everybody's features.
        candidates: one of them is chosen.
        goals: of everybody.
        questions: what is asked of every candidate in every block.
        seed: of the runs in blocks.
    """

    table: FeatureTable
    candidates: tuple[Candidate, ...]
    goals: Goals
    questions: Questions
    seed: int


def voted(choice: PrivateChoice, ballot: Ballot, noise: Randomness) -> int:
    """The place of the candidate that the blocks have chosen, under noise."""
    people = ballot.table.recordings["person"].unique(maintain_order=True).to_list()
    blocks = [tuple(block) for block in choice.parted(people, noise)]
    jobs = list(product(blocks, range(len(ballot.candidates))))
    outcomes: dict[tuple[tuple[str, ...], int], Outcome | None] = {}
    with shared(ballot) as handle:
        run = partial(_run_in_block, handle, len(people))
        for number, outcome in as_done(run, jobs, "asking your people"):
            outcomes[jobs[number]] = outcome

    def vote(block: Sequence[str]) -> int | None:
        goals = ballot.goals.among(len(block), len(people))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                every = [
                    judged(candidate, [outcome], goals)
                    for place, candidate in enumerate(ballot.candidates)
                    if (outcome := outcomes[tuple(block), place]) is not None
                ]
                return ballot.candidates.index(ranked(every)[0].candidate)
        except Exception:  # Nothing to judge, or something that may not be told.
            return None

    return choice.chosen(choice.votes(blocks, vote), noise)


def _run_in_block(
    handle: Shared[Ballot], people: int, job: tuple[tuple[str, ...], int]
) -> Outcome | None:
    """One candidate in one block, in a worker; None where it fails, and not a word why."""
    ballot, (block, place) = handle.get(), job
    mine, whole = pl.col("person").is_in(block), ballot.table
    part = replace(whole, data=whole.data.filter(mine), people=whole.people.filter(mine))
    try:
        with warnings.catch_warnings(), alone():
            warnings.simplefilter("ignore")
            setting = _as_noisy(ballot.candidates[place].setting, people, len(block))
            trial = Trial(mechanism_of(setting), part, part, ballot.questions, ballot.seed)
            return measured(trial)
    except Exception:  # Whatever it says may depend on a person's data.
        return None


def _as_noisy(setting: Setting, people: int, block: int) -> Setting:
    """With so much less noise that a mean over a block is as noisy as one over everybody."""
    if find(setting.mechanism).release not in (ReleaseKind.MEANS, ReleaseKind.SYNTHETIC):
        return setting
    given = dict(setting.parameters)
    given["epsilon"] = given["epsilon"] * people / block
    return Setting(setting.mechanism, tuple(given.items()))

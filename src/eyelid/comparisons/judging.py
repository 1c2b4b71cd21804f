"""Does a release meet somebody's goals? What is promised beside what was measured.

A measured goal is met when the mean over people and studies meets it, *surely* when its 95 % limit
does too. Where a guarantee implies a goal whoever attacks, it is met, and that is said.

**How far off** a release is from a goal is a number from 0 (met) to 1 (as far as can be), of what
lies between the goal and the worst: everybody named, nothing recognised beyond chance, an
attribute always told; of an error or ε, the part of it that is too much. A release is as far off as
the goal it misses most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import Any

import numpy as np

from eyelid.audits.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.comparisons.candidates import Candidate, promise_kept
from eyelid.comparisons.comparison import total_of
from eyelid.comparisons.goals import Goal, Goals, Verdict
from eyelid.comparisons.outcome import Outcome
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.rank1 import rank1_bounds


@dataclass(frozen=True, eq=False)
class Figures:
    """What came of one release of several studies of different people.

    Attributes:
        runs: one a study.
    """

    runs: tuple[Outcome, ...]

    @cached_property
    def named(self) -> Rate | None:
        """People named by the strongest attacker; None where nobody was."""
        attackers = self.runs[0].named
        rates = [
            rate_of_decisions(
                np.concatenate([run.named[who] for run in self.runs]), self.runs[0].chance
            )
            for who in attackers
        ]
        return max(rates, key=lambda rate: rate.rate, default=None)

    @cached_property
    def used(self) -> Rate | None:
        """Windows whose task is told; None where it was not tried."""
        shares = [run.used for run in self.runs if run.used is not None]
        chance = self.runs[0].used_chance
        return rate_of_shares(np.concatenate(shares), chance) if shares else None

    def told(self, attribute: str) -> tuple[float, float, float] | None:
        """Balanced accuracy with limits; None where nothing could be asked."""
        found = [run.attributes[attribute] for run in self.runs if attribute in run.attributes]
        if not found:
            return None
        rate, low, high = np.mean(found, axis=0).tolist()
        # Studies are of different people.
        narrower = len(found) ** -0.5
        return rate, rate - narrower * (rate - low), rate + narrower * (high - rate)

    @property
    def errors(self) -> list[float]:
        """Root mean square error in spans, of each study."""
        return [run.error_of_span for run in self.runs if run.error_of_span is not None]

    @property
    def error(self) -> float | None:
        """The mean over studies."""
        return fmean(self.errors) if self.errors else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            # Those of own people are never told.
            "data": "simulated",
            "studies": len(self.runs),
            "named": None if self.named is None else asdict(self.named),
            "used": None if self.used is None else asdict(self.used),
            "attributes": {
                name: dict(zip(("rate", "low", "high"), self.told(name) or (), strict=False))
                for name in self.runs[0].attributes
            },
            "error_of_span": self.error,
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate before somebody's goals.

    Attributes:
        candidate: what would be released.
        figures: what was measured; None where nothing was.
        verdicts: one a goal.
    """

    candidate: Candidate
    figures: Figures | None
    verdicts: tuple[Verdict, ...]

    @property
    def meets(self) -> bool:
        """Whether all goals are met."""
        return all(verdict.met for verdict in self.verdicts)

    @property
    def missed(self) -> list[Verdict]:
        """The goals that are not met."""
        return [verdict for verdict in self.verdicts if not verdict.met]

    @property
    def off(self) -> float:
        """How far off, by the goal missed most."""
        return max((verdict.off for verdict in self.verdicts), default=0.0)

    @property
    def promise_first(self) -> tuple[float, ...]:
        """Sorts releases that meet the goals: the strongest promise to a person first, then use.

        Whatever has an ε of at most 10 for a person in total comes first, the smallest leading;
        then k people among whom one hides, the most leading; then larger ε.
        """
        return (*self.candidate.strength, -self._use)

    @property
    def nearness(self) -> tuple[float, ...]:
        """Sorts releases that miss some: the nearest first, then the strongest promise."""
        every = sum(verdict.off for verdict in self.verdicts)
        return (self.off, every, *self.candidate.strength, -self._use)

    @property
    def _use(self) -> float:
        if self.figures is None or self.figures.used is None:
            return 0.0
        return self.figures.used.rate

    def to_dict(self, source: str) -> dict[str, Any]:
        """As JSON has it."""
        candidate, promise = self.candidate, self.candidate.promise
        return {
            "setting": str(candidate.setting),
            "command": candidate.setting.command(source),
            "mechanism": candidate.setting.mechanism,
            "parameters": dict(candidate.setting.parameters),
            "guarantee": promise.guarantee.to_dict(),
            "person_level": promise.person_level.summary() | {"how": promise.how},
            "person_total": total_of(promise),
            "names_nobody": candidate.nobodys,
            "rank1_bound": promise.bound(candidate.people),
            "advantage_bound": candidate.advantage,
            "figures": None if self.figures is None else self.figures.to_dict(),
            "goals": [asdict(verdict) for verdict in self.verdicts],
            "meets": self.meets if self.figures is not None else None,
            "off": self.off,
            "unprotected": list(candidate.unprotected),
        }


def judged(candidate: Candidate, runs: Sequence[Outcome], goals: Goals) -> Judged:
    """How a candidate fares, by what came of it."""
    figures = Figures(tuple(runs))
    verdicts = [
        _measured(goal, candidate, figures)
        if goal.measured
        else promise_kept(goal, candidate, goals)
        for goal in goals.asked
    ]
    return Judged(candidate, figures, tuple(verdicts))


def _measured(goal: Goal, candidate: Candidate, figures: Figures) -> Verdict:
    """A goal that takes a run to decide."""
    if candidate.nobodys and (goal.name == "rank1" or goal.is_attribute):
        return Verdict(goal.text, True, True, True, says=_nobody(candidate))
    if goal.name == "error":
        if not figures.errors:
            return _unknown(goal, "nobody's values are released, so none is off")
        value, worst = fmean(figures.errors), max(figures.errors)
        off = 0.0 if goal.met(value) else 1 - goal.limit / value
        low = min(figures.errors)
        return Verdict(goal.text, goal.met(value), goal.met(worst), False, off, value, low, worst)
    if goal.name == "task":
        rate = figures.used
        if rate is None:
            return _unknown(goal, "tasks cannot be learned from it")
        room = max(goal.limit - goal.chance, 1e-9)
        off = 0.0 if goal.met(rate.rate) else min(1.0, (goal.limit - rate.rate) / room)
        return Verdict(
            goal.text, goal.met(rate.rate), goal.met(rate.low), False, off, *_three(rate)
        )
    if goal.is_attribute:
        told = figures.told(goal.name)
        if told is None:
            return _unknown(goal, "too few people of a kind to ask")
        value, _, high = told
        return Verdict(
            goal.text, goal.met(value), goal.met(high), False, _above(goal, value), *told
        )
    return _named(goal, candidate, figures.named)


def _named(goal: Goal, candidate: Candidate, named: Rate | None) -> Verdict:
    """Whether few enough are named: by attackers, or by anybody at all."""
    alone, together = rank1_bounds(candidate.promise.person_level, candidate.people).values()
    if not candidate.promise.alike:
        alone = together = None
    # Bounds are of all people, and the goal may be of a part of them.
    whole = replace(goal, limit=goal.limit / (goal.chance * candidate.people))
    says, implied = "", together is not None and whole.met(together)
    if alone is not None and whole.met(alone):
        says = f"guaranteed: at most {rounded_up(100 * alone, 3)}%"
        says += "" if implied else " of those who are judged one at a time"
    if named is None:
        return _unknown(goal, "recordings cannot be parted into what is known and what is shown")
    return Verdict(
        goal.text,
        # What was measured may be above a bound by chance.
        implied or goal.met(named.rate),
        implied or goal.met(named.high),
        implied,
        0.0 if implied else _above(goal, named.rate),
        *_three(named),
        says=says,
    )


def _three(rate: Rate) -> tuple[float, float, float]:
    return rate.rate, rate.low, rate.high


def _above(goal: Goal, value: float) -> float:
    """How far a share is above its goal, of the room there is up to 1."""
    return 0.0 if goal.met(value) else (value - goal.limit) / max(1 - goal.limit, 1e-9)


def _unknown(goal: Goal, why: str) -> Verdict:
    return Verdict(goal.text, False, off=1.0, says=f"not measured: {why}")


def _nobody(candidate: Candidate) -> str:
    """Why nobody is named, and what could be told all the same."""
    advantage = candidate.advantage
    bound = "no bound" if advantage is None else f"at most {rounded_up(100 * advantage, 3)}%"
    return f"nobody's record is released; advantage in telling who took part: {bound}"

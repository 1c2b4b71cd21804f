"""Does a release meet the user's goals? What is promised beside what was measured.

A measured goal is met when the mean over people and studies meets it, *clearly* when its 95% limit
does too: that is about simulated participants, and no promise. Where a guarantee implies a goal
for every attacker, it is met, and that is said.

Means over all people and synthetic participants have no record to re-identify:
goals about that are met. *Guaranteed* they are only where the promise to a person implies them
against an attacker who knows all others, and asks who, or of which kind, the last one is:

* One of N equally likely people: whichever two of them it could be are neighbours that differ in
  one person, so that an answer is at most e^ε times likelier (but for δ) when it is right than when
  it is another. Summed up over N answers: right with (e^ε + (N − 1)δ)/(e^ε + N − 1) at most, as for
  a person's own record that is judged alone.
* One of two kinds: a balanced accuracy of (1 + advantage)/2 at most, where the advantage is the
  most that the promise allows in telling two neighbours apart. What is true of people at large, and
  not of the last one alone, is not counted.

**How far off** a release is from a goal is a number from 0 (met) to 1 (as far as can be), of what
lies between the goal and the worst: everybody named, nothing recognised beyond chance, an
attribute always told; of an error or ε, the part of it that is too much. A release is as far off as
the goal it misses most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from statistics import fmean, stdev
from typing import Any

import numpy as np

from eyelid.attacks.outcome import Outcome, mean_errors
from eyelid.attacks.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.comparisons.candidates import Candidate, promise_kept
from eyelid.comparisons.goals import Goal, Goals, Verdict
from eyelid.privacy.composition import replace_one
from eyelid.privacy.guarantee import Kind, rounded_up
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.privacy.unit import Trust
from eyelid.reporting.comparisons.row import total_of


@dataclass(frozen=True, eq=False)
class Figures:
    """What came of one release of several studies of different people.

    Attributes:
        runs: one a study.
    """

    runs: tuple[Outcome, ...]

    @cached_property
    def named(self) -> Rate | None:
        """People re-identified by the strongest attacker; None where nobody was."""
        return None if self.attacker is None else self._named(self.attacker)

    @cached_property
    def attacker(self) -> str | None:
        """Who that is, and what they know."""
        return max(self.runs[0].named, key=lambda who: self._named(who).rate, default=None)

    def _named(self, who: str) -> Rate:
        shares = np.concatenate([run.named[who] for run in self.runs])
        # Who has a single recording, say, is not shown to every attacker.
        return rate_of_decisions(shares[~np.isnan(shares)], self.runs[0].chance)

    @cached_property
    def used(self) -> Rate | None:
        """Windows whose task is told; None where it was not tried."""
        shares = [run.used for run in self.runs if run.used is not None]
        chance = self.runs[0].used_chance
        return rate_of_shares(np.concatenate(shares), chance) if shares else None

    def inferred(self, attribute: str) -> tuple[float, float, float] | None:
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
        """Root mean square error as a share of the range, of each study."""
        return [run.error_of_span for run in self.runs if run.error_of_span is not None]

    @property
    def error(self) -> float | None:
        """The mean over studies."""
        return fmean(self.errors) if self.errors else None

    @property
    def errors_in_units(self) -> dict[str, tuple[float, str]]:
        """By feature, the mean over studies in its unit, with the unit."""
        return mean_errors(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            # Those of own people are never told.
            "data": "simulated",
            "studies": len(self.runs),
            "named": None if self.named is None else asdict(self.named),
            "attacker": self.attacker,
            "used": None if self.used is None else asdict(self.used),
            "attributes": {
                name: dict(zip(("rate", "low", "high"), self.inferred(name) or (), strict=False))
                for name in self.runs[0].attributes
            },
            "error_of_span": self.error,
            "errors": {
                name: {"value": value, "unit": unit}
                for name, (value, unit) in self.errors_in_units.items()
            },
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate before the user's goals.

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
    def carries_nothing(self) -> bool:
        """Whether the task is not clearly told better than by guessing, where it was asked."""
        used = None if self.figures is None else self.figures.used
        return used is not None and used.low <= used.chance

    @property
    def promise_first(self) -> tuple[float, ...]:
        """Sorts releases that meet the goals: the strongest promise to a person first, then use.

        Whatever has an ε of at most 10 for a person in total comes first, the smallest leading;
        then k people among whom one hides, the most leading; then larger ε. What carries nothing
        comes after all of them: noise keeps any promise.
        """
        return (float(self.carries_nothing), *self.candidate.strength, -self._use)

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
            "carries_nothing": self.carries_nothing,
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


def ranked(every: Sequence[Judged]) -> list[Judged]:
    """What meets the goals, the strongest promise first; then the others, the nearest first."""
    met = sorted((one for one in every if one.meets), key=lambda one: one.promise_first)
    return [*met, *sorted((o for o in every if not o.meets), key=lambda one: one.nearness)]


def _measured(goal: Goal, candidate: Candidate, figures: Figures) -> Verdict:
    """A goal that takes a run to decide."""
    if candidate.nobodys and (goal.name == "rank1" or goal.is_attribute):
        implied, says = _of_nobody(goal, candidate)
        return Verdict(goal.text, True, implied, implied, says=says)
    if goal.name == "error":
        if not figures.errors:
            return _unknown(goal, "nobody's values are released, so none is off")
        value, limits = fmean(figures.errors), _limits(figures.errors)
        off = 0.0 if goal.met(value) else 1 - goal.limit / value
        clearly = limits is not None and goal.met(limits[1])
        return Verdict(
            goal.text, goal.met(value), clearly, False, off, value, *(limits or (None, None))
        )
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
        inferred = figures.inferred(goal.name)
        if inferred is None:
            return _unknown(goal, "too few people of a kind to ask")
        value, _, high = inferred
        return Verdict(
            goal.text, goal.met(value), goal.met(high), False, _above(goal, value), *inferred
        )
    return _named(goal, candidate, figures.named)


def _named(goal: Goal, candidate: Candidate, named: Rate | None) -> Verdict:
    """Whether few enough are named: by attackers, or by any attacker at all."""
    alone, together = rank1_bounds(candidate.promise.person_level, candidate.people).values()
    if not candidate.promise.alike:
        alone = together = None
    # Bounds are of all people, and the goal may be of a part of them.
    whole = replace(goal, limit=goal.limit / (goal.chance * candidate.people))
    says, implied = "", together is not None and whole.met(together)
    if alone is not None and whole.met(alone):
        says = f"guaranteed: at most {rounded_up(100 * alone, 3)}%"
        says += "" if implied else " of those who are judged one at a time"
        if candidate.promise.person_level.kind is Kind.K_ANONYMITY:
            says += ", if this is their only release and nobody of a group tells of themselves"
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


def _limits(values: Sequence[float]) -> tuple[float, float] | None:
    """Student's 95% limits of the mean over studies, no error below 0; None for a single one."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    wide = float(stdtrit(len(values) - 1, 0.975)) * stdev(values) / len(values) ** 0.5
    return max(0.0, fmean(values) - wide), fmean(values) + wide


def _of_nobody(goal: Goal, candidate: Candidate) -> tuple[bool, str]:
    """Whether the promise implies a goal where nobody's record is, and what it comes to."""
    advantage = candidate.advantage
    bound = "no bound" if advantage is None else f"at most {rounded_up(100 * advantage, 3)}%"
    says = (
        f"no record under a person's name is released; advantage in telling who took part: {bound}"
    )
    if goal.is_attribute:
        most, limit = None if advantage is None else (1 + advantage) / 2, goal
    else:
        # As if the last one's own record were judged alone.
        last = replace(replace_one(candidate.promise.person_level), trust=Trust.LOCAL, mu=None)
        most = rank1_bounds(last, candidate.people)["raw_to_release"]
        limit = replace(goal, limit=goal.limit / (goal.chance * candidate.people))
    implied = most is not None and limit.met(most)
    bound = (
        "may be inferred"
        if most is None
        else f"is inferred with at most {rounded_up(100 * most, 3)}%"
    )
    return implied, f"{says}; to an attacker who knows all others, the last one {bound}"

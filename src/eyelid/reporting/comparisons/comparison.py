"""What a comparison found, row by row: what each release promises a person, and what came of it.

A figure is the mean over people and runs, and its limits hold for other people and for other noise.
Limits over people alone miss that one draw of the noise may serve everybody: the mean of a group,
made-up people, what a model has learned from. All are then better or worse together, which only
further runs can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from eyelid.attacks.outcome import Outcome, Questions, mean_errors
from eyelid.attacks.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.mechanisms import find
from eyelid.mechanisms.certificate import Promise
from eyelid.privacy.guarantee import Kind
from eyelid.privacy.unit import Trust
from eyelid.reporting.comparisons.setting import Setting
from eyelid.spelling import json_text

if TYPE_CHECKING:
    import polars as pl
    from markupsafe import Markup
    from numpy.typing import NDArray

# How a figure stands to what is allowed.
WITHIN_CHANCE = "within chance"
ABOVE = "ABOVE what is allowed: please report"
RAW = "raw features, as people publish them today"
UNCOVERED = (
    "Measured on these people without noise: no certificate covers these figures, nor a choice "
    "that is made by them. Publish them only if you mean to."
)
COUNTED = (
    "Nothing was released, so nothing was counted in a ledger. 'eyelid recommend' chooses without "
    "looking at these people, or pays for looking."
)

# How often limits may miss the truth where the best of many is looked at.
_STRICT = 0.01
# Shares that differ by less are the same.
_ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class Row:
    """One way to release, and what came of it.

    Attributes:
        setting: which; None for the raw data.
        promise: what it promises; None for the raw data, and for what cannot be released so.
        runs: what came of each run.
        skipped: why it was not run; empty if it was.
    """

    setting: Setting | None
    promise: Promise | None = None
    runs: tuple[Outcome, ...] = ()
    skipped: str = ""

    @property
    def name(self) -> str:
        """For people."""
        return RAW if self.setting is None else str(self.setting)

    @property
    def promised(self) -> Promise:
        """What was run promises: the raw data, and what cannot be released so, do not."""
        assert self.promise is not None, "what was run promises something"
        return self.promise

    @property
    def asked(self) -> Setting:
        """The setting of whatever is not the raw data."""
        assert self.setting is not None, "only the raw data have none"
        return self.setting

    @property
    def named(self) -> Rate | None:
        """People named by the strongest attacker over all runs; None where nobody's record is."""
        return self.named_within(0.05)

    def named_within(self, alpha: float) -> Rate | None:
        """The same with limits that miss the truth no more often than ``alpha``."""
        return None if self.attacker is None else self._named(self.attacker, alpha)

    @property
    def attacker(self) -> str | None:
        """Who that is, and what they know."""
        if not self.runs or not self.runs[0].named:
            return None
        return max(self.runs[0].named, key=lambda who: self._named(who).rate)

    def _named(self, attacker: str, alpha: float = 0.05) -> Rate:
        everybody = np.array([run.named[attacker] for run in self.runs])
        # Who has a single recording, say, is not shown to every attacker.
        shares = everybody[:, ~np.isnan(everybody).any(axis=0)]
        # One record names at most one of a group, so that over people limits err on the wide side.
        rate = rate_of_decisions(shares.mean(axis=0), self.runs[0].chance, alpha)
        return with_runs(rate, shares, alpha)

    @property
    def nobodys(self) -> bool:
        """Whether no record of anybody was released, so that nobody can be named in it."""
        return (
            self.promise is not None
            and self.promise.guarantee.trust is Trust.CENTRAL
            and bool(self.runs)
            and not self.runs[0].named
        )

    def used(self, chance: float, alpha: float = 0.05) -> Rate | None:
        """Windows whose target is told; None where it was not tried.

        Limits are over people and runs; from 0 to 1 where they cannot be known (`one_draw`).
        """
        if not len(self._used):
            return None
        found = rate_of_runs(self._used, chance, alpha, one_for_all=self._one_for_all)
        return replace(found, low=0.0, high=1.0) if self.one_draw else found

    @property
    def _used(self) -> NDArray[np.float64]:
        return np.array([run.used for run in self.runs if run.used is not None])

    @property
    def one_draw(self) -> bool:
        """Whether use was tried with a single draw that serves everybody.

        How much else another draw would have given is not to be seen then.
        """
        return self._one_for_all and len(self._used) == 1

    @property
    def _one_for_all(self) -> bool:
        """Whether one draw serves everybody: means, groups, made-up people, rows that mix people.

        Noise in somebody's own records is drawn for each, and its spread is in that over people.
        """
        if self.promise is None:
            return False
        mixed = self.setting is not None and find(self.setting.mechanism).mixes_people
        return mixed or self.promise.guarantee.trust is Trust.CENTRAL

    def says_the_same(self, chance: float) -> bool:
        """Whether what learned from it gives always the same answer."""
        return len(self._used) > 0 and not self.one_draw and is_constant(self._used, chance)

    @property
    def not_used(self) -> str:
        """Why use was not tried; empty where it was."""
        return "" if len(self._used) else next((r.not_used for r in self.runs if r.not_used), "")

    def region(self, chance: float) -> tuple[Rate | None, Rate | None]:
        """People named and windows told, with limits that hold both true values at once.

        Each may miss its own in half of the 5 %, so that they miss either in no more than 5 %,
        however the two hang together.
        """
        return self.named_within(0.025), self.used(chance, alpha=0.025)

    def told(self, attribute: str) -> tuple[float, float, float] | None:
        """Balanced accuracy of telling an attribute with limits, the mean over runs."""
        if self.shows(attribute):
            return 1.0, 1.0, 1.0
        found = [run.attributes[attribute] for run in self.runs if attribute in run.attributes]
        if not found:
            return None
        rate, low, high = np.mean(found, axis=0).tolist()
        return rate, low, high

    def shows(self, attribute: str) -> bool:
        """Whether a setting makes an attribute public: groups by it are told by name."""
        given = {} if self.setting is None else dict(self.setting.parameters)
        return attribute in [name.strip() for name in str(given.get("by") or "").split(",")]

    @property
    def error_of_span(self) -> float | None:
        """Root mean square error of a released value."""
        found = [run.error_of_span for run in self.runs if run.error_of_span is not None]
        return fmean(found) if found else None

    @property
    def errors(self) -> dict[str, tuple[float, str]]:
        """The same of each feature by name, in its unit, with the unit."""
        return mean_errors(self.runs)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Mechanisms side by side.

    Attributes:
        raw: the data as they are.
        rows: every setting asked for, in order.
        questions: what was asked of each.
        people: how many.
        repeats: noisy runs of each setting.
        seed: of all of them.
        simulated: whether the people are made up.
        written: the page, if one was.
        options: what to type for the same.
        remarks: what else there is to say about what was asked.
    """

    raw: Row
    rows: tuple[Row, ...]
    questions: Questions
    people: int
    repeats: int
    seed: int
    simulated: bool = False
    written: Path | None = None
    options: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def command(self, source: str = "IN") -> str:
        """What to type to see the same again."""
        return " \\\n  ".join([f"eyelid compare {source}", *self.options])

    @property
    def chance(self) -> float:
        """Of naming somebody by guessing."""
        return self.raw.runs[0].chance

    @property
    def used_chance(self) -> float:
        """Of telling the target without data."""
        return self.raw.runs[0].used_chance

    @property
    def ran(self) -> list[Row]:
        """What was run."""
        return [row for row in self.rows if row.runs]

    def useful(self, row: Row) -> bool:
        """Whether a row is better than guessing, by its lower 99 % limit.

        Many are tried and the best is looked at: of 40 that are useless, at 95 % one would seem
        better, at 99 % one in five such comparisons has one.
        """
        used = row.used(self.used_chance, _STRICT)
        same = row.says_the_same(self.used_chance)
        return used is not None and not same and used.low > self.used_chance

    def against_promise(self, row: Row) -> str:
        """A word where more are named than a promise allows; empty where they are not.

        The strongest of several attackers against the best of many rows is above a bound now and
        then. It is called so only by limits that allow for all of them.
        """
        bound = None if row.promise is None else row.promise.bound(self.people)
        if bound is None or row.named is None or row.named.rate <= bound:
            return ""
        tries = len(row.runs[0].named) * len(self.ran)
        surely = row.named_within(0.05 / tries)
        return ABOVE if surely is not None and surely.low > bound else WITHIN_CHANCE

    @property
    def skipped(self) -> list[Row]:
        """What could not be, with reasons."""
        return [row for row in self.rows if row.skipped]

    @property
    def unequal(self) -> str:
        """How different the promises are, in a sentence; empty where all promise a person alike."""
        totals: dict[str, list[str]] = {}
        for row in self.ran:
            totals.setdefault(total_of(row.promised), []).append(row.name)
        if len(totals) < 2:
            return ""
        return (
            f"There are {len(totals)} different promises to a person: compare those with the same."
        )

    @property
    def notes(self) -> list[str]:
        """What whoever looks at it must know."""
        above = [row.name for row in self.ran if self.against_promise(row) == ABOVE]
        broken = f"More people are named than is allowed, please report it: {'; '.join(above)}."
        told = [broken if above else "", self.unequal, self._one_draw, *self.remarks]
        return [*filter(None, told), *([] if self.simulated else [UNCOVERED]), COUNTED]

    @property
    def _one_draw(self) -> str:
        if self.questions.target is None or not any(row.one_draw for row in self.ran):
            return ""
        return (
            "One draw serves everybody in means, groups and made-up people: what another draw "
            "would give is not to be seen in a single run. --repeats 3 or more gives limits."
        )

    def frame(self) -> pl.DataFrame:
        """The table, one row a setting, the raw data first."""
        import polars as pl

        return pl.DataFrame(self.records(), infer_schema_length=None)

    def records(self) -> list[dict[str, Any]]:
        """The table as plain values."""
        return [self._record(row) for row in (self.raw, *self.rows)]

    def _record(self, row: Row) -> dict[str, Any]:
        promise, named = row.promise, row.named
        used = _rate(row.used(self.used_chance))
        if used is not None and row.one_draw:
            used |= {"low": None, "high": None}
        return {
            "setting": row.name,
            "mechanism": None if row.setting is None else row.setting.mechanism,
            "parameters": {} if row.setting is None else dict(row.setting.parameters),
            "guarantee": None if promise is None else promise.guarantee.to_dict(),
            "person_level": None if promise is None else promise.person_level.to_dict(),
            "person_total": _total(row),
            "rank1_bound": None if promise is None else promise.bound(self.people),
            "named": _rate(named),
            "above_bound": self.against_promise(row) or None,
            "attacker": row.attacker,
            "names_nobody": row.nobodys,
            "used": used,
            "one_draw": row.one_draw,
            "same_answer": row.says_the_same(self.used_chance),
            "not_used": row.not_used or None,
            "attributes": {
                name: None
                if told is None
                else dict(zip(("rate", "low", "high"), told, strict=True))
                | {"public": row.shows(name)}
                for name in self.questions.attributes
                for told in [row.told(name)]
            },
            "error_of_span": row.error_of_span,
            "errors": {
                name: {"value": value, "unit": unit} for name, (value, unit) in row.errors.items()
            },
            "runs": len(row.runs),
            "skipped": row.skipped or None,
        }

    def to_dict(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            "schema": "eyelid/comparison/1",
            "people": self.people,
            "simulated": self.simulated,
            "target": self.questions.target,
            "attackers": list(self.questions.attackers),
            "model": self.questions.model,
            "repeats": self.repeats,
            "seed": self.seed,
            "chance": {"named": self.chance, "used": self.used_chance},
            "rows": self.records(),
            "notes": self.notes,
        }

    def to_json(self) -> str:
        """The text of it."""
        return json_text(self.to_dict())

    def picture(self) -> Markup:
        """The privacy–utility plane, as SVG."""
        from eyelid.reporting.comparisons.scene import scene_of
        from eyelid.reporting.plane import plane

        return plane(scene_of(self))

    def save_picture(self, path: Path | str) -> None:
        """Write the plane to a file, SVG or PNG by its ending."""
        from eyelid.reporting.comparisons.scene import scene_of
        from eyelid.reporting.plane import save_plane

        save_plane(scene_of(self), Path(path))


def total_of(promise: Promise) -> str:
    """What a person is promised in total, in a few words.

    Two releases promise the same if this is the same.
    """
    person = promise.person_level
    if not person.holds:
        return "no guarantee"
    if person.kind is Kind.K_ANONYMITY:
        return f"{person.numbers()}, means of groups"
    return (
        f"{person.numbers()} (an aggregate)" if person.trust is Trust.CENTRAL else person.numbers()
    )


def _total(row: Row) -> str | None:
    """A person's total in words; None for what cannot be released so."""
    if row.promise is None:
        return None if row.skipped else "no guarantee"
    return total_of(row.promise)


def _rate(rate: Rate | None) -> dict[str, float | None] | None:
    return None if rate is None else {"rate": rate.rate, "low": rate.low, "high": rate.high}


def rate_of_runs(
    shares: NDArray[np.float64], chance: float, alpha: float = 0.05, *, one_for_all: bool = False
) -> Rate:
    """The mean over people and runs, with limits over both.

    Where everybody's share is the same in every run and no better than guessing, a model gives
    always the same answer: that has no spread, neither over people nor over runs.

    Args:
        shares: one row a run, one column a person.
        chance: what guessing gives.
        alpha: how often the limits may miss the truth.
        one_for_all: whether one draw serves everybody.
    """
    if is_constant(shares, chance):
        rate = float(shares.mean())
        return Rate(rate, rate, rate, chance, shares.shape[1])
    over_people = rate_of_shares(shares.mean(axis=0), chance, alpha=alpha)
    return with_runs(over_people, shares, alpha, one_for_all=one_for_all)


def is_constant(shares: NDArray[np.float64], chance: float) -> bool:
    """Whether a model gives always the same answer, as far as shares can tell."""
    alike = bool((np.ptp(shares, axis=1) < _ALIKE).all())
    return shares.shape[1] > 1 and alike and float(shares.mean()) <= chance + _ALIKE


def with_runs(
    rate: Rate, shares: NDArray[np.float64], alpha: float = 0.05, *, one_for_all: bool = False
) -> Rate:
    """Limits over people, made wider by what all of a run have in common.

    That is the variance of the means of runs. Where noise is drawn for each person it is taken
    without what such noise gives them, which limits over people have already. Both parts are added
    as squares, each with its own quantile (Zou & Donner 2008, limits of a sum): that of runs is
    Student's t, with a degree of freedom less than there are runs.

    Args:
        rate: the mean, with limits over people.
        shares: one row a run, one column a person.
        alpha: how often the limits may miss the truth.
        one_for_all: whether one draw serves everybody.
    """
    from scipy.special import stdtrit

    runs, people = shares.shape
    if runs < 2 or people < 2:
        return rate
    means = shares.mean(axis=1)
    own = shares - means[:, None] - shares.mean(axis=0) + shares.mean()
    noise = float(np.sum(own**2)) / ((runs - 1) * (people - 1))
    own_part = 0.0 if one_for_all else noise / people
    common = max(0.0, float(means.var(ddof=1)) - own_part)
    wide = float(stdtrit(runs - 1, 1 - alpha / 2)) * math.sqrt(common / runs)
    return replace(
        rate,
        low=max(0.0, rate.rate - math.hypot(rate.rate - rate.low, wide)),
        high=min(1.0, rate.rate + math.hypot(rate.high - rate.rate, wide)),
    )

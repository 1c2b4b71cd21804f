"""One way to release, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from eyelid.attacks.outcome import Outcome, mean_errors
from eyelid.attacks.statistics import Rate, rate_of_decisions, rate_of_shares
from eyelid.mechanisms import find
from eyelid.mechanisms.certificate import Promise
from eyelid.privacy.guarantee import Kind, rounded_up
from eyelid.privacy.unit import Trust
from eyelid.reporting.comparisons.setting import Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

RAW = "raw features, as people publish them today"
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
        """People whom the strongest attacker re-identified, over all runs; None without records."""
        return self.named_within(0.05)

    def named_within(self, alpha: float) -> Rate | None:
        """The re-identification rate, its limits missing the truth no more often than ``alpha``."""
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
        """Whether no person's record was released, so that there is none to re-identify."""
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
        if self._whole:
            found = rate_over_runs(self._used[:, 0], chance, alpha)
        else:
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
        return self.setting is not None and self._one_for_all and len(self._used) == 1

    @property
    def _one_for_all(self) -> bool:
        """Whether one draw serves all people: of means, groups, synthetic data, mixed rows.

        Noise in individual records is drawn for each, and its spread is in that over people.
        """
        if self._whole:
            return True
        if self.promise is None:
            return False
        mixed = self.setting is not None and find(self.setting.mechanism).mixes_people
        return mixed or self.promise.guarantee.trust is Trust.CENTRAL

    @property
    def _whole(self) -> bool:
        """Whether use is one figure of all people together: what a study concludes."""
        return any(run.whole for run in self.runs)

    def says_the_same(self, chance: float) -> bool:
        """Whether what learned from it gives always the same answer."""
        if self._whole:
            return False
        return len(self._used) > 0 and not self.one_draw and is_constant(self._used, chance)

    @property
    def not_used(self) -> str:
        """Why use was not tried; empty where it was."""
        return "" if len(self._used) else next((r.not_used for r in self.runs if r.not_used), "")

    def region(self, chance: float) -> tuple[Rate | None, Rate | None]:
        """People re-identified, windows recognised, with limits that hold both true values at once.

        Each may miss its own in half of the 5%, so that they miss either in no more than 5%,
        however the two hang together.
        """
        return self.named_within(0.025), self.used(chance, alpha=0.025)

    def inferred(self, attribute: str) -> tuple[float, float, float] | None:
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
        """The mean error of each feature by name, in its unit, with the unit."""
        return mean_errors(self.runs)


def total_of(promise: Promise) -> str:
    """What a person is promised in total, in a few words."""
    person = promise.person_level
    if not person.holds:
        return "no guarantee"
    if person.kind is Kind.K_ANONYMITY:
        return f"{person.numbers()}, means of groups"
    return (
        f"{person.numbers()} (an aggregate)" if person.trust is Trust.CENTRAL else person.numbers()
    )


def price_of(promise: Promise) -> tuple[str, str]:
    """What two releases have in common that promise a person the same.

    Args:
        promise: of a release.
    """
    epsilon = promise.person_level.epsilon
    return total_of(promise), "" if epsilon is None else rounded_up(epsilon)


def total_in_words(row: Row) -> str | None:
    """A person's total in words; None for what cannot be released so."""
    if row.promise is None:
        return None if row.skipped else "no guarantee"
    return total_of(row.promise)


def rate_to_dict(rate: Rate | None) -> dict[str, float | None] | None:
    """A rate with its limits, as JSON has it."""
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


def rate_over_runs(figures: NDArray[np.float64], chance: float, alpha: float = 0.05) -> Rate:
    """The mean over runs of one figure of everybody, with limits over runs alone (Student's t).

    Args:
        figures: one a run.
        chance: what needs no data.
        alpha: how often the limits may miss the truth.
    """
    from scipy.special import stdtrit

    mean, runs = float(figures.mean()), figures.size
    wide = 0.0
    if runs > 1:
        wide = float(stdtrit(runs - 1, 1 - alpha / 2) * figures.std(ddof=1)) / math.sqrt(runs)
    return Rate(mean, max(0.0, mean - wide), min(1.0, mean + wide), chance, runs)


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

"""What has been spent on the people of a study, in figures and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from eyelid.display import Framed, facts
from eyelid.mechanisms.certificate import other_releases, undone
from eyelid.privacy.accounts import Gap
from eyelid.privacy.composition import parallel, sequential
from eyelid.privacy.guarantee import Guarantee, large_delta, large_deltas
from eyelid.privacy.ledger import Allowance, Balance, Debit
from eyelid.spelling import Table, plural

_RELEASES: dict[str, Any] = {
    **dict.fromkeys(("made_at", "mechanism", "what"), pl.String),
    "people": pl.Int64,
    "one_person": pl.String,
    "holds": pl.Boolean,
}
_MISSING = {
    Gap.ELSEWHERE: "another ledger has counted these people, too",
    Gap.LOST: "the ledger that counted these people was lost, and this one was begun after it",
    Gap.RENAMED: "some people have left the study and others have come, who may be the same",
    Gap.SAME_IDS: "another study has the same ids, and may have the same people",
}


@dataclass(frozen=True, repr=False)
class Budget(Framed):
    """The state of a ledger for one study and everything derived from it.

    Attributes:
        debits: every release, oldest first.
        balances: groups of people who were in the same releases, the worst off first.
        limit: the most that may be spent on a person, if set.
        counted: whether there is a ledger at all.
        gaps: why releases of these people are, or may be, missing from it; without any it is
            complete, and what was spent is a total.
        people: how many the study has.
        notes: what their owner should know or decide.
    """

    debits: tuple[Debit, ...]
    balances: tuple[Balance, ...]
    limit: Allowance | None
    counted: bool = True
    gaps: tuple[Gap, ...] = ()
    people: int = 0
    notes: tuple[str, ...] = ()

    @property
    def frame(self) -> pl.DataFrame:
        """One row a release, the oldest first."""
        return pl.DataFrame(
            [
                (d.made_at, d.mechanism, d.what, d.people, d.guarantee.numbers(), d.guarantee.holds)
                for d in self.debits
            ],
            schema=_RELEASES,
            orient="row",
        )

    def in_short(self) -> Table:
        """What was spent, in a sentence."""
        return facts(
            {"people": self.people or None, "releases": len(self.debits), "in all": self.sentence},
            "Budget",
        )

    @property
    def elsewhere(self) -> bool:
        """Whether releases of these people are, or may be, missing from the ledger."""
        return bool(self.gaps)

    @property
    def sound(self) -> Guarantee | None:
        """What the counted releases that have an ε come to, true of everybody; None without any."""
        sound = [b.sound for b in self.balances if b.sound is not None]
        return parallel(sound) if sound else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every δ that is stated here leaves unprotected, where it is at least 1/N."""
        of_limit = "" if self.limit is None else large_delta(self.limit.delta, self.people)
        lines = [*large_deltas(self.people, self.sound), of_limit]
        return tuple(dict.fromkeys(warning for warning in lines if warning))

    @property
    def unbounded(self) -> tuple[str, ...]:
        """Why the true total has no bound; empty when it has one."""
        return tuple(dict.fromkeys(r for b in self.balances for r in b.total.reasons))

    @property
    def undone(self) -> dict[int, str]:
        """Why releases keep their promise only alone, and are not or may not be: by id."""
        reasons = {
            d.id: undone(d.guarantee, other_releases(len(balance.debits) - 1, self.elsewhere))
            for balance in self.balances
            for d in balance.debits
        }
        return {number: why for number, why in reasons.items() if why}

    @property
    def exceeded(self) -> bool:
        """Whether any person is above the limit already: nothing more is released of them."""
        limit = self.limit
        return limit is not None and not all(limit.covers(b.at(limit.delta)) for b in self.balances)

    @property
    def others(self) -> str:
        """That other releases of these people exist, or may; empty where none is known of."""
        return other_releases(len(self.debits), self.elsewhere)

    def after(self, alone: Guarantee) -> Guarantee | None:
        """What one more release would come to, with everything that was counted of these people.

        Args:
            alone: what the release promises a person.

        Returns:
            the total; None where the ledger does not know, or may not know, all releases.
        """
        return None if self.gaps else self._with(alone)

    def _with(self, alone: Guarantee, delta: float | None = None) -> Guarantee:
        """What one more release and those that are counted come to; ε at a δ, if one is given."""
        # People in the ledger have spent more than those who are not.
        histories = [balance.debits for balance in self.balances] or [()]
        return parallel(
            [sequential([*(d.guarantee for d in history), alone], delta) for history in histories]
        )

    def refusal(self, alone: Guarantee) -> str:
        """Why the ledger's limit would refuse one more release; empty where it would not."""
        limit = self.limit
        if limit is None:
            return ""
        # A limit compares at its own δ, at which nothing else is told.
        total = self._with(alone, limit.delta)
        if limit.covers(total):
            return ""
        would = total.numbers() if total.holds else f"no bound ({total.reasons[0]})"
        warning = large_delta(limit.delta, self.people)
        return (
            f"The ledger would refuse this release: it would bring a person to {would}, and the "
            f"limit is ε = {limit.epsilon:g}, δ = {limit.delta:g}."
            f"{f' Not protected is {warning}.' if warning else ''}"
        )

    def quoted(self, alone: Guarantee) -> dict[str, Any] | None:
        """What the ledger says to one more release, as ``eyelid cost --json`` prints it."""
        if not self.counted:
            return None
        total = self.after(alone)
        return {
            "releases": len(self.debits),
            "total": None if total is None else total.to_dict(),
            "limit": asdict(self.limit) if self.limit else None,
            "refused": bool(self.refusal(alone)),
        }

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid budget --json`` prints it."""
        complete = not self.gaps
        missing = [_MISSING[gap] for gap in self.gaps]
        # What is counted may be above a limit; that all of it is not, only a complete ledger knows.
        exceeded = self.exceeded or (False if complete else None)
        return {
            "counted": self.counted,
            "complete": complete,
            "releases": len(self.debits),
            "spent": _spent(self.sound, complete)
            | {
                "bounded": complete and not self.unbounded,
                "reasons": [*self.unbounded, *missing],
            },
            "limit": asdict(self.limit) | {"exceeded": exceeded} if self.limit else None,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "entries": [
                {
                    "made_at": d.made_at,
                    "mechanism": d.mechanism,
                    "what": d.what,
                    "people": d.people,
                    "reasons": list(d.guarantee.reasons),
                    "undone": d.id in self.undone,
                }
                | d.guarantee.summary()
                | {"k": d.guarantee.k, "gamma": d.guarantee.gamma}
                for d in self.debits
            ],
            "groups": [
                {
                    "people": b.people,
                    "releases": len(b.debits),
                    "bounded": complete and b.total.holds,
                }
                | _spent(b.sound, complete)
                for b in self.balances
            ],
        }

    @property
    def sentence(self) -> str:
        """The state in words."""
        if not self.counted:
            return "Nothing has been counted: this folder has no ledger yet."
        spent = self.sound.numbers() if self.sound else "nothing"
        text = f"Spent on one person, at most: {spent}."
        if self.gaps:
            why = "; ".join(_MISSING[gap] for gap in self.gaps)
            text = (
                f"There is no total: {why}. {self._counted_here}, which does not bound what was "
                "spent on a person."
            )
        elif self.unbounded:
            text = (
                f"Spent on one person by the releases with an ε that holds, at most: {spent}. In "
                f"all it is unbounded: {'; '.join(self.unbounded)}."
            )
        for lost in sorted({why.partition(":")[0] for why in self.undone.values()}):
            text = (
                f"{lost[0].upper()}{lost[1:]}: what was promised is true of a single release only, "
                f"and these people are in more, or may be. {text}"
            )
        text += self._of_limit
        return f"{text} Not protected is {'; '.join(self.warnings)}." if self.warnings else text

    @property
    def _counted_here(self) -> str:
        """What the releases in an incomplete ledger come to."""
        if not self.debits:
            return "Nothing is counted here"
        spent = self.sound.numbers() if self.sound else "nothing that has an ε"
        return f"What is counted here is {spent} in {plural(len(self.debits), 'release')}"

    @property
    def _of_limit(self) -> str:
        if self.limit is None:
            return " No limit is set: releases are counted, never refused."
        limit = f"ε = {self.limit.epsilon:g}, δ = {self.limit.delta:g} per person"
        if self.exceeded:
            # Without a bound in all, the number that was told may well be below the limit.
            said = (
                f"The limit of {limit} cannot be kept any more"
                if self.unbounded
                else f"That is already above the limit of {limit}"
            )
            return f" {said}: any further release with these people in it is refused."
        only = ", which is kept for what is counted here and nothing else" if self.gaps else ""
        return f" Limit: {limit}{only}."


def _spent(guarantee: Guarantee | None, complete: bool) -> dict[str, Any]:
    """The numbers of a total; a sum over some of the releases is none."""
    if not complete:
        return {"epsilon": None, "delta": None}
    if guarantee is None:
        return {"epsilon": 0.0, "delta": 0.0}
    return {"epsilon": guarantee.to_dict()["epsilon"], "delta": guarantee.delta or 0.0}


UNCOUNTED = Budget((), (), None, counted=False)
"""The budget of people whom no ledger has counted."""

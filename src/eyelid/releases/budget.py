"""What has been spent on the people of a study, and what one more release would come to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.origin import (
    People,
    begun_anew,
    counted_in,
    join_people,
    origin_of,
    origin_so_far,
    set_people_apart,
)
from eyelid.io.reading import read
from eyelid.io.same_people import in_doubt
from eyelid.mechanisms.certificate import other_releases, undone
from eyelid.mechanisms.distribution import default_delta
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.privacy.accounts import Gap, Joined
from eyelid.privacy.composition import parallel, sequential
from eyelid.privacy.guarantee import Guarantee, large_delta
from eyelid.privacy.ledger import Allowance, Balance, Debit, Ledger
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.accounting import bounding, large_deltas, open_ledger
from eyelid.spelling import plural

_MISSING = {
    Gap.ELSEWHERE: "another ledger has counted these people, too",
    Gap.LOST: "the ledger that counted these people was lost, and this one was begun after it",
    Gap.RENAMED: "some people have left the study and others have come, who may be the same",
    Gap.SAME_IDS: "another study has the same ids, and may have the same people",
}


@dataclass(frozen=True)
class Budget:
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
        told = [*large_deltas(self.people, self.sound), of_limit]
        return tuple(dict.fromkeys(warning for warning in told if warning))

    @property
    def unbounded(self) -> tuple[str, ...]:
        """Why the true total has no bound; empty when it has one."""
        return tuple(dict.fromkeys(r for b in self.balances for r in b.total.reasons))

    @property
    def undone(self) -> dict[int, str]:
        """Of releases that keep their promise only alone, and are not or may not be: why, by id."""
        told = {
            d.id: undone(d.guarantee, other_releases(len(balance.debits) - 1, self.elsewhere))
            for balance in self.balances
            for d in balance.debits
        }
        return {number: why for number, why in told.items() if why}

    @property
    def exceeded(self) -> bool:
        """Whether somebody has come above the limit already: nothing more is released of them."""
        limit = self.limit
        return limit is not None and not all(limit.covers(b.at(limit.delta)) for b in self.balances)

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


def budget(
    source: Study | FeatureTable | Path | str,
    *,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    no_limit: bool = False,
    join: People | None = None,
    apart: People | None = None,
    lost: bool = False,
    ledger: Path | str | None = None,
    map: Map = None,
) -> Budget:
    """What has been spent on these people; sets the limit when one is given.

    Args:
        source: the study, or anything derived from it.
        limit_epsilon: refuse releases that would bring a person above this ε.
        limit_delta: the δ that goes with it; min(N^−1.5, 1e-6) by default.
        no_limit: lift the limit.
        join: another study of the same people, or its ledger: both are counted together from now
            on, with all that was released. The same id is the same person.
        apart: another study with the same ids, or its ledger, whose people are others.
        lost: go on after the study's ledger was lost for good, in a new one that knows that
            releases are missing, and gives no total.
        ledger: where it is counted; by default the file beside the original study.
        map: what you say about the columns of recordings, as for `eyelid.read`.
    """
    study = read(source, map) if isinstance(source, str | Path) else source
    limits = limit_epsilon is not None or limit_delta is not None or no_limit
    changes = limits or join is not None or apart is not None
    people, count = study.people["person"].to_list(), study.data["person"].n_unique()
    notes: list[str] = []
    path = Path(source) if isinstance(source, str | Path) else None
    if study.released:
        raise InputError("a released dataset has no budget: name the original study")
    origin = study.origin
    if lost:
        origin = begun_anew(origin, ledger, people, path)
    elif path is not None and isinstance(study, Study):
        # Asking leaves no trace.
        origin = origin_so_far(study, path, ledger)
        if changes:
            origin = origin_of(study, path, ledger)
    elif ledger is not None:
        origin = counted_in(origin, ledger, people).origin
    if origin is None and not changes:
        return Budget((), (), None, counted=False)
    book = open_ledger(origin)
    if book is None:
        raise InputError("this study is not in a folder and has no ledger: give --ledger FILE")
    if join is not None and origin is not None:
        notes.append(_joined(join_people(origin, join, people)))
        book = open_ledger(origin) or book
    if apart is not None and origin is not None:
        set_people_apart(origin, apart, people)
    found, name = book
    if no_limit and (limit_epsilon is not None or limit_delta is not None):
        raise InputError("--no-limit lifts the limit: leave out --limit-epsilon and --limit-delta")
    if no_limit:
        found.lift_allowance(name)
    elif limit_epsilon is not None:
        delta = default_delta(count) if limit_delta is None else limit_delta
        found.set_allowance(name, limit_epsilon, delta)
    elif limit_delta is not None:
        raise InputError("--limit-delta goes with --limit-epsilon: give both")
    return Budget(
        debits=tuple(found.debits(name)),
        balances=tuple(found.balances(name)),
        limit=found.allowance(name),
        gaps=found.gaps(name),
        people=count,
        notes=(*notes, *_remarks(found, name)),
    )


def _joined(found: Joined) -> str:
    """What became of two studies that are counted together now."""
    told = f"counted together from now on: {plural(found.shared, 'id')} of both are the same people"
    alone = [
        f"{plural(count, 'id is', 'ids are')} in {where} alone"
        for count, where in ((found.here, "this study"), (found.there, "the other"))
        if count
    ]
    return "; ".join([told, *alone])


def _remarks(ledger: Ledger, origin: str) -> tuple[str, ...]:
    """What the owner of a ledger should decide or mend."""
    told = [*(in_doubt(doubt) for doubt in ledger.doubts(origin)), ledger.exposed]
    return tuple(remark for remark in told if remark)


def spent_on(study: Study | FeatureTable, path: Path | None) -> Budget:
    """What has been spent on just the people of a study; looking leaves no trace.

    Args:
        study: as read.
        path: where it was read; None for what only Python knows.
    """
    known = path is not None and isinstance(study, Study)
    book = open_ledger(origin_so_far(study, path) if known else study.origin)  # type: ignore[arg-type]
    if book is None:
        return Budget((), (), None, counted=False)
    ledger, name = book
    balances = tuple(ledger.balances(name, people=study.data["person"].unique().to_list()))
    debits = {d.id: d for balance in balances for d in balance.debits}
    return Budget(
        debits=tuple(debits[number] for number in sorted(debits)),
        balances=balances,
        limit=ledger.allowance(name),
        gaps=ledger.gaps(name),
        people=study.data["person"].n_unique(),
    )


def after(before: Budget | None, alone: Guarantee) -> Guarantee | None:
    """What one more release would come to, with everything that was counted of these people.

    Args:
        before: what was counted; None where nobody counts.
        alone: the release.

    Returns:
        the total; None where the ledger does not know, or may not know, all releases.
    """
    return None if before is not None and before.gaps else _counted_with(before, alone)


def _counted_with(before: Budget | None, alone: Guarantee, delta: float | None = None) -> Guarantee:
    """What one more release and those that are counted come to; ε at a δ, if one is given."""
    # Whoever is in the ledger has spent more than whoever is not.
    histories = [b.debits for b in before.balances] if before is not None else []
    return parallel(
        [sequential([*(d.guarantee for d in h), alone], delta) for h in histories or [()]]
    )


def refusal(before: Budget | None, alone: Guarantee) -> str:
    """Why the ledger's limit would refuse a release; empty where it would not."""
    limit = None if before is None else before.limit
    if before is None or limit is None:
        return ""
    # A limit compares at its own δ, at which nothing else is told.
    total = _counted_with(before, alone, limit.delta)
    if limit.covers(total):
        return ""
    would = total.numbers() if total.holds else f"no bound ({total.reasons[0]})"
    warning = large_delta(limit.delta, before.people)
    return (
        f"The ledger would refuse this release: it would bring a person to {would}, and the "
        f"limit is ε = {limit.epsilon:g}, δ = {limit.delta:g}."
        f"{f' Not protected is {warning}.' if warning else ''}"
    )


def quoted(before: Budget | None, alone: Guarantee) -> dict[str, Any] | None:
    """What the ledger knows of these people, and what it would say to one more release."""
    if before is None or not before.counted:
        return None
    total = after(before, alone)
    return {
        "releases": len(before.debits),
        "total": None if total is None else total.to_dict(),
        "limit": asdict(before.limit) if before.limit else None,
        "refused": bool(refusal(before, alone)),
    }


class Counted(ABC):
    """A price beside what was spent before.

    Attributes:
        facts: the public facts.
        alike: whether people cannot be told apart by what is not protected.
        before: what the ledger has counted of these people; None without a study.
    """

    facts: PublicFacts
    alike: bool
    before: Budget | None

    @property
    @abstractmethod
    def person_level(self) -> Guarantee:
        """For a person, of this release alone."""

    @property
    def others(self) -> str:
        """That other releases of these people exist, or may; empty where none is known of."""
        before = self.before
        return "" if before is None else other_releases(len(before.debits), before.elsewhere)

    @property
    def total(self) -> Guarantee | None:
        """What it would come to with all other releases; None where these may not all be known."""
        return after(self.before, self.person_level)

    @property
    def in_all(self) -> str:
        """What it would come to with all other releases, in a few words."""
        total = self.total
        if total is None:
            return f"not known ({self.others})"
        return total.numbers() if total.holds else f"no bound ({self.others})"

    @property
    def refused(self) -> str:
        """Why the ledger's limit would refuse the release; empty where it would not."""
        return refusal(self.before, self.person_level)

    @property
    def warnings(self) -> list[str]:
        """What every δ that is stated leaves unprotected, where it is at least 1/N."""
        return large_deltas(self.facts.people, self.person_level, self.total)

    @property
    def rank1_bound(self) -> dict[str, float | None]:
        """How often people can be named, at most, with everything that is counted."""
        releases = 1 if self.before is None else 1 + len(self.before.debits)
        total = self.total
        known = bounding(self.person_level, total, releases)
        # What else was released may tell people apart where it is not known.
        alike = self.alike and (self.before is None or not self.before.gaps)
        return rank1_bounds(known if alike else known.broken("told apart"), self.facts.people)

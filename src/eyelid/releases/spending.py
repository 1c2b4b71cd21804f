"""What has been spent on the people of a study, and the most that may be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.column_map import Map
from eyelid.io.origin import counted_in, origin_of, origin_so_far
from eyelid.io.reading import read
from eyelid.mechanisms.approximate import default_delta
from eyelid.privacy.composition import parallel, sequential
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.ledger import Allowance, Balance, Debit
from eyelid.releases.certificate import other_releases
from eyelid.releases.certifying import undone
from eyelid.releases.counting import open_ledger


@dataclass(frozen=True)
class Budget:
    """The state of a ledger for one study and everything derived from it.

    Attributes:
        debits: every release, oldest first.
        balances: groups of people who were in the same releases, the worst off first.
        limit: the most that may be spent on a person, if set.
        counted: whether there is a ledger at all.
        elsewhere: whether another ledger may have counted more of these people.
    """

    debits: tuple[Debit, ...]
    balances: tuple[Balance, ...]
    limit: Allowance | None
    counted: bool = True
    elsewhere: bool = False

    @property
    def sound(self) -> Guarantee | None:
        """What the releases that have an ε have cost, true of everybody; None without any."""
        sound = [b.sound for b in self.balances if b.sound is not None]
        return parallel(sound) if sound else None

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
        return limit is not None and not all(limit.covers(b.total) for b in self.balances)

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid budget --json`` prints it."""
        return {
            "counted": self.counted,
            "releases": len(self.debits),
            "spent": _spent(self.sound)
            | {"bounded": not self.unbounded, "reasons": list(self.unbounded)},
            "limit": asdict(self.limit) | {"exceeded": self.exceeded} if self.limit else None,
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
                {"people": b.people, "releases": len(b.debits), "bounded": b.total.holds}
                | _spent(b.sound)
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
        if self.unbounded:
            text = (
                f"Spent on one person by the releases with an ε that holds, at most: {spent}. In "
                f"all it is unbounded: {'; '.join(self.unbounded)}."
            )
        for lost in sorted({why.partition(":")[0] for why in self.undone.values()}):
            text = (
                f"{lost[0].upper()}{lost[1:]}: what was promised is true of a single release only, "
                f"and these people are in more, or may be. {text}"
            )
        if self.elsewhere:
            text += " Another ledger may have counted more of these people."
        if self.limit is None:
            return f"{text} No limit is set: releases are counted, never refused."
        limit = f"ε = {self.limit.epsilon:g}, δ = {self.limit.delta:g} per person"
        if self.exceeded:
            return (
                f"{text} That is already above the limit of {limit}: any further release with "
                "these people in it is refused."
            )
        return f"{text} Limit: {limit}."


def _spent(guarantee: Guarantee | None) -> dict[str, Any]:
    if guarantee is None:
        return {"epsilon": 0.0, "delta": 0.0}
    return {"epsilon": guarantee.to_dict()["epsilon"], "delta": guarantee.delta or 0.0}


def budget(
    source: Study | FeatureTable | Path | str,
    *,
    limit_epsilon: float | None = None,
    limit_delta: float | None = None,
    no_limit: bool = False,
    ledger: Path | str | None = None,
    map: Map = None,
) -> Budget:
    """What has been spent on these people; sets the limit when one is given.

    Args:
        source: the study, or anything derived from it.
        limit_epsilon: refuse releases that would bring a person above this ε.
        limit_delta: the δ that goes with it; min(N^−1.5, 1e-6) by default.
        no_limit: lift the limit.
        ledger: where it is counted; by default the file beside the original study.
        map: what you say about the columns of recordings, as for `eyelid.read`.
    """
    study = read(source, map) if isinstance(source, str | Path) else source
    changes = limit_epsilon is not None or limit_delta is not None or no_limit
    path = Path(source) if isinstance(source, str | Path) else None
    if study.released:
        raise InputError("a released dataset has no budget: name the original study")
    origin = study.origin
    if path is not None and isinstance(study, Study):
        # Asking leaves no trace.
        origin = origin_so_far(study, path, ledger)
        if changes:
            origin = origin_of(study, path, ledger)
    elif ledger is not None:
        origin = counted_in(origin, ledger)
    if origin is None and not changes:
        return Budget((), (), None, counted=False)
    book = open_ledger(origin)
    if book is None:
        raise InputError("this study is not in a folder and has no ledger: give --ledger FILE")
    found, name = book
    if no_limit and (limit_epsilon is not None or limit_delta is not None):
        raise InputError("--no-limit lifts the limit: leave out --limit-epsilon and --limit-delta")
    if no_limit:
        found.lift_allowance(name)
    elif limit_epsilon is not None:
        people = study.data["person"].n_unique()
        delta = default_delta(people) if limit_delta is None else limit_delta
        found.set_allowance(name, limit_epsilon, delta)
    elif limit_delta is not None:
        raise InputError("--limit-delta goes with --limit-epsilon: give both")
    return Budget(
        debits=tuple(found.debits(name)),
        balances=tuple(found.balances(name)),
        limit=found.allowance(name),
        elsewhere=found.is_incomplete(name),
    )


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
        elsewhere=ledger.is_incomplete(name),
    )


def after(before: Budget | None, alone: Guarantee) -> Guarantee:
    """What one more release would come to, with everything that was counted of these people."""
    limit = None if before is None else before.limit
    delta = None if limit is None else limit.delta
    # Whoever is in the ledger has spent more than whoever is not.
    histories = [b.debits for b in before.balances] if before is not None else []
    return parallel(
        [sequential([*(d.guarantee for d in h), alone], delta) for h in histories or [()]]
    )


def refusal(before: Budget | None, total: Guarantee) -> str:
    """Why the ledger's limit would refuse a release; empty where it would not."""
    limit = None if before is None else before.limit
    if limit is None or limit.covers(total):
        return ""
    would = total.numbers() if total.holds else f"no bound ({total.reasons[0]})"
    return (
        f"The ledger would refuse this release: it would bring a person to {would}, and the "
        f"limit is ε = {limit.epsilon:g}, δ = {limit.delta:g}."
    )


def quoted(before: Budget | None, total: Guarantee) -> dict[str, Any] | None:
    """What the ledger knows of these people, and what it would say to one more release."""
    if before is None or not before.counted:
        return None
    return {
        "releases": len(before.debits),
        "total": total.to_dict(),
        "limit": asdict(before.limit) if before.limit else None,
        "refused": bool(refusal(before, total)),
    }

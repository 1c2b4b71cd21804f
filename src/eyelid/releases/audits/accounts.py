"""What the ledger knows of a release, and whether the data are those of its certificate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eyelid.errors import InputError
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import shows
from eyelid.mechanisms.certificate import Certificate
from eyelid.privacy.composition import parallel
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.ledger import Debit, Ledger
from eyelid.releases.accounting import debit_of, listed_as


@dataclass(frozen=True)
class Account:
    """What the ledger knows of a release.

    Attributes:
        debit: what it counted for it; None where that is not known.
        total: what has been spent on these people so far; None where that is not known.
        releases: how many releases the most released of them were in; None where not known.
        by_then: the same when this release was counted, itself included.
        history: what had been counted for them then; None where that is not known.
        since: what was counted for them later.
        unknown: what could not be asked, in words.
    """

    debit: Debit | None = None
    total: Guarantee | None = None
    releases: int | None = None
    by_then: int = 1
    history: list[Debit] | None = None
    since: tuple[Debit, ...] = ()
    unknown: tuple[str, ...] = ()

    def may_list(self, listed: Sequence[Mapping[str, Any]]) -> bool:
        """Whether a certificate may list these releases: all by then, and perhaps later ones.

        One that was killed after it was counted, and made later, lists what came in between.

        Args:
            listed: the releases, as a certificate has them.
        """
        if self.history is None:
            return True
        left: list[Mapping[str, Any]] = list(listed)
        for debit in self.history:
            stated = listed_as(debit)
            if stated not in left:
                return False
            left.remove(stated)
        later: list[Mapping[str, Any]] = [listed_as(debit) for debit in self.since]
        return all(left.count(each) <= later.count(each) for each in left)


def counted(
    certificate: Certificate,
    origin: Origin | None,
    people: Sequence[str],
    *contents: Callable[[], bytes],
) -> Account:
    """What the ledger counted for a release, and for its people in all.

    Args:
        certificate: of the release.
        origin: of the original.
        people: whose data were released.
        contents: the digest of what was released from, and as earlier versions made it.
    """
    if certificate.input_sha256 is None:
        return Account(
            unknown=("the certificate names no ledger: nothing ties it to the original",)
        )
    if origin is None or origin.ledger is None or not origin.ledger.exists():
        return Account(
            unknown=("the ledger that counted the release is not at hand: it was not asked",)
        )
    book, debit = Ledger.counting(origin.ledger, origin.id), None
    if book.knows(origin.id):
        debit = debit_of(certificate.input_sha256, contents, book, origin.id)
    if debit is None:
        raise InputError(
            f"{origin.ledger.name} has counted no such release of these data: give the original as "
            "it was when it was released, or the ledger that counted it with `ledger=…`"
        )
    balances = book.balances(origin.id, people=people)
    total = parallel([balance.total for balance in balances])
    if book.is_incomplete(origin.id):
        # A sum over some of the releases is no total.
        total = replace(total, kind=Kind.NONE, epsilon=None, delta=None, mu=None)
        total = total.broken("the ledger does not know all releases of these people, or may not")
    known = book.known_at(debit.id)
    past = [[one for one in balance.debits if one.id in known] for balance in balances]
    each = {one.id: one for debits in past for one in debits}
    now = {one.id: one for balance in balances for one in balance.debits}
    return Account(
        debit=debit,
        total=total,
        releases=max((len(balance.debits) for balance in balances), default=0),
        by_then=max((len(debits) for debits in past), default=0) or 1,
        history=[each[number] for number in sorted(each)],
        since=tuple(now[number] for number in sorted(now) if number not in each),
    )


def check_shown(certificate: Certificate, released: FeatureTable | Study) -> None:
    """Refuse released data that are not those of the certificate."""
    if certificate.output_sha256 is None or not shows(released, certificate.output_sha256):
        raise InputError(
            "the released data are not those of the certificate (their hash differs): someone "
            "changed or swapped them; release again"
        )

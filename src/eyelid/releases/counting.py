"""Which ledger counts a release."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.origin import (
    counted_in,
    counting_ledger,
    enter,
    is_chosen,
    looked_around,
    own_origin,
    refuse_to_pass_parts,
)
from eyelid.io.same_people import Entry
from eyelid.privacy.ledger import Ledger


def counting_origin(
    source: Study | FeatureTable, path: Path | None, ledger: Path | str | None
) -> Origin | None:
    """Who these people are to the ledger that will count a release, as `counting_entry` says."""
    return counting_entry(source, path, ledger)[0]


def counting_entry(
    source: Study | FeatureTable, path: Path | None, ledger: Path | str | None
) -> tuple[Origin | None, tuple[str, ...]]:
    """Who these people are to the ledger that will count the release, and what to know of that.

    Nobody counts, and the origin is None, where it has none and no ledger is named.

    Args:
        source: what is released from.
        path: where it was read; None for what only Python knows.
        ledger: count in this file, which must know people who have an origin; refused while the
            study's own has a limit, as is a folder while a part of it has one.
    """
    if path is None or not isinstance(source, Study):
        refuse_to_dodge(source.origin, ledger)
        people = source.people["person"].to_list()
        if ledger is not None:
            entry = counted_in(source.origin, ledger, people)
        elif source.origin is not None:
            entry = looked_around(Entry(source.origin), people)
        else:
            return None, ()
    else:
        refuse_to_dodge(own_origin(source, path, ledger), ledger)
        refuse_to_pass_parts(source, path, ledger)
        entry = enter(source, path, ledger)
    return entry.origin, entry.notes


def open_ledger(origin: Origin | None) -> tuple[Ledger, str] | None:
    """The ledger that counts these people, and the name it knows them by; None without a study."""
    if origin is None:
        return None
    if origin.ledger is None:
        raise InputError(
            "these data name their origin and not its ledger: say where it is with --ledger FILE"
        )
    return Ledger.counting(origin.ledger, origin.id), origin.id


def refuse_to_dodge(own: Origin | None, chosen: Path | str | None) -> None:
    """Refuse another ledger while the study's own has a limit, which the other would not keep."""
    book = counting_ledger(own)
    if own is None or book is None or chosen is None or is_chosen(own, chosen):
        return
    limit = book.allowance(own.id)
    if limit is not None:
        raise Refused(
            f"the study's own ledger {book.path.name} has a limit of ε = {limit.epsilon:g}, which "
            "another --ledger would not keep: count there, or lift the limit with 'eyelid budget "
            "IN --no-limit'"
        )

"""Which ledger counts a release."""

from __future__ import annotations

from pathlib import Path

from eyelid.errors import InputError, Refused
from eyelid.gaze.study import Origin, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.origin import counted_in, origin_of, origin_so_far
from eyelid.privacy.ledger import Ledger


def counting_origin(
    source: Study | FeatureTable, path: Path | None, ledger: Path | str | None
) -> Origin | None:
    """Who these people are to the ledger that will count the release; None where nobody counts.

    Args:
        source: what is released from.
        path: where it was read; None for what only Python knows.
        ledger: count in this file; refused while the study's own has a limit.
    """
    if path is None or not isinstance(source, Study):
        refuse_to_dodge(source.origin, ledger)
        return source.origin if ledger is None else counted_in(source.origin, ledger)
    refuse_to_dodge(origin_so_far(source, path), ledger)
    return origin_of(source, path, ledger)


def open_ledger(origin: Origin | None) -> tuple[Ledger, str] | None:
    """The ledger that counts these people, and the name it knows them by; None without a study."""
    if origin is None:
        return None
    if origin.ledger is None:
        raise InputError(
            "these data name their origin and not its ledger: say where it is with --ledger FILE"
        )
    return Ledger(origin.ledger), origin.id


def refuse_to_dodge(own: Origin | None, chosen: Path | str | None) -> None:
    """Refuse another ledger while the study's own has a limit, which the other would not keep."""
    if own is None or own.ledger is None or chosen is None or not own.ledger.exists():
        return
    limit = Ledger(own.ledger).allowance(own.id)
    if limit is not None and Path(chosen).resolve() != own.ledger:
        raise Refused(
            f"the study's own ledger {own.ledger.name} has a limit of ε = {limit.epsilon:g}, which "
            "another --ledger would not keep: count there, or lift the limit with 'eyelid budget "
            "IN --no-limit'"
        )

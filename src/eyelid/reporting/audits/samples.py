"""What an audit says about samples: who was left out, and what stands beside gaze."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from eyelid.attacks.identification import Finding, strongest
from eyelid.attacks.streams.features import MOVED
from eyelid.reporting.sentences import percent

if TYPE_CHECKING:
    from eyelid.attacks.target import TableTarget
    from eyelid.reporting.audits.results import TableAudit


def about_samples(audit: TableAudit) -> Iterator[str]:
    """What of samples was not attacked, and what re-identifies people beside gaze.

    Args:
        audit: of records.
    """
    yield from (f"{reason[0].upper()}{reason[1:]}." for reason in audit.not_sampled)
    yield from _beside_protected_gaze(audit.target)
    if audit.without_gaze:
        yield _of_what_is_no_gaze(audit.without_gaze)


def _beside_protected_gaze(target: TableTarget) -> list[str]:
    """That head or hand are released as they were recorded, where they stand beside gaze."""
    moving = [name for part in MOVED for name in target.released_movement(part)]
    if not moving:
        return []
    return [
        f"The release has {', '.join(moving)} beside gaze, as recorded: how head and hands move "
        "re-identifies people by itself. Leave these columns out."
    ]


def _of_what_is_no_gaze(found: Sequence[Finding]) -> str:
    """Who is re-identified by what filters release as it is."""
    names = dict.fromkeys(finding.protocol for finding in found)
    best = [strongest([f for f in found if f.protocol == name]) for name in names]
    rates = " and ".join(f"{percent(f.rate.rate)} by {f.protocol}" for f in best)
    return (
        f"Without any gaze attackers re-identify {rates} (guessing "
        f"{percent(best[0].rate.chance)}); no filter hides these."
    )

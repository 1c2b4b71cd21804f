"""What an audit found, in words for somebody who reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyelid.audits.identification import Finding, strongest
from eyelid.privacy.guarantee import rounded_up

if TYPE_CHECKING:
    from eyelid.releases.audit import Audit


def verdict(audit: Audit) -> str:
    """The outcome in a sentence, and whatever keeps it from meaning what it seems to."""
    sentence = _of_original(audit) if audit.subject.released is None else _of_release(audit)
    return " ".join([sentence, *_warnings(audit)])


def _of_original(audit: Audit) -> str:
    worst = strongest(audit.identification)
    known = "another recording" if audit.across != "halves" else "another half of the recording"
    if worst.rate.low > worst.rate.chance:
        return (
            f"Whoever knows {known} of theirs names {_share(worst)}: treat these data as personal "
            "data."
        )
    return (
        f"The attackers tried here, who know {known} of theirs, name {_share(worst)}, which may be "
        "chance; that does not make the data anonymous."
    )


def _of_release(audit: Audit) -> str:
    worst, raw = strongest(audit.honest), strongest(audit.positive)
    measured = f"the strongest of {len(audit.honest)} honest attacks names {_share(worst)}"
    before = f"raw data: {raw.rate.rate:.0%}"
    certificate = audit.subject.certificate
    if audit.refuted:
        return f"The certificate is refuted: {audit.refuted[0]}. Do not share this release."
    if certificate is None:
        return f"Nothing is promised about this release; {measured} ({before})."
    if not certificate.person_level.holds:
        reasons = certificate.person_level.reasons or certificate.guarantee.reasons
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}; {measured} ({before})."
    if worst.bound is None:
        allowed = "no bound is known for that attack"
    elif worst.bound > 0.995:
        allowed = "at this size the guarantee rules out almost nothing"
    else:
        allowed = f"the guarantee allows at most {rounded_up(100 * worst.bound, 3)} % on average"
    return f"Not refuted: {measured} ({before}), and {allowed}."


def _warnings(audit: Audit) -> Sequence[str]:
    found = []
    raw, null = strongest(audit.positive), strongest(audit.null)
    if audit.subject.released is not None and raw.rate.low <= raw.rate.chance:
        found.append(
            "Even raw data are not recognised by these attackers, so that they find nothing in the "
            "release shows nothing."
        )
    if audit.alarmed:
        found.append(
            f"People who are all alike are named {null.rate.rate:.0%} of the time: something else "
            "than people is recognised, and no rate here can be trusted."
        )
    return found


def _share(finding: Finding) -> str:
    """A rate with all that belongs to it."""
    rate = finding.rate
    return (
        f"{rate.rate:.0%} of {rate.people} people (95 % limits {rate.low:.0%}–{rate.high:.0%}, "
        f"guessing {rate.chance:.0%})"
    )

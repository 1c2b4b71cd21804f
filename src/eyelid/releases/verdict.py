"""What an audit found, in words for somebody who reads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyelid.audits.identification import Finding, strongest
from eyelid.audits.protocols import SAME_RECORDINGS
from eyelid.privacy.guarantee import rounded_up
from eyelid.releases.words import SAYS_NOTHING, formal_only, limits, percent

if TYPE_CHECKING:
    from eyelid.releases.audit import Audit


def verdict(audit: Audit) -> str:
    """The outcome in a sentence, and whatever keeps it from meaning what it seems to."""
    sentence = _of_original(audit) if audit.subject.released is None else _of_release(audit)
    return " ".join([sentence, *_warnings(audit)])


def _of_original(audit: Audit) -> str:
    worst = strongest(audit.identification)
    known = "another recording" if audit.across != "halves" else "another half of the recording"
    if audit.recognises:
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
    who = " (it has the very recordings)" if worst.protocol == SAME_RECORDINGS.name else ""
    measured = f"the strongest of {len(audit.honest)} honest attacks{who} names {_share(worst)}"
    before = f"raw data: {percent(raw.rate.rate)}"
    certificate = audit.subject.certificate
    if audit.refuted:
        return f"The certificate is refuted: {audit.refuted[0]}. Do not share this release."
    if certificate is None:
        return f"Nothing is promised about this release; {measured} ({before})."
    if not certificate.person_level.holds:
        reasons = certificate.person_level.reasons or certificate.guarantee.reasons
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}; {measured} ({before})."
    if not audit.compared:
        return f"{measured[0].upper()}{measured[1:]} ({before}); {_no_bound(audit)}."
    if worst.bound is None:
        allowed = "no bound is known for that attack"
    elif worst.bound > SAYS_NOTHING:
        allowed = "at this size the guarantee rules out almost nothing"
    else:
        allowed = f"the certificate allows at most {rounded_up(100 * worst.bound, 3)} % on average"
    return f"Not refuted: {measured} ({before}), and {allowed}."


def _no_bound(audit: Audit) -> str:
    reasons = audit.subject.promised.reasons if audit.subject.promised is not None else ()
    return f"no bound can be compared with it: {reasons[-1] if reasons else 'none is known'}"


def _warnings(audit: Audit) -> Sequence[str]:
    found = []
    if audit.partial:
        found.append("Only some of eyelid's attackers or protocols were asked for.")
    worst, total = strongest(audit.honest), audit.subject.total
    released = audit.subject.released is not None
    if released and not audit.refuted and total is not None and audit.subject.claims_to_hold:
        if not total.holds:
            found.append(f"Over all releases of these people nothing holds: {total.reasons[0]}.")
        elif formal_only(total):
            found.append(f"Over all releases so far a person has paid {total.numbers()}.")
    if released and not audit.recognises and worst.rate.low <= worst.rate.chance:
        found.append(
            "Raw data are not clearly recognised either, by these attackers and with so few "
            "people, so that they find nothing in the release shows nothing."
        )
    if released and audit.compared and not audit.refuted and not audit.could_refute:
        found.append("With so few people and this bound no attack could have refuted it.")
    if audit.alarms:
        null = strongest([f for f in audit.null if f.attacker in audit.alarms])
        found.append(
            f"People who are all alike are named {percent(null.rate.rate)} of the time by "
            f"{null.attacker}: it recognises something else than people."
        )
    return found


def _share(finding: Finding) -> str:
    """A rate with all that belongs to it."""
    rate = finding.rate
    return (
        f"{percent(rate.rate)} of {rate.people} people (95 % limits {limits(rate)}, "
        f"guessing {percent(rate.chance)})"
    )

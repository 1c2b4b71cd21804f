"""What an audit found, in words for a reader who reads nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyelid.attacks.identification import ALPHA, Finding, NamingAttack, strongest
from eyelid.attacks.protocols import SAME_RECORDINGS
from eyelid.attacks.statistics import Rate
from eyelid.privacy.guarantee import rounded_up
from eyelid.reporting.audits.samples import about_samples
from eyelid.reporting.sentences import (
    SAYS_NOTHING,
    coarse,
    formal_only,
    kept_of_rows,
    limits,
    measured_in_words,
    number,
    percent,
)
from eyelid.spelling import plural

if TYPE_CHECKING:
    from eyelid.attacks.groups import GroupFindings
    from eyelid.attacks.means import MeanFindings
    from eyelid.attacks.similarity import Likeness
    from eyelid.attacks.synthetic import ShownHistograms, SyntheticFindings
    from eyelid.attacks.utility import Use
    from eyelid.reporting.audits.results import (
        GroupsAudit,
        MeansAudit,
        OriginalAudit,
        RecordsAudit,
        SyntheticAudit,
        TableAudit,
    )

# Shares that differ by less are the same.
_SAME = 1e-9
# An error that is a constant's but for so little is no better.
CLEARLY = 0.95
# What is off by less than this part of what there is counts as kept.
_KEPT = 0.5
# A promise that allows attacks to be right so often, or so much better than guessing, helps little.
ALLOWS_MUCH = 0.75


def of_records(audit: RecordsAudit) -> str:
    """Who is re-identified in individual records, and what qualifies that."""
    if audit.worst is None:
        # Refuted before anything could be attacked.
        return _refuted(audit)
    return " ".join([_of_release(audit, audit.worst), *_warnings(audit)])


def _refuted(audit: TableAudit) -> str:
    return f"The certificate is refuted: {audit.refuted[0]}. Do not share this release."


def of_groups(audit: GroupsAudit) -> str:
    """What k-anonymity hides, what was tried against it, and what it does not hide."""
    if audit.groups is None or audit.worst is None:
        # Refuted before anything could be attacked.
        return _refuted(audit)
    return " ".join([_of_groups(audit, audit.groups, audit.worst), *_warnings(audit)])


def _of_groups(audit: GroupsAudit, groups: GroupFindings, worst: NamingAttack) -> str:
    """What k-anonymity hides, what was tried against it, and what it does not hide."""
    if audit.refuted:
        return _refuted(audit)
    certificate, found = audit.target.certificate, audit.target.groups
    fresh = found is not None and found.fresh
    where = "In another run of the mechanism, t" if fresh else "T"
    attack = _strongest_of_all(audit, worst)
    tried = f"{where}old who is in which group, t{attack[1:]}"
    fewest, most = groups.sizes[0], groups.sizes[-1]
    whose = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    records = f"Every record is the plain mean over {whose} people"
    if found is not None and found.fresh:
        why = "the release has too few values, or people are too much alike,"
        if found.mechanism.spread:
            why = "participants are drawn around the means, which leaves too little"
        records = (
            "The groups have the right sizes and, wherever no value is missing, the mean of all "
            f"participants; {why} to find out who is in which group and check more"
        )
    exactly = " exactly" if groups.collusion.exact else ""
    hidden = (
        "those who have the recordings of all members of a group but one can compute the last "
        f"one’s{exactly}"
    )
    if groups.linkage is not None:
        share = percent(groups.linkage.rate)
        hidden = f"which group a participant is in (found for {share} of them); {hidden}"
    rest = f"Not hidden: {hidden}."
    if certificate is None:
        return f"Nothing is promised about this release. {tried} {records}. {rest}"
    if not certificate.person_level.holds:
        reasons = certificate.person_level.reasons
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}. {tried} {records}. {rest}"
    certified = "" if fresh else ", as certified"
    allowed = _allowed_people(worst, "the members of a group")
    return " ".join(
        filter(None, [tried, allowed, _corrected(audit), f"{records}{certified}.", rest])
    )


def _much(bound: float) -> str:
    return ", which is much: the promise rules out little" if bound > ALLOWS_MUCH else ""


def of_synthetic(audit: SyntheticAudit) -> str:
    """What synthetic data are good for, and whether they show who is in them."""
    return " ".join([_of_made_up(audit, audit.synthetic), *_of_total(audit)])


def _of_made_up(audit: TableAudit, made_up: SyntheticFindings) -> str:
    """What synthetic data are good for, and whether they show who is in them."""
    if audit.refuted:
        return _refuted(audit)
    worth = (
        f"Values lie {coarse(made_up.wasserstein)} of a feature’s range from the distribution of "
        f"participants’ values, where evenly spread ones would lie {coarse(made_up.uniform)}"
    )
    if made_up.wasserstein >= CLEARLY * made_up.uniform:
        worth += ": this release carries next to no information"
    elif made_up.likeness is not None:
        worth += f". {kept_of_people(audit, made_up, made_up.likeness)}"
    member = made_up.membership
    found = f"Who was in it was not asked: {made_up.not_tried}"
    if member is not None:
        among = "" if made_up.among == audit.target.people else f" (tried on {made_up.among})"
        attack = f"an attack that goes by {made_up.attacker}"
        if made_up.positive is not None:
            attack = (
                "the strongest attack, which knows all others and sees all noisy answers (with "
                f"hardly any noise {percent(made_up.positive.advantage.rate)})"
            )
        found = (
            f"Which of two participants was in it{among} is inferred with an advantage of "
            f"{percent(member.advantage.rate)} (95% limits {limits(member.advantage)}, guessing "
            f"0%) by {attack}"
        )
    certificate = audit.target.certificate
    if certificate is None:
        return f"Nothing is promised about this release. {found}. {worth}."
    promised = certificate.person_level
    if not promised.holds:
        why = f" ({promised.reasons[0]})" if promised.reasons else ""
        return f"This release carries no guarantee{why}. {found}. {worth}."
    allowed = "nothing is known about what the certificate allows there"
    if member is not None and member.bound is not None:
        allowed = _advantage_allowed(member.bound)
    elif not promised.kind.differential:
        allowed = f"{promised.kind.spoken} sets no bound on that"
    kept = kept_of_rows(certificate)
    whose = f"Some rows keep {kept}" if kept else "No participant’s record is in the release"
    return f"The certificate is not contradicted. {whose}. {found}; {allowed}. {worth}."


def kept_of_people(audit: TableAudit, made_up: SyntheticFindings, like: Likeness) -> str:
    """What synthetic participants keep of people, by one rule; without a stop at the end."""
    kept: list[str] = []
    lost: list[str] = []
    learned = best_learned(audit.utility)
    if learned is not None and learned.rate is not None:
        rate, raw = learned.rate, learned.raw
        figures = (
            f"{percent(rate.rate)} of participants’ windows are right by {learned.model}, "
            f"{percent(raw.rate)} if it learns from participants, guessing {percent(rate.chance)}"
        )
        well = raw.rate - rate.rate < _KEPT * (raw.rate - rate.chance) and rate.low > rate.chance
        (kept if well else lost).append(f"recognising the {learned.target} ({figures})")
    sizes = {
        "what sets tasks apart": (made_up.share_error, made_up.share_size),
        "which features go together": (like.pair_difference, like.pair_size),
        "how long values last": (like.memory_difference, like.memory_size),
        "trends": (like.trend_difference, like.trend_size),
    }
    if len(like.tasks) < 2:
        del sizes["what sets tasks apart"]
    for what, (off, size) in sizes.items():
        if off == off and size == size:
            well = off < _KEPT * size
            (kept if well else lost).append(f"{what} ({coarse(off)} off, of {coarse(size)})")
    never = ["what any one person did", "rare events", "what three features have in common"]
    if audit.target.left_out:
        lacking = plural(audit.target.left_out, "feature that was", "features that were")
        never.insert(0, f"the {lacking} left out")
    sentences = [
        f"Kept, that is, off by less than half of its size: {_listed(kept)}"
        if kept
        else "Everything is off by at least half of its size",
        *([f"Not kept: {_listed(lost)}"] if lost else []),
        f"Never in it: {_listed(never)}",
    ]
    return ". ".join(sentences)


def best_learned(uses: Sequence[Use]) -> Use | None:
    """The model that learned most about the first target from the release; None without any."""
    rated = [(use.rate.rate, use) for use in uses if use.rate is not None]
    first = [pair for pair in rated if pair[1].target == rated[0][1].target]
    return max(first, key=lambda pair: pair[0])[1] if first else None


def _listed(things: Sequence[str]) -> str:
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"


def printed_groups(groups: GroupFindings) -> str:
    """Why groups as printed in the paper do not hold, with what was found."""
    found = groups.intersection if groups.intersection.rate else groups.exact_intersection
    padded = ""
    if groups.padding.values:
        padded = (
            f"; and padding gives away increments of {groups.padding.people} people exactly, "
            "where one member’s recording goes on alone"
        )
    return (
        "People’s own names link the groups of their tasks: an attacker who "
        f"has raw recordings of a person finds their name {percent(found.rate)} of the time (95% "
        f"limits {limits(found)}){padded}."
    )


def printed_histograms(histograms: ShownHistograms) -> str:
    """What histograms without noise show of single people."""
    return (
        f"Its rows are drawn from histograms without noise: of {histograms.filled} bins that "
        f"any person fills, {histograms.shown} have released values and are one person’s alone, "
        f"which shows values of {histograms.people} people; and {histograms.ends_shown} ends of "
        "features’ ranges are the most extreme person’s own values, but for the width of a bin."
    )


def of_means(audit: MeansAudit) -> str:
    """What was found about means over people, where there is no record to re-identify."""
    return " ".join([_of_means(audit, audit.means), *_of_total(audit)])


def _of_means(audit: TableAudit, means: MeanFindings) -> str:
    """What was found about means over people, where there is no record to re-identify."""
    if audit.refuted:
        return _refuted(audit)
    member, certificate = means.membership, audit.target.certificate
    which = "Means of a fresh run" if means.redrawn else "Means"
    off = (
        f"{which} are off by {measured_in_words(means.error, means.error.rmse_of_span)}, where the "
        f"data-free guess (range midpoint) is off by "
        f"{coarse(means.constant_rmse_of_span)} of the range"
    )
    if not informative(means):
        off += ": this release carries no information"
    if member is None or means.positive is None:
        return (
            "No participant’s record is in this release, and there are too few people to ask who "
            f"is in it. {off}."
        )
    found = (
        f"Who is in such a mean is inferred with an advantage of {percent(member.advantage.rate)} "
        f"(95% limits {limits(member.advantage)}, guessing 0%, without noise "
        f"{percent(means.positive.advantage.rate)})"
    )
    if certificate is None or not certificate.person_level.holds:
        reasons = certificate.person_level.reasons if certificate else ()
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}. {found}. {off}."
    allowed = "nothing is known about what the certificate allows"
    if member.bound is not None:
        allowed = _advantage_allowed(member.bound)
    return (
        "The certificate is not contradicted. No participant’s record is in the release. "
        f"{found}; {allowed}. {off}."
    )


def _advantage_allowed(bound: float) -> str:
    if bound > SAYS_NOTHING:
        return "at this size the guarantee rules out almost nothing"
    return f"the certificate allows at most {rounded_up(100 * bound, 3)}%{_much(bound)}"


def informative(means: MeanFindings) -> bool:
    """Whether means are nearer the truth than the data-free guess, and not by luck."""
    return means.error.rmse_of_span < CLEARLY * means.constant_rmse_of_span


def of_original(audit: OriginalAudit) -> str:
    """Whether data before any release are those of people who can be recognised."""
    return " ".join([_of_original(audit), *_warnings(audit)])


def _of_original(audit: TableAudit) -> str:
    worst = strongest(audit.identification)
    known = "another recording" if audit.across != "halves" else "another half of the recording"
    if audit.recognises:
        return (
            f"An attacker who knows {known} of theirs re-identifies {_share(worst)}: treat these "
            "data as personal data."
        )
    return (
        f"The attackers tried here, who know {known} of theirs, re-identified {_share(worst)}, "
        "which may be chance; that does not make the data anonymous."
    )


def _of_release(audit: TableAudit, worst: NamingAttack) -> str:
    certificate = audit.target.certificate
    if audit.refuted:
        return _refuted(audit)
    measured = _strongest_of_all(audit, worst)
    if certificate is None:
        return f"Nothing is promised about this release. {measured}"
    if not certificate.person_level.holds:
        reasons = certificate.person_level.reasons or certificate.guarantee.reasons
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}. {measured}"
    if not audit.compared:
        no_bound = _no_bound(audit)
        return f"{measured} {no_bound[0].upper()}{no_bound[1:]}."
    return " ".join(filter(None, [measured, _allowed_people(worst), _corrected(audit)]))


def _strongest_of_all(audit: TableAudit, worst: NamingAttack) -> str:
    """How many people the attack to fear re-identified, beside raw data and guessing."""
    rate = worst.rate
    raw = ""
    if audit.positive:
        found = strongest(audit.positive).rate
        raw = f"raw data: {_whole(found.rate * found.people)}, "
    # Groups as printed are distinguished by an attacker who has the released recordings.
    same = worst.protocol == SAME_RECORDINGS.name or worst.intersects
    who = " (it has the very recordings)" if same else ""
    return (
        f"The strongest of {plural(len(audit.attacks), 'attack')}{who} re-identified "
        f"{whole_of(rate)} participants ({raw}"
        f"guessing: {_whole(rate.chance * rate.people)})."
    )


def whole_of(rate: Rate) -> str:
    """How many people were re-identified, in whole people.

    >>> whole_of(Rate(0.1, 0.01, 0.3, 0.05, 20))
    '2 of 20'
    """
    return f"{_whole(rate.rate * rate.people)} of {rate.people}"


def _whole(people: float) -> str:
    """A number of people as a whole one; over several tries it is a mean.

    >>> _whole(3.0), _whole(2.5), _whole(0.2)
    ('3', 'about 2', 'fewer than 1')
    """
    nearest = round(people)
    if abs(people - nearest) < _SAME:
        return str(nearest)
    return f"about {nearest}" if nearest else "fewer than 1"


def _allowed_people(worst: NamingAttack, over: str = "the noise") -> str:
    """What the guarantee allows an attack, in whole people and never fewer than it does.

    Args:
        worst: the attack.
        over: what the bound is an average over.
    """
    bound, in_all, people = worst.bound, worst.bound_in_all, worst.rate.people
    if bound is None:
        return "No bound is known for that attack."
    if bound > SAYS_NOTHING:
        return "At this size the guarantee rules out almost nothing."
    most = f"at most {_people_at_most(bound, people)} on average over {over}"
    if in_all is not None and in_all <= bound * (1 + _SAME):
        return f"The guarantee allows {most}{_much(bound)}."
    together = "there is no bound"
    if in_all is not None:
        together = f"at most {_people_at_most(in_all, people)} are allowed"
    return (
        f"This release alone would allow {most}{_much(bound)}, but with the others of these people "
        f"{together}."
    )


def _people_at_most(share: float, people: int) -> int:
    """A share of people as a whole number that is not below it.

    >>> _people_at_most(0.0693, 20), _people_at_most(0.15, 20), _people_at_most(1.0, 20)
    (2, 3, 20)
    """
    return min(people, math.ceil(share * people * (1 - _SAME)))


def _corrected(audit: TableAudit) -> str:
    """What the audit decided by, in the numbers that it decided with."""
    asked = [one for one in audit.compared if one.attacker not in audit.alarms]
    p_values = [one.p_value for one in asked if one.p_value is not None]
    if not p_values:
        return ""
    p, many = min(p_values), len(audit.compared)
    few = "" if many == len(audit.attacks) else " that have a bound"
    said = f"Corrected for {plural(many, 'attempt')}{few}, none contradicts the guarantee"
    # An attack contradicts it by its limits as well, which attacks on everybody at once may not.
    though = ", but its 95% limits reach down to what is allowed" if p < ALPHA else ""
    return f"{said} (smallest p {'< 0.001' if p < 0.001 else f'= {number(p)}'}{though})."


def _no_bound(audit: TableAudit) -> str:
    reasons = audit.target.promised.reasons if audit.target.promised is not None else ()
    return f"no bound can be compared with it: {reasons[-1] if reasons else 'none is known'}"


def _warnings(audit: TableAudit) -> Sequence[str]:
    found = []
    if audit.partial:
        found.append("Only some of eyelid's attackers or protocols were asked for.")
    worst, released = audit.worst, audit.target.released is not None
    if audit.groups is not None and not audit.target.grouped and not audit.refuted:
        found.append(printed_groups(audit.groups))
    if audit.histograms is not None and not audit.refuted:
        found.append(printed_histograms(audit.histograms))
    found += about_samples(audit)
    found += _of_total(audit)
    blind = released and audit.positive and not audit.recognises
    if blind and worst is not None and worst.rate.low <= worst.rate.chance:
        found.append(
            "These attackers, with so few people, do not clearly recognise raw data either: that "
            "they find nothing in the release shows nothing."
        )
    told_by_luck = released and audit.compared and not audit.refuted and audit.groups is None
    if told_by_luck and not audit.could_refute:
        found.append("With so few people and this bound no attack could have contradicted it.")
    if audit.alarms:
        null = strongest([f for f in audit.null if f.attacker in audit.alarms])
        found.append(
            f"People who are all alike are re-identified {percent(null.rate.rate)} of the time by "
            f"{null.attacker}: it recognises something else than people."
        )
    return found


def _of_total(audit: TableAudit) -> Sequence[str]:
    """What a release means together with the others of the same people."""
    total, released = audit.target.total, audit.target.released is not None
    promised, releases = audit.target.promised, audit.target.releases
    if promised is not None and promised.holds and not promised.kind.differential:
        if audit.refuted or releases is None or releases < 2:
            return []
        return [
            f"These people are in {releases} releases, and {promised.kind.spoken} is promised of "
            "one alone: together they can undo it."
        ]
    if not released or audit.refuted or total is None or not audit.target.claims_to_hold:
        return []
    if not total.holds:
        # This one claims to hold, so that the reason is of another.
        why = total.reasons[0]
        return [
            "Over all releases of these people no guarantee is valid, because of another one: "
            f"{why}."
        ]
    if formal_only(total):
        return [f"Over all releases so far a person has paid {total.numbers()}."]
    return []


def named(rate: Rate) -> str:
    """How many people were re-identified, over several tries on average.

    >>> named(Rate(0.1, 0.01, 0.3, 0.05, 20))
    '2 of 20 people'
    """
    return f"{number(rate.rate * rate.people)} of {rate.people} people"


def _share(finding: Finding | NamingAttack) -> str:
    """How many participants an attack re-identified, with all that belongs to it."""
    rate = finding.rate
    return (
        f"{whole_of(rate)} participants (95% limits "
        f"{limits(rate)}, guessing {percent(rate.chance)})"
    )

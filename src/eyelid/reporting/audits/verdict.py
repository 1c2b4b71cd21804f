"""What an audit found, in words for somebody who reads nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eyelid.attacks.identification import ALPHA, Finding, NamingAttack, strongest
from eyelid.attacks.protocols import SAME_RECORDINGS
from eyelid.attacks.statistics import Rate
from eyelid.privacy.guarantee import rounded_up
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
    """Who is named in people's own records, and whatever keeps that from meaning what it seems."""
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
    fewest, most = groups.sizes[0], groups.sizes[-1]
    whose = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    is_mean = f"every record is the plain mean over {whose} people"
    known = "told who is in which group"
    if found is not None and found.fresh:
        is_mean = (
            "the groups have the right sizes and, wherever nobody lacks a value, the mean of "
            "everybody, but the release has too few values, or people are too much alike, to find "
            "out who is in which and check more"
        )
        known = "in another run of the mechanism, told who is in which group"
    tried = f"{known}, the strongest of {len(audit.attacks)} honest attacks names {_share(worst)}"
    exactly = " exactly" if groups.collusion.exact else ""
    hidden = f"whoever has the recordings of all of a group but one has the last one’s{exactly}"
    if groups.linkage is not None:
        share = percent(groups.linkage.rate)
        hidden = (
            f"which group somebody is in is not hidden (found for {share} of people), and {hidden}"
        )
    if certificate is None:
        return f"Nothing is promised about this release; {is_mean}; {tried}; {hidden}."
    if not certificate.person_level.holds:
        reasons = certificate.person_level.reasons
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}; {is_mean}; {tried}; {hidden}."
    certified = "" if found is not None and found.fresh else ", as certified"
    allowed = _allowed(worst, "members")
    return f"Not refuted: {is_mean}{certified}; {tried}, and {allowed}. But {hidden}."


def _allowed(worst: NamingAttack, over: str) -> str:
    """What an attack may come to, by this release alone and together with others.

    Args:
        worst: the attack.
        over: what the bound is an average over.
    """
    bound, in_all = worst.bound, worst.bound_in_all
    if bound is None:
        return "no bound is known for that attack"
    if bound > SAYS_NOTHING:
        return "at this size the guarantee rules out almost nothing"
    most = f"at most {rounded_up(100 * bound, 3)}% on average over {over}"
    if worst.rate.rate > bound * (1 + _SAME):
        most += f" ({named(worst.rate)} is within chance of that)"
    if in_all is None or in_all > bound * (1 + _SAME):
        together = "there is no bound"
        if in_all is not None:
            together = f"at most {rounded_up(100 * in_all, 3)}% is allowed"
        said = (
            f"this release alone would allow {most}, but with the others of these people {together}"
        )
    else:
        said = f"the certificate allows {most}"
    return said + _much(bound)


def _much(bound: float) -> str:
    return ", which is much: the promise rules out little" if bound > ALLOWS_MUCH else ""


def of_synthetic(audit: SyntheticAudit) -> str:
    """Nobody is in what is made up: what it is worth, and whether it shows who gave it."""
    return " ".join([_of_made_up(audit, audit.synthetic), *_of_total(audit)])


def _of_made_up(audit: TableAudit, made_up: SyntheticFindings) -> str:
    """Nobody is in what is made up: what it is worth, and whether it shows who gave it."""
    if audit.refuted:
        return _refuted(audit)
    worth = (
        f"values are {coarse(made_up.wasserstein)} spans from being distributed as people’s are, "
        f"where evenly spread ones would be {coarse(made_up.uniform)}"
    )
    if made_up.wasserstein >= CLEARLY * made_up.uniform:
        worth += ": this release carries next to no information"
    elif made_up.likeness is not None:
        worth += f". {_kept(audit, made_up, made_up.likeness)}"
    member = made_up.membership
    found = f"who was in it was not asked: {made_up.not_tried}"
    if member is not None:
        among = "" if made_up.among == audit.target.people else f" (tried on {made_up.among})"
        attack = f"an attack that goes by {made_up.attacker}"
        if made_up.positive is not None:
            attack = (
                "the strongest attack, which knows everybody else and sees all noisy answers (with "
                f"hardly any noise {percent(made_up.positive.advantage.rate)})"
            )
        found = (
            f"which of two people was in it{among} is told with an advantage of "
            f"{percent(member.advantage.rate)} (95% limits {limits(member.advantage)}, guessing "
            f"0%) by {attack}"
        )
    certificate = audit.target.certificate
    if certificate is None:
        return f"Nothing is promised about this release; {found}; {worth}."
    promised = certificate.person_level
    if not promised.holds:
        why = f" ({promised.reasons[0]})" if promised.reasons else ""
        return f"This release carries no guarantee{why}; {found}; {worth}."
    allowed = "nothing is known about what the certificate allows there"
    if member is not None and member.bound is not None:
        allowed = _advantage_allowed(member.bound)
    elif not promised.kind.differential:
        allowed = f"{promised.kind.spoken} sets no bound on that"
    kept = kept_of_rows(certificate)
    whose = f"some rows keep {kept}" if kept else "nobody’s own record is in it"
    return f"Not refuted: {whose}; {found}, and {allowed}; {worth}."


def _kept(audit: TableAudit, made_up: SyntheticFindings, like: Likeness) -> str:
    """What made-up people have of people, by one rule, and what not; without a stop at the end."""
    kept: list[str] = []
    lost: list[str] = []
    learned = best_learned(audit.utility)
    if learned is not None and learned.rate is not None:
        rate, raw = learned.rate, learned.raw
        figures = (
            f"{percent(rate.rate)} of people’s windows are right by {learned.model}, "
            f"{percent(raw.rate)} if it learns from people, guessing {percent(rate.chance)}"
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
    never = ["what anybody did", "rare events", "what three features have in common"]
    if audit.target.left_out:
        lacking = plural(audit.target.left_out, "feature that was", "features that were")
        never.insert(0, f"the {lacking} left out")
    sentences = [
        f"Kept, that is, off by less than half of what there is: {_listed(kept)}"
        if kept
        else "Everything is off by at least half of what there is",
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
        "People’s own names link the groups of their tasks: whoever "
        f"has raw recordings of somebody finds their name {percent(found.rate)} of the time (95% "
        f"limits {limits(found)}){padded}."
    )


def printed_histograms(histograms: ShownHistograms) -> str:
    """What histograms without noise show of single people."""
    return (
        f"Its rows are drawn from histograms without noise: of {histograms.filled} bins that "
        f"anybody fills, {histograms.shown} have released values and are one person’s alone, "
        f"which shows values of {histograms.people} people; and {histograms.ends_shown} ends of "
        "features’ ranges are the most extreme person’s own values, but for the width of a bin."
    )


def of_means(audit: MeansAudit) -> str:
    """Nobody is named in means over people: what else was found."""
    return " ".join([_of_means(audit, audit.means), *_of_total(audit)])


def _of_means(audit: TableAudit, means: MeanFindings) -> str:
    """Nobody is named in means over people: what else was found."""
    if audit.refuted:
        return _refuted(audit)
    member, certificate = means.membership, audit.target.certificate
    which = "means of a fresh run" if means.redrawn else "means"
    off = (
        f"{which} are off by {measured_in_words(means.error, means.error.rmse_of_span)}, and a "
        f"constant in the middle of the bounds would be by {coarse(means.constant_rmse_of_span)} "
        "of the range"
    )
    if not informative(means):
        off += ": this release carries no information"
    if member is None or means.positive is None:
        return (
            "Nobody’s own record is in this release, and there are too few people to ask who is in "
            f"it; {off}."
        )
    found = (
        f"who is in such a mean is told with an advantage of {percent(member.advantage.rate)} "
        f"(95% limits {limits(member.advantage)}, guessing 0%, without noise "
        f"{percent(means.positive.advantage.rate)})"
    )
    if certificate is None or not certificate.person_level.holds:
        reasons = certificate.person_level.reasons if certificate else ()
        why = f" ({reasons[0]})" if reasons else ""
        return f"This release carries no guarantee{why}; {found}; {off}."
    allowed = "nothing is known about what the certificate allows"
    if member.bound is not None:
        allowed = _advantage_allowed(member.bound)
    return f"Not refuted: nobody’s own record is in it, {found}, and {allowed}; {off}."


def _advantage_allowed(bound: float) -> str:
    if bound > SAYS_NOTHING:
        return "at this size the guarantee rules out almost nothing"
    return f"the certificate allows at most {rounded_up(100 * bound, 3)}%{_much(bound)}"


def informative(means: MeanFindings) -> bool:
    """Whether means are nearer the truth than what anybody could write down, and not by luck."""
    return means.error.rmse_of_span < CLEARLY * means.constant_rmse_of_span


def of_original(audit: OriginalAudit) -> str:
    """Whether data before any release are those of people who can be recognised."""
    return " ".join([_of_original(audit), *_warnings(audit)])


def _of_original(audit: TableAudit) -> str:
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
    raw, rate = strongest(audit.positive).rate, worst.rate
    # Groups as printed are distinguished by an attacker who has the released recordings.
    same = worst.protocol == SAME_RECORDINGS.name or worst.intersects
    who = " (it has the very recordings)" if same else ""
    return (
        f"The strongest of {plural(len(audit.attacks), 'attack')}{who} re-identified "
        f"{_whole(rate.rate * rate.people)} of {rate.people} participants (raw data: "
        f"{_whole(raw.rate * raw.people)}, guessing: {_whole(rate.chance * rate.people)})."
    )


def _whole(people: float) -> str:
    """A number of people as a whole one; over several tries it is a mean.

    >>> _whole(3.0), _whole(2.5), _whole(0.2)
    ('3', 'about 2', 'fewer than 1')
    """
    nearest = round(people)
    if abs(people - nearest) < _SAME:
        return str(nearest)
    return f"about {nearest}" if nearest else "fewer than 1"


def _allowed_people(worst: NamingAttack) -> str:
    """What the guarantee allows an attack, in whole people and never fewer than it does."""
    bound, in_all, people = worst.bound, worst.bound_in_all, worst.rate.people
    if bound is None:
        return "No bound is known for that attack."
    if bound > SAYS_NOTHING:
        return "At this size the guarantee rules out almost nothing."
    most = f"at most {_people_at_most(bound, people)} on average over the noise"
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
    if audit.without_gaze:
        found.append(_of_what_is_no_gaze(audit.without_gaze))
    found += _of_total(audit)
    blind = released and audit.positive and not audit.recognises
    if blind and worst is not None and worst.rate.low <= worst.rate.chance:
        found.append(
            "Raw data are not clearly recognised either, by these attackers and with so few "
            "people, so that they find nothing in the release shows nothing."
        )
    told_by_luck = released and audit.compared and not audit.refuted and audit.groups is None
    if told_by_luck and not audit.could_refute:
        found.append("With so few people and this bound no attack could have refuted it.")
    if audit.alarms:
        null = strongest([f for f in audit.null if f.attacker in audit.alarms])
        found.append(
            f"People who are all alike are named {percent(null.rate.rate)} of the time by "
            f"{null.attacker}: it recognises something else than people."
        )
    return found


def _of_what_is_no_gaze(found: Sequence[Finding]) -> str:
    """Who is named by what filters release as it is."""
    names = dict.fromkeys(finding.protocol for finding in found)
    best = [strongest([f for f in found if f.protocol == name]) for name in names]
    rates = " and ".join(f"{percent(f.rate.rate)} by {f.protocol}" for f in best)
    return (
        f"Without any gaze attackers name {rates} (guessing {percent(best[0].rate.chance)}); no "
        "filter hides these."
    )


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
        return [f"Over all releases of these people nothing holds, because of another one: {why}."]
    if formal_only(total):
        return [f"Over all releases so far a person has paid {total.numbers()}."]
    return []


def named(rate: Rate) -> str:
    """How many people were named, over several tries on average.

    >>> named(Rate(0.1, 0.01, 0.3, 0.05, 20))
    '2 of 20 people'
    """
    return f"{number(rate.rate * rate.people)} of {rate.people} people"


def _share(finding: Finding | NamingAttack) -> str:
    """A rate with all that belongs to it."""
    rate = finding.rate
    return (
        f"{percent(rate.rate)} of {rate.people} people (95% limits {limits(rate)}, "
        f"guessing {percent(rate.chance)})"
    )

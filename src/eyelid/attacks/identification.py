"""Who is it? Attackers name the people of recordings, raw or released, under several protocols."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.protocols import (
    POSITIVE,
    PROTOCOLS,
    SAME_RECORDINGS,
    Material,
    Protocol,
    Source,
    Split,
    everybody_alike,
    find_protocol,
)
from eyelid.attacks.records import Records
from eyelid.attacks.scores import Scores, cmc, equal_error_rate, named, ranks
from eyelid.attacks.statistics import Rate, above, above_together, holm, rate_of_decisions
from eyelid.engine.engines import spread_with
from eyelid.errors import InputError

# The chance of calling a sound release refuted, over all comparisons of an audit together.
ALPHA = 0.01
_OURS = "eyelid.attacks.attackers"
# What re-identifies people in groups: called as protocols are, though nothing is learned.
INTERSECTION = "intersection"
EXACT_INTERSECTION = "intersection, all recordings known"


@dataclass(frozen=True, eq=False)
class Finding:
    """How one attacker fared under one protocol.

    Attributes:
        protocol: by name.
        attacker: by name.
        rate: people re-identified by averaged scores, ties by lot.
        votes: people re-identified by majority vote over rows; None for attackers of whole records.
        eer: equal error rate of telling owners from strangers.
        cmc: share of records whose owner is among the first k, for every k.
        right: for each way to part the study, how many were re-identified, of how many.
        shares: for each person, the share of decisions about them that were right.
        places: for each person, the mean place at which they were listed.
        bound: what the guarantee allows here; None where it allows anything.
        p_value: of a rate this high if the bound held, after Holm's correction over the audit.
        honest: whether the protocol is leak-free.
    """

    protocol: str
    attacker: str
    rate: Rate
    votes: float | None
    eer: float
    cmc: tuple[float, ...]
    right: tuple[tuple[int, int], ...]
    shares: NDArray[np.float64]
    places: NDArray[np.float64]
    bound: float | None = None
    p_value: float | None = None
    honest: bool = True

    def beyond(self, bound: float) -> float:
        """The chance of so high a rate if the true one were at most ``bound``, on its own."""
        if self.protocol == "release→raw":
            tried = [above_together(right, people, bound) for right, people in self.right]
            return min(1.0, len(tried) * min(tried))
        return above(_known(self.shares), bound)

    @property
    def refutes(self) -> bool:
        """Whether the certificate is false: the lower limit is above what it allows."""
        return (
            self.bound is not None
            and self.p_value is not None
            and self.p_value < ALPHA
            and self.rate.low > self.bound
        )


@dataclass(frozen=True)
class NamingAttack:
    """One leak-free attack that re-identifies people.

    Attributes:
        protocol: what the attacker has, by name.
        attacker: by name.
        rate: people re-identified.
        bound: what this release alone allows; None where it allows anything.
        bound_in_all: the same of all releases of these people together.
        refutes: whether it shows that the certificate is false.
    """

    protocol: str
    attacker: str
    rate: Rate
    bound: float | None
    bound_in_all: float | None
    refutes: bool = False

    @property
    def intersects(self) -> bool:
        """Whether it compares groups, and has the very recordings that were released."""
        return self.protocol in (INTERSECTION, EXACT_INTERSECTION)


def identify(
    material: Material,
    attackers: Sequence[Attacker],
    protocols: Sequence[Protocol] = PROTOCOLS,
    seed: int = 0,
    over_all: Collection[str] = (),
) -> list[Finding]:
    """Attack with everybody under every protocol that the material allows.

    Args:
        material: what there is to attack.
        attackers: who attacks.
        protocols: how; impossible ones are left out.
        seed: of the attackers' random choices.
        over_all: protocols under which a person shown but not known counts as not re-identified. A
            bound on naming one of a group is over all its members, not over those known beforehand.
    """
    possible = [p for p in protocols if material.possible(p)]
    # What was learned once is used under every protocol that shows it something.
    lessons: dict[tuple[Source, Split], list[Protocol]] = {}
    for protocol in possible:
        for split in material.splits(protocol):
            if not material.shows(protocol, split):
                continue
            lessons.setdefault((protocol.known, split), []).append(protocol)
    known = {lesson: material.known(*lesson) for lesson in lessons}
    shown = {
        (protocol.shown, split): material.shown(protocol.shown, split)
        for (_, split), protocols_there in lessons.items()
        for protocol in protocols_there
    }
    taught = tuple(
        _Lesson(known[lesson], tuple(shown[protocol.shown, lesson[1]] for protocol in there))
        for lesson, there in lessons.items()
    )
    jobs = [_Job(place, attacker, seed) for place in range(len(taught)) for attacker in attackers]
    scored: dict[tuple[str, str], list[Scores]] = {}
    guesses: dict[str, list[float]] = {}
    asked: dict[str, NDArray[np.intp]] = {}
    for lesson, there in lessons.items():
        for protocol in there:
            # One guess for every record shown, among those of whom something is known.
            owners = shown[protocol.shown, lesson[1]].owner
            could = int(np.isin(owners, known[lesson].owner).sum())
            chance = 1 / len(np.unique(known[lesson].owner))
            guesses.setdefault(protocol.name, []).extend([chance] * could)
            if protocol.name in over_all:
                guesses[protocol.name].extend([0.0] * (len(owners) - could))
                times = np.bincount(owners, minlength=len(material.people))
                asked[protocol.name] = asked.get(protocol.name, 0) + times
    ways = list(lessons.values())
    for job, found in zip(jobs, spread_with(_attack, taught, jobs, "attacking"), strict=True):
        for protocol, scores in zip(ways[job.lesson], found, strict=True):
            scored.setdefault((protocol.name, job.attacker.name), []).append(scores)
    return [
        finding_of(
            protocol,
            attacker.name,
            scored[protocol.name, attacker.name],
            fmean(guesses[protocol.name] or [1.0]),
            asked.get(protocol.name),
        )
        for protocol in possible
        if protocol.name in guesses
        for attacker in attackers
    ]


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What is learned from, and all that is then recognised."""

    known: Records
    shown: tuple[Records, ...]


@dataclass(frozen=True)
class _Job:
    """An attacker who is given a lesson, by its number."""

    lesson: int
    attacker: Attacker
    seed: int


def _attack(lessons: Sequence[_Lesson], job: _Job) -> list[Scores]:
    lesson = lessons[job.lesson]
    return decided(job.attacker, lesson.known, lesson.shown, job.seed)


def decided(
    attacker: Attacker, known: Records, shown: Sequence[Records], seed: int
) -> list[Scores]:
    """The scores of records whose owner could be known; who that is, the attacker is not told.

    Args:
        attacker: who learns. One that is not eyelid's own sees one record at a time, since that is
            what the bounds are about.
        known: what is learned from.
        shown: what is then recognised, one after the other.
        seed: of the attacker's choices.
    """
    recognise = attacker.learn(known, seed)
    ours = type(attacker).__module__.startswith(_OURS)
    scores = []
    for records in shown:
        nameless = replace(records, owner=np.full_like(records.owner, -1))
        seen = [nameless] if ours else nameless.one_by_one()
        # In an order that tells nothing.
        order = np.random.default_rng(seed).permutation(len(seen))
        answers = {n: _checked(attacker, recognise(seen[n]), seen[n]) for n in order.tolist()}
        found = [answers[n] for n in range(len(seen))]
        averaged = np.concatenate([one.averaged for one in found])
        votes = [one.votes for one in found if one.votes is not None]
        could = np.isin(records.owner, known.owner)
        scores.append(
            Scores(
                averaged[could],
                np.concatenate(votes)[could] if len(votes) == len(found) else None,
                records.owner[could],
            )
        )
    return scores


def _checked(attacker: Attacker, found: Scores | NDArray[np.float64], shown: Records) -> Scores:
    scores = found if isinstance(found, Scores) else Scores(np.asarray(found), None, shown.owner)
    if scores.averaged.shape != (len(shown.owner), len(shown.people)):
        raise InputError(
            f"attacker {attacker.name} gave scores of the form {scores.averaged.shape}: give one "
            f"for each of {len(shown.owner)} records and {len(shown.people)} people"
        )
    if np.isnan(scores.averaged).any():
        raise InputError(f"attacker {attacker.name} gave a score that is no number: mend it")
    return scores


def null_control(material: Material, attackers: Sequence[Attacker], seed: int = 0) -> list[Finding]:
    """Findings of the attackers on people who are all alike, where there is nothing to find.

    Two releases are compared where there are any, and have something to know and something to
    show; otherwise a release, or the original, with the original.
    """
    alike = everybody_alike(material, seed)
    for name in ("release→release", "raw→release"):
        found = identify(alike, attackers, [find_protocol(name)], seed)
        if found:
            return found
    return identify(alike, attackers, [POSITIVE], seed)


def beyond_chance(findings: Sequence[Finding]) -> list[str]:
    """The attackers who name more people than guessing does, after Holm's correction."""
    p_values = holm([finding.beyond(finding.rate.chance) for finding in findings])
    return [f.attacker for f, p in zip(findings, p_values, strict=True) if p < ALPHA]


def strongest(findings: Sequence[Finding]) -> Finding:
    """The attacker that re-identifies most people: the one to fear."""
    return max(findings, key=lambda finding: finding.rate.rate)


def bound_kind(protocol: str) -> str | None:
    """Which of a guarantee's bounds on re-identifying people speaks of a protocol.

    >>> bound_kind("release→raw"), bound_kind("paper-halves")
    ('release_to_raw', None)
    """
    kinds = {one.name: one.bound for one in (*PROTOCOLS, SAME_RECORDINGS)}
    return kinds.get(protocol)


def with_bounds(findings: Sequence[Finding], bounds: Mapping[str, float | None]) -> list[Finding]:
    """The findings beside what is allowed, all comparisons with a bound counted together.

    Args:
        findings: of one audit.
        bounds: on re-identifying people, by kind of protocol, as `eyelid.privacy.rank1` gives them.
    """
    bounded = [bounds.get(bound_kind(finding.protocol) or "") for finding in findings]
    adjusted: dict[int, float] = {}
    # The best attacker has half of the error rate to itself: the others would drown it.
    for best in (True, False):
        tested = [
            number
            for number, (finding, bound) in enumerate(zip(findings, bounded, strict=True))
            if bound is not None and (finding.protocol == SAME_RECORDINGS.name) == best
        ]
        p_values = holm([findings[n].beyond(bounded[n] or 0.0) for n in tested])
        adjusted |= {n: min(1.0, 2 * p) for n, p in zip(tested, p_values.tolist(), strict=True)}
    return [
        replace(finding, bound=bound, p_value=adjusted.get(number))
        for number, (finding, bound) in enumerate(zip(findings, bounded, strict=True))
    ]


def finding_of(
    protocol: Protocol,
    attacker: str,
    scores: Sequence[Scores],
    chance: float | None = None,
    asked: NDArray[np.intp] | None = None,
) -> Finding:
    """What all of an attacker's scores under one protocol come to.

    Args:
        protocol: how it attacked.
        attacker: by name.
        scores: one for each way to part the study.
        chance: what guessing gives; one in all people by default.
        asked: how often each person was shown; by default as often as there are scores.
    """
    averaged = np.concatenate([s.averaged for s in scores])
    owner = np.concatenate([s.owner for s in scores])
    votes = [s.votes for s in scores if s.votes is not None]
    people = averaged.shape[1]
    if not len(owner):
        raise InputError(
            "nobody has anything that could be known beforehand: an audit needs people with two "
            "recordings each, or recordings that are long enough to part"
        )
    places = ranks(averaged, owner)
    shares = _per_person(named(averaged, owner), owner, people, asked)
    by_vote = named(np.concatenate(votes), owner) if votes else None
    counted = [named(s.averaged, s.owner) for s in scores]
    return Finding(
        protocol=protocol.name,
        attacker=attacker,
        rate=rate_of_decisions(_known(shares), chance or 1 / people),
        votes=None if by_vote is None else float(np.nanmean(_per_person(by_vote, owner, people))),
        eer=equal_error_rate(averaged, owner),
        cmc=tuple(cmc(averaged, owner).tolist()),
        right=tuple((int(right.sum() + 1e-9), len(right)) for right in counted),
        shares=shares,
        places=_per_person(places, owner, people),
        honest=protocol.honest,
    )


def _per_person(
    values: NDArray[np.float64],
    owner: NDArray[np.intp],
    people: int,
    counts: NDArray[np.intp] | None = None,
) -> NDArray[np.float64]:
    """The mean over each person's records, or over so many; NaN for who has none."""
    counts = np.bincount(owner, minlength=people) if counts is None else counts
    sums = np.bincount(owner, weights=values, minlength=people)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _known(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without those who were not shown at all."""
    return shares[~np.isnan(shares)]

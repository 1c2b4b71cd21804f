"""Who is it? Attackers name the people of recordings, raw or released, under several protocols."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eyelid.audits.attackers import Attacker
from eyelid.audits.protocols import (
    POSITIVE,
    PROTOCOLS,
    Material,
    Protocol,
    Source,
    everybody_alike,
    find_protocol,
)
from eyelid.audits.scores import Scores, cmc, equal_error_rate, named, ranks
from eyelid.audits.splits import Split
from eyelid.audits.statistics import Rate, above, holm, rate_of_decisions
from eyelid.engine.parallel import parallel

# The chance of calling any sound release refuted, over all comparisons of an audit together.
ALPHA = 0.025


@dataclass(frozen=True, eq=False)
class Finding:
    """How one attacker fared under one protocol.

    Attributes:
        protocol: by name.
        attacker: by name.
        rate: people named by averaged scores, ties by lot.
        votes: people named by majority vote over rows; None for attackers of whole records.
        eer: equal error rate of telling owners from strangers.
        cmc: share of records whose owner is among the first k, for every k.
        shares: for each person, the share of decisions about them that were right.
        places: for each person, the mean place at which they were listed.
        bound: what the guarantee allows here; None where it allows anything.
        p_value: of a rate this high if the bound held, after Holm's correction over the audit.
        honest: whether the protocol is.
    """

    protocol: str
    attacker: str
    rate: Rate
    votes: float | None
    eer: float
    cmc: tuple[float, ...]
    shares: NDArray[np.float64]
    places: NDArray[np.float64]
    bound: float | None = None
    p_value: float | None = None
    honest: bool = True

    def beyond(self, bound: float) -> float:
        """The chance of so high a rate if the true one were at most ``bound``, on its own."""
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


def identify(
    material: Material,
    attackers: Sequence[Attacker],
    protocols: Sequence[Protocol] = PROTOCOLS,
    seed: int = 0,
) -> list[Finding]:
    """Attack with everybody under every protocol that the material allows.

    Args:
        material: what there is to attack.
        attackers: who attacks.
        protocols: how; impossible ones are left out.
        seed: of the attackers' random choices.
    """
    possible = [p for p in protocols if material.possible(p)]
    # What was learned once is used under every protocol that shows it something.
    lessons: dict[tuple[Source, Split], list[Protocol]] = {}
    for protocol in possible:
        for split in material.splits(protocol):
            lessons.setdefault((protocol.known, split), []).append(protocol)
    known = {lesson: material.known(*lesson) for lesson in lessons}
    shown = {
        (protocol.shown, split): material.shown(protocol.shown, split)
        for (_, split), protocols_there in lessons.items()
        for protocol in protocols_there
    }
    jobs = [(lesson, attacker) for lesson in lessons for attacker in attackers]

    def attack(job: tuple[tuple[Source, Split], Attacker]) -> list[Scores]:
        lesson, attacker = job
        recognise = attacker.learn(known[lesson], seed)
        return [recognise(shown[protocol.shown, lesson[1]]) for protocol in lessons[lesson]]

    scored: dict[tuple[str, str], list[Scores]] = {}
    for (lesson, attacker), found in zip(jobs, parallel(attack, jobs, "attacking"), strict=True):
        for protocol, scores in zip(lessons[lesson], found, strict=True):
            scored.setdefault((protocol.name, attacker.name), []).append(scores)
    return [
        finding_of(protocol, attacker.name, scored[protocol.name, attacker.name])
        for protocol in possible
        for attacker in attackers
    ]


def null_control(material: Material, attackers: Sequence[Attacker], seed: int = 0) -> list[Finding]:
    """The same attacks on people who are all alike, where there is nothing to find."""
    alike = everybody_alike(material)
    fair = POSITIVE if alike.released is None else find_protocol("release→release")
    return identify(alike, attackers, [fair], seed)


def strongest(findings: Sequence[Finding]) -> Finding:
    """The attacker that names most people: the one to fear."""
    return max(findings, key=lambda finding: finding.rate.rate)


def with_bounds(findings: Sequence[Finding], bounds: Mapping[str, float | None]) -> list[Finding]:
    """The findings beside what is allowed, all comparisons with a bound counted together.

    Args:
        findings: of one audit.
        bounds: on naming people, by kind of protocol, as `eyelid.privacy.rank1` gives them.
    """
    kinds = {protocol.name: protocol.bound or "" for protocol in PROTOCOLS}
    bounded = [bounds.get(kinds.get(finding.protocol, "")) for finding in findings]
    tested = [n for n, bound in enumerate(bounded) if bound is not None]
    p_values = holm([findings[n].beyond(bounded[n] or 0.0) for n in tested])
    adjusted = dict(zip(tested, p_values.tolist(), strict=True))
    return [
        replace(finding, bound=bound, p_value=adjusted.get(number))
        for number, (finding, bound) in enumerate(zip(findings, bounded, strict=True))
    ]


def finding_of(protocol: Protocol, attacker: str, scores: Sequence[Scores]) -> Finding:
    """What all of an attacker's scores under one protocol come to."""
    averaged = np.concatenate([s.averaged for s in scores])
    owner = np.concatenate([s.owner for s in scores])
    votes = [s.votes for s in scores if s.votes is not None]
    people = averaged.shape[1]
    places = ranks(averaged, owner)
    shares = _per_person(named(averaged, owner), owner, people)
    by_vote = named(np.concatenate(votes), owner) if votes else None
    return Finding(
        protocol=protocol.name,
        attacker=attacker,
        rate=rate_of_decisions(_known(shares), 1 / people),
        votes=None if by_vote is None else float(np.nanmean(_per_person(by_vote, owner, people))),
        eer=equal_error_rate(averaged, owner),
        cmc=tuple(cmc(averaged, owner).tolist()),
        shares=shares,
        places=_per_person(places, owner, people),
        honest=protocol.honest,
    )


def _per_person(
    values: NDArray[np.float64], owner: NDArray[np.intp], people: int
) -> NDArray[np.float64]:
    """The mean over each person's records; NaN for who has none."""
    counts = np.bincount(owner, minlength=people)
    sums = np.bincount(owner, weights=values, minlength=people)
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.nan))


def _known(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without those who were not shown at all."""
    return shares[~np.isnan(shares)]

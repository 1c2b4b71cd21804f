"""Whatever names people, beside each other: attackers who learn, and those who intersect groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eyelid.attacks.identification import Finding, bound_kind
from eyelid.attacks.statistics import Rate

if TYPE_CHECKING:
    from eyelid.attacks.groups import GroupsAudit
    from eyelid.releases.audits.target import Subject

# What names people in groups: called as protocols are, though nothing is learned.
INTERSECTION = "intersection"
EXACT_INTERSECTION = "intersection, all recordings known"
# The bound on naming somebody by one released record.
_ONE_RECORD = "raw_to_release"


@dataclass(frozen=True)
class NamingAttack:
    """One honest attack that names people.

    Attributes:
        protocol: what the attacker has, by name.
        attacker: by name.
        rate: people named.
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


def naming_attacks(
    subject: Subject, honest: Sequence[Finding], groups: GroupsAudit | None
) -> Iterator[NamingAttack]:
    """All of an audit's.

    Args:
        subject: what was attacked.
        honest: attackers who learned, under honest protocols.
        groups: what was found about groups, if there are any.
    """
    alone, in_all = subject.bounds(), subject.bounds_in_all()
    for found in honest:
        both = (found.bound, in_all.get(bound_kind(found.protocol) or ""))
        yield NamingAttack(found.protocol, found.attacker, found.rate, *both, found.refutes)
    if groups is not None:
        both = (alone.get(_ONE_RECORD), in_all.get(_ONE_RECORD))
        yield NamingAttack(INTERSECTION, "nearest records", groups.intersection, *both)
        yield NamingAttack(EXACT_INTERSECTION, "linear algebra", groups.exact_intersection, *both)

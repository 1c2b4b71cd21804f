"""Mechanisms whose promise is that a record may be any of k people's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.groups.partition import check_k, group_sizes
from eyelid.mechanisms.mechanism import Mechanism, PublicFacts, parameter
from eyelid.mechanisms.release_kind import ReleaseKind
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import PERSON, Neighbours, Unit


@dataclass(frozen=True)
class KAnonymity(Mechanism):
    """k-anonymity of people, and what it costs, whatever is released of a group."""

    kind: ClassVar[Kind] = Kind.K_ANONYMITY
    units: ClassVar[tuple[str, ...]] = ("person",)

    k: int = parameter("people of a group, at least")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_k(self.k)

    @property
    def group_size(self) -> int:
        """K."""
        return self.k

    def taken(self, table: FeatureTable) -> FeatureTable:
        """The rows that go into means: all of them, in order, unless a mechanism chooses some.

        Args:
            table: of everybody.
        """
        return table

    def cost(self, facts: PublicFacts, unit: Unit) -> Guarantee:
        """k, from which no ε follows."""
        group_sizes(facts.people, self.k)
        return Guarantee(
            kind=self.kind,
            unit=PERSON,
            neighbours=Neighbours.REPLACE_ONE,
            trust=self.trust,
            k=self.k,
        )

    def person_total(self, facts: PublicFacts) -> str:
        """That k is about people, and no ε."""
        return (
            f"k-anonymity of a person, over all recordings together: at most 1/{self.k} for naming "
            "a person among the members of a group; it is not differential privacy, has no ε, and "
            "adds up with nothing"
        )

    @property
    def numerics(self) -> str:
        """There is no noise whose digits could tell anything."""
        return "no noise"


@dataclass(frozen=True)
class AnonymisingMechanism(KAnonymity, FeatureMechanism):
    """k-anonymity: what is released is the same for all people of a group of at least k."""

    family: ClassVar[str] = "anonymity"
    takes: ClassVar[str] = "features"
    release: ClassVar[ReleaseKind] = ReleaseKind.GROUPS

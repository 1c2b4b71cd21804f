"""How releases of one kind are compared with their original, checked, attacked and measured.

What differs by kind is declared here as methods with a default; one module for each kind overrides
what is its own, and `eyelid.releases.audits.kinds` has the table that everybody looks it up in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from eyelid.attacks.attackers import Attacker
from eyelid.attacks.one_run import CanaryResult
from eyelid.attacks.outcome import Outcome, Trial
from eyelid.attacks.protocols import Protocol
from eyelid.attacks.target import TableTarget
from eyelid.gaze.features.omission import Blanks
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import RELEASED_FILES
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.releases.audits.canaries import Canaries
from eyelid.releases.audits.consistency import Claim
from eyelid.releases.audits.matching import Pair, beyond, compared, without_values
from eyelid.reporting.audits.results import Audit, TableAudit


@dataclass(frozen=True)
class AuditPlan:
    """What the user asked for.

    Attributes:
        attackers: those who learn from records; a choice of eyelid's own when empty.
        special: those of another kind, by name.
        protocols: how to attack.
        targets: what the data should be good for.
        seed: of random choices.
        partial: whether attackers or protocols were chosen, so that not all are tried.
    """

    attackers: Sequence[Attacker] = ()
    special: Sequence[str] = ()
    protocols: Sequence[Protocol] = ()
    targets: tuple[str, ...] = ()
    seed: int = 0
    partial: bool = False

    def about(self, target: Any) -> dict[str, Any]:
        """What every audit of features says of itself."""
        return {
            "target": target,
            "seed": self.seed,
            "partial": self.partial,
            "targets": self.targets,
        }


class Attack(ABC):
    """What is done about releases of one kind."""

    @abstractmethod
    def audit(self, target: Any, plan: AuditPlan) -> Audit:
        """Attack such a release with everything there is.

        Args:
            target: a pair of the kind's own class.
            plan: what the user asked for.
        """

    @abstractmethod
    def page(self, audit: Any) -> str:
        """The report of such an audit, for the owner of the data."""


class TableAttack(Attack):
    """What is done about releases of features; by default about those that are nobody's own.

    Attributes:
        targets: what such a pair is.
        files: what lies in such a folder.
        canaries: simulated participants to try the whole pipeline on; None where there are none.
    """

    targets: ClassVar[type[TableTarget]] = TableTarget
    files: ClassVar[tuple[str, ...]] = RELEASED_FILES
    canaries: ClassVar[Canaries | None] = None

    def match(
        self, mechanism: FeatureMechanism | None, original: FeatureTable, released: FeatureTable
    ) -> Pair:
        """Both with the features and people to compare, or an error that says what differs."""
        return compared(original, released)

    def faults(self, claim: Claim) -> Iterator[str]:
        """What values and noise of such a release cannot be, in words."""
        yield from ()

    def besides(self, target: TableTarget) -> tuple[list[str], list[str]]:
        """What lies in the folder that no release puts there: inconsistencies, and notes."""
        if target.path is None or target.certificate is None:
            return [], []
        return [], beyond(target.path, self.files)

    def values(self, target: TableTarget) -> TableTarget:
        """The pair without what nothing is known of, and with a note that says so."""
        unseen = Blanks.of(target.original).in_words()
        if not unseen:
            return target
        return noted(target, f"{unseen}; nothing of them is attacked or compared with")

    def completed(self, target: TableTarget) -> TableTarget:
        """The pair with all that is found out by its kind before it is attacked."""
        wrong, notes = self.besides(target)
        target = self.values(noted(target, *notes, inconsistencies=wrong))
        assert target.released is not None, "there is no release"
        return noted(target, *without_values(target.original, target.released))

    @abstractmethod
    def measure(self, trial: Trial) -> Outcome:
        """Run a mechanism of this kind once, attack what comes out, and use it."""

    def page(self, audit: TableAudit) -> str:
        """The report; whose groups and synthetic people are known may be drawn."""
        from eyelid.reporting.audits.page import report

        return report(audit, own=audit.target.groups is not None or audit.synthetic is not None)

    def tried(self, target: TableTarget) -> CanaryResult | None:
        """The mechanism on simulated participants, where there is a claim to contradict."""
        mechanism = target.mechanism
        if mechanism is None or self.canaries is None or not target.claims_to_hold:
            return None
        return self.canaries.run(mechanism) if self.canaries.suit(mechanism) else None


def noted(target: TableTarget, *notes: str, inconsistencies: Sequence[str] = ()) -> TableTarget:
    """A target with more that could not be checked, or that cannot be true."""
    return replace(
        target,
        notes=(*target.notes, *notes),
        inconsistencies=(*target.inconsistencies, *inconsistencies),
    )

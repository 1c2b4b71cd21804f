"""Compare the folders of every mechanism, and of mutants, which must be caught."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from eyelid.engine.engines import spread
from eyelid.mechanisms.mechanism import catalogue, find
from eyelid.releases.consistency.cases import cases_of
from eyelid.releases.consistency.comparison import FolderResult, compare_folders
from eyelid.releases.consistency.mutants import MUTANTS, Mutant
from eyelid.verification.verify import Planted, Verification


@dataclass(frozen=True)
class FolderVerification:
    """What folders show.

    Attributes:
        folders: of every mechanism, in every way that it was released.
        planted: mutants that must be caught.
    """

    folders: tuple[FolderResult, ...]
    planted: tuple[Planted, ...]

    @property
    def refuted(self) -> list[str]:
        """What tells neighbours apart where a guarantee is claimed, in words."""
        return [
            f"what the folder of {each.mechanism}{_with(each.settings)} shows depends on one "
            f"participant ({difference.neighbours}): {difference.what}"
            for each in self.folders
            if each.refuted
            for difference in each.differs
        ]

    @property
    def missed(self) -> list[str]:
        """The mutants that were not caught, in words."""
        return [f"{each.name} in {each.mechanism}" for each in self.planted if not each.caught]


@dataclass(frozen=True)
class WholeVerification:
    """Everything that ``eyelid verify`` tries.

    Attributes:
        claims: games, fuzzes and looks at what mechanisms do.
        shown: what folders show.
    """

    claims: Verification
    shown: FolderVerification

    @property
    def refuted(self) -> list[str]:
        """The claims that turned out false, in words."""
        return [*self.claims.refuted, *self.shown.refuted]

    @property
    def missed(self) -> list[str]:
        """The mutants that were not caught, in words."""
        return [*self.claims.missed, *self.shown.missed]

    @property
    def planted(self) -> tuple[Planted, ...]:
        """All mutants."""
        return (*self.claims.planted, *self.shown.planted)

    @property
    def passed(self) -> bool:
        """Whether no claim fell and every mutant was caught."""
        return not self.refuted and not self.missed

    def to_dict(self) -> dict[str, Any]:
        """As ``eyelid verify --json`` prints it."""
        return self.claims.to_dict() | {
            "folders": [_as_json(each) for each in self.shown.folders],
            "planted": [asdict(each) for each in self.planted],
            "passed": self.passed,
        }


def verify_folders(names: Sequence[str] = ()) -> FolderVerification:
    """Release neighbouring studies by mechanisms and by mutants of them, and compare the folders.

    Args:
        names: of mechanisms; all of the catalogue when empty.
    """
    kinds = [find(name) for name in names] if names else list(catalogue().values())
    cases = [case for kind in kinds for case in cases_of(kind)]
    mutants = [mutant for kind in kinds for mutant in MUTANTS if mutant.mechanism == kind.name]
    return FolderVerification(
        tuple(spread(compare_folders, cases, "comparing folders")),
        tuple(spread(_planted, mutants, "comparing folders of mutants")),
    )


def _planted(mutant: Mutant) -> Planted:
    return Planted(mutant.name, mutant.mechanism, mutant.caught())


def _with(settings: str) -> str:
    return f" with {settings}" if settings else ""


def _as_json(each: FolderResult) -> dict[str, Any]:
    """A result as JSON has it: first whom it is about, last whether it refutes a claim."""
    return {
        "name": each.mechanism,
        "settings": each.settings,
        "holds": each.holds,
        "pairs": each.pairs,
        "same": each.same,
        "differs": [asdict(difference) for difference in each.differs],
        "refuted": each.refuted,
    }

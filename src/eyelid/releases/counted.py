"""What a release that is not yet paid would come to with all that the ledger has counted."""

from __future__ import annotations

from abc import ABC, abstractmethod

from eyelid.mechanisms.mechanism import Shape
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.certificate import other_releases
from eyelid.releases.certifying import bounding, large_deltas
from eyelid.releases.spending import Budget, after, refusal


class Counted(ABC):
    """A price beside what was spent before.

    Attributes:
        shape: the public facts.
        alike: whether people cannot be told apart by what is not protected.
        before: what the ledger has counted of these people; None without a study.
    """

    shape: Shape
    alike: bool
    before: Budget | None

    @property
    @abstractmethod
    def person_level(self) -> Guarantee:
        """For a person, of this release alone."""

    @property
    def others(self) -> str:
        """That other releases of these people exist, or may; empty where none is known of."""
        before = self.before
        return "" if before is None else other_releases(len(before.debits), before.elsewhere)

    @property
    def total(self) -> Guarantee | None:
        """What it would come to with all other releases; None where these may not all be known."""
        return after(self.before, self.person_level)

    @property
    def in_all(self) -> str:
        """What it would come to with all other releases, in a few words."""
        total = self.total
        if total is None:
            return f"not known ({self.others})"
        return total.numbers() if total.holds else f"no bound ({self.others})"

    @property
    def refused(self) -> str:
        """Why the ledger's limit would refuse the release; empty where it would not."""
        return refusal(self.before, self.person_level)

    @property
    def warnings(self) -> list[str]:
        """What every δ that is stated leaves unprotected, where it is at least 1/N."""
        return large_deltas(self.shape.people, self.person_level, self.total)

    @property
    def rank1_bound(self) -> dict[str, float | None]:
        """How often people can be named, at most, with everything that is counted."""
        releases = 1 if self.before is None else 1 + len(self.before.debits)
        total = self.total
        known = bounding(self.person_level, total, releases)
        # What else was released may tell people apart where it is not known.
        alike = self.alike and (self.before is None or not self.before.gaps)
        return rank1_bounds(known if alike else known.broken("told apart"), self.shape.people)

"""What a release that is not yet paid would come to with all that the ledger has counted."""

from __future__ import annotations

from abc import ABC, abstractmethod

from eyelid.mechanisms.mechanism import Shape
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.rank1 import rank1_bounds
from eyelid.releases.certificate import other_releases
from eyelid.releases.certifying import bounding
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
    def total(self) -> Guarantee:
        """What it would come to with everything that the ledger has counted of these people."""
        return after(self.before, self.person_level)

    @property
    def refused(self) -> str:
        """Why the ledger's limit would refuse the release; empty where it would not."""
        return refusal(self.before, self.total)

    @property
    def rank1_bound(self) -> dict[str, float | None]:
        """How often people can be named, at most, with everything counted so far."""
        releases = 1 if self.before is None else 1 + len(self.before.debits)
        known = bounding(self.person_level, self.total, releases)
        return rank1_bounds(known if self.alike else known.broken("told apart"), self.shape.people)

"""The eleven nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eyelid.attacks.attackers.attacker import RowAttacker


@dataclass(frozen=True)
class Knn(RowAttacker):
    """A row is whose most of its eleven nearest known rows are; ties are settled by lot.

    Paper: Bozkir et al. 2021.
    """

    name: str = "knn"
    neighbours: int = 11

    def classifier(self, seed: int, rows: int) -> Any:
        """Shares among the neighbours; all rows where there are fewer."""
        from sklearn.neighbors import KNeighborsClassifier

        # In many dimensions trees are slower than looking at everything.
        return KNeighborsClassifier(min(self.neighbours, rows), algorithm="brute", n_jobs=1)

"""A decision tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eyelid.attacks.attackers.attacker import RowAttacker


@dataclass(frozen=True)
class Tree(RowAttacker):
    """One tree, grown until its leaves are pure.

    Paper: Bozkir et al. 2021.
    """

    name: str = "tree"
    most_people: int | None = 200

    def classifier(self, seed: int, rows: int) -> Any:
        """The tree."""
        from sklearn.tree import DecisionTreeClassifier

        return DecisionTreeClassifier(random_state=seed)

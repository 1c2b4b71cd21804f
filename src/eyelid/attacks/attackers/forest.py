"""A random forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eyelid.attacks.attackers.attacker import RowAttacker
from eyelid.attacks.classifiers import RandomForest


@dataclass(frozen=True)
class Forest(RowAttacker):
    """A random forest, larger than the ten trees of Bozkir et al. 2021: an attacker takes the time.

    On simulated people neither more trees nor twice the rows name more.
    """

    name: str = "forest"
    most_people: int | None = 200
    trees: int = 60
    rows_per_person: int = 30

    def classifier(self, seed: int, rows: int) -> Any:
        """The forest."""
        return RandomForest(self.trees, seed, min_samples_leaf=2)

"""A support vector machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eyelid.attacks.attackers.attacker import RowAttacker


@dataclass(frozen=True)
class Svm(RowAttacker):
    """Support vectors of Gaussian kernels, C = 1, kernel scale from the data, one against one.

    Scores are duels won, and by how much; not Platt's probabilities, which take five fits more.

    Paper: Bozkir et al. 2021. Their automatic kernel scale is MATLAB's; here it is the number of
    features times the variance, as scikit-learn has it.
    """

    name: str = "svm"
    # Every two people need a machine of their own.
    most_people: int | None = 50

    def classifier(self, seed: int, rows: int) -> Any:
        """The machine."""
        from sklearn.svm import SVC

        return SVC(C=1.0, gamma="scale", random_state=seed)

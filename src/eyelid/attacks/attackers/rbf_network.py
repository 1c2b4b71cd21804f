"""The network of Gaussian bumps that biometrics uses for eye movements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import RowAttacker

Values = NDArray[np.float64]

# Of the mean squared activation: centres that lie close together then share their weight.
_RIDGE = 1e-3
# Of k-means, which has settled by then.
_ROUNDS = 30


@dataclass(frozen=True)
class RbfNetwork(RowAttacker):
    """Centres of each person's rows, Gaussian activations around them, least squares on top.

    Paper: George & Routray 2016, A score level fusion method for eye movement biometrics; with
    rows condensed as for every attacker, a touch of ridge in the least squares, and 8 centres a
    person (settled on simulated people among 4, 8, 16 and 32).
    """

    name: str = "rbf-network"
    most_people: int | None = 200
    centres: int = 8

    def classifier(self, seed: int, rows: int) -> Any:
        """The network."""
        return GaussianNetwork(self.centres, seed)


class GaussianNetwork:
    """k-means centres for each class, Gaussian activations, least squares to one output a class."""

    def __init__(self, centres: int, seed: int) -> None:
        self.centres, self.seed = centres, seed

    def fit(self, values: Values, classes: NDArray[np.intp]) -> GaussianNetwork:
        """Place the centres class by class, then weigh them all together."""
        names = np.unique(classes)
        placed = [self._place(values[classes == name]) for name in names]
        self._centres = np.concatenate([centres for centres, _ in placed])
        widths = np.concatenate([widths for _, widths in placed])
        # A centre of one row has no width of its own: it takes the usual one.
        usual = float(np.median(widths[widths > 0])) if np.any(widths > 0) else 1.0
        self._precision = 0.5 / np.where(widths > 0, widths, usual)
        active = self._activations(values)
        gram = active.T @ active
        gram[np.diag_indices_from(gram)] += _RIDGE * np.trace(gram) / len(gram)
        self._weights = np.linalg.solve(gram, active.T @ (classes[:, None] == names).astype(float))
        return self

    def decision_function(self, values: Values) -> Values:
        """The outputs, one a class."""
        return np.asarray(self._activations(values) @ self._weights)

    def _place(self, values: Values) -> tuple[Values, Values]:
        """Centres of one class by k-means, and the mean squared distance of their rows."""
        from scipy.spatial.distance import cdist

        distinct = np.unique(values, axis=0)
        count = min(self.centres, len(distinct))
        rng = np.random.default_rng(self.seed)
        centres = distinct[rng.choice(len(distinct), count, replace=False)]
        for _ in range(_ROUNDS):
            label = cdist(values, centres, "sqeuclidean").argmin(axis=1)
            mine = label == np.arange(count)[:, None]
            members = mine.sum(axis=1)
            # A centre that lost all its rows stays where it was.
            moved = np.where(
                members[:, None] > 0, mine @ values / np.maximum(members, 1)[:, None], centres
            )
            if np.array_equal(moved, centres):
                break
            centres = moved
        squared = ((values - centres[label]) ** 2).sum(axis=1)
        return centres, np.bincount(label, squared, count) / np.maximum(members, 1)

    def _activations(self, values: Values) -> Values:
        from scipy.spatial.distance import cdist

        squared = cdist(values, self._centres, "sqeuclidean")
        return np.asarray(np.exp(-squared * self._precision))

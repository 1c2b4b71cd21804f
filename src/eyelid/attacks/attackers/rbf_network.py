"""Networks of Gaussian bumps, which biometrics uses for eye movements: the published one and ours.

Both place centres among each person's rows, activate them by a Gaussian around each, and weigh the
activations by least squares. They differ in what they are fed: the published one single feature
vectors, ours means of neighbouring ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import Recognise, RowAttacker, for_everybody
from eyelid.attacks.records import Records
from eyelid.attacks.scores import Scores

Values = NDArray[np.float64]

# Of k-means, which has settled by then.
_ROUNDS = 30
# Rows that are activated at a time: as many as memory has room for, times the centres.
_BATCH = 8192


@dataclass(frozen=True)
class RbfNetwork(RowAttacker):
    """Centres of each person's rows, Gaussian activations around them, least squares on top.

    After George & Routray 2016, A score level fusion method for eye movement biometrics, with rows
    condensed as for every attacker here, a touch of ridge in the least squares, and 8 centres a
    person (settled on simulated people among 4, 8, 16 and 32). `SingleVectorNetwork` is theirs.
    """

    name: str = "rbf-network"
    most_people: int | None = 200
    centres: int = 8

    def classifier(self, seed: int, rows: int) -> Any:
        """The network."""
        return GaussianNetwork(self.centres, seed)


@dataclass(frozen=True)
class SingleVectorNetwork:
    """The published network: fed single feature vectors, whose scores are averaged over a record.

    Paper: George & Routray 2016, A score level fusion method for eye movement biometrics, as
    David-John et al. 2022 use it. Every vector is learned from as it is, in units of its spread;
    nothing is condensed, and nothing is taken off that is usual in a task. The papers do not print
    how many centres a person has: 32 is the default of the public implementation of Schröder et al.
    2020, whom David-John et al. cite.
    """

    name: str = "rbf-network-single"
    centres: int = 32

    def learn(self, known: Records, seed: int) -> Recognise:
        """Fit on every standardised row; the same scaling is used on whatever is shown."""
        centre, scale = known.values.mean(axis=0), known.values.std(axis=0)
        # A constant feature tells nobody apart, however small its span.
        scale = np.where(scale > 1e-12, scale, np.inf)
        people = np.unique(known.owner)
        network = GaussianNetwork(self.centres, seed, ridge=1e-6, power=1)
        network.fit((known.values - centre) / scale, known.person)

        def recognise(shown: Records) -> Scores:
            rows = network.decision_function((shown.values - centre) / scale)
            averaged = for_everybody(shown.per_record(rows), people, len(shown.people))
            return Scores(averaged, None, shown.owner)

        return recognise


class GaussianNetwork:
    """k-means centres for each class, Gaussian activations, least squares to one output a class."""

    def __init__(self, centres: int, seed: int, ridge: float = 1e-3, power: int = 2) -> None:
        """The network before it has learned.

        Args:
            centres: of each class.
            seed: of where k-means begins.
            ridge: of the mean squared activation: centres that lie close together then share their
                weight.
            power: a bump is as wide as the mean distance of its rows from its centre (1), or as the
                root of their mean squared distance (2).
        """
        self.centres, self.seed, self.ridge, self.power = centres, seed, ridge, power

    def fit(self, values: Values, classes: NDArray[np.intp]) -> GaussianNetwork:
        """Place the centres class by class, then weigh them all together."""
        names = np.unique(classes)
        placed = [self._place(values[classes == name]) for name in names]
        self._centres = np.concatenate([centres for centres, _ in placed])
        widths = np.concatenate([widths for _, widths in placed])
        # A centre of one row has no width of its own: it takes the usual one.
        usual = float(np.median(widths[widths > 0])) if np.any(widths > 0) else 1.0
        self._precision = 0.5 / np.where(widths > 0, widths, usual)
        gram = np.zeros((len(self._centres), len(self._centres)))
        target = np.zeros((len(self._centres), len(names)))
        for start in range(0, len(values), _BATCH):
            batch = slice(start, start + _BATCH)
            active = self._activations(values[batch])
            gram += active.T @ active
            target += active.T @ (classes[batch, None] == names).astype(float)
        gram[np.diag_indices_from(gram)] += self.ridge * np.trace(gram) / len(gram)
        self._weights = np.linalg.solve(gram, target)
        return self

    def decision_function(self, values: Values) -> Values:
        """The outputs, one a class."""
        starts = range(0, len(values), _BATCH)
        return np.concatenate(
            [self._activations(values[start : start + _BATCH]) @ self._weights for start in starts]
        )

    def _place(self, values: Values) -> tuple[Values, Values]:
        """Centres of one class by k-means, and the squared width of the bump around each."""
        distinct = np.unique(values, axis=0)
        count = min(self.centres, len(distinct))
        rng = np.random.default_rng(self.seed)
        centres = distinct[rng.choice(len(distinct), count, replace=False)]
        for _ in range(_ROUNDS):
            label = _squared_distances(values, centres).argmin(axis=1)
            mine = label == np.arange(count)[:, None]
            members = mine.sum(axis=1)
            # A centre that lost all its rows stays where it was.
            moved = np.where(
                members[:, None] > 0, mine @ values / np.maximum(members, 1)[:, None], centres
            )
            if np.array_equal(moved, centres):
                break
            centres = moved
        away = ((values - centres[label]) ** 2).sum(axis=1) ** (self.power / 2)
        mean = np.bincount(label, away, count) / np.maximum(members, 1)
        return centres, mean ** (2 / self.power)

    def _activations(self, values: Values) -> Values:
        return np.asarray(np.exp(-_squared_distances(values, self._centres) * self._precision))


def _squared_distances(values: Values, centres: Values) -> Values:
    """Squared distances of every row from every centre, by one product."""
    squares = np.square(values).sum(axis=1)[:, None] + np.square(centres).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * values @ centres.T, 0.0))

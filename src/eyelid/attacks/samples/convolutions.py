"""Random convolutions of how gaze moves, with a linear head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.attackers.attacker import Recognise, for_everybody
from eyelid.attacks.records import Records, usual_in
from eyelid.attacks.samples.kernels import Kernels
from eyelid.attacks.scores import Scores

NAME = "convolutions"

Values = NDArray[np.float32]


@dataclass(frozen=True)
class Convolutions:
    """Shares above thresholds of random convolutions, ridge regression on top, summed over windows.

    From every feature is taken what is usual in the task, as `RowAttacker` does: the mean over all
    recordings of it that the source has, which the attacker knows without names.

    Paper: Dempster et al. 2021, MiniROCKET; that such features re-identify people by their eyes
    follows from Lohr et al. 2022, who train networks on the same velocities. The weight of the
    ridge is per feature. Where sources differ as a whole, as synthetic gaze and people's do, what
    is usual is taken of each source by itself.
    """

    name: str = NAME
    ridge: float = 0.03
    by_source: bool = False

    def learn(self, known: Records, seed: int) -> Recognise:
        """Read thresholds off the known windows, and learn whose they are."""
        kernels = Kernels.of(known.windows, seed)
        crowd = _features(known.crowd or known, kernels)
        usual = usual_in(crowd)
        records = _features(known, kernels)
        own = records.without(usual).values
        centre, scale = own.mean(axis=0), own.std(axis=0) + 1e-3
        people, person = np.unique(records.person, return_inverse=True)
        weights, middle = _ridge((own - centre) / scale, person, len(people), self.ridge)

        def recognise(shown: Records) -> Scores:
            seen = _features(shown, kernels)
            if self.by_source and shown.crowd is not None:
                seen = seen.without(usual_in(_features(shown.crowd, kernels)))
            else:
                seen = seen.without(usual)
            found = ((seen.values - centre) / scale) @ weights + middle
            votes = np.zeros((len(seen.owner), len(seen.people)))
            best = found == found.max(axis=1, keepdims=True)
            votes[:, people] = seen.per_record(best / best.sum(axis=1, keepdims=True))
            averaged = for_everybody(seen.per_record(found), people, len(seen.people))
            return Scores(averaged, votes, seen.owner)

        return recognise


def _features(records: Records, kernels: Kernels) -> Records:
    """Records of shares in place of windows."""
    shares: Any = kernels.shares(records.windows)
    return Records(shares, records.record, records.owner, records.tasks, records.people)


def _ridge(
    values: Any, person: NDArray[np.intp], people: int, weight: float
) -> tuple[Values, NDArray[np.float64]]:
    """Weights of features to one output a person, all people counting alike; and the outputs' mean.

    Solved over rows or over features, whatever there is less of.
    """
    from scipy.linalg import cho_factor, cho_solve

    target = np.zeros((len(values), people))
    target[np.arange(len(values)), person] = 1.0
    target /= target.sum(axis=0) * people / len(values)
    middle = target.mean(axis=0)
    by_rows = len(values) < values.shape[1]
    gram = (values @ values.T if by_rows else values.T @ values).astype(np.float64)
    gram[np.diag_indices_from(gram)] += weight * values.shape[1]
    factor = cho_factor(gram, overwrite_a=True, check_finite=False)
    away = target - middle
    if by_rows:
        found = values.T @ cho_solve(factor, away).astype(np.float32)
    else:
        found = cho_solve(factor, values.T @ away.astype(np.float32))
    return np.asarray(found, dtype=np.float32), middle

"""A game against plausible deniability as printed: whose value is this?

Of many rows that are alike, one has a value that no other row has. If k rows might have given each
released row, as is printed, nobody names the right one with a probability above 1/k. Whoever sees
that value in a release knows whose it is.
"""

from __future__ import annotations

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.privacy.noise import Randomness
from eyelid.verification.game import ALPHA, GameResult

_RELEASES = 100
_PEOPLE, _ROWS = 4, 25
_COMMON, _RARE = 0.2, 0.9


def play_deniability(mechanism: FeatureMechanism, noise: Randomness) -> GameResult:
    """Release rows of which one is rare many times, and see whether it shows.

    Args:
        mechanism: that claims plausible deniability of a row, with its parameters.
        noise: its randomness.
    """
    values = np.full((_PEOPLE, 1, _ROWS, 1), _COMMON)
    values[0, 0, 0] = _RARE
    table = table_from_arrays(values, [Feature("feature", "", "", 0.0, 1.0)])
    middle = (_COMMON + _RARE) / 2
    seen = sum(
        float(mechanism.apply(table, noise).data["feature"].to_numpy().max()) > middle
        for _ in range(_RELEASES)
    )
    claimed = mechanism.cost(mechanism.shape(table), mechanism.unit)
    assert claimed.k is not None, "plausible deniability is of one among k rows"
    return GameResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        calibrated_for=str(mechanism.unit),
        measure="identification",
        claimed=1 / claimed.k,
        lower_bound=float(clopper_pearson(seen, _RELEASES, ALPHA)[0]),
        runs=_RELEASES,
        neighbours="a value that one row alone has",
        holds=mechanism.claims_to_hold,
    )

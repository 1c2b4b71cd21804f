"""Is a release as noisy as its mechanism would have made it? Made again a few times, and compared.

For releases whose noise cannot be read off: means that are clipped, windows made of noisy bins,
coefficients that the mechanism chose. How far the release is from the average of fresh ones is
compared with how far each of these is from the others.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.features import FeatureMechanism
from eyelid.mechanisms.mechanism import Values
from eyelid.privacy.noise import SystemRandomness

_RUNS = 12
# A sound release is as far off as the fresh ones: six of their standard deviations are never met,
# also where a dozen runs understate it, and with few numbers nothing is.
_SIGMAS = 6.0
_SHARE = 0.9
_MOST_VALUES = 1 << 22


def quieter_than_again(
    mechanism: FeatureMechanism, taken: FeatureTable, released: FeatureTable
) -> str | None:
    """How a release has less noise than its mechanism adds, in words; None if it has not.

    Args:
        mechanism: the mechanism that is said to have made it.
        taken: everything that it was made of, as the mechanism takes it.
        released: what was made of it.
    """
    source = SystemRandomness()
    shown = _values(released, released)
    again = np.stack([_values(mechanism.apply(taken, source), released) for _ in range(_RUNS)])
    if again.shape[1:] != shown.shape:
        return "the release has not the rows that the mechanism gives it"
    total = again.sum(axis=0)
    apart = [_distance(one, (total - one) / (_RUNS - 1)) for one in again]
    # Against one less, too, so that the averages are alike.
    mine = _distance(shown, (total - again[0]) / (_RUNS - 1))
    usual = float(np.mean(apart))
    least = usual - _SIGMAS * float(np.std(apart, ddof=1))
    if mine >= min(least, _SHARE * usual):
        return None
    share = mine / usual
    return f"the release is {share:.2g} times as far from fresh ones as these are from each other"


def _values(table: FeatureTable, like: FeatureTable) -> Values:
    """Values as shares of the range, of so many rows, evenly spread, as an attack can look at."""
    lowers = np.array([feature.lower for feature in like.features])
    spans = np.array([feature.span for feature in like.features])
    stride = max(1, len(like.data) * len(like.features) * _RUNS // _MOST_VALUES)
    rows = table.data.select(like.names).cast(pl.Float64)[::stride].to_numpy()
    return np.asarray((rows - lowers) / spans)


def _distance(one: Values, other: Values) -> float:
    return float(np.sqrt(((one - other) ** 2).mean()))

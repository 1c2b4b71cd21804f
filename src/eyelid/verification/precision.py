"""The precision attack: do the low-order digits of an output betray the input?

Floating-point numbers are denser near zero than near one. Noise drawn and added in floating point
therefore lands on different numbers for different inputs (Mironov 2012). Exact noise lives on one
public grid whatever the input was.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eyelid.attacks.statistics import clopper_pearson
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import NeighbourPair, Values
from eyelid.privacy.noise import Randomness
from eyelid.verification.game import ALPHA, GameResult, game_result


def finest_bit(values: Values) -> np.ndarray:
    """The exponent of the lowest set bit of each number: how fine the digits go.

    >>> finest_bit(np.array([1.0, 0.75, 6.0]))
    array([ 0, -2,  1])
    """
    mantissa, exponent = np.frexp(values)
    whole = (np.abs(mantissa) * 2.0**53).astype(np.int64)
    lowest = whole & -whole
    zeros = np.frexp(np.maximum(lowest, 1).astype(np.float64))[1] - 1
    return np.where(whole == 0, 1024, exponent.astype(np.int64) - 53 + zeros)


def attack(
    mechanism: DifferentialMechanism, pair: NeighbourPair, runs: int, noise: Randomness
) -> GameResult:
    """Tell the neighbours apart by how fine the digits of the first value are.

    The coarsest output of ``pair.other`` seen in one half of the runs is the threshold; the other
    half certifies how often ``pair.one`` is finer.
    """
    one = finest_bit(mechanism.play(pair.one, pair.shape, 2 * runs, noise)[:, 0])
    other = finest_bit(mechanism.play(pair.other, pair.shape, 2 * runs, noise)[:, 0])
    threshold = other[:runs].min()
    finer_one = int((one[runs:] < threshold).sum())
    finer_other = int((other[runs:] < threshold).sum())
    low, _ = clopper_pearson(finer_one, runs, ALPHA)
    _, high = clopper_pearson(finer_other, runs, ALPHA)
    claim = mechanism.cost(pair.shape, pair.unit)
    # Digits know nothing of Gaussian tails: the claim is held to its ε and δ.
    claim = replace(claim, mu=None)
    loss = float(np.log(np.maximum(low - (claim.delta or 0.0), 1e-300) / high))
    return replace(
        game_result(mechanism, pair, claim, max(0.0, loss), runs), neighbours="low-order digits"
    )

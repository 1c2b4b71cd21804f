"""The distinguishing game: can an attacker tell two neighbouring datasets apart too well?

The mechanism is run many times on each of two worst-case neighbours. A threshold on the attacker's
score is chosen on one half of the runs; on the other half exact confidence limits of the true and
false positive rates give a lower bound on the privacy loss. A claim below that bound is refuted.

Low-order digits are looked at apart. Floating-point numbers are denser near zero than near one.
Noise drawn and added in floating point therefore lands on different numbers for different inputs
(Mironov 2012). Exact noise lives on one public grid whatever the input was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.statistics import clopper_pearson, lower_limit, upper_limit
from eyelid.mechanisms.differential import DifferentialMechanism
from eyelid.mechanisms.mechanism import Mechanism, NeighbourPair, PublicFacts, Values
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import Unit

# The chance of refuting a true claim, over all games about one claim together.
ALPHA = 1e-6
_THRESHOLDS = 400
_BEYOND = 1e12


@dataclass(frozen=True)
class GameResult:
    """How one game about one claim went.

    Attributes:
        mechanism: its name.
        unit: where the neighbours differ.
        calibrated_for: the unit that the mechanism was asked to protect.
        measure: ``epsilon`` or ``mu``; of k-anonymity, what share of attacks is right.
        claimed: the claimed value of the measure.
        lower_bound: what the runs certify, at confidence 1 − 1e-6.
        runs: test runs per side.
        neighbours: the pair that gave the bound.
        holds: what the mechanism says of itself.
        settings: what sets this one apart from others of its kind that are played against.
    """

    mechanism: str
    unit: str
    calibrated_for: str
    measure: str
    claimed: float
    lower_bound: float
    runs: int
    neighbours: str
    holds: bool
    settings: str = ""

    @property
    def refuted(self) -> bool:
        """Whether the claim is false."""
        return self.lower_bound > self.claimed


def of_guesses(
    mechanism: Mechanism,
    measure: str,
    claimed: float,
    *,
    right: int,
    runs: int,
    alpha: float,
    neighbours: str,
) -> GameResult:
    """How a game went whose claim is a share of right guesses.

    Args:
        mechanism: that was played against.
        measure: what is claimed.
        claimed: the share at most.
        right: guesses that were.
        runs: all guesses.
        alpha: the chance of refuting a true claim.
        neighbours: what was guessed.
    """
    return GameResult(
        mechanism=mechanism.name,
        unit=str(mechanism.unit),
        calibrated_for=str(mechanism.unit),
        measure=measure,
        claimed=claimed,
        lower_bound=float(clopper_pearson(right, runs, alpha)[0]),
        runs=runs,
        neighbours=neighbours,
        holds=mechanism.claims_to_hold,
    )


Claim = Callable[[PublicFacts], Guarantee]


def play(
    mechanism: DifferentialMechanism,
    unit: Unit,
    runs: int,
    noise: Randomness,
    claim: Claim | None = None,
) -> GameResult:
    """Play against a mechanism's claim about one unit.

    Args:
        mechanism: with its parameters.
        unit: where the neighbours differ.
        runs: test runs per side; as many again choose the threshold.
        noise: the mechanism's randomness.
        claim: what is claimed for a shape; the mechanism's own cost by default.
    """
    pairs = list(mechanism.neighbour_pairs(unit))
    # Three directions, two measures and several pairs are tried: they share the error rate.
    alpha = ALPHA / (6 * len(pairs))
    results = []
    for pair in pairs:
        promised = claim(pair.facts) if claim else mechanism.cost(pair.facts, unit)
        one = _scores(mechanism, pair, pair.one, 2 * runs, noise)
        other = _scores(mechanism, pair, pair.other, 2 * runs, noise)
        # A Gaussian's μ and the (ε, δ) made of it are two claims.
        claims = [promised] if promised.mu is None else [promised, replace(promised, mu=None)]
        for one_claim in claims:
            bound = max(
                _lower_bound(one, other, one_claim, alpha),
                _lower_bound(-other, -one, one_claim, alpha),
                _lower_bound(other, one, one_claim, alpha),
            )
            results.append(_result(mechanism, pair, one_claim, bound, runs))
    return max(results, key=lambda result: result.lower_bound / result.claimed)


def _result(
    mechanism: DifferentialMechanism,
    pair: NeighbourPair,
    promised: Guarantee,
    bound: float,
    runs: int,
) -> GameResult:
    """What a game about this claim has shown, in the claim's own measure."""
    in_mu = promised.mu is not None
    return GameResult(
        mechanism=mechanism.name,
        unit=str(pair.unit),
        calibrated_for=str(mechanism.unit),
        measure="mu" if in_mu else "epsilon",
        claimed=float((promised.mu if in_mu else promised.epsilon) or 0.0),
        lower_bound=bound,
        runs=runs,
        neighbours=pair.name,
        holds=mechanism.claims_to_hold,
    )


def _scores(
    mechanism: DifferentialMechanism,
    pair: NeighbourPair,
    values: Values,
    runs: int,
    noise: Randomness,
) -> Values:
    """Scores of the runs, in batches that fit in memory."""
    batch = max(1, min(runs, 200_000))
    parts = []
    for start in range(0, runs, batch):
        outputs = mechanism.play(values, pair.facts, min(batch, runs - start), noise)
        scores = mechanism.score(outputs, pair)
        # An output that is no number is an event like any other, and a telling one.
        parts.append(np.where(np.isfinite(outputs).all(axis=1), scores, np.inf))
    return np.concatenate(parts)


def _lower_bound(null: Values, alternative: Values, claim: Guarantee, alpha: float) -> float:
    """The certified loss of the best threshold: found on one half, measured on the other."""
    half = null.size // 2
    # Far above every score, yet a number: quantiles of infinities are none.
    null, alternative = (np.clip(s, -_BEYOND, _BEYOND) for s in (null, alternative))
    first = np.sort(null[:half]), np.sort(alternative[:half])
    candidates = np.unique(_quantiles(np.sort(np.concatenate(first), kind="stable"), _levels()))
    # A claim may fail by an atom at a score: ask for 'above' and for 'at least'.
    candidates = np.concatenate([candidates, np.nextafter(candidates, -np.inf)])
    chosen = candidates[np.argmax(_losses(*first, candidates, claim, alpha))]
    second = np.sort(null[half:]), np.sort(alternative[half:])
    return float(_losses(*second, chosen[None], claim, alpha)[0])


def _quantiles(scores: Values, levels: Values) -> Values:
    """``np.quantile`` of scores in order, which need not be put in order again."""
    place = levels * (scores.size - 1)
    below = place.astype(np.int64)
    share = place - below
    low, high = scores[below], scores[np.minimum(below + 1, scores.size - 1)]
    step = high - low
    return np.where(share < 0.5, low + step * share, high - step * (1 - share))


def _levels() -> Values:
    tails = np.geomspace(1e-4, 0.05, _THRESHOLDS // 4)
    return np.concatenate([tails, np.linspace(0.05, 0.95, _THRESHOLDS // 2), 1 - tails[::-1]])


def _losses(
    null: Values,
    alternative: Values,
    thresholds: Values,
    claim: Guarantee,
    alpha: float,
) -> Values:
    """Lower bounds on ε or μ from the rates of exceeding each threshold; scores are in order."""
    from scipy.special import ndtri

    # Many thresholds leave as many scores above them; limits take longer than counting.
    false, same_false = _exceeding(null, thresholds)
    true, same_true = _exceeding(alternative, thresholds)
    false_high = upper_limit(false, null.size, alpha / 2)[same_false]
    true_low = lower_limit(true, alternative.size, alpha / 2)[same_true]
    if claim.mu is not None:
        slack = claim.slack
        with np.errstate(divide="ignore", invalid="ignore"):
            mu = ndtri(np.maximum(true_low - slack, 0)) - ndtri(np.minimum(false_high + slack, 1))
        certified: Values = np.nan_to_num(mu, nan=0.0, neginf=0.0, posinf=0.0)
        return certified
    gain = np.maximum(true_low - (claim.delta or 0.0), 1e-300)
    return np.maximum(np.log(gain / np.maximum(false_high, 1e-300)), 0.0)


def _exceeding(scores: Values, thresholds: Values) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """The counts of scores above thresholds, each once, and which is whose."""
    counts = scores.size - np.searchsorted(scores, thresholds, side="right")
    return np.unique(counts, return_inverse=True)


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


def attack_digits(
    mechanism: DifferentialMechanism, pair: NeighbourPair, runs: int, noise: Randomness
) -> GameResult:
    """Tell the neighbours apart by how fine the digits of the first value are.

    The coarsest output of ``pair.other`` seen in one half of the runs is the threshold; the other
    half certifies how often ``pair.one`` is finer.
    """
    one = finest_bit(mechanism.play(pair.one, pair.facts, 2 * runs, noise)[:, 0])
    other = finest_bit(mechanism.play(pair.other, pair.facts, 2 * runs, noise)[:, 0])
    threshold = other[:runs].min()
    finer_one = int((one[runs:] < threshold).sum())
    finer_other = int((other[runs:] < threshold).sum())
    low, _ = clopper_pearson(finer_one, runs, ALPHA)
    _, high = clopper_pearson(finer_other, runs, ALPHA)
    claim = mechanism.cost(pair.facts, pair.unit)
    # Digits know nothing of Gaussian tails: the claim is held to its ε and δ.
    claim = replace(claim, mu=None)
    loss = float(np.log(np.maximum(low - (claim.delta or 0.0), 1e-300) / high))
    return replace(
        _result(mechanism, pair, claim, max(0.0, loss), runs), neighbours="low-order digits"
    )

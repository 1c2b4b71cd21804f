"""Auditing a claim in one run: many canaries, each with a secret fair coin, and guesses at them.

After Steinke, Nasr & Jagielski (2023), "Privacy auditing with one (1) training run". Canary i is
a person whose data are A or B by the toss of a coin. The mechanism runs once on all of them. An
attacker who sees only the output guesses r of the m coins and abstains from the others.

**Pure ε.** Flipping one coin replaces the data of one person, so the map from coins to outputs is
ε-DP in every coordinate for replace-one neighbours. Given the output, and given all other coins,
the odds of a coin are at most e^ε : 1. So the number of right guesses is dominated by
Binomial(r, e^ε/(1 + e^ε)), whatever the dependence between people. Randomised response attains
it: nothing sharper is true.

**(ε, δ).** For r fixed beforehand, P(right ≥ v) ≤ P(W ≥ v) + 2mδ·max_i P(v − i ≤ W < v)/i, with
W the same binomial and i from 1 to v (their Theorem 5.2).

**μ-GDP, local releases.** Where each person's own record is made private by noise of its own, the
coins are m independent games. No guess from a record is right more often than Φ(μ/2), so the
number of right guesses of all m is dominated by Binomial(m, Φ(μ/2)). A refutation says that μ is
larger or that people share noise; either makes a local certificate false.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from eyelid.attacks.statistics import clopper_pearson
from eyelid.errors import InputError
from eyelid.privacy.composition import replace_one
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.unit import Trust

# The chance of refuting a true claim: small, since an audit that is run often must not cry wolf.
ALPHA = 1e-3
# All guesses, the surer half, the surer quarter and so on: whose number must be fixed beforehand.
_HALVINGS = 6
_FEWEST_GUESSES = 8
_LARGEST_EPSILON = 60.0


@dataclass(frozen=True)
class OneRun:
    """What one run has shown of a claim.

    Attributes:
        measure: ``epsilon`` or ``mu``, whichever of the claim's numbers fared worse.
        claimed: its value.
        lower_bound: what the guesses certify, over all that was tried, at confidence 1 − 1e-3
            unless another one was asked for.
        reach: the largest bound that this many canaries could have certified, all guesses being
            right. A claim beyond it cannot be refuted here, true or not.
        canaries: how many coins there were.
        guesses: from how many the attacker did not abstain.
        right: how many of these were right.
        p_value: of so many right ones if the claim held, over all that was tried.
    """

    measure: Literal["epsilon", "mu"]
    claimed: float
    lower_bound: float
    reach: float
    canaries: int
    guesses: int
    right: int
    p_value: float

    @property
    def refuted(self) -> bool:
        """Whether the claim is false."""
        return self.p_value < ALPHA

    @property
    def could_refute(self) -> bool:
        """Whether any outcome could have refuted the claim."""
        return self.reach > self.claimed


def one_run(
    scores: NDArray[np.float64],
    coins: NDArray[np.bool_],
    claim: Guarantee,
    bound_alpha: float = ALPHA,
) -> OneRun:
    """What guesses by the sign of a score say about a claim.

    Args:
        scores: per canary, from the output alone: positive for heads, and larger where it is surer.
        coins: how they fell.
        claim: for the unit in which a canary's A and B differ.
        bound_alpha: the chance that the lower bound is above the truth; what refutes a claim has
            that of 1e-3, whatever it is.

    >>> from eyelid.privacy.guarantee import Kind
    >>> from eyelid.privacy.unit import PERSON, Neighbours
    >>> told = np.random.default_rng(1).random(200) < 0.5
    >>> claim = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    >>> found = one_run(np.where(told, 1.0, -1.0), told, claim)
    >>> found.guesses, found.right, found.refuted
    (200, 200, True)
    """
    canaries = len(coins)
    if len(scores) != canaries or canaries < _FEWEST_GUESSES:
        raise InputError(
            f"{len(scores)} scores of {canaries} canaries: give one each, of at least "
            f"{_FEWEST_GUESSES}"
        )
    if np.isnan(scores).any():
        raise InputError("a score that is no number guesses nothing: give 0 where there is a tie")
    claim = replace_one(claim)
    right = ((scores > 0) == coins)[np.argsort(-np.abs(scores), kind="stable")]
    counts = [canaries >> k for k in range(_HALVINGS) if canaries >> k >= _FEWEST_GUESSES]
    local = claim.mu is not None and claim.trust is Trust.LOCAL
    tried = local + (len(counts) if claim.epsilon is not None else 0)
    if not tried:
        raise InputError(
            f"one run audits claims of ε, or of μ for local releases: {claim.kind} has neither here"
        )
    alpha = bound_alpha / tried
    found = []
    if claim.epsilon is not None:
        delta = claim.delta or 0.0
        reach = max(epsilon_lower_bound(canaries, r, r, delta, alpha) for r in counts)
        for r in counts:
            v = int(right[:r].sum())
            found.append(
                OneRun(
                    "epsilon",
                    claim.epsilon,
                    epsilon_lower_bound(canaries, r, v, delta, alpha),
                    reach,
                    canaries,
                    r,
                    v,
                    min(1.0, tried * p_value(canaries, r, v, claim.epsilon, delta)),
                )
            )
    if claim.mu is not None and local:
        v = int(right.sum())
        found.append(
            OneRun(
                "mu",
                claim.mu,
                mu_lower_bound(canaries, v, alpha, claim.slack),
                mu_lower_bound(canaries, canaries, alpha, claim.slack),
                canaries,
                canaries,
                v,
                min(1.0, tried * _tail(canaries, v, gaussian_accuracy(claim.mu, claim.slack))),
            )
        )
    return min(found, key=lambda one: (one.p_value, -one.lower_bound / max(one.claimed, 1e-300)))


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float = 0.0) -> float:
    """The chance of so many right guesses under (ε, δ)-DP, at most.

    Args:
        canaries: m, coins tossed.
        guesses: r, fixed beforehand.
        right: v.
        epsilon: ε of the claim.
        delta: δ of the claim.

    >>> round(p_value(100, 20, 20, 1.0), 5), p_value(100, 20, 0, 1.0)
    (0.0019, 1.0)
    """
    if not 0 <= right <= guesses <= canaries:
        raise InputError(
            f"{right} right of {guesses} guesses at {canaries} coins: each must be at most the next"
        )
    accuracy = 1.0 / (1.0 + math.exp(-epsilon))
    tail = _tail(guesses, right, accuracy)
    if delta == 0 or right == 0:
        return tail
    from scipy.special import gammaln, xlog1py

    count = np.arange(right - 1, -1, -1)
    ways = gammaln(guesses + 1) - gammaln(count + 1) - gammaln(guesses - count + 1)
    # P(v − i ≤ W < v) for i = 1 … v.
    below = np.cumsum(
        np.exp(ways + count * math.log(accuracy) + xlog1py(guesses - count, -accuracy))
    )
    steepest = float((below / np.arange(1, right + 1)).max())
    return min(1.0, tail + 2 * canaries * delta * steepest)


@functools.lru_cache(maxsize=4096)
def epsilon_lower_bound(
    canaries: int, guesses: int, right: int, delta: float = 0.0, alpha: float = ALPHA
) -> float:
    """An ε that the guesses refute together with every smaller one, at that δ; 0 if none.

    >>> round(epsilon_lower_bound(1000, 1000, 800, alpha=0.05), 3)
    1.254
    """
    if p_value(canaries, guesses, right, 0.0, delta) >= alpha:
        return 0.0
    low, high = 0.0, _LARGEST_EPSILON
    for _ in range(40):
        middle = (low + high) / 2
        refuted = p_value(canaries, guesses, right, middle, delta) < alpha
        low, high = (middle, high) if refuted else (low, middle)
    return low


def mu_lower_bound(guesses: int, right: int, alpha: float = ALPHA, slack: float = 0.0) -> float:
    """The largest μ that independent guesses refute: 2Φ⁻¹ of the lower limit of their accuracy.

    >>> round(mu_lower_bound(1000, 800, alpha=0.05), 3)
    1.531
    """
    from scipy.special import ndtri

    low, _ = clopper_pearson(right, guesses, 2 * alpha)
    return max(0.0, 2 * float(ndtri(max(float(low) - slack, 0.0))))


def gaussian_accuracy(mu: float, slack: float = 0.0) -> float:
    """How often a coin can be guessed from one μ-GDP record, at most: Φ(μ/2).

    >>> round(gaussian_accuracy(1.0), 3)
    0.691
    """
    from scipy.special import ndtr

    return min(1.0, float(ndtr(mu / 2)) + slack)


def _tail(guesses: int, right: int, accuracy: float) -> float:
    """P(Binomial ≥ right)."""
    from scipy.special import betainc

    return 1.0 if right == 0 else float(betainc(right, guesses - right + 1, accuracy))


@dataclass(frozen=True)
class CanaryResult:
    """What one run of the pipeline has shown.

    Attributes:
        mechanism: its name.
        unit: whose value the mechanism was asked to hide.
        person: about the certificate's total for a person.
        within: about its guarantee for a unit smaller than a person; None where there is none.
        holds: what the certificate says of itself.
    """

    mechanism: str
    unit: str
    person: OneRun
    within: OneRun | None
    holds: bool

    @property
    def refuted(self) -> bool:
        """Whether the certificate is false."""
        runs = [self.person] if self.within is None else [self.person, self.within]
        return self.holds and any(run.refuted for run in runs)

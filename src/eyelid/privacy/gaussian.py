"""The Gaussian mechanism, exactly: σ, μ, ρ and (ε, δ), and how they turn into each other."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from eyelid.errors import InputError


def check_epsilon(epsilon: float) -> float:
    """Return ε if it is a positive finite number.

    >>> check_epsilon(-1)
    Traceback (most recent call last):
    eyelid.errors.InputError: epsilon must be positive and finite, got -1
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise InputError(f"epsilon must be positive and finite, got {epsilon:g}")
    return float(epsilon)


def check_delta(delta: float) -> float:
    """Return δ if it lies in [0, 1)."""
    if not 0 <= delta < 1:
        raise InputError(f"delta must be in [0, 1), got {delta:g}")
    return float(delta)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The smallest δ for which μ-GDP gives (ε, δ): Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ).

    >>> round(gaussian_delta(1.0, 1 / 3.7306) * 1e5, 3)
    1.0
    """
    from scipy.special import log_ndtr

    if mu == 0:
        return 0.0
    first = float(log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    # Both terms carry about 1e-15 of relative error; added back so that δ is never understated.
    rounding = 4e-15 * (abs(first) + abs(epsilon) + 1) * math.exp(first)
    return min(1.0, max(0.0, math.exp(first) * -math.expm1(second - first)) + rounding)


def _smallest(works: Callable[[float], bool], start: float) -> float:
    """The smallest positive number that works, from above, for a predicate monotone in it."""
    high = start
    while not works(high):
        high *= 2
    low = high / 2
    while low > 1e-300 and works(low):
        high, low = low, low / 2
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def gaussian_epsilon(mu: float, delta: float, slack: float = 0.0) -> float:
    """The smallest ε ≥ 0 that Gaussian noise with μ = Δ₂/σ gives at δ.

    Args:
        mu: Δ₂/σ.
        delta: the δ to meet.
        slack: statistical distance between discrete noise and the continuous Gaussian. It costs
            (1 + e^ε)·slack of δ; where that is too much, the discrete Gaussian's exact zCDP, which
            needs no slack, is converted instead.

    >>> round(gaussian_epsilon(1.0, 1e-5), 3)
    4.377
    """
    check_delta(delta)
    if mu == 0:
        return 0.0
    if delta == 0:
        return math.inf
    if slack:
        ceiling = epsilon_of_rho(rho_of_mu(mu), delta)
        room = delta - (1 + math.exp(min(ceiling, 700))) * slack
        return min(ceiling, gaussian_epsilon(mu, room)) if room > 0 else ceiling
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    return _smallest(lambda epsilon: gaussian_delta(epsilon, mu) <= delta, 1.0)


@functools.lru_cache(maxsize=256)
def gaussian_mu(epsilon: float, delta: float, slack: float = 0.0) -> float:
    """The largest μ = Δ₂/σ for which Gaussian noise gives (ε, δ), slack as in gaussian_epsilon.

    >>> round(1 / gaussian_mu(1.0, 1e-5), 4)
    3.7306
    """
    check_epsilon(epsilon)
    if not 0 < delta < 1:
        raise InputError(f"Gaussian noise needs a delta strictly between 0 and 1, got {delta:g}")
    room = delta - (1 + math.exp(min(epsilon, 700))) * slack
    if room < delta / 2:
        return 1.0 / _smallest(
            lambda sigma: epsilon_of_rho(rho_of_mu(1.0 / sigma), delta) <= epsilon, 1.0
        )
    return 1.0 / _smallest(lambda sigma: gaussian_delta(epsilon, 1.0 / sigma) <= room, 1.0)


def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The analytic Gaussian mechanism's σ (Balle & Wang 2018), the smallest that gives (ε, δ).

    Args:
        epsilon: ε > 0.
        delta: 0 < δ < 1.
        sensitivity: the L2 sensitivity Δ₂.

    >>> round(gaussian_sigma(1.0, 1e-5), 4)
    3.7306
    """
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        raise InputError(f"sensitivity must be positive and finite, got {sensitivity:g}")
    return sensitivity / gaussian_mu(epsilon, delta)


def rho_of_mu(mu: float) -> float:
    """ZCDP of the Gaussian mechanism: ρ = μ²/2.

    >>> rho_of_mu(2.0)
    2.0
    """
    return mu * mu / 2


def epsilon_of_rho(rho: float, delta: float) -> float:
    """An ε for which ρ-zCDP gives (ε, δ), optimised over the Rényi order (Canonne et al. 2020).

    Holds for every ρ-zCDP mechanism, the discrete Gaussian included, without any slack; for the
    continuous Gaussian ``gaussian_epsilon`` is tighter.

    >>> epsilon_of_rho(0.5, 1e-5) > gaussian_epsilon(1.0, 1e-5)
    True
    """
    from scipy.optimize import minimize_scalar

    if rho == 0:
        return 0.0
    if not 0 < delta < 1:
        raise InputError(f"delta must be strictly between 0 and 1, got {delta:g}")

    def bound(log_order: float) -> float:
        order = 1 + math.exp(log_order)
        return (
            rho * order + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
        )

    return max(0.0, float(minimize_scalar(bound, bounds=(-20, 40), method="bounded").fun))


@functools.lru_cache(maxsize=256)
def discreteness_slack(coordinates: int, sigma_steps: float) -> float:
    """Statistical distance between discrete and rounded continuous Gaussian noise.

    Per coordinate ½·E|Z² − 1|/(24·s²) = 0.02017/s² to second order in 1/s, s = σ in grid steps;
    0.0202 leaves room for the fourth order at s ≥ 2²⁰, which is required.
    """
    if sigma_steps < 2**20:
        raise InputError(f"the grid is too coarse for Gaussian noise: σ is {sigma_steps:g} steps")
    return 0.0202 * coordinates / sigma_steps**2

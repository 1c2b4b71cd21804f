"""How far a discrete Gaussian is from a rounded continuous one: TV·s² ≤ 0.0202.

With φ_k = exp(−k²/2s²)/(s√2π), a rounded Gaussian has q_k = φ_k·(1 + e_k), where, the odd part
cancelling, e_k = 2∫₀^½ [exp(−t²/2s²)·cosh(kt/s²) − 1] dt. The discrete one has p_k = φ_k to within
exp(−2π²s²) (Poisson summation), so TV = ½·Σ φ_k·|e_k|, without any difference of near numbers.
"""

from __future__ import annotations

import math

import numpy as np

from proofs.result import Effort, Result

BOUND = 0.0202
# ½·E|Z² − 1|/24 = φ(1)/12: the limit, to second order.
LIMIT = math.exp(-0.5) / math.sqrt(2 * math.pi) / 12
_REACH = 12.0


def prove(effort: Effort) -> Result:
    """Scales from 4 to 4096 steps; two of them again in 60 digits."""
    scales = np.unique(np.geomspace(4, 4096, 121).round()).astype(int)
    scaled = {int(s): distance(int(s)) * s**2 for s in scales}
    oracle_error = max(abs(distance(s) / distance_in_digits(s) - 1) for s in (4, 64))
    last = scaled[4096]
    figures = {
        "scales": len(scaled),
        "largest": max(scaled.values()),
        "at_4": scaled[4],
        "at_64": scaled[64],
        "at_4096": last,
        "limit": LIMIT,
        "relative_error_against_60_digits": oracle_error,
    }
    passed = max(scaled.values()) <= BOUND and abs(last - LIMIT) < 1e-6 and oracle_error < 1e-9
    return Result(
        figures, f"TV·s² at most {BOUND} from s = 4, tending to φ(1)/12 = 0.02016", passed
    )


def distance(s: int) -> float:
    """Total variation, in floating point arranged so that nothing cancels."""
    k = np.arange(-math.ceil(_REACH * s), math.ceil(_REACH * s) + 1, dtype=np.float64)[:, None]
    node, weight = np.polynomial.legendre.leggauss(12)
    t = 0.25 * (node + 1)
    shrink = np.expm1(-(t**2) / (2 * s**2))
    # exp(−a)·cosh(b) − 1 = expm1(−a)·cosh(b) + 2·sinh²(b/2).
    integrand = shrink * np.cosh(k * t / s**2) + 2 * np.sinh(k * t / (2 * s**2)) ** 2
    excess = integrand @ weight * 0.5
    density = np.exp(-0.5 * (k[:, 0] / s) ** 2) / (s * math.sqrt(2 * math.pi))
    return 0.5 * float((density * np.abs(excess)).sum())


def distance_in_digits(s: int) -> float:
    """The same from the definitions, with 60 digits."""
    import mpmath

    with mpmath.workdps(60):
        reach = math.ceil(_REACH * s)
        masses = [mpmath.exp(-(mpmath.mpf(k) ** 2) / (2 * s**2)) for k in range(reach + 1)]
        total = masses[0] + 2 * mpmath.fsum(masses[1:])
        borders = [mpmath.ncdf(-(mpmath.mpf(k) - 0.5) / s) for k in range(reach + 2)]
        gaps = [abs(m / total - (borders[k] - borders[k + 1])) for k, m in enumerate(masses)]
        return float((gaps[0] + 2 * mpmath.fsum(gaps[1:])) / 2)

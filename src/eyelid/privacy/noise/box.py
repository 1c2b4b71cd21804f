"""The K-norm mechanism of a box, on integers: one draw for several numbers, pure ε.

Numbers that a person moves by at most Δ each, whatever becomes of the others, differ between
neighbours by a point of the cube {−Δ…Δ}^d. Noise with P(z) ∝ exp(−‖z‖∞/t) is then exactly
(Δ/t)-DP (Hardt & Talwar 2010; Awan & Slavković 2021), and a coordinate of it has the standard
deviation t·√((d+1)(d+2)/3), where independent Laplace noise needs t·d·√2.

Such a z is uniform on the cube {−M…M}^d with P(M = m) ∝ (2m+1)^d·exp(−m/t): summed over the cubes
that contain z, that is Σ_{m ≥ ‖z‖∞} exp(−m/t). M comes by rejection: the sum of d + 1 geometric
variables has the mass C(m+d, d)·exp(−m/t), up to a constant, and is accepted with probability
Π_{i=1…d} (2m+1)/(2m+2i), which is a rational number. Nothing is approximate; the acceptance rate is
about exp(−d/2t).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.privacy.noise.discrete import DiscreteLaplace, filled
from eyelid.privacy.noise.randomness import Randomness, SystemRandomness, below

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_DIMENSION = 1024
# Numbers that are drawn at once.
_AT_ONCE = 1 << 20
# From here on sums over whole numbers are integrals, to within 1 in 10⁸.
_AS_INTEGRALS = 4096
# More than this many scales beyond the mean nothing has any mass.
_TAIL = 60.0


class DiscreteBox:
    """P(z) ∝ exp(−‖z‖∞/t) on ℤ^d: pure ε = Δ/t where each number moves by at most Δ.

    Attributes:
        scale: t, the integer scale, in grid steps.
        dimension: d, how many numbers, the last ones of an array, share a draw.
    """

    label = "discrete box (K-norm)"

    def __init__(self, scale: int, dimension: int) -> None:
        self._laplace = DiscreteLaplace(scale)
        self.scale = self._laplace.scale
        if not 1 <= dimension <= MAX_DIMENSION:
            raise InputError(
                f"box noise takes between 1 and {MAX_DIMENSION} numbers, got {dimension}"
            )
        self.dimension = int(dimension)

    def draw(self, size: int | tuple[int, ...], source: Randomness | None = None) -> Integers:
        """Independent vectors, one after the other.

        >>> DiscreteBox(2**20, dimension=3).draw((5, 3)).shape
        (5, 3)
        """
        source = source or SystemRandomness()
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
        vectors = math.prod(shape) // self.dimension
        half = self._half_widths(vectors, source)[:, None]
        limits = np.broadcast_to(2 * half + 1, (vectors, self.dimension))
        return (below(source, limits) - half).reshape(shape)

    def _half_widths(self, count: int, source: Randomness) -> Integers:
        """M, the half width of the cube that z is uniform on."""
        parts = self.dimension + 1
        places = np.arange(1, parts)

        def propose(some: int, source: Randomness) -> Integers:
            proposed = self._laplace.geometric(some * parts, source)
            m: Integers = proposed.reshape(some, parts).sum(axis=1)
            kept = below(source, 2 * (m[:, None] + places)) < 2 * m[:, None] + 1
            return m[kept.all(axis=1)]

        return filled(count, propose, source, most=1 + _AT_ONCE // parts)

    @cached_property
    def _log_total(self) -> float:
        """Logarithm of Σ_m (2m+1)^d·exp(−m/t)."""
        t, d = self.scale, self.dimension
        if t >= _AS_INTEGRALS:
            # The sum over midpoints m + ½ of the integral of (2x)^d·exp(−(x − ½)/t).
            return d * math.log(2) + (d + 1) * math.log(t) + math.lgamma(d + 1) + 0.5 / t
        weights = self._log_weights(np.arange(self._last + 1))
        most = float(weights.max())
        return most + math.log(float(np.exp(weights - most).sum()))

    def _log_weights(self, m: NDArray[Any]) -> Floats:
        """Logarithm of (2m+1)^d·exp(−m/t)."""
        weights: Floats = self.dimension * np.log(2.0 * m + 1) - m / self.scale
        return weights

    @property
    def _last(self) -> int:
        """The largest M that has any mass."""
        d = self.dimension + 1
        return math.ceil(self.scale * (d + 8 * math.sqrt(d) + _TAIL))

    @property
    def _log_ends(self) -> float:
        """Logarithm of 1 − exp(−1/t)."""
        return math.log(-math.expm1(-1 / self.scale))

    def log_mass(self, k: NDArray[Any]) -> Floats:
        """Natural logarithm of P(z) of whole vectors, which the last axis goes along."""
        norms = np.abs(np.asarray(k, dtype=np.float64)).max(axis=-1)
        masses: Floats = -norms / self.scale - self._log_ends - self._log_total
        return masses

    @property
    def variance(self) -> float:
        """The variance of one coordinate, E[M(M+1)]/3: at most (d+1)(d+2)·t²/3, and next to it."""
        return (self.dimension + 1) * (self.dimension + 2) * float(self.scale) ** 2 / 3

    @cached_property
    def _tail(self) -> Floats:
        """P(z₁ > k) for k = 0, 1, …, by summation over cubes."""
        m = np.arange(self._last + 1)
        shares = np.exp(self._log_weights(m) - self._log_total) / (2 * m + 1)
        mass = np.cumsum(shares[::-1])[::-1]
        return np.append(np.cumsum(mass[:0:-1])[::-1], 0.0)

    def marginal_above(self, k: NDArray[Any]) -> Floats:
        """P(z₁ > k) of one coordinate.

        Exact up to floating point below 4096 steps of scale, and to within 1 in 10⁸ beyond.
        """
        whole = np.asarray(k)
        # P(z₁ > −k) is what is left of P(z₁ > k − 1).
        size = np.where(whole < 0, -whole - 1, whole)
        if self.scale < _AS_INTEGRALS:
            above = self._tail[np.minimum(size, self._tail.size - 1)]
        else:
            above = box_tail((size + 0.5) / self.scale, self.dimension)
        return np.where(whole < 0, 1.0 - above, above)


def box_tail(x: Any, dimension: int) -> Floats:
    """P(z > x) for one coordinate of continuous box noise of scale 1, and x ≥ 0.

    z is uniform on (−R, R) with R of law Gamma(d + 1), so that P(z > x) = E[(1 − x/R)₊]/2.

    >>> float(box_tail(0.0, 3))
    0.5
    """
    from scipy.special import gammaincc

    x = np.asarray(x, dtype=np.float64)
    tail: Floats = (gammaincc(dimension + 1, x) - x / dimension * gammaincc(dimension, x)) / 2
    return np.maximum(tail, 0.0)

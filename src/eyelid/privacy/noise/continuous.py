"""Spherical and planar Laplace noise, rounded to a public grid exactly.

Each is a function of uniform numbers and of logarithms, square roots, cosines and sines of them.
What is released is the rounding of the ideal, real-valued noise: it is computed in floating point
with a bound on all errors, that of the uniform numbers' missing bits included. Where that bound
leaves a doubt about the rounding, more bits of the same numbers are drawn and it is computed to as
many digits as it takes (`digits`). Values on the grid plus such noise are therefore the rounding of
a real-valued mechanism: post-processing, which loses nothing. So ε is pure, with δ = 0.

The bound takes the platform's log, cos and sin to be right to four units in the last place, which
those that numpy uses are. Of U = (w + ½)·2⁻⁶⁴ for a word w, −log U is then off by at most
2⁻⁵² for U itself, 2⁻⁵⁰ of its value, and 1/2w for what follows w; of an angle πs, |s| ≤ 1, cosine
and sine are off by 2⁻⁴⁹. The constants below are at least twice that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.privacy.noise.digits import Approximation, Digits
from eyelid.privacy.noise.discrete import DiscreteLaplace
from eyelid.privacy.noise.grid import grid_step
from eyelid.privacy.noise.randomness import Randomness, SystemRandomness, Words, randomness

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LOG_DOUBT, _WORD_DOUBT = 2.0**-49, 2.0**-51
_TURN_DOUBT = 2.0**-48
# For products, a square root, and pairwise sums of fewer than 2³⁰ numbers.
_PRODUCT_DOUBT, _SUM_DOUBT = 2.0**-50, 2.0**-48
# |√(1 + a) − 1| ≤ 0.6·|a| up to |a| = ¼, and of a product of two such both add up.
_ROOT, _MOST_UNDER_ROOT = 0.6, 0.25


def _minus_logs(words: Words) -> tuple[Floats, Floats]:
    """−log of uniform numbers, and how far each may be off."""
    whole = words.astype(np.float64)
    found = -np.log((whole + 0.5) * 2.0**-64)
    with np.errstate(divide="ignore"):
        return found, _LOG_DOUBT * found + _WORD_DOUBT + 1 / whole


def _turns(words: Words) -> tuple[Floats, Floats]:
    """Cosines and sines of uniform angles, off by `_TURN_DOUBT` at most."""
    # A turn of 2π·w/2⁶⁴ less 2π where it is beyond half: small angles are the exacter ones.
    angle = words.view(np.int64).astype(np.float64) * (math.pi * 2.0**-63)
    return np.cos(angle), np.sin(angle)


# The plane.


def planar(words: Words) -> tuple[Floats, Floats, Floats]:
    """Planar Laplace noise of scale 1 from 3 × draws words: x, y, and how far they may be off.

    The radius is of law Gamma(2), as the sum of two exponentials, the direction uniform.
    """
    lengths, doubts = _minus_logs(words[:2])
    radius = lengths[0] + lengths[1]
    across, up = _turns(words[2])
    doubt = doubts[0] + doubts[1] + (_TURN_DOUBT + _PRODUCT_DOUBT) * radius
    return radius * across, radius * up, doubt


def settled_planar(
    words: Words, source: Randomness, at: tuple[float, float], scale: float, most: tuple[int, int]
) -> tuple[int, int]:
    """The whole numbers next to a point under planar Laplace noise, none below 0.

    Args:
        words: that the noise is made of.
        source: of their further bits.
        at: the point.
        scale: of the noise.
        most: the largest numbers; beyond them these are the answer.
    """
    digits = Digits(words.tolist(), source)
    times, places = Approximation.of(scale), [Approximation.of(part) for part in at]
    while True:
        radius = times * digits.minus_logs(0, 2)
        x, y = (
            (place + radius * part).rounded(0, limit)
            for place, part, limit in zip(places, digits.turn(2), most, strict=True)
        )
        if x is not None and y is not None:
            return x, y
        digits.extend()


# Any dimension.


def rounded_spherical(scale: float, dimension: int, size: int, source: Randomness) -> Integers:
    """Vectors with density ∝ exp(−‖z‖₂/scale), rounded to whole numbers: size × dimension.

    Such a vector of K numbers is scale·√W·G, where G are independent standard normal numbers and W
    is chi-square of K + 1 degrees, because exp(−‖z‖) = ∫ exp(−‖z‖²/2w)·w^(−½)·exp(−w/2) dw/√2π.
    Pairs of G are √2E in a uniform direction, and W is the sum of 2E over (K + 1)/2 exponentials E;
    where K is even the last half of these is the square of another normal number.
    """
    shared, pairs = (dimension + 1) // 2, dimension // 2 + 1
    words = source.words(size * (shared + 2 * pairs)).reshape(size, -1)
    lengths, doubts = _minus_logs(words[:, : shared + pairs])
    across, up = _turns(words[:, shared + pairs :])
    mixing, mixing_doubt = (2 * _summed(part[:, :shared]) for part in (lengths, doubts))
    if dimension % 2 == 0:
        last, cosine = lengths[:, -1:], across[:, -1:]
        mixing += 2 * last * cosine**2
        mixing_doubt += 2 * (doubts[:, -1:] + 3 * _TURN_DOUBT * last)
    mixing_doubt += _SUM_DOUBT * mixing
    lengths, doubts = lengths[:, shared:], doubts[:, shared:]
    radius = scale * np.sqrt(mixing * (2 * lengths))
    with np.errstate(divide="ignore", invalid="ignore"):
        under = np.maximum(mixing_doubt / mixing, doubts / lengths)
        off = _ROOT * (mixing_doubt / mixing + doubts / lengths) + _TURN_DOUBT + _PRODUCT_DOUBT
        off = np.where(under <= _MOST_UNDER_ROOT, radius * off, np.inf)
    ideal = np.stack([radius * across, radius * up], axis=2).reshape(size, -1)[:, :dimension]
    nearest = np.rint(ideal)
    # The difference of a number and its rounding is exact.
    known = np.abs(ideal - nearest) + np.repeat(off, 2, axis=1)[:, :dimension] < 0.5
    found: Integers = np.where(known, nearest, 0.0).astype(np.int64)
    for i in np.flatnonzero(~known.all(axis=1)):
        doubtful = np.flatnonzero(~known[i]).tolist()
        found[i, doubtful] = _settled_spherical(words[i], source, scale, dimension, doubtful)
    return found


def _summed(parts: Floats) -> Floats:
    """Sums over the last axis, which stays, in pairs: the error grows with log₂ of their number."""
    while parts.shape[1] > 1:
        half = parts.shape[1] // 2
        rest = parts[:, 2 * half :]
        parts = np.concatenate([parts[:, :half] + parts[:, half : 2 * half], rest], axis=1)
    return parts


def _settled_spherical(
    words: Words, source: Randomness, scale: float, dimension: int, wanted: list[int]
) -> list[int]:
    """Coordinates of the vector that these words begin, rounded."""
    shared, pairs = (dimension + 1) // 2, dimension // 2 + 1
    digits = Digits(words.tolist(), source)
    times, two = Approximation.of(scale), Approximation.of(2.0)

    def pair(number: int) -> Approximation:
        return two * digits.minus_logs(shared + number, shared + number + 1)

    def mixing() -> Approximation:
        found = two * digits.minus_logs(0, shared)
        if dimension % 2:
            return found
        cosine, _ = digits.turn(shared + 2 * pairs - 1)
        return found + pair(pairs - 1) * cosine * cosine

    settled = []
    mixed = mixing()
    for coordinate in wanted:
        number = coordinate // 2
        while True:
            radius = (mixed * pair(number)).root(digits.bits)
            direction = digits.turn(shared + pairs + number)[coordinate % 2]
            whole = (times * radius * direction).rounded()
            if whole is not None:
                break
            digits.extend()
            mixed = mixing()
        settled.append(whole)
    return settled


def spherical_laplace_noise(
    scale: float,
    dimension: int,
    size: int,
    rng: Randomness | np.random.Generator | int | None = None,
) -> NDArray[np.float64]:
    """Vectors with density ∝ exp(−‖z‖₂/scale): pure ε for L2 sensitivity Δ₂ at scale Δ₂/ε.

    The direction is uniform, the radius Gamma(K, scale) in K dimensions; E‖z‖² = K(K+1)·scale².
    Rounded exactly to ``grid_step(scale)``, at most 2⁻³² of the scale: what they are added to must
    lie on that grid, too.

    >>> spherical_laplace_noise(1.0, dimension=3, size=2).shape
    (2, 3)
    """
    if dimension < 1:
        raise InputError(f"dimension must be at least 1, got {dimension}")
    step = grid_step(scale)
    # Both are exact: the step is a power of two.
    steps = rounded_spherical(scale / step, dimension, size, randomness(rng))
    return steps.astype(np.float64) * step


def planar_laplace_noise(
    scale: float, size: int, rng: Randomness | np.random.Generator | int | None = None
) -> NDArray[np.float64]:
    """Spherical Laplace noise in the plane, as geo-indistinguishability uses it.

    >>> planar_laplace_noise(0.5, size=4).shape
    (4, 2)
    """
    return spherical_laplace_noise(scale, 2, size, rng)


class SphericalLaplace(DiscreteLaplace):
    """Vectors with density ∝ exp(−‖z‖₂/t), rounded to whole steps; Laplace in one dimension.

    The rounding is that of the ideal vector, exactly: whole numbers that differ by at most Δ₂ plus
    such noise are post-processing of a real-valued mechanism of pure ε = Δ₂/t.

    Attributes:
        dimension: how many coordinates, the last ones of an array, share a draw.
    """

    label = "spherical Laplace"

    def __init__(self, scale: int, dimension: int) -> None:
        super().__init__(scale)
        self.dimension = dimension

    def draw(self, size: int | tuple[int, ...], source: Randomness | None = None) -> Integers:
        """Independent vectors, one after the other.

        >>> SphericalLaplace(2**32, dimension=6).draw((5, 2, 3)).shape
        (5, 2, 3)
        """
        vectors = math.prod(np.atleast_1d(size)) // self.dimension
        drawn = rounded_spherical(self.scale, self.dimension, vectors, source or SystemRandomness())
        return drawn.reshape(size)

    def log_mass(self, k: NDArray[Any]) -> NDArray[np.float64]:
        """Shares of each vector's log density, up to a constant; their sum is −‖k‖₂/t.

        Where an array has other coordinates than whole vectors, those behind its first axis are
        taken as one.
        """
        steps = np.asarray(k, dtype=np.float64)
        size = self.dimension if steps[0].size % self.dimension == 0 else steps[0].size
        vectors = steps.reshape(-1, size) / self.scale
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        shares: NDArray[np.float64] = -(vectors**2) / np.maximum(norms, 1e-300)
        return shares.reshape(steps.shape)

    @property
    def variance(self) -> float:
        """The variance of one coordinate: E‖z‖²/K = (K + 1)·t²."""
        return (self.dimension + 1) * float(self.scale) ** 2

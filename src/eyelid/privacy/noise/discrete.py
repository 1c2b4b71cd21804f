"""Exact integer noise: discrete Laplace and discrete Gaussian, vectorised.

Both have P(k) ∝ exp(−h(|k|)) with h increasing, and are drawn by rejection:

1. the magnitude's block ``a`` of ``width`` consecutive integers, with probability proportional to
   exp(−h(a·width)), by inversion of one random word;
2. the offset inside the block, uniform bits;
3. acceptance with probability exp(h(a·width) − h(magnitude)), by comparing random bits;
4. a fair sign, with −0 rejected so that zero is not counted twice.

Nothing is approximate. Outputs are integers built from random bits. A comparison of random bits
with an irrational threshold is settled in machine arithmetic only where its error bound leaves no
doubt; in the few cases left (about one in 10⁹ at the usual scales) more bits are drawn and the
threshold is computed to as many digits as it takes. So the distribution is the mathematical one.
Follows the goals of Canonne, Kamath & Steinke 2020 ("The Discrete Gaussian for Differential
Privacy"); blocks replace their Bernoulli chains because they vectorise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.privacy.noise.randomness import Randomness, SystemRandomness, Words

Integers = NDArray[np.int64]

MAX_SCALE = 2**46
_CHUNK = 1 << 17
# exp, its argument and the fraction are each good to a few units of 2⁻⁵²; this is 100 times that.
_FLOAT_MARGIN = 2.0**-45


class DiscreteNoise(ABC):
    """Integer noise with P(k) ∝ exp(−h(|k|)) around zero.

    Attributes:
        scale: the integer scale, in grid steps.
        inversion_bits: how many random bits choose a block before more are drawn.
        acceptance_bits: how many random bits, at most, decide acceptance before more are drawn.
    """

    label: str
    inversion_bits = 64
    acceptance_bits = 64

    def __init__(self, scale: int) -> None:
        if not 1 <= scale <= MAX_SCALE:
            raise InputError(f"noise scale must be between 1 and 2^46 grid steps, got {scale}")
        self.scale = int(scale)
        # Between a quarter and an eighth of the scale: few blocks, and nine in ten are accepted.
        self.offset_bits = max(0, self.scale.bit_length() - 3)
        self.width = 1 << self.offset_bits

    @abstractmethod
    def exponent(self, start: Any, offset: Any) -> Any:
        """h(start + offset) − h(start), in the arithmetic of its arguments."""

    @abstractmethod
    def log_mass(self, k: NDArray[Any]) -> NDArray[np.float64]:
        """Natural logarithm of P(k)."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Variance in squared grid steps (from above, to many digits)."""

    def _block_weights(self, precision_bits: int) -> tuple[list[Any], Any]:
        """Weights of the blocks until they no longer matter at this precision, and their sum."""
        import mpmath

        with mpmath.workprec(precision_bits + 32):
            weights: list[Any] = []
            total = mpmath.mpf(0)
            smallest = mpmath.mpf(2) ** -(precision_bits + 16)
            while True:
                start = mpmath.mpf(len(weights) * self.width)
                weight = mpmath.exp(-self.exponent(mpmath.mpf(0), start))
                if weight < smallest:
                    return weights, total
                weights.append(weight)
                total += weight

    def thresholds(self, bits: int) -> list[int]:
        """Floors of 2^bits times the cumulative block probabilities, right to one unit.

        Args:
            bits: of the random words that are compared with them.
        """
        import mpmath

        weights, total = self._block_weights(bits)
        with mpmath.workprec(bits + 32):
            floors, running = [], mpmath.mpf(0)
            for weight in weights:
                running += weight
                floors.append(
                    min(int(mpmath.floor(mpmath.ldexp(running / total, bits))), 2**bits - 1)
                )
            return floors

    @cached_property
    def _table(self) -> Words:
        """Thresholds at ``inversion_bits``."""
        return _table(type(self), self.scale, self.inversion_bits)

    def _settle_block(self, word: int, source: Randomness) -> int:
        """The block of a word too near a threshold to tell, by drawing more bits."""
        bits = self.inversion_bits
        while True:
            word = (word << 64) | int(source.words(1)[0])
            bits += 64
            for block, floor in enumerate(self.thresholds(bits)):
                if word < floor - 1:
                    return block
                if word <= floor + 1:
                    break

    def _settle_acceptance(
        self, start: int, offset: int, drawn: int, bits: int, source: Randomness
    ) -> bool:
        """Whether U < exp(−exponent), given U's leading bits, by drawing more bits."""
        import mpmath

        while True:
            drawn = (drawn << 64) | int(source.words(1)[0])
            bits += 64
            with mpmath.workprec(bits + 64):
                power = self.exponent(mpmath.mpf(start), mpmath.mpf(offset))
                floor = int(mpmath.floor(mpmath.ldexp(mpmath.exp(-power), bits)))
            if drawn < floor - 1:
                return True
            if drawn > floor + 1:
                return False

    def _blocks(self, words: Words, source: Randomness) -> Integers:
        """Each word's block, by inversion of the cumulative probabilities."""
        words = words >> np.uint64(64 - self.inversion_bits)
        table = self._table
        block = np.searchsorted(table, words, side="right").astype(np.int64)
        above = table[np.minimum(block, table.size - 1)]
        below = table[np.maximum(block - 1, 0)]
        # Thresholds are right to one unit; unsigned differences wrap round to large numbers.
        near = (above - words <= 1) | (words - below <= 1)
        for i in np.flatnonzero(near):
            block[i] = self._settle_block(int(words[i]), source)
        return block

    def _magnitudes(
        self, count: int, source: Randomness
    ) -> tuple[Integers, NDArray[np.bool_], NDArray[np.bool_]]:
        """Proposed magnitudes, P(m) ∝ exp(−h(m)) of those accepted; a fair coin each; which are."""
        words = source.words(2 * count)
        start = self._blocks(words[:count], source) * self.width

        rest = words[count:]
        offset = (rest & np.uint64(self.width - 1)).astype(np.int64)
        rest = rest >> np.uint64(self.offset_bits)
        coin = (rest & np.uint64(1)).astype(bool)
        bits = min(63 - self.offset_bits, self.acceptance_bits)
        drawn = (rest >> np.uint64(1)) >> np.uint64(63 - self.offset_bits - bits)

        chance = np.exp(-self.exponent(start.astype(np.float64), offset.astype(np.float64)))
        fraction = np.ldexp(drawn.astype(np.float64), -bits)
        accepted = fraction < chance
        near = (np.abs(fraction - chance) <= _FLOAT_MARGIN + 2.0**-bits) & (offset > 0)
        for i in np.flatnonzero(near):
            accepted[i] = self._settle_acceptance(
                int(start[i]), int(offset[i]), int(drawn[i]), bits, source
            )
        return start + offset, coin, accepted

    def _propose(self, count: int, source: Randomness) -> Integers:
        """Draws from ``count`` proposals, of which about nine in ten are accepted."""
        magnitude, negative, accepted = self._magnitudes(count, source)
        accepted &= ~(negative & (magnitude == 0))
        signed: Integers = np.where(negative, -magnitude, magnitude)[accepted]
        return signed

    def draw(self, size: int | tuple[int, ...], source: Randomness | None = None) -> Integers:
        """Independent draws.

        >>> DiscreteLaplace(5).draw(3).shape
        (3,)
        """
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
        return filled(math.prod(shape), self._propose, source or SystemRandomness()).reshape(shape)


def filled(
    count: int,
    propose: Callable[[int, Randomness], Integers],
    source: Randomness,
    most: int = _CHUNK,
) -> Integers:
    """So many draws, from proposals of which most are accepted, no more than ``most`` at once."""
    out = np.empty(count, dtype=np.int64)
    done = 0
    while done < count:
        missing = count - done
        found = propose(min(most, missing + missing // 5 + 16), source)[:missing]
        out[done : done + found.size] = found
        done += found.size
    return out


class DiscreteLaplace(DiscreteNoise):
    """P(k) ∝ exp(−|k|/t): adding it to integers that differ by at most Δ₁ is exactly (Δ₁/t)-DP."""

    label = "discrete Laplace"

    def exponent(self, start: Any, offset: Any) -> Any:
        """Memoryless: offset / t."""
        return offset / self.scale

    def log_mass(self, k: NDArray[Any]) -> NDArray[np.float64]:
        """Natural logarithm of P(k) = tanh(1/2t)·exp(−|k|/t)."""
        size = np.abs(np.asarray(k, dtype=np.float64))
        return math.log(math.tanh(0.5 / self.scale)) - size / self.scale

    @property
    def variance(self) -> float:
        """1 / (2·sinh²(1/2t)), just under 2t²."""
        return 0.5 / math.sinh(0.5 / self.scale) ** 2

    def geometric(self, count: int, source: Randomness) -> Integers:
        """Draws of the magnitude before it has a sign: P(m) ∝ exp(−m/t) from 0 on."""

        def propose(count: int, source: Randomness) -> Integers:
            magnitude, _, accepted = self._magnitudes(count, source)
            return magnitude[accepted]

        return filled(count, propose, source)


class DiscreteGaussian(DiscreteNoise):
    """P(k) ∝ exp(−k²/2σ²): for integers within Δ₂ exactly ρ-zCDP with ρ = Δ₂²/2σ²."""

    label = "discrete Gaussian"

    def exponent(self, start: Any, offset: Any) -> Any:
        """offset·(2·start + offset) / 2σ²."""
        return offset * (2 * start + offset) / (2 * self.scale**2)

    @cached_property
    def _log_total(self) -> float:
        if self.scale > 30:
            # Poisson summation: the error is below exp(−2π²·900).
            return math.log(self.scale) + 0.5 * math.log(2 * math.pi)
        k = np.arange(-40 * self.scale, 40 * self.scale + 1, dtype=np.float64)
        return math.log(float(np.exp(-0.5 * (k / self.scale) ** 2).sum()))

    def log_mass(self, k: NDArray[Any]) -> NDArray[np.float64]:
        """Natural logarithm of P(k)."""
        return -0.5 * (np.asarray(k, dtype=np.float64) / self.scale) ** 2 - self._log_total

    @property
    def variance(self) -> float:
        """At most σ² (Canonne, Kamath & Steinke 2020, Corollary 9)."""
        return float(self.scale) ** 2


@lru_cache(maxsize=256)
def _table(distribution: type[DiscreteNoise], scale: int, bits: int) -> Words:
    """Thresholds of a law, which its scale alone decides, ending in the largest word there is."""
    top = 2**bits - 1
    below = [floor for floor in distribution(scale).thresholds(bits) if floor < top]
    table: Words = np.array([*below, top], dtype=np.uint64)
    # Shared by all noise of this law and scale.
    table.flags.writeable = False
    return table

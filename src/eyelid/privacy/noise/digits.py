"""Uniform numbers known to as many digits as a question takes.

A random word is the first 64 bits of a number that is uniform between 0 and 1. Where these do not
settle a question, more bits of the same number are drawn, so that every answer is the one that the
whole, endless number gives. Until then a value has a bound on how far it is off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from eyelid.privacy.noise.randomness import Randomness

_WORD = 64
# Arithmetic carries so many bits more than were drawn: next to what the others may still become
# its own error is nothing, and the bounds below have room for it.
_SPARE_BITS = 64
# Factors that are multiplied as they are before their product is cut to a precision.
_AT_ONCE = 32


@dataclass(frozen=True)
class Approximation:
    """A number that is known up to a bound, in units of 2^−point.

    Attributes:
        value: about what it is.
        doubt: how far from that it can be, at most.
        point: how many bits are behind the point.
    """

    value: int
    doubt: int
    point: int

    @classmethod
    def of(cls, number: float) -> Approximation:
        """A float as it is, without doubt."""
        value, units = number.as_integer_ratio()
        return cls(value, 0, units.bit_length() - 1)

    def __add__(self, other: Approximation) -> Approximation:
        point = max(self.point, other.point)
        mine, others = point - self.point, point - other.point
        return Approximation(
            (self.value << mine) + (other.value << others),
            (self.doubt << mine) + (other.doubt << others),
            point,
        )

    def __mul__(self, other: Approximation) -> Approximation:
        doubt = abs(self.value) * other.doubt + (abs(other.value) + other.doubt) * self.doubt
        return Approximation(self.value * other.value, doubt, self.point + other.point)

    def root(self, point: int) -> Approximation:
        """The square root of a number that is not negative, with so many bits behind the point."""
        ends = max(self.value - self.doubt, 0), self.value + self.doubt
        low, high = (math.isqrt((end << 2 * point) >> self.point) for end in ends)
        # Cut off: the upper end is less than one unit beyond what was found.
        return Approximation(low + high + 1, high + 1 - low, point + 1)

    def rounded(self, lowest: int | None = None, highest: int | None = None) -> int | None:
        """The nearest whole number within limits, or None while that is in doubt."""
        found = []
        for end in (self.value - self.doubt, self.value + self.doubt):
            whole = (2 * end + (1 << self.point)) >> (self.point + 1)
            whole = whole if lowest is None else max(whole, lowest)
            found.append(whole if highest is None else min(whole, highest))
        return found[0] if found[0] == found[1] else None


class Digits:
    """Independent uniform numbers between 0 and 1, of which the leading bits are drawn.

    Attributes:
        leading: these bits, as whole numbers.
        bits: how many they are of each.
    """

    def __init__(self, words: Iterable[int], source: Randomness) -> None:
        self.leading = list(words)
        self.bits = _WORD
        self._source = source
        # Zeros alone bound no logarithm.
        while 0 in self.leading:
            self.extend()

    def extend(self) -> None:
        """Draw another word for each."""
        more = self._source.words(len(self.leading)).tolist()
        self.leading = [known << _WORD | new for known, new in zip(self.leading, more, strict=True)]
        self.bits += _WORD

    @property
    def _precision(self) -> int:
        return self.bits + _SPARE_BITS

    def minus_logs(self, first: int, last: int) -> Approximation:
        """Σ −log of the numbers from ``first`` up to, not including, ``last``.

        A number with leading bits w lies between w and w + 1 units, and its logarithm within
        1/2w of that of w + ½; arithmetic has another 1/2w.
        """
        from mpmath.libmp import from_man_exp, mpf_log, mpf_mul, round_nearest, to_fixed

        precision, known = self._precision, self.leading[first:last]
        product = from_man_exp(1, 0)
        for start in range(0, len(known), _AT_ONCE):
            some = known[start : start + _AT_ONCE]
            middles = math.prod(2 * word + 1 for word in some)
            part = from_man_exp(middles, -(self.bits + 1) * len(some), precision, round_nearest)
            product = mpf_mul(product, part, precision, round_nearest)
        value = -int(to_fixed(mpf_log(product, precision, round_nearest), precision))
        doubt = sum(-(-(1 << precision) // word) for word in known)
        return Approximation(value, doubt, precision)

    def turn(self, number: int) -> tuple[Approximation, Approximation]:
        """Cosine and sine of 2π times a number.

        The angle is known up to π units, and neither changes faster than it; arithmetic has the
        rest of the 4 units.
        """
        from mpmath.libmp import from_man_exp, mpf_cos_sin, mpf_mul, mpf_pi, round_nearest, to_fixed

        precision = self._precision
        # (w + ½)·2π
        middle = from_man_exp(2 * self.leading[number] + 1, -self.bits)
        angle = mpf_mul(mpf_pi(precision, round_nearest), middle, precision, round_nearest)
        cosine, sine = (
            Approximation(int(to_fixed(part, precision)), 4 << _SPARE_BITS, precision)
            for part in mpf_cos_sin(angle, precision, round_nearest)
        )
        return cosine, sine

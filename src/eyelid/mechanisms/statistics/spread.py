"""The noise of one number as those see it who have only what was shown: for intervals and tests."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eyelid.mechanisms.mechanism import Values

_NODES = 48


@dataclass(frozen=True)
class NoiseOfOne:
    """The noise on one released number, in the number's own unit.

    Box noise is uniform on (−R, R) with R of law Gamma(d + 1), Laplace noise that of d = 1.

    Attributes:
        scale: t of box noise, σ of Gaussian noise; 0 where there is none.
        dimension: d of box noise; 0 for Gaussian noise.
    """

    scale: float
    dimension: int = 0

    @property
    def sd(self) -> float:
        """Its standard deviation."""
        if self.dimension == 0:
            return self.scale
        return self.scale * math.sqrt((self.dimension + 1) * (self.dimension + 2) / 3)

    def times(self, factor: float) -> NoiseOfOne:
        """The noise of the number times a factor."""
        return NoiseOfOne(self.scale * factor, self.dimension)

    @property
    def half_widths(self) -> Values:
        """Equally likely values of R."""
        return self.scale * _gamma_nodes(self.dimension)

    def below(self, x: Any, sd: Any) -> Values:
        """P(noise + a normal number of this spread ≤ x), elementwise."""
        from scipy.special import ndtr

        x, sd = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(sd, dtype=float))
        if self.dimension == 0 or self.scale == 0:
            return np.asarray(ndtr(x / np.maximum(np.hypot(sd, self.scale), 1e-300)))
        spread = np.maximum(sd, 1e-9 * self.scale)
        half = self.half_widths.reshape(-1, *(1 for _ in x.shape))
        rise = _integral((x + half) / spread) - _integral((x - half) / spread)
        # Added one by one, so that a number is the same alone and among others.
        shares = np.cumsum(np.clip(rise * spread / (2 * half), 0.0, 1.0), axis=0)
        return np.asarray(shares[-1] / _NODES)

    def beyond(self, size: Any) -> Values:
        """P(|noise| ≥ size), for sizes that may be negative."""
        from scipy.special import erfc

        from eyelid.privacy.noise.box import box_tail

        size = np.maximum(np.asarray(size, dtype=float), 0.0)
        if self.scale == 0:
            return np.asarray(size <= 0, dtype=float)
        if self.dimension == 0:
            return np.asarray(erfc(size / self.scale / math.sqrt(2)))
        return 2 * box_tail(size / self.scale, self.dimension)

    def at_least(self, size: Any) -> Values:
        """P(noise ≥ size), whatever its sign."""
        tail = self.beyond(np.abs(size)) / 2
        return np.where(np.asarray(size) > 0, tail, 1 - tail)

    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Values:
        """Draws for planning and proofs, in floating point: nothing is released with them."""
        if self.dimension == 0:
            return rng.normal(0.0, self.scale, shape) if self.scale else np.zeros(shape)
        half = rng.gamma(self.dimension + 1, self.scale, shape)
        return np.asarray(half * rng.uniform(-1, 1, shape))


def _integral(y: Values) -> Values:
    """∫ Φ from −∞ to y: yΦ(y) + φ(y)."""
    from scipy.special import ndtr

    return np.asarray(y * ndtr(y) + np.exp(-0.5 * y * y) / math.sqrt(2 * math.pi))


@functools.lru_cache(maxsize=256)
def _gamma_nodes(dimension: int) -> Values:
    """The means of R in equally likely slices of Gamma(d + 1)."""
    from scipy.special import gammainc, gammaincinv

    shape = dimension + 1
    ends = gammaincinv(shape, np.linspace(0, 1, _NODES + 1)[:-1])
    below = np.append(gammainc(shape + 1, ends), 1.0)
    nodes = shape * np.diff(below) * _NODES
    nodes.flags.writeable = False
    return np.asarray(nodes)

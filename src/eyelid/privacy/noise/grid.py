"""Exact noise of a real-valued scale, on a public grid.

The grid depends on the scale alone, never on data. Adding grid noise to values that lie on the
grid, in integers, is exact; adding it to arbitrary floats is not: quantise first.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.privacy.noise.discrete import DiscreteGaussian, DiscreteLaplace
from eyelid.privacy.noise.randomness import Randomness, randomness

# Steps per scale: far beyond what a Gaussian's discreteness could show (2²⁰), and small enough
# that a draw is a float without rounding.
STEPS_PER_SCALE_BITS = 32


def grid_step(scale: float) -> float:
    """The public grid for noise of this scale: a power of two, at most 2⁻³² of it.

    >>> grid_step(1.0) == 2.0**-32
    True
    """
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(f"noise scale must be positive and finite, got {scale:g}")
    step = math.ldexp(1.0, math.frexp(scale)[1] - 1 - STEPS_PER_SCALE_BITS)
    if step < 2.0**-1000:
        raise InputError(
            f"noise scale {scale:g} is too small for a grid: measure in larger numbers"
        )
    return step


def _whole_steps(scale: float, step: float) -> int:
    """The scale in grid steps, rounded up so that the noise is never too small."""
    return math.ceil(Fraction(scale) / Fraction(step))


def laplace_noise(
    scale: float,
    size: int | tuple[int, ...],
    rng: Randomness | np.random.Generator | int | None = None,
) -> NDArray[np.float64]:
    """Exact discrete Laplace noise of the given scale, as multiples of ``grid_step(scale)``.

    Args:
        scale: Δ₁/ε for a sensitivity Δ₁.
        size: number of draws, or a shape.
        rng: a seed or generator makes the noise repeatable and therefore not private; the default
            is the operating system's randomness.

    >>> import numpy as np
    >>> draws = laplace_noise(2.0, 1000)
    >>> bool(np.all(draws / grid_step(2.0) == np.rint(draws / grid_step(2.0))))
    True
    """
    step = grid_step(scale)
    draws = DiscreteLaplace(_whole_steps(scale, step)).draw(size, randomness(rng))
    return draws.astype(np.float64) * step


def gaussian_noise(
    sigma: float,
    size: int | tuple[int, ...],
    rng: Randomness | np.random.Generator | int | None = None,
) -> NDArray[np.float64]:
    """Exact discrete Gaussian noise of the given σ, as multiples of ``grid_step(sigma)``.

    Args:
        sigma: ``gaussian_sigma(epsilon, delta, sensitivity)``.
        size: number of draws, or a shape.
        rng: a seed or generator makes the noise repeatable and therefore not private; the default
            is the operating system's randomness.

    >>> gaussian_noise(1.0, (2, 3)).shape
    (2, 3)
    """
    step = grid_step(sigma)
    draws = DiscreteGaussian(_whole_steps(sigma, step)).draw(size, randomness(rng))
    return draws.astype(np.float64) * step

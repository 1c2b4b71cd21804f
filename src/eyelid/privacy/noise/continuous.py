"""Noise for shapes that have no exact integer sampler: spherical and planar Laplace.

Their radius and direction are computed in floating point from secure random bits and rounded to a
public grid, so the guarantee is that of the idealised real-valued mechanism: certificates label it
``numerics: idealised``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.privacy.noise.grid import grid_step
from eyelid.privacy.noise.randomness import Randomness, randomness, uniforms


def spherical_laplace_noise(
    scale: float,
    dimension: int,
    size: int,
    rng: Randomness | np.random.Generator | int | None = None,
) -> NDArray[np.float64]:
    """Vectors with density ∝ exp(−‖z‖₂/scale): pure ε for L2 sensitivity Δ₂ at scale Δ₂/ε.

    The direction is uniform, the radius Gamma(K, scale) in K dimensions; E‖z‖² = K(K+1)·scale².
    Rounded to a grid of at most 2⁻³² of the scale; the numerics are idealised.

    >>> spherical_laplace_noise(1.0, dimension=3, size=2).shape
    (2, 3)
    """
    from scipy.special import gammaincinv, ndtri

    if dimension < 1:
        raise InputError(f"dimension must be at least 1, got {dimension}")
    step = grid_step(scale)
    source = randomness(rng)
    direction = ndtri(uniforms(source, size * dimension)).reshape(size, dimension)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    radius = scale * gammaincinv(dimension, uniforms(source, size))
    rounded: NDArray[np.float64] = np.rint(radius[:, None] * direction / step) * step
    return rounded


def planar_laplace_noise(
    scale: float, size: int, rng: Randomness | np.random.Generator | int | None = None
) -> NDArray[np.float64]:
    """Spherical Laplace noise in the plane, as geo-indistinguishability uses it.

    >>> planar_laplace_noise(0.5, size=4).shape
    (4, 2)
    """
    return spherical_laplace_noise(scale, 2, size, rng)

"""Spherical Laplace noise in grid steps: one draw for all coordinates of a unit together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelid.privacy.noise import DiscreteLaplace, Randomness, SystemRandomness
from eyelid.privacy.noise.continuous import rounded_spherical

Integers = NDArray[np.int64]


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
        """Of one coordinate: E‖z‖²/K = (K + 1)·t²."""
        return (self.dimension + 1) * float(self.scale) ** 2

"""Noise that is what it says: integers from the operating system's randomness on a public grid."""

from eyelid.privacy.noise.box import DiscreteBox
from eyelid.privacy.noise.continuous import planar_laplace_noise, spherical_laplace_noise
from eyelid.privacy.noise.discrete import DiscreteGaussian, DiscreteLaplace, DiscreteNoise
from eyelid.privacy.noise.grid import gaussian_noise, grid_step, laplace_noise
from eyelid.privacy.noise.randomness import (
    Randomness,
    SeededRandomness,
    SystemRandomness,
    randomness,
)

__all__ = [
    "DiscreteBox",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscreteNoise",
    "Randomness",
    "SeededRandomness",
    "SystemRandomness",
    "gaussian_noise",
    "grid_step",
    "laplace_noise",
    "planar_laplace_noise",
    "randomness",
    "spherical_laplace_noise",
]

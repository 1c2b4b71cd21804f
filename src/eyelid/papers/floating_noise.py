"""Noise in floating point, as the papers draw it: fast, and broken in its low-order digits.

Textbook noise (Mironov 2012 undoes it), so nothing that holds may use it. The random bits are those
of the release, not of a generator of our own.
"""

from __future__ import annotations

import math

import numpy as np

from eyelid.mechanisms.mechanism import Values
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import uniforms

NUMERICS = "floating point, as in the paper: its low-order digits betray the values"


def exponentials(shape: tuple[int, ...], noise: Randomness) -> Values:
    """Exponential noise of scale 1."""
    draws = uniforms(noise, math.prod(shape)).reshape(shape)
    np.log(draws, out=draws)
    return np.negative(draws, out=draws)


def with_random_signs(values: Values, noise: Randomness) -> Values:
    """The values, half of them negated, in place."""
    words = noise.words(-(-values.size // 64))
    flips = np.unpackbits(words.view(np.uint8), count=values.size).view(bool)
    return np.negative(values, out=values, where=flips.reshape(values.shape))


def laplaces(shape: tuple[int, ...], noise: Randomness) -> Values:
    """Laplace noise of scale 1.

    >>> from eyelid.privacy.noise import randomness
    >>> draws = laplaces((100_000,), randomness(3))
    >>> round(float(draws.mean()), 1), round(float(draws.var()), 1)
    (0.0, 2.0)
    """
    return with_random_signs(exponentials(shape, noise), noise)


def gaussians(shape: tuple[int, ...], noise: Randomness) -> Values:
    """Gaussian noise of standard deviation 1.

    >>> from eyelid.privacy.noise import randomness
    >>> draws = gaussians((100_000,), randomness(3))
    >>> abs(float(draws.mean())) < 0.02, abs(float(draws.var()) - 1) < 0.03
    (True, True)
    """
    from scipy.special import ndtri

    return np.asarray(ndtri(uniforms(noise, math.prod(shape)))).reshape(shape)

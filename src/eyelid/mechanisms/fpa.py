"""FPA, made to hold: noise on the first Fourier coefficients of whole signals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from eyelid.mechanisms.mechanism import Shape, register
from eyelid.mechanisms.perturbation import FourierMechanism


@register
@dataclass(frozen=True)
class FPA(FourierMechanism):
    """Discrete Laplace noise on the first k Fourier coefficients of every whole signal.

    Takes: a FeatureTable; missing values become the public midpoint, every value is clipped to its
    public bounds, every recording has one public length n. A signal is one feature of one
    recording; of its coefficients the first k are kept (k public: ⌈n/60⌉ + 1 for windows of 60
    rows), the others are released as zero.

    Protects: a recording or a person, replace-one, with pure ε-DP over all its features. A person's
    total is ε × recordings when ε is a recording's.

    Why: in units of the span a signal moves at most Δ₂ = √n. The rows of the real Fourier transform
    are orthogonal, so real and imaginary parts of the first k ≤ n/2 + 1 coefficients move at most
    √(nk)·Δ₂ in L1 (Cauchy–Schwarz); coefficients beyond the middle are mirror images, measured
    once. A unit of S signals moves its integers at most S·√(nk)·Δ₂/g + 2·coordinates, the latter
    for rounding; the step g is chosen so that this is at most ε·t for discrete Laplace noise of
    scale t. Both real and imaginary parts carry noise, and `irfft` rebuilds the signal from them.

    Paper: FPA of Rastogi & Nath 2010 as used by Bozkir et al. 2021, with public bounds and length
    instead of the data's, the L1 norm of what is really released, and exact integer noise.
    """

    name: ClassVar[str] = "fpa"
    units: ClassVar[tuple[str, ...]] = ("person", "recording")

    def piece(self, shape: Shape) -> int:
        """The whole signal."""
        return shape.length

    def reach(self, shape: Shape) -> float:
        """√n: every value may move by one span."""
        return math.sqrt(shape.length)

"""FPA, made to hold: noise on the first Fourier coefficients of whole signals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import PublicFacts, register
from eyelid.mechanisms.noisy import noise_of
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.fourier import frequencies_of_first
from eyelid.mechanisms.records.perturbation import FourierMechanism


@register
@dataclass(frozen=True)
class FPA(FourierMechanism):
    """Discrete Laplace noise on the first k Fourier coefficients of every whole signal."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Discrete Laplace noise on the first k Fourier coefficients of every whole signal.",
        takes="""a FeatureTable; missing values become the public midpoint, every value is clipped
        to its public bounds, every recording has one public length n. A signal is one feature of
        one recording; of its coefficients the first k are kept, the others are released as zero. k
        is public (⌈n/60⌉ + 1 for windows of 60 rows, or a number), or chosen privately for each
        signal.""",
        protects="""a recording or a person, replace-one, with pure ε-DP over all its features. A
        person's total is ε × recordings when ε is a recording's.""",
        why="""in units of the span a signal moves at most Δ₂ = √n. The rows of the real Fourier
        transform are orthogonal, so real and imaginary parts of the first k ≤ n/2 + 1 coefficients
        move at most √(nk)·Δ₂ in L1 (Cauchy–Schwarz); coefficients beyond the middle are mirror
        images, measured once. A unit of S signals moves its integers at most
        S·√(nk)·Δ₂/g + 2·coordinates, the latter for rounding; the step g is chosen so that this is
        at most ε·t for discrete Laplace noise of scale t. Both real and imaginary parts carry
        noise, and `irfft` rebuilds the signal from them. A private k is chosen with a share of ε by
        the exponential mechanism, and what it loses is at most that share
        (`eyelid.mechanisms.records.perturbation` proves it); the noise has the rest of ε.""",
        paper="""FPA of Rastogi & Nath 2010 as used by Bozkir et al. 2021, with public bounds and
        length instead of the data's, the L1 norm of what is really released, and exact integer
        noise. The private k is EFPA's (Ács, Castelluccia & Chen 2012); tails are nested and lie in
        [0, √n/2], so that a quarter of EFPA's ε buys the same choice.""",
    )
    name: ClassVar[str] = "fpa"
    units: ClassVar[tuple[str, ...]] = ("person", "recording")

    def piece(self, facts: PublicFacts) -> int:
        """The whole signal."""
        return facts.length

    def reach(self, facts: PublicFacts) -> float:
        """√n: every value may move by one span."""
        return math.sqrt(facts.length)

    def errors_of_noise(self, facts: PublicFacts) -> tuple[float, float]:
        """In closed form, since a long signal has very many coefficients.

        A coefficient's noise is in the signal as a wave of mean square 1/n² for the mean and for
        the highest frequency of an even n, and 2/n² for a part of any other; only the first moves
        the mean.
        """
        frequencies = frequencies_of_first(self.kept(facts), facts.length)
        alone = (frequencies == 0) | (2 * frequencies == facts.length)
        waves = float(np.where(alone, 1.0, 2.0).sum())
        mean = math.sqrt(noise_of(self, facts).variance) * self.step(facts) / facts.length
        return mean * math.sqrt(waves), mean

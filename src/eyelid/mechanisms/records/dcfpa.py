"""DCFPA, made to hold: Fourier perturbation of the differences inside chunks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import PublicFacts, Values, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.cfpa import CFPA
from eyelid.mechanisms.records.fourier import first_coefficients


@register
@dataclass(frozen=True)
class DCFPA(CFPA):
    """Discrete Laplace noise on the first k Fourier coefficients of differences inside chunks."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Discrete Laplace noise on the first k Fourier coefficients of differences
        inside chunks.""",
        takes="""what `cfpa` takes. Each chunk becomes its first value and the differences from row
        to row; after the noise, a cumulative sum leads back.""",
        protects="a chunk, a recording or a person, replace-one, with pure ε-DP, as `cfpa` does.",
        why="""a first value moves at most one span, a difference of two values in [0, 1] at most
        two, so Δ₂² = 1 + 4(c − 1), and the coefficients move at most √(ck)·Δ₂ in L1, as for `cfpa`.
        Low frequencies of differences move less: a coefficient is Σ aᵢxᵢ with public aᵢ, so it
        moves at most Σ|aᵢ|, and all together at most the sum of these; the smaller of both bounds
        is taken (at c = 32 and k = 2 the second is a ninth of the first). The cumulative sum adds
        up the noise again. So the noise energy is not (c+1)(2c+1)/(6c) times `cfpa`'s or more, as
        the first bound alone would have it: at k = 1 it is (c+1)(2c+1)/(6c²), about a third, but
        one coefficient of differences is a chunk's last value and nothing else of it; at c = 32 and
        k = 2 it is 5.5. This is the paper's baseline, not a recommendation.""",
        paper="""DCFPA of Bozkir et al. 2021, whose gain came from sensitivities read off the data:
        real differences are small, but no public fact says so.""",
    )
    name: ClassVar[str] = "dcfpa"

    def reach(self, facts: PublicFacts) -> float:
        """√(1 + 4(c − 1))."""
        return math.sqrt(1 + 4 * (self.chunk - 1))

    def block_l1(self, facts: PublicFacts) -> float:
        """The smaller one of both bounds."""
        return min(super().block_l1(facts), self._of_each_coefficient(self.kept(facts)))

    def _of_each_coefficient(self, kept: int) -> float:
        """The largest change of each coordinate, summed up."""
        values = np.eye(self.chunk)[:, :, None]
        return float(np.abs(first_coefficients(self.prepare(values), kept)).sum())

    def prepare(self, pieces: Values) -> Values:
        """The first value, then differences."""
        return np.diff(pieces, axis=-2, prepend=0.0)

    def restore(self, pieces: Values) -> Values:
        """The cumulative sum."""
        return np.cumsum(pieces, axis=-2)

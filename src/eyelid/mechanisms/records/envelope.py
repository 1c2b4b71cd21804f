"""Envelope: coefficients clipped to a public spectrum, more noise where more is to be seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import NeighbourPair, PublicFacts, Values, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.records.cosine import CosineMechanism, from_first_cosines
from eyelid.privacy.unit import Unit

# Smaller ones leave nothing but means.
_SMALLEST_VARIATION = 1e-6


@register
@dataclass(frozen=True)
class Envelope(CosineMechanism):
    """Gaussian noise on cosine coefficients, shaped after a public spectrum."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Gaussian noise on cosine coefficients, shaped after a public spectrum.",
        takes="""what `dct` takes. Coefficient i of every signal is clipped to ±bᵢ, the public
        spectrum: b₀ = √n/2, which every mean is within, and bᵢ = V·√(2/n)/(2·sin(πi/2n)), about
        0.45·V·√n/i. By summation by parts no coefficient of a signal that rises and falls by V
        spans in all (its total variation) is larger. V is public (``variation``, one whole span by
        default); signals that move more may be clipped, which costs truth and never privacy.""",
        protects="""a person or a recording, replace-one, over all its features, with (ε, δ)-DP and
        its μ, which composes exactly: of a recording's a person has μ·√recordings.""",
        why="""σᵢ² = 2bᵢ·T/μ², T the sum of 2bⱼ over all coefficients of the unit, has
        Σ(2bᵢ)²/σᵢ² = μ², and is the least noise in all for coefficients that move 2bᵢ each. Less
        will do, since no signal within its bounds is longer than √n/2 (Parseval). Let sᵢ = min(bᵢ,
        β). Then Σcᵢ²/sᵢ of a signal is at most M, which is had by filling up n/4 with bᵢ², the
        smallest bᵢ first; and two units of S signals have Σ(cᵢ − c′ᵢ)²/sᵢ ≤ 4·S·M, so that
        σᵢ² = 4·S·M·sᵢ/μ² gives μ. The β among the bᵢ that makes M·Σsᵢ smallest is taken: with the
        largest it is the rule above, or less, with the smallest the noise of `dct`. All coordinates
        have the same discrete Gaussian noise of σ steps; their steps gᵢ = σᵢ/σ differ. Coefficients
        are clipped, and truncated towards zero, which makes none of them larger.""",
        remarks=(
            """What is measured is then shrunk to the midpoint by public wᵢ = bᵢ²/(bᵢ² + σᵢ²), the
            linear rule that is best against the worst coefficient within ±bᵢ. The expected error is
            that of the worst signal inside the spectrum: Σwᵢ²σᵢ² is left of the noise, and
            shrinking costs at most Σ(1 − wᵢ)²bᵢ², nor more than max(1 − wᵢ)²·n/4, for no signal is
            longer than √n/2. It never comes to much more than a constant's worst, half a span: an
            error near that says that next to nothing is left but the midpoint.""",
        ),
        paper="""for the signals of Bozkir et al. 2021; the mechanism is in none. The shares of the
        noise come by Lagrange's multipliers, the shrinkage is Wiener's.""",
    )
    name: ClassVar[str] = "envelope"
    family: ClassVar[str] = "envelope"
    shrinks: ClassVar[bool] = True
    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations (FPA), with a public spectrum; Balle & Wang (2018); Canonne, "
        "Kamath & Steinke (2020)"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "delta": 1e-5, "k": 2, "variation": 0.02},
        {"epsilon": 4.0, "delta": 1e-5, "k": 3},
    )

    variation: float = parameter(
        "spans that a signal may rise and fall in all before its coefficients are clipped",
        default=1.0,
    )
    averaged: int = parameter("people whose mean is rebuilt: less noise, less shrinking", default=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (math.isfinite(self.variation) and self.variation >= _SMALLEST_VARIATION):
            raise InputError(
                f"variation must be finite and at least {_SMALLEST_VARIATION:g}, "
                f"got {self.variation:g}"
            )
        if self.averaged < 1:
            raise InputError(f"averaged must be at least 1, got {self.averaged}")

    def spectrum(self, facts: PublicFacts) -> Values:
        """bᵢ in spans, as a column."""
        length = facts.length
        angle = np.pi * np.arange(1, self.kept(facts)) / (2 * length)
        moving = self.variation * math.sqrt(2 / length) / (2 * np.sin(angle))
        most = math.sqrt(length) / 2
        return np.concatenate([[most], np.minimum(moving, most)])[:, None]

    def shares(self, facts: PublicFacts) -> tuple[Values, float]:
        """sᵢ as a column, to which the variance of the noise is in proportion, and their M."""
        spectrum = self.spectrum(facts)[:, 0]
        energy = spectrum**2
        # The spectrum falls: what is smaller comes later.
        smaller = np.cumsum(energy[::-1])[::-1] - energy
        most = np.clip(facts.length / 4 - smaller, 0.0, energy)

        def with_largest(each: Values, capped: Values) -> Values:
            """Sums over all i, for every β = bⱼ: capped up to j, each its own beyond."""
            return np.asarray(capped + each.sum() - np.cumsum(each))

        longest = with_largest(most / spectrum, np.cumsum(most) / spectrum)
        total = with_largest(spectrum, np.arange(1, spectrum.size + 1) * spectrum)
        best = int((longest * total).argmin())
        return np.minimum(spectrum, spectrum[best])[:, None], float(longest[best])

    def step(self, facts: PublicFacts) -> Values:
        """gᵢ = 2·√(S·M·sᵢ)/(μσ), so that all of a unit's integers move μσ at most."""
        shares, longest = self.shares(facts)
        signals = self.blocks(facts, self.unit) * facts.features
        spans = 2 * np.sqrt(signals * longest * shares)
        # Longer by what floating point may do to the coefficients and to this.
        return np.asarray(spans / self.most_steps(facts) * (1 + 1e-12))

    def limit(self, steps: Values, facts: PublicFacts) -> Values:
        """Each coefficient on its own."""
        most = self.spectrum(facts) / self.step(facts)
        return np.clip(steps, -most, most)

    def sensitivity(self, facts: PublicFacts, unit: Unit) -> float:
        """Δ₂: in proportion to the root of the recordings."""
        recordings = self.blocks(facts, unit) / self.blocks(facts, self.unit)
        return self.most_steps(facts) * math.sqrt(recordings)

    def deviations(self, facts: PublicFacts) -> Values:
        """σᵢ in spans, over the people whose mean is rebuilt."""
        sigma = math.sqrt(noise_of(self, facts).variance)
        return np.asarray(self.step(facts) * sigma / self.averaged)

    def weights(self, facts: PublicFacts) -> Values:
        """wᵢ."""
        signal, noise = self.spectrum(facts) ** 2, self.deviations(facts) ** 2
        return np.asarray(signal / (signal + noise))

    def analyse(self, values: Values, facts: PublicFacts) -> Values:
        """The coefficients before they were shrunk."""
        return np.asarray(super().analyse(values, facts) / self.weights(facts))

    def rebuild(self, coordinates: Values, facts: PublicFacts) -> Values:
        """The signals with these coefficients, shrunk to the midpoint."""
        return super().rebuild(coordinates * self.weights(facts), facts)

    def errors(self, facts: PublicFacts) -> NDArray[np.float64]:
        """wᵢ²σᵢ² + (1 − wᵢ)²bᵢ² = wᵢσᵢ²: noise, and the worst that shrinking does."""
        each: NDArray[np.float64] = (self.weights(facts) * self.deviations(facts) ** 2)[:, 0]
        return each

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """For the worst signal inside the spectrum and the bounds."""
        weights = self.weights(facts)
        noise = float(((weights * self.deviations(facts)) ** 2).sum())
        shrunk = float(((1 - weights) ** 2).max()) * facts.length / 4
        return math.sqrt(min(float(self.errors(facts).sum()), noise + shrunk) / facts.length)

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        distribution, steps = noise_of(self, facts), self.step(facts)
        return (
            f"{distribution.label}, scale {distribution.scale} steps of {steps.max():.9g} to "
            f"{steps.min():.9g} of the range, on the first {self.kept(facts)} cosine coefficients "
            f"of signals of {facts.length} values, each clipped to a public spectrum; shrunk "
            f"afterwards by {self.weights(facts).max():.6g} to {self.weights(facts).min():.6g}"
        )

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Besides the bounds, all coefficients at their ends, or beyond, and the last one alone."""
        pairs = list(super().neighbour_pairs(unit))
        yield from pairs
        pair = pairs[0]
        ends = self.spectrum(pair.facts)
        ends[0] = 0.0
        length = pair.facts.length
        moving = from_first_cosines(ends, length)
        room = 0.5 - min(float(np.abs(moving).max()), 0.5)
        last = np.zeros_like(ends)
        last[-1] = 1.0
        turns = 0.5 * np.sign(from_first_cosines(last, length))
        for name, change in (
            ("at the ends of the spectrum", moving + room),
            ("from one bound to the other in turns", turns),
            ("every coefficient far outside", 1e4 * from_first_cosines(ends + 1, length)),
        ):
            yield self.apart(pair, name, change)

"""LPA as printed in Bozkir et al. 2021."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from eyelid.mechanisms.mechanism import Shape, Values, register
from eyelid.mechanisms.papers.bozkir import BozkirMechanism
from eyelid.mechanisms.papers.floating_noise import laplaces
from eyelid.mechanisms.papers.signals import TaskSignals, sensitivities
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.privacy.noise import Randomness


@register
@dataclass(frozen=True)
class LPAPaper(BozkirMechanism):
    """Laplace noise on every value, scaled by the data: LPA as printed."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Laplace noise on every value, scaled by the data: LPA as printed.",
        takes="""a FeatureTable, unclipped; missing values repeat the last known one. Recordings
        keep their lengths. Each task is treated by itself and needs two recordings.""",
        protects="""nothing; it is here to be compared with `laplace`. The printed ε is the sum over
        the features of one recording, ε/F each.""",
        why="""the scale is Δ₁/(ε/F), Δ₁ the largest L1 distance between two people's signals of a
        feature in a task (equation 7, shorter signals going on as zero). It is read off the data,
        so replacing a person changes everybody's noise: two people who are alike get none, and the
        loss is infinite. With a public Δ₁ a recording would lose ε and a person ε × recordings.""",
        paper="Bozkir et al. 2021, LPA. Floating-point noise, as theirs.",
    )
    name: ClassVar[str] = "lpa-paper"

    def noisy(self, signals: TaskSignals, runs: int, noise: Randomness) -> Values:
        """Noise of one scale a feature."""
        values = signals.values
        delta = sensitivities(values, values.shape[2], power=1)
        scale = delta / self.epsilon_per_feature(values.shape[1])
        noisy: Values = values + scale * laplaces((runs, *values.shape), noise)
        return noisy

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        share = self.epsilon_per_feature(shape.features)
        return (
            f"Laplace in floating point, scale Δ₁/{share:.4g} on every value, Δ₁ the largest L1 "
            "distance of two people in the data"
        )

    def expected_rmse_of_span(self, shape: Shape) -> float:
        """At most: for people who are a span apart all the time."""
        return math.sqrt(2) * shape.length / self.epsilon_per_feature(shape.features)

    def expected_mean_rmse_of_span(self, shape: Shape) -> float:
        """Noise is independent from row to row."""
        return self.expected_rmse_of_span(shape) / math.sqrt(shape.length)

"""Uniform: a new noisy point for every sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from eyelid.mechanisms.mechanism import register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.filter import KELLARIS, Filter
from eyelid.mechanisms.streams.state import FIXED, WHOLE


@register
@dataclass(frozen=True, kw_only=True)
class Uniform(Filter):
    """Planar Laplace noise on every sample, each with its share of ε."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Planar Laplace noise on every sample, each with its share of ε.",
        takes="""gaze samples; each is clamped to the public scene and put on a public grid. Lost
        samples repeat the last output and keep their slot.""",
        protects="""any w samples in a row, each moved by at most radius, with pure ε-DP. Time
        stamps and which samples are lost are released as they are. A person's total is
        R·⌈T/w⌉·ε·max(1, D/radius).""",
        why="""the density of planar Laplace noise of scale w·radius/ε changes by at most the factor
        e^(ε/w) when a sample moves by radius; w of them make e^ε.""",
        paper="""Kellaris et al. (2014), with planar Laplace noise for points in the place of
        counts.""",
    )
    name: ClassVar[str] = "uniform"
    paper: ClassVar[str] = KELLARIS
    rule: ClassVar[float] = FIXED

    @property
    def publish_parts(self) -> int:
        """Each sample's share of ε."""
        return WHOLE // self.window

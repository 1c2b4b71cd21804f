"""Sample: one new noisy point for every window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from eyelid.mechanisms.mechanism import register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.filter import KELLARIS, Filter
from eyelid.mechanisms.streams.state import FIXED, WHOLE


@register
@dataclass(frozen=True, kw_only=True)
class Sample(Filter):
    """Planar Laplace noise on every w-th sample, which has all of ε; the others repeat it."""

    note: ClassVar[ProofNote] = ProofNote(
        summary=(
            "Planar Laplace noise on every w-th sample, which has all of ε; the others repeat it."
        ),
        takes="""gaze samples; each is clamped to the public scene and put on a public grid. A lost
        sample repeats the last output, and where it is a w-th one its slot is lost, too.""",
        protects="""any w samples in a row, each moved by at most radius, with pure ε-DP. Time
        stamps and which samples are lost are released as they are. A person's total is
        R·⌈T/w⌉·ε·max(1, D/radius).""",
        why="""any w samples in a row have exactly one whose number is a multiple of w, and nothing
        else is looked at. The density of planar Laplace noise of scale radius/ε changes by at most
        e^ε.""",
        paper="""Kellaris et al. (2014), with planar Laplace noise for points in the place of
        counts.""",
    )
    name: ClassVar[str] = "sample"
    paper: ClassVar[str] = KELLARIS
    rule: ClassVar[float] = FIXED

    @property
    def slot_samples(self) -> int:
        """One slot a window."""
        return self.window

    @property
    def publish_parts(self) -> int:
        """All of ε."""
        return WHOLE

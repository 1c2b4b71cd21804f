"""Budget distribution: a publication takes half of what is left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.mechanisms.mechanism import register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.filter import KELLARIS, NARROW_GAME, WIDE_GAME, Filter
from eyelid.mechanisms.streams.state import HALVING, WHOLE


@register
@dataclass(frozen=True, kw_only=True)
class BudgetDistribution(Filter):
    """Every sample is tested, and published with half of what its window has left."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Every sample is tested, and published with half of what its window has left.",
        takes="""gaze samples; each is clamped to the public scene and put on a public grid. Lost
        samples repeat the last output and keep their slot. Before the first publication that is the
        public middle of the scene.""",
        protects="""any w samples in a row, each moved by at most radius, with pure ε-DP. Time
        stamps and which samples are lost are released as they are. A person's total is
        R·⌈T/w⌉·ε·max(1, D/radius).""",
        why="""a sample is published if it is farther from the last output than a publication would
        be off on average, 2·radius/εᵢ. Given the outputs so far both are fixed, and moving it by
        radius moves the distance by at most radius: Laplace noise of scale 2w·radius/ε makes a test
        cost ε/2w, and those of a window ε/2. A publication takes half of what those of the last w−1
        samples have left of ε/2, so that s ≤ ε/2 implies s + (ε/2 − s)/2 ≤ ε/2; planar Laplace
        noise of scale radius/εᵢ makes it cost εᵢ.""",
        paper="Kellaris et al. (2014), for points and distances in the place of counts.",
    )
    name: ClassVar[str] = "bd"
    aliases: ClassVar[tuple[str, ...]] = ("budget-distribution",)
    paper: ClassVar[str] = KELLARIS
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 4.0, "window": 1, "radius": 2.0, "scene": WIDE_GAME},
        {"epsilon": 2.0, "window": 2, "radius": 5.65, "scene": NARROW_GAME},
    )
    rule: ClassVar[float] = HALVING
    starts_in_the_middle: ClassVar[bool] = True

    @property
    def test_parts(self) -> int:
        """Half of ε, over the samples of a window."""
        return WHOLE // 2 // self.window

    @property
    def publish_parts(self) -> int:
        """The other half."""
        return WHOLE // 2

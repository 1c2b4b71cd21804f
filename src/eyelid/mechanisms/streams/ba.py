"""Budget absorption: a publication takes what others have not used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.mechanisms.mechanism import register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.filter import KELLARIS, NARROW_GAME, WIDE_GAME, Filter
from eyelid.mechanisms.streams.state import ABSORBING, WHOLE


@register
@dataclass(frozen=True, kw_only=True)
class BudgetAbsorption(Filter):
    """Every sample owns a slot of ε, and a publication takes those that were not used before it."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="""Every sample owns a slot of ε, and a publication takes those that were not used
        before it.""",
        takes="""gaze samples; each is clamped to the public scene and put on a public grid. Lost
        samples repeat the last output; their slots are there for others. Before the first
        publication that output is the public middle of the scene.""",
        protects="""any w samples in a row, each moved by at most radius, with pure ε-DP. Time
        stamps and which samples are lost are released as they are. A person's total is
        R·⌈T/w⌉·ε·max(1, D/radius).""",
        why="""tests are those of `bd` and cost ε/2 a window. A slot is ε/2w. After a publication of
        q slots at sample l the samples up to l + q − 1 are silent, and one at i takes
        q' = min(i − (l + q − 1), w). So [l, l + q − 1], as many samples as l took slots, ends
        before [i − q' + 1, i] begins. Of the publications of a window give each but the last its
        samples of the first kind, and the last those of the second: they do not overlap and lie
        between the first and the last publication, so there are at most w. A single one has at most
        w slots. Together ε/2.""",
        paper="""Kellaris et al. (2014), for points and distances in the place of counts; silent
        samples are not tested.""",
    )
    name: ClassVar[str] = "ba"
    aliases: ClassVar[tuple[str, ...]] = ("budget-absorption",)
    paper: ClassVar[str] = KELLARIS
    games: ClassVar[tuple[dict[str, Any], ...]] = (
        {"epsilon": 2.0, "window": 1, "radius": 2.0, "scene": WIDE_GAME},
        {"epsilon": 2.0, "window": 2, "radius": 5.65, "scene": NARROW_GAME},
    )
    rule: ClassVar[float] = ABSORBING
    starts_in_the_middle: ClassVar[bool] = True

    @property
    def test_parts(self) -> int:
        """Half of ε, over the samples of a window."""
        return WHOLE // 2 // self.window

    @property
    def publish_parts(self) -> int:
        """A slot: each sample's share of the other half."""
        return WHOLE // 2 // self.window

"""Temporal: fewer samples, each repeated until the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import Shape, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.baseline import DAVID_JOHN, Baseline, BaselineRun
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness


@register
@dataclass(frozen=True, kw_only=True)
class Temporal(Baseline):
    """Every so many-th sample as it is, repeated until the next."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Every so many-th sample as it is, repeated until the next.",
        takes="""gaze samples; each is clamped to the public scene. Samples are counted whether they
        are lost or not; where the one whose turn it is was lost, the last output is repeated.""",
        protects="nothing that could be stated. ``holds: false``, and no ε.",
        why="""whatever is released is raw gaze, without any noise. What is left out is next to what
        is released: a fixation is seen by any of its samples.""",
        paper="David-John et al. (2021), temporal down-sampling.",
    )
    name: ClassVar[str] = "temporal"
    paper: ClassVar[str] = DAVID_JOHN
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"every": 12, "scene": "0,0,1920,1080"},)
    strength: ClassVar[dict[str, str]] = {"window": "every"}
    why_not: ClassVar[tuple[str, ...]] = ("the samples that are released are raw gaze",)

    every: int = parameter("how many samples are released as one: the first of them, repeated")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every < 1:
            raise InputError(f"every must be at least 1, got {self.every}")

    def sampler(self, shape: Shape) -> str:
        """That there is no noise."""
        return f"none: one of {self.every} samples as it is"

    def start(self, noise: Randomness) -> TemporalRun:
        """Begin with a stream of one person."""
        return TemporalRun(self)


class TemporalRun(BaselineRun):
    """Samples whose turn it is, as they are."""

    def __init__(self, law: Temporal) -> None:
        super().__init__(law)
        self._every = law.every

    def due(self, index: Any) -> Any:
        """The first of every few."""
        return index % self._every == 0

    def one(self, x: float, y: float) -> tuple[float, float]:
        """As it is."""
        return x, y

    def many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """As they are."""
        return x, y

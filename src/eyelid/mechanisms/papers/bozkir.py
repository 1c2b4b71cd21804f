"""What LPA, FPA, CFPA and DCFPA of Bozkir et al. 2021 have in common, as they are printed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from eyelid.engine.progress import track
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.papers.paper_mechanism import PaperMechanism
from eyelid.mechanisms.papers.signals import TaskSignals
from eyelid.privacy.guarantee import rounded_up
from eyelid.privacy.noise import Randomness
from eyelid.privacy.unit import PERSON, Unit

_DATA_SCALE = (
    "the noise is scaled by the largest distance between two people of this very dataset: whoever "
    "is farthest from the others sets everybody's noise, and one who is like all others makes it "
    "vanish; the true loss is infinite"
)


@dataclass(frozen=True)
class BozkirMechanism(PaperMechanism):
    """LPA and the FPA family: one share of ε a feature, people compared within a task."""

    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations"
    )

    @abstractmethod
    def noisy(self, signals: TaskSignals, runs: int, noise: Randomness) -> Values:
        """Noisy signals of one task, (runs, recordings, features, rows)."""

    def randomised(
        self, tasks: Sequence[TaskSignals], runs: int, noise: Randomness
    ) -> Iterator[tuple[TaskSignals, Values]]:
        """One task after the other; recordings keep their lengths."""
        for signals in track(tasks, "adding noise"):
            yield signals, self.noisy(signals, runs, noise)

    def blocks(self, shape: Shape) -> int:
        """Pieces of a signal that each lose a feature's share."""
        return 1

    def with_public_scale(self, shape: Shape, unit: Unit) -> tuple[float, str]:
        """ε adds up over recordings, and over chunks, whatever they have in common."""
        chunks, recordings = self.blocks(shape), shape.recordings if unit == PERSON else 1
        how = f"{self.epsilon:g} × {recordings} recordings"
        return (
            self.epsilon * recordings * chunks,
            f"{how} × {chunks} chunks" if chunks > 1 else how,
        )

    def why_not(self, shape: Shape) -> Iterator[str]:
        """What all of them have in common."""
        yield _DATA_SCALE
        yield (
            "a feature that is the same for everybody in a task, or in a chunk of it, has "
            "sensitivity 0 and is released as it is"
        )
        if shape.recordings > 1:
            yield (
                f"the printed ε = {self.epsilon:g} counts one of {shape.recordings} recordings; "
                "those of one person add up"
            )
        chunks = self.blocks(shape)
        if chunks > 1:
            yield (
                f"chunks of one signal belong to one person, so that the loss of {chunks} chunks "
                f"adds up (to ε = {rounded_up(self.epsilon * chunks)} for a recording, had the "
                "scale been public); parallel composition needs different people"
            )

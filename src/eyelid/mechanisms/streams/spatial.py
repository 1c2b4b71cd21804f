"""Spatial: the middle of a cell of a public grid in place of the point looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import Shape, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.baseline import (
    DAVID_JOHN,
    Baseline,
    BaselineRun,
    check_positive,
)
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness


@register
@dataclass(frozen=True, kw_only=True)
class Spatial(Baseline):
    """Cells of a public grid."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Cells of a public grid.",
        takes="""gaze samples; each is clamped to the public scene. Lost samples repeat the last
        output.""",
        protects="nothing that could be stated. ``holds: false``, and no ε.",
        why="""there is no noise: two places in different cells are told apart with certainty,
        however near they are, and when gaze crosses from one cell to the next is seen to the
        sample. Which cells, how long and in which order stays, and with it whoever is recognised by
        that.""",
        paper="David-John et al. (2021), spatial down-sampling.",
    )
    name: ClassVar[str] = "spatial"
    paper: ClassVar[str] = DAVID_JOHN
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"cell": 120.0, "scene": "0,0,1920,1080"},)
    strength: ClassVar[dict[str, str]] = {"radius": "cell"}
    why_not: ClassVar[tuple[str, ...]] = (
        "there is no noise: two cells are told apart with certainty, and so is the sample at which "
        "gaze moves from one to the other",
    )

    cell: float = parameter("side of a cell, in units of gaze")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("cell", self.cell)

    def sampler(self, shape: Shape) -> str:
        """That there is no noise."""
        return f"none: middles of cells of {self.cell:g} {self.place.spoken_units}"

    def start(self, noise: Randomness) -> SpatialRun:
        """Begin with a stream of one person."""
        return SpatialRun(self)


class SpatialRun(BaselineRun):
    """Middles of cells, counted from the scene's corner."""

    def __init__(self, law: Spatial) -> None:
        super().__init__(law)
        self._cell = law.cell

    def one(self, x: float, y: float) -> tuple[float, float]:
        """The middle of its cell."""
        cell = self._cell
        return (
            self._x0 + (math.floor((x - self._x0) / cell) + 0.5) * cell,
            self._y0 + (math.floor((y - self._y0) / cell) + 0.5) * cell,
        )

    def many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The middles of their cells."""
        cell = self._cell
        return (
            self._x0 + (np.floor((x - self._x0) / cell) + 0.5) * cell,
            self._y0 + (np.floor((y - self._y0) / cell) + 0.5) * cell,
        )

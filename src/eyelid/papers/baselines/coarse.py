"""Filters without noise, to compare with: fewer samples, coarser places, smoother gaze."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.stream import Floats
from eyelid.papers.baselines.baseline import DAVID_JOHN, Baseline, BaselineRun, check_positive
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

    def sampler(self, facts: PublicFacts) -> str:
        """That there is no noise."""
        return f"none: one of {self.every} samples as it is"

    def start(self, noise: Randomness) -> TemporalRun:
        """Begin with a stream of one person."""
        return TemporalRun(self)


class TemporalRun(BaselineRun):
    """Samples whose turn it is, as they are."""

    def __init__(self, mechanism: Temporal) -> None:
        super().__init__(mechanism)
        self._every = mechanism.every

    def due(self, index: Any) -> Any:
        """The first of every few."""
        return index % self._every == 0

    def one(self, x: float, y: float) -> tuple[float, float]:
        """As it is."""
        return x, y

    def many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """As they are."""
        return x, y


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
        sample. Which cells, how long and in which order stays, by which people are recognised.""",
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

    def sampler(self, facts: PublicFacts) -> str:
        """That there is no noise."""
        return f"none: middles of cells of {self.cell:g} {self.place.spoken_units}"

    def start(self, noise: Randomness) -> SpatialRun:
        """Begin with a stream of one person."""
        return SpatialRun(self)


class SpatialRun(BaselineRun):
    """Middles of cells, counted from the scene's corner."""

    def __init__(self, mechanism: Spatial) -> None:
        super().__init__(mechanism)
        self._cell = mechanism.cell

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


@register
@dataclass(frozen=True, kw_only=True)
class Kalman(Baseline):
    """A Kalman filter of constant velocity, with the gain that it settles at."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="A Kalman filter of constant velocity, with the gain that it settles at.",
        takes="""gaze samples; each is clamped to the public scene. Lost samples repeat the last
        output, and the filter goes on with the next that is not lost.""",
        protects="nothing that could be stated. ``holds: false``, and no ε.",
        why="""there is no noise: the filter is linear and can be undone: an attacker who knows its
        gain computes raw gaze from what is released (as long as nothing was cut at the scene's
        edge). With Λ = sd of the change of speed from sample to sample over the sd of a sample's
        error, and r = (4 + Λ − √(8Λ + Λ²))/4, place and speed take α = 1 − r² and
        β = 2(2 − α) − 4√(1 − α) of every surprise.""",
        paper="""Raju & Komogortsev (2025), who smooth by a Kalman filter; the gain of two states in
        closed form is Kalata's (1984).""",
    )
    name: ClassVar[str] = "kalman"
    paper: ClassVar[str] = (
        "Raju & Komogortsev (2025), Real-time lightweight gaze privacy-preservation techniques "
        "validated via offline gaze-based interaction simulation; Kalata (1984), The tracking "
        "index: a generalized parameter for α-β and α-β-γ target trackers"
    )
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"tracking": 0.02, "scene": "0,0,1920,1080"},)
    why_not: ClassVar[tuple[str, ...]] = (
        "there is no noise: those who know the filter compute raw gaze from what is released",
    )

    tracking: float = parameter(
        "how much speed changes from sample to sample over a sample's error; less is smoother",
        default=0.02,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("tracking", self.tracking)

    @property
    def gains(self) -> tuple[float, float]:
        """α and β: what place and speed take of a surprise."""
        index = self.tracking
        # (4 + Λ − √(8Λ + Λ²))/4, written so that large Λ do not cancel.
        rest = 4 / (4 + index + math.sqrt(8 * index + index**2))
        alpha = 1 - rest**2
        return alpha, 2 * (2 - alpha) - 4 * math.sqrt(1 - alpha)

    def sampler(self, facts: PublicFacts) -> str:
        """That there is no noise."""
        return "none: a linear filter of place and speed, gains {:.4g} and {:.4g}".format(
            *self.gains
        )

    def start(self, noise: Randomness) -> KalmanRun:
        """Begin with a stream of one person."""
        return KalmanRun(self)


class KalmanRun(BaselineRun):
    """Place and speed as a linear filter of second order, one for x and one for y."""

    def __init__(self, mechanism: Kalman) -> None:
        super().__init__(mechanism)
        alpha, beta = mechanism.gains
        self._forward = (alpha, beta - alpha, 0.0)
        self._back = (1.0, alpha + beta - 2, 1 - alpha)
        self._held: Floats | None = None

    def _begin(self, x: float, y: float) -> Floats:
        """As if gaze had always been here: what the filter holds is a multiple of it."""
        (alpha, _, _), (_, _, second) = self._forward, self._back
        return np.array([[held * place for held in (1 - alpha, -second)] for place in (x, y)])

    def one(self, x: float, y: float) -> tuple[float, float]:
        """The place that is believed in now."""
        if self._held is None:
            self._held = self._begin(x, y)
        (now, before, _), (_, first, second) = self._forward, self._back
        (x_next, x_later), (y_next, y_later) = self._held.tolist()
        x_place, y_place = x_next + now * x, y_next + now * y
        self._held = np.array(
            [
                [x_later + x * before - x_place * first, -x_place * second],
                [y_later + y * before - y_place * first, -y_place * second],
            ]
        )
        return x_place, y_place

    def many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """The places, one after the other."""
        from scipy.signal import lfilter

        if not len(x):
            return x, y
        if self._held is None:
            self._held = self._begin(x[0], y[0])
        places, self._held = lfilter(self._forward, self._back, np.stack([x, y]), zi=self._held)
        return places[0], places[1]

"""Jitter: Gaussian noise on every sample."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import Shape, parameter, register
from eyelid.mechanisms.streams.baseline import (
    DAVID_JOHN,
    Baseline,
    BaselineRun,
    check_positive,
)
from eyelid.mechanisms.streams.draws import BLOCK, Ahead
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import uniforms


def normals(source: Randomness, count: int) -> Floats:
    """Gaussian noise of standard deviation 1, two rows of ``count``, by Box and Muller."""
    one, turn = uniforms(source, 2 * count).reshape(2, count)
    radius = np.sqrt(-2 * np.log(one))
    around = 2 * math.pi * turn
    return np.stack([radius * np.cos(around), radius * np.sin(around)])


class NormalAhead(Ahead):
    """White noise of standard deviation 1: x and y."""

    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """Every draw by itself."""
        return tuple(normals(source, BLOCK))


@register
@dataclass(frozen=True, kw_only=True)
class Jitter(Baseline):
    """Gaussian noise on every sample, each by itself.

    Takes: gaze samples; each is clamped to the public scene. Lost samples repeat the last output.

    Protects: nothing that could be stated. ``holds: false``, and no ε.

    Why: the mean of n samples of a fixation has noise of sd/√n: at 120 Hz a third of a second
    leaves a sixth of it, and whoever is recognised by where and how long they look still is. Had
    the noise been exact, one sample that moves across the scene (D) would lose μ = D/sd and T of
    them μ = √T·D/sd, which no useful sd keeps small; in floating point not even that holds.

    Paper: David-John et al. (2021), additive Gaussian noise. They promise nothing either.
    """

    name: ClassVar[str] = "jitter"
    paper: ClassVar[str] = DAVID_JOHN
    games: ClassVar[tuple[dict[str, Any], ...]] = ({"sd": 30.0, "scene": "0,0,1920,1080"},)
    strength: ClassVar[dict[str, str]] = {"radius": "sd"}
    why_not: ClassVar[tuple[str, ...]] = (
        "the noise of every sample is drawn by itself, so that the mean of a fixation has next to "
        "none of it",
        "the noise is computed in floating point, whose low-order digits betray values",
    )

    sd: float = parameter("standard deviation of the noise, in units of gaze")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("sd", self.sd)

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        return f"Gaussian on every sample, standard deviation {self.sd:g} {self.place.spoken_units}"

    def start(self, noise: Randomness) -> NoisyRun:
        """Begin with a stream of one person."""
        return NoisyRun(self, self.sd, NormalAhead(noise))


class NoisyRun(BaselineRun):
    """Noise that is drawn ahead, added to every sample that is not lost."""

    def __init__(self, law: Baseline, sd: float, ahead: Ahead) -> None:
        super().__init__(law)
        self._sd, self._ahead = sd, ahead
        ahead.ensure(1)

    def one(self, x: float, y: float) -> tuple[float, float]:
        """The sample with the next draw."""
        ahead = self._ahead
        ahead.ensure(1)
        across, up = ahead.lists
        here = ahead.used
        ahead.used += 1
        return x + self._sd * across[here], y + self._sd * up[here]

    def many(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Samples with the next draws, in their order."""
        ahead = self._ahead
        ahead.ensure(len(x))
        here = slice(ahead.used, ahead.used + len(x))
        across, up = (column[here] for column in ahead.columns)
        ahead.used += len(x)
        return x + self._sd * across, y + self._sd * up

"""Baselines that add noise of one standard deviation to every sample."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import parameter
from eyelid.mechanisms.streams.baseline import Baseline, BaselineRun, check_positive
from eyelid.mechanisms.streams.draws import Ahead
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness
from eyelid.privacy.noise.randomness import uniforms


def normals(source: Randomness, count: int) -> Floats:
    """Gaussian noise of standard deviation 1, two rows of ``count``, by Box and Muller."""
    one, turn = uniforms(source, 2 * count).reshape(2, count)
    radius = np.sqrt(-2 * np.log(one))
    around = 2 * math.pi * turn
    return np.stack([radius * np.cos(around), radius * np.sin(around)])


@dataclass(frozen=True, kw_only=True)
class NoisyBaseline(Baseline):
    """A filter without a promise that adds noise.

    Attributes:
        sd: its standard deviation.
    """

    games: ClassVar[tuple[dict[str, Any], ...]] = ({"sd": 30.0, "scene": "0,0,1920,1080"},)
    strength: ClassVar[dict[str, str]] = {"radius": "sd"}

    sd: float = parameter("standard deviation of the noise, in units of gaze")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive("sd", self.sd)

    @abstractmethod
    def drawn_ahead(self, noise: Randomness) -> Ahead:
        """Noise of standard deviation 1, x and y."""

    def start(self, noise: Randomness) -> NoisyRun:
        """Begin with a stream of one person."""
        return NoisyRun(self, self.sd, self.drawn_ahead(noise))


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

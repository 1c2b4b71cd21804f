"""Filters that add noise to every sample, to compare with: white (jitter) and slow (pink)."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import PublicFacts, parameter, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.draws import BLOCK, Ahead
from eyelid.mechanisms.streams.stream import Floats
from eyelid.papers.baselines.baseline import DAVID_JOHN, Baseline, BaselineRun, check_positive
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

    def __init__(self, mechanism: Baseline, sd: float, ahead: Ahead) -> None:
        super().__init__(mechanism)
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


class NormalAhead(Ahead):
    """White noise of standard deviation 1: x and y."""

    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """Every draw by itself."""
        return tuple(normals(source, BLOCK))


@register
@dataclass(frozen=True, kw_only=True)
class Jitter(NoisyBaseline):
    """Gaussian noise on every sample, each by itself."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Gaussian noise on every sample, each by itself.",
        takes="""gaze samples; each is clamped to the public scene. Lost samples repeat the last
        output.""",
        protects="nothing that could be stated. ``holds: false``, and no ε.",
        why="""the mean of n samples of a fixation has noise of sd/√n: at 120 Hz a third of a second
        leaves a sixth of it, and people are still recognised by where and how long they look.
        Had the noise been exact, one sample that moves across the scene (D) would lose μ = D/sd and
        T of them μ = √T·D/sd, which no useful sd keeps small; in floating point not even that
        holds.""",
        paper="David-John et al. (2021), additive Gaussian noise. They promise nothing either.",
    )
    name: ClassVar[str] = "jitter"
    paper: ClassVar[str] = DAVID_JOHN
    why_not: ClassVar[tuple[str, ...]] = (
        "the noise of every sample is drawn by itself, so that the mean of a fixation has next to "
        "none of it",
        "the noise is computed in floating point, whose low-order digits betray values",
    )

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        return f"Gaussian on every sample, standard deviation {self.sd:g} {self.place.spoken_units}"

    def drawn_ahead(self, noise: Randomness) -> NormalAhead:
        """White noise."""
        return NormalAhead(noise)


# Samples for which each part of the noise remembers: with these the sum is within 0.2 dB of 1/f
# from 1/18 000 of the sampling rate to a quarter of it.
MEMORY_SAMPLES = 0.7 * 4.0 ** np.arange(8)
_KEPT = np.exp(-1 / MEMORY_SAMPLES)


class PinkAhead(Ahead):
    """The sum of eight processes that forget at different speeds, of standard deviation 1: x and y.

    Each is an AR(1) process of variance 1/8 that starts from its own law: there is no warming up.
    """

    def __init__(self, source: Randomness) -> None:
        super().__init__(source)
        self._held: Floats = normals(source, len(_KEPT)) / np.sqrt(len(_KEPT))

    def block(self, source: Randomness) -> tuple[Floats, ...]:
        """The processes go on from where they were, both axes at once."""
        from scipy.signal import lfilter

        noise = np.zeros((2, BLOCK))
        for part, kept in enumerate(_KEPT):
            white = normals(source, BLOCK) * np.sqrt((1 - kept**2) / len(_KEPT))
            walk, _ = lfilter([1.0], [1.0, -kept], white, zi=kept * self._held[:, [part]])
            self._held[:, part] = walk[:, -1]
            noise += walk
        return tuple(noise)


@register
@dataclass(frozen=True, kw_only=True)
class Pink(NoisyBaseline):
    """Noise of spectrum 1/f on every sample."""

    note: ClassVar[ProofNote] = ProofNote(
        summary="Noise of spectrum 1/f on every sample.",
        takes="""gaze samples; each is clamped to the public scene. Lost samples repeat the last
        output, and the noise goes on with the next that is not lost.""",
        protects="nothing that could be stated. ``holds: false``, and no ε.",
        why="""slow noise outlives the mean of a fixation, as that of `jitter` does not, but it
        hardly changes from one sample to the next: speeds, durations, micro-movements and the jumps
        between two places come through, and people are recognised by those. It is a sum of eight
        AR(1) processes of one variance that remember 0.7·4ʲ samples, within 0.2 dB of 1/f from
        1/18 000 of the sampling rate to a quarter of it; below that it is flat. Floating
        point.""",
        paper="""Liu et al. (2019) ask for a look at pink noise, and have none. Ours is causal and
        of constant memory, where a whole recording is usually shaped at once by its Fourier
        transform.""",
    )
    name: ClassVar[str] = "pink"
    paper: ClassVar[str] = (
        "suggested by Liu, Xia, Duchowski, Bailey, Holmqvist & Jain (2019), Differential privacy "
        "for eye-tracking data"
    )
    why_not: ClassVar[tuple[str, ...]] = (
        "the noise hardly changes from one sample to the next, so that speeds, durations and jumps "
        "come through",
        "the noise is computed in floating point, whose low-order digits betray values",
    )

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        return f"1/f noise, standard deviation {self.sd:g} {self.place.spoken_units}"

    def drawn_ahead(self, noise: Randomness) -> PinkAhead:
        """Noise of spectrum 1/f."""
        return PinkAhead(noise)

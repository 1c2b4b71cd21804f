"""Pink: noise whose slow parts are the strongest, so that averaging does not remove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyelid.mechanisms.mechanism import Shape, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.draws import BLOCK, Ahead
from eyelid.mechanisms.streams.noisy_baseline import NoisyBaseline, normals
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness

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
        between two places come through, and with them whoever is recognised by those. It is a sum
        of eight AR(1) processes of one variance that remember 0.7·4ʲ samples, within 0.2 dB of 1/f
        from 1/18 000 of the sampling rate to a quarter of it; below that it is flat. Floating
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

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        return f"1/f noise, standard deviation {self.sd:g} {self.place.spoken_units}"

    def drawn_ahead(self, noise: Randomness) -> PinkAhead:
        """Noise of spectrum 1/f."""
        return PinkAhead(noise)

"""Jitter: Gaussian noise on every sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from eyelid.mechanisms.mechanism import Shape, register
from eyelid.mechanisms.proof_note import ProofNote
from eyelid.mechanisms.streams.baseline import DAVID_JOHN
from eyelid.mechanisms.streams.draws import BLOCK, Ahead
from eyelid.mechanisms.streams.noisy_baseline import NoisyBaseline, normals
from eyelid.mechanisms.streams.stream import Floats
from eyelid.privacy.noise import Randomness


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
        leaves a sixth of it, and whoever is recognised by where and how long they look still is.
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

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        return f"Gaussian on every sample, standard deviation {self.sd:g} {self.place.spoken_units}"

    def drawn_ahead(self, noise: Randomness) -> NormalAhead:
        """White noise."""
        return NormalAhead(noise)

"""The Fourier noise of one task as the paper calibrates it: piece by piece, from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.papers.floating_noise import laplaces
from eyelid.mechanisms.papers.piece import Pieces, Response, Treatment
from eyelid.mechanisms.papers.signals import TaskSignals, sensitivities
from eyelid.privacy.noise import Randomness


@dataclass(frozen=True, eq=False)
class Block:
    """Recordings that have the same number of rows in one chunk.

    Attributes:
        chunk: the chunk's number.
        first: its first row.
        recordings: which ones.
        pieces: theirs.
    """

    chunk: int
    first: int
    recordings: NDArray[np.intp]
    pieces: Pieces

    def respond(self, draws: Values) -> Response:
        """What a task's draws, (runs, recordings, features, rows), do to these pieces."""
        end = self.first + self.pieces.values.shape[-1]
        return self.pieces.respond(draws[:, self.recordings, :, self.first : end])


@dataclass(frozen=True, eq=False)
class TaskNoise:
    """A task cut into chunks, each with its sensitivity.

    Attributes:
        signals: of the task.
        chunk: rows of a chunk; a recording's last one is as long as what is left.
        candidates: each k that is looked at.
        sensitivity: (features, chunks), Δ₂ of what is transformed.
        blocks: all pieces.
    """

    signals: TaskSignals
    chunk: int
    candidates: tuple[int, ...]
    sensitivity: Values
    blocks: tuple[Block, ...]

    @classmethod
    def of(
        cls, signals: TaskSignals, chunk: int, treatment: Treatment, candidates: Sequence[int]
    ) -> TaskNoise:
        """Cut, compare people, transform."""
        prepared = signals.differences(chunk) if treatment.differenced else signals
        delta = sensitivities(prepared.values, chunk, power=2)
        blocks = []
        for number, first in enumerate(range(0, signals.values.shape[2], chunk)):
            own = np.clip(signals.lengths - first, 0, chunk)
            for rows in np.unique(own[own > 0]):
                who = np.flatnonzero(own == rows)
                values = signals.values[who, :, first : first + rows]
                pieces = Pieces.of(values, treatment, candidates, delta[:, number])
                blocks.append(Block(number, first, who, pieces))
        return cls(signals, chunk, tuple(candidates), delta, tuple(blocks))

    def randomised(
        self, chosen: NDArray[np.intp], epsilon: float, runs: int, noise: Randomness
    ) -> Values:
        """Noisy signals, (runs, recordings, features, rows).

        Args:
            chosen: (features, chunks), each one's place among the candidates.
            epsilon: of one feature.
            runs: how many independent ones.
            noise: where the random bits come from.
        """
        out = np.zeros((runs, *self.signals.values.shape))
        for block in self.blocks:
            pieces, treatment = block.pieces, block.pieces.treatment
            length, place = pieces.values.shape[-1], chosen[:, block.chunk]
            k = np.array(pieces.candidates)[place]
            scale = pieces.spread[np.arange(len(k)), place] / epsilon
            spectrum = np.fft.rfft(treatment.prepare(pieces.values), axis=-1)
            draws = laplaces((2, runs, *spectrum.shape), noise) * scale[:, None]
            if not treatment.noisy_mean:
                draws[..., 0] = 0
            # `irfft` leaves out the imaginary parts of the mean and of the highest frequency.
            noisy = spectrum + draws[0] + 1j * draws[1]
            kept = np.array([treatment.kept_frequencies(each) for each in k])
            noisy *= np.arange(spectrum.shape[-1]) < kept[:, None]
            private = treatment.restore(np.fft.irfft(noisy, n=length, axis=-1))
            out[:, block.recordings, :, block.first : block.first + length] = private
        return out

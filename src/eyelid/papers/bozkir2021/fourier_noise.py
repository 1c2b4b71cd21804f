"""What noise on Fourier coefficients does to pieces of signals, for many k and many runs at once.

A piece has m values and m real coordinates: the mean, then real and imaginary part of each
frequency in turn. Noise of scale λ on the coordinates of the first k coefficients adds λ·u to the
piece, with u linear in standard draws; leaving out the others adds b, which is no noise. Error and
mean of the noisy piece then follow from ‖u‖², u·b and Σu for every λ, and so for every ε; and the
draws for one k are the first of those for a larger k.

Where pieces are transformed as they are, frequencies are orthogonal (Parseval): ‖u‖² is a weighted
sum of squared draws, u·b is zero, and nothing has to be transformed back. Where differences are
transformed, ‖u‖² = ‖Tz‖² for the triangular T of a QR decomposition: matrix products.

A task is cut into pieces as the paper calibrates its noise, from the data: "n denotes the maximum
length of the observation vectors", so that the scale √n·√k·Δ₂/ε is the same for everybody, the
longest recording's, while each recording is transformed over its own rows. So is k: whatever gives
the least |NMSE| over many noisy runs on the data, one k for each chunk, feature and task. No
guarantee survives that; the paper says so and calls the leak negligible.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.papers.floating_noise import laplaces
from eyelid.papers.signals import TaskSignals, sensitivities
from eyelid.privacy.noise import Randomness


@dataclass(frozen=True)
class Treatment:
    """How pieces are turned into what gets noise.

    Attributes:
        differenced: whether steps from row to row are transformed, the first value kept.
        noisy_mean: whether the coefficient of the mean is one of those that get noise. As printed
            it is the first of them; see `experiment` for what the published figures say.
    """

    differenced: bool = False
    noisy_mean: bool = True

    def most(self, length: int) -> int:
        """The largest k: coefficients beyond the middle are mirror images."""
        return length // 2 + self.noisy_mean

    def noisy_coordinates(self, k: int, length: int) -> int:
        """How many real coordinates the noise goes to."""
        return min(2 * k - 1, length) if self.noisy_mean else min(2 * k, length - 1)

    def kept_frequencies(self, k: int) -> int:
        """How many coefficients are released, from the mean up."""
        return k if self.noisy_mean else k + 1

    def prepare(self, pieces: Values) -> Values:
        """What is transformed, over the last axis."""
        return np.diff(pieces, axis=-1, prepend=0.0) if self.differenced else pieces

    def restore(self, pieces: Values) -> Values:
        """The inverse of `prepare`."""
        return np.cumsum(pieces, axis=-1) if self.differenced else pieces


class Response(NamedTuple):
    """What draws do, for a scale of 1: each (runs, recordings, features, candidates)."""

    energy: Values
    """‖u‖²."""
    cross: Values | float
    """u·b."""
    total: Values | float
    """Σu."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Some rows of some recordings, from one place and m of each.

    Attributes:
        treatment: of these pieces.
        values: (recordings, features, m).
        candidates: each k that is looked at, from small to large, at most ``treatment.most(m)``.
        spread: (features, candidates), the scale of the noise for ε = 1: √n·√k·Δ₂, n being the rows
            of the longest recording here, m or more.
        sums: (recordings, features), Σx.
        left_out_energy: (recordings, features, candidates), ‖b‖².
        left_out_sums: (recordings, features, candidates), Σb.
        against: for each candidate, (recordings, features, coordinates): b·row of each noisy
            coordinate; empty where these are zero.
    """

    treatment: Treatment
    values: Values
    candidates: tuple[int, ...]
    spread: Values
    sums: Values
    left_out_energy: Values
    left_out_sums: Values
    against: tuple[Values, ...]

    @classmethod
    def of(
        cls,
        values: Values,
        treatment: Treatment,
        candidates: Sequence[int],
        sensitivity: Values,
        longest: int | None = None,
    ) -> Pieces:
        """Pieces with what each k would leave out of them.

        Args:
            values: (recordings, features, m).
            treatment: of these pieces.
            candidates: each k that is looked at.
            sensitivity: Δ₂ of each feature.
            longest: rows of the longest piece that shares the scale of the noise; None for m.
        """
        length = values.shape[-1]
        longest = longest or length
        ks = tuple(min(k, treatment.most(length)) for k in candidates)
        spectrum = np.fft.rfft(treatment.prepare(values), axis=-1)
        energy, sums = (np.empty((*values.shape[:-1], len(ks))) for _ in range(2))
        against = []
        for index, k in enumerate(ks):
            kept = spectrum.copy()
            kept[..., treatment.kept_frequencies(k) :] = 0
            left_out = treatment.restore(np.fft.irfft(kept, n=length, axis=-1)) - values
            energy[..., index] = np.einsum("...i,...i->...", left_out, left_out)
            sums[..., index] = left_out.sum(axis=-1)
            if treatment.differenced:
                rows, _ = _differenced(treatment, length)
                used = rows[: treatment.noisy_coordinates(k, length)]
                flat = left_out.reshape(-1, length) @ used.T
                against.append(flat.reshape(*values.shape[:-1], -1))
        # One scale for everybody: that of the longest, with the k that it has.
        shared_ks = np.minimum(candidates, max(treatment.most(longest), 1)).astype(np.float64)
        spread = sensitivity[:, None] * np.sqrt(longest * shared_ks)
        own = values.sum(axis=-1)
        return cls(treatment, values, ks, spread, own, energy, sums, tuple(against))

    def respond(self, draws: Values) -> Response:
        """What standard draws, (runs, recordings, features, ≥ m), do to the pieces."""
        length, front = self.values.shape[-1], draws.shape[:-1]
        # One tall matrix: many small products would be slow.
        flat = draws[..., :length].reshape(-1, length)
        if self.treatment.differenced:
            return self._respond_differenced(flat, front)
        weights = _weights(self.treatment, length, self.candidates)
        used = flat[:, : len(weights)]
        energy = ((used * used) @ weights).reshape(*front, -1)
        # Only the mean moves the sum: its coordinate adds 1/m to every value.
        return Response(energy, 0.0, draws[..., :1] if self.treatment.noisy_mean else 0.0)

    def _respond_differenced(self, flat: Values, front: tuple[int, ...]) -> Response:
        length = self.values.shape[-1]
        rows, triangle = _differenced(self.treatment, length)
        counts = [self.treatment.noisy_coordinates(k, length) for k in self.candidates]
        energy, cross = (np.empty((*front, len(counts))) for _ in range(2))
        used = np.arange(len(rows))[:, None] < np.array(counts)
        total = flat[:, : len(rows)] @ (rows.sum(axis=1)[:, None] * used)
        moved, before = np.zeros(flat.shape), 0
        each = flat.reshape(*front, length)
        for index, count in enumerate(counts):
            # Larger k add their own coordinates to what smaller ones have moved.
            moved[:, :count] += flat[:, before:count] @ triangle[:count, before:count].T
            so_far, before = moved[:, :count], count
            energy[..., index] = np.einsum("ij,ij->i", so_far, so_far).reshape(front)
            cross[..., index] = np.einsum("rpfj,pfj->rpf", each[..., :count], self.against[index])
        return Response(energy, cross, total.reshape(*front, -1))

    def outcome(
        self, response: Response, epsilon: float, chosen: NDArray[np.intp] | None = None
    ) -> tuple[Values, Values]:
        """Squared error and sum of the noisy pieces, for every candidate or the chosen ones.

        Args:
            response: of standard draws.
            epsilon: of one feature.
            chosen: a candidate's place for each feature; the last axis then falls away.
        """
        feature = np.arange(len(self.spread))

        def pick(what: Values | float) -> Values | float:
            if chosen is None or isinstance(what, float):
                return what
            return np.asarray(what[..., feature, chosen if what.shape[-1] > 1 else 0])

        scale = pick(self.spread) / epsilon
        squares = scale**2 * pick(response.energy) + pick(self.left_out_energy)
        if not isinstance(response.cross, float):
            squares += 2 * scale * pick(response.cross)
        sums = scale * pick(response.total) + (
            pick(self.left_out_sums) + (self.sums[..., None] if chosen is None else self.sums)
        )
        # A mean without noise is the same in every run.
        return np.asarray(squares), np.broadcast_to(sums, np.shape(squares))


@functools.lru_cache(maxsize=256)
def _weights(treatment: Treatment, length: int, candidates: tuple[int, ...]) -> Values:
    """(coordinates, candidates): what a squared draw adds to ‖u‖²."""
    each = np.full(length, 2.0 / length)
    each[0] = 1.0 / length
    if length % 2 == 0:
        each[-1] = 1.0 / length
    each = each if treatment.noisy_mean else each[1:]
    counts = [treatment.noisy_coordinates(k, length) for k in candidates]
    weights: Values = each[:, None] * (np.arange(len(each))[:, None] < np.array(counts))
    return np.ascontiguousarray(weights[: max(counts)])


@functools.lru_cache(maxsize=256)
def _differenced(treatment: Treatment, length: int) -> tuple[Values, Values]:
    """What one unit of each noisy coordinate adds to a piece, and the triangle of these rows."""
    frequency = np.arange(length // 2 + 1)
    unit = np.zeros((length, length // 2 + 1), dtype=np.complex128)
    real = np.where(frequency == 0, 0, 2 * frequency - 1)
    unit[real, frequency] = 1.0
    imaginary = frequency[(frequency > 0) & (2 * frequency < length)]
    unit[2 * imaginary, imaginary] = 1j
    rows = treatment.restore(np.fft.irfft(unit, n=length, axis=-1))
    rows = rows if treatment.noisy_mean else rows[1:]
    return rows, np.asarray(np.linalg.qr(rows.T, mode="r"))


def nmse(squares: Values, sums: Values, original_sums: Values, rows: float | Values) -> Values:
    """|NMSE| of signals or pieces (equation 4 of the paper); NaN where a mean is zero."""
    below = np.abs(original_sums * sums)
    found = np.full(np.broadcast_shapes(squares.shape, below.shape), math.nan)
    np.divide(squares * rows, below, out=found, where=below > 0)
    return found


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
                pieces = Pieces.of(values, treatment, candidates, delta[:, number], own.max())
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


# Draws held at once: a few hundred MB with everything made of them.
_BATCH_DRAWS = 10_000_000


def candidates(length: int, treatment: Treatment) -> tuple[int, ...]:
    """Powers of two, and all coefficients there are.

    >>> candidates(32, Treatment())
    (1, 2, 4, 8, 16, 17)
    """
    most = max(treatment.most(length), 1)
    powers = [2**power for power in range(most.bit_length())]
    return tuple(dict.fromkeys([k for k in powers if k <= most] + [most]))


def batches(draws_a_run: int, runs: int) -> list[int]:
    """Runs cut into batches that fit into memory."""
    at_once = max(1, min(runs, _BATCH_DRAWS // draws_a_run))
    return [min(at_once, runs - start) for start in range(0, runs, at_once)]


def least_nmse(task: TaskNoise, epsilon: float, runs: int, noise: Randomness) -> NDArray[np.intp]:
    """(features, chunks): the place of the best candidate."""
    if len(task.candidates) == 1:
        return np.zeros(task.sensitivity.shape, dtype=np.intp)
    score = Scores(task, (epsilon,))
    for batch in batches(task.signals.values.size, runs):
        score.add(laplaces((batch, *task.signals.values.shape), noise))
    return np.asarray(score.best()[0])


class Scores:
    """Mean |NMSE| of every candidate, gathered over batches of runs."""

    def __init__(self, task: TaskNoise, epsilons: Sequence[float]) -> None:
        self._task, self._epsilons = task, epsilons
        facts = (len(epsilons), *task.sensitivity.shape, len(task.candidates))
        self._sums, self._counts = np.zeros(facts), np.zeros(facts)

    def add(self, draws: Values) -> None:
        """Standard draws, (runs, recordings, features, rows)."""
        for block in self._task.blocks:
            pieces, response = block.pieces, block.respond(draws)
            length = pieces.values.shape[-1]
            for index, epsilon in enumerate(self._epsilons):
                squares, sums = pieces.outcome(response, epsilon)
                with np.errstate(divide="ignore", invalid="ignore"):
                    # What is fixed is multiplied after the runs are summed up.
                    ratios = (squares / np.abs(sums)).sum(axis=0)
                    found = ratios * length / np.abs(pieces.sums[..., None])
                known = np.isfinite(found)
                self._sums[index, :, block.chunk] += found.sum(axis=0, where=known)
                self._counts[index, :, block.chunk] += len(draws) * known.sum(axis=0)

    def best(self) -> NDArray[np.intp]:
        """(ε, features, chunks): the place of the best candidate; the first where none has one."""
        means = np.full(self._sums.shape, np.inf)
        np.divide(self._sums, self._counts, out=means, where=self._counts > 0)
        return np.asarray(means.argmin(axis=-1))

"""What noise on Fourier coefficients does to pieces of signals, for many k and many runs at once.

A piece has m values and m real coordinates: the mean, then real and imaginary part of each
frequency in turn. Noise of scale λ on the coordinates of the first k coefficients adds λ·u to the
piece, with u linear in standard draws; leaving out the others adds b, which is no noise. Error and
mean of the noisy piece then follow from ‖u‖², u·b and Σu for every λ, and so for every ε; and the
draws for one k are the first of those for a larger k.

Where pieces are transformed as they are, frequencies are orthogonal (Parseval): ‖u‖² is a weighted
sum of squared draws, u·b is zero, and nothing has to be transformed back. Where differences are
transformed, ‖u‖² = ‖Tz‖² for the triangular T of a QR decomposition: matrix products.
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
    """The same rows of some recordings, m of each.

    Attributes:
        treatment: of these pieces.
        values: (recordings, features, m).
        candidates: each k that is looked at, from small to large, at most ``treatment.most(m)``.
        spread: (features, candidates), the scale of the noise for ε = 1: √m·√k·Δ₂.
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
        cls, values: Values, treatment: Treatment, candidates: Sequence[int], sensitivity: Values
    ) -> Pieces:
        """Pieces with what each k would leave out of them."""
        length = values.shape[-1]
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
        spread = sensitivity[:, None] * np.sqrt(length * np.array(ks, dtype=np.float64))
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

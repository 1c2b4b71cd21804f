"""Fourier perturbation: noise on the first Fourier coefficients of signals, cut in pieces or whole.

The base of `fpa`, `cfpa` and `dcfpa`. A piece is a whole signal (one feature of one recording) or a
chunk of it; it is the block whose loss is one share of the budget.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.fourier import (
    coordinates_of_first,
    distinct,
    first_coefficients,
    from_first_coefficients,
    l1_of_first,
)
from eyelid.mechanisms.measuring import noise_of
from eyelid.mechanisms.mechanism import NeighbourPair, Shape, Values, parameter
from eyelid.mechanisms.pure import PureMechanism, exact
from eyelid.privacy.noise import DiscreteLaplace
from eyelid.privacy.unit import Unit

_SCALE_BITS = 36
# Coordinates of more steps than this would feel the rounding of floating point.
_MOST_BITS = 44
# Two neighbours' coordinates are each off by half a step from rounding, and by less from floats.
_ROUNDING_STEPS = 2


@dataclass(frozen=True)
class FourierMechanism(PureMechanism):
    """Discrete Laplace noise on real and imaginary parts of the first k coefficients of pieces."""

    paper: ClassVar[str] = (
        "Bozkir, Günlü, Fuhl, Schaefer & Kasneci (2021), Differential privacy for eye tracking "
        "with temporal correlations; Rastogi & Nath (2010), Differentially private aggregation of "
        "distributed time-series"
    )

    k: int | str = parameter(
        "coefficients kept of each piece: a number, or public (⌈n/window⌉ + 1)", default="public"
    )
    window: int = parameter("rows that one window covers, for the public k", default=60)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.k, int):
            if self.k < 1:
                raise InputError(f"k must be at least 1, got {self.k}")
        elif self.k != "public":
            raise InputError(f"k must be a number or public, got '{self.k}'")
        if self.window < 1:
            raise InputError(f"window must be at least 1, got {self.window}")

    @abstractmethod
    def piece(self, shape: Shape) -> int:
        """Values of one piece."""

    @abstractmethod
    def reach(self, shape: Shape) -> float:
        """The largest L2 norm, in spans, of a change of one piece, as it is transformed."""

    def prepare(self, pieces: Values) -> Values:
        """What is transformed of pieces, over axis −2."""
        return pieces

    def restore(self, pieces: Values) -> Values:
        """The inverse of `prepare`."""
        return pieces

    def pieces(self, shape: Shape) -> int:
        """How many a signal has; the last is filled up with the midpoint."""
        return math.ceil(shape.length / self.piece(shape))

    def kept(self, shape: Shape) -> int:
        """How many different coefficients of a piece are kept."""
        length = self.piece(shape)
        if isinstance(self.k, str):
            return distinct(math.ceil(length / self.window) + 1, length)
        if self.k > length:
            raise InputError(f"k = {self.k} is more than the {length} values of a signal or chunk")
        return distinct(self.k, length)

    def blocks(self, shape: Shape, unit: Unit) -> int:
        """Pieces of the unit, over all features."""
        signal = self.pieces(shape)
        counts = {
            "person": signal * shape.features * shape.recordings,
            "recording": signal * shape.features,
        }
        if unit.name == "chunk" and unit.length == self.piece(shape):
            return 1
        if unit.name not in counts:
            raise Refused(f"unit '{unit}' is not offered here: choose one of {', '.join(counts)}")
        return counts[unit.name]

    def coordinates(self, shape: Shape, unit: Unit) -> int:
        """Those of all pieces of the unit."""
        return self.blocks(shape, unit) * coordinates_of_first(self.kept(shape), self.piece(shape))

    def block_l1(self, shape: Shape) -> float:
        """How far one piece can move its real and imaginary parts, in spans, in L1."""
        return l1_of_first(self.kept(shape), self.piece(shape)) * self.reach(shape)

    def noise(self, shape: Shape) -> DiscreteLaplace:
        """One public scale; the grid is what is calibrated."""
        share = self.epsilon / self.blocks(shape, self.unit)
        bits = min(_SCALE_BITS, _MOST_BITS - math.ceil(math.log2(share)))
        if bits < 20:
            raise InputError(
                f"epsilon {self.epsilon:g} leaves noise finer than the grid: choose a smaller one"
            )
        return DiscreteLaplace(2**bits)

    def step(self, shape: Shape) -> float:
        """Such that one unit moves at most ε times the scale of the noise."""
        most = math.floor(noise_of(self, shape).scale * exact(self.epsilon))
        free = most - _ROUNDING_STEPS * self.coordinates(shape, self.unit)
        if free < most / 2:
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for: "
                "choose a larger one"
            )
        spans = Fraction(self.block_l1(shape)) * self.blocks(shape, self.unit)
        # Rounded up, with room for the floating point behind the norm.
        return float(spans / free) * (1 + 1e-9)

    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """L1 of all pieces of the unit, and what rounding adds."""
        spans = self.block_l1(shape) * self.blocks(shape, unit)
        return spans / self.step(shape) + _ROUNDING_STEPS * self.coordinates(shape, unit)

    def analyse(self, values: Values, shape: Shape) -> Values:
        """Coefficients of the pieces, one piece after the other."""
        length, pieces = self.piece(shape), self.pieces(shape)
        *front, rows, features = values.shape
        padded = values
        if rows < length * pieces:
            padded = np.full((*front, length * pieces, features), 0.5)
            padded[..., :rows, :] = values
        cut = padded.reshape(*front, pieces, length, features)
        found = first_coefficients(self.prepare(cut), self.kept(shape))
        return np.asarray(found.reshape(*front, -1, features))

    def rebuild(self, coordinates: Values, shape: Shape) -> Values:
        """The signals whose coefficients these are, without what filled up the last piece."""
        length, pieces = self.piece(shape), self.pieces(shape)
        *front, _, features = coordinates.shape
        cut = coordinates.reshape(*front, pieces, -1, features)
        whole = self.restore(from_first_coefficients(cut, length))
        return np.asarray(whole.reshape(*front, -1, features)[..., : shape.length, :])

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        law = noise_of(self, shape)
        return (
            f"{law.label}, scale {law.scale} steps of {self.step(shape):.9g} of the span, on real "
            f"and imaginary parts of the first {self.kept(shape)} Fourier coefficients of "
            f"{self.piece(shape)} values each"
        )

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """Besides the bounds, signals that move all coefficients at once as far as they go."""
        pairs = list(super().neighbour_pairs(unit))
        yield from pairs
        pair = pairs[1]
        for name, change in (
            ("where the coefficients move most", self._largest_change(pair.shape)),
            ("where imaginary parts move alone", self._imaginary_change(pair.shape)),
        ):
            half = np.tile(change / 2, self.pieces(pair.shape))[: pair.shape.length, None]
            where = self.within(pair.shape, unit)
            one, other = np.full_like(pair.one, 0.25), np.full_like(pair.one, 0.25)
            one[where] = np.broadcast_to(0.5 - half, one.shape)[where]
            other[where] = np.broadcast_to(0.5 + half, one.shape)[where]
            yield replace(pair, name=name, one=one, other=other)

    def _largest_change(self, shape: Shape) -> Values:
        """Signs of a change of a piece, by one span each, that moves the coefficients far in L1.

        Found by turns: the signs of the coefficients for a change, the best change for these signs.
        """
        length = self.piece(shape)
        pieces = np.eye(length)[:, :, None]
        matrix = first_coefficients(self.prepare(pieces), self.kept(shape))[..., 0]
        change = np.where(np.random.default_rng(0).random((256, length)) < 0.5, -1.0, 1.0)
        for _ in range(32):
            signs = np.where(change @ matrix < 0, -1.0, 1.0)
            change = np.where(signs @ matrix.T < 0, -1.0, 1.0)
        best: Values = change[np.abs(change @ matrix).sum(axis=1).argmax()]
        return best

    def _imaginary_change(self, shape: Shape) -> Values:
        """A change of a piece whose transform has an imaginary part only, as large as may be."""
        length = self.piece(shape)
        wave = np.sin(2 * np.pi * np.arange(length) / length)
        change: Values = self.restore(wave[:, None])[:, 0]
        return np.asarray(change / max(np.abs(change).max(), 1e-9))

    def game_shapes(self) -> Iterator[Shape]:
        """One value, whose mean is all there is; signals with an imaginary part; two pieces."""
        yield Shape(1, 2, 1, 1)
        yield Shape(1, 2, 4, 1)
        yield Shape(1, 1, 3, 2)

"""Mechanisms that add noise to every value: the coordinates are the values themselves.

Values are brought to a public grid: 2^bits steps over each feature's public span, so that every
value of every feature is an integer between 0 and 2^bits and a replaced value moves at most 2^bits
steps. Nothing is lost to rounding: the sensitivity is exact, in integers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.differential import noise_of
from eyelid.mechanisms.mechanism import Shape, Values
from eyelid.mechanisms.records.record_mechanism import RecordMechanism, beyond_rows
from eyelid.privacy.noise.discrete import MAX_SCALE
from eyelid.privacy.unit import Unit

# Steps per noise scale: the Gaussian's discreteness then costs about 1e-22 of δ per value.
_STEPS_PER_SCALE_BITS = 34
_MAX_BITS = 50


@dataclass(frozen=True)
class AdditiveMechanism(RecordMechanism):
    """Integer noise on every value of a feature table, each person's record on its own."""

    family: ClassVar[str] = "additive"
    units: ClassVar[tuple[str, ...]] = ("person", "recording", "record")

    @abstractmethod
    def scale_in_spans(self, shape: Shape) -> float:
        """The noise scale in units of a feature's span, before it is put on the grid."""

    @property
    def independent_rows(self) -> int:
        """Every row has noise of its own."""
        return 1

    def blocks(self, shape: Shape, unit: Unit) -> int:
        """Every value is a block of its own."""
        return shape.values_of(unit)

    def coordinates(self, shape: Shape, unit: Unit) -> int:
        """One for each value."""
        return shape.values_of(unit)

    def grid_bits(self, shape: Shape) -> int:
        """Bits per span, from public facts: fine against the noise, within integer range."""
        scale = self.scale_in_spans(shape)
        bits = max(1, min(_MAX_BITS, _STEPS_PER_SCALE_BITS - math.frexp(scale)[1]))
        if scale * 2.0**bits > MAX_SCALE:
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for: "
                "choose a larger one"
            )
        return bits

    def step(self, shape: Shape) -> float:
        """2^-bits of the span."""
        return 2.0 ** -self.grid_bits(shape)

    def analyse(self, values: Values, shape: Shape) -> Values:
        """The values themselves."""
        return values

    def rebuild(self, coordinates: Values, shape: Shape) -> Values:
        """The coordinates themselves."""
        return coordinates

    def expected_rmse_of_span(self, shape: Shape) -> float:
        """The noise's standard deviation over the grid's steps per span."""
        return math.sqrt(noise_of(self, shape).variance) * self.step(shape)

    def expected_mean_rmse_of_span(self, shape: Shape) -> float:
        """Noise is independent from row to row."""
        return self.expected_rmse_of_span(shape) / math.sqrt(shape.length)

    def noise_sd_of_span(self, shape: Shape, averaged: int = 1) -> tuple[Values, float]:
        """The same for every row, and independent from row to row."""
        value = AdditiveMechanism.expected_rmse_of_span(self, shape) / averaged
        return np.array([value]), value / math.sqrt(shape.length)

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        law = noise_of(self, shape)
        return f"{law.label}, scale {law.scale} steps of 2^-{self.grid_bits(shape)} of the span"

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the released table shows besides the protected values."""
        shown = super().unprotected(table)
        if self.unit.name not in ("record", "chunk"):
            return shown
        return shown + beyond_rows(self, table, self.unit.length or 1)

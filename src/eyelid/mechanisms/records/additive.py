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
from eyelid.mechanisms.mechanism import PublicFacts, Values
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
    def scale_in_spans(self, facts: PublicFacts) -> float:
        """The noise scale in units of a feature's span, before it is put on the grid."""

    @property
    def independent_rows(self) -> int:
        """Every row has noise of its own."""
        return 1

    def blocks(self, facts: PublicFacts, unit: Unit) -> int:
        """Every value is a block of its own."""
        return facts.values_of(unit)

    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """One for each value."""
        return facts.values_of(unit)

    def grid_bits(self, facts: PublicFacts) -> int:
        """Bits per span, from public facts: fine against the noise, within integer range."""
        scale = self.scale_in_spans(facts)
        bits = max(1, min(_MAX_BITS, _STEPS_PER_SCALE_BITS - math.frexp(scale)[1]))
        if scale * 2.0**bits > MAX_SCALE:
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for: "
                "choose a larger one"
            )
        return bits

    def step(self, facts: PublicFacts) -> float:
        """2^-bits of the range."""
        return 2.0 ** -self.grid_bits(facts)

    def analyse(self, values: Values, facts: PublicFacts) -> Values:
        """The values themselves."""
        return values

    def rebuild(self, coordinates: Values, facts: PublicFacts) -> Values:
        """The coordinates themselves."""
        return coordinates

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """The noise's standard deviation over the grid's steps per span."""
        return math.sqrt(noise_of(self, facts).variance) * self.step(facts)

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """Noise is independent from row to row."""
        return self.expected_rmse_of_span(facts) / math.sqrt(facts.length)

    def noise_sd_of_span(self, facts: PublicFacts, averaged: int = 1) -> tuple[Values, float]:
        """The noise of a row, equal for all, and of a recording's mean: rows are independent."""
        value = AdditiveMechanism.expected_rmse_of_span(self, facts) / averaged
        return np.array([value]), value / math.sqrt(facts.length)

    def sampler(self, facts: PublicFacts) -> str:
        """The noise in words."""
        distribution = noise_of(self, facts)
        bits = self.grid_bits(facts)
        return f"{distribution.label}, scale {distribution.scale} steps of 2^-{bits} of the range"

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the released table shows besides the protected values."""
        shown = super().unprotected(table)
        if self.unit.name not in ("record", "chunk"):
            return shown
        return shown + beyond_rows(self, table, self.unit.length or 1)

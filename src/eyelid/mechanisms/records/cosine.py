"""The base of `dct` and `envelope`: noise on the first cosine coefficients of whole signals.

The DCT-II is orthonormal, so lengths of vectors stay what they are, and it has no jump where a
signal's end meets its beginning, as the Fourier transform has.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.differential import (
    GAUSSIAN,
    Distribution,
    Integers,
    check_gaussian_delta,
    noise_of,
)
from eyelid.mechanisms.mechanism import PublicFacts, Values, parameter
from eyelid.mechanisms.records.record_mechanism import RecordMechanism, check_coefficients, cut_off
from eyelid.privacy.noise import DiscreteGaussian, DiscreteNoise
from eyelid.privacy.unit import Unit

_SCALE_BITS = 36
# A unit that moves fewer steps is lost on the grid; one that moves more feels how floating point
# rounds, and leaves no room for sums over people.
_FEWEST, _MOST = 2.0**10, 2.0**44


def first_cosines(values: Values, k: int) -> Values:
    """The first k coefficients of the orthonormal DCT-II, over axis −2.

    >>> first_cosines(np.array([[1.0], [1.0], [1.0], [1.0]]), 2).ravel().round(9).tolist()
    [2.0, 0.0]
    """
    from scipy.fft import dct

    kept: Values = dct(values, type=2, axis=-2, norm="ortho")[..., :k, :]
    return kept


def from_first_cosines(coefficients: Values, length: int) -> Values:
    """The signal of so many values with these coefficients, the others being zero."""
    from scipy.fft import idct

    signal: Values = idct(coefficients, type=2, n=length, axis=-2, norm="ortho")
    return signal


@dataclass(frozen=True)
class CosineMechanism(RecordMechanism):
    """Noise on the first K cosine coefficients of every signal, taken from the public midpoint."""

    family: ClassVar[str] = "cosine"
    units: ClassVar[tuple[str, ...]] = ("person", "recording")
    made_for_means: ClassVar[bool] = True
    distribution: ClassVar[Distribution] = GAUSSIAN

    delta: float | None = parameter("δ; min(N^−1.5, 1e-6) when not given", default=None)
    k: int | str = parameter(
        "coefficients kept of each signal: a number, or public (⌈2n/window⌉)", default="public"
    )
    window: int | None = parameter(
        "rows that one window covers, for the public k; as the study says when not given",
        default=None,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_gaussian_delta(self.delta, instead="laplace")
        check_coefficients(self.k, self.window, ("public",))

    @abstractmethod
    def limit(self, steps: Values, facts: PublicFacts) -> Values:
        """Coefficients in steps, brought inside the public set that the sensitivity is of."""

    @property
    def fewest_rows(self) -> int:
        """A signal has at least as many values as coefficients are kept."""
        return self.k if isinstance(self.k, int) else 1

    def kept(self, facts: PublicFacts) -> int:
        """K: how many coefficients of a signal are kept."""
        if isinstance(self.k, str):
            return min(facts.length, math.ceil(2 * facts.length / (self.window or facts.window)))
        if self.k > facts.length:
            raise InputError(
                f"k = {self.k} is more than the {facts.length} rows of a recording: "
                f"set k to {facts.length} or less"
            )
        return self.k

    def blocks(self, facts: PublicFacts, unit: Unit) -> int:
        """Recordings of the unit."""
        counts = {"person": facts.recordings, "recording": 1}
        if unit.name not in counts:
            raise Refused(f"unit '{unit}' is not offered here: choose one of {', '.join(counts)}")
        return counts[unit.name]

    def coordinates(self, facts: PublicFacts, unit: Unit) -> int:
        """K for each feature of each recording."""
        return self.blocks(facts, unit) * facts.features * self.kept(facts)

    def noise(self, facts: PublicFacts) -> DiscreteNoise:
        """One public scale, whatever ε is."""
        return DiscreteGaussian(2**_SCALE_BITS)

    def loss(self, facts: PublicFacts) -> float:
        """What one unit may lose: how far its integers may move, over the scale of the noise."""
        return self.mu(facts)

    def most_steps(self, facts: PublicFacts) -> float:
        """How far the integers of one unit may move."""
        most = self.loss(facts) * noise_of(self, facts).scale
        if most > _MOST:
            raise InputError(
                f"epsilon {self.epsilon:g} leaves noise finer than the grid: choose a smaller one"
            )
        if most < _FEWEST:
            raise InputError(
                f"epsilon {self.epsilon:g} asks for more noise than there are numbers for: "
                "choose a larger one"
            )
        return most

    def query(self, values: Values, facts: PublicFacts) -> Integers:
        """The coefficients of the clipped values, limited, as whole steps.

        Truncated towards zero: nothing leaves a set that is limited by size.
        """
        found = first_cosines(self.clip(values) - 0.5, self.kept(facts))
        return np.trunc(self.limit(found / self.step(facts), facts)).astype(np.int64)

    def analyse(self, values: Values, facts: PublicFacts) -> Values:
        """The coefficients that `rebuild` makes these values of."""
        return first_cosines(values - 0.5, self.kept(facts))

    def rebuild(self, coordinates: Values, facts: PublicFacts) -> Values:
        """The signals with these coefficients, around the midpoint."""
        return from_first_cosines(coordinates, facts.length) + 0.5

    def cut_off(self, facts: PublicFacts) -> str:
        """What the coefficients that are not kept would have shown."""
        return cut_off(self.kept(facts), facts.length, 2 * facts.length / self.kept(facts))

    @abstractmethod
    def errors(self, facts: PublicFacts) -> NDArray[np.float64]:
        """The expected squared error of each kept coefficient, in squared spans."""

    def expected_rmse_of_span(self, facts: PublicFacts) -> float:
        """Squared errors are the same for coefficients and for values."""
        return math.sqrt(float(self.errors(facts).sum()) / facts.length)

    def expected_mean_rmse_of_span(self, facts: PublicFacts) -> float:
        """The mean over rows is the first coefficient over √n."""
        return math.sqrt(float(self.errors(facts)[0]) / facts.length)

    def game_facts(self) -> Iterator[PublicFacts]:
        """Two recordings, one, and two features, all of few rows."""
        rows = max(2, self.fewest_rows)
        yield PublicFacts(1, 2, rows, 1)
        yield PublicFacts(1, 1, rows, 1)
        yield PublicFacts(1, 1, rows, 2)

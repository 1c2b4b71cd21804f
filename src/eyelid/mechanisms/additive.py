"""Mechanisms on feature tables that add exact integer noise to every value.

Values are brought to a public grid: 2^bits steps over each feature's public span, so that every
value of every feature is an integer between 0 and 2^bits and a replaced value moves at most 2^bits
steps. Nothing is lost to rounding: the sensitivity is exact, in integers.
"""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import FeatureTable, table_from_arrays
from eyelid.mechanisms.mechanism import Mechanism, NeighbourPair, Shape, Values, parameter
from eyelid.privacy.bounds import Bounds
from eyelid.privacy.noise import DiscreteNoise, Randomness
from eyelid.privacy.noise.discrete import MAX_SCALE
from eyelid.privacy.unit import Trust, Unit

# Steps per noise scale: the Gaussian's discreteness then costs about 1e-22 of δ per value.
_STEPS_PER_SCALE_BITS = 34
_MAX_BITS = 50
_BLOCK_VALUES = 1 << 18


@dataclass(frozen=True)
class AdditiveMechanism(Mechanism):
    """Integer noise on every value of a feature table, each person's record on its own."""

    takes: ClassVar[str] = "features"
    units: ClassVar[tuple[str, ...]] = ("person", "recording", "record")
    trust: ClassVar[Trust] = Trust.LOCAL

    length: int | str = parameter(
        "rows kept of every recording: a number chosen beforehand, or shortest or longest",
        default="shortest",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.length, int):
            if self.length < 1:
                raise InputError(f"length must be at least 1, got {self.length}")
        elif self.length not in ("shortest", "longest"):
            raise InputError(f"length must be a number, shortest or longest, got '{self.length}'")

    @abstractmethod
    def noise(self, shape: Shape) -> DiscreteNoise:
        """The noise on each value, in grid steps, calibrated to ``epsilon`` for ``unit``."""

    @abstractmethod
    def scale_in_spans(self, shape: Shape) -> float:
        """The noise scale in units of a feature's span, before it is put on the grid."""

    @abstractmethod
    def sensitivity(self, shape: Shape, unit: Unit) -> float:
        """How far the values of one unit can move, in spans, in the mechanism's norm."""

    @abstractmethod
    def distance(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """The mechanism's norm of differences, over the last axis."""

    def grid_bits(self, shape: Shape) -> int:
        """Bits per span, from public facts: fine against the noise, within integer range."""
        magnitude = math.frexp(self.scale_in_spans(shape))[1]
        return max(1, min(_MAX_BITS, _STEPS_PER_SCALE_BITS - magnitude))

    def shape(self, table: FeatureTable) -> Shape:
        """The public facts: N, the most recordings of a person, the common length, F."""
        lengths = table.recordings
        rows = lengths["rows"].to_numpy()
        common = {"shortest": int(rows.min()), "longest": int(rows.max())}
        # Recordings of one person stand together.
        people = (lengths["person"] != lengths["person"].shift()).fill_null(True).arg_true()
        recordings = np.diff(people.to_numpy().astype(np.int64), append=len(lengths))
        return Shape(
            people=recordings.size,
            recordings=int(recordings.max()),
            length=self.length if isinstance(self.length, int) else common[self.length],
            features=len(table.features),
        )

    def expected_rmse_of_span(self, shape: Shape) -> float:
        """The noise's standard deviation over the grid's steps per span."""
        return math.sqrt(noise_of(self, shape).variance) / 2.0 ** self.grid_bits(shape)

    def sampler(self, shape: Shape) -> str:
        """The noise in words."""
        law = noise_of(self, shape)
        return f"{law.label}, scale {law.scale} steps of 2^-{self.grid_bits(shape)} of the span"

    def clip(self, values: Values) -> Values:
        """Values in spans above the lower bound, inside [0, 1], missing ones at the midpoint."""
        return np.clip(np.where(np.isnan(values), 0.5, values), 0.0, 1.0)

    def query(self, values: Values, shape: Shape) -> NDArray[np.int64]:
        """The clipped values as integers on the grid."""
        return np.rint(self.clip(values) * 2.0 ** self.grid_bits(shape)).astype(np.int64)

    def perturb(
        self, integers: NDArray[np.int64], shape: Shape, noise: Randomness
    ) -> NDArray[np.int64]:
        """The integers with noise added, in integers."""
        return integers + noise_of(self, shape).draw(integers.shape, noise)

    def randomise(self, values: Values, shape: Shape, noise: Randomness) -> Values:
        """Values in spans above the lower bound, made private; any leading axes."""
        noisy = self.perturb(self.query(values, shape), shape, noise)
        return noisy.astype(np.float64) * 2.0 ** -self.grid_bits(shape)

    def apply(self, table: FeatureTable, noise: Randomness) -> FeatureTable:
        """The table with noise on every value, every recording cut or padded to one length.

        Time stamps are rewritten to the public step, labels are dropped: neither is protected.
        """
        shape = self.shape(table)
        bounds = Bounds({f.name: (f.lower, f.upper) for f in table.features})
        lowers, spans = bounds.lowers(), bounds.spans()
        recordings = table.recordings
        ends = np.cumsum(recordings["rows"].to_numpy())
        per_block = max(1, _BLOCK_VALUES // (shape.length * shape.features))
        blocks = range(0, len(recordings), per_block)
        parts = []
        for first in track(blocks, "adding noise"):
            block = recordings[first : first + per_block]
            start = int(ends[first] - recordings["rows"][first])
            stop = int(ends[first + len(block) - 1])
            rows = table.data[start:stop].select(table.names)
            dense = _dense(rows, block["rows"].to_numpy(), shape.length)
            dense = self.randomise((dense - lowers) / spans, shape, noise)
            parts.append(_frame(block, dense * spans + lowers, table))
        return replace(table, data=pl.concat(parts, rechunk=False))

    def unprotected(self, table: FeatureTable) -> list[str]:
        """What the released table shows besides the protected values."""
        shape = self.shape(table)
        chosen = isinstance(self.length, int)
        how = "chosen beforehand" if chosen else f"read off the {self.length} one"
        shown = [
            f"the number of people ({shape.people}) and that each of them took part",
            "which recordings each person has, with their task and stimulus names, and their order",
            f"the common length of the recordings ({shape.length} rows, {how})",
            "the names of the people as the study has them, and their order",
        ]
        if self.unit.name == "record" and table.step_ms is None:
            shown.append(
                "what moves between rows: a change of gaze may move every later row by one"
            )
        if self.unit.name == "record":
            if self.length != "shortest":
                shown.append("how long each recording was: its padding shows over many rows")
            overlap = math.ceil((table.window_ms or 0.0) / (table.step_ms or math.inf))
            if overlap > 1:
                shown.append(
                    "a moment of gaze beyond one row: windows overlap, so it is in at least about "
                    f"{overlap} rows and costs at least about {overlap} times the ε of one"
                )
        return shown

    def neighbour_pairs(self, unit: Unit) -> Iterator[NeighbourPair]:
        """All of the unit's values at one bound against the other, from inside and outside."""
        where = (
            slice(None) if unit.name == "person" else slice(0, 1),
            slice(0, 1) if unit.name == "record" else slice(None),
        )
        # Few values: the whole loss shows only when every value's noise points the same way.
        for name, shape, low, high in (
            ("from one bound to the other", Shape(1, 2, 1, 1), 0.0, 1.0),
            ("far outside the bounds", Shape(1, 2, 2, 1), -1e4, 1e4),
            ("missing against present", Shape(1, 2, 1, 2), np.nan, 1.0),
        ):
            one = np.full((shape.recordings, shape.length, shape.features), 0.25)
            other = one.copy()
            one[where], other[where] = low, high
            yield NeighbourPair(name, shape, unit, one, other)

    def play(self, values: Values, shape: Shape, runs: int, noise: Randomness) -> Values:
        """Each run is a person with the same data: records are made private independently."""
        features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(shape.features)]
        table = table_from_arrays(np.broadcast_to(values, (runs, *values.shape)), features)
        released = self.apply(table, noise)
        outputs: Values = released.data.select(released.names).to_numpy().reshape(runs, -1)
        return outputs

    def score(self, outputs: Values, pair: NeighbourPair) -> Values:
        """The log-likelihood ratio of the noise, the best test there is."""
        law = noise_of(self, pair.shape)
        steps = outputs * 2.0 ** self.grid_bits(pair.shape)
        other = law.log_mass(steps - self.query(pair.other, pair.shape).ravel())
        one = law.log_mass(steps - self.query(pair.one, pair.shape).ravel())
        ratio: Values = (other - one).sum(axis=1)
        return ratio


@functools.lru_cache(maxsize=64)
def noise_of(mechanism: AdditiveMechanism, shape: Shape) -> DiscreteNoise:
    """The calibrated noise, with its tables made once."""
    if mechanism.scale_in_spans(shape) * 2.0 ** mechanism.grid_bits(shape) > MAX_SCALE:
        raise InputError(
            f"epsilon {mechanism.epsilon:g} asks for more noise than there are numbers for: "
            "choose a larger one"
        )
    return mechanism.noise(shape)


def _dense(rows: pl.DataFrame, counts: NDArray[np.integer[Any]], length: int) -> Values:
    """Recordings × length × features, cut at ``length`` or padded with NaN."""
    values = rows.cast(pl.Float64).to_numpy()
    row = np.arange(length)
    starts = np.cumsum(counts) - counts
    index = np.minimum(starts[:, None] + row, values.shape[0] - 1)
    dense: Values = values[index]
    dense[row >= counts[:, None]] = np.nan
    return dense


def _frame(recordings: pl.DataFrame, values: Values, table: FeatureTable) -> pl.DataFrame:
    """Rows of the released table for some recordings."""
    count, length, width = values.shape
    keys = [c for c in ("person", "recording", "task", "stimulus") if c in recordings.columns]
    repeated = recordings.select(keys)[np.repeat(np.arange(count), length)]
    time_ms = np.tile(np.arange(length) * (table.step_ms or 1.0), count)
    flat = values.reshape(-1, width)
    return repeated.with_columns(
        pl.Series("time_ms", time_ms),
        *[pl.Series(name, np.ascontiguousarray(flat[:, j])) for j, name in enumerate(table.names)],
    )

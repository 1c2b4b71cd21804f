"""Synthetic participants: a Gaussian copula over a tree of features, with a memory over time.

Each feature of each synthetic recording is a Gaussian signal z(t) of variance 1, and its value the
one of the task's distribution that is as rare. The signal follows that of the feature before it in
the tree, z_j = r·z_parent + √(1 − r²)·e_j, and e_j is made of parts that last: one for a person's
life, one for a recording, one that is forgotten slowly, one fast, and one that is a mean over the
window of a row, as its feature is. Correlations of signs s are those of Gaussians of correlation
sin(π·s/2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.synthetic.estimates import from_the_root
from eyelid.mechanisms.synthetic.rounds import (
    TRENDS,
)
from eyelid.mechanisms.synthetic.sequences import (
    lags_of,
    length_edges,
)

PARTS = 5
"""Parts of a signal: for a person, for a recording, slow, fast, over a window."""
GRID = np.linspace(-4.5, 4.5, 1025)
"""Signals at which values are looked up."""
_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, eq=False)
class Copula:
    """All that is known of people, from noisy counts alone.

    Attributes:
        quantiles: (groups, tasks, features, grid): values for signals on the grid.
        parents: of each feature, the one before it in the tree, −1 of the first.
        links: r of each feature with its parent.
        parts: (features, parts): variances of what e is made of, 1 in all.
        trends: (waves, features): of the signal's mean over a recording.
        lengths: (groups, tasks, bins): how likely a recording has so many rows.
        window: rows that one window covers.
    """

    quantiles: Values
    parents: tuple[int, ...]
    links: Values
    parts: Values
    trends: Values
    lengths: Values
    window: int

    def rows(self, group: int, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Lengths of the recordings of synthetic participants, (people, tasks)."""
        return rows_drawn(self.lengths[group], people, rng)

    def drawn(
        self, group: int, rows: NDArray[np.int64], rng: np.random.Generator
    ) -> Iterator[Values]:
        """Values of synthetic participants, block by block: (rows of recordings, features).

        Recordings follow each other, those of a person by task.

        Args:
            group: whom they belong to.
            rows: (people, tasks), the length of each recording.
            rng: any generator: what it draws from is private already.
        """
        people, tasks = rows.shape
        features = len(self.parents)
        block = max(1, _BLOCK_VALUES // (int(rows.max()) * features * tasks))
        room = np.sqrt(1 - self._trend_variance()).astype(np.float32)
        for first in range(0, people, block):
            some = rows[first : first + block]
            signal = self._signal(some.shape, int(some.max()), rng)
            there = np.arange(signal.shape[-1]) < some[..., None]
            waves = self._waves(some)[:, there]
            place = np.repeat(np.tile(np.arange(tasks), len(some)), some.ravel())
            of_task = [np.flatnonzero(place == task) for task in range(tasks)]
            # One feature after the other in memory, as they are made and as a table has them.
            found = np.empty((features, len(place)))
            for feature in range(features):
                trend = self.trends[:, feature].astype(np.float32) @ waves
                moved = signal[feature][there] * room[feature] + trend
                for task, mine in enumerate(of_task):
                    table = self.quantiles[group, task, feature]
                    found[feature, mine] = np.interp(moved[mine], GRID, table)
            yield found.T

    def _signal(
        self, recordings: tuple[int, ...], rows: int, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """Signals of people's recordings, (features, people, tasks, rows), without trends."""
        people, tasks = recordings
        found = np.empty((len(self.parents), people, tasks, rows), dtype=np.float32)
        for feature in from_the_root(self.parents):
            own = self._own(feature, people, tasks, rows, rng)
            parent, r = self.parents[feature], float(self.links[feature])
            if parent >= 0:
                own *= np.float32(np.sqrt(1 - r * r))
                own += np.float32(r) * found[parent]
            found[feature] = own
        return found

    def _own(
        self, feature: int, people: int, tasks: int, rows: int, rng: np.random.Generator
    ) -> NDArray[np.float32]:
        """What a feature has of its own: a sum of parts that last for different times."""
        from scipy.signal import lfilter

        life, recording, *moving = np.sqrt(self.parts[feature]).astype(np.float32)
        own = life * rng.standard_normal((people, 1, 1), dtype=np.float32)
        own = own + recording * rng.standard_normal((people, tasks, 1), dtype=np.float32)
        own = np.repeat(own, rows, axis=2)
        for size, rate in zip(moving, (*rates(self.window), None), strict=True):
            if size == 0:
                continue
            if rate is None:
                over = rng.standard_normal((people, tasks, rows + self.window), dtype=np.float32)
                whole = np.cumsum(over, axis=-1, dtype=np.float64)
                mean = whole[..., self.window :] - whole[..., : -self.window]
                own += (size / np.sqrt(self.window) * mean).astype(np.float32)
                continue
            fresh = rng.standard_normal((people, tasks, rows), dtype=np.float32)
            # The first value has the whole variance, later ones keep it.
            fresh[..., 1:] *= np.float32(np.sqrt(1 - rate * rate))
            forgets = np.array([1.0, -rate], dtype=np.float32)
            own += size * lfilter(np.ones(1, dtype=np.float32), forgets, fresh, axis=-1)
        signal: NDArray[np.float32] = own
        return signal

    def _trend_variance(self) -> Values:
        """How much of each feature's variance trends have."""
        variance: Values = (self.trends**2).sum(axis=0) / 2
        return variance

    def _waves(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The waves of trends over recordings of these lengths, (waves, people, tasks, rows)."""
        place = (np.arange(int(rows.max())) + 0.5) / rows[..., None]
        order = np.arange(1, TRENDS + 1)[:, None, None, None]
        found: NDArray[np.float32] = np.cos(np.pi * order * place).astype(np.float32)
        return found


def rows_drawn(lengths: Values, people: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Lengths of the recordings of synthetic participants, (people, tasks).

    Args:
        lengths: (tasks, bins): how likely a recording has so many rows.
        people: how many participants.
        rng: any generator.
    """
    edges = length_edges()
    tasks = len(lengths)
    found = np.empty((people, tasks), dtype=np.int64)
    for task in range(tasks):
        chosen = rng.choice(lengths.shape[-1], size=people, p=lengths[task])
        low, high = edges[chosen], np.maximum(edges[chosen + 1], edges[chosen] + 1)
        found[:, task] = rng.integers(low, high)
    return found


def rates(window: int) -> tuple[float, float]:
    """How much slow and fast parts keep from one row to the next."""
    wide = max(window, 4)
    return float(np.exp(-1 / (4 * wide))), float(np.exp(-2 / wide))


def recall(window: int) -> Values:
    """How much each part has in common with itself some rows later, (lags, parts)."""
    apart = np.array(lags_of(window), dtype=np.float64)
    slow, fast = (rate**apart for rate in rates(window))
    always, overlap = np.ones(len(apart)), np.maximum(1 - apart / window, 0.0)
    return np.stack([always, always, slow, fast, overlap], axis=1)


def rows_of_people(
    people: list[str],
    tasks: list[str],
    rows: NDArray[np.int64],
    step_ms: float,
    blocks: Iterable[Values],
    names: list[str],
    back: NDArray[np.intp],
) -> pl.DataFrame:
    """The rows of synthetic participants, by task."""
    many = rows.ravel()
    owner = np.repeat(np.arange(len(people)), rows.sum(axis=1))
    task = np.repeat(np.tile(np.arange(len(tasks)), len(people)), many)
    starts = np.repeat(np.cumsum(many) - many, many)
    place = np.arange(int(many.sum())) - starts
    keys = {
        "person": pl.Series(people)[owner],
        "recording": pl.Series([str(n + 1) for n in range(len(tasks))])[task],
        "task": pl.Series(tasks)[task],
        "stimulus": pl.repeat("", len(place), eager=True),
        "time_ms": pl.Series(place * step_ms),
    }
    columns = [np.empty(len(place)) for _ in names]
    first = 0
    for block in blocks:
        for column, number in zip(columns, back, strict=True):
            column[first : first + len(block)] = block[:, number]
        first += len(block)
    # A column that is in the frame is not needed twice.
    return pl.DataFrame(keys).with_columns(pl.Series(name, columns.pop(0)) for name in names)

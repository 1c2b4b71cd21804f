"""The utility experiment of Bozkir et al. 2021 (Figures 7 to 12): |NMSE| of LPA, FPA, CFPA, DCFPA.

Every mechanism, chunk length and ε, with k chosen on some noisy runs and judged on others, for each
task and feature. All of them share the same standard draws; nothing is transformed back (`piece`).

What the published figures say about k and the mean. Where noise drowns a signal, the noisy signal
is proportional to 1/ε, its squared error to 1/ε² and its mean to 1/ε: |NMSE| must fall as 1/ε,
whatever k is and however one averages. The published LPA and DCFPA do; the published FPA and CFPA
fall as 1/ε² at values of 10⁷ and more, which noise on the first k coefficients cannot give. Noise
that leaves the coefficient of the mean alone gives it, and gives DCFPA its 1/ε all the same, since
sums of noisy differences move the mean. So we read: as printed, ``noisy_mean=True``; as published,
``noisy_mean=False``.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.progress import track
from eyelid.gaze.features.wordbook import LENGTHS
from eyelid.gaze.table import FeatureTable
from eyelid.mechanisms.mechanism import Values
from eyelid.papers.bozkir2021.fourier_noise import (
    Scores,
    TaskNoise,
    Treatment,
    batches,
    candidates,
    nmse,
)
from eyelid.papers.floating_noise import laplaces
from eyelid.papers.signals import TaskSignals, sensitivities, signals_of
from eyelid.privacy.noise import Randomness, randomness

EPSILONS_PER_FEATURE = (0.01, 0.05, 0.1, 0.5, 1.0)
CHUNKS = (32, 64, 128)
_BOOKS = tuple(f"wb{length}" for length in LENGTHS)


def without_minima(table: FeatureTable) -> FeatureTable:
    """The table without the smallest counts of the wordbooks, which the paper leaves out."""
    kept = [f for f in table.features if f.name not in {f"{book}_min" for book in _BOOKS}]
    return replace(table, features=tuple(kept))


def paper_features(table: FeatureTable) -> FeatureTable:
    """The paper's 48 features from ours: no smallest counts of wordbooks, and ranges without them.

    "As all minimum values of wordbook features ranging from 1 to 4 are zeros in both datasets, we
    exclude them": minima over all words are meant, and a range less a zero is the largest count.
    Ours (`word_statistics`) are the least counts of words that occur, and ranges above these.
    """
    pairs = {f"{book}_range": f"{book}_max" for book in _BOOKS if f"{book}_max" in table.names}
    features = [
        replace(f, definition=f"{pairs[f.name]}, the least of all words being 0")
        if f.name in pairs
        else f
        for f in table.features
    ]
    ranges = [pl.col(pairs[f.name]).alias(f.name) for f in features if f.name in pairs]
    data = table.data.with_columns(ranges)
    return without_minima(replace(table, features=tuple(features), data=data))


def utility_experiment(
    table: FeatureTable,
    *,
    epsilons_per_feature: Sequence[float] = EPSILONS_PER_FEATURE,
    chunks: Sequence[int] = CHUNKS,
    runs: int = 100,
    noisy_mean: bool = True,
    rng: Randomness | np.random.Generator | int | None = 0,
) -> pl.DataFrame:
    """|NMSE| and utility of the paper's mechanisms on a table.

    Args:
        table: features of at least two people a task.
        epsilons_per_feature: ε of one feature; the paper's axis is their sum over the features.
        chunks: rows of a chunk.
        runs: noisy runs to choose each k, and as many again to judge it.
        noisy_mean: whether the coefficient of the mean gets noise, too.
        rng: where the noise comes from; a seed by default, since nothing is released.

    Returns:
        One row a mechanism, chunk length (null for LPA and FPA), ε, task and feature:
        ``mechanism``, ``chunk``, ``epsilon_per_feature``, ``task``, ``feature``, ``nmse`` (the mean
        of |NMSE| over runs and recordings), ``utility`` (the mean of 1/|NMSE|), ``median_nmse``;
        and of each run ``run_nmse`` and ``run_utility``, the means over its recordings.
    """
    noise = randomness(rng)
    reading = [
        (name, chunk, Treatment(differenced, noisy_mean))
        for name, lengths, differenced in (
            ("FPA", (None,), False),
            ("CFPA", chunks, False),
            ("DCFPA", chunks, True),
        )
        for chunk in lengths
    ]
    frames = []
    for signals in signals_of(table):
        longest = signals.values.shape[2]
        contests: list[_Contest] = [_Values(signals, epsilons_per_feature)]
        for name, chunk, treatment in reading:
            rows = min(chunk or longest, longest)
            task = TaskNoise.of(signals, rows, treatment, candidates(rows, treatment))
            contests.append(_Coefficients(name, chunk, task, epsilons_per_feature))
        at_once = batches(signals.values.size, runs)
        for batch in track(at_once, f"choosing k for {signals.task}"):
            draws = laplaces((batch, *signals.values.shape), noise)
            for contest in contests:
                contest.learn(draws)
        for batch in track(at_once, f"judging {signals.task}"):
            draws = laplaces((batch, *signals.values.shape), noise)
            for contest in contests:
                contest.judge(draws)
        frames += [contest.told(table.names) for contest in contests]
    return pl.concat(frames)


class _Contest(ABC):
    """One mechanism on one task, for every ε; gathers |NMSE| of (ε, runs, recordings, features)."""

    def __init__(
        self, name: str, chunk: int | None, signals: TaskSignals, epsilons: Sequence[float]
    ) -> None:
        self._name, self._chunk, self._signals = name, chunk, signals
        self._epsilons = epsilons
        self._found: list[Values] = []

    @abstractmethod
    def learn(self, draws: Values) -> None:
        """See standard draws, (runs, recordings, features, rows), to choose parameters."""

    @abstractmethod
    def outcome(self, draws: Values) -> tuple[Values, Values]:
        """Squared errors and sums of whole noisy signals, (ε, runs, recordings, features)."""

    def judge(self, draws: Values) -> None:
        """Gather what the mechanism makes of fresh draws."""
        squares, sums = self.outcome(draws)
        rows = self._signals.lengths[:, None].astype(np.float64)
        self._found.append(nmse(squares, sums, self._signals.values.sum(axis=2), rows))

    def told(self, names: Sequence[str]) -> pl.DataFrame:
        """One row an ε and feature."""
        by_run = np.concatenate(self._found, axis=1)
        inverse = np.divide(1.0, by_run, out=np.full(by_run.shape, np.nan), where=by_run > 0)
        # A signal of zeros has no utility: it has no say in that of its feature.
        of_runs = {
            name: _mean(np.nansum(each, axis=2), np.isfinite(each).sum(axis=2))
            for name, each in (("run_nmse", by_run), ("run_utility", inverse))
        }
        found, inverse = (each.reshape(len(each), -1, len(names)) for each in (by_run, inverse))
        known = np.isfinite(found)
        counts = known.sum(axis=1)
        useful = np.isfinite(inverse)
        columns = {
            "nmse": _mean(found.sum(axis=1, where=known), counts),
            "utility": _mean(inverse.sum(axis=1, where=useful), useful.sum(axis=1)),
            "median_nmse": _medians(found, counts),
        }
        count = len(self._epsilons) * len(names)
        return pl.DataFrame(
            {
                "mechanism": pl.repeat(self._name, count, eager=True),
                "chunk": pl.repeat(self._chunk, count, dtype=pl.Int64, eager=True),
                "epsilon_per_feature": np.repeat(np.array(self._epsilons, float), len(names)),
                "task": pl.repeat(self._signals.task, count, eager=True),
                "feature": list(names) * len(self._epsilons),
                **{name: values.ravel() for name, values in columns.items()},
                **{name: each.swapaxes(1, 2).reshape(count, -1) for name, each in of_runs.items()},
            }
        ).with_columns(pl.col("nmse", "utility", "median_nmse").fill_nan(None))


class _Values(_Contest):
    """LPA: noise on the values themselves."""

    def __init__(self, signals: TaskSignals, epsilons: Sequence[float]) -> None:
        super().__init__("LPA", None, signals, epsilons)
        delta = sensitivities(signals.values, signals.values.shape[2], power=1)[:, 0]
        self._scale = delta / np.array(epsilons, float)[:, None, None, None]

    def learn(self, draws: Values) -> None:
        """It has nothing to choose."""

    def outcome(self, draws: Values) -> tuple[Values, Values]:
        own = self._signals.inside[:, 0].astype(np.float64)
        energy = np.einsum("rpft,rpft,pt->rpf", draws, draws, own)
        total = np.einsum("rpft,pt->rpf", draws, own)
        sums = self._signals.values.sum(axis=2)
        return self._scale**2 * energy, self._scale * total + sums


class _Coefficients(_Contest):
    """Noise on Fourier coefficients, k chosen on draws of its own."""

    def __init__(
        self, name: str, chunk: int | None, task: TaskNoise, epsilons: Sequence[float]
    ) -> None:
        super().__init__(name, chunk, task.signals, epsilons)
        self._task = task
        self._scores = Scores(task, epsilons)

    def learn(self, draws: Values) -> None:
        self._scores.add(draws)

    @functools.cached_property
    def _chosen(self) -> NDArray[np.intp]:
        return self._scores.best()

    def outcome(self, draws: Values) -> tuple[Values, Values]:
        shape = (len(self._epsilons), *draws.shape[:-1])
        squares, sums = np.zeros(shape), np.zeros(shape)
        for block in self._task.blocks:
            response = block.respond(draws)
            for index, epsilon in enumerate(self._epsilons):
                more = block.pieces.outcome(response, epsilon, self._chosen[index, :, block.chunk])
                squares[index][:, block.recordings] += more[0]
                sums[index][:, block.recordings] += more[1]
        return squares, sums


def _mean(sums: Values, counts: NDArray[np.intp]) -> Values:
    means = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _medians(found: Values, counts: NDArray[np.intp]) -> Values:
    """Over the second axis, of those that are numbers; NaN where none is."""
    ordered = np.sort(found, axis=1)
    middle = np.take_along_axis(ordered, np.maximum(counts - 1, 0)[:, None] // 2, axis=1)
    return np.asarray(middle[:, 0])

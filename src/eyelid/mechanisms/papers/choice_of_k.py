"""The paper's choice of k: whatever gives the least |NMSE| over many noisy runs on the data.

One k for each chunk, feature and task. It reads the data, so no guarantee survives it; the paper
says so and calls the leak negligible.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms.mechanism import Values
from eyelid.mechanisms.papers.floating_noise import laplaces
from eyelid.mechanisms.papers.piece import Treatment
from eyelid.mechanisms.papers.task_noise import TaskNoise
from eyelid.privacy.noise import Randomness

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
        shape = (len(epsilons), *task.sensitivity.shape, len(task.candidates))
        self._sums, self._counts = np.zeros(shape), np.zeros(shape)

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

"""The seven methods of the tables: noise from one dataset for many ε and many runs.

The mechanisms themselves are `fpa-paper`, `cfpa-paper` and `dcfpa-paper`; here each k is chosen
once for all ε and runs, as in the paper, and noise can be had without any signal.

Each method is read in two ways. As printed, the coefficient of the mean is the first that gets
noise; the published slopes of Figures 7 to 12 need a mean without noise
(`eyelid.papers.bozkir2021.experiment`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.mechanism import Values
from eyelid.papers.bozkir2021.fourier_noise import Scores, TaskNoise, Treatment, batches, candidates
from eyelid.papers.bozkir2021.mechanisms import FourierPaperMechanism
from eyelid.papers.floating_noise import laplaces
from eyelid.papers.signals import TaskSignals
from eyelid.privacy.noise import randomness

Chosen = NDArray[np.intp]

KEPT = "mean without noise"
"""The second reading, as rows of tables and figures have it after the method's name."""


@dataclass(frozen=True)
class Method:
    """One line of a table.

    Attributes:
        family: ``FPA``, ``CFPA`` or ``DCFPA``.
        chunk: rows of a chunk; None for whole signals.
        noisy_mean: whether the mean of a signal, or chunk, gets noise: as printed.
    """

    family: str
    chunk: int | None = None
    noisy_mean: bool = True

    @classmethod
    def called(cls, name: str) -> Method:
        """By its name in the paper, and its reading.

        >>> Method.called("CFPA-32")
        Method(family='CFPA', chunk=32, noisy_mean=True)
        >>> Method.called("FPA, mean without noise")
        Method(family='FPA', chunk=None, noisy_mean=False)
        """
        printed, _, reading = name.partition(", ")
        family, _, chunk = printed.partition("-")
        return cls(family, int(chunk) if chunk else None, noisy_mean=reading != KEPT)

    @property
    def name(self) -> str:
        """In the paper."""
        return self.family if self.chunk is None else f"{self.family}-{self.chunk}"

    @property
    def row(self) -> str:
        """In our tables, with the reading."""
        return self.name if self.noisy_mean else f"{self.name}, {KEPT}"

    def mechanism(self, epsilon: float, runs: int) -> FourierPaperMechanism:
        """As the catalogue has it."""
        chunk = {} if self.chunk is None else {"chunk": self.chunk}
        found = mechanism_named(f"{self.family.lower()}-paper", epsilon=epsilon, runs=runs, **chunk)
        assert isinstance(found, FourierPaperMechanism)
        return found

    def noise_of(self, signals: TaskSignals) -> TaskNoise:
        """How one task is cut, compared and transformed; a chunk is a whole signal at most."""
        longest = signals.values.shape[2]
        rows = min(self.chunk or longest, longest)
        treatment = Treatment(self.family == "DCFPA", self.noisy_mean)
        return TaskNoise.of(signals, rows, treatment, candidates(rows, treatment))


def best_k(
    method: Method,
    signals: TaskSignals,
    epsilons_per_feature: Sequence[float],
    runs: int,
    seed: Sequence[int],
) -> Chosen:
    """(ε, features, chunks): the place of each k with the least |NMSE| over noisy runs."""
    task, noise = method.noise_of(signals), randomness(np.random.default_rng(seed))
    scores = Scores(task, epsilons_per_feature)
    for batch in batches(signals.values.size, runs):
        scores.add(laplaces((batch, *signals.values.shape), noise))
    return scores.best()


def noisy(
    task: TaskNoise, chosen: Chosen, epsilon_per_feature: float, seed: Sequence[int]
) -> Values:
    """One noisy run of a task, (recordings, features, rows).

    Args:
        task: as `Method.noise_of` gives it.
        chosen: (features, chunks), as `best_k` has it for this ε.
        epsilon_per_feature: the share of one feature.
        seed: of the noise.
    """
    noise = randomness(np.random.default_rng(seed))
    return np.asarray(task.randomised(chosen, epsilon_per_feature, 1, noise)[0])


def without_signals(task: TaskNoise) -> TaskNoise:
    """A task whose people's signals are all zero, under the noise that these people get."""
    nothing = [
        replace(block, pieces=replace(block.pieces, values=np.zeros_like(block.pieces.values)))
        for block in task.blocks
    ]
    return replace(task, blocks=tuple(nothing))

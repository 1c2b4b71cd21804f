"""Run time by the length of a chunk.

"Calculation complexities are decreased with the CFPA and DCFPA"; the paper gives no time.
Transforms of n values in chunks of c take about n·log₂ c operations.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from eyelid.papers.bozkir2021.fourier_noise import Scores, TaskNoise
from eyelid.papers.bozkir2021.methods import Method
from eyelid.papers.bozkir2021.sources import Source
from eyelid.papers.floating_noise import laplaces
from eyelid.papers.reproduction import Cell, Exhibit, Outcome, Value, Verdict
from eyelid.papers.signals import TaskSignals, signals_of
from eyelid.privacy.noise import randomness
from eyelid.spelling import plural

_OPERATIONS, _TRANSFORM = "operations, n·log₂ c", "transform and inverse"
_RELEASE, _CHOICE = "one release", "choosing k, one run"


def run_times(source: Source, methods: Sequence[str], repeats: int = 3) -> Exhibit:
    """Each method's time as a share of FPA's.

    Args:
        source: the dataset; its first task is measured.
        methods: of the paper's, FPA among them.
        repeats: measurements, of which the least counts.
    """
    task = next(signals_of(source.table))
    seconds = {name: _seconds(task, Method.called(name), repeats) for name in methods}
    cells = [
        Cell(name, what, leak_free=Value(value / seconds["FPA"][what]))
        for name, each in seconds.items()
        for what, value in each.items()
    ]
    chunked = {name: each for name, each in seconds.items() if name.startswith("CFPA")}
    said = ""
    if chunked:
        name = min(chunked, key=lambda one: Method.called(one).chunk or 0)
        shares = {what: chunked[name][what] / seconds["FPA"][what] for what in chunked[name]}
        said = (
            f"By count of operations {name} takes {shares[_OPERATIONS]:.2f} of FPA's time; "
            f"measured, its transforms take {shares[_TRANSFORM]:.2f}, a release "
            f"{shares[_RELEASE]:.2f} and the choice of k {shares[_CHOICE]:.2f}, in an "
            "implementation that handles chunks one after the other. FPA needs "
            f"{1000 * seconds['FPA'][_TRANSFORM]:.0f} ms for the transforms of all signals."
        )
    return Exhibit(
        name=f"Run time over chunks, {source.name}",
        title="Time as a share of FPA's, by the length of a chunk",
        says=said,
        setting=f"The least of {plural(repeats, 'measurement')} of processor time on one task, on "
        "this machine: k among powers of two, all people and features.",
        quantity="share of FPA's time",
        leak_free_words="ours",
        timed=True,
        verdict=Verdict(claim=_claim(seconds)),
        cells=tuple(cells),
    )


def _claim(seconds: dict[str, dict[str, float]]) -> Outcome:
    """Whether transforms and releases in chunks are faster."""
    faster = [
        each[what] < seconds["FPA"][what]
        for name, each in seconds.items()
        for what in (_TRANSFORM, _RELEASE)
        if name != "FPA"
    ]
    if not faster:
        return Outcome.OPEN
    return Outcome.YES if all(faster) else Outcome.PARTLY if any(faster) else Outcome.NO


def _seconds(task: TaskSignals, method: Method, repeats: int) -> dict[str, float]:
    rows = task.values.shape[2]
    chunk = min(method.chunk or rows, rows)
    pieces = task.values[..., : rows - rows % chunk].reshape(-1, chunk)
    noise = method.noise_of(task)
    first = np.zeros(noise.sensitivity.shape, dtype=np.intp)
    draws = laplaces((1, *task.values.shape), randomness(0))
    return {
        _OPERATIONS: rows * math.log2(max(chunk, 2)),
        _TRANSFORM: _least(lambda: np.fft.irfft(np.fft.rfft(pieces), n=chunk), repeats),
        _RELEASE: _least(lambda: noise.randomised(first, 1.0, 1, randomness(0)), repeats),
        _CHOICE: _least(lambda: _choice(noise, draws), repeats),
    }


def _choice(noise: TaskNoise, draws: np.ndarray) -> None:
    Scores(noise, (1.0,)).add(draws)


def _least(work: Callable[[], object], repeats: int) -> float:
    """Seconds of the processor in the fastest of several runs."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)

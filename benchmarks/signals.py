"""The utility experiment of Bozkir et al. 2021, whole: CPU seconds, draws a second, peak memory.

LPA, FPA, CFPA and DCFPA with chunks of 32, 64 and 128, five ε, 100 noisy runs to choose each k and
100 to judge it, 48 features of 60 recordings: MPIIDPEye, or simulated participants of the same
shape where EYELID_DATA is not set. The peer is what a script does: numpy, one signal and one run at
a time.

``python -m benchmarks.signals RUNS`` does it once in a fresh process and prints its figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Case, best_cpu_seconds, remark
from benchmarks.fresh_process import measured
from eyelid.gaze.features import window_features
from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.papers.bozkir2021.experiment import (
    CHUNKS,
    EPSILONS_PER_FEATURE,
    paper_features,
    utility_experiment,
)
from eyelid.papers.bozkir2021.fourier_noise import Treatment, candidates
from eyelid.papers.signals import TaskSignals, sensitivities, signals_of

RUNS = 100
REPETITIONS = 2
TARGET = 20.0
SLICE_RECORDINGS, SLICE_FEATURES, SLICE_RUNS = 2, 2, 2
PEER = "numpy, signal by signal and run by run (a script; measured on a slice, sensitivities given)"

Signal = NDArray[np.float64]


def table() -> FeatureTable:
    """48 features of 60 recordings."""
    data = os.environ.get("EYELID_DATA")
    folder = Path(data) / "MPIIDPEye" if data else None
    if folder is not None and folder.is_dir():
        return paper_features(window_features(read(folder)))
    study = simulate(people=20, minutes=11.0, rate_hz=30.0, seed=1)
    return paper_features(window_features(study))


def cases() -> Iterator[Case]:
    """The whole experiment beside a script."""
    whole = table()
    signals = list(signals_of(whole))
    values = sum(task.values.size for task in signals)
    remark(f"signals: {len(whole.recordings)} recordings, {len(whole.features)} features, …")
    figures = min((_fresh() for _ in range(REPETITIONS)), key=lambda found: found["cpu_seconds"])
    seconds = figures["cpu_seconds"]
    evaluated = sum(1 for _ in _settings(signals[0].values.shape[2])) * RUNS
    noisy_signals = evaluated * len(whole.recordings) * len(whole.features)
    peer = _script(signals) * len(whole.recordings) * len(whole.features) * RUNS
    yield Case(
        "utility experiment, whole",
        "s CPU",
        seconds,
        PEER,
        peer,
        f"at least {TARGET:g} times less than the script",
        peer / seconds >= TARGET,
        {
            "seconds": figures["seconds"],
            # Each draw serves every mechanism, ε and k.
            "draws_per_second": 2 * RUNS * values / seconds,
            "noisy_signals_per_second": noisy_signals / seconds,
            "peak_mb": figures["peak_bytes"] / 1e6,
            "growth_mb": figures["growth_bytes"] / 1e6,
        },
    )


def _fresh() -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.signals", str(RUNS)],
        check=True,
        capture_output=True,
        text=True,
        # Threads that wait for each other burn processor time.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _settings(rows: int) -> Iterator[tuple[str, int, float, int | None]]:
    """Every mechanism, chunk, ε and k whose noisy signals are judged; None is the best k."""
    for epsilon in EPSILONS_PER_FEATURE:
        yield "LPA", rows, epsilon, None
        for name, chunk in [("FPA", rows), *[(n, c) for n in ("CFPA", "DCFPA") for c in CHUNKS]]:
            for k in candidates(chunk, Treatment()):
                yield name, chunk, epsilon, k
            yield name, chunk, epsilon, None


def _script(signals: list[TaskSignals]) -> float:
    """CPU seconds of the script for one run of everything on one signal."""
    task = signals[0]
    picked = [
        (task.values[recording, feature, : task.lengths[recording]], feature)
        for recording in range(SLICE_RECORDINGS)
        for feature in range(SLICE_FEATURES)
    ]
    rows = task.values.shape[2]
    known = {
        (name, chunk): sensitivities(
            (task.differences(chunk) if name == "DCFPA" else task).values,
            chunk,
            1 if name == "LPA" else 2,
        )
        for name, chunk, _, _ in _settings(rows)
    }
    rng = np.random.default_rng(0)

    def run() -> None:
        for signal, feature in picked:
            for name, chunk, epsilon, k in _settings(rows):
                for _ in range(SLICE_RUNS):
                    # At best k is 1, which is the cheapest.
                    _one(signal, name, chunk, known[name, chunk][feature] / epsilon, k or 1, rng)

    return best_cpu_seconds(run, 3) / (len(picked) * SLICE_RUNS)


def _one(
    signal: Signal, name: str, chunk: int, scales: Signal, k: int, rng: np.random.Generator
) -> float:
    """|NMSE| of one noisy signal; its chunks at once, without what is left over at the end."""
    if name == "LPA":
        noisy = signal + rng.laplace(0.0, scales[0], len(signal))
    else:
        chunk = min(chunk, len(signal))
        signal = signal[: len(signal) // chunk * chunk]
        pieces = signal.reshape(-1, chunk)
        if name == "DCFPA":
            pieces = np.diff(pieces, axis=1, prepend=0.0)
        spectrum = np.fft.rfft(pieces, axis=1)
        scale = scales[: len(pieces), None] * np.sqrt(chunk * k)
        size = spectrum[:, :k].shape
        spectrum[:, :k] += scale * (rng.laplace(size=size) + 1j * rng.laplace(size=size))
        spectrum[:, k:] = 0
        back = np.fft.irfft(spectrum, n=chunk, axis=1)
        noisy = (np.cumsum(back, axis=1) if name == "DCFPA" else back).ravel()
    error = np.mean((signal - noisy) ** 2) / (np.mean(signal) * np.mean(noisy))
    return float(abs(error))


if __name__ == "__main__":
    features = table()
    print(json.dumps(measured(lambda: utility_experiment(features, runs=int(sys.argv[1])))))

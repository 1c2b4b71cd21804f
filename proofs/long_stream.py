"""24 hours of gaze at 120 Hz, at full speed: flat memory, and no window above its ε."""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import eyelid
from eyelid.stream import Gatekeeper
from proofs.result import Effort, Result, progress

RATE_HZ = 120
HOURS = 24
PIECE_MINUTES = 10
EPSILON, WINDOW, RADIUS_DEG = 1.0, 60, 3.0
SCENE_DEG = (0, 0, 45, 27)
# Pages that Python's allocator asks for in the meantime; one float a sample would be 75 MB.
MOST_GROWTH_MB = 8.0
TARGET = (
    f"{HOURS} hours at {RATE_HZ} Hz: no window above ε, memory at the end within "
    f"{MOST_GROWTH_MB:g} MB of that after a tenth, samples one by one and in arrays"
)


def prove(effort: Effort) -> Result:
    """One filter sample by sample, as a tracker gives them; a scheduler in arrays."""
    piece = ten_minutes()
    figures = {
        "kaleido, one by one": _replayed("kaleido", piece, _one_by_one),
        "bd, in arrays": _replayed("bd", piece, _together),
    }
    passed = all(
        found["growth_mb"] <= MOST_GROWTH_MB
        and found["worst_window_epsilon"] <= EPSILON
        and math.isclose(found["person_epsilon"], found["person_epsilon_by_formula"])
        for found in figures.values()
    )
    return Result(figures, TARGET, passed)


def ten_minutes() -> tuple[np.ndarray[Any, Any], ...]:
    """Simulated gaze of one person, lost samples and all: time, x and y."""
    # Recordings may be a fifth shorter than asked for.
    minutes = PIECE_MINUTES * 1.5
    study = eyelid.simulate(1, ("comic",), rate_hz=RATE_HZ, minutes=minutes, seed=1)
    columns = study.data.head(RATE_HZ * 60 * PIECE_MINUTES).select("time_ms", "x", "y")
    return tuple(columns.to_numpy().T.copy())


def _one_by_one(gate: Gatekeeper, time_ms: Any, x: Any, y: Any) -> None:
    for sample in zip(time_ms.tolist(), x.tolist(), y.tolist(), strict=True):
        gate.push(*sample)


def _together(gate: Gatekeeper, time_ms: Any, x: Any, y: Any) -> None:
    gate.push_many(time_ms, x, y)


def _replayed(name: str, piece: tuple[Any, ...], push: Callable[..., None]) -> dict[str, float]:
    """The same ten minutes again and again, time going on."""
    progress(f"long_stream: {name}, {HOURS} hours …")
    gate = Gatekeeper(
        name, epsilon=EPSILON, window=WINDOW, radius=RADIUS_DEG, units="deg", scene=SCENE_DEG
    )
    time_ms, x, y = piece
    pieces = HOURS * 60 // PIECE_MINUTES
    start, early = time.perf_counter(), 0.0
    for turn in range(pieces):
        push(gate, time_ms + turn * PIECE_MINUTES * 60_000, x, y)
        if turn == pieces // 10:
            early = memory_mb()
    seconds = time.perf_counter() - start
    radii = math.hypot(SCENE_DEG[2] - SCENE_DEG[0], SCENE_DEG[3] - SCENE_DEG[1]) / RADIUS_DEG
    return {
        "samples": gate.samples,
        "samples_a_second": round(gate.samples / seconds),
        "lost": int(np.isnan(x).sum()) * pieces,
        "memory_mb": memory_mb(),
        "growth_mb": memory_mb() - early,
        "worst_window_epsilon": gate.worst_window_epsilon,
        "person_epsilon": gate.person_epsilon,
        "person_epsilon_by_formula": math.ceil(gate.samples / WINDOW) * EPSILON * radii,
    }


def memory_mb() -> float:
    """What the process holds now; elsewhere than on Linux, the most that it ever held."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * resource.getpagesize() / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6

"""Stream filters in process: microseconds a sample one by one, nanoseconds a sample in arrays.

The peer of single samples is OpenDP's exact Laplace noise on two numbers, which is what a script
would add to every sample; that of arrays is numpy's float noise, which is no private noise.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Case, best_cpu_seconds, remark
from eyelid.mechanisms import catalogue
from eyelid.mechanisms.streams.filter import Filter
from eyelid.mechanisms.streams.filter_run import compiled
from eyelid.mechanisms.streams.kaleido import Kaleido
from eyelid.mechanisms.streams.stream import StreamMechanism
from eyelid.stream import Gatekeeper

RATE_HZ = 120
PUSHES = 20_000
OPENDP_PUSHES = 2_000
ROUNDS = 5
MANY = 2_000_000
MEDIAN_US, P99_US = 20.0, 100.0
COMPILED_NS, PLAIN_NS = 1_000.0, 10_000.0
WIDTH, HEIGHT = 1920, 1080

Floats = NDArray[np.float64]


def cases() -> Iterator[Case]:
    """Every registered filter by single samples; kaleido by arrays, with and without numba."""
    remark(f"stream: {PUSHES:,} samples one by one, best of {ROUNDS} rounds, wall time")
    peer = quantiles_us(_opendp(), OPENDP_PUSHES)
    gates = {
        name: gatekeeper(kind)
        for name, kind in catalogue().items()
        if issubclass(kind, StreamMechanism)
    }
    gates["kaleido, events and counters"] = gatekeeper(
        Kaleido, events=0.3, counters=0.2, areas=f"left:0,0,{WIDTH // 2},{HEIGHT}"
    )
    for name, gate in gates.items():
        median, p99 = quantiles_us(gate.push, PUSHES)
        yield Case(
            f"{name}, one sample",
            "µs, median",
            median,
            "OpenDP Laplace noise on x and y",
            peer[0],
            f"median at most {MEDIAN_US:g} µs and p99 at most {P99_US:g} µs",
            median <= MEDIAN_US and p99 <= P99_US,
            {"p99_us": p99, "peer_p99_us": peer[1]},
        )
    remark(f"stream: {MANY:,} samples in one array, CPU time")
    yield _many("kaleido, an array, with numba", COMPILED_NS)
    compiled.cache_clear()
    with patch.dict(sys.modules, {"numba": None}):
        yield _many("kaleido, an array, without numba", PLAIN_NS)
    compiled.cache_clear()


def gatekeeper(kind: type[StreamMechanism], **more: Any) -> Gatekeeper:
    """One with usual settings: half a second, and 50 of 1920 pixels."""
    usual = {"epsilon": 1.0, "window": RATE_HZ // 2, "radius": 50.0}
    asked: dict[str, Any] = usual if issubclass(kind, Filter) else kind.games[0]
    return Gatekeeper(kind.name, **{**asked, "scene": (0, 0, WIDTH, HEIGHT), **more})


def gaze(samples: int) -> tuple[Floats, Floats, Floats]:
    """Three fixations a second, with tremor, some of it outside of the screen, and lost samples."""
    rng = np.random.default_rng(7)
    stay = RATE_HZ // 3
    places = rng.uniform(-0.02, 1.02, (2, samples // stay + 1))
    x, y = np.repeat(places, stay, axis=1)[:, :samples] + rng.normal(0, 0.002, (2, samples))
    x[rng.random(samples) < 0.02] = np.nan
    return np.arange(samples) * 1000.0 / RATE_HZ, x * WIDTH, y * HEIGHT


def quantiles_us(push: Callable[..., object], samples: int) -> tuple[float, float]:
    """Median and 99th percentile of one call, of the best round; the first warms up."""
    times_ms, x, y = (column.tolist() for column in gaze(samples))
    clock = time.perf_counter_ns
    rounds = []
    for turn in range(ROUNDS + 1):
        taken = []
        # Time goes on from round to round.
        since = turn * samples * 1000.0 / RATE_HZ
        for time_ms, across, up in zip(times_ms, x, y, strict=True):
            start = clock()
            push(since + time_ms, across, up)
            taken.append(clock() - start)
        rounds.append(np.quantile(taken, [0.5, 0.99]) / 1e3)
    median, p99 = np.min(rounds[1:], axis=0)
    return float(median), float(p99)


def _many(name: str, most_ns: float) -> Case:
    gate = gatekeeper(Kaleido)
    times_ms, x, y = gaze(MANY)
    rng = np.random.default_rng()

    def filtered() -> None:
        gate.push_many(gate.samples * 1000.0 / RATE_HZ + times_ms, x, y)

    ours = best_cpu_seconds(filtered, 3) / MANY * 1e9
    floats = best_cpu_seconds(
        lambda: (x + rng.laplace(0.0, 1.0, MANY), y + rng.laplace(0.0, 1.0, MANY)), 3
    )
    return Case(
        name,
        "ns CPU a sample",
        ours,
        "numpy float Laplace noise, not private",
        floats / MANY * 1e9,
        f"at least {1e9 / most_ns:,.0f} samples a second",
        ours <= most_ns,
        {"samples_a_second": round(1e9 / ours)},
    )


def _opendp() -> Callable[[float, float, float], object]:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    noisy = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=float(2**24))

    def push(_: float, x: float, y: float) -> object:
        return noisy([int(x), int(y)]) if x == x else None

    return push

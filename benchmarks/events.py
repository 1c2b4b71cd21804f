"""Event detection: CPU seconds and peak memory on 1000 Hz x 30 min, against pymovements.

``python -m benchmarks.events WHO MINUTES`` detects once in a fresh process and prints its figures.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Case, best_cpu_seconds, remark
from eyelid.gaze.events import METHODS
from eyelid.gaze.events.ivt import ivt

RATE_HZ = 1000
MINUTES = (3, 10, 30)
SPEED_TARGET = 50.0
# Above 1 because the arrays of 3 min fit into a processor's cache and those of 30 min do not.
EXPONENT_TARGET = 1.25
MEMORY_TARGET_MB = 600
REPETITIONS = 5
# Half a minute is enough for what is imported late not to be counted.
WARM_UP_MINUTES = 0.5

Floats = NDArray[np.float64]
Figures = dict[str, float]


def signals(minutes: float) -> tuple[Floats, Floats, Floats]:
    """Fixations of 230 ms with tremor, saccades of 20 ms between them, a blink every 10 s."""
    rng = np.random.default_rng(0)
    time_ms = np.arange(round(minutes * 60 * RATE_HZ), dtype=np.float64)
    places = rng.uniform(-10.0, 10.0, (2, len(time_ms) // 250 + 2))
    number, into = np.divmod(time_ms.astype(np.intp), 250)
    share = np.clip((into - 230) / 20, 0.0, 1.0)
    gaze = places[:, number] * (1 - share) + places[:, number + 1] * share
    gaze += rng.normal(0.0, 0.005, gaze.shape)
    gaze[:, time_ms % 10_000 < 150] = np.nan
    return time_ms, gaze[0], gaze[1]


def with_eyelid(time_ms: Floats, x: Floats, y: Floats) -> int:
    """I-VT, and the location and dispersion of every fixation."""
    fixations = ivt(time_ms, x, y)["fixation"]
    location = fixations.mean(x), fixations.mean(y)
    dispersion = fixations.extent(x) + fixations.extent(y)
    return len(np.column_stack([*location, dispersion]))


def with_pymovements(time_ms: Floats, x: Floats, y: Floats) -> int:
    """The same, from positions in degrees on."""
    import polars as pl
    import pymovements as pm

    gaze = pm.Gaze(
        pl.DataFrame({"time": time_ms, "x": x, "y": y}),
        experiment=pm.Experiment(sampling_rate=RATE_HZ),
        time_column="time",
        time_unit="ms",
        position_columns=["x", "y"],
    )
    gaze.pos2vel()
    gaze.detect("ivt")
    gaze.compute_event_properties(["location", "dispersion"])
    return len(gaze.events)


WHO: dict[str, Callable[[Floats, Floats, Floats], int]] = {
    "eyelid": with_eyelid,
    "pymovements": with_pymovements,
}


def cases() -> Iterator[Case]:
    """Speed, growth and memory of I-VT; growth of the other detectors."""
    ours = [_cpu_seconds(with_eyelid, minutes) for minutes in MINUTES]
    longest = MINUTES[-1]
    remark(f"events: pymovements on {longest} min takes about a minute")
    figures, peer = _measured("eyelid", longest), _measured("pymovements", longest)
    name = f"I-VT with location and dispersion, {RATE_HZ} Hz x {longest} min"
    exponent = _exponent(ours)
    yield Case(
        f"{name}: time",
        "s CPU",
        ours[-1],
        "pymovements: pos2vel, detect, compute_event_properties",
        peer["cpu_seconds"],
        f"at least {SPEED_TARGET:g} times faster",
        peer["cpu_seconds"] >= SPEED_TARGET * ours[-1],
        {
            "fixations": int(figures["fixations"]),
            "peer_fixations": int(peer["fixations"]),
            "fresh_process_seconds": figures["cpu_seconds"],
        },
    )
    yield Case(
        f"{name}: exponent over {', '.join(map(str, MINUTES))} min",
        "exponent",
        exponent,
        "pymovements, from 3 and 10 min",
        _exponent([_measured("pymovements", m)["cpu_seconds"] for m in MINUTES[:2]]),
        f"linear: at most {EXPONENT_TARGET:g}",
        exponent <= EXPONENT_TARGET,
        {f"s_at_{m}_min": s for m, s in zip(MINUTES, ours, strict=True)},
    )
    yield Case(
        f"{name}: peak memory",
        "MB of the whole process",
        figures["peak_bytes"] / 1e6,
        "pymovements",
        peer["peak_bytes"] / 1e6,
        f"below {MEMORY_TARGET_MB} MB",
        figures["peak_bytes"] < MEMORY_TARGET_MB * 1e6,
    )
    others = {method: METHODS[method] for method in METHODS if method != "ivt"}
    for method, detector in others.items():
        seconds = [_cpu_seconds(detector, minutes) for minutes in MINUTES]
        yield Case(
            f"{method} alone, {RATE_HZ} Hz x {longest} min",
            "s CPU",
            seconds[-1],
            "ivt with location and dispersion",
            ours[-1],
            f"linear: exponent at most {EXPONENT_TARGET:g}",
            _exponent(seconds) <= EXPONENT_TARGET,
            {"exponent": _exponent(seconds)},
        )


def _cpu_seconds(detect: Callable[..., object], minutes: float) -> float:
    recorded = signals(minutes)
    return best_cpu_seconds(lambda: detect(*recorded), REPETITIONS)


def _exponent(seconds: list[float]) -> float:
    """The slope of time over length, both logarithmic."""
    return float(np.polyfit(np.log(MINUTES[: len(seconds)]), np.log(seconds), 1)[0])


def _measured(who: str, minutes: float) -> Figures:
    command = [sys.executable, "-m", "benchmarks.events", who, str(minutes)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: Figures = json.loads(done.stdout)
    return found


def main(who: str, minutes: str) -> Figures:
    """Detect once."""
    from benchmarks.fresh_process import measured

    WHO[who](*signals(WARM_UP_MINUTES))
    recorded = signals(float(minutes))
    found = []
    figures = measured(lambda: found.append(WHO[who](*recorded)))
    return figures | {"fixations": found[0]}


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))

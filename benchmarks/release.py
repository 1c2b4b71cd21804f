"""A whole release from disk to disk: seconds and peak memory, against unsafe float noise.

All processes are counted. Until this was so, only the first was, though releases work in processes
of their own: processor seconds and memory printed before were too low. They are printed still, as
``first_cpu_seconds`` and ``first_growth_mb``. Seconds on the clock were right.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.case import Case, remark

RECORDINGS, WINDOWS = 3, 1200
PEOPLE = (108, 216)
REPETITIONS = 2
MEMORY_TARGET = 3.0


def cases() -> Iterator[Case]:
    """Both mechanisms on a table of 20 million values and on one twice as large."""
    with tempfile.TemporaryDirectory(prefix="eyelid-bench-") as home:
        for people in PEOPLE:
            study = Path(home) / f"study-{people}"
            made = _child("make", str(study), str(people))
            remark(
                f"release: {made['values']:,} values, {made['table_bytes'] / 1e6:.0f} MB as a "
                f"table ({made['with_views_bytes'] / 1e6:.0f} MB with the views of its text)"
            )
            peer = _measured("numpy", study, "-")
            for mechanism in ("laplace", "gaussian"):
                ours = _measured("release", study, mechanism)
                yield from _told(mechanism, made, ours, peer)


def _told(
    mechanism: str, made: dict[str, Any], ours: dict[str, Any], peer: dict[str, Any]
) -> Iterator[Case]:
    values, size = made["values"], made["table_bytes"]
    name = f"release {mechanism}, {values / 1e6:.0f} million values"
    yield Case(
        f"{name}: time",
        "s wall",
        ours["seconds"],
        "numpy float noise and parquet (unsafe)",
        peer["seconds"],
        more={
            "values_per_second": int(values / ours["seconds"]),
            "cpu_seconds": ours["cpu_seconds"],
            "peer_cpu_seconds": peer["cpu_seconds"],
            "processes": ours["processes"],
            "first_cpu_seconds": ours["first_cpu_seconds"],
        },
    )
    growth = ours["growth_bytes"] / size
    yield Case(
        f"{name}: peak memory",
        "MB of all processes above what imports take",
        ours["growth_bytes"] / 1e6,
        "numpy float noise and parquet (unsafe)",
        peer["growth_bytes"] / 1e6,
        f"at most {MEMORY_TARGET:g} times the table",
        growth <= MEMORY_TARGET,
        {
            "times_the_table": growth,
            "times_with_views": ours["growth_bytes"] / made["with_views_bytes"],
            "table_mb": size / 1e6,
            "peak_mb": ours["peak_bytes"] / 1e6,
            "first_growth_mb": ours["first_growth_bytes"] / 1e6,
        },
    )


def _measured(action: str, study: Path, mechanism: str) -> dict[str, Any]:
    """The least time of several fresh processes, and the most memory: a peak has no best."""
    runs = [
        _child(action, str(study), str(study.with_name(f"out-{action}-{mechanism}")), mechanism)
        for _ in range(REPETITIONS)
    ]
    return {
        key: (max if key.endswith("_bytes") else min)(run[key] for run in runs) for key in runs[0]
    }


def _child(action: str, *arguments: str) -> dict[str, Any]:
    """One action in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "benchmarks.fresh_process", action, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found

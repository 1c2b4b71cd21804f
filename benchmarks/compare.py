"""`eyelid compare --fast` on the study of the demo, in a fresh process, on both cores.

The peer runs the same cells one after the other in one process.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.case import Case, remark
from eyelid.engine.cores import cores
from eyelid.gaze.simulator import simulate
from eyelid.io import write

TARGET_S = 30.0
# Processor seconds a second, of two cores.
TARGET_BUSY = 1.7
PEER = "the same cells, one after the other in one process"
_IN_TURN = """
import sys
from pathlib import Path
from eyelid.comparisons.compare import compare
from eyelid.engine.cores import alone
with alone():
    print(compare(Path(sys.argv[1]), fast=True).to_json())
"""


def cases() -> Iterator[Case]:
    """Seconds, and how busy the cores were."""
    with tempfile.TemporaryDirectory(prefix="eyelid-compare-") as home:
        study = Path(home) / "study"
        tasks = ("comic", "newspaper", "textbook")
        write(simulate(people=20, tasks=tasks, seed=1, minutes=5), study)
        words = [sys.executable, "-m", "eyelid", "compare", str(study), "--fast", "--json"]
        wall_s, cpu_s, ours = _timed(words, home)
        peer_wall_s, peer_cpu_s, theirs = _timed([sys.executable, "-c", _IN_TURN, str(study)], home)
    same = ours["rows"] == theirs["rows"]
    remark(f"compare: {wall_s:.1f} s, {cpu_s:.1f} processor s, the same table: {same}")
    more = {"cpu_seconds": cpu_s, "peer_cpu_seconds": peer_cpu_s, "settings": len(ours["rows"])}
    yield Case(
        "compare --fast, demo study",
        "s",
        wall_s,
        PEER,
        peer_wall_s,
        f"under {TARGET_S:g} s, and the peer's table",
        wall_s < TARGET_S and same,
        more,
    )
    busy, peer_busy = cpu_s / wall_s, peer_cpu_s / peer_wall_s
    several = cores() > 1
    yield Case(
        "compare --fast, seconds a processor second",
        "s",
        1 / busy,
        PEER,
        1 / peer_busy,
        f"at least {TARGET_BUSY:g} processor seconds a second on two cores" if several else None,
        busy >= TARGET_BUSY if several else None,
        {"busy": busy, "peer_busy": peer_busy, "load_of_others": os.getloadavg()[0]},
    )


def _timed(words: Sequence[str], home: str) -> tuple[float, float, dict[str, Any]]:
    """Seconds and processor seconds of a process and all of its own, and what it printed."""
    before, start = _used(), time.perf_counter()
    done = subprocess.run(words, cwd=home, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, _used() - before, json.loads(done.stdout)


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime

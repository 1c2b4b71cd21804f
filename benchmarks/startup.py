"""How long ``eyelid --help`` takes to answer: wall seconds, best of several."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks.case import Case, remark

REPETITIONS = 7
TARGET_SECONDS = 0.5


def cases() -> Iterator[Case]:
    """Beside the import of a peer, and of nothing at all."""
    remark(f"startup: best of {REPETITIONS}, wall seconds")
    help_seconds = _best_seconds(["-m", "eyelid", "--help"])
    bare = _best_seconds(["-c", "pass"])
    peers = {"import opendp.prelude": "import opendp.prelude", "bare Python": "pass"}
    for peer, code in peers.items():
        yield Case(
            "eyelid --help",
            "s wall",
            help_seconds,
            peer,
            bare if code == "pass" else _best_seconds(["-c", code]),
            f"below {TARGET_SECONDS:g} s",
            help_seconds < TARGET_SECONDS,
        )


def _best_seconds(arguments: Sequence[str]) -> float:
    found = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
        found.append(time.perf_counter() - start)
    return min(found)

"""How much memory a command and its workers take at the most, and how long they work."""

from __future__ import annotations

import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from proofs.command import command

_LOOK_EVERY_S = 0.05


@dataclass(frozen=True)
class Watched:
    """What a command took.

    Attributes:
        seconds: from its start to its end.
        cpu_seconds: of all its processes.
        peak_mb: of all its processes at the same time.
        largest_mb: of the largest of them.
    """

    seconds: float
    cpu_seconds: float
    peak_mb: float
    largest_mb: float


def watched(arguments: Sequence[str | Path]) -> Watched:
    """Run eyelid, which must succeed, and look at its processes all the while.

    Args:
        arguments: of the command line.
    """
    used, start = _used_by_children(), time.perf_counter()
    process = subprocess.Popen(
        command(arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    peak = largest = 0
    while process.poll() is None:
        sizes = _sizes(process.pid)
        peak, largest = max(peak, sum(sizes)), max(largest, *sizes, 0)
        time.sleep(_LOOK_EVERY_S)
    seconds = time.perf_counter() - start
    assert process.stderr is not None
    if process.returncode != 0:
        raise RuntimeError(f"eyelid {arguments[0]} failed: {process.stderr.read()}")
    return Watched(seconds, _used_by_children() - used, peak / 1e6, largest / 1e6)


def _sizes(pid: int) -> list[int]:
    """Resident memory of a process and all that it has started."""
    found = [0]
    try:
        top = psutil.Process(pid)
        for each in (top, *top.children(recursive=True)):
            found.append(each.memory_info().rss)
    except psutil.Error:
        # It has ended meanwhile.
        pass
    return found


def _used_by_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

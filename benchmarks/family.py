"""What a process and all that it has started take, of the processor and of memory.

The processor's time of one process says nothing about work that others do for it, and neither does
its peak of memory. Processes that have ended are counted by the system once their parent has taken
note; those that are still there (workers stay for a while) are asked.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

_LOOK_EVERY_S = 0.05


@dataclass(frozen=True)
class Taken:
    """What some work took.

    Attributes:
        seconds: from its start to its end.
        cpu_seconds: of all processes.
        own_cpu_seconds: of this process alone.
        before_bytes: resident memory of all processes at its start.
        peak_bytes: the same at its highest: pages that processes share count for each of them.
        own_before_bytes: resident memory of this process alone at its start.
        own_peak_bytes: the same at its highest.
        processes: how many there were at the same time.
    """

    seconds: float
    cpu_seconds: float
    own_cpu_seconds: float
    before_bytes: int
    peak_bytes: int
    own_before_bytes: int
    own_peak_bytes: int
    processes: int


def processor_seconds(action: Callable[[], object]) -> float:
    """Processor time of some work, of all processes that did it."""
    others = _others_cpu_seconds()
    own = time.process_time()
    action()
    own = time.process_time() - own
    return own + _others_cpu_seconds() - others


def taken_by(action: Callable[[], object]) -> Taken:
    """Time and memory of some work, of all processes that did it."""
    watch = _Watch()
    before, own_before = sum(watch.sizes), watch.sizes[0]
    others = _others_cpu_seconds()
    with watch:
        wall, own = time.perf_counter(), time.process_time()
        action()
        wall, own = time.perf_counter() - wall, time.process_time() - own
    # Looking is no part of the work.
    own -= watch.cpu_seconds
    own_peak = _own_peak_bytes() or watch.own_peak_bytes
    return Taken(
        seconds=wall,
        cpu_seconds=own + _others_cpu_seconds() - others,
        own_cpu_seconds=own,
        before_bytes=before,
        # One process's peak is known exactly, that of several together by looking.
        peak_bytes=max(watch.peak_bytes, own_peak),
        own_before_bytes=own_before,
        own_peak_bytes=own_peak,
        processes=watch.processes,
    )


def _own_peak_bytes() -> int | None:
    """The most memory that this process ever had; None where the system does not say.

    The peak of getrusage would include the parent's memory at the fork.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024


def _others_cpu_seconds() -> float:
    """Processor time so far of all that this process has started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime
    for process in psutil.Process().children(recursive=True):
        try:
            used = process.cpu_times()
        except psutil.Error:
            continue
        # On some systems what a process has started in its turn is not known.
        theirs = getattr(used, "children_user", 0.0) + getattr(used, "children_system", 0.0)
        seconds += used.user + used.system + theirs
    return seconds


class _Watch:
    """Looks at the memory of all processes, again and again."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.sizes = _sizes()
        self.peak_bytes, self.own_peak_bytes, self.processes = 0, 0, 0
        self.cpu_seconds = 0.0
        self._note()

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.sizes = _sizes()
        self._note()

    def _look(self) -> None:
        while not self._over.wait(_LOOK_EVERY_S):
            self.sizes = _sizes()
            self._note()
        self.cpu_seconds = time.thread_time()

    def _note(self) -> None:
        self.peak_bytes = max(self.peak_bytes, sum(self.sizes))
        self.own_peak_bytes = max(self.own_peak_bytes, self.sizes[0])
        self.processes = max(self.processes, len(self.sizes))


def _sizes() -> list[int]:
    """Resident memory: of this process, and of all that it has started."""
    own = psutil.Process()
    found = [own.memory_info().rss]
    for process in own.children(recursive=True):
        try:
            found.append(process.memory_info().rss)
        except psutil.Error:
            # It has ended meanwhile.
            continue
    return found

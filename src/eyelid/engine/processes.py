"""Coarse work on many items, in processes of their own on all cores of this machine.

Threads (`eyelid.engine.parallel`) do where numpy works most of the time; what spends long in Python
itself needs processes. They cost a second or two to start, so an item should be worth that.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from eyelid.engine.engines import Engine
from eyelid.engine.parallel import ONE_CORE, alone, cores, in_threads
from eyelid.engine.temporary import own_folder
from eyelid.errors import EyelidError

D = TypeVar("D")
T = TypeVar("T")
R = TypeVar("R")

KILLED = (
    "worker processes were killed again and again, perhaps for want of memory: close other "
    "programs, or give them less to do"
)
# How long a worker may outlive whoever gave it work.
_LEAVE_S = 1.0
# Workers that have nothing to do go home after this.
_IDLE_S = 60
# Times that workers may be killed before any of them gets something done.
_MOST_KILLED = 5
_read: set[Path] = set()


@dataclass(frozen=True)
class SharedFile(Generic[T]):
    """Something large in a file that every worker reads once.

    Attributes:
        path: where it lies while the work goes on.
    """

    path: Path

    def get(self) -> T:
        """The thing itself."""
        found: T = _loaded(self.path)
        return found


class Processes(Engine):
    """Processes of this machine; one item at a time is done here, without any."""

    name = "local"

    def __init__(self, workers: int | None = None) -> None:
        self._asked = workers

    @property
    def workers(self) -> int:
        """How many work at the same time."""
        return cores() if self._asked is None or cores() == 1 else self._asked

    def as_done(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """In this process where there is one core or item, else in others."""
        if self.workers == 1 or len(items) < 2:
            return ((place, work(item)) for place, item in enumerate(items))
        return _spread_out(work, items, min(self.workers, len(items)))

    def with_data(
        self, work: Callable[[D, T], R], data: D, items: Sequence[T]
    ) -> Iterator[tuple[int, R]]:
        """By threads of this process: see `eyelid.engine.engines.spread_with`."""
        return enumerate(in_threads(partial(work, data), items, self._asked))

    def check_sees(self, folder: Path) -> None:
        """They are on this machine."""

    def check_reads(self, path: Path) -> None:
        """They are on this machine."""

    @contextlib.contextmanager
    def shared(self, value: T) -> Iterator[SharedFile[T]]:
        """In a file, as long as the block lasts.

        Being asked to end (SIGTERM) ends the block as Ctrl-C would, so that nothing stays. What a
        kill or a power cut left is removed by whoever comes next.
        """
        with _asked_to_end(), own_folder() as folder:
            path = folder / "shared"
            with path.open("wb") as file:
                pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
            try:
                yield SharedFile(path)
            finally:
                _loaded.cache_clear()


def _spread_out(
    work: Callable[[T], R], items: Sequence[T], workers: int
) -> Iterator[tuple[int, R]]:
    """Each item to a process that is free; those of killed ones again."""
    # In such an order that the first items are done first, whatever the number of workers.
    waiting = deque(range(len(items)))
    running: dict[Future[R], int] = {}
    killed = 0
    pool = _pool(workers)
    try:
        while waiting or running:
            try:
                while waiting and len(running) < 2 * workers:
                    place = waiting[0]
                    running[pool.submit(_one, os.getpid(), work, items[place])] = place
                    waiting.popleft()
                lost = False
            except BrokenProcessPool:
                lost = True
            done = set() if lost else wait(running, return_when=FIRST_COMPLETED).done
            for future in sorted(done, key=running.__getitem__):
                if isinstance(future.exception(), BrokenProcessPool):
                    lost = True
                    continue
                place = running.pop(future)
                killed = 0
                yield place, future.result()
            if lost:
                killed += 1
                if killed > _MOST_KILLED:
                    raise EyelidError(KILLED)
                waiting.extendleft(sorted(running.values(), reverse=True))
                running.clear()
                pool = _pool(workers, anew=True)
    except BaseException:
        # Nobody waits for what is still being done.
        pool.shutdown(wait=True, kill_workers=True)
        raise


def _pool(workers: int, *, anew: bool = False) -> Any:
    """Processes that stay for a while, so that the next piece of work need not start them."""
    from joblib.externals.loky import get_reusable_executor

    return get_reusable_executor(
        max_workers=workers,
        timeout=_IDLE_S,
        kill_workers=anew,
        env=ONE_CORE,
    )


def _one(giver: int, work: Callable[[T], R], item: T) -> R:
    """One item, in a worker: it has one core, and shows no progress of its own."""
    _leave_with(giver)
    with alone():
        return work(item)


@contextlib.contextmanager
def _asked_to_end() -> Iterator[None]:
    """Leave by an exception when asked to end, so that everything is tidied up on the way.

    Only where nobody else has said what is to happen then.
    """

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if ours:
        signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@lru_cache(maxsize=2)
def _loaded(path: Path) -> Any:
    _read.add(path)
    # Written a moment ago by this very program, in a folder of its own user.
    with path.open("rb") as file:
        return pickle.load(file)


@lru_cache
def _leave_with(giver: int) -> None:
    """Have this process end soon after the one that gave it work, and take with it what it read.

    Whoever is killed can tidy nothing up: workers would stay for minutes, what is shared for ever.
    """

    def wait() -> None:
        while os.getppid() == giver:
            time.sleep(_LEAVE_S)
        for path in _read:
            shutil.rmtree(path.parent, ignore_errors=True)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
    # Ctrl-C reaches everybody; it is for the giver to say so.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

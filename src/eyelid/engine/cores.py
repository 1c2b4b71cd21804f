"""Work on many items, on all cores of this machine: by threads, or in processes of their own.

Threads do where numpy works most of the time; what spends long in Python itself needs processes.
They cost a second or two to start, so an item should be worth that.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from eyelid.engine.children import SAFE_PATH, safe_children
from eyelid.engine.engines import Engine, NotHere, Shared, held
from eyelid.engine.progress import track
from eyelid.errors import EyelidError

D = TypeVar("D")
T = TypeVar("T")
R = TypeVar("R")

ONE_CORE = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The environment of a process that shares its machine: libraries read it when imported."""
KILLED = (
    "worker processes were killed again and again, perhaps for want of memory: close other "
    "programs, or give them less to do"
)
# How long a worker may outlive the process that gave it work.
_LEAVE_S = 1.0
# Workers that have nothing to do go home after this.
_IDLE_S = 60
# Times that workers may be killed before any of them gets something done.
_MOST_KILLED = 5
# Shared values that a worker keeps beside those that it works with.
_MOST_KEPT = 2

_alone: ContextVar[bool] = ContextVar("alone", default=False)


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """What runs inside has one core: others have the rest.

    >>> with alone():
    ...     cores()
    1
    """
    from threadpoolctl import threadpool_limits

    token = _alone.set(True)
    try:
        with threadpool_limits(1):
            yield
    finally:
        _alone.reset(token)


def cores() -> int:
    """How many cores this process may use."""
    if _alone.get():
        return 1
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def in_turn(work: Callable[[T], R], items: Sequence[T], what: str) -> Iterator[R]:
    """Results of work on one core, one item after the other.

    >>> list(in_turn(abs, [-2, 3], "measuring"))
    [2, 3]
    """
    return (work(item) for item in track(items, what, total=len(items)))


def parallel(work: Callable[[T], R], items: Sequence[T], what: str) -> Iterator[R]:
    """Results in the order of the items, whichever ends first.

    Threads, since the numerical libraries let each other run; each item must do its own work on
    one core, or cores are fought over.

    >>> list(parallel(abs, [-2, 3], "measuring"))
    [2, 3]
    """
    return track(in_threads(work, items), what, total=len(items))


def in_threads(
    work: Callable[[T], R], items: Sequence[T], threads: int | None = None
) -> Iterator[R]:
    """Results of work by so many threads, without a bar; as many as there are cores by default.

    >>> list(in_threads(abs, [-2, 3], threads=2))
    [2, 3]
    """
    from threadpoolctl import threadpool_limits

    count = cores() if threads is None or cores() == 1 else threads
    if count == 1:
        # To hand each item to another thread takes longer than many an item.
        with threadpool_limits(1):
            yield from map(work, items)
        return
    # OpenMP counts its threads per thread, BLAS per process.
    calm = {"initializer": threadpool_limits, "initargs": (1,)}
    with threadpool_limits(1), ThreadPoolExecutor(count, **calm) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            for done in waiting:
                yield done.result()
        finally:
            for one in waiting:
                one.cancel()


@dataclass(frozen=True)
class _Asked:
    """What a worker answers that was not given a shared value; the item is not done.

    Attributes:
        key: the name of the value.
    """

    key: str


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
    def shared(self, value: T) -> Iterator[Shared[T]]:
        """In the memory of this process, as long as the block lasts.

        Being asked to end (SIGTERM) ends the block as Ctrl-C would, so that nothing stays.
        """
        key = secrets.token_hex(8)
        with _asked_to_end():
            held[key] = value
            try:
                yield Shared(key)
            finally:
                del held[key]


def _spread_out(
    work: Callable[[T], R], items: Sequence[T], workers: int
) -> Iterator[tuple[int, R]]:
    """Each item to a process that is free; again where it was killed, or lacked a shared value."""
    # In such an order that the first items are done first, whatever the number of workers.
    waiting = deque(range(len(items)))
    running: dict[Future[R | _Asked], int] = {}
    given: dict[int, dict[str, Any]] = {}
    killed = 0
    pool = _pool(workers)
    try:
        while waiting or running:
            try:
                while waiting and len(running) < 2 * workers:
                    place = waiting[0]
                    values = given.get(place, {})
                    # A submission may start workers.
                    with safe_children():
                        future = pool.submit(_one, work, items[place], values)
                    running[future] = place
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
                result = future.result()
                if isinstance(result, _Asked):
                    given.setdefault(place, {})[result.key] = held[result.key]
                    waiting.appendleft(place)
                    continue
                given.pop(place, None)
                killed = 0
                yield place, result
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

    with safe_children():
        return get_reusable_executor(
            max_workers=workers,
            timeout=_IDLE_S,
            kill_workers=anew,
            env=ONE_CORE | SAFE_PATH,
            # Before a worker waits for work: the one that gives it may be killed first, holding
            # locks.
            initializer=_leave_with,
            initargs=(os.getpid(),),
        )


def _one(work: Callable[[T], R], item: T, values: Mapping[str, Any]) -> R | _Asked:
    """One item, in a worker: it has one core, and shows no progress of its own."""
    for key, value in values.items():
        held[key] = value
        held.move_to_end(key)
    while len(held) > max(_MOST_KEPT, len(values)):
        held.popitem(last=False)
    with alone():
        try:
            return work(item)
        except NotHere as missing:
            return _Asked(missing.key)


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


def _leave_with(giver: int) -> None:
    """Have this process end soon after the one that started it, or now where that is gone.

    A process that is killed can tidy nothing up: workers would stay, with private data, and for
    good where it was just starting them and so held the lock without which none of them leaves.
    """

    def wait() -> None:
        while os.getppid() == giver:
            time.sleep(_LEAVE_S)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
    # Ctrl-C reaches everybody; it is for the giver to say so.
    signal.signal(signal.SIGINT, signal.SIG_IGN)

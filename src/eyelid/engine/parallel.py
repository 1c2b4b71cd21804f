"""The same work on many items, on all cores of this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import TypeVar

from eyelid.engine.progress import track

T = TypeVar("T")
R = TypeVar("R")


_alone: ContextVar[bool] = ContextVar("alone", default=False)


ONE_CORE = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""The environment of a process that shares its machine: libraries read it when imported."""


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
    """The same on one core, one after the other.

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
    """The same without a bar, by so many threads; as many as there are cores by default.

    >>> list(in_threads(abs, [-2, 3], threads=2))
    [2, 3]
    """
    from threadpoolctl import threadpool_limits

    count = cores() if threads is None or cores() == 1 else threads
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

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
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from eyelid.engine.atomic import lock
from eyelid.engine.parallel import alone, cores
from eyelid.engine.progress import track
from eyelid.errors import EyelidError

T = TypeVar("T")
R = TypeVar("R")

# How long a worker may outlive whoever gave it work.
_LEAVE_S = 1.0
_PREFIX, _OWNER = "eyelid-shared-", "owner"
# Somebody may be about to lock what is younger.
_ABANDONED_AFTER_S = 60.0
_read: set[Path] = set()


@dataclass(frozen=True)
class Shared(Generic[T]):
    """Something large that every worker reads once, instead of getting it with every item.

    Attributes:
        path: where it lies while the work goes on.
    """

    path: Path

    def get(self) -> T:
        """The thing itself."""
        found: T = _loaded(self.path)
        return found


@contextlib.contextmanager
def shared(value: T) -> Iterator[Shared[T]]:
    """Put something where workers find it, as long as the block lasts.

    Being asked to end (SIGTERM) ends the block as Ctrl-C would, so that nothing stays. What a kill
    or a power cut left is removed by whoever comes next.

    >>> with shared([1, 2, 3]) as handle:
    ...     handle.get()
    [1, 2, 3]
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    with _asked_to_end(), tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
        path = Path(folder) / "shared"
        # The lock goes with this process, whatever becomes of it.
        with (Path(folder) / _OWNER).open("w") as owner:
            lock(owner.fileno())
            with path.open("wb") as file:
                pickle.dump(value, file, protocol=pickle.HIGHEST_PROTOCOL)
            try:
                yield Shared(path)
            finally:
                _loaded.cache_clear()


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


def _remove_abandoned(home: Path) -> None:
    """Remove what killed processes of this user have left: nobody holds its lock any more."""
    for folder in home.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            about = folder.lstat()
            mine = not hasattr(os, "getuid") or about.st_uid == os.getuid()
            if not mine or time.time() - about.st_mtime < _ABANDONED_AFTER_S:
                continue
            with (folder / _OWNER).open("a") as owner:
                free = lock(owner.fileno())
            if free:
                shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=2)
def _loaded(path: Path) -> Any:
    _read.add(path)
    # Written a moment ago by this very program, in a folder of its own user.
    with path.open("rb") as file:
        return pickle.load(file)


def as_done(work: Callable[[T], R], items: Sequence[T], what: str) -> Iterator[tuple[int, R]]:
    """Place and result of each item, in the order in which they get done.

    Args:
        work: a function of a module, or a `functools.partial` of one: workers import it.
        items: small things; large ones are better `shared`.
        what: for the progress bar.

    >>> sorted(as_done(abs, [-2, 3], "measuring"))
    [(0, 2), (1, 3)]
    """
    if cores() == 1 or len(items) < 2:
        for place, item in enumerate(track(items, what, total=len(items))):
            yield place, work(item)
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    workers = Parallel(
        n_jobs=min(cores(), len(items)), return_as="generator_unordered", batch_size=1
    )
    # In such an order that the first items are done first, whatever the number of workers.
    jobs = (delayed(_placed)(os.getpid(), work, place, item) for place, item in enumerate(items))
    try:
        yield from track(workers(jobs), what, total=len(items))
    except TerminatedWorkerError:
        raise EyelidError(
            "a worker process was killed, perhaps for want of memory: close other programs, or "
            "give it less to do"
        ) from None


def spread(work: Callable[[T], R], items: Sequence[T], what: str) -> Iterator[R]:
    """Results in the order of the items, whichever is done first.

    >>> list(spread(abs, [-2, 3], "measuring"))
    [2, 3]
    """
    waiting: dict[int, R] = {}
    following = 0
    for place, result in as_done(work, items, what):
        waiting[place] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


def _placed(giver: int, work: Callable[[T], R], place: int, item: T) -> tuple[int, R]:
    """One item, in a worker: it has one core, and shows no progress of its own."""
    _leave_with(giver)
    with alone():
        return place, work(item)


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

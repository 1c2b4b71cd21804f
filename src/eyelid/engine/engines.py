"""Who does the work: processes of this machine, or a Dask cluster. Results are the same.

Whatever maps over many items goes through `as_done` or `spread`, which ask the engine of the
moment: ``with using("dask"): …`` makes it Dask's.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from eyelid.engine.progress import Advance, track
from eyelid.errors import InputError

D = TypeVar("D")
T = TypeVar("T")
R = TypeVar("R")

held: OrderedDict[str, Any] = OrderedDict()
"""What this process shares, or was given of what others share; what was asked for last is last."""


class NotHere(BaseException):
    """A shared value that this process was not given: no error, so that nobody handles it."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class Shared(Generic[T]):
    """Something large that every worker gets once, instead of with every item.

    Through a connection, never through a file: what is unpickled is code by its writer.

    Attributes:
        key: its name.
    """

    key: str

    def get(self) -> T:
        """The thing itself."""
        if self.key not in held:
            raise NotHere(self.key)
        held.move_to_end(self.key)
        value: T = held[self.key]
        return value


class Engine(ABC):
    """Workers, and how items reach them.

    Attributes:
        name: as ``--engine`` has it.
        told: who works, in a few words; empty where nobody needs to know.
    """

    name: str
    told: str = ""

    @abstractmethod
    def as_done(self, work: Callable[[T], R], items: Sequence[T]) -> Iterator[tuple[int, R]]:
        """Place and result of each item, in the order in which they get done.

        Items of workers that are killed are given to others: ``work`` may be done twice, so
        whatever it leaves behind it must leave by `eyelid.engine.runs.Run.put`.
        """

    def with_data(
        self, work: Callable[[D, T], R], data: D, items: Sequence[T]
    ) -> Iterator[tuple[int, R]]:
        """Results of work that needs the same large data with every item, as they are done."""
        with self.shared(data) as handle:
            yield from self.as_done(partial(_given, work, handle), items)

    @abstractmethod
    def shared(self, value: T) -> contextlib.AbstractContextManager[Shared[T]]:
        """Put something where workers find it, as long as the block lasts."""

    @abstractmethod
    def check_sees(self, folder: Path) -> None:
        """Fail unless all workers see a folder of this machine that is written into."""

    @abstractmethod
    def check_reads(self, path: Path) -> None:
        """Fail unless all workers see a file of the input, by its absolute path."""


_current: ContextVar[Engine | None] = ContextVar("engine", default=None)


@contextlib.contextmanager
def using(
    engine: str | Engine | None = None,
    workers: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Engine]:
    """Have what runs inside done by an engine.

    Args:
        engine: ``local``, ``dask`` (a cluster on this machine, started and stopped here) or
            ``dask:ADDRESS`` (of a scheduler: ``tls://HOST:PORT``, or ``tcp://`` on this machine);
            ``dask-unencrypted:ADDRESS`` accepts ``tcp://`` elsewhere. Without it, the engine of
            the moment.
        workers: how many processes; as many as there are cores by default. Not for a scheduler
            that runs already.
        tell: given a sentence about who works, where there is one.

    >>> with using("local", workers=2) as engine:
    ...     engine.name
    'local'
    """
    with contextlib.ExitStack() as stack:
        if engine is None and workers is None:
            made = current()
        elif isinstance(engine, Engine):
            made = engine
        else:
            made = stack.enter_context(_made("local" if engine is None else engine, workers))
        token = _current.set(made)
        stack.callback(_current.reset, token)
        if tell is not None and made.told:
            tell(made.told)
        yield made


@contextlib.contextmanager
def _made(name: str, workers: int | None) -> Iterator[Engine]:
    kind, colon, address = name.partition(":")
    if workers is not None and workers < 1:
        raise InputError(f"there must be at least 1 worker, got {workers}")
    if name == "local":
        from eyelid.engine.cores import Processes

        yield Processes(workers)
        return
    accepted = kind == "dask-unencrypted"
    if not (kind == "dask" or accepted) or (not address and (colon or accepted)):
        raise InputError(
            f"unknown engine '{name}': choose local, dask, or dask:ADDRESS of a scheduler"
        )
    if address and workers is not None:
        raise InputError(
            f"the scheduler at {address} has its own workers: leave out the number of workers"
        )
    from eyelid.engine.dask_cluster import dask_engine

    with dask_engine(address or None, workers, accepted) as made:
        yield made


def current() -> Engine:
    """The engine of the moment: processes of this machine unless something else was asked for."""
    engine = _current.get()
    if engine is not None:
        return engine
    from eyelid.engine.cores import Processes

    return Processes()


def shared(value: T) -> contextlib.AbstractContextManager[Shared[T]]:
    """Put something where workers find it, as long as the block lasts.

    >>> with shared([1, 2, 3]) as handle:
    ...     handle.get()
    [1, 2, 3]
    """
    return current().shared(value)


def as_done(work: Callable[[T], R], items: Sequence[T], what: str) -> Iterator[tuple[int, R]]:
    """Place and result of each item, in the order in which they get done.

    Args:
        work: a function of a module, or a `functools.partial` of one: workers import it.
        items: small things; large ones are better `shared`.
        what: for the progress bar.

    >>> sorted(as_done(abs, [-2, 3], "measuring"))
    [(0, 2), (1, 3)]
    """
    return track(current().as_done(work, items), what, total=len(items))


def spread(work: Callable[[T], R], items: Sequence[T], what: str) -> Iterator[R]:
    """Results in the order of the items, whichever is done first.

    >>> list(spread(abs, [-2, 3], "measuring"))
    [2, 3]
    """
    return in_order(as_done(work, items, what))


def advancing(
    work: Callable[[T], R],
    items: Sequence[T],
    weights: Sequence[float],
    advance: Advance,
    what: str,
) -> Iterator[tuple[int, R]]:
    """Place and result of each item as it gets done, with the bar of a whole run moved on by it.

    Args:
        work: as for `as_done`.
        items: as for `as_done`.
        weights: how far each moves the bar.
        advance: of the bar.
        what: is being done, for the bar.

    >>> moved = []
    >>> done = advancing(abs, [-2, 3], [1, 4], lambda by, what: moved.append(by), "measuring")
    >>> sorted(done), sum(moved)
    ([(0, 2), (1, 3)], 5)
    """
    advance(0, what)
    for place, result in current().as_done(work, items):
        advance(weights[place], what)
        yield place, result


def spread_with(work: Callable[[D, T], R], data: D, items: Sequence[T], what: str) -> Iterator[R]:
    """Results in the order of the items, of work that needs the same large data with every item.

    Only for work that numerical libraries do on one core: here threads do it, which start at once
    and need no copy of the data.

    Args:
        work: a function of a module, of the data and an item.
        data: is sent once to workers elsewhere.
        items: small things.
        what: for the progress bar.

    >>> list(spread_with(pow, 2, [3, 4], "measuring"))
    [8, 16]
    """
    return in_order(track(current().with_data(work, data, items), what, total=len(items)))


def _given(work: Callable[[D, T], R], handle: Shared[D], item: T) -> R:
    return work(handle.get(), item)


def in_order(placed: Iterator[tuple[int, R]]) -> Iterator[R]:
    """Results by their places, from whatever order they came in.

    >>> list(in_order(iter([(1, "b"), (0, "a")])))
    ['a', 'b']
    """
    waiting: dict[int, R] = {}
    following = 0
    for place, result in placed:
        waiting[place] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1

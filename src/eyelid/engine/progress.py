"""Progress on stderr, when stderr is a terminal: one bar, with rate and remaining time."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

Advance = Callable[[float, str], None]
"""Moves a bar on: by how much, and what is being done."""

_shown: ContextVar[bool] = ContextVar("progress_shown", default=False)
_part: ContextVar[Callable[[float], None] | None] = ContextVar("progress_part", default=None)


@contextlib.contextmanager
def shown(on: bool = True) -> Iterator[None]:
    """Show the progress of what runs inside; libraries stay silent unless asked."""
    token = _shown.set(on)
    try:
        yield
    finally:
        _shown.reset(token)


@contextlib.contextmanager
def one_bar(total: float, unit: str = "") -> Iterator[Advance]:
    """One bar for all that runs inside, whose own bars are left out.

    Args:
        total: how much there is to do.
        unit: of what, for the rate: ``recordings``.

    >>> with one_bar(2, "recordings") as advance:
    ...     advance(1, "reading")
    """
    if not _watched():
        yield lambda by, what: None
        return
    with shown(False), _drawn(unit) as bar:
        task = bar.add_task("starting", total=total)
        yield lambda by, what: bar.update(task, advance=by, description=what)


@contextlib.contextmanager
def part(advance: Advance, size: float, what: str, bars: int = 1) -> Iterator[None]:
    """A part of one bar: bars inside move it on, and the end of the block moves it to its end.

    Args:
        advance: of the bar.
        size: of the part.
        what: is being done.
        bars: how many there are about to be inside.

    >>> moves = []
    >>> with part(lambda by, what: moves.append(by), 6.0, "counting", bars=2):
    ...     _ = list(track([1, 2, 3], "counting", total=3))
    >>> moves
    [0, 1.0, 1.0, 1.0, 3.0]
    """
    left = size

    def moved(share: float) -> None:
        nonlocal left
        by = min(left, size * share / bars)
        left -= by
        advance(by, what)

    advance(0, what)
    token = _part.set(moved)
    try:
        yield
    finally:
        _part.reset(token)
    advance(left, what)


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Pass the items on, with a bar on a terminal.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    whole = _part.get()
    if whole is not None and total:
        for item in items:
            yield item
            whole(1 / total)
        return
    if not _watched():
        yield from items
        return
    with _drawn("") as bar:
        yield from bar.track(items, total=total, description=what)


def _watched() -> bool:
    return _shown.get() and sys.stderr.isatty()


def _drawn(unit: str) -> Progress:
    """A bar with its rate, and the time that is left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many are done in a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(
                "" if speed is None else f"{speed:,.{0 if speed >= 10 else 1}f} {unit}/s",
                style="progress.data.speed",
            )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        *([Rate()] if unit else []),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )

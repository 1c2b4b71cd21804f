"""Progress on stderr, when somebody is watching: one bar, with rate and remaining time."""

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


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Pass the items on, with a bar on a terminal.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
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
                "" if speed is None else f"{speed:,.3g} {unit}/s", style="progress.data.speed"
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

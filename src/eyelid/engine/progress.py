"""A progress bar on stderr, when somebody is watching."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_shown: ContextVar[bool] = ContextVar("progress_shown", default=False)


@contextlib.contextmanager
def shown(on: bool = True) -> Iterator[None]:
    """Show the progress of what runs inside; libraries stay silent unless asked."""
    token = _shown.set(on)
    try:
        yield
    finally:
        _shown.reset(token)


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Pass the items on, with a bar on a terminal.

    >>> list(track([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if not _shown.get() or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track as bar

    console = Console(stderr=True)
    yield from bar(items, description=what, total=total, console=console, transient=True)

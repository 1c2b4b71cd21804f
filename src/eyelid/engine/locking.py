"""Locks that go with the process that holds them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def lock(handle: int) -> bool | None:
    """Whether an open file or folder is ours alone from now on; None where there are no locks.

    Args:
        handle: of the operating system.
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until a file is ours alone, and keep it so; at once where there are no locks.

    Args:
        path: of the file, made if it is not there.
    """
    with path.open("a") as file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        yield

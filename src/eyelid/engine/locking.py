"""Locks that go with the process that holds them."""

from __future__ import annotations


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

"""Locks, and folders for private data, that go with the process that has them."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PREFIX, _OWNER = "eyelid-shared-", "owner"
# Somebody may be about to lock what is younger.
_ABANDONED_AFTER_S = 60.0


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


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A folder of this user's alone that lasts as long as the block.

    What a kill or a power cut left is removed by whoever comes next.

    >>> with own_folder() as folder:
    ...     _ = (folder / "data").write_text("private")
    >>> folder.exists()
    False
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    with (
        tempfile.TemporaryDirectory(prefix=_PREFIX) as folder,
        (Path(folder) / _OWNER).open("w") as owner,
    ):
        # The lock goes with this process, whatever becomes of it.
        lock(owner.fileno())
        yield Path(folder)


def folder_of_process() -> Path:
    """A folder like that of `own_folder` that lasts as long as this process."""
    stack = contextlib.ExitStack()
    folder = stack.enter_context(own_folder())
    atexit.register(stack.close)
    return folder


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

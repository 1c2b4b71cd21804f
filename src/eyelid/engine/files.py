"""Files of others, opened only where they are files; locks, and folders for private data.

A pipe in the place of a file is waited for until something is written into it, and a device may
never end. Whatever lies in a folder of others is opened through here, or checked here before a
library opens it by its name. Locks and private folders go with the process that has them.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

MOST_BYTES = 1 << 24
"""No description of data is larger: study.json, a certificate, a sidecar, a column map."""

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_PREFIX, _OWNER = "eyelid-shared-", "owner"
# Another process may be about to lock what is younger.
_ABANDONED_AFTER_S = 60.0


class UnfitFile(ValueError):
    """Why a path is not read: it is no file, or a larger one than belongs there."""


def check_file(path: Path) -> None:
    """Fail unless this is a file, wherever links lead.

    Args:
        path: that others may have written to.
    """
    _check_regular(os.stat(path))


def opened(path: Path) -> BufferedReader:
    """The file, open for reading; refused without waiting where it is a pipe or a device.

    Args:
        path: of a file of others.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     opened(Path(home))
    Traceback (most recent call last):
    eyelid.engine.files.UnfitFile: it is no file
    """
    # Some devices do something when they are opened.
    check_file(path)
    handle = os.open(path, _FLAGS)
    try:
        # It may be another one by now.
        _check_regular(os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def content_of(path: Path, most: int = MOST_BYTES) -> bytes:
    """All bytes of a file.

    Args:
        path: of a file of others.
        most: so many bytes it may have.
    """
    with opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise UnfitFile(f"it is larger than {most / 2**20:,.0f} MiB, and should be small")
    return content


def _check_regular(about: os.stat_result) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise UnfitFile("it is no file")


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

    What a kill or a power cut left is removed by the next process.

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

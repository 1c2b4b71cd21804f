"""Files that others made: opened without waiting, and only where they are files.

A pipe in the place of a file is waited for until somebody writes into it, and a device may never
end. Whatever lies in a folder of others is opened through here, or checked here before a library
opens it by its name.
"""

from __future__ import annotations

import os
import stat
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


class UnfitFile(ValueError):
    """Why a path is not read: it is no file, or a larger one than belongs there."""


def check_file(path: Path) -> None:
    """Fail unless this is a file, wherever links lead.

    Args:
        path: of what somebody else may have put there.
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
    eyelid.engine.foreign.UnfitFile: it is no file
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

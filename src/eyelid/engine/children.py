"""Python processes that eyelid starts, none of which imports code from the current folder.

``python -c`` and ``python -m`` put the current folder first on the path for imports. Where that
folder came from others, a ``polars.py`` in it would run.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator

SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""The environment of a child that leaves the current folder out of its path."""

_lock = threading.Lock()
_blocks = 0
_before: str | None = None


def python(*words: str) -> list[str]:
    """The command of a Python process that leaves the current folder out of its path.

    Args:
        words: what follows the interpreter.

    >>> python("-c", "pass")[1:]
    ['-P', '-c', 'pass']
    """
    return [sys.executable, "-P", *words]


@contextlib.contextmanager
def safe_children() -> Iterator[None]:
    """Have every Python process that is started inside leave the current folder out of its path.

    Some are started by libraries, which give them the environment of this process.

    >>> with safe_children():
    ...     os.environ["PYTHONSAFEPATH"]
    '1'
    """
    global _blocks, _before
    (name, value), *_ = SAFE_PATH.items()
    with _lock:
        if not _blocks:
            _before = os.environ.get(name)
        _blocks += 1
        os.environ[name] = value
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks and _before is None:
                os.environ.pop(name, None)
            elif not _blocks and _before is not None:
                os.environ[name] = _before

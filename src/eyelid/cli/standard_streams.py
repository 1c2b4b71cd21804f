"""Output that nobody reads any more: the command goes on, and its exit code is its own.

``eyelid lint study | head -1`` closes the pipe while lint still writes. That is no failure, and no
finding either: whether the reader was quicker must not decide what a script is told.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

# Windows calls a pipe without a reader an invalid argument.
_UNREAD = {errno.EPIPE, errno.ESHUTDOWN} | ({errno.EINVAL} if os.name == "nt" else set())


class Forgiving:
    """A text stream that writes to nowhere once its reader is gone.

    It is in the way of everything that is printed: a library that meets a closed pipe by itself may
    end the program with a code of its own choice (rich does, with 1).

    Args:
        stream: that is written to.
        forgives: whether a failure is none of the command's.
    """

    def __init__(self, stream: Any, forgives: Callable[[OSError], bool]) -> None:
        self._stream, self._forgives = stream, forgives

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text, or nothing."""
        try:
            return int(self._stream.write(text))
        except OSError as error:
            self._forgive(error)
            return len(text)

    def writelines(self, texts: Any) -> None:
        """Write texts one after the other."""
        for text in texts:
            self.write(text)

    def flush(self) -> None:
        """Have what was written reach its reader, if there is one."""
        try:
            self._stream.flush()
        except OSError as error:
            self._forgive(error)

    def _forgive(self, error: OSError) -> None:
        if not self._forgives(error):
            raise error
        self.leave()

    def leave(self) -> None:
        """Send what is still to come, and what waits to be written, to nowhere."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, self._stream.fileno())
        finally:
            os.close(nowhere)
        self._stream.flush()


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """Have standard output and standard error forgive a reader that is gone, in a block."""
    _fill_gaps()
    before: tuple[Any, Any] = (sys.stdout, sys.stderr)
    for stream in before:
        # A console that has no ε shows something else; it is no reason to fail.
        stream.reconfigure(errors="replace")
    out = Forgiving(before[0], lambda error: error.errno in _UNREAD)
    # Where remarks cannot be written there is nowhere to say so.
    err = Forgiving(before[1], lambda error: True)
    sys.stdout, sys.stderr = out, err
    try:
        yield
    finally:
        for stream in (out, err):
            try:
                stream.flush()
            except OSError:
                # A full disk, which the command has failed for already: not once more at the end.
                stream.leave()
        sys.stdout, sys.stderr = before


def _fill_gaps() -> None:
    """Give a stream that was closed before the start (``>&-``) to nowhere.

    Its number would otherwise go to the next file that is opened.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            number = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))

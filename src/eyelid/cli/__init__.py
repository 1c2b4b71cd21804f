"""The command line: one module per command, no logic."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import NoReturn

STOPPED = "stopped; nothing is half-written, and what was counted stays counted"
"""What Ctrl-C is answered by."""
STOPPED_CODE = 130
"""The exit code after Ctrl-C."""


def main() -> NoReturn:
    """Run the command line; every failure is one line on stderr and an exit code."""
    with _stopped_at_once():
        from eyelid.cli.application import main as run
    run()


@contextlib.contextmanager
def _stopped_at_once() -> Iterator[None]:
    """Have Ctrl-C end the process in one line, in a block of imports, where nothing is begun yet.

    An exception would not do: modules in the middle of their import may print it or take it for a
    package that is missing.
    """

    def leave(number: int, frame: object) -> None:
        with contextlib.suppress(OSError):
            os.write(2, f"eyelid: {STOPPED}\n".encode())
        os._exit(STOPPED_CODE)

    ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if ours:
        signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

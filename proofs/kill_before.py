"""Runs eyelid and kills it before its N-th step inside a folder: ``N FOLDER COMMAND…``."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

# The audit events of Python that announce a change on disk; they come before the change.
_EVENTS = {
    "open",
    "os.mkdir",
    "os.link",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.truncate",
    "os.chmod",
    "os.utime",
    "shutil.rmtree",
    "sqlite3.connect",
    "sqlite3.connect/handle",
}


_PIECE_VALUES = 4000


def main() -> None:
    """Count the steps, and stop at the last."""
    last, folder = int(sys.argv[1]), os.path.realpath(sys.argv[2])
    sys.argv = ["eyelid", *sys.argv[3:]]
    from eyelid.cli import main as eyelid
    from eyelid.engine import cores
    from eyelid.io import pieces

    # Many parts of a small study, one after the other in this process.
    pieces.PIECE_VALUES = _PIECE_VALUES
    cores.cores = lambda: 1
    steps = 0

    def watch(event: str, details: tuple[Any, ...]) -> None:
        nonlocal steps
        if event not in _EVENTS:
            return
        names = [os.fsdecode(d) for d in details if isinstance(d, str | bytes | os.PathLike)]
        inside = [name for name in names if os.path.realpath(name).startswith(folder + os.sep)]
        # Handles and names relative to a handle count as well: rmtree works with them.
        relative = event in ("os.remove", "os.rmdir") and names and not os.path.isabs(names[0])
        if not (inside or relative or event == "sqlite3.connect/handle"):
            return
        steps += 1
        if steps == last:
            shown = os.path.basename(names[0]) if names else ""
            print(f"{event} {shown}", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    eyelid()


if __name__ == "__main__":
    main()

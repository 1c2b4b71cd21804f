"""What was measured so far, so that a comparison that was stopped can go on.

One line a run, appended as it is done, in a hidden file beside the report. Killing the
process loses the runs that were on their way and no other; a last line that was cut is thrown away.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from eyelid.engine.files import lock
from eyelid.errors import InputError


class Journal:
    """Outcomes by key, kept in a file while the work goes on.

    Attributes:
        done: what an earlier run of the very same work left, by key.
    """

    def __init__(self, file: TextIO | None, done: dict[str, dict[str, Any]]) -> None:
        self._file = file
        self.done = done

    def add(self, key: str, outcome: dict[str, Any]) -> None:
        """Note that something is done."""
        if self._file is not None:
            self._file.write(json.dumps([key, outcome]) + "\n")
            self._file.flush()


@contextlib.contextmanager
def journal(folder: Path | None, work: str) -> Iterator[Journal]:
    """The journal of some work; removed when the block ends well.

    Args:
        folder: where it is kept; None, or a folder that cannot be written: nowhere.
        work: identifies the work: what is measured, how, and on what.
    """
    path = None if folder is None else folder / f".eyelid-compare-{work[:16]}.jsonl"
    try:
        file = None if path is None else _opened(path)
    except OSError:
        file = None
    if file is None or path is None:
        yield Journal(None, {})
        return
    with file:
        if lock(file.fileno()) is False:
            raise InputError(
                "this very comparison is running already: wait for it, or stop it first"
            )
        file.seek(0)
        done, whole = _noted(file.read())
        file.truncate(whole)
        yield Journal(file, done)
        path.unlink(missing_ok=True)


def _opened(path: Path) -> TextIO:
    """The file, made so that nobody else can read it."""

    def private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o600)

    return open(path, "a+", encoding="utf-8", errors="replace", opener=private)


def _noted(text: str) -> tuple[dict[str, dict[str, Any]], int]:
    """What whole lines say, and how many bytes they are; what follows a damaged one is left."""
    done: dict[str, dict[str, Any]] = {}
    whole = 0
    for line in text.splitlines(keepends=True):
        try:
            key, outcome = json.loads(line)
            # A number or a list would be another run's.
            done[key] = dict(outcome)
        except (ValueError, TypeError, RecursionError):
            break
        if not line.endswith("\n"):
            del done[key]
            break
        whole += len(line.encode())
    return done, whole

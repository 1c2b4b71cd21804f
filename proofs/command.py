"""The real command line, in processes of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def command(arguments: Sequence[str | Path]) -> list[str]:
    """How eyelid is called."""
    return [sys.executable, "-m", "eyelid", *map(str, arguments)]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Call eyelid and wait; the exit code is the caller's to judge."""
    return subprocess.run(
        command(arguments), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def answer(*arguments: str | Path) -> dict[str, Any]:
    """What eyelid prints with ``--json``; it must succeed."""
    done = run(*arguments, "--json")
    if done.returncode != 0:
        raise RuntimeError(f"eyelid {arguments[0]} ended with {done.returncode}: {done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found

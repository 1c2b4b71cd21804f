"""Parquet files: tried out where others made them, and read by their very names.

Polars takes ``[``, ``*`` and ``?`` in a name for a pattern and ``~`` for a home: a folder called
``stud[y]`` would read the study beside it. Every Parquet file is read through here.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from eyelid.engine.children import python
from eyelid.engine.parallel import ONE_CORE
from eyelid.errors import InputError
from eyelid.io.unpacking import most_bytes, too_large

ROWS_AT_ONCE = 1 << 20
"""So many rows of a large file are in memory."""

_TRIAL = f"""import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
except (ImportError, ValueError, OSError):
    pass
import polars
lazy = polars.scan_parquet(sys.argv[1], glob=False)
for first in range(0, lazy.select(polars.len()).collect().item() + 1, {ROWS_AT_ONCE}):
    lazy.slice(first, {ROWS_AT_ONCE}).collect()"""
_LONGEST_S = 600
_BYTES_A_VALUE = 8
# Tables of recordings hardly get larger; and so much the library takes for itself.
_ALWAYS, _LIBRARY = 1 << 30, 1 << 31


def scan(*files: Path) -> pl.LazyFrame:
    """The rows of files, one after the other, that are read when they are needed.

    Args:
        files: by their names, whatever characters are in them.
    """
    paths = [file.absolute() for file in files]
    return pl.scan_parquet(paths, glob=False, hive_partitioning=False)


def rows_of(*files: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of files, one after the other, in memory.

    Args:
        files: by their names, whatever characters are in them.
        columns: these alone; without it, all.
    """
    paths = [file.absolute() for file in files]
    return pl.read_parquet(
        paths,
        columns=None if columns is None else list(columns),
        glob=False,
        hive_partitioning=False,
    )


def check_size(*files: Path) -> None:
    """Fail where files of others become many times as large in memory as they are on disk.

    Args:
        files: that are read together.
    """
    lazy = scan(*files)
    rows, columns = lazy.select(pl.len()).collect().item(), len(lazy.collect_schema())
    most = max(_ALWAYS, most_bytes(sum(file.stat().st_size for file in files)))
    if rows * columns * _BYTES_A_VALUE > most:
        raise too_large(files[0], most)


def check_sound(path: Path) -> None:
    """Fail unless the file can be read.

    A damaged file can end the whole process from inside the library, which no error handling
    catches, and one made for that can fill the memory; so a process that may end tries it first.
    """
    about = path.stat()
    reason = _reason(path.resolve(), about.st_size, about.st_mtime_ns)
    if reason:
        raise InputError(f"cannot read {path}: {reason}")


@functools.lru_cache(maxsize=256)
def _reason(path: Path, size: int, changed_ns: int) -> str:
    """Why the file cannot be read; empty when it can. Size and time make a changed file another."""
    command = python("-c", _TRIAL, str(path), str(_LIBRARY + max(_ALWAYS, most_bytes(size))))
    alone = os.environ | ONE_CORE
    try:
        tried = subprocess.run(
            command, capture_output=True, timeout=_LONGEST_S, check=False, env=alone
        )
    except subprocess.TimeoutExpired:
        return f"it takes longer than {_LONGEST_S} s"
    if tried.returncode == 0:
        return ""
    return "it is no whole Parquet file, or too large for the memory; it may be damaged"

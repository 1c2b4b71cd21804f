"""Parquet files: tried out where others made them, and read by their very names.

Polars takes ``[``, ``*`` and ``?`` in a name for a pattern and ``~`` for a home: a folder called
``stud[y]`` would read the study beside it. Every Parquet file is read through here.
"""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import polars as pl

from eyelid.engine.children import python
from eyelid.engine.cores import ONE_CORE
from eyelid.engine.files import UnfitFile, check_file
from eyelid.errors import InputError, cannot_read
from eyelid.io.files import (
    most_bytes,
    too_large,
)
from eyelid.io.parquet_outline import Outline, outline_of

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
# Tables of recordings hardly get larger; and so much the library takes for itself.
_ALWAYS, _LIBRARY = 1 << 30, 1 << 31
# A text is written once, and gone through in every row: some seconds' worth.
_TEXT_ALWAYS, _TEXT_TIMES = 1 << 34, 100_000


def scan(*files: Path) -> pl.LazyFrame:
    """The rows of files, one after the other, that are read when they are needed.

    Args:
        files: by their names, whatever characters are in them.
    """
    return pl.scan_parquet(_named(files), glob=False, hive_partitioning=False)


def rows_of(*files: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of files, one after the other, in memory.

    Args:
        files: by their names, whatever characters are in them.
        columns: these alone; without it, all.
    """
    return pl.read_parquet(
        _named(files),
        columns=None if columns is None else list(columns),
        glob=False,
        hive_partitioning=False,
    )


def kept_beside(file: Path) -> set[str]:
    """Keys of what a file keeps beside its rows and columns.

    Args:
        file: by its name, whatever characters are in it.
    """
    (named,) = _named([file])
    with named.open("rb") as content:
        return set(pl.read_parquet_metadata(content))


def _named(files: Sequence[Path]) -> list[Path]:
    """What the library opens by its name: a pipe would be waited for."""
    for file in files:
        with cannot_read(file, UnfitFile):
            check_file(file)
    return [file.absolute() for file in files]


def check_size(*files: Path, columns: Collection[str] | None = None) -> None:
    """Fail where files of others become many times as large in memory as they are on disk.

    Lists and records are refused: no table of recordings has any, and they may hold anything.

    Args:
        files: that are read together.
        columns: these alone; without it, all.
    """
    outlines = {file: _outlined(file, columns) for file in files}
    for file, outline in outlines.items():
        nested = [name for name in outline.nested if columns is None or name in columns]
        if nested:
            raise InputError(
                f"{file} holds lists or records in its column '{nested[0]}', which no table of "
                "recordings has: write it without"
            )
    _check_outlines(outlines)


def check_columns(file: Path, columns: Collection[str]) -> None:
    """Fail where columns become many times as large in memory as a file is on disk.

    Args:
        file: of others.
        columns: that are neither lists nor records.
    """
    _check_outlines({file: _outlined(file, columns)})


def _check_outlines(outlines: Mapping[Path, Outline]) -> None:
    most = max(_ALWAYS, most_bytes(sum(file.stat().st_size for file in outlines)))
    size = 0
    for file, outline in outlines.items():
        size += outline.size
        if size > most:
            raise too_large(file, most)
        if outline.repeated > max(_TEXT_ALWAYS, _TEXT_TIMES * file.stat().st_size):
            raise InputError(
                f"{file} repeats long texts so often that it would be read for minutes: leave them "
                "out"
            )
        if outline.prefixed:
            # How long its values are is known when they are there.
            check_sound(file)


def _outlined(file: Path, columns: Collection[str] | None = None) -> Outline:
    with cannot_read(file, ValueError):
        return outline_of(file, columns)


def check_sound(path: Path) -> None:
    """Fail unless the file can be read.

    A damaged file can end the whole process from inside the library, which no error handling
    catches, and one made for that can fill the memory; so a process that may end tries it first.
    """
    about = path.stat()
    most = max(_ALWAYS, most_bytes(about.st_size))
    if _outlined(path).size > most:
        # Without memory the library may wait for ever, instead of saying so.
        raise too_large(path, most)
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

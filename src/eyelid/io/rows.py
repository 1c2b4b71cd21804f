"""Rows of a study where they are: slices of files, or a table that is here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from eyelid.engine.remote import RemotePlace, nearby
from eyelid.errors import cannot_read
from eyelid.io import study_folder
from eyelid.io.parquet import scan
from eyelid.io.remote import File


@dataclass(frozen=True)
class Slice:
    """Some rows of a file.

    Attributes:
        file: a Parquet file, here or elsewhere.
        first: the number of the first row.
        rows: how many.
        sha256: of the whole file, where study.json has it.
    """

    file: File
    first: int
    rows: int
    sha256: str | None = None

    def read(self, column: str | None = None) -> pl.DataFrame:
        """The rows; what is fetched must be what was looked at.

        Args:
            column: this one alone; empty names where there is none.
        """
        bad = cannot_read(self.file, OSError, ValueError, pl.exceptions.PolarsError)
        with bad, nearby(self.file) as near:
            if isinstance(self.file, RemotePlace):
                study_folder.check_content(near, self.sha256)
            rows = scan(near).slice(self.first, self.rows)
            if column is not None:
                there = column in rows.collect_schema()
                rows = rows.select(column if there else pl.repeat("", pl.len()).alias(column))
            return rows.collect()


Rows = tuple[Slice, ...] | pl.DataFrame
"""Where rows are: on disk, or here."""


def some(rows: Rows, first: int, count: int) -> Rows:
    """So many rows, from one on."""
    if isinstance(rows, pl.DataFrame):
        return rows.slice(first, count)
    found = []
    start = 0
    for each in rows:
        begin, end = max(first, start), min(first + count, start + each.rows)
        if begin < end:
            found.append(replace(each, first=each.first + begin - start, rows=end - begin))
        start += each.rows
    return tuple(found)


def together(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other; slices that follow each other in a file are one."""
    frames = [part for part in parts if isinstance(part, pl.DataFrame)]
    if frames:
        return pl.concat(frames)
    found: list[Slice] = []
    for each in (each for part in parts for each in part if isinstance(each, Slice)):
        last = found[-1] if found else None
        if last is not None and (each.file, each.first) == (last.file, last.first + last.rows):
            found[-1] = replace(last, rows=last.rows + each.rows)
        else:
            found.append(each)
    return tuple(found)


def with_columns_of(model: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the columns of another table, in its order and types.

    What is not there is null; an eye that is not known is an empty name.
    """
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit("" if name == "eye" else None))
        .cast(dtype)
        .alias(name)
        for name, dtype in model.schema.items()
    )

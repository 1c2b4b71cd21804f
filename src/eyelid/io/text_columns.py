"""The columns of a table as text, for the look at what they give away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from eyelid.io.files import most_bytes, text_table, too_large
from eyelid.io.parquet import ROWS_AT_ONCE, check_columns, scan
from eyelid.io.raw_tables import check_width

CLOCK_VALUES = 1000
"""Numbers of one column, or under one key, by which a clock is recognised."""
MOST_VALUES = 100_000
"""Values of a column of text that are looked at."""
_MEASURED = ("x", "y", "pupil", "confidence")


def texts_of_parquet(path: Path) -> Iterator[pl.Series]:
    """The columns of text, and those that may be clocks, as text; each value once.

    Of numbers only the first are looked at, so that large files need not be in memory.

    Args:
        path: of the file.
    """
    lazy = scan(path)
    check_width(path, len(lazy.collect_schema()))
    most = most_bytes(path.stat().st_size)
    count = lazy.select(pl.len()).collect().item()
    looked_at = {
        name: kind
        for name, kind in lazy.collect_schema().items()
        if not (kind.is_nested() or kind == pl.Binary or name in _MEASURED)
    }
    check_columns(path, [name for name, kind in looked_at.items() if not kind.is_numeric()])
    for name, kind in looked_at.items():
        enough = CLOCK_VALUES if kind.is_numeric() else MOST_VALUES
        values = pl.Series(name, [], kind)
        for first in range(0, count, ROWS_AT_ONCE):
            rows = lazy.select(name).slice(first, ROWS_AT_ONCE).collect()[name].drop_nulls()
            some = rows.head(enough) if kind.is_numeric() else rows.unique(maintain_order=True)
            values = pl.concat([values, some]).unique(maintain_order=True).head(enough)
            if kind == pl.String and (values.str.len_bytes().sum() or 0) > most:
                raise too_large(path, most)
            if len(values) == enough or (kind.is_numeric() and len(values)):
                break
        yield values.cast(pl.String)


def text_columns(text: str, separator: str, header: str, has_header: bool) -> pl.DataFrame:
    """The table from its header on, all text; nothing where it is no table.

    Args:
        text: of the file.
        separator: of its cells.
        header: its first line that counts.
        has_header: whether that names columns.
    """
    try:
        return text_table(
            text[text.index(header) :].encode(),
            separator=separator,
            has_header=has_header,
            infer_schema=False,
            truncate_ragged_lines=True,
            quote_char='"',
        )
    except (pl.exceptions.PolarsError, ValueError):
        return pl.DataFrame()

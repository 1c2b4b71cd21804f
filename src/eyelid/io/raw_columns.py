"""Columns of a table as it was read: text as numbers, and nothing where an eye was lost."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl


def number(column: str) -> pl.Expr:
    """A column of text as numbers, with a decimal point or comma; null where it holds none.

    >>> pl.DataFrame({"a": ["1.5", "1,5", "-"]}).select(number("a")).to_series().to_list()
    [1.5, 1.5, None]
    """
    text = pl.col(column).cast(pl.String).str.strip_chars()
    return text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).fill_nan(None)


def without(raw: pl.DataFrame, columns: Iterable[str], lost: pl.Expr) -> pl.DataFrame:
    """The table with null where ``lost`` holds, in those of the columns that it has.

    >>> raw = pl.DataFrame({"x": [3.0, 4.0], "valid": [1, 0]})
    >>> without(raw, ["x", "y"], pl.col("valid") == 0)["x"].to_list()
    [3.0, None]
    """
    seen = ~lost.fill_null(False)
    return raw.with_columns(
        pl.when(seen).then(pl.col(name)).alias(name) for name in columns if name in raw.columns
    )

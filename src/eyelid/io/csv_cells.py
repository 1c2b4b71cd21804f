"""Tables as csv that spreadsheets open: no text of others is computed, and all of it comes back.

A cell that begins with ``=``, ``+``, ``-`` or ``@`` and is no number gets a quote before it, the
name of a column too; numbers stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

_FORMULA = "=+-@\uff1d\uff0b\uff0d\uff20"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan|NaN)|[+-]")

# Few cells are looked at one by one.
_CANDIDATE = "^'*\\s*[=+\\-@\uff1d\uff0b\uff0d\uff20]|^'*[\t\r\n]"


def is_formula(text: str) -> bool:
    r"""Whether a spreadsheet would compute this text, or what is left of it without quotes.

    >>> [is_formula(text) for text in ("=1+1", "'=1+1", "-1.5", "-", "a=b", "@home")]
    [True, True, False, False, False, True]
    """
    bare = text.lstrip("'")
    begin = bare.lstrip()[:1]
    return bare[:1] in ("\t", "\r", "\n") or (
        begin != "" and begin in _FORMULA and not _NUMBER.fullmatch(bare.strip())
    )


def as_csv_cell(text: str) -> str:
    """Text that a spreadsheet takes for text; `of_csv_cell` undoes it.

    >>> as_csv_cell("=1+1"), as_csv_cell("-1.5"), of_csv_cell(as_csv_cell("=1+1"))
    ("'=1+1", '-1.5', '=1+1')
    """
    return f"'{text}" if is_formula(text) else text


def of_csv_cell(cell: str) -> str:
    """The text of a cell that `as_csv_cell` made.

    >>> of_csv_cell("'=1+1"), of_csv_cell("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and is_formula(cell) else cell


def for_spreadsheets(table: pl.DataFrame) -> pl.DataFrame:
    """The table with every text that a spreadsheet would compute behind a quote.

    Args:
        table: of any columns; only names and text change.

    >>> for_spreadsheets(pl.DataFrame({"a": ["=1+1", "b"], "=c": [-1, 2]})).rows(named=True)[0]
    {'a': "'=1+1", "'=c": -1}
    """
    return _changed(table, as_csv_cell)


def from_spreadsheets(table: pl.DataFrame) -> pl.DataFrame:
    """The table that `for_spreadsheets` was given.

    Args:
        table: as it was read.

    >>> from_spreadsheets(pl.DataFrame({"a": ["'=1+1", "'tis"]}))["a"].to_list()
    ['=1+1', "'tis"]
    """
    return _changed(table, of_csv_cell)


def csv_text(table: pl.DataFrame) -> str:
    """The table as csv.

    Args:
        table: of numbers and text.
    """
    return for_spreadsheets(table).write_csv()


def _changed(table: pl.DataFrame, change: Callable[[str], str]) -> pl.DataFrame:
    texts = [_column(table[name], change) for name, kind in table.schema.items() if _is_text(kind)]
    return table.with_columns(texts).rename(
        {name: changed for name in table.columns if (changed := change(name)) != name}
    )


def _is_text(kind: pl.DataType) -> bool:
    return kind in (pl.String, pl.Categorical, pl.Enum)


def _column(column: pl.Series, change: Callable[[str], str]) -> pl.Series:
    text = column.cast(pl.String)
    some = text.filter(text.str.contains(_CANDIDATE).fill_null(False)).unique().to_list()
    changes = {cell: changed for cell in some if (changed := change(cell)) != cell}
    return text.replace(changes) if changes else column

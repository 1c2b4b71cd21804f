"""Frames of pandas, Arrow and other libraries as frames of polars."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import polars as pl

from eyelid.errors import InputError
from eyelid.gaze.sources import library_of

_WITH_INDEX = ("pandas", "modin", "cudf")


def polars_frame(
    frame: object, what: str = "the frame", asked: Collection[str | None] = ()
) -> pl.DataFrame:
    """A frame of whatever library as one of polars; NaN is a missing value.

    Args:
        frame: of polars, pandas or Arrow, or of another library that narwhals knows.
        what: it is, for the message where it is none.
        asked: columns that are wanted: levels of the index of pandas that are called so are
            columns, too.

    >>> polars_frame({"person": ["a"]})
    Traceback (most recent call last):
    eyelid.errors.InputError: the frame is a dict: give a frame of polars, pandas or Arrow
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        import narwhals.stable.v2 as nw

        try:
            other = nw.from_native(frame, eager_only=True)  # type: ignore[call-overload]
        except TypeError:
            raise InputError(
                f"{what} is a {type(frame).__name__}: give a frame of polars, pandas or Arrow"
            ) from None
        columns = [_series(str(name), other[name]) for name in other.columns]
        frame = pl.DataFrame([*_levels(frame, asked, other.columns), *columns])
    return frame.with_columns(pl.selectors.float().fill_nan(None))


def _levels(frame: Any, asked: Collection[str | None], columns: Collection[str]) -> list[pl.Series]:
    """The levels of an index that are asked for, and are no columns."""
    if library_of(frame) not in _WITH_INDEX:
        return []
    index = frame.index
    return [
        pl.Series(level, index.get_level_values(level).to_list(), strict=False)
        for level in index.names
        if level is not None and level in asked and level not in columns
    ]


def _series(name: str, column: Any) -> pl.Series:
    """A column of another library, without that library's way to polars, which may need Arrow."""
    missing = column.is_null()
    if column.dtype.is_numeric():
        values = pl.Series(name, column.to_numpy(), strict=False)
        return values if not missing.any() else values.cast(pl.Float64).fill_nan(None)
    empty = missing.to_list()
    cells = [None if gone else value for value, gone in zip(column.to_list(), empty, strict=True)]
    return pl.Series(name, cells, strict=False)

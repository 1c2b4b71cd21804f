"""What there is to recognise in a column: a few classes, or the two sides of the median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

# A number that takes more values than this is a quantity, not a class.
_MOST_NUMERIC_CLASSES = 6


@dataclass(frozen=True, eq=False)
class Classes:
    """A column as classes.

    Attributes:
        name: of the column; of a quantity also that it was split, such as ``age above the median``.
        values: what the classes are called, in order.
        codes: for each row the place of its class in ``values``; −1 where it is missing.
    """

    name: str
    values: tuple[str, ...]
    codes: NDArray[np.intp]


def classes_of(column: pl.Series) -> Classes:
    """The classes of a column; quantities are split at their median.

    >>> ages = classes_of(pl.Series("age", [20, 25, 31, 40, 52, 60, 33, None]))
    >>> ages.name, ages.values, ages.codes.tolist()
    ('age above the median', ('no', 'yes'), [0, 0, 0, 1, 1, 1, 0, -1])
    """
    if column.dtype.is_numeric():
        numbers = column.cast(pl.Float64)
        column = numbers.set(~numbers.is_finite().fill_null(False), None)
        if column.drop_nulls().n_unique() > _MOST_NUMERIC_CLASSES:
            middle = float(np.median(column.drop_nulls().to_numpy()))
            above = (column > middle).cast(pl.Int64).fill_null(-1)
            # Where exactly would be a fact about these people.
            name = f"{column.name} above the median"
            return Classes(name, ("no", "yes"), above.to_numpy().astype(np.intp))
    else:
        column = column.cast(pl.String).replace("", None)
    values = column.drop_nulls().unique().sort().to_list()
    codes = column.replace_strict(values, range(len(values)), default=-1, return_dtype=pl.Int64)
    names = tuple(f"{value:g}" if isinstance(value, float) else value for value in values)
    return Classes(column.name, names, codes.to_numpy().astype(np.intp))

"""Digests of what a release shows: by them its certificate is known to be of these data."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.csv_cells import csv_text
from eyelid.io.study_folder import people_of
from eyelid.io.unpacking import text_table

_VALUES_AT_ONCE = 1 << 21


def output_digest(table: FeatureTable | Study) -> str:
    """SHA-256 of everything a release shows: all columns, and all about people."""
    return digest_of_release(table.people, names_of(table.data), person_digests(table.data))


def names_of(data: pl.DataFrame) -> list[str]:
    """Everybody who has rows, in order."""
    return data["person"].rle().struct.field("value").to_list()


def person_digests(data: pl.DataFrame) -> list[bytes]:
    """SHA-256 of each person's rows, in order: everything but the name, whoever is beside them."""
    said = [name for name, kind in data.schema.items() if not kind.is_numeric()]
    said.remove("person")
    measured = [name for name, kind in data.schema.items() if kind.is_numeric()]
    header = json.dumps([said, measured]).encode()
    found: list[bytes] = []
    for some in _some_people(data, len(measured)):
        values = some.select(pl.col(measured).cast(pl.Float64).fill_null(np.nan)).to_numpy()
        rows = np.ascontiguousarray(values)
        # What is said again in every row is read once.
        texts = some.select(pl.struct(pl.col("person", *said).cast(pl.String)).rle().alias("run"))
        runs = texts.unnest("run").unnest("value").select("person", *said, "len")
        first = 0
        # Many people's rows say the same.
        written = lru_cache(maxsize=64)(json.dumps)
        for _, mine in itertools.groupby(runs.iter_rows(), key=itemgetter(0)):
            told = tuple(each[1:] for each in mine)
            count = sum(each[-1] for each in told)
            digest = hashlib.sha256(header)
            digest.update(written(told).encode())
            digest.update(rows[first : first + count].data)
            found.append(digest.digest())
            first += count
    return found


def _some_people(data: pl.DataFrame, width: int) -> Iterator[pl.DataFrame]:
    """Whole people, so many at a time as fit into memory beside the data."""
    most = _VALUES_AT_ONCE // max(width, 1)
    first = rows = 0
    for count in data["person"].rle().struct.field("len"):
        if rows and rows + count > most:
            yield data.slice(first, rows)
            first, rows = first + rows, 0
        rows += count
    yield data.slice(first, rows)


def digest_of_people(names: Sequence[str], digests: Sequence[bytes]) -> bytes:
    """SHA-256 of everybody, from `person_digests` of all of them in whatever pieces.

    Args:
        names: of people, in order.
        digests: of each.
    """
    pairs = [(name, each.hex()) for name, each in zip(names, digests, strict=True)]
    return hashlib.sha256(json.dumps(pairs).encode()).digest()


def digest_of_release(people: pl.DataFrame, names: Sequence[str], digests: Sequence[bytes]) -> str:
    """SHA-256 of everything a release shows.

    Args:
        people: all about them.
        names: of those who have rows, in order.
        digests: of each, by `person_digests`.
    """
    # As whoever reads the file gets them.
    told = people_of(csv_text(people).encode())
    found = hashlib.sha256(told.cast(pl.String).write_json().encode())
    found.update(digest_of_people(names, digests))
    return found.hexdigest()


def arrays_digest(arrays: Mapping[str, NDArray[Any]], text: str = "") -> str:
    """SHA-256 of named arrays, whatever their order, and of a text beside them."""
    found = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {values.dtype.str} {values.shape}".encode())
        found.update(values.tobytes())
    return found.hexdigest()


def shows(table: FeatureTable | Study, digest: str) -> bool:
    """Whether a digest, of this or an earlier eyelid, is that of a release.

    Args:
        table: the release.
        digest: as its certificate has it.
    """
    return digest == output_digest(table) or digest == earlier_output_digest(table)


def earlier_output_digest(table: FeatureTable | Study) -> str:
    """SHA-256 of everything a release shows, as earlier versions made it: column by column."""
    return digest_of_columns(table.people, table.data.columns, lambda name: [table.data[name]])


def digest_of_columns(
    people: pl.DataFrame, names: Iterable[str], column: Callable[[str], Iterable[pl.Series]]
) -> str:
    """SHA-256 of a release, as earlier versions made it, from its columns in whatever pieces.

    Args:
        people: all about them.
        names: of the columns, in order.
        column: the pieces of a column, by its name.
    """
    told = text_table(people.write_csv().encode(), schema_overrides={"person": pl.String})
    found = hashlib.sha256(told.cast(pl.String).write_json().encode())
    for name in names:
        found.update(name.encode())
        first = True
        for part in column(name):
            if part.dtype.is_numeric():
                found.update(column_bytes(part))
                continue
            # The pieces of a list in JSON are lists: without their brackets they are one again.
            rows = part.to_frame().write_json().encode()[1:-1]
            found.update(b"[" if first else b"," if rows else b"")
            found.update(rows)
            first = False
        if not first:
            found.update(b"]")
    return found.hexdigest()


def column_bytes(column: pl.Series) -> bytes:
    """The numbers of a column, as digests have them."""
    return np.ascontiguousarray(column.cast(pl.Float64).fill_null(np.nan).to_numpy()).tobytes()

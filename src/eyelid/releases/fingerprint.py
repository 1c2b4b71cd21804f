"""Whether a certificate, an original and a release belong together."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl

from eyelid.gaze.table import FeatureTable
from eyelid.privacy.ledger import Debit, Ledger


def input_digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and features: what a release is made of."""
    found = hashlib.sha256(table.recordings.write_json().encode())
    for name in ["time_ms", *table.names]:
        found.update(_bytes(table.data[name]))
    return found.digest()


def output_digest(table: FeatureTable) -> str:
    """SHA-256 of everything a release shows: all columns, and all about people."""
    # As whoever reads the file gets them: text that looks like a number is one.
    people = pl.read_csv(table.people.write_csv().encode(), schema_overrides={"person": pl.String})
    found = hashlib.sha256(people.cast(pl.String).write_json().encode())
    for column in table.data.iter_columns():
        text = not column.dtype.is_numeric()
        found.update(column.name.encode())
        found.update(column.to_frame().write_json().encode() if text else _bytes(column))
    return found.hexdigest()


def debit_of(fingerprint: str, table: FeatureTable, book: Ledger, origin: str) -> Debit | None:
    """The debit whose release was made from this table, by the fingerprint in its certificate."""
    content = input_digest(table)
    for debit in book.debits(origin):
        if book.fingerprint(content, debit.id) == fingerprint:
            return debit
    return None


def _bytes(column: pl.Series) -> bytes:
    return np.ascontiguousarray(column.cast(pl.Float64).fill_null(np.nan).to_numpy()).tobytes()

"""Whether a certificate, an original and a release belong together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.maps.looks import Looks
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.privacy.ledger import Debit, Ledger


def input_digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and features: what a release is made of."""
    found = hashlib.sha256(table.recordings.write_json().encode())
    for name in ["time_ms", *table.names]:
        found.update(_bytes(table.data[name]))
    return found.digest()


def samples_digest(taken: Study) -> bytes:
    """SHA-256 of everything that a filter takes: whose gaze, when, and where."""
    keys = ["person", "recording", "task", "stimulus"]
    recordings = taken.data.group_by(keys, maintain_order=True).len()
    found = hashlib.sha256(recordings.write_json().encode())
    for column in taken.data.iter_columns():
        if column.dtype.is_numeric():
            found.update(column.name.encode())
            found.update(_bytes(column))
    return found.digest()


def output_digest(table: FeatureTable | Study) -> str:
    """SHA-256 of everything a release shows: all columns, and all about people."""
    # As whoever reads the file gets them: text that looks like a number is one.
    people = pl.read_csv(table.people.write_csv().encode(), schema_overrides={"person": pl.String})
    found = hashlib.sha256(people.cast(pl.String).write_json().encode())
    for column in table.data.iter_columns():
        text = not column.dtype.is_numeric()
        found.update(column.name.encode())
        found.update(column.to_frame().write_json().encode() if text else _bytes(column))
    return found.hexdigest()


def looks_digest(looks: Looks) -> bytes:
    """SHA-256 of where everybody looked: what maps are made of."""
    told = [looks.people, looks.layers, looks.width_px, looks.height_px]
    found = hashlib.sha256(json.dumps(told).encode())
    for values in (looks.person, looks.layer, looks.x_px, looks.y_px, looks.weight):
        found.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return found.digest()


def arrays_digest(arrays: Mapping[str, NDArray[Any]], text: str = "") -> str:
    """SHA-256 of named arrays, whatever their order, and of a text beside them."""
    found = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        values = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {values.dtype.str} {values.shape}".encode())
        found.update(values.tobytes())
    return found.hexdigest()


def debit_of(fingerprint: str, content: bytes, book: Ledger, origin: str) -> Debit | None:
    """The debit whose release has this digest as its input, by its certificate's fingerprint."""
    for debit in book.debits(origin):
        if book.fingerprint(content, debit.id) == fingerprint:
            return debit
    return None


def _bytes(column: pl.Series) -> bytes:
    return np.ascontiguousarray(column.cast(pl.Float64).fill_null(np.nan).to_numpy()).tobytes()

"""Digests as earlier versions wrote them, column by column: their certificates still count."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import polars as pl

from eyelid.gaze.maps.looks import Looks
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable


def input_digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and features."""
    found = hashlib.sha256(table.recordings.write_json().encode())
    for name in ["time_ms", *table.names]:
        found.update(_bytes(table.data[name]))
    return found.digest()


def samples_digest(taken: Study) -> bytes:
    """SHA-256 of everything that a filter takes."""
    keys = ["person", "recording", "task", "stimulus"]
    recordings = taken.data.group_by(keys, maintain_order=True).len()
    found = hashlib.sha256(recordings.write_json().encode())
    for column in taken.data.iter_columns():
        if column.dtype.is_numeric():
            found.update(column.name.encode())
            found.update(_bytes(column))
    return found.digest()


def looks_digest(looks: Looks) -> bytes:
    """SHA-256 of where everybody looked."""
    told = [looks.people, looks.layers, looks.width_px, looks.height_px]
    found = hashlib.sha256(json.dumps(told).encode())
    for values in (looks.person, looks.layer, looks.x_px, looks.y_px, looks.weight):
        found.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return found.digest()


def output_digest(table: FeatureTable | Study) -> str:
    """SHA-256 of everything a release shows."""
    people = pl.read_csv(table.people.write_csv().encode(), schema_overrides={"person": pl.String})
    found = hashlib.sha256(people.cast(pl.String).write_json().encode())
    for column in table.data.iter_columns():
        text = not column.dtype.is_numeric()
        found.update(column.name.encode())
        found.update(column.to_frame().write_json().encode() if text else _bytes(column))
    return found.hexdigest()


def _bytes(column: pl.Series) -> bytes:
    return np.ascontiguousarray(column.cast(pl.Float64).fill_null(np.nan).to_numpy()).tobytes()

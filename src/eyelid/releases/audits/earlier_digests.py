"""Digests as earlier versions wrote them, column by column: their certificates still count."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import column_bytes
from eyelid.io.release_folder import earlier_output_digest as output_digest

__all__ = ["input_digest", "output_digest", "points_digest", "samples_digest"]


def input_digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and features."""
    found = hashlib.sha256(table.recordings.write_json().encode())
    for name in ["time_ms", *table.names]:
        found.update(column_bytes(table.data[name]))
    return found.digest()


def samples_digest(taken: Study) -> bytes:
    """SHA-256 of everything that a filter takes."""
    keys = ["person", "recording", "task", "stimulus"]
    recordings = taken.data.group_by(keys, maintain_order=True).len()
    found = hashlib.sha256(recordings.write_json().encode())
    for column in taken.data.iter_columns():
        if column.dtype.is_numeric():
            found.update(column.name.encode())
            found.update(column_bytes(column))
    return found.digest()


def points_digest(points: GazePoints) -> bytes:
    """SHA-256 of where everybody looked."""
    facts = [points.people, points.layers, points.width_px, points.height_px]
    found = hashlib.sha256(json.dumps(facts).encode())
    for values in (points.person, points.layer, points.x_px, points.y_px, points.weight):
        found.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    return found.digest()

"""Whose each recording of a table is, of which task; the names of synthetic participants."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.table import FeatureTable

MADE_UP = "synthetic"
"""Synthetic rows are all by this name; synthetic participants are numbered after it."""


def owners_of(table: FeatureTable) -> NDArray[np.intp]:
    """The number of each recording's person, in the order of the table."""
    person = table.recordings["person"]
    return np.cumsum((person != person.shift()).fill_null(True)) - 1


def tasks_of(table: FeatureTable) -> tuple[list[str], NDArray[np.intp]]:
    """The tasks by name, and which one each recording is of; without a name, all have none."""
    recordings = table.recordings
    if "task" not in recordings.columns:
        return [""], np.zeros(len(recordings), dtype=np.intp)
    text = recordings["task"].cast(pl.String).fill_null("").to_numpy().astype(str)
    names, task = np.unique(text, return_inverse=True)
    return names.tolist(), task

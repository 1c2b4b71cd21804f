"""Whether a certificate, an original and a release belong together."""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl

from eyelid.gaze.table import FeatureTable
from eyelid.privacy.ledger import Ledger


def digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and values."""
    found = hashlib.sha256(table.recordings.write_json().encode())
    for name in ["time_ms", *table.names]:
        column = table.data[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        found.update(np.ascontiguousarray(column).data)
    return found.digest()


def made_from(fingerprint: str, table: FeatureTable) -> bool | None:
    """Whether a certificate's fingerprint is of this input; None when its ledger is not at hand."""
    origin = table.origin
    if origin is None or origin.ledger is None or not origin.ledger.exists():
        return None
    book = Ledger(origin.ledger)
    if not book.knows(origin.id):
        return None
    content = digest(table)
    return any(book.fingerprint(content, d.id) == fingerprint for d in book.debits(origin.id))

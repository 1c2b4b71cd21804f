"""Whether a certificate, an original and a release belong together."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl

from eyelid.gaze.maps.gaze_points import GazePoints
from eyelid.gaze.study import INDEX_COLUMNS, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.release_folder import (
    digest_of_people,
    names_of,
    person_digests,
)
from eyelid.privacy.ledger import Debit, Ledger

NO_LOOKS = hashlib.sha256().digest()
"""Of somebody who never looked, as `look_digests` has it."""


def input_digest(table: FeatureTable) -> bytes:
    """SHA-256 of a table's keys and features: what a release is made of."""
    rows = input_rows(table)
    return digest_of_people(names_of(rows), person_digests(rows))


def input_rows(table: FeatureTable) -> pl.DataFrame:
    """The columns of a table that a release is made of: labels are not among them."""
    keys = [name for name in INDEX_COLUMNS if name in table.data.columns]
    return table.data.select(*keys, *table.names)


def samples_digest(taken: Study) -> bytes:
    """SHA-256 of everything that a filter takes: whose gaze, when, and where."""
    return digest_of_people(names_of(taken.data), person_digests(taken.data))


def looks_digest(looks: GazePoints) -> bytes:
    """SHA-256 of where everybody looked: what maps are made of."""
    size = looks.width_px, looks.height_px
    return digest_of_looks(looks.people, looks.layers, size, look_digests(looks))


def look_digests(looks: GazePoints) -> list[bytes]:
    """SHA-256 of where each person looked, in order, whoever is beside them."""
    rows = np.column_stack([looks.layer, looks.x_px, looks.y_px, looks.weight])
    ends = np.searchsorted(looks.person, np.arange(len(looks.people) + 1)).tolist()
    return [
        hashlib.sha256(rows[first:last].tobytes()).digest()
        for first, last in itertools.pairwise(ends)
    ]


def digest_of_looks(
    people: Sequence[str], layers: Sequence[str], size: tuple[int, int], digests: Sequence[bytes]
) -> bytes:
    """SHA-256 of where everybody looked, from `look_digests` of all of them in whatever pieces.

    Args:
        people: their names, in order.
        layers: names of pictures, or stretches of time.
        size: width and height of the pictures in px.
        digests: of each person.
    """
    found = hashlib.sha256(json.dumps([layers, size]).encode())
    found.update(digest_of_people(people, digests))
    return found.digest()


def debit_of(
    fingerprint: str, contents: Sequence[Callable[[], bytes]], book: Ledger, origin: str
) -> Debit | None:
    """The debit whose release has one of these digests as its input.

    Args:
        fingerprint: as its certificate has it.
        contents: the digest of this eyelid, and of earlier ones.
        book: the ledger.
        origin: of the people.
    """
    debits = book.debits(origin)
    for content in contents:
        digest = content()
        for debit in debits:
            if book.fingerprint(digest, debit.id) == fingerprint:
                return debit
    return None

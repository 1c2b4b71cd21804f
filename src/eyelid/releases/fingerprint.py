"""Whether a certificate, an original and a release belong together."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.gaze.maps.looks import Looks
from eyelid.gaze.study import INDEX_COLUMNS, Study
from eyelid.gaze.table import FeatureTable
from eyelid.io.csv_cells import csv_text
from eyelid.io.study_folder import people_of
from eyelid.privacy.ledger import Debit, Ledger
from eyelid.releases import earlier_digests

NO_LOOKS = hashlib.sha256().digest()
"""Of somebody who never looked, as `look_digests` has it."""
_VALUES_AT_ONCE = 1 << 21


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


def looks_digest(looks: Looks) -> bytes:
    """SHA-256 of where everybody looked: what maps are made of."""
    size = looks.width_px, looks.height_px
    return digest_of_looks(looks.people, looks.layers, size, look_digests(looks))


def look_digests(looks: Looks) -> list[bytes]:
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
    return digest == output_digest(table) or digest == earlier_digests.output_digest(table)


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

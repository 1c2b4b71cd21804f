"""Whether a folder is a release, by its certificate and its data; and which files a release has.

Anyone can write a certificate.json. A folder counts as a release only where its certificate can be
read and the digest in it is that of the data beside it. Forging both can still lie: what is
said of a release is said as what its certificate says.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelid.engine.files import content_of
from eyelid.errors import EyelidError
from eyelid.gaze.study import Study
from eyelid.gaze.table import FeatureTable
from eyelid.io import study_folder
from eyelid.io.csv_cells import csv_text
from eyelid.io.files import arrays_in, text_table
from eyelid.io.parquet import check_size, rows_of
from eyelid.io.remote import here
from eyelid.io.study_folder import people_of
from eyelid.privacy.guarantee import CERTIFICATE_SCHEMA, Guarantee

_VALUES_AT_ONCE = 1 << 21


def output_digest(table: FeatureTable | Study) -> str:
    """SHA-256 of everything a release shows: all columns, and all about people."""
    return digest_of_release(table.people, names_of(table.data), person_digests(table.data))


def names_of(data: pl.DataFrame) -> list[str]:
    """Everybody who has rows, in order."""
    return data["person"].rle().struct.field("value").to_list()


def person_digests(data: pl.DataFrame) -> list[bytes]:
    """SHA-256 of each person's rows, in order: all but the name, independent of the others."""
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
            facts = tuple(each[1:] for each in mine)
            count = sum(each[-1] for each in facts)
            digest = hashlib.sha256(header)
            digest.update(written(facts).encode())
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
    # As readers of the file get them.
    known = people_of(csv_text(people).encode())
    found = hashlib.sha256(known.cast(pl.String).write_json().encode())
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
    known = text_table(people.write_csv().encode(), schema_overrides={"person": pl.String})
    found = hashlib.sha256(known.cast(pl.String).write_json().encode())
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


CERTIFICATE = "certificate.json"
RELEASED_FILES = ("study.json", "people.csv", "data.parquet", CERTIFICATE, "DATACARD.md")
"""Everything that lies in the folder of released features or samples."""
SYNTHETIC_GAZE_FILES = (*RELEASED_FILES, "events.parquet", "measured.json")
"""Everything that lies in the folder of synthetic recordings."""
STANDARD_ERRORS = "standard_errors.csv"
"""What lies there besides, where means under noise were released."""
_MEANS = ("means", "random-means")
MAP_FILES = (
    *(CERTIFICATE, "DATACARD.md", "map.npz", "heatmap.png", "overlay.png", "reliable.png"),
    *("difference.png", "areas.csv", "areas.png"),
)
"""Everything that may lie in the folder of a released heatmap."""
RESULTS, MEASURED = "results.csv", "measured.json"
"""What the hash of released results is of: what follows from what was measured, and that itself."""
RESULT_FILES = (
    *(CERTIFICATE, "DATACARD.md", RESULTS, MEASURED, "results.md", "results.tex", "methods.md"),
    *("results.svg", "results.pdf", "results.png"),
)
"""Everything that lies in the folder of released results."""
NOT_OF_THESE_DATA = "certificate.json is not of these data: they are treated as raw data"
"""The remark on data beside a certificate that cannot be read or has another hash."""
UNPROVEN = (
    "it says of itself that it is a release, or made of one: there is no certificate.json to check "
    "that by"
)
"""The remark on data that are called released, without a certificate beside them."""
# Longer than any certificate; a list of thousands of releases is some MiB.
_MOST_BYTES = 1 << 26
# What eyelid itself calls groups, synthetic participants and the mean over everybody.
_OUR_NAMES = re.compile(r"group\d+|synthetic\d*|everybody")


@dataclass(frozen=True)
class Statement:
    """What a certificate states, as far as it concerns readers of the data.

    Attributes:
        output_sha256: the hash of what was released.
        groups: names of the public groups that it lists.
        heatmap: whether it is that of a heatmap.
        events_sha256: the hash of the events of synthetic recordings.
    """

    output_sha256: str
    groups: frozenset[str] = frozenset()
    heatmap: bool = False
    events_sha256: str | None = None

    def has_named(self, person: str) -> bool:
        """Whether a name is one that eyelid gives by itself, or that of a public group.

        >>> Statement("", frozenset({"female"})).has_named("female")
        True
        >>> Statement("").has_named("group02"), Statement("").has_named("anna")
        (True, False)
        """
        return person in self.groups or _OUR_NAMES.fullmatch(person) is not None


def has_certificate(folder: Path | str) -> bool:
    """Whether anything is called certificate.json there, whatever it is."""
    return os.path.lexists(here(folder) / CERTIFICATE)


def statement(folder: Path | str) -> Statement | None:
    """What the certificate in a folder states; None where there is none, or none of eyelid's.

    Args:
        folder: of a release, or of anything else.
    """
    facts = _content(folder)
    try:
        if facts["schema"] != CERTIFICATE_SCHEMA or not isinstance(facts["mechanism"]["name"], str):
            return None
        Guarantee.from_dict(facts["guarantee"])
        groups = (facts.get("released_as") or {}).get("groups") or {}
        digest = facts["output_sha256"]
        if not isinstance(digest, str) or not isinstance(groups, dict):
            return None
        events = (facts.get("generated") or {}).get("events_sha256")
        return Statement(digest, frozenset(groups), isinstance(facts.get("map"), dict), events)
    except (EyelidError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        return None


def _content(folder: Path | str) -> Any:
    """The content of certificate.json; None where it cannot be read."""
    try:
        return json.loads(content_of(here(folder) / CERTIFICATE, _MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None


def as_certified(
    study: Study, folder: Path | str, is_shown: Callable[[str], bool] | None = None
) -> Study:
    """The study, released or not as the certificate beside it shows, with a remark where it fails.

    This decides what is a release, for everything that is read.

    Args:
        study: as it was read, checked or not; what it says of itself is not believed beside a
            certificate that is not of these data.
        folder: where it was read.
        is_shown: whether a digest is that of the data, where ``study`` has not all rows.
    """
    if not has_certificate(folder):
        notes = (UNPROVEN,) if study.released else ()
        return replace(study, notes=(*study.notes, *notes))
    stated = statement(folder)
    try:
        is_shown = is_shown or partial(shows, study)
        fits = (
            stated is not None
            and _has_its_events(study, here(folder), stated)
            and is_shown(stated.output_sha256)
        )
    except EyelidError:
        raise
    except (pl.exceptions.PolarsError, ValueError, TypeError, KeyError):
        # No release has such columns.
        fits = False
    if fits:
        return replace(study, released=True)
    return replace(study, released=False, notes=(*study.notes, NOT_OF_THESE_DATA))


def _has_its_events(study: Study, folder: Path, stated: Statement) -> bool:
    """Whether events are those that were released: none, but of synthetic recordings."""
    file = study_folder.events_file(folder)
    if stated.events_sha256 is None:
        return study.events is None and file is None
    events = study.events
    if events is None:
        if not isinstance(file, Path):
            return False
        # A stranger's file: one that no memory holds is refused, not opened.
        check_size(file)
        events = rows_of(file)
    digest = digest_of_people(names_of(events), person_digests(events)).hex()
    return digest == stated.events_sha256


def is_certified(study: Study) -> bool:
    """Whether a study is a release by more than its own word.

    Args:
        study: as it was read, or made here.
    """
    return study.released and UNPROVEN not in study.notes


def states_heatmap(folder: Path | str) -> bool:
    """Whether a folder has a certificate of a heatmap, of whichever data."""
    content = _content(folder)
    return isinstance(content, dict) and isinstance(content.get("map"), dict)


def states_results(folder: Path | str) -> bool:
    """Whether a folder has a certificate of results, of whichever data."""
    content = _content(folder)
    return isinstance(content, dict) and isinstance(content.get("results"), dict)


def states_synthetic_gaze(folder: Path | str) -> bool:
    """Whether a folder has a certificate of synthetic recordings, of whichever data."""
    content = _content(folder)
    return isinstance(content, dict) and isinstance(content.get("generated"), dict)


def _states_means(folder: Path | str) -> bool:
    """Whether a folder has a certificate of means under noise, of whichever data."""
    content = _content(folder)
    what = content.get("released_as") if isinstance(content, dict) else None
    return isinstance(what, dict) and what.get("kind") in _MEANS


def is_heatmap(folder: Path | str) -> bool:
    """Whether this is a folder that `eyelid heatmap` made, by its certificate and its data."""
    stated = statement(folder)
    if stated is None or not stated.heatmap:
        return False
    maps, tables = here(folder) / "map.npz", here(folder) / "areas.csv"
    try:
        arrays = arrays_in(maps) if maps.is_file() else {}
        text = tables.read_text(encoding="utf-8") if tables.is_file() else ""
    except (EyelidError, OSError, ValueError):
        return False
    return bool(arrays or text) and stated.output_sha256 == arrays_digest(arrays, text)


def results_digest(shown: Sequence[Sequence[Any]], text: str) -> str:
    """SHA-256 of everything that was measured for results, and of the results.

    Args:
        shown: whole numbers of each part.
        text: of the results, as csv.
    """
    return hashlib.sha256(f"{json.dumps(list(shown))}\n{text}".encode()).hexdigest()


def is_results(folder: Path | str) -> bool:
    """Whether this is a folder that `eyelid summary` made, by its certificate and its data."""
    stated = statement(folder)
    if stated is None or not states_results(folder):
        return False
    try:
        parts = json.loads(content_of(here(folder) / MEASURED, _MOST_BYTES))["parts"]
        text = content_of(here(folder) / RESULTS, _MOST_BYTES).decode()
        return stated.output_sha256 == results_digest(parts, text)
    except (EyelidError, OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def strange_files(folder: Path) -> list[str]:
    """What lies in the folder of a release and no release has, hidden or not; folders end in /.

    Args:
        folder: of a release, on this machine.
    """
    heatmap, results = states_heatmap(folder), states_results(folder)
    known = {*(MAP_FILES if heatmap else RESULT_FILES if results else RELEASED_FILES)}
    if _states_means(folder):
        known.add(STANDARD_ERRORS)
    if states_synthetic_gaze(folder):
        known |= set(SYNTHETIC_GAZE_FILES)
    found = [item for item in folder.iterdir() if item.name not in known]
    parts = folder / study_folder.DATA
    if not (heatmap or results) and parts.is_dir():
        listed = {Path(str(file)) for file, _ in study_folder.data_files(folder)}
        found += [item for item in parts.rglob("*") if item not in listed and not item.is_dir()]
    return sorted(
        item.relative_to(folder).as_posix() + "/" * (item.is_dir() and not item.is_symlink())
        for item in found
    )

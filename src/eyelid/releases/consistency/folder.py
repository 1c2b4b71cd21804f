"""Everything that a folder shows, place by place, so that two of them can be compared.

A place is a file and something in it: ``certificate.json: unprotected.2``, ``data.parquet: rows``.
Values that a mechanism released have places of their own (``values of``), apart from everything
else that a file tells. What may differ between two neighbouring studies is one list, with a reason
for each.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.gaze.study import INDEX_COLUMNS
from eyelid.io.files import array_of
from eyelid.reporting.statistics import tables

Shown = dict[str, str]
Places = Iterator[tuple[str, str]]

_KEYS = {*INDEX_COLUMNS, "eye"}
# Columns of areas.csv and results.csv that are measured.
_MEASURED = ("value", "measured", "lower", "upper", *tables.MEASURED)
_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
_PNG = b"\x89PNG\r\n\x1a\n"
# What is hard to read comes last.
_HARD_TO_READ = (
    "DATACARD.md: *",
    "*: column *",
    "*: missing values of *",
    "*: values of *",
    "*_sha256",
    "*.sha256",
    "*: pixels",
    "*: text",
    "*: content",
)
REFUSED = "exit code and message"
"""The place of a refusal: then there is no folder."""
# Letters of a difference that are shown, on each side.
_LETTERS = 90


def shown_by(folder: Path) -> Shown:
    """Everything that a folder shows, and what lies beside it.

    Args:
        folder: alone in its own folder.
    """
    found = {"folder: beside it": str(sorted(each.name for each in folder.parent.iterdir()))}
    for path in sorted([folder, *folder.rglob("*")]):
        name = path.relative_to(folder).as_posix()
        kind = "folder" if path.is_dir() else "file"
        found[f"{name}: kind"] = f"{kind}, {stat.filemode(path.stat().st_mode)}"
        if path.is_file():
            places = _READERS.get(path.suffix, _bytes)(path.read_bytes())
            found |= {f"{name}: {place}": value for place, value in places}
    return found


def apart(
    one: Mapping[str, str], other: Mapping[str, str], mechanism: str, *, coupled: bool
) -> list[str]:
    """Where two folders differ and may not, in words, the plainest first.

    Args:
        one: what the folder of a study shows.
        other: the same of a neighbour.
        mechanism: that made both.
        coupled: whether both got the same noise and no data.
    """
    for refused in (one, other):
        if REFUSED in refused and one != other:
            return [f"{REFUSED}: {_shortened(refused[REFUSED])}"]
    places = [
        place
        for place in {*one, *other}
        if one.get(place) != other.get(place) and not excepted(place, mechanism, coupled=coupled)
    ]
    return [
        f"{place}: {_differing(one[place], other[place])}"
        if place in one and place in other
        else f"{place}: in one of the folders only"
        for place in sorted(places, key=_plainness)
    ]


def _plainness(place: str) -> tuple[int, str]:
    """Words and numbers of files before rows, rows before values, and these before hashes."""
    file, _, what = place.partition(": ")
    for rank, hard in enumerate(_HARD_TO_READ, start=1):
        if fnmatchcase(f"{file}: {what}", hard):
            return rank, place
    return 0, place


def _differing(one: str, other: str) -> str:
    """The part in which two texts differ, of each."""
    first = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
    start = max(0, first - _LETTERS // 3)
    here, there = (_shortened(text[start:]) for text in (one, other))
    return f"'{here}' or '{there}'"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS]}…"


def _bytes(content: bytes) -> Places:
    yield "content", f"{len(content)} bytes, {hashlib.sha256(content).hexdigest()}"


def _json(content: bytes) -> Places:
    yield from _flat(json.loads(content), "")
    # Hashes have places of their own, by which they may be excepted.
    yield "text", _SHA256.sub("0" * 64, content.decode())


def _flat(value: Any, place: str) -> Places:
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, each in items:
            yield from _flat(each, f"{place}.{key}" if place else str(key))
    else:
        yield place, json.dumps(value, ensure_ascii=False)


def _card(content: bytes) -> Places:
    title = "beginning"
    for part in re.split(r"^(## .*)$", content.decode(), flags=re.MULTILINE):
        if part.startswith("## "):
            title = part.removeprefix("## ").strip()
            yield f"{title} (heading)", part
        else:
            yield title, part


def _parquet(content: bytes) -> Places:
    yield from _bytes(content)
    yield "metadata", str(sorted(pl.read_parquet_metadata(io.BytesIO(content)).items()))
    yield from _table(pl.read_parquet(io.BytesIO(content)), lambda name: name not in _KEYS)


def _csv(content: bytes) -> Places:
    yield from _bytes(content)
    yield from _table(pl.read_csv(content, infer_schema=False), _MEASURED.__contains__)


def _table(table: pl.DataFrame, released: Callable[[str], bool]) -> Places:
    yield "columns", str(dict(table.schema))
    yield "rows", str(table.height)
    for name in table.columns:
        column = table[name]
        if not released(name):
            yield f"column {name}", json.dumps(column.to_list(), default=str)
            continue
        yield f"values of {name}", json.dumps(column.to_list(), default=str)
        missing = column.is_null()
        if column.dtype.is_float():
            missing |= column.is_nan().fill_null(True)
        yield f"missing values of {name}", str(missing.arg_true().to_list())


def _npz(content: bytes) -> Places:
    yield from _bytes(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        yield "arrays", str(archive.namelist())
        for file in archive.namelist():
            with archive.open(file) as member:
                values = array_of(member)
            name = file.removesuffix(".npy")
            yield f"form of {name}", f"{values.dtype}, {values.shape}"
            yield f"values of {name}", hashlib.sha256(values.tobytes()).hexdigest()


def _png(content: bytes) -> Places:
    yield from _bytes(content)
    pixels, rest, first = b"", b"", len(_PNG)
    while first < len(content):
        length, kind = struct.unpack(">I4s", content[first : first + 8])
        chunk = content[first + 8 : first + 8 + length]
        first += length + 12
        if kind == b"IHDR":
            yield "size", "{} × {} px".format(*struct.unpack(">II", chunk[:8]))
            chunk = chunk[8:]
        if kind == b"IDAT":
            pixels += chunk
        else:
            rest += kind + chunk
    yield "text", rest.hex()
    yield "pixels", hashlib.sha256(pixels and zlib.decompress(pixels)).hexdigest()


_READERS: dict[str, Callable[[bytes], Places]] = {
    ".json": _json,
    ".md": _card,
    ".parquet": _parquet,
    ".csv": _csv,
    ".npz": _npz,
    ".png": _png,
}


# What may differ, and nothing else.


@dataclass(frozen=True)
class Excepted:
    """A place in a folder, or on the terminal, that may differ.

    Attributes:
        places: a pattern of places.
        why: that tells nobody more than the guarantee allows.
        always: whether it may differ even when both studies get the same noise and no data:
            released values may not then, nor may anything that is computed from them.
        mechanism: whose folders it is about; of all of them by default.
    """

    places: str
    why: str
    always: bool = False
    mechanism: str = "*"


_VALUE = "a released value: the guarantee is about it"
_HASH = "a hash of released values"
_FROM_VALUES = "computed from released values and public facts"
_LENGTHS = "lengths of synthetic recordings are measured under noise: released values"
_COUNTED = "whether hardly anyone has a feature is read off noisy counts: released values"
_DRAWN = "events of synthetic recordings are drawn after what was measured under noise"
_CHOSEN = "a private choice, which is a released value, or follows from it"
_SEATS = "which of the groups are the larger ones is left to chance"
_OWNER = "printed for the owner of the data, and in no file of the folder"

EXCEPTED = (
    Excepted(
        "certificate.json: input_sha256",
        "a fingerprint under the secret key of the ledger, which only its owner can check",
        always=True,
    ),
    Excepted("terminal: rows", _OWNER, always=True),
    Excepted("terminal: notes", _OWNER, always=True),
    Excepted("terminal: for the owner", _OWNER, always=True),
    Excepted("certificate.json: output_sha256", _HASH),
    Excepted("study.json: parts.*.sha256", _HASH),
    Excepted("data.parquet*: values of *", _VALUE),
    Excepted("data.parquet*: content", "released values, compressed: so is their size"),
    Excepted("data.parquet*: rows", _LENGTHS, mechanism="synthetic"),
    Excepted("data.parquet*: column *", _LENGTHS, mechanism="synthetic"),
    Excepted("DATACARD.md: What was done", _LENGTHS, mechanism="synthetic"),
    Excepted("DATACARD.md: How far off means are", _FROM_VALUES, mechanism="synthetic"),
    Excepted("data.parquet*: missing values of *", _COUNTED, mechanism="synthetic"),
    Excepted("people.csv: column people", _SEATS, mechanism="ksame-dp"),
    Excepted("people.csv: content", _SEATS, mechanism="ksame-dp"),
    Excepted("map.npz: values of map", _FROM_VALUES),
    Excepted("map.npz: values of measured", _FROM_VALUES),
    Excepted("map.npz: values of cells", _VALUE),
    Excepted("map.npz: content", "released values, compressed: so is their size"),
    Excepted("certificate.json: map.reliability.*", _FROM_VALUES),
    Excepted("certificate.json: map.settled*", _CHOSEN),
    Excepted("certificate.json: map.cell_sd.*", _CHOSEN, mechanism="map-gaussian"),
    Excepted("map.npz: values of standard_error", _CHOSEN, mechanism="map-gaussian"),
    Excepted("certificate.json: text", _FROM_VALUES, mechanism="map-*"),
    Excepted("DATACARD.md: What can be trusted", _FROM_VALUES),
    Excepted("terminal: says", _FROM_VALUES),
    Excepted("*.png: pixels", "released values, drawn"),
    Excepted("*.png: content", "released values, drawn and compressed: so is their size"),
    Excepted("reliable.png: size", "what can be trusted is written below the picture, in lines"),
    Excepted("measured.json: parts.*", _VALUE),
    Excepted("measured.json: numbers.*", _VALUE, mechanism="synthetic-gaze"),
    Excepted("measured.json: places.*", _VALUE, mechanism="synthetic-gaze"),
    Excepted("certificate.json: generated.events_sha256", _HASH),
    Excepted("events.parquet: *", _DRAWN, mechanism="synthetic-gaze"),
    Excepted("data.parquet*: missing values of *", _DRAWN, mechanism="synthetic-gaze"),
    Excepted("measured.json: text", _VALUE),
    Excepted("results.csv: values of *", _FROM_VALUES),
    Excepted("results.csv: missing values of *", _FROM_VALUES),
    Excepted("results.csv: content", "released values, written with as many digits as they have"),
    Excepted("results.md: *", "results.csv as a table"),
    Excepted("results.tex: content", "results.csv as a table"),
    Excepted("results.svg: content", "released values, drawn"),
    Excepted("results.pdf: content", "released values, drawn and compressed: so is their size"),
    Excepted("areas.csv: values of *", _VALUE),
    Excepted("areas.csv: content", "released values, written with as many digits as they have"),
)


def excepted(place: str, mechanism: str, *, coupled: bool) -> Excepted | None:
    """Why a place may differ; None where it may not.

    Args:
        place: in a folder.
        mechanism: its name.
        coupled: whether both studies got the same noise and no data.
    """
    return next(
        (
            each
            for each in EXCEPTED
            if (each.always or not coupled)
            and fnmatchcase(place, each.places)
            and fnmatchcase(mechanism, each.mechanism)
        ),
        None,
    )

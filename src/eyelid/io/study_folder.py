"""The study folder: study.json, people.csv, data.parquet and, where known, events.parquet."""

from __future__ import annotations

import hashlib
import math
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from eyelid.engine.atomic import new_folder, write_file
from eyelid.engine.files import check_file, opened
from eyelid.engine.remote import RemotePlace, is_plain, nearby, on_this_machine, remote_place
from eyelid.errors import EyelidError, InputError, cannot_read, first_line
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import (
    INDEX_COLUMNS,
    Derivation,
    Feature,
    Origin,
    Screen,
    Study,
    check,
)
from eyelid.gaze.table import FeatureTable
from eyelid.io.csv_cells import csv_text, from_spreadsheets
from eyelid.io.files import (
    check_cells,
    text_table,
)
from eyelid.io.parquet import check_size, rows_of
from eyelid.io.remote import File, here, is_remote, original
from eyelid.io.same_people import LEDGER_SUFFIX as LEDGER_SUFFIX
from eyelid.io.same_people import Entry, noticed, stated
from eyelid.io.study_json import SCHEMA as SCHEMA
from eyelid.io.study_json import read_about as _read_about
from eyelid.privacy.ledger import Ledger
from eyelid.spelling import json_text

DATA, EVENTS = "data.parquet", "events.parquet"
# Of parts that are gone; of more there is a number.
_MOST_NAMES = 10


def recognises(path: Path) -> bool:
    """Whether this is a study folder."""
    return (here(path) / "study.json").is_file()


def read_study(path: Path) -> Study:
    """The study in the folder ``path``."""
    path = here(path)
    check_parts(path)
    if is_remote(path):
        data = pl.concat([_part(file, sha256) for file, sha256 in data_files(path)])
    else:
        files = [(Path(str(file)), sha256) for file, sha256 in data_files(path)]
        for file, sha256 in files:
            _check_part(file, sha256)
        data = _readable(path / DATA, lambda _: _rows(*[file for file, _ in files]))
    events = events_file(path)
    return replace(
        read_head(path, typed(data)), events=None if events is None else _part(events, None)
    )


def _part(file: File, sha256: str | None) -> pl.DataFrame:
    """The rows of a file, here or elsewhere."""
    if not file.exists():
        raise _missing(file)
    with nearby(file) as near:
        _check_part(near, sha256)
        return _readable(near, _rows)


def _missing(file: File) -> InputError:
    return InputError(f"{file} is missing: a study folder needs it")


def _rows(*files: Path) -> pl.DataFrame:
    check_size(*files)
    return rows_of(*files)


def _check_part(file: Path, sha256: str | None) -> None:
    with cannot_read(file, OSError, ValueError):
        try:
            check_content(file, sha256)
        except FileNotFoundError:
            raise _missing(file) from None


def read_head(path: Path, data: pl.DataFrame) -> Study:
    """The study in the folder ``path``, with these rows and without its events.

    Args:
        path: of the folder.
        data: its rows, or none of them.
    """
    about = _read_about(path / "study.json")
    people = _readable(path / "people.csv", _read_people)
    if "person" not in people.columns:
        raise InputError(f"{path / 'people.csv'} has no column person: add it")
    screen, derived = about.get("screen"), about.get("derived")
    try:
        return Study(
            kind=about["kind"],
            data=data,
            people=people,
            units=about.get("units"),
            rate_hz=about.get("rate_hz"),
            screen=Screen(**screen) if screen else None,
            xy_origin=about.get("xy_origin"),
            pupil_unit=about.get("pupil_unit"),
            features=tuple(_feature(f) for f in about.get("features") or ()),
            step_ms=about.get("step_ms"),
            window_ms=about.get("window_ms"),
            planned_ms=about.get("planned_ms"),
            planned_rows=about.get("planned_rows"),
            origin=_origin(about, path),
            simulated=bool(about.get("simulated", False)),
            # What it says of itself; `eyelid.io.release_folder` decides.
            released=bool(about.get("released", False)),
            derived=Derivation(**derived) if derived else None,
            chosen=tuple(about.get("people_chosen") or ()),
        )
    except EyelidError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise InputError(f"{path / 'study.json'} is not as expected: {error}") from None


def events_file(path: Path) -> File | None:
    """The file that holds the events, here or elsewhere; None where there are none.

    Args:
        path: of a study folder.
    """
    file = original(path) / EVENTS
    return file if file.exists() else None


def data_files(path: Path) -> list[tuple[File, str | None]]:
    """The files that hold the rows, in order, each with its SHA-256 where study.json has it.

    Args:
        path: of a study folder.
    """
    home = original(path)
    listed = _read_about(path / "study.json").get("parts")
    if listed:
        names = [part["file"] for part in listed]
        hashes = [part["sha256"] for part in listed]
        outside = [name for name in names if not is_plain(name) or name.split("/")[0] != DATA]
        if outside:
            raise InputError(f"{path / 'study.json'}: {outside[0]!r} is no part of {DATA}")
        return [(home / name, sha256) for name, sha256 in zip(names, hashes, strict=True)]
    if not (home / DATA).is_dir():
        return [(home / DATA, None)]
    return [(file, None) for file in _parquet_files(home / DATA)]


def _parquet_files(folder: File) -> Sequence[File]:
    """All of a folder, in order."""
    if isinstance(folder, RemotePlace):
        return [folder / name for name in folder.names() if name.endswith(".parquet")]
    return sorted(folder.rglob("*.parquet"))


def check_parts(path: Path) -> None:
    """Fail unless the parts that study.json lists are those that are there."""
    home = original(path)
    if not (home / DATA).is_dir():
        return
    listed = dict(data_files(path))
    there = dict.fromkeys(_parquet_files(home / DATA))
    gone = [file.name for file in listed if file not in there]
    if gone:
        names = ", ".join(gone[:_MOST_NAMES])
        more = f" and {len(gone) - _MOST_NAMES} more" if len(gone) > _MOST_NAMES else ""
        raise InputError(
            f"{home} lacks {len(gone)} of its {len(listed)} parts, {names}{more}: bring them back"
        )
    strange = [file for file in there if file not in listed]
    if strange:
        raise InputError(
            f"{strange[0]} is no part that study.json lists: take it out of the folder"
        )


def check_content(file: Path, sha256: str | None) -> None:
    """Fail unless a part is a file, as it was written; where nobody noted that, any content is."""
    check_file(file)
    if sha256 is not None and sha256_of(file) != sha256:
        raise ValueError("its content is not what was written")


def sha256_of(file: Path) -> str:
    """The hash of a file's content."""
    with opened(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _feature(raw: dict[str, Any]) -> Feature:
    """Bounds left out become infinite, which no mechanism takes."""
    lower, upper = raw.get("lower"), raw.get("upper")
    return Feature(
        name=raw["name"],
        unit=raw.get("unit") or "",
        definition=raw.get("definition") or "",
        lower=-math.inf if lower is None else float(lower),
        upper=math.inf if upper is None else float(upper),
    )


def _origin(about: dict[str, Any], path: Path) -> Origin | None:
    name, ledger = about.get("origin"), about.get("ledger")
    if not name:
        return None
    if is_remote(path):
        # Relative to a place where no ledger can be.
        return Origin(name)
    return Origin(name, (path.resolve() / ledger).resolve() if ledger else None)


def _read_people(path: Path) -> pl.DataFrame:
    with opened(path) as file:
        return people_of(file.read())


def people_of(content: bytes) -> pl.DataFrame:
    """The table of people that stands in a file; text that looks like a number is one.

    Args:
        content: of people.csv.
    """
    check_cells(content)
    return from_spreadsheets(text_table(content, schema_overrides={"person": pl.String}))


def _readable(path: Path, reader: Callable[[Path], pl.DataFrame]) -> pl.DataFrame:
    if not path.exists():
        raise _missing(path)
    if not (path.is_file() or path.is_dir()):
        # A pipe would be waited for.
        raise InputError(f"cannot read {path}: it is no file")
    try:
        return reader(path)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"cannot read {path}, it may be truncated: {first_line(error)}") from None


def typed(data: pl.DataFrame) -> pl.DataFrame:
    """Keys as text, time as a float, and the optional keys present."""
    text = [c for c in (*INDEX_COLUMNS[:-1], "eye") if c in data.columns]
    absent = [c for c in ("task", "stimulus") if c not in data.columns]
    return data.with_columns(
        *[pl.col(c).cast(pl.String) for c in text],
        *[pl.lit("").alias(c) for c in absent],
        *[pl.col("time_ms").cast(pl.Float64)] * ("time_ms" in data.columns),
    )


def write(
    study: Study | FeatureTable,
    path: Path | str,
    *,
    same_people_as: Study | FeatureTable | Path | str | None = None,
) -> Study:
    """Write a study folder; a study without an origin gets one, with a ledger beside the folder.

    Several tables of the same people are several studies: say so with ``same_people_as``, and what
    is released from any of them adds up. Where ledgers in the folder know the same ids and nothing
    is said, the study is counted apart, without a total, and its notes say what to do.

    Args:
        study: what to write; nothing in it is protected.
        path: a new folder.
        same_people_as: a study of the same people, under the same ids, that was written before, its
            folder or recordings, or the ledger that counts them.

    Returns:
        the study as written, with its origin, and with notes on who its people are to the ledger.

    >>> import tempfile, polars as pl
    >>> rows = pl.DataFrame({"person": ["a"], "recording": ["1"], "time_ms": [0.0], "x": [1.0]})
    >>> with tempfile.TemporaryDirectory() as home:
    ...     people = pl.DataFrame({"person": ["a"]})
    ...     _ = write(Study("samples", rows, people, units="deg"), Path(home) / "s")
    ...     print(read_study(Path(home) / "s").data["x"].to_list())
    [1.0]
    """
    refuse_frame(study, "write")
    path = on_this_machine(path)
    if isinstance(study, FeatureTable):
        study = study.study()
    if not isinstance(study, Study):
        raise InputError(
            f"write takes a Study or a FeatureTable, got a {type(study).__name__}: a release is "
            "written as it is made, with release(…, out=…)"
        )
    study = check(study)
    people = study.people["person"].to_list()
    known = None if study.origin is None else Entry(study.origin)
    if same_people_as is not None:
        # It reads studies, too.
        from eyelid.io.origin import check_same_people, people_of

        other = people_of(same_people_as)
        if known is None:
            known = stated(other, people)
        else:
            check_same_people(known.origin, other)
    entry = known or Entry(Origin(uuid.uuid4().hex, ledger_beside(path)))
    origin = entry.origin
    study = replace(study, origin=origin)
    with new_folder(path) as folder:
        write_parts(study, folder, home=path)
        if known is None:
            book = Ledger.create(ledger_beside(path))
            book.register(origin.id, people)
            entry = noticed(entry, book, people, book.path.parent)
        elif origin.ledger is not None:
            Ledger.counting(origin.ledger, origin.id).check_knows(origin.id)
    return replace(study, notes=(*study.notes, *entry.notes))


def ledger_beside(path: Path) -> Path:
    """Where the ledger of an original study stands."""
    check_takes_ledger(path)
    home = on_this_machine(path).resolve()
    return home.with_name(home.name + LEDGER_SUFFIX)


def check_takes_ledger(path: Path) -> None:
    """Refuse a ledger beside a study elsewhere: nobody could lock it.

    Args:
        path: of the study.
    """
    if is_remote(path):
        raise InputError(
            f"beside {remote_place(path) or path.name} there can be no ledger, which must be a "
            "file of this machine: say where it is with `ledger=…`"
        )


def adopt(path: Path, origin: Origin) -> None:
    """Write an origin into a study folder that a person made by hand."""
    file = path / "study.json"
    about = _read_about(file) | _origin_facts(origin, path)
    write_file(file, json_text(about, allow_nan=True))


def without_origin(file: Path) -> dict[str, Any]:
    """What a study.json says, but for whose people these are and where they are counted."""
    return {
        key: value for key, value in _read_about(file).items() if key not in ("origin", "ledger")
    }


def _origin_facts(origin: Origin, home: Path) -> dict[str, str]:
    facts = {"origin": origin.id}
    if origin.ledger is not None and not is_remote(home):
        home = on_this_machine(home).resolve()
        facts["ledger"] = Path(os.path.relpath(origin.ledger.resolve(), home)).as_posix()
    return facts


def write_parts(study: Study, folder: Path, home: Path | None = None) -> None:
    """Write the files of a study into ``folder``.

    Args:
        study: what to write.
        folder: where, for the moment.
        home: where the folder will stand, for the relative path of the ledger; without it the
            study is written without its origin, as a released one must be.
    """
    write_head(study, folder, home)
    study.data.write_parquet(folder / DATA)
    if study.events is not None:
        study.events.write_parquet(folder / EVENTS)


def write_head(
    study: Study,
    folder: Path,
    home: Path | None = None,
    parts: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write study.json and people.csv into ``folder``.

    Args:
        study: what to write; its rows and events are left alone.
        folder: where, for the moment.
        home: where the folder will stand, as for `write_parts`.
        parts: the files that hold the rows, as `eyelid.io.pieces` writes them.
    """
    about: dict[str, Any] = {"schema": SCHEMA, "kind": study.kind}
    if home is not None and study.origin is not None:
        about |= _origin_facts(study.origin, home)
    about |= {
        "units": study.units,
        "rate_hz": study.rate_hz,
        "screen": asdict(study.screen) if study.screen else None,
        "xy_origin": study.xy_origin,
        "pupil_unit": study.pupil_unit,
        "step_ms": study.step_ms,
        "window_ms": study.window_ms,
        "planned_ms": study.planned_ms,
        "planned_rows": study.planned_rows,
        "features": [
            {
                key: value if not isinstance(value, float) or math.isfinite(value) else None
                for key, value in asdict(f).items()
            }
            for f in study.features
        ],
        "labels": study.labels,
        "simulated": study.simulated,
        "released": study.released,
    }
    if study.chosen:
        about["people_chosen"] = list(study.chosen)
    if study.derived is not None:
        about["derived"] = asdict(study.derived)
    if parts:
        about["parts"] = list(parts)
    (folder / "study.json").write_text(json_text(about, allow_nan=True), encoding="utf-8")
    (folder / "people.csv").write_text(csv_text(study.people), encoding="utf-8", newline="")

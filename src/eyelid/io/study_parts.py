"""The parts of a study: rows where they are, and parts of a folder, each of them written once.

A folder lists its parts when all of them are there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from eyelid.engine.remote import RemotePlace, nearby
from eyelid.engine.runs import Run
from eyelid.errors import cannot_read
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.parquet import scan
from eyelid.io.remote import File, here, versions_of
from eyelid.io.study_folder import DATA, EVENTS

R = TypeVar("R")


@dataclass(frozen=True)
class Slice:
    """Some rows of a file.

    Attributes:
        file: a Parquet file, here or elsewhere.
        first: the number of the first row.
        rows: how many.
        sha256: of the whole file, where study.json has it.
    """

    file: File
    first: int
    rows: int
    sha256: str | None = None

    def read(self, column: str | None = None) -> pl.DataFrame:
        """The rows; what is fetched must be what was looked at.

        Args:
            column: this one alone; empty names where there is none.
        """
        bad = cannot_read(self.file, OSError, ValueError, pl.exceptions.PolarsError)
        with bad, nearby(self.file) as near:
            if isinstance(self.file, RemotePlace):
                study_folder.check_content(near, self.sha256)
            rows = scan(near).slice(self.first, self.rows)
            if column is not None:
                there = column in rows.collect_schema()
                rows = rows.select(column if there else pl.repeat("", pl.len()).alias(column))
            return rows.collect()


Rows = tuple[Slice, ...] | pl.DataFrame
"""Where rows are: on disk, or here."""


def some(rows: Rows, first: int, count: int) -> Rows:
    """So many rows, from one on."""
    if isinstance(rows, pl.DataFrame):
        return rows.slice(first, count)
    found = []
    start = 0
    for each in rows:
        begin, end = max(first, start), min(first + count, start + each.rows)
        if begin < end:
            found.append(replace(each, first=each.first + begin - start, rows=end - begin))
        start += each.rows
    return tuple(found)


def together(parts: Sequence[Rows]) -> Rows:
    """Rows one after the other; slices that follow each other in a file are one."""
    frames = [part for part in parts if isinstance(part, pl.DataFrame)]
    if frames:
        return pl.concat(frames)
    found: list[Slice] = []
    for each in (each for part in parts for each in part if isinstance(each, Slice)):
        last = found[-1] if found else None
        if last is not None and (each.file, each.first) == (last.file, last.first + last.rows):
            found[-1] = replace(last, rows=last.rows + each.rows)
        else:
            found.append(each)
    return tuple(found)


def with_columns_of(model: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the columns of another table, in its order and types.

    What is not there is null; an eye that is not known is an empty name.
    """
    return rows.select(
        (pl.col(name) if name in rows.columns else pl.lit("" if name == "eye" else None))
        .cast(dtype)
        .alias(name)
        for name, dtype in model.schema.items()
    )


def input_key(source: Path | str, *settings: Any) -> str:
    """What a run depends on: the files at a place, and settings that json can tell.

    Args:
        source: a file or folder; told by names, sizes and times of change.
        settings: everything else that the output depends on.
    """
    elsewhere = versions_of(source)
    if elsewhere is not None:
        return _key(*elsewhere, settings)
    place = here(source).resolve()
    files = sorted(place.rglob("*")) if place.is_dir() else [place]
    # Ledgers change by being counted in, also those of some of the recordings; what is hidden may
    # be this very run.
    about = [
        _about(file, place)
        for file in files
        if file.is_file()
        and study_folder.LEDGER_SUFFIX not in file.name
        and not any(part.startswith(".") for part in file.relative_to(place).parts)
    ]
    return _key(str(place), about, settings)


def _key(*facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def _about(file: Path, place: Path) -> tuple[Any, ...]:
    name = str(file.relative_to(place))
    if name == "study.json":
        # A folder made by hand gets its origin from the first run.
        return (name, study_folder.without_origin(file))
    return (name, (stat := file.stat()).st_size, stat.st_mtime_ns)


def part_path(folder: Path, number: int, of: int) -> Path:
    """Where the rows of a piece are written: one file, or one of a folder of parts."""
    return folder / DATA if of == 1 else folder / DATA / f"part-{number:06d}.parquet"


def write_part(run: Run, number: int, of: int, data: Callable[[], pl.DataFrame]) -> dict[str, Any]:
    """Write the rows of a piece into the output of a run, unless they are there.

    Args:
        run: whose output.
        number: of the piece.
        of: how many pieces there are.
        data: makes the rows; not called where they are there.

    Returns:
        what study.json says about the part.
    """
    path = part_path(run.output, number, of)
    if not path.exists():
        run.put(path, lambda draft: data().write_parquet(draft))
    return part_facts(path, run.output)


def write_study_part(run: Run, number: int, of: int, make: Callable[[], Study]) -> dict[str, Any]:
    """Write the rows of some people and, before them, their events, unless they are there.

    Args:
        run: whose output.
        number: of the piece.
        of: how many pieces there are.
        make: the study of these people; not called where they are there.

    Returns:
        what study.json says about the part.
    """

    def rows() -> pl.DataFrame:
        study = make()
        if study.events is not None:
            run.put(_events_path(run, number, of), study.events.write_parquet)
        return study.data

    return write_part(run, number, of, rows)


def kept_from_first(run: Run, found: Iterable[R], of: int) -> Iterator[R]:
    """What is made of each piece; from the first one of several on there is something to lose."""
    for number, each in enumerate(found):
        if number == 0 and of > 1:
            run.keep()
        yield each


def part_facts(path: Path, folder: Path) -> dict[str, Any]:
    """What study.json says about a part: what is there, of any origin."""
    lazy = scan(path)
    rows, people = lazy.select(pl.len(), pl.col("person").n_unique()).collect().row(0)
    return {
        "file": path.relative_to(folder).as_posix(),
        "people": people,
        "rows": rows,
        "sha256": study_folder.sha256_of(path),
    }


def write_manifest(
    run: Run,
    head: Study,
    parts: Sequence[dict[str, Any]],
    home: Path | None = None,
) -> None:
    """Write study.json and people.csv, when all parts are there.

    Args:
        run: into whose output.
        head: of the study as written.
        parts: what `write_part` said of each, in order.
        home: where the folder will stand; None for a release, which has no origin.
    """
    study_folder.write_head(head, run.output, home, parts if len(parts) > 1 else ())


def _events_path(run: Run, number: int, of: int) -> Path:
    """Where the events of a piece are written: into the output, or for `join_events`."""
    return run.output / EVENTS if of == 1 else run.scratch / f"events-{number:06d}.parquet"


def join_events(run: Run, of: int) -> None:
    """Make one ``events.parquet`` of those of the pieces, without having all of them in memory.

    Args:
        run: whose scratch and output.
        of: how many pieces there are; of one, it is there already.
    """
    if of > 1:
        parts = [_events_path(run, number, of) for number in range(of)]
        # They may be gone with the scratch where the output is there.
        run.put(run.output / EVENTS, partial(_sunk, parts))


def _sunk(parts: Sequence[Path], draft: Path) -> None:
    scan(*parts).sink_parquet(draft, maintain_order=True)

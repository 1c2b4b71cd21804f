"""The parts of a study's folder: written once each, and listed when all of them are there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from eyelid.engine.runs import Run
from eyelid.gaze.study import Study
from eyelid.io import study_folder
from eyelid.io.parquet import scan
from eyelid.io.remote import here, versions_of
from eyelid.io.study_folder import DATA, EVENTS

R = TypeVar("R")


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


def _key(*told: Any) -> str:
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()


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
    """What study.json says about a part: what is there, whoever wrote it."""
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

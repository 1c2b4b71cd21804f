"""Folders of recordings larger than memory: each file is read once, by the next free worker.

Its rows are kept as Parquet in the scratch of the run; what comes back is an excerpt, by which
everything is decided that concerns all files together. A run that was stopped reads no file again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import polars as pl

from eyelid.engine.engines import advancing, in_order
from eyelid.engine.progress import Advance
from eyelid.engine.runs import Run
from eyelid.errors import EyelidError, InputError
from eyelid.gaze.study import Feature, Screen, Study, check
from eyelid.io.file_leaks import leaks_of_file
from eyelid.io.layout import Layout
from eyelid.io.leaks import Finding
from eyelid.io.parquet import rows_of, scan
from eyelid.io.part import Part, Places
from eyelid.io.pieces import (
    StudyInPieces,
    of_slices,
    recordings_of,
)
from eyelid.io.reading import Place, left_out_notes, none_read
from eyelid.io.recordings import (
    check_everybody,
    filled,
    joined,
    with_tasks,
)
from eyelid.io.remarks import rates_of
from eyelid.io.row_changes import RowChanges
from eyelid.io.study_leaks import (
    excerpt_of,
    excerpt_of_recorded,
)
from eyelid.io.study_parts import (
    Slice,
    with_columns_of,
)

R = TypeVar("R")

BUNDLE_BYTES = 1 << 25
"""Files are given away in bundles of so many bytes, which take a second or so to read."""

_MOST_FILES = 256
# Reasons that fit into a line; of more files there are names.
_MOST_REASONS = 5


@dataclass(frozen=True, eq=False)
class FileTaken:
    """What is known of a file whose rows are in the scratch.

    Attributes:
        named: its content, with an excerpt of its rows and events.
        recordings: person, recording, task, stimulus and ``rows`` of each, in order.
        rows: where they all are, those of a person together and in order.
        events: where they are; None where there are none.
        leaks: what the file gives away by itself.
    """

    named: Part
    recordings: pl.DataFrame
    rows: Path
    events: Path | None
    leaks: tuple[Finding, ...]


@dataclass(frozen=True)
class NotTaken:
    """Why a file could not be read, or what is wrong with its rows.

    Attributes:
        reason: names the file, in a line.
        leaks: what it gives away all the same; None where it was read, and its rows are unfit.
    """

    reason: str
    leaks: tuple[Finding, ...] | None


@dataclass(frozen=True, eq=False)
class Source:
    """What was read of a study to decide what becomes of it.

    Attributes:
        excerpt: of the study, or all of it.
        cut: the same in pieces; None where it is all there.
        leaks: what each file gives away by itself, of those that were looked at already.
        changes: that are still to be made to rows when they are read again.
    """

    excerpt: Study
    cut: StudyInPieces | None = None
    leaks: Mapping[Path, Sequence[Finding]] = field(default_factory=dict)
    changes: RowChanges = field(default_factory=RowChanges)


def bundles(files: Iterable[Path]) -> list[list[tuple[int, Path]]]:
    """Files with their numbers, in such portions that each is worth sending to a worker."""
    found: list[list[tuple[int, Path]]] = []
    size = 0
    for number, path in enumerate(files):
        if not found or size >= BUNDLE_BYTES or len(found[-1]) >= _MOST_FILES:
            found.append([])
            size = 0
        found[-1].append((number, path))
        with contextlib.suppress(OSError):  # its reader says why it cannot be read
            size += path.stat().st_size
    return found


def read_all(place: Place, run: Run, advance: Advance) -> list[FileTaken | NotTaken]:
    """Read every file of a folder, or find it read, in their order.

    Args:
        place: the folder.
        run: whose scratch keeps the rows.
        advance: of a bar, by shares of them.
    """
    portions = bundles(place.files)
    if len(portions) > 1:
        run.keep()
    work = partial(_taken_bundle, run, place, Path.cwd())
    return _of_bundles(work, portions, advance, "reading")


def _of_bundles(
    work: Callable[[Sequence[tuple[int, Path]]], list[R]],
    portions: Sequence[Sequence[tuple[int, Path]]],
    advance: Advance,
    what: str,
) -> list[R]:
    """What free workers make of each file, in their order."""
    files = sum(map(len, portions))
    shares = [len(portion) / files for portion in portions]
    found = in_order(advancing(work, portions, shares, advance, what))
    return [each for results in found for each in results]


def put_together(
    place: Place,
    found: Sequence[FileTaken | NotTaken],
    run: Run,
    skip_unreadable: bool,
) -> Source:
    """One study of what was read.

    Args:
        place: the folder.
        found: what `read_all` says of each file.
        run: whose scratch has the rows.
        skip_unreadable: leave out what cannot be read, and say so in the notes.
    """
    by_file = dict(zip(place.files, found, strict=True))
    bad = {file: each for file, each in by_file.items() if isinstance(each, NotTaken)}
    skipped = [(file, each.reason) for file, each in bad.items() if each.leaks is not None]
    unfit = [(file, each.reason) for file, each in bad.items() if each.leaks is None]
    taken = [each for each in found if isinstance(each, FileTaken)]
    if skipped and len(skipped) == len(found):
        raise none_read(place, skipped)
    if skipped and not skip_unreadable:
        reasons, rest = _reasons(place, skipped), "to go on with the others, add --skip-unreadable"
        if len(skipped) == 1:
            raise InputError(f"{reasons} (one of {len(found)} files; {rest})")
        raise InputError(f"cannot read {len(skipped)} of {len(found)} files: {reasons} ({rest})")
    if unfit:
        many = f"{len(unfit)} of {len(found)} files are not as they must be: "
        raise InputError(f"{many if len(unfit) > 1 else ''}{_reasons(place, unfit)}")
    named = with_tasks([each.named for each in taken], place.said)
    taken = [_placed(run, *pair) for pair in zip(taken, named, strict=True)]
    excerpt = _excerpt(taken, place.said)
    excerpt = excerpt.derive(notes=(*excerpt.notes, *left_out_notes(place, skipped, excerpt)))
    leaks = {file: each.leaks for file, each in by_file.items() if each.leaks is not None}
    return Source(excerpt, _cut(excerpt, taken, run), leaks)


def _placed(run: Run, each: FileTaken, named: Part) -> FileTaken:
    """A file that may have got another task, as it has without rows."""
    if named is each.named:
        return each
    rows = each.rows.with_suffix(".placed.parquet")
    run.put(rows, named.data.write_parquet)
    return replace(each, named=named, recordings=recordings_of(named.data), rows=rows)


def _reasons(place: Place, bad: Sequence[tuple[Path, str]]) -> str:
    """What is wrong with files, each of them named."""
    if len(bad) <= _MOST_REASONS:
        return "; ".join(reason for _, reason in bad)
    names = ", ".join(str(path.relative_to(place.path)) for path, _ in bad[1:])
    return f"{bad[0][1]}; and {names}"


def _excerpt(taken: Sequence[FileTaken], said: Layout) -> Study:
    """The study that files make, of their excerpts."""
    study = joined([each.named for each in taken], said)
    model = study.data.clear()
    texts = [name for name in study.labels if model.schema[name] == pl.String]

    def is_other(each: FileTaken) -> bool:
        own = each.named.data.schema
        return any(own.get(name, pl.String) not in (pl.String, pl.Null) for name in texts)

    if not any(is_other(each) for each in taken):
        return study
    # What is a number in one file and text in another is looked at as text.
    return joined([_as_text(each, model) if is_other(each) else each.named for each in taken], said)


def _as_text(each: FileTaken, model: pl.DataFrame) -> Part:
    rows = excerpt_of(with_columns_of(model, rows_of(each.rows)))
    return replace(each.named, data=rows)


def _cut(excerpt: Study, taken: Sequence[FileTaken], run: Run) -> StudyInPieces:
    """The study in pieces, with people and recordings in the order of the excerpt."""
    recordings = pl.concat([each.recordings for each in taken])
    places = {
        person: place
        for place, person in enumerate(excerpt.data["person"].unique(maintain_order=True))
    }
    order = pl.col("person").replace_strict(places, return_dtype=pl.Int64)
    slices: dict[str, list[Slice]] = {}
    for each in taken:
        first = 0
        people = each.recordings.group_by("person", maintain_order=True).agg(pl.col("rows").sum())
        for person, rows in people.iter_rows():
            slices.setdefault(person, []).append(Slice(each.rows, first, rows))
            first += rows
    return of_slices(
        excerpt,
        recordings.sort(order, maintain_order=True),
        slices,
        _all_events(taken, run),
    )


def _all_events(taken: Sequence[FileTaken], run: Run) -> Path | None:
    """The file with the events of all files, which may have different columns."""
    parts = [each.events for each in taken if each.events is not None]
    if not parts:
        return None
    path = run.scratch / "events-of-files.parquet"
    run.put(path, partial(_sunk, parts))
    return path


def _sunk(parts: Sequence[Path], draft: Path) -> None:
    together = pl.concat([scan(part) for part in parts], how="diagonal_relaxed")
    together.sink_parquet(draft, maintain_order=True)


def _taken_bundle(
    run: Run, place: Place, home: Path, bundle: Sequence[tuple[int, Path]]
) -> list[FileTaken | NotTaken]:
    root, names = _found_from(home, place.path), place.said.names
    if names is not None:
        place = replace(place, said=replace(place.said, names=_found_from(home, names)))
    here = replace(place, path=root)
    return [_taken(run, here, _found_from(home, path), number) for number, path in bundle]


def _found_from(home: Path, path: Path) -> Path:
    """The path by which a worker, who may be in another folder, finds a file."""
    found = path if Path.cwd() == home else home / path
    if not os.path.lexists(found):
        raise EyelidError(
            f"a worker does not see {found}: all workers need the same file system, under the same "
            "path"
        )
    return found


def _taken(run: Run, place: Place, path: Path, number: int) -> FileTaken | NotTaken:
    """What is in a file; its rows are put into the scratch, unless they are there."""
    if _file(run, number, "json").exists():
        return _found_again(run, path, number)
    leaks = tuple(leaks_of_file(path, place.path))
    try:
        named = place.read_file(path)
    except InputError as error:
        return NotTaken(str(error), leaks)
    try:
        check_everybody(named)
        named = replace(_in_order(named), rates_hz=tuple(rates_of(named)))
    except InputError as error:
        words = str(error)
        return NotTaken(words if str(path) in words else f"{path}: {words}", None)
    # Quick to write and to read rather than small: it is gone when the run has ended.
    quickly = partial(named.data.write_parquet, compression="lz4", statistics=False)
    run.put(_file(run, number, "parquet"), quickly)
    if named.events is not None:
        run.put(_file(run, number, "events.parquet"), named.events.write_parquet)
    assert named.people is not None
    run.put(_file(run, number, "people.parquet"), named.people.write_parquet)
    # The last one: where it is, the others are.
    text = json.dumps(_facts(named, leaks), default=float)
    run.put(_file(run, number, "json"), lambda draft: draft.write_text(text, encoding="utf-8"))
    return _outlined(run, number, named, leaks)


def _in_order(part: Part) -> Part:
    """A part with keys that are text, and the rows of a person together."""
    data = filled(part.data)
    if data.is_empty():
        return replace(part, data=data)
    people = data.select("person").unique(maintain_order=True)
    study = Study(part.kind, data, people, read_as=(part.format,))
    return replace(part, data=check(study).data)


def _outlined(run: Run, number: int, named: Part, leaks: tuple[Finding, ...]) -> FileTaken:
    """A file without most of its rows."""
    return FileTaken(
        excerpt_of_recorded(named),
        recordings_of(named.data),
        _file(run, number, "parquet"),
        None if named.events is None else _file(run, number, "events.parquet"),
        leaks,
    )


_TABLES = ("data", "events", "people")


def _facts(named: Part, leaks: tuple[Finding, ...]) -> dict[str, object]:
    """What is known of a file besides its tables, as json can tell it."""
    facts = {item.name: getattr(named, item.name) for item in fields(Part)}
    return {
        **{name: value for name, value in facts.items() if name not in (*_TABLES, "path", "names")},
        "screen": None if named.screen is None else asdict(named.screen),
        "features": [asdict(feature) for feature in named.features],
        "places": asdict(named.places),
        "outside": dict(named.outside),
        "leaks": [asdict(leak) for leak in leaks],
        "events": named.events is not None,
    }


def _found_again(run: Run, path: Path, number: int) -> FileTaken:
    """What an earlier attempt has read."""
    facts = json.loads(_file(run, number, "json").read_text(encoding="utf-8"))
    leaks = tuple(Finding(**leak) for leak in facts.pop("leaks"))
    facts |= {
        "notes": tuple(facts["notes"]),
        "screen": None if facts["screen"] is None else Screen(**facts["screen"]),
        "features": tuple(Feature(**feature) for feature in facts["features"]),
        "rates_hz": tuple(facts["rates_hz"]),
        "places": Places(**facts["places"]),
        "outside": {name: tuple(counts) for name, counts in facts["outside"].items()},
        "events": rows_of(_file(run, number, "events.parquet")) if facts["events"] else None,
    }
    data, people = (rows_of(_file(run, number, end)) for end in ("parquet", "people.parquet"))
    return _outlined(run, number, Part(**facts, path=path, data=data, people=people), leaks)


def _file(run: Run, number: int, ending: str) -> Path:
    return run.scratch / f"file-{number:06d}.{ending}"


def leaks_in_files(
    files: Sequence[Path], root: Path, sound: Collection[Path], advance: Advance
) -> list[list[Finding]]:
    """What files give away by themselves, in their order.

    Args:
        files: any.
        root: what they are part of.
        sound: those that were read before.
        advance: of a bar, by shares of them.
    """
    work = partial(_leaks_of_bundle, root, frozenset(sound), Path.cwd())
    return _of_bundles(work, bundles(files), advance, "looking for leaks")


def _leaks_of_bundle(
    root: Path, sound: frozenset[Path], home: Path, bundle: Sequence[tuple[int, Path]]
) -> list[list[Finding]]:
    here = _found_from(home, root)
    return [leaks_of_file(_found_from(home, path), here, sound=path in sound) for _, path in bundle]

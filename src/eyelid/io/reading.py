"""Read whatever the user points at."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from types import ModuleType

import polars as pl

from eyelid.engine.progress import track
from eyelid.errors import InputError, unknown
from eyelid.gaze.sources import refuse_frame
from eyelid.gaze.study import Study, check
from eyelid.io import bids, csv_folder, study_folder
from eyelid.io.column_map import Map, layout_of_folder, understood, with_said_facts
from eyelid.io.file_names import names_of_file
from eyelid.io.files import (
    Head,
    head_of,
)
from eyelid.io.formats import FOLDERS, FORMATS, any_table
from eyelid.io.layout import MAP_NAME, NOTHING_SAID, Layout
from eyelid.io.part import NoRows, Part
from eyelid.io.people_choice import (
    Whom,
    chosen_of,
)
from eyelid.io.recordings import (
    joined,
    named,
    named_without_rows,
)
from eyelid.io.release_folder import as_certified, is_heatmap
from eyelid.io.remote import here
from eyelid.io.row_changes import (
    RowChanges,
    by_stimulus,
    check_stimuli,
    in_degrees,
    tasks_by_stimulus,
)
from eyelid.spelling import in_quotes

# Files beside recordings that nobody takes for one.
_NOT_DATA = {".md", ".json", ".png", ".jpg", ".jpeg", ".pdf", ".toml", ".yaml", ".yml", ".py", ".m"}
_NOT_DATA |= {".html", ".docx", ".zip", ".mp4", ".avi", ".bmp", ".svg", ".log"}
_NOT_DATA |= {".r", ".rmd", ".sh", ".db", ".ini", ".ipynb", ".exe", ".dll", ".tif", ".tiff", ".gif"}
_NOT_DATA_STEMS = {"readme", "license", "licence", "changes", "changelog", "citation"}

_MOST_REASONS = 5
_ZIP = b"PK\x03\x04"


def read(
    path: Path | str,
    map: Map = None,
    *,
    units: str | None = None,
    skip_unreadable: bool = False,
    people: Whom = None,
) -> Study:
    """The study at ``path``: a study folder, a recording, or a folder of recordings.

    Args:
        path: what to read; its format is recognised by its content.
        map: what you say about columns, units, screen and file names: a dictionary, a TOML file,
            or the text that ``--map`` takes.
        units: ``deg`` to turn places on a screen into degrees.
        skip_unreadable: leave out files of a folder that cannot be read, and say so in the notes.
        people: whom it is about: names, ``every-task``, ``saw:STIMULUS``, or ``@FILE`` with one
            name a line; everybody by default. The study remembers how they were chosen.

    >>> read("no/such/place")
    Traceback (most recent call last):
    eyelid.errors.InputError: no/such/place does not exist: give a study folder or a recording
    """
    refuse_frame(path, "read")
    return chosen_of(read_place(place_of(path, map, units), skip_unreadable), people)


def read_place(place: Place, skip_unreadable: bool = False) -> Study:
    """The study at a place, in memory.

    Args:
        place: as `place_of` recognised it.
        skip_unreadable: as for `read`.
    """
    if place.is_whole:
        return place.read_whole()
    if place.path.is_dir():
        return _read_files(place, skip_unreadable)
    return joined([place.read_file(place.path)], place.said)


@dataclass(frozen=True, eq=False)
class Place:
    """What the user points at, recognised and not read yet.

    Attributes:
        path: of a study folder, a recording, or a folder of recordings.
        said: what is known about columns: what the user says, and what a map in the folder does.
        units: ``deg`` to turn places on a screen into degrees.
        format: the module that knows the whole folder; None where it is a study folder or files.
        files: the recordings, in order of name; none where the whole folder is known.
    """

    path: Path
    said: Layout
    units: str | None = None
    format: ModuleType | None = None
    files: tuple[Path, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is known as a whole: a study folder or a dataset, and no mere files."""
        return not self.files

    def read_whole(self) -> Study:
        """The study folder or dataset, in memory."""
        if self.format is None:
            whole = study_folder.read_study(self.path)
            said = replace(self.said, each_stimulus=None)
            whole = with_said_facts(whole, said, str(self.path))
        else:
            whole = self.format.read_folder(self.path, self.said)
        whole = as_certified(whole, self.path)
        if self.said.each_stimulus:
            check_stimuli(whole)
        return check(self.changes(whole.data).of(whole))

    def changes(self, recordings: pl.DataFrame) -> RowChanges:
        """What is done to rows when they are read.

        Args:
            recordings: one row each, or all rows of a study.
        """
        degrees = str(self.path) if self.units else None
        if not self.said.each_stimulus:
            return RowChanges(degrees)
        return RowChanges(degrees, True, tasks_by_stimulus(recordings))

    def read_file(self, path: Path) -> Part:
        """One of the files, with what is known about whose it is."""
        alone = len(self.files) == 1
        try:
            part = read_part(path, self.said)
        except NoRows as error:
            if alone:
                raise
            found = named_without_rows(path, error, self.said)
        else:
            part = in_degrees(part, str(path)) if self.units else part
            found = named(path, part, self.said, alone=alone)
        if not self.said.each_stimulus:
            return found
        return by_stimulus(found)


def place_of(path: Path | str, map: Map = None, units: str | None = None) -> Place:
    """What is at a path, so far as can be told without reading it.

    Args:
        path: of anything.
        map: as for `read`.
        units: as for `read`.
    """
    path, said = here(path), understood(map)
    if not path.exists():
        raise InputError(f"{path} does not exist: give a study folder or a recording")
    if units not in (None, "deg"):
        raise unknown("units to turn x and y into", str(units), ["deg"])
    check_place(path)
    if study_folder.recognises(path):
        return Place(path, said, units)
    if not path.is_dir():
        return Place(path, said, units, files=(path,))
    format = next((f for f in FOLDERS if f.recognises_folder(path)), None)
    if format is not None:
        return Place(path, said, units, format)
    if (path / MAP_NAME).is_file():
        said = layout_of_folder(path, said)
    return Place(path, said, units, files=tuple(_files_of(path, said)))


def check_place(path: Path) -> None:
    """Refuse what has nobody's gaze in it, and a part of what eyelid wrote."""
    check_not_a_part(path)
    if is_heatmap(path):
        raise InputError(_no_gaze_in(path))


def check_not_a_part(path: Path) -> None:
    """Refuse a part of what eyelid wrote: its people are counted as a whole."""
    path = here(path)
    inside = [p for p in path.resolve().parents if _is_ours(p)]
    if inside:
        raise InputError(f"{path} is part of {inside[0]}: name that folder")
    if is_heatmap(path.resolve().parent):
        raise InputError(_no_gaze_in(path.resolve().parent))


def _no_gaze_in(heatmap: Path) -> str:
    place = quote(str(heatmap))
    return (
        f"{heatmap} is a heatmap by its certificate, which fits its maps, and no recording: name "
        f"what it was made of (to attack it: {in_quotes(f'eyelid audit ORIGINAL {place}')})"
    )


def _is_ours(folder: Path) -> bool:
    return (
        study_folder.recognises(folder)
        or csv_folder.recognises_folder(folder)
        or bids.is_ours(folder)
    )


def read_part(path: Path, said: Layout = NOTHING_SAID) -> Part:
    """The content of one file, in whatever format it is."""
    head = head_of(path)
    if not head.raw.strip():
        raise NoRows(f"{path} is empty: name a file or folder with recordings")
    if said.feature_columns:
        return any_table.read_features(head, said)
    for format in FORMATS:
        if format.recognises(head):
            part: Part = format.read(head, said)
            return part
    raise InputError(f"{path} is no recording in a format that eyelid knows ({_seen(head)})")


def _seen(head: Head) -> str:
    if head.raw.startswith(_ZIP):
        return _zip_seen(head)
    if head.binary:
        return "it is binary"
    # A first line may be longer than what was looked at.
    begin = head.raw[:400].decode(head.encoding, errors="replace").strip().splitlines()
    return f"it begins with '{begin[0][:40] if begin else ''}'"


def _zip_seen(head: Head) -> str:
    """What is packed, by the names at its beginning, and what to do about it."""
    suffix = head.path.suffix.lower()
    if suffix in (".xlsx", ".xlsm", ".ods") or b"[Content_Types].xml" in head.raw:
        return "it is a workbook of a spreadsheet: export its sheet as csv, and read that"
    if suffix == ".npz" or b".npy" in head.raw:
        return (
            "it holds arrays of numpy: write them as columns of a csv or Parquet file, or make a "
            "study of them in Python, eyelid.Study('samples', …)"
        )
    return "it is a zip archive: unpack it, and name what was in it"


def _files_of(folder: Path, said: Layout) -> Sequence[Path]:
    """The recordings of a folder, which must hold nothing that eyelid wrote."""

    def found(mark: str) -> Iterator[Path]:
        # What is hidden is not read: a run that was stopped may have left it.
        return (p.parent for p in folder.rglob(mark) if not _is_hidden(p, folder))

    marks = ("study.json", MAP_NAME, bids.DESCRIPTION)
    ours = [home for mark in marks for home in found(mark) if _is_ours(home)]
    if ours:
        raise InputError(f"{folder} contains {ours[0]}, which eyelid wrote: name that folder")
    maps = [home for home in found("certificate.json") if is_heatmap(home)]
    if maps and said.glob is None:
        raise InputError(
            f"{folder} contains {maps[0]}, a released heatmap: move it elsewhere, or say which "
            "files are recordings with `map='glob=…'`"
        )
    files = recording_files(folder, said)
    if not files:
        raise InputError(f"{folder} has no recordings in it")
    return files


def _is_hidden(path: Path, folder: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def _read_files(place: Place, skip_unreadable: bool) -> Study:
    study, skipped = read_readable(place, stop=not skip_unreadable)
    return study.derive(notes=(*study.notes, *left_out_notes(place, skipped, study)))


def read_readable(place: Place, *, stop: bool = False) -> tuple[Study, list[tuple[Path, str]]]:
    """One study of the files that can be read, and the others, each with the reason.

    Args:
        place: a folder of files.
        stop: fail at the first that cannot be read.
    """
    parts: list[Part] = []
    skipped = []
    for path in track(place.files, "reading", len(place.files)):
        try:
            parts.append(place.read_file(path))
        except InputError as error:
            if stop and len(place.files) == 1:
                raise
            if stop:
                raise InputError(
                    f"{error} (one of {len(place.files)} files; --skip-unreadable of convert makes "
                    "a study of those that can be read)"
                ) from None
            skipped.append((path, str(error)))
    if not parts:
        raise none_read(place, skipped)
    return joined(parts, place.said), skipped


def left_out_notes(place: Place, skipped: Sequence[tuple[Path, str]], study: Study) -> list[str]:
    """How many files were left out, why each was, and whose people are missing with them.

    Args:
        place: the folder.
        skipped: each file that could not be read, and why.
        study: made of the others.
    """
    if not skipped:
        return []
    total = f"{len(skipped):,} of {len(place.files):,} files could not be read, and are left out"
    notes = [total, *(f"left out: {reason}" for _, reason in skipped)]
    there = set(study.people["person"])
    lost = dict.fromkeys(
        person for path, _ in skipped if (person := _person_of(path, place.said)) not in there
    )
    lost.pop("", None)
    if lost:
        have = "1 person has" if len(lost) == 1 else f"{len(lost):,} people have"
        notes.append(
            f"{have} no other file ({', '.join([*lost][:_MOST_REASONS])}"
            f"{', …' if len(lost) > _MOST_REASONS else ''}), and will be missing in releases, "
            "which shows: mend the files, or empty them (an empty file counts as a recording)"
        )
    return notes


def _person_of(path: Path, said: Layout) -> str:
    """Whose a file is by its name or the user's list; empty where they do not say."""
    try:
        return names_of_file(path, said, {}).get("person", "")
    except InputError:
        return ""


def none_read(place: Place, reasons: Sequence[tuple[Path, str]]) -> InputError:
    """The error for a folder of which no file could be read.

    What most files have in common comes first: stray files say little about the recordings.

    Args:
        place: the folder.
        reasons: each file, and why it could not be read.
    """
    alike: dict[str, list[str]] = {}
    for path, reason in reasons:
        kind = re.sub(r"'[^']*'|[\d.,]+", "", reason.replace(str(path), ""))
        alike.setdefault(kind, []).append(reason)
    commonest = sorted(alike.values(), key=len, reverse=True)[:_MOST_REASONS]
    listed = "; ".join(
        each[0] + (f" (and {len(each) - 1} more like it)" if len(each) > 1 else "")
        for each in commonest
    )
    return InputError(
        f"none of the {len(place.files)} files in {place.path} could be read: {listed}"
    )


def recording_files(folder: Path, said: Layout = NOTHING_SAID) -> Sequence[Path]:
    """The files of a folder that may be recordings, in order of name."""
    others = (said.people, said.names, said.features_file)
    besides = {os.path.realpath(p) for p in others if p is not None}

    def wanted(path: Path) -> bool:
        inside = path.relative_to(folder)
        # Of links in a circle, too.
        if _is_hidden(path, folder) or os.path.realpath(path) in besides:
            return False
        if path.suffix == study_folder.LEDGER_SUFFIX:
            return False
        if said.glob is not None:
            return fnmatch.fnmatch(inside.as_posix(), said.glob)
        return path.stem.lower() not in _NOT_DATA_STEMS

    # Links that lead nowhere, pipes and devices too: their people must not be lost in silence.
    files = sorted(path for path in folder.rglob("*") if not path.is_dir() and wanted(path))
    if said.glob is not None:
        return files
    data = [path for path in files if path.suffix.lower() not in _NOT_DATA]
    # Beside recordings JSON tells of them; alone it may hold them.
    return data or [path for path in files if path.suffix.lower() == ".json"]

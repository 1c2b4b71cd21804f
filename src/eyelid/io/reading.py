"""Read whatever a person points at."""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Sequence
from pathlib import Path

from eyelid.engine.progress import track
from eyelid.errors import InputError, unknown
from eyelid.gaze.study import Study, check
from eyelid.io import bids, csv_folder, study_folder
from eyelid.io.column_map import Map, layout_from_file, understood
from eyelid.io.degrees import in_degrees
from eyelid.io.formats import FOLDERS, FORMATS
from eyelid.io.head import Head, head_of
from eyelid.io.joining import NamedPart, joined, named
from eyelid.io.layout import MAP_NAME, NOTHING_SAID, Layout
from eyelid.io.part import Part

# Files beside recordings that nobody takes for one.
_NOT_DATA = {".md", ".json", ".png", ".jpg", ".jpeg", ".pdf", ".toml", ".yaml", ".yml", ".py", ".m"}
_NOT_DATA |= {".html", ".docx", ".zip", ".mp4", ".avi", ".bmp", ".svg", ".log"}
_NOT_DATA_STEMS = {"readme", "license", "licence", "changes", "changelog", "citation"}


def read(
    path: Path | str,
    map: Map = None,
    *,
    units: str | None = None,
    skip_unreadable: bool = False,
) -> Study:
    """The study at ``path``: a study folder, a recording, or a folder of recordings.

    Args:
        path: what to read; its format is recognised by its content.
        map: what you say about columns, units, screen and file names: a dictionary, a TOML file,
            or the text that ``--map`` takes.
        units: ``deg`` to turn places on a screen into degrees.
        skip_unreadable: leave out files of a folder that cannot be read, and say so in the notes.

    >>> read("no/such/place")
    Traceback (most recent call last):
    eyelid.errors.InputError: no/such/place does not exist: give a study folder or a recording
    """
    path, said = Path(path), understood(map)
    if not path.exists():
        raise InputError(f"{path} does not exist: give a study folder or a recording")
    if units not in (None, "deg"):
        raise unknown("units to turn x and y into", str(units), ["deg"])
    _check_not_a_part(path)
    if is_heatmap(path):
        raise InputError(_no_gaze_in(path))
    whole: Study | None = None
    if study_folder.recognises(path):
        whole = study_folder.read_study(path)
    elif path.is_dir():
        format = next((f for f in FOLDERS if f.recognises_folder(path)), None)
        if format is None:
            if (path / MAP_NAME).is_file():
                said = layout_from_file(path / MAP_NAME).under(said)
            return _read_files(path, said, units, skip_unreadable)
        whole = format.read_folder(path, said)
    if whole is not None:
        return check(in_degrees(whole, str(path)) if units else whole)
    return joined([_read_named(path, said, units, alone=True)], said)


def _check_not_a_part(path: Path) -> None:
    """Refuse a part of what eyelid wrote: its people are counted as a whole."""
    inside = [p for p in path.resolve().parents if _is_ours(p)]
    if inside:
        raise InputError(f"{path} is part of {inside[0]}: name that folder")
    if is_heatmap(path.resolve().parent):
        raise InputError(_no_gaze_in(path.resolve().parent))


def is_heatmap(path: Path | str) -> bool:
    """Whether this is a folder that `eyelid heatmap` made."""
    file = Path(path) / "certificate.json"
    try:
        return file.is_file() and isinstance(json.loads(file.read_bytes()).get("map"), dict)
    except (OSError, ValueError, AttributeError):
        return False


def _no_gaze_in(heatmap: Path) -> str:
    return (
        f"{heatmap} is a released heatmap, with nobody's gaze in it: name what it was made of (to "
        f"attack it: 'eyelid audit ORIGINAL {heatmap}')"
    )


def _is_ours(folder: Path) -> bool:
    return (
        study_folder.recognises(folder)
        or csv_folder.recognises_folder(folder)
        or bids.is_ours(folder)
    )


def _read_named(path: Path, said: Layout, units: str | None, *, alone: bool) -> NamedPart:
    part = read_part(path, said)
    return named(path, in_degrees(part, str(path)) if units else part, said, alone=alone)


def read_part(path: Path, said: Layout = NOTHING_SAID) -> Part:
    """The content of one file, in whatever format it is."""
    head = head_of(path)
    if not head.raw.strip():
        raise InputError(f"{path} is empty")
    for format in FORMATS:
        if format.recognises(head):
            part: Part = format.read(head, said)
            return part
    raise InputError(f"{path} is no recording in a format that eyelid knows ({_seen(head)})")


def _seen(head: Head) -> str:
    if head.binary:
        return "it is binary"
    first = next((line.strip() for line in head.lines if line.strip()), "")
    return f"it begins with '{first[:40]}'"


def _read_files(folder: Path, said: Layout, units: str | None, skip_unreadable: bool) -> Study:
    marks = ("study.json", MAP_NAME, bids.DESCRIPTION)
    ours = [p.parent for mark in marks for p in folder.rglob(mark) if _is_ours(p.parent)]
    if ours:
        raise InputError(f"{folder} contains {ours[0]}, which eyelid wrote: name that folder")
    maps = [p.parent for p in folder.rglob("certificate.json") if is_heatmap(p.parent)]
    if maps and said.glob is None:
        raise InputError(
            f"{folder} contains {maps[0]}, a released heatmap: move it elsewhere, or say which "
            "files are recordings with --map glob=…"
        )
    files = recording_files(folder, said)
    if not files:
        raise InputError(f"{folder} has no recordings in it")
    parts: list[NamedPart] = []
    skipped = []
    for path in track(files, "reading", len(files)):
        try:
            parts.append(_read_named(path, said, units, alone=len(files) == 1))
        except InputError as error:
            if not skip_unreadable:
                raise InputError(
                    f"{error} (one of {len(files)} files; to go on with the others, make a study "
                    f"of them: 'eyelid convert {folder} STUDY --skip-unreadable')"
                ) from None
            skipped.append(f"left out: {error}")
    if not parts:
        raise InputError(f"none of the {len(files)} files in {folder} could be read: {skipped[0]}")
    study = joined(parts, said)
    return study.derive(notes=(*study.notes, *skipped))


def recording_files(folder: Path, said: Layout = NOTHING_SAID) -> Sequence[Path]:
    """The files of a folder that may be recordings, in order of name."""
    besides = {p.resolve() for p in (said.people, said.names) if p is not None}

    def wanted(path: Path) -> bool:
        inside = path.relative_to(folder)
        if any(part.startswith(".") for part in inside.parts) or path.resolve() in besides:
            return False
        if path.suffix == study_folder.LEDGER_SUFFIX:
            return False
        if said.glob is not None:
            return fnmatch.fnmatch(inside.as_posix(), said.glob)
        return path.suffix.lower() not in _NOT_DATA and path.stem.lower() not in _NOT_DATA_STEMS

    return sorted(path for path in folder.rglob("*") if path.is_file() and wanted(path))

"""Studies and recordings elsewhere, such as ``s3://bucket/study``, read through fsspec.

Of a study folder what is small is copied to this machine; the worker of a piece fetches its part
and forgets it. Other recordings are copied as they are, for as long as this process lasts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from eyelid.engine.files import folder_of_process
from eyelid.engine.progress import track
from eyelid.engine.remote import (
    RemotePlace,
    check_finished,
    is_plain,
    on_this_machine,
    remote_place,
)
from eyelid.errors import InputError

_STUDY, _ROWS = "study.json", ".parquet"
# Commands look at the same place several times.
_TRUSTED_S = 30.0

File = Path | RemotePlace
"""Here or elsewhere: both have ``/``, ``name``, ``exists``, ``is_file`` and ``is_dir``."""


@dataclass(frozen=True)
class _Copy:
    """What stands on this machine for a place.

    Attributes:
        path: of the copy.
        versions: of the files when they were copied, by name.
        seen_s: when they were last known to be of these versions.
    """

    path: Path
    versions: tuple[tuple[str, str], ...]
    seen_s: float


_copies: dict[RemotePlace, _Copy] = {}
_stands_for: dict[Path, RemotePlace] = {}


def here(path: Path | str) -> Path:
    """Where this machine finds what the user points at; a path of this machine stays as it is.

    Args:
        path: an address, also as a `Path` spells it, or a path. A ``file:`` address is a path.

    >>> here("study") == Path("study"), here("file:///study") == Path("/study")
    (True, True)
    """
    path = on_this_machine(path)
    place = remote_place(path)
    if place is None:
        return path
    known, now_s = _copies.get(place), time.monotonic()
    if known is not None and now_s - known.seen_s < _TRUSTED_S:
        return known.path
    is_study = (place / _STUDY).is_file()
    versions = _versions(place, is_study)
    if known is not None and known.versions == versions:
        _copies[place] = replace(known, seen_s=now_s)
        return known.path
    if not versions:
        raise InputError(f"{place} does not exist: give a study folder or a recording")
    check_finished(place)
    copied = _copied(place, [name for name, _ in versions])
    _copies[place] = _Copy(copied, versions, now_s)
    if is_study:
        _stands_for[copied] = place
    return copied


def _versions(place: RemotePlace, is_study: bool) -> tuple[tuple[str, str], ...]:
    """The files that are copied, and what tells that they change."""
    if not is_study and place.is_file():
        return ((place.name, place.version()),)
    names = place.names()
    if is_study:
        names = [name for name in names if "/" not in name and not name.endswith(_ROWS)]
    return tuple((name, (place / name).version()) for name in names)


def _copied(place: RemotePlace, names: Sequence[str]) -> Path:
    # Whoever writes the address may end it in "..".
    name = place.name if is_plain(place.name) else "place"
    home = folder_of_process().resolve() / "copy" / name
    if place.is_file():
        return place.fetch(home)
    for name in track(names, "fetching", len(names)):
        place.fetch_into(home, name)
    return home


def all_here(path: Path | str) -> Path:
    """All files, for a look at every one.

    Args:
        path: an address, also as a `Path` spells it, or a path.
    """
    path = on_this_machine(path)
    place = remote_place(path)
    if place is None or place.is_file():
        return here(path)
    check_finished(place)
    return _copied(place, place.names())


def original(path: Path) -> File:
    """Where the rows of a study folder are: elsewhere if its small files were copied from there.

    Args:
        path: of a study folder of this machine.
    """
    return _stands_for.get(path.resolve(), path)


def is_remote(path: Path | str) -> bool:
    """Whether what the user points at, or what it was copied from, is elsewhere.

    Args:
        path: an address, a path, or what `here` gave for one.
    """
    path = on_this_machine(path)
    return remote_place(path) is not None or _copied_from(path) is not None


def versions_of(path: Path | str) -> tuple[str, list[tuple[str, str]]] | None:
    """The address of what is elsewhere, and what tells that its files change; None for the rest.

    Args:
        path: an address, a path, or what `here` gave for one.
    """
    path = on_this_machine(path)
    place = remote_place(path) or _copied_from(path)
    if place is None:
        return None
    names = [""] if place.is_file() else place.names()
    return str(place), [(name, (place / name if name else place).version()) for name in names]


def _copied_from(path: Path | str) -> RemotePlace | None:
    copied = Path(path).resolve()
    return next((place for place, copy in _copies.items() if copy.path == copied), None)

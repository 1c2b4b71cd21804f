"""Places that are no folder of this machine, such as ``s3://bucket/study``, through fsspec.

What is written there is seen all or not at all: files that say that the rest is there go last. An
address never has a secret in it: fsspec finds credentials where each kind of place keeps them.
"""

from __future__ import annotations

import contextlib
import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from eyelid.engine.files import own_folder
from eyelid.engine.progress import track
from eyelid.errors import EyelidError, InputError, first_line

MANIFESTS = ("dataset_description.json", "map.toml", "certificate.json", "study.json")
"""Files by which a folder is known, in the order in which they are written, after all others."""
_MARK = ".unfinished"
# Two letters at least: one is a drive. What went through a Path has lost a slash.
_ADDRESS = re.compile(r"(.*::)?([A-Za-z][A-Za-z0-9+.-]+):/+(.*)", re.DOTALL)
_FROM_ROOT = ("file", "local")
_LINKS = ("link", "symlink")
_STRANGE = re.compile(r"[\x00-\x1f\x7f\\]|::|:/")
_DRIVE = re.compile(r"[A-Za-z]:")
# Bytes that are asked for at once, that an answer to any question may have, that a file has which
# is read into memory, and that one has whose size no listing tells.
_BLOCK = 4 << 20
_LONGEST_ANSWER = 64 << 20
_SMALL = 64 << 20
_UNLISTED = 1 << 30
# Where names have slashes and nothing is a folder; to make one there may make a bucket.
_WITHOUT_FOLDERS = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "r2"}


@dataclass(frozen=True)
class RemotePlace:
    """A file or folder elsewhere; workers may be given it.

    Attributes:
        address: such as ``s3://bucket/study``, without a secret.
    """

    address: str

    def __str__(self) -> str:
        return self.address

    def __truediv__(self, name: str) -> RemotePlace:
        if not is_plain(name):
            raise _strange(self, name)
        return RemotePlace(f"{self.address}/{name}")

    @property
    def name(self) -> str:
        """The last part of its address."""
        return posixpath.basename(self.address)

    @property
    def parents(self) -> list[RemotePlace]:
        """The folders that it is in, the nearest first."""
        scheme, _, rest = self.address.partition("://")
        folders = []
        while (rest := posixpath.dirname(rest)).strip("/"):
            folders.append(RemotePlace(f"{scheme}://{rest}"))
        return folders

    def exists(self) -> bool:
        """Whether there is a file or folder now, whatever was there a moment ago."""
        with self._reached() as (system, path):
            system.invalidate_cache()
            return bool(system.exists(path))

    def is_file(self) -> bool:
        """Whether there is a file."""
        with self._reached() as (system, path):
            return bool(system.isfile(path))

    def is_dir(self) -> bool:
        """Whether there is a folder, or what looks like one."""
        with self._reached() as (system, path):
            return bool(system.isdir(path))

    def names(self) -> list[str]:
        """Every file below a folder, by its name from there, in order.

        A server may name anything: what is not a plain name below the folder is refused.
        """
        with self._reached() as (system, path):
            system.invalidate_cache()
            files = {} if system.isfile(path) else system.find(path, detail=True)
            root = path.rstrip("/") + "/"
            for path_there, about in files.items():
                name = path_there.removeprefix(root)
                link = about.get("islink") or about.get("type") in _LINKS
                if not path_there.startswith(root) or not is_plain(name) or link:
                    raise _strange(self, "a link: " + name if link else name)
            return sorted(path_there.removeprefix(root) for path_there in files)

    def version(self) -> str:
        """What changes when the content of a file does, without reading it."""
        with self._reached() as (system, path):
            return str(system.ukey(path))

    def read(self) -> bytes:
        """The content of a small file."""
        with self._reached() as (system, path):
            return b"".join(self._blocks(system, path, _SMALL))

    def write(self, content: bytes) -> None:
        """Write a small file."""
        with self._reached() as (system, path):
            self._make_folder(system, path)
            system.pipe_file(path, content)

    def fetch(self, to: Path) -> Path:
        """Copy a file to this machine.

        Args:
            to: what the copy is called.
        """
        with self._reached() as (system, path):
            to.parent.mkdir(parents=True, exist_ok=True)
            with to.open("wb") as copy:
                copy.writelines(self._blocks(system, path))
        return to

    def fetch_into(self, home: Path, name: str) -> Path:
        """Copy a file below this folder to the same place below a folder of this machine.

        Args:
            home: the folder of this machine.
            name: of the file, from here.
        """
        to = home / name
        # Whatever the name is made of, and whatever lies in the folder already.
        if not is_plain(name) or not to.resolve().is_relative_to(home.resolve()):
            raise _strange(self, name)
        return (self / name).fetch(to)

    def send(self, file: Path) -> None:
        """Copy a file of this machine here.

        Args:
            file: that is copied.
        """
        with self._reached() as (system, path):
            self._make_folder(system, path)
            system.put_file(str(file), path)

    def has_size(self, size: int) -> bool:
        """Whether there is a file of so many bytes."""
        with self._reached() as (system, path):
            return bool(system.isfile(path) and system.size(path) == size)

    def remove(self) -> None:
        """Remove a file."""
        with self._reached() as (system, path):
            system.rm_file(path)

    def _blocks(self, system: Any, path: str, most: int | None = None) -> Iterator[bytes]:
        """The content of a file, a block at a time: as many bytes as its listing says.

        Args:
            system: that it is in.
            path: in that system.
            most: bytes that it may have; any number where its listing says how many.
        """
        size = system.info(path).get("size")
        listed = size if isinstance(size, int) else None
        if most is not None and listed is not None and listed > most:
            raise InputError(f"{self} has {listed:,} bytes, and at most {most:,} are read of it")
        # Where no listing says where it ends, it may be generated as it is sent.
        allowed = (most or _UNLISTED) if listed is None else listed
        got = 0
        with system.open(path, "rb", block_size=_BLOCK) as file:
            # One byte more than there should be tells that there is no end.
            while block := file.read(min(_BLOCK, allowed - got + 1)):
                got += len(block)
                if got > allowed:
                    raise InputError(f"{self} does not end after the {allowed:,} bytes it may have")
                yield block
        if listed is not None and got < listed:
            raise InputError(f"{self} ends after {got:,} of its {listed:,} bytes: try again")

    def _make_folder(self, system: Any, path: str) -> None:
        if self.address.partition("://")[0] not in _WITHOUT_FOLDERS:
            system.makedirs(posixpath.dirname(path), exist_ok=True)

    @contextlib.contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """The file system and the path in it; what fails there fails in one line."""
        scheme = self.address.partition("://")[0]
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise InputError(
                f"{scheme}:// addresses need fsspec: pip install 'eyelid[remote]'"
            ) from None
        try:
            system, path = url_to_fs(self.address)
            _bound_answers(system)
            yield system, path
        except EyelidError:
            raise
        except ImportError as error:
            raise InputError(f"{scheme}:// needs a package of its own: {error}") from None
        except Exception as error:
            raise InputError(f"cannot reach {self}: {first_line(error)}") from None


def _bound_answers(system: Any) -> None:
    """Have a file system that takes answers whole, into memory, take none that has no end.

    Args:
        system: fsspec's; those that do so work with a session of requests.
    """
    adapters = getattr(getattr(system, "session", None), "adapters", None)
    for adapter in adapters.values() if isinstance(adapters, dict) else ():
        build = getattr(adapter, "build_response", None)
        if build is not None and not isinstance(build, partial):
            adapter.build_response = partial(_with_an_end, build)


def _with_an_end(build: Callable[..., Any], *words: Any, **options: Any) -> Any:
    response = build(*words, **options)
    response.raw = _Bounded(response.raw)
    return response


class _Bounded:
    """An answer that fails once it has grown longer than any block that was asked for.

    Args:
        answer: of urllib3.
    """

    def __init__(self, answer: Any) -> None:
        self._answer, self._left = answer, _LONGEST_ANSWER

    def __getattr__(self, name: str) -> Any:
        return getattr(self._answer, name)

    def stream(self, *words: Any, **options: Any) -> Iterator[bytes]:
        """The content, block by block."""
        for block in self._answer.stream(*words, **options):
            self._left -= len(block)
            if self._left < 0:
                self._answer.close()
                raise InputError(
                    f"an answer does not end after {_LONGEST_ANSWER:,} bytes, more than was asked"
                )
            yield block


def is_plain(name: str) -> bool:
    """Whether a name, perhaps of folders too, leads below the folder that it is looked up in.

    On every system: a drive or a backslash says nothing here and everything elsewhere. A name with
    ``::`` would be an address of its own to fsspec.

    >>> [is_plain(name) for name in ("data/part-0.parquet", "/etc/passwd", "a/../../b", "C:x")]
    [True, False, False, False]
    """
    return not _STRANGE.search(name) and all(
        part not in ("", ".", "..") and not _DRIVE.match(part) for part in name.split("/")
    )


def _strange(place: RemotePlace, name: str) -> InputError:
    return InputError(f"{place} has a file {name!r}, which belongs nowhere: remove it there")


def remote_place(path: Path | str) -> RemotePlace | None:
    """The place elsewhere that the user means; None for a path of this machine.

    Args:
        path: an address, also as a `Path` spells it. What exists here by that name is meant first.

    >>> remote_place("s3://bucket/study") == remote_place(Path("s3://bucket/study"))
    True
    >>> print(remote_place("file:///home/study"), remote_place("C:/study"), remote_place("study"))
    file:///home/study None None
    """
    parts = _address(path)
    if parts is None:
        return None
    scheme, rest = parts[2].lower(), parts[3].rstrip("/")
    if any(sign in str(path) for sign in "@?#"):
        # Not repeated: the caller that repeats it writes it down.
        raise InputError(
            f"a {scheme}:// address with @, ? or # in it may tell a secret: give credentials as "
            "fsspec takes them (docs/scaling.md), and the bare address"
        )
    if "::" in str(path):
        raise InputError(f"a {scheme}:// address chained with :: is not taken: give one alone")
    if not rest:
        raise InputError(f"{scheme}:// names no folder: give its whole address")
    return RemotePlace(f"{scheme}://{'/' if scheme in _FROM_ROOT else ''}{rest}")


def on_this_machine(path: Path | str) -> Path:
    """A path as this machine writes it: of a ``file:`` address the plain path, else as it is.

    A search for a study or a ledger must find the same one by both spellings.

    >>> on_this_machine("file:///home/study").as_posix(), on_this_machine("study").as_posix()
    ('/home/study', 'study')
    """
    parts = _address(path)
    if parts is None or parts[1] or parts[2].lower() not in _FROM_ROOT:
        return Path(path)
    drive = re.match(r"[A-Za-z]:", parts[3])
    return Path(parts[3] if drive else f"/{parts[3]}")


def check_here(path: Path | str, what: str) -> None:
    """Fail if the user means a place elsewhere, without saying which.

    Args:
        path: an address, also as a `Path` spells it, or a path.
        what: must be a file of this machine.
    """
    if _address(path) is not None:
        raise InputError(f"{what} must be a file of this machine, and this is an address elsewhere")


def _address(path: Path | str) -> re.Match[str] | None:
    """What looks like an address, or several in a chain, and is nothing on this machine."""
    parts = _ADDRESS.fullmatch(str(path))
    return None if parts is None or Path(path).exists() else parts


@contextlib.contextmanager
def nearby(file: Path | RemotePlace) -> Iterator[Path]:
    """A file of this machine: what is elsewhere is copied, for as long as the block lasts.

    Args:
        file: here or elsewhere.
    """
    if isinstance(file, Path):
        yield file
        return
    with own_folder() as folder:
        yield file.fetch(folder / "copy" / file.name)


def work_folder(place: RemotePlace) -> Path:
    """Where what goes to a place is made first: in the current folder, always by the same name.

    Args:
        place: where it goes.
    """
    known = hashlib.sha256(place.address.encode()).hexdigest()[:8]
    return Path.cwd() / f".{place.name}-{known}.unfinished"


def check_free(place: RemotePlace) -> None:
    """Fail unless a new folder could be put at a place; one whose upload was stopped may go on.

    Args:
        place: where it would be.
    """
    if place.exists() and not (place / _MARK).is_file():
        raise InputError(f"{place} exists already: choose another output or remove it first")
    for folder in place.parents:
        known = [name for name in MANIFESTS if (folder / name).is_file()]
        if known:
            raise InputError(
                f"{place} is inside {folder}, which has a {known[0]} of its own: choose an output "
                "outside of it"
            )


def check_begun_by(run: str, place: RemotePlace) -> None:
    """Fail if another upload was begun at a place.

    Args:
        run: whose upload may go on.
        place: where it goes.
    """
    mark = place / _MARK
    if mark.exists() and mark.read() != run.encode():
        raise InputError(
            f"an upload to {place} by another run was begun and not finished: choose another "
            "output or remove it first"
        )


def check_finished(place: RemotePlace) -> None:
    """Fail if something is being uploaded to a place, or its upload was stopped.

    Args:
        place: that the user wants to read.
    """
    if (place / _MARK).is_file():
        raise InputError(
            f"{place} is not complete yet: it is being uploaded, or was stopped and can go on "
            "by the same command"
        )


def upload(folder: Path, place: RemotePlace, run: str) -> None:
    """Copy a folder to a place, what it is known by last; parts from before a stop stay.

    Args:
        folder: of this machine.
        place: where it goes.
        run: that made it.
    """
    check_begun_by(run, place)
    if not (place / _MARK).exists():
        # Others may have been there since the run was begun.
        check_free(place)
    (place / _MARK).write(run.encode())

    def turn(name: str) -> tuple[int, str]:
        return MANIFESTS.index(name) + 1 if name in MANIFESTS else 0, name

    inside = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    for name in track(sorted(inside, key=turn), "uploading", len(inside)):
        size = (folder / name).stat().st_size
        # Parts are written once; what is told about all of them is told anew.
        if not ("/" in name and (place / name).has_size(size)):
            (place / name).send(folder / name)
    (place / _MARK).remove()

"""Output that is either all there or not there at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from eyelid.engine.locking import lock
from eyelid.engine.remote import check_free, remote_place, upload
from eyelid.engine.temporary import own_folder
from eyelid.errors import InputError

_PARTIAL = ".partial"
_ATTEMPTS = 5


def check_new(path: Path) -> None:
    """Fail unless a new folder could be put at ``path``: it is free, and its parent is writable.

    Args:
        path: also of a place elsewhere, see `eyelid.engine.remote`.
    """
    place = remote_place(path)
    if place is not None:
        check_free(place)
        return
    if path.exists() or path.is_symlink():
        raise InputError(f"{path} exists already: choose another output or remove it first")
    parent = _existing_parent(path)
    if not parent.is_dir():
        raise InputError(f"cannot write {path}: {parent} is not a folder")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"cannot write {path}: no permission to write in {parent}")
    if parent == path.absolute().parent:
        return
    try:
        # Folders are to be made, and permissions do not tell everything: some places take none.
        trial = parent / f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}"
        trial.mkdir()
        trial.rmdir()
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def check_file(path: Path, kinds: Collection[str]) -> None:
    """Fail unless a file could be put at ``path``, or replace one of these kinds of file there."""
    place = remote_place(path)
    if place is not None:
        raise InputError(f"cannot write {place}: name a file of this machine")
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; name a file in it")
    if path.exists() and path.suffix.lower() not in kinds:
        raise InputError(f"cannot write {path}: it exists and is something else; name a new file")
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {parent}")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"cannot write {path}: no permission to write in {parent}")


def _existing_parent(path: Path) -> Path:
    parent = path.absolute().parent
    while not parent.exists():
        parent = parent.parent
    return parent


@contextlib.contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder that becomes ``path`` when the block ends well, and vanishes otherwise.

    A killed process leaves at most a hidden ``.NAME.….partial`` folder, which the next run with
    the same output removes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with new_folder(Path(home) / "out") as folder:
    ...         _ = (folder / "data.txt").write_text("whole")
    ...     print(sorted(p.name for p in Path(home).iterdir()))
    ['out']
    """
    check_new(path)
    place = remote_place(path)
    if place is not None:
        with own_folder() as home:
            (home / "output").mkdir()
            yield home / "output"
            upload(home / "output", place, secrets.token_hex(16))
        return
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        partial, mark = _claimed(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        yield partial
        settle(partial, path)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if mark is not None:
            os.close(mark)


def settle(partial: Path, path: Path) -> None:
    """Put a finished folder in its place, by one rename of what the file system has kept."""
    for found in sorted(partial.rglob("*"), reverse=True):
        synced_where_possible(found)
    synced_where_possible(partial)
    try:
        partial.rename(path)
    except OSError as error:
        raise InputError(f"cannot put the result at {path}: {error.strerror}") from None
    synced_where_possible(path.absolute().parent)


def write_file(
    path: Path, content: str | bytes, *, durable: bool = False, mode: int = 0o666
) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    Args:
        path: of the file.
        content: all of it.
        durable: fail unless the file system says that it keeps the new content from now on, after
            a loss of power too.
        mode: who may read and write it, less what the process takes away by its umask.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     write_file(Path(home) / "note", "hello")
    ...     (Path(home) / "note").read_text()
    'hello'
    """
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}")
    try:
        partial.touch(mode, exist_ok=False)
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
        keep = _synced if durable else synced_where_possible
        keep(partial)
        partial.replace(path)
        keep(path.absolute().parent)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"cannot write {path}: {error.strerror}") from None


def synced_where_possible(path: Path) -> None:
    """Have the file system keep what was written, where it can."""
    with contextlib.suppress(OSError):
        _synced(path)


def _synced(path: Path) -> None:
    """Have the file system keep what was written; folders only where they can be told to."""
    folder = path.is_dir()
    if folder and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY if folder else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if not (folder and error.errno == errno.EINVAL):
            raise
    finally:
        os.close(handle)


def _claimed(path: Path) -> tuple[Path, int | None]:
    """A fresh partial folder, marked as somebody's at work; the mark goes with the process."""
    for _ in range(_ATTEMPTS):
        partial = path.absolute().parent / f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}"
        partial.mkdir()
        mark = _lock(partial)
        if mark is not None and partial.exists():
            return partial, mark
        # Another run took the folder for abandoned before it was marked.
        if mark is not None:
            os.close(mark)
        shutil.rmtree(partial, ignore_errors=True)
    # Not a race, then: this system has no such locks.
    partial.mkdir()
    return partial, None


def _lock(folder: Path) -> int | None:
    """A handle that holds the folder's lock, or None where there is none to be had."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    if not lock(handle):
        os.close(handle)
        return None
    return handle


def _remove_abandoned(path: Path) -> None:
    """Remove what killed runs with the same output left; nobody holds its lock any more."""
    for partial in path.absolute().parent.glob(f".{glob.escape(path.name)}.*{_PARTIAL}"):
        handle = _lock(partial)
        if handle is not None:
            shutil.rmtree(partial, ignore_errors=True)
            os.close(handle)

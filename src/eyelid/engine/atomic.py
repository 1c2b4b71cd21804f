"""Output that is either all there or not there at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from eyelid.engine.files import lock, own_folder
from eyelid.engine.remote import check_free, remote_place, upload
from eyelid.errors import InputError

_PARTIAL = ".partial"
_ATTEMPTS = 5
_PRIVATE = 0o700
# Files by which a folder is known that is kept, or shared, as a whole.
_WHOLE = ("certificate.json", "study.json")
# AT_FDCWD and RENAME_EXCHANGE of renameat2, which Linux has.
_FROM_HERE, _EXCHANGE = -100, 2


def whole_around(path: Path) -> Path | None:
    """The study or release that a path lies in, or leads into; None outside of all.

    Args:
        path: of something that is there or not, also by way of links.
    """
    # A link in such a folder may lead out of it, and one outside may lead in.
    lies, leads = path.absolute().parent.resolve() / path.name, path.resolve()
    for folder in (*lies.parents, *leads.parents):
        if any(os.path.isfile(folder / name) for name in _WHOLE):
            return folder
    return None


def outside(folder: Path) -> Path:
    """The folder itself, or the nearest around it that is no study or release, nor in one."""
    while (whole := whole_around(folder / _PARTIAL)) is not None:
        folder = whole.parent
    return folder


def check_apart(path: Path) -> None:
    """Refuse a place in a study or release: what lies there is shared with it.

    Args:
        path: of something to be written.
    """
    whole = whole_around(path)
    if whole is not None:
        known = next(name for name in _WHOLE if os.path.isfile(whole / name))
        raise InputError(
            f"cannot write {path}: it is inside {whole}, which has a {known} of its own; choose a "
            "place outside of it"
        )


def check_new(path: Path) -> None:
    """Fail unless a new folder could be put at ``path``: it is free, and its parent is writable.

    Args:
        path: also of a place elsewhere, see `eyelid.engine.remote`.
    """
    place = remote_place(path)
    if place is not None:
        check_free(place)
        return
    check_apart(path)
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
    check_apart(path)
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
def new_folder(path: Path, mode: int = 0o777) -> Iterator[Path]:
    """A temporary folder that becomes ``path`` when the block ends well, and vanishes otherwise.

    A killed process leaves at most a hidden ``.NAME.….partial`` folder, which the next run with
    the same output removes.

    Args:
        path: also of a place elsewhere, see `eyelid.engine.remote`.
        mode: who may look and write into it, less what the process takes away by its umask.

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
    with _partial_folder(path, mode) as partial:
        yield partial
        settle(partial, path)


@contextlib.contextmanager
def private_folder(path: Path, check: Callable[[Path], None]) -> Iterator[Path]:
    """A temporary folder that becomes ``path`` in one step, also where an older one lies.

    It is its owner's alone, from the beginning. Where the system cannot exchange two folders, a
    process that is killed at that very moment leaves none of them there.

    Args:
        path: of the folder, on this machine.
        check: fails unless what lies at a path may be replaced; asked before and after the block.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     for content in ("old", "new"):
    ...         with private_folder(Path(home) / "out", lambda path: None) as folder:
    ...             _ = (folder / "data.txt").write_text(content)
    ...     (Path(home) / "out" / "data.txt").read_text(), [p.name for p in Path(home).iterdir()]
    ('new', ['out'])
    """
    check(path)
    with _partial_folder(path, _PRIVATE) as partial:
        yield partial
        check(path)
        if os.path.lexists(path):
            _replace(path, partial)
        else:
            settle(partial, path)


@contextlib.contextmanager
def _partial_folder(path: Path, mode: int) -> Iterator[Path]:
    """A hidden folder beside ``path``; what lies there by its name at the end is removed."""
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        partial, mark = _claimed(path, mode)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        if mark is not None:
            os.close(mark)


def settle(partial: Path, path: Path) -> None:
    """Put a finished folder in its place, by one rename of what the file system has kept."""
    _sync_all(partial)
    try:
        partial.rename(path)
    except OSError as error:
        raise InputError(f"cannot put the result at {path}: {error.strerror}") from None
    synced_where_possible(path.absolute().parent)


def _replace(path: Path, partial: Path) -> None:
    """Put a finished folder in the place of another one, which is then called like the partial."""
    _sync_all(partial)
    try:
        if not _exchanged(path, partial):
            aside = path.absolute().parent / f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}"
            path.rename(aside)
            try:
                partial.rename(path)
            except OSError:
                aside.rename(path)
                raise
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot put the result at {path}: {error.strerror}") from None
    synced_where_possible(path.absolute().parent)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two folders have changed places in one step, which not every system can do."""
    import ctypes

    try:
        exchange = ctypes.CDLL(None).renameat2
    except (OSError, TypeError, AttributeError):
        return False
    places = [part for path in (one, other) for part in (_FROM_HERE, os.fsencode(path.absolute()))]
    return bool(exchange(*places, _EXCHANGE) == 0)


def _sync_all(folder: Path) -> None:
    """Have the file system keep a folder and all in it, where it can."""
    for path in sorted(folder.rglob("*"), reverse=True):
        synced_where_possible(path)
    synced_where_possible(folder)


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


def _claimed(path: Path, mode: int) -> tuple[Path, int | None]:
    """A fresh partial folder, marked as in use; the mark goes with the process."""
    for _ in range(_ATTEMPTS):
        partial = path.absolute().parent / f".{path.name}.{secrets.token_hex(4)}{_PARTIAL}"
        partial.mkdir(mode)
        mark = _lock(partial)
        if mark is not None and partial.exists():
            return partial, mark
        # Another run took the folder for abandoned before it was marked.
        if mark is not None:
            os.close(mark)
        shutil.rmtree(partial, ignore_errors=True)
    # Not a race, then: this system has no such locks.
    partial.mkdir(mode)
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

"""Long work into one folder: all there or not there, and it goes on where it was stopped.

Parts are written into a hidden folder beside the output, each of them once: what two workers make
of the same part at the same time, or a worker before it was killed and another after it, is kept of
one of them only. When everything is there, one rename puts the output in its place.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eyelid.engine.atomic import (
    check_apart,
    check_new,
    settle,
    synced_where_possible,
    write_file,
)
from eyelid.engine.engines import current
from eyelid.engine.files import content_of, lock, locked
from eyelid.engine.remote import check_begun_by, remote_place, upload, work_folder
from eyelid.errors import EyelidError, InputError

GOES_ON = "the same command goes on where this was stopped; until then private data lie in {}"
_MARK, _KEPT, _GOING = "run.json", "kept", "scratch.gone"
# What file systems say that have no hard links.
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK}


@dataclass(frozen=True)
class Run:
    """Work that is going on.

    Attributes:
        home: the hidden folder; workers on other machines need to see it.
        id: of this run, and of no other; the same when it goes on after a stop.
        resumed: whether it was begun before.
    """

    home: Path
    id: str
    resumed: bool = False

    @property
    def output(self) -> Path:
        """What will be the output."""
        return self.home / "output"

    @property
    def scratch(self) -> Path:
        """What is needed on the way, private data too: it is removed when the run has ended."""
        return self.home / "scratch"

    @property
    def drawn(self) -> Path:
        """What was drawn and is not drawn again: here until the output is in its place."""
        return self.home / "drawn"

    @property
    def kept(self) -> bool:
        """Whether there is something to lose: a stop leaves everything for the next time."""
        return (self.home / _KEPT).exists()

    def keep(self, on: bool = True, note: str = "") -> None:
        """Say that there is something to lose from now on, or that there is nothing after all.

        Args:
            on: whether there is.
            note: for the message that the run was stopped.
        """
        if on:
            # Before anything is paid: what was paid for must be found again after a loss of power.
            write_file(self.home / _KEPT, note, durable=True)
        else:
            (self.home / _KEPT).unlink(missing_ok=True)

    @property
    def note(self) -> str:
        """The note that `keep` was given for a stop; empty where there is none."""
        try:
            return content_of(self.home / _KEPT).decode() if self.kept else ""
        except (OSError, ValueError):
            return ""

    @contextlib.contextmanager
    def beforehand(self) -> Iterator[None]:
        """What takes long and costs nothing yet: kept over a stop, given up when it cannot be done.

        Users who ask for something else then need not remove anything first.
        """
        before = self.note
        self.keep(note=before)
        try:
            yield
        except EyelidError:
            self.keep(bool(before), before)
            raise

    def put(self, path: Path, write: Callable[[Path], object]) -> bool:
        """Have a file of the output, scratch or drawn folder written, unless it is there.

        Args:
            path: in one of these folders.
            write: puts the content at a path that it is given.

        Returns:
            whether what is there now was written by this call.
        """
        if path.exists():
            return False
        # Not beside the file: what a slow process leaves behind must not be in the output.
        draft = self.scratch / f".{path.name}.{secrets.token_hex(4)}.partial"
        try:
            draft.parent.mkdir(exist_ok=True)
            write(draft)
            synced_where_possible(draft)
            # One folder deep: the output of a run that has ended is not made again.
            path.parent.mkdir(exist_ok=True)
            # A draft is gone with its run: what comes late can be put into no other one.
            if _read(self.home / _MARK).get("id") != self.id:
                raise InputError(f"cannot write {path}: its run was given up")
            return _put_down(draft, path)
        except Exception as error:
            reason = _reason(error)
            if reason is None:
                raise
            raise InputError(f"cannot write {path}: {reason}") from None
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def _reason(error: Exception) -> str | None:
    """Why a file could not be written; None where the system is not to blame."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    # Libraries tell what the system says in errors of their own.
    code = re.search(r"\(os error (\d+)\)", str(error))
    return os.strerror(int(code[1])) if code else None


def _put_down(draft: Path, path: Path) -> bool:
    try:
        # Unlike a rename, a link never replaces what another process put there first.
        os.link(draft, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with locked(draft.parent / f"{path.name}.claim"):
            if path.exists():
                return False
            draft.rename(path)
    return True


@contextlib.contextmanager
def running(out: Path, key: str) -> Iterator[Run]:
    """A run into a new folder, or the rest of one that was stopped.

    Args:
        out: where the output will be. What goes elsewhere (`eyelid.engine.remote`) is made in the
            current folder first.
        key: of everything that the output depends on, the input and all settings. An unfinished
            run of another key is not taken up.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with running(Path(place) / "out", "key") as run:
    ...         _ = run.put(run.output / "a.txt", lambda path: path.write_text("whole"))
    ...     print(sorted(found.name for found in Path(place).rglob("*")))
    ['a.txt', 'out']
    """
    check_new(out)
    place = remote_place(out)
    home = unfinished(out)
    # What goes elsewhere is made in the current folder, which may be one to be shared.
    check_apart(home)
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        mark = _claimed(home, out)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}") from None
    over = False
    try:
        run = _taken_up(home, key, out)
        try:
            if place is not None:
                check_begun_by(run.id, place)
            current().check_sees(home)
            yield run
            # Private data first: whatever happens from here on, they are gone. A run that goes on
            # finds all of its scratch or none: half of it would be taken for the whole.
            run.scratch.rename(home / _GOING)
            shutil.rmtree(home / _GOING)
            if place is None:
                settle(run.output, out)
            else:
                if not run.kept:
                    run.keep()
                upload(run.output, place, run.id)
            over = True
        except BaseException as error:
            if run.kept and not over:
                error.add_note("; ".join(filter(None, [run.note, GOES_ON.format(home)])))
            else:
                shutil.rmtree(home, ignore_errors=True)
            raise
        shutil.rmtree(home, ignore_errors=True)
    finally:
        if mark is not None:
            os.close(mark)


def unfinished(out: Path) -> Path:
    """Where the parts of an unfinished run lie, if there is one."""
    place = remote_place(out)
    if place is not None:
        return work_folder(place)
    return out.absolute().parent / f".{out.name}.unfinished"


def _claimed(home: Path, out: Path) -> int | None:
    """A handle that keeps others out of the folder; None where there are no locks."""
    while True:
        home.mkdir(mode=0o700, exist_ok=True)
        _check_private(home)
        synced_where_possible(home.parent)
        try:
            handle = os.open(home, os.O_RDONLY)
        except (PermissionError, FileNotFoundError):
            return None
        ours = lock(handle)
        if ours is False:
            os.close(handle)
            raise InputError(
                f"another run is writing {out}: wait until it has ended, or choose another output"
            )
        with contextlib.suppress(FileNotFoundError):
            # A process that just ended may have removed what was just opened.
            if os.path.samestat(os.fstat(handle), home.stat()):
                return handle
        os.close(handle)


def _check_private(home: Path) -> None:
    """Refuse a folder that others can look or write into: private data are to lie in it."""
    about = home.lstat()
    if not hasattr(os, "getuid"):
        return
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise InputError(
            f"{home} is not a folder of yours alone, and private data would lie in it: remove it, "
            "or choose another output"
        )


def _taken_up(home: Path, key: str, out: Path) -> Run:
    """The run that was begun here, or a fresh one."""
    begun = _read(home / _MARK)
    kept = (home / _KEPT).exists() and (home / "output").is_dir()
    if kept and begun.get("key") == key:
        if begun.get("out") != str(out.absolute()) and begun.get("place") != _place(home):
            raise InputError(
                f"{home} is a copy of a run into another folder, and would be a second release of "
                "what was counted once: remove it, and go on where the run was begun"
            )
        shutil.rmtree(home / _GOING, ignore_errors=True)
        (home / "scratch").mkdir(exist_ok=True)
        return Run(home, str(begun["id"]), resumed=True)
    if kept:
        raise InputError(
            "an unfinished run of other data or settings, or of another version of eyelid, lies at "
            f"{home}: go on with it by the same command, choose another output, or remove the "
            "folder to give it up (what was counted for it stays counted)"
        )
    for left in home.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    run = Run(home, secrets.token_hex(16))
    run.output.mkdir()
    run.scratch.mkdir()
    about = {"id": run.id, "key": key, "out": str(out.absolute()), "place": _place(home)}
    write_file(home / _MARK, json.dumps(about), durable=True)
    return run


def _place(home: Path) -> list[int]:
    """Where the folder is on its disk: the same when it is moved, another when it is copied."""
    about = home.stat()
    return [about.st_dev, about.st_ino]


def _read(mark: Path) -> dict[str, Any]:
    try:
        content = json.loads(content_of(mark))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) and {"id", "key"} <= set(content) else {}

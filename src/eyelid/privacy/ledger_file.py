"""The file of a ledger: made at once, for its owner's eyes, and told from its copies."""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path

from eyelid.errors import InputError

# Windows keeps no such modes; there a file is as private as its folder.
_HAS_MODES = os.name != "nt"
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make(path: Path, schema: Sequence[str], facts: Sequence[tuple[str, str]]) -> None:
    """Put down a fresh ledger in one step, so that an empty file always is a damaged one.

    Args:
        path: of the file.
        schema: what makes its tables.
        facts: what it knows of itself.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        # SQLite gives its journal the mode of the file, so nothing is ever open to others.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        make_private(draft)
        with closing(sqlite3.connect(draft)) as database:
            # Together: every transaction waits for the disk.
            database.execute("BEGIN")
            for statement in schema:
                database.execute(statement)
            known = [*facts, ("place", str(path.resolve())), ("private", "")]
            database.executemany("INSERT INTO ledger VALUES (?, ?)", known)
            database.commit()
        # Unlike a rename, a link never replaces what another process put there first.
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def make_private(path: Path) -> None:
    """Let nobody but its owner read a file, whatever the umask; where that is possible."""
    if _HAS_MODES:
        with suppress(OSError):
            path.chmod(0o600)


def exposed(path: Path) -> str:
    """That others on this machine may read a file, and what to do; empty where they may not."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if not _HAS_MODES or not mode & _OF_OTHERS:
        return ""
    return (
        f"others on this machine may open the ledger {path} (mode {mode:o}), which holds the ids "
        "of all participants: chmod 600 it, or keep it on a file system that has such modes"
    )


def make_private_once(database: sqlite3.Connection, path: Path) -> None:
    """Close the file of an earlier version to others; who opens it again has chosen to."""
    known = database.execute("SELECT 1 FROM ledger WHERE key = 'private'").fetchone()
    if known is None:
        make_private(path)
        database.execute("INSERT INTO ledger VALUES ('private', '')")


def check_no_copy(database: sqlite3.Connection, path: Path) -> None:
    """Fail if this file is a copy of a ledger that is still where it was; a moved one is not.

    Each of the two would count on its own, and both too little.

    Args:
        database: of the file.
        path: of the file.
    """
    here = path.resolve()
    row = database.execute("SELECT value FROM ledger WHERE key = 'place'").fetchone()
    if row is not None and (row[0] == str(here) or is_same_file(Path(row[0]), here)):
        return
    (key,) = database.execute("SELECT value FROM ledger WHERE key = 'key'").fetchone()
    if row is not None and _has_key(Path(row[0]), key):
        raise InputError(
            f"the ledger {path} is a copy of {row[0]}, which counts these people: count there, "
            f"with --ledger {row[0]}"
        )
    database.execute("INSERT OR REPLACE INTO ledger VALUES ('place', ?)", (str(here),))


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, however they are spelt."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except OSError:
        return False


def _has_key(path: Path, key: str) -> bool:
    """Whether a path leads to a ledger with this secret key; whatever cannot be read is none."""
    if not path.is_file():
        return False
    try:
        # Not made if it has gone in the meantime.
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as database:
            row = database.execute("SELECT value FROM ledger WHERE key = 'key'").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and bool(row[0] == key)

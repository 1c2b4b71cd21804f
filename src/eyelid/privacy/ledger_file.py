"""The file of a ledger: made at once, for its owner's eyes, and told from its copies.

A ledger may come from others: it lies inside of data, or is named by a study.json. It is opened in
one place, `opened`, so that it can have SQLite do nothing to any other file, and nothing endless.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from urllib.parse import quote

from eyelid.errors import InputError

# Windows keeps no such modes; there a file is as private as its folder.
_HAS_MODES = os.name != "nt"
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# How a journal begins. One that ends with it names a further file, which SQLite would remove.
_MAGIC = bytes.fromhex("d9d505f920a163d7")
_NAMES_ANOTHER = 16
# What SQLite may do in a transaction: this many steps, and more for what is there to be read.
_STEPS, _STEPS_OF_BYTE, _STEPS_OF_CHANGE = 2_000_000, 200, 1_000
_STEPS_AT_ONCE = 100_000


@contextmanager
def opened(path: Path, other: tuple[Path, str] | None = None) -> Iterator[sqlite3.Connection]:
    """The database in a file that others may have made; closed at the end, never made.

    SQLite does what the files beside a database say: a journal may name a further file, which is
    then removed. Ledgers never have such ones, and those of others are refused. What SQLite does
    with the database is counted in steps, and ends where a ledger of that size needs no more.

    Args:
        path: of the file.
        other: another file that is read too, and what it is called.

    Raises:
        InputError: it is no file that a ledger can be in.
    """
    files = [path.resolve(), *([] if other is None else [other[0].resolve()])]
    steps = _Steps(sum(_checked(file) for file in files))
    place = f"{_uri(files[0])}?mode=rw"
    with closing(sqlite3.connect(place, timeout=60, isolation_level=None, uri=True)) as database:
        steps.count(database)
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, len(files) - 1)
        try:
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA cell_size_check = ON")
            if other is not None:
                place = f"{_uri(files[1])}?mode=ro"
                database.execute(f"ATTACH DATABASE ? AS {other[1]}", (place,))
            yield database
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            if not steps.are_spent:
                # SQLite has swallowed it.
                raise KeyboardInterrupt from None
            raise InputError(
                f"cannot use the ledger {path}: to read it takes longer than a ledger of its size "
                "can take, so it is none"
            ) from None


class _Steps:
    """How much SQLite does, so that no database of others keeps it busy for ever."""

    def __init__(self, size: int) -> None:
        self._most = _STEPS + _STEPS_OF_BYTE * size
        self._done = 0
        self.are_spent = False

    def count(self, database: sqlite3.Connection) -> None:
        """Count from now on what is done in a database."""

        def look() -> bool:
            self._done += _STEPS_AT_ONCE
            written = _STEPS_OF_CHANGE * database.total_changes
            self.are_spent = self._done > self._most + written
            return self.are_spent

        database.set_progress_handler(look, _STEPS_AT_ONCE)


def _checked(path: Path) -> int:
    """The size of a database's file; refused unless it and its journal can be those of a ledger.

    By their names and ends alone: to open and close the file would end the locks of its other
    users in this process.

    Args:
        path: of the file, without links.
    """
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"the ledger {path} is no file: say where it is with --ledger FILE")
        for suffix in ("-wal", "-shm"):
            if os.path.lexists(f"{path}{suffix}"):
                raise InputError(_unlike(path, suffix, "which eyelid never makes"))
        journal = Path(f"{path}-journal")
        with suppress(FileNotFoundError):
            begun = journal.lstat()
            if not stat.S_ISREG(begun.st_mode) or begun.st_nlink > 1:
                raise InputError(_unlike(path, "-journal", "which is a link, or no file"))
            if about.st_nlink > 1:
                raise InputError(
                    f"the ledger {path} has another name ({about.st_nlink} links lead to it) and a "
                    "journal, by which both would change: keep one name, under which it was used"
                )
            if _names_another(journal):
                raise InputError(
                    _unlike(
                        path, "-journal", "which names a further file and would have it removed"
                    )
                )
    except OSError as error:
        raise InputError(f"cannot use the ledger {path}: {error}") from None
    return about.st_size


def _unlike(path: Path, suffix: str, what: str) -> str:
    return (
        f"the ledger {path} was left alone: beside it is {path.name}{suffix}, {what}. Was it made "
        "by others? Move both away, or say where the ledger is with --ledger FILE"
    )


def _names_another(journal: Path) -> bool:
    """Whether a journal names a further file, as SQLite would see it or more often."""
    with journal.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(_MAGIC)))
        return size >= _NAMES_ANOTHER and file.read() == _MAGIC


def _uri(path: Path) -> str:
    """What SQLite calls a file, whichever characters its path has; of shares, too."""
    plain = path.as_posix()
    return f"file://{'' if plain.startswith('/') else '/'}{quote(os.fsencode(plain))}"


def is_ledger(database: sqlite3.Connection, schema: Sequence[str], of: str = "main") -> bool:
    """Whether the tables of a database are those of a ledger, and cause nothing besides.

    Views, triggers, constraints, and computed columns and indexes of others would run as soon as
    the tables are used. Of tables unknown to this version only the names are seen.

    Args:
        database: in a transaction.
        schema: what makes all tables of a ledger.
        of: which of its databases.
    """
    if database.execute(f"PRAGMA {of}.journal_mode").fetchone() == ("wal",):
        return False
    known = _tables(tuple(schema))
    names = set()
    for kind, name, sql in database.execute(f"SELECT type, name, sql FROM {of}.sqlite_master"):
        if kind == "table" and isinstance(name, str) and isinstance(sql, str):
            # SQLite takes names in any case.
            expected = known.get(name.lower())
            if sql != expected and (expected is not None or not sql.startswith("CREATE TABLE ")):
                return False
            names.add(name)
        elif kind != "index" or sql is not None:
            return False
    return "ledger" in names


def check_values(database: sqlite3.Connection, path: Path, schema: Sequence[str]) -> None:
    """Fail unless every value is of the kind that its column is for; SQLite takes any.

    Args:
        database: of a ledger, which has all tables.
        path: of its file.
        schema: what makes all tables of a ledger.
    """
    for table, columns in _kinds(tuple(schema)).items():
        wrong = " OR ".join(f"typeof({name}) <> '{kind}'" for name, kind in columns.items())
        if database.execute(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1").fetchone() is not None:
            raise InputError(
                f"the ledger {path} is damaged, or made by others: its table {table} has values "
                "that are none of a ledger; bring back a copy"
            )


@cache
def _kinds(schema: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The kinds of values that columns are for, by tables."""
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in schema:
            database.execute(statement)
        columns = database.execute(
            "SELECT m.name, c.name, lower(c.type) FROM sqlite_master AS m, "
            "pragma_table_info(m.name) AS c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'"
        ).fetchall()
    found: dict[str, dict[str, str]] = {}
    for table, name, kind in columns:
        found.setdefault(table, {})[name] = kind
    return found


@cache
def _tables(schema: tuple[str, ...]) -> dict[str, str]:
    """What SQLite notes of tables, by their names."""
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in schema:
            database.execute(statement)
        return dict(database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))


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


def check_no_copy(database: sqlite3.Connection, path: Path, schema: Sequence[str]) -> None:
    """Fail if this file is a copy of a ledger that is still where it was; a moved one is not.

    Each of the two would count on its own, and both too little.

    Args:
        database: of the file.
        path: of the file.
        schema: what makes all tables of a ledger.
    """
    here = path.resolve()
    row = database.execute("SELECT value FROM ledger WHERE key = 'place'").fetchone()
    if row is not None and (row[0] == str(here) or is_same_file(Path(row[0]), here)):
        return
    (key,) = database.execute("SELECT value FROM ledger WHERE key = 'key'").fetchone()
    if row is not None and _has_key(Path(row[0]), key, schema):
        raise InputError(
            f"the ledger {path} is a copy of {row[0]}, which counts these people: count there, "
            f"with --ledger {row[0]}"
        )
    database.execute("INSERT OR REPLACE INTO ledger VALUES ('place', ?)", (str(here),))


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, however they are spelt."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, ValueError, RuntimeError):
        # Of what a file of others calls a path; a link to itself is a RuntimeError.
        return False


def _has_key(path: Path, key: str, schema: Sequence[str]) -> bool:
    """Whether a path leads to a ledger with this secret key; whatever cannot be read is none."""
    if not path.is_absolute() or not path.is_file():
        return False
    try:
        with opened(path) as database:
            database.execute("BEGIN")
            if not is_ledger(database, schema):
                return False
            row = database.execute("SELECT value FROM ledger WHERE key = 'key'").fetchone()
    except (sqlite3.Error, InputError):
        return False
    return row is not None and bool(row[0] == key)

"""The file of a ledger: made at once, for its owner's eyes, and told from its copies.

SQLite gives the transaction: two processes cannot both take the last of a budget, and a process
killed in between leaves the old ledger or the new one. A ledger may come from others: it lies
inside of data, or is named by a study.json. It is opened in one place, `opened`, so that it can
have SQLite do nothing to any other file, and nothing endless.
"""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from eyelid.errors import InputError

_FIRST_TABLES = (
    "CREATE TABLE ledger (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE crowd (crowd TEXT, person TEXT, PRIMARY KEY (crowd, person))",
    "CREATE TABLE debit (id INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL, "
    "crowd TEXT NOT NULL, made_at TEXT NOT NULL, mechanism TEXT NOT NULL, "
    "guarantee TEXT NOT NULL, what TEXT NOT NULL, alike INTEGER NOT NULL)",
    "CREATE TABLE origin (id TEXT PRIMARY KEY)",
    "CREATE TABLE home (folder TEXT PRIMARY KEY, origin TEXT NOT NULL)",
    "CREATE TABLE allowance (origin TEXT PRIMARY KEY, epsilon REAL, delta REAL)",
)
# Apart from the others: ledgers of the first version lack them.
_LATER_TABLES = {
    "pseudonym": "CREATE TABLE IF NOT EXISTS pseudonym (origin TEXT, person TEXT, pseudonym TEXT, "
    "PRIMARY KEY (origin, person), UNIQUE (origin, pseudonym))",
    "incomplete": "CREATE TABLE IF NOT EXISTS incomplete (origin TEXT PRIMARY KEY)",
    "run": "CREATE TABLE IF NOT EXISTS run (id TEXT PRIMARY KEY, debit INTEGER NOT NULL, "
    "ended INTEGER NOT NULL DEFAULT 0)",
    "made": "CREATE TABLE IF NOT EXISTS made (run TEXT PRIMARY KEY, output TEXT NOT NULL)",
    "member": "CREATE TABLE IF NOT EXISTS member (origin TEXT, person TEXT, "
    "PRIMARY KEY (origin, person)) WITHOUT ROWID",
    "kin": "CREATE TABLE IF NOT EXISTS kin (origin TEXT PRIMARY KEY, account TEXT NOT NULL)",
    "gap": "CREATE TABLE IF NOT EXISTS gap (origin TEXT, kind TEXT, PRIMARY KEY (origin, kind))",
    "doubt": "CREATE TABLE IF NOT EXISTS doubt (origin TEXT, other TEXT, place TEXT NOT NULL, "
    "shared INTEGER NOT NULL, settled INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (origin, other))",
    "forward": "CREATE TABLE IF NOT EXISTS forward (origin TEXT PRIMARY KEY, place TEXT NOT NULL, "
    "beside TEXT NOT NULL, ledger TEXT NOT NULL)",
    "joining": "CREATE TABLE IF NOT EXISTS joining (origin TEXT PRIMARY KEY, place TEXT NOT NULL, "
    "beside TEXT NOT NULL, ledger TEXT NOT NULL)",
    "also": "CREATE TABLE IF NOT EXISTS also (debit INTEGER, key TEXT, number INTEGER NOT NULL, "
    "charged INTEGER NOT NULL, PRIMARY KEY (debit, key))",
}
FORMAT, FORMAT_WITH_ACCOUNTS = "eyelid/ledger/1", "eyelid/ledger/2"
"""The second has joined accounts or doubts, of which earlier versions know nothing."""
OTHER = "other"
"""What the database of a second ledger is called while two are joined."""

# Windows keeps no such modes; there a file is as private as its folder.
_HAS_MODES = os.name != "nt"
_OF_OTHERS = stat.S_IRWXG | stat.S_IRWXO
# How a journal begins. One that ends with it names a further file, which SQLite would remove.
_MAGIC = bytes.fromhex("d9d505f920a163d7")
_NAMES_ANOTHER = 16
# What SQLite may do in a transaction: this many steps, and more for what is there to be read.
_STEPS, _STEPS_OF_BYTE, _STEPS_OF_CHANGE = 2_000_000, 200, 1_000
_STEPS_AT_ONCE = 100_000


class LedgerFile:
    """A ledger's file, whose tables are read and changed in transactions.

    Attributes:
        path: of the file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._open: tuple[int, sqlite3.Connection] | None = None
        if not self.path.exists():
            raise InputError(
                f"the ledger {self.path} is missing: bring it back, or say where it is with "
                "`ledger=…` (spending without it would not be counted); if it is lost for good, "
                "'eyelid budget IN --lost' goes on without a total"
            )
        with self.transaction() as database:
            check_values(database, self.path)
            check_no_copy(database, self.path)
            make_private_once(database, self.path)

    @property
    def exposed(self) -> str:
        """That others on this machine may read the file, and what to do; empty if they may not."""
        return exposed(self.path)

    @contextmanager
    def transaction(self, other: Path | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction, which may read another ledger's file; inside of another, a part of it.

        It never writes both: SQLite makes that whole by a third file, known by its absolute path,
        and a folder that is moved after a kill would be left with half of it.
        """
        # Nobody else is in one: SQLite lets in a single writer.
        if self._open is not None and self._open[0] == threading.get_ident():
            yield self._open[1]
            return
        try:
            with opened(self.path, other) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                _recognise(database, self.path)
                if other is not None and not is_ledger(database, OTHER):
                    raise InputError(f"{other} is not a ledger that this eyelid can read")
                self._open = threading.get_ident(), database
                try:
                    yield database
                finally:
                    self._open = None
                # Closing without COMMIT rolls back.
                database.execute("COMMIT")
        except sqlite3.Error as error:
            raise InputError(
                f"cannot use the ledger {self.path} ({error}): check the file and its folder"
            ) from None

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Everything that a query finds."""
        with self.transaction() as database:
            return database.execute(query, values).fetchall()

    def row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        """The first row that a query finds, if there is one."""
        return next(iter(self.rows(query, values)), None)

    def change(self, statement: str, *rows: Sequence[object]) -> None:
        """Have a statement change the tables, once for each row of values."""
        with self.transaction() as database:
            database.executemany(statement, rows)


@contextmanager
def opened(path: Path, other: Path | None = None) -> Iterator[sqlite3.Connection]:
    """The database in a file that others may have made; closed at the end, never made.

    SQLite does what the files beside a database say: a journal may name a further file, which is
    then removed. Ledgers never have such ones, and those of others are refused. What SQLite does
    with the database is counted in steps, and ends where a ledger of that size needs no more.

    Args:
        path: of the file.
        other: another ledger's file that is read too, as the database ``other``.

    Raises:
        InputError: it is no file that a ledger can be in.
    """
    files = [file.resolve() for file in (path, other) if file is not None]
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
                database.execute(f"ATTACH DATABASE ? AS {OTHER}", (place,))
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
            raise InputError(f"the ledger {path} is no file: say where it is with `ledger=…`")
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
        "by others? Move both away, or say where the ledger is with `ledger=…`"
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


def _recognise(database: sqlite3.Connection, path: Path) -> None:
    """Fail unless a database is a ledger's; one of an earlier version gets what it lacks."""
    query = "SELECT key, value FROM ledger WHERE key IN ('format', 'key')"
    known = dict(database.execute(query)) if is_ledger(database) else {}
    key = re.fullmatch("(?:[0-9a-f]{2})+", str(known.get("key")))
    if known.get("format") not in (FORMAT, FORMAT_WITH_ACCOUNTS) or key is None:
        raise InputError(
            f"{path} is not a ledger that this eyelid can read: it may have been "
            "emptied; bring back a copy, or say where it is with `ledger=…`; if there is "
            "none, move the file away and go on without a total by 'eyelid budget IN --lost'"
        )
    tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    for table, statement in _LATER_TABLES.items():
        if table not in tables:
            database.execute(statement)


def is_ledger(database: sqlite3.Connection, of: str = "main") -> bool:
    """Whether the tables of a database are those of a ledger, and cause nothing besides.

    Views, triggers, constraints, and computed columns and indexes of others would run as soon as
    the tables are used. Of tables unknown to this version only the names are seen.

    Args:
        database: in a transaction.
        of: which of its databases.
    """
    if database.execute(f"PRAGMA {of}.journal_mode").fetchone() == ("wal",):
        return False
    known, _ = _expected()
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


def check_values(database: sqlite3.Connection, path: Path) -> None:
    """Fail unless every value is of the kind that its column is for; SQLite takes any.

    Args:
        database: of a ledger, which has all tables.
        path: of its file.
    """
    _, columns = _expected()
    for table, kinds in columns.items():
        wrong = " OR ".join(f"typeof({name}) <> '{kind}'" for name, kind in kinds)
        if database.execute(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1").fetchone() is not None:
            raise InputError(
                f"the ledger {path} is damaged, or made by others: its table {table} has values "
                "that are none of a ledger; bring back a copy"
            )


@cache
def _expected() -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    """What SQLite notes of a ledger's tables by their names, and the kinds of their columns."""
    with closing(sqlite3.connect(":memory:")) as database:
        for statement in (*_FIRST_TABLES, *_LATER_TABLES.values()):
            database.execute(statement)
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
        tables = dict(database.execute(query).fetchall())
        kinds = "SELECT name, lower(type) FROM pragma_table_info(?)"
        columns = {
            table: database.execute(kinds, (table,)).fetchall()
            for table in tables
            if not table.startswith("sqlite")
        }
    return tables, columns


def make(path: Path) -> None:
    """Put down a fresh ledger in one step, so that an empty file always is a damaged one."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        # SQLite gives its journal the mode of the file, so nothing is ever open to others.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        make_private(draft)
        with closing(sqlite3.connect(draft)) as database:
            # Together: every transaction waits for the disk.
            database.execute("BEGIN")
            for statement in _FIRST_TABLES:
                database.execute(statement)
            known = {
                "format": FORMAT,
                "key": secrets.token_hex(32),
                "place": str(path.resolve()),
                "private": "",
            }
            database.executemany("INSERT INTO ledger VALUES (?, ?)", known.items())
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
            f"with `ledger={row[0]}`"
        )
    database.execute("INSERT OR REPLACE INTO ledger VALUES ('place', ?)", (str(here),))


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, however they are spelt."""
    try:
        return one.resolve() == other.resolve() or one.samefile(other)
    except (OSError, ValueError, RuntimeError):
        # Of what a file of others calls a path; a link to itself is a RuntimeError.
        return False


def _has_key(path: Path, key: str) -> bool:
    """Whether a path leads to a ledger with this secret key; whatever cannot be read is none."""
    if not path.is_absolute() or not path.is_file():
        return False
    try:
        with opened(path) as database:
            database.execute("BEGIN")
            if not is_ledger(database):
                return False
            row = database.execute("SELECT value FROM ledger WHERE key = 'key'").fetchone()
    except (sqlite3.Error, InputError):
        return False
    return row is not None and bool(row[0] == key)

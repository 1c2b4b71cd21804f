"""Whose releases add up: people of one or of several studies, known to a ledger by their ids.

An origin is what a study calls its people. Origins that were joined are one account: what is spent
on any of them is spent on the same people. Every function here works inside a transaction of the
ledger, which settles that a reader sees the old state or the new one.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from eyelid.errors import InputError
from eyelid.spelling import spelt_alike

TABLES = {
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
"""Of people and of ledgers that were joined; earlier ledgers lack them."""

OTHER = "other"
"""What the database of a second ledger is called while two are joined."""

# Whom each origin of `theirs` has, by every name; a pseudonym stands for its bearer.
_EVERYBODY = (
    "SELECT origin, person AS name, person FROM member WHERE origin IN theirs "
    "UNION SELECT origin, person, person FROM pseudonym WHERE origin IN theirs "
    "UNION SELECT origin, pseudonym, person FROM pseudonym WHERE origin IN theirs "
    "UNION SELECT origin, crowd.person, crowd.person FROM "
    "(SELECT DISTINCT origin, crowd FROM debit WHERE origin IN theirs) JOIN crowd USING (crowd)"
)
# Stands for studies that have not been looked for yet.
_UNSEEN = ""
# Earlier versions know nothing of accounts, and would count too little.
_FORMAT_WITH_ACCOUNTS = "eyelid/ledger/2"


class Gap(StrEnum):
    """Why a ledger does not know, or may not know, everything that was released of some people."""

    ELSEWHERE = "elsewhere"
    LOST = "lost"
    RENAMED = "renamed"
    SAME_IDS = "same-ids"


@dataclass(frozen=True)
class Alike:
    """People of an account who have the same ids as others.

    Attributes:
        origin: of the account, the one that shares most ids.
        origins: all of the account.
        shared: how many ids are the same.
    """

    origin: str
    origins: tuple[str, ...]
    shared: int


@dataclass(frozen=True)
class Doubt:
    """Ids that another study has too, of which nobody has said whether they are the same people.

    Attributes:
        other: origin of that study.
        place: of the ledger that counts it.
        shared: how many ids are the same.
    """

    other: str
    place: Path
    shared: int


@dataclass(frozen=True)
class Forward:
    """Where people are counted since their ledger was joined with another.

    Attributes:
        place: of that ledger.
        beside: the same, seen from the folder of this one.
        ledger: which ledger it is.
    """

    place: str
    beside: str
    ledger: str


@dataclass(frozen=True)
class Joined:
    """What became of two accounts.

    Attributes:
        shared: ids that both had.
        here: ids that the first alone had.
        there: ids that the other alone had.
    """

    shared: int
    here: int
    there: int


def name_of(key: str) -> str:
    """What tells a ledger from others, without telling its secret key."""
    return hashlib.sha256(f"ledger:{key}".encode()).hexdigest()


def key_of(database: sqlite3.Connection, schema: str = "main") -> str:
    """The secret key of a ledger."""
    query = f"SELECT value FROM {schema}.ledger WHERE key = 'key'"
    return str(database.execute(query).fetchone()[0])


def marks(values: Sequence[object]) -> str:
    """Question marks for an IN (…)."""
    return f"({', '.join('?' * len(values))})"


def family(database: sqlite3.Connection, origin: str, schema: str = "main") -> tuple[str, ...]:
    """Every origin of the account that an origin belongs to, itself included."""
    query = (
        f"SELECT origin FROM {schema}.kin WHERE account = "
        f"(SELECT account FROM {schema}.kin WHERE origin = ?) ORDER BY origin"
    )
    return tuple(name for (name,) in database.execute(query, (origin,))) or (origin,)


def true_names(
    database: sqlite3.Connection, origin: str, people: Iterable[str], schema: str = "main"
) -> list[str]:
    """The names under which people are counted, in order; a pseudonym stands for its bearer."""
    query = f"SELECT pseudonym, person FROM {schema}.pseudonym WHERE origin = ?"
    bearers = dict(database.execute(query, (origin,)).fetchall())
    return sorted({bearers[name] if name in bearers else spelt_alike(name) for name in people})


def counted_people(
    database: sqlite3.Connection, origins: Sequence[str], schema: str = "main"
) -> set[str]:
    """The names of everybody of whom something was released."""
    query = (
        f"SELECT DISTINCT person FROM {schema}.crowd WHERE crowd IN "
        f"(SELECT crowd FROM {schema}.debit WHERE origin IN {marks(origins)})"
    )
    return {spelt_alike(name) for (name,) in database.execute(query, origins)}


def known_people(
    database: sqlite3.Connection, origins: Sequence[str], schema: str = "main"
) -> set[str]:
    """The names of everybody whom some origins have, released or not."""
    found = counted_people(database, origins, schema)
    for table in ("member", "pseudonym"):
        query = f"SELECT person FROM {schema}.{table} WHERE origin IN {marks(origins)}"
        found |= {name for (name,) in database.execute(query, origins)}
    return found


def add_people(database: sqlite3.Connection, origin: str, people: Iterable[str]) -> None:
    """Remember whom an origin has."""
    rows = [(origin, name) for name in true_names(database, origin, people)]
    database.executemany("INSERT OR IGNORE INTO member VALUES (?, ?)", rows)


def alike(
    database: sqlite3.Connection, people: Sequence[str], besides: str | None = None
) -> list[Alike]:
    """The accounts that have some of these ids, those that share most first."""
    own = () if besides is None else family(database, besides)
    rows = database.execute(
        "WITH theirs AS (SELECT id FROM (SELECT id FROM origin UNION SELECT origin FROM joining) "
        f"WHERE id NOT IN {marks(own)}) {_EVERYBODY}",
        own,
    ).fetchall()
    # Most ledgers count one account, and spelling takes its time.
    wanted = {spelt_alike(name) for name in people} if rows else set[str]()
    found: dict[str, set[str]] = {}
    for origin, name, person in rows:
        same = name if name in wanted else spelt_alike(name)
        if same in wanted:
            found.setdefault(origin, set()).add(same if name == person else person)
    together: dict[tuple[str, ...], list[str]] = {}
    for origin in sorted(found, key=lambda each: (-len(found[each]), each)):
        together.setdefault(family(database, origin), []).append(origin)
    each = [
        Alike(having[0], origins, len(set[str]().union(*(found[one] for one in having))))
        for origins, having in together.items()
    ]
    return sorted(each, key=lambda one: (-one.shared, one.origin))


def doubt_same_ids(
    database: sqlite3.Connection, origin: str, people: Sequence[str], place: Path
) -> None:
    """Remember, for both, which other accounts of this ledger have ids of people being charged.

    A study grows: that nobody else had its ids when it was made says nothing of those it has now.

    Args:
        database: of the ledger.
        origin: of the study.
        people: their true names.
        place: of the ledger.
    """
    for found in alike(database, people, origin):
        if not is_settled(database, origin, found.origins):
            raise_doubt(database, origin, found.origin, place, found.shared)
            raise_doubt(database, found.origin, origin, place, found.shared)


def is_settled(database: sqlite3.Connection, origin: str, others: Sequence[str]) -> bool:
    """Whether an account is known to have the ids of an origin for other people."""
    query = f"SELECT 1 FROM doubt WHERE settled AND origin = ? AND other IN {marks(others)}"
    return database.execute(query, (origin, *others)).fetchone() is not None


def raise_doubt(
    database: sqlite3.Connection, origin: str, other: str, place: Path, shared: int
) -> None:
    """Remember that another study has the same ids, unless somebody has said who they are."""
    database.execute(
        "INSERT OR IGNORE INTO doubt (origin, other, place, shared) VALUES (?, ?, ?, ?)",
        (origin, other, str(place), shared),
    )
    _only_for_this_version(database)


def reopen_doubt(
    database: sqlite3.Connection, origin: str, others: Sequence[str], place: Path, shared: int
) -> None:
    """Remember that others are said to be the same people, and are not counted together yet."""
    database.executemany(
        "INSERT OR REPLACE INTO doubt VALUES (?, ?, ?, ?, 0)",
        [(origin, other, str(place), shared) for other in others],
    )
    _only_for_this_version(database)


def note_unseen(database: sqlite3.Connection, origin: str) -> None:
    """Remember, before anything else, that nobody has looked for others with the same ids."""
    database.execute("INSERT OR IGNORE INTO doubt VALUES (?, ?, '', 0, 0)", (origin, _UNSEEN))


def is_unseen(database: sqlite3.Connection, origin: str) -> bool:
    """Whether nobody has looked yet for others with the same ids."""
    query = "SELECT 1 FROM doubt WHERE origin = ? AND other = ? AND NOT settled"
    return database.execute(query, (origin, _UNSEEN)).fetchone() is not None


def note_seen(database: sqlite3.Connection, origin: str) -> None:
    """Remember that others with the same ids were looked for."""
    database.execute("DELETE FROM doubt WHERE origin = ? AND other = ?", (origin, _UNSEEN))


def settle_doubt(database: sqlite3.Connection, origin: str, others: Sequence[str]) -> None:
    """Remember that other studies have the same ids for other people."""
    for mine in family(database, origin):
        for other in others:
            database.execute(
                "INSERT INTO doubt VALUES (?, ?, '', 0, 1) "
                "ON CONFLICT (origin, other) DO UPDATE SET settled = 1",
                (mine, other),
            )


def doubts(database: sqlite3.Connection, origin: str) -> tuple[Doubt, ...]:
    """Other studies with the same ids, of which nobody has said whether they are the same."""
    own = family(database, origin)
    known = (*own, _UNSEEN)
    query = (
        "SELECT other, place, max(shared) FROM doubt WHERE NOT settled "
        f"AND origin IN {marks(own)} AND other NOT IN {marks(known)} GROUP BY other ORDER BY other"
    )
    return tuple(
        Doubt(other, Path(place), shared)
        for other, place, shared in database.execute(query, (*own, *known))
    )


def gaps(database: sqlite3.Connection, origin: str) -> tuple[Gap, ...]:
    """Why not everything may be known that was released of these people; empty where it is."""
    own = family(database, origin)
    named = f"SELECT DISTINCT kind FROM gap WHERE origin IN {marks(own)} ORDER BY kind"
    kinds = {kind for (kind,) in database.execute(named, own)}
    found = [gap for gap in sorted(Gap) if gap in kinds]
    # What earlier versions have noted has no kind, and later ones may know others.
    plain = f"SELECT 1 FROM incomplete WHERE origin IN {marks(own)}"
    if not found and (kinds or database.execute(plain, own).fetchone() is not None):
        found.append(Gap.ELSEWHERE)
    stopped = any(intent_of(database, each) is not None for each in own)
    if stopped or doubts(database, origin) or is_unseen(database, origin):
        found.append(Gap.SAME_IDS)
    return tuple(found)


def add_gap(database: sqlite3.Connection, origin: str, gap: Gap) -> None:
    """Remember that something may be missing, also for earlier versions."""
    database.execute("INSERT OR IGNORE INTO incomplete VALUES (?)", (origin,))
    database.execute("INSERT OR IGNORE INTO gap VALUES (?, ?)", (origin, gap))


def forward_of(database: sqlite3.Connection, origin: str) -> Forward | None:
    """Where an origin is counted since its ledger was joined with another; None where here."""
    query = "SELECT place, beside, ledger FROM forward WHERE origin = ?"
    row = database.execute(query, (origin,)).fetchone()
    return None if row is None else Forward(*row)


def intent_of(database: sqlite3.Connection, origin: str) -> Forward | None:
    """The ledger that an origin is being joined into; None unless that was begun and not ended."""
    query = "SELECT place, beside, ledger FROM joining WHERE origin = ?"
    row = database.execute(query, (origin,)).fetchone()
    return None if row is None else Forward(*row)


def begin_leaving(database: sqlite3.Connection, others: Sequence[str], home: Forward) -> None:
    """Have a ledger count nothing more of some origins, which are being joined into another.

    Args:
        database: of the ledger that they leave.
        others: whole accounts.
        home: where they will be counted.
    """
    check_may_leave(database, others, home)
    database.executemany(
        "INSERT OR REPLACE INTO joining VALUES (?, ?, ?, ?)",
        [(each, home.place, home.beside, home.ledger) for each in others],
    )
    # Nothing can be spent here any more, by earlier versions neither.
    database.execute(f"DELETE FROM origin WHERE id IN {marks(others)}", others)


def check_may_leave(database: sqlite3.Connection, others: Sequence[str], home: Forward) -> None:
    """Fail if origins are being joined into a ledger other than ``home``."""
    for each in others:
        begun = intent_of(database, each)
        if begun is not None and begun.ledger != home.ledger:
            raise InputError(stopped_join(begun))


def end_leaving(database: sqlite3.Connection, others: Sequence[str], home: Forward) -> None:
    """Have a ledger point to the one that counts some origins since they were joined."""
    database.executemany(
        "INSERT OR REPLACE INTO forward VALUES (?, ?, ?, ?)",
        [(each, home.place, home.beside, home.ledger) for each in others],
    )
    database.execute(f"DELETE FROM joining WHERE origin IN {marks(others)}", others)


def stopped_join(begun: Forward) -> str:
    """What to do about people who are being joined with others, and were not to the end."""
    return (
        f"these people are being joined with those of {begun.place}, and that was stopped: nothing "
        "is counted until it is done again, with 'eyelid budget IN --join OTHER' as it was begun "
        f"(IN is counted in {begun.place})"
    )


def known_at(database: sqlite3.Connection, debit: int) -> frozenset[int]:
    """The debits that a ledger had when it counted one of them, that one included.

    Ledgers that were joined later have others, which no certificate of that time can tell of.
    """
    query = "SELECT key, number FROM also WHERE debit = ? AND charged"
    row = database.execute(query, (debit,)).fetchone()
    if row is None:
        query = "SELECT id FROM debit WHERE id <= ?"
        return frozenset(number for (number,) in database.execute(query, (debit,)))
    query = "SELECT debit FROM also WHERE key = ? AND number <= ?"
    return frozenset(number for (number,) in database.execute(query, row))


def shared_ids(here: set[str], there: set[str]) -> Joined:
    """How many ids two accounts share.

    Args:
        here: ids of one account.
        there: of the other.

    Raises:
        InputError: no id is in both, so that nothing would add up.
    """
    if not here & there:
        raise InputError(
            f"no id is in both ({len(here)} here, {len(there)} there), so that nothing would add "
            "up: write one of the studies with the ids of the other first"
        )
    return Joined(len(here & there), len(here - there), len(there - here))


def merge(database: sqlite3.Connection, origin: str, others: Sequence[str]) -> None:
    """Make accounts of one ledger one account: the same id is the same person.

    Args:
        database: of the ledger.
        origin: of one account.
        others: origins of the accounts that it is joined with.
    """
    everyone = sorted({*family(database, origin), *others})
    query = f"SELECT min(epsilon), min(delta) FROM allowance WHERE origin IN {marks(everyone)}"
    epsilon, delta = database.execute(query, everyone).fetchone()
    database.execute(f"DELETE FROM allowance WHERE origin IN {marks(everyone)}", everyone)
    if epsilon is not None:
        # Both limits were promises: the stricter of each number keeps both.
        database.execute("INSERT INTO allowance VALUES (?, ?, ?)", (origin, epsilon, delta))
    database.executemany(
        "INSERT OR REPLACE INTO kin VALUES (?, ?)", [(each, origin) for each in everyone]
    )
    _only_for_this_version(database)


def bring_over(database: sqlite3.Connection, others: Sequence[str]) -> None:
    """Copy accounts of the attached ledger into this one; what was copied before, is not again.

    Args:
        database: of this ledger, the other one attached as ``other``.
        others: origins there, whole accounts that are leaving.
    """
    their_key, own_key = key_of(database, OTHER), key_of(database)
    which = marks(others)
    database.executemany(
        "INSERT OR IGNORE INTO main.origin VALUES (?)", [(each,) for each in others]
    )
    for table in ("home", "pseudonym", "member", "incomplete", "gap", "doubt", "kin"):
        database.execute(
            f"INSERT OR IGNORE INTO main.{table} "
            f"SELECT * FROM {OTHER}.{table} WHERE origin IN {which}",
            others,
        )
    database.execute(
        f"INSERT INTO main.allowance SELECT * FROM {OTHER}.allowance WHERE origin IN {which} "
        "ON CONFLICT (origin) DO UPDATE SET epsilon = min(epsilon, excluded.epsilon), "
        "delta = min(delta, excluded.delta)",
        others,
    )
    # What was counted here once, left, and comes back, is here.
    at_home = (
        f"SELECT also.debit FROM {OTHER}.also JOIN main.debit ON main.debit.id = also.number "
        "WHERE also.key = ?"
    )
    copied = "SELECT number FROM main.also WHERE key = ?"
    columns = "origin, crowd, made_at, mechanism, guarantee, what, alike"
    rows = database.execute(
        f"SELECT id, {columns} FROM {OTHER}.debit WHERE origin IN {which} "
        f"AND id NOT IN ({at_home}) AND id NOT IN ({copied}) ORDER BY id",
        (*others, own_key, their_key),
    ).fetchall()
    database.execute(
        f"INSERT OR IGNORE INTO main.crowd SELECT crowd, person FROM {OTHER}.crowd "
        f"WHERE crowd IN (SELECT crowd FROM {OTHER}.debit WHERE origin IN {which})",
        others,
    )
    for number, *row in rows:
        made = database.execute(
            f"INSERT INTO main.debit ({columns}) VALUES {marks(row)}", row
        ).lastrowid
        database.execute(
            f"INSERT INTO main.also SELECT ?, key, number, charged FROM {OTHER}.also "
            "WHERE debit = ?",
            (made, number),
        )
        query = "SELECT 1 FROM main.also WHERE debit = ? AND charged"
        earlier = database.execute(query, (made,)).fetchone() is not None
        database.execute(
            "INSERT INTO main.also VALUES (?, ?, ?, ?)", (made, their_key, number, not earlier)
        )
        database.execute(
            f"INSERT OR IGNORE INTO main.run SELECT id, ?, ended FROM {OTHER}.run WHERE debit = ?",
            (made, number),
        )
    database.execute(f"DELETE FROM main.forward WHERE origin IN {which}", others)


def _only_for_this_version(database: sqlite3.Connection) -> None:
    database.execute("UPDATE ledger SET value = ? WHERE key = 'format'", (_FORMAT_WITH_ACCOUNTS,))

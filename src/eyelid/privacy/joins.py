"""Two accounts made one: the same id is the same person, whichever ledger has counted them.

Each file changes in transactions of its own: the other ledger notes that its people are leaving and
counts nothing of them any more, this one copies them, the other points here. After a kill in
between neither gives a total that lacks anything, and joining again ends it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from eyelid.errors import InputError
from eyelid.privacy.accounts import Accounts, Forward, Joined, marks
from eyelid.privacy.ledger_file import OTHER, is_same_file


def join(ledger: Accounts, origin: str, other: Accounts, others: Sequence[str]) -> Joined:
    """Count the people of other origins together with those of one.

    Args:
        ledger: counts them from then on.
        origin: of people whom it counts.
        other: the ledger that counts the others; may be the same.
        others: their origins.
    """
    if is_same_file(ledger.path, other.path):
        with ledger.transaction():
            ledger.check_knows(origin)
            everyone = _families(ledger, others)
            shared = _shared_ids(ledger, origin, ledger, everyone)
            merge(ledger, origin, everyone)
            return shared
    if ledger.name == other.name:
        raise InputError(
            f"{other.path} is a copy of {ledger.path}, and what both have counted cannot be told "
            "apart: keep the one that has counted more, and mark it with 'eyelid budget IN "
            "--lost' if the other has counted anything since"
        )
    mine, theirs = ledger.path.resolve(), other.path.resolve()
    beside = Path(os.path.relpath(mine, theirs.parent)).as_posix()
    home = Forward(str(mine), beside, ledger.name)
    with ledger.transaction():
        ledger.check_knows(origin)
        with other.transaction():
            everyone = _families(other, others)
            _check_may_leave(other, everyone, home)
            shared = _shared_ids(ledger, origin, other, everyone)
        # Before the other counts them no more: from here on this total may lack theirs.
        doubts = [(origin, one, str(theirs), shared.shared) for one in everyone]
        ledger.change("INSERT OR REPLACE INTO doubt VALUES (?, ?, ?, ?, 0)", *doubts)
        ledger.close_to_earlier_versions()
    # One within the other, so that nobody joins them the other way round meanwhile.
    with ledger.transaction():
        ledger.check_knows(origin)
        with other.transaction():
            begin_leaving(other, everyone, home)
    with ledger.transaction(theirs):
        ledger.check_knows(origin)
        bring_over(ledger, everyone)
        merge(ledger, origin, everyone)
    end_leaving(other, everyone, home)
    return shared


def _families(ledger: Accounts, origins: Sequence[str]) -> list[str]:
    """Every origin of the accounts that some origins belong to."""
    return sorted({kin for origin in origins for kin in ledger.account(origin)})


def _shared_ids(ledger: Accounts, origin: str, other: Accounts, others: Sequence[str]) -> Joined:
    """How many ids two accounts share; fails where none is in both: nothing would add up."""
    here, there = ledger.known_people(ledger.account(origin)), other.known_people(others)
    if not here & there:
        raise InputError(
            f"no id is in both ({len(here)} here, {len(there)} there), so that nothing would add "
            "up: write one of the studies with the ids of the other first"
        )
    return Joined(len(here & there), len(here - there), len(there - here))


def _check_may_leave(ledger: Accounts, others: Sequence[str], home: Forward) -> None:
    """Fail if origins are being joined into a ledger other than ``home``."""
    for origin in others:
        begun = ledger.intent_of(origin)
        if begun is not None and begun.ledger != home.ledger:
            raise begun.stopped()


def begin_leaving(ledger: Accounts, others: Sequence[str], home: Forward) -> None:
    """Have a ledger count nothing more of some origins, which are being joined into another.

    Args:
        ledger: that they leave.
        others: whole accounts.
        home: where they will be counted.
    """
    _check_may_leave(ledger, others, home)
    _point(ledger, "joining", others, home)
    # Nothing can be spent here any more, by earlier versions neither.
    ledger.change(f"DELETE FROM origin WHERE id IN {marks(others)}", others)


def end_leaving(ledger: Accounts, others: Sequence[str], home: Forward) -> None:
    """Have a ledger point to the one that counts some origins since they were joined."""
    with ledger.transaction():
        _point(ledger, "forward", others, home)
        ledger.change(f"DELETE FROM joining WHERE origin IN {marks(others)}", others)


def _point(ledger: Accounts, table: str, others: Sequence[str], home: Forward) -> None:
    """Note in a table where origins are counted or will be."""
    rows = [(origin, home.place, home.beside, home.ledger) for origin in others]
    ledger.change(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?)", *rows)


def merge(ledger: Accounts, origin: str, others: Sequence[str]) -> None:
    """Make accounts of one ledger one account: the same id is the same person.

    Args:
        ledger: that counts all of them.
        origin: of one account.
        others: origins of the accounts that it is joined with.
    """
    everyone = sorted({*ledger.account(origin), *others})
    query = f"SELECT min(epsilon), min(delta) FROM allowance WHERE origin IN {marks(everyone)}"
    ((epsilon, delta),) = ledger.rows(query, everyone)
    ledger.change(f"DELETE FROM allowance WHERE origin IN {marks(everyone)}", everyone)
    if epsilon is not None:
        # Both limits were promises: the stricter of each number keeps both.
        ledger.change("INSERT INTO allowance VALUES (?, ?, ?)", (origin, epsilon, delta))
    kin = [(one, origin) for one in everyone]
    ledger.change("INSERT OR REPLACE INTO kin VALUES (?, ?)", *kin)
    ledger.close_to_earlier_versions()


def bring_over(ledger: Accounts, others: Sequence[str]) -> None:
    """Copy accounts of the attached ledger into this one; what was copied before, is not again.

    Args:
        ledger: this one, in a transaction with the other one attached.
        others: origins there, whole accounts that are leaving.
    """
    their_key, own_key = ledger.key(OTHER), ledger.key()
    which = marks(others)
    ledger.change("INSERT OR IGNORE INTO main.origin VALUES (?)", *((one,) for one in others))
    for table in ("home", "pseudonym", "member", "incomplete", "gap", "doubt", "kin"):
        ledger.change(
            f"INSERT OR IGNORE INTO main.{table} "
            f"SELECT * FROM {OTHER}.{table} WHERE origin IN {which}",
            others,
        )
    ledger.change(
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
    rows = ledger.rows(
        f"SELECT id, {columns} FROM {OTHER}.debit WHERE origin IN {which} "
        f"AND id NOT IN ({at_home}) AND id NOT IN ({copied}) ORDER BY id",
        (*others, own_key, their_key),
    )
    ledger.change(
        f"INSERT OR IGNORE INTO main.crowd SELECT crowd, person FROM {OTHER}.crowd "
        f"WHERE crowd IN (SELECT crowd FROM {OTHER}.debit WHERE origin IN {which})",
        others,
    )
    for number, *row in rows:
        ledger.change(f"INSERT INTO main.debit ({columns}) VALUES {marks(row)}", row)
        ((made,),) = ledger.rows("SELECT last_insert_rowid()")
        ledger.change(
            f"INSERT INTO main.also SELECT ?, key, number, charged FROM {OTHER}.also "
            "WHERE debit = ?",
            (made, number),
        )
        query = "SELECT 1 FROM main.also WHERE debit = ? AND charged"
        earlier = ledger.row(query, made) is not None
        ledger.change(
            "INSERT INTO main.also VALUES (?, ?, ?, ?)", (made, their_key, number, not earlier)
        )
        ledger.change(
            f"INSERT OR IGNORE INTO main.run SELECT id, ?, ended FROM {OTHER}.run WHERE debit = ?",
            (made, number),
        )
    # Of debits that were here before, too: their runs may have gone on there.
    debits = f"SELECT id FROM {OTHER}.debit WHERE origin IN {which}"
    runs = f"SELECT id FROM {OTHER}.run WHERE debit IN ({debits})"
    ledger.change(
        "INSERT OR IGNORE INTO main.made "
        f"SELECT run, output FROM {OTHER}.made WHERE run IN ({runs})",
        others,
    )
    ledger.change(f"UPDATE main.run SET ended = 1 WHERE id IN ({runs} AND ended)", others)
    ledger.change(f"DELETE FROM main.forward WHERE origin IN {which}", others)

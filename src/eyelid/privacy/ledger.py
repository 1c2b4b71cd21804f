"""What has been spent on each person, in a file that survives crashes and crowds.

A debit is written before a release is computed, so a killed release is counted and nothing that
went through the ledger is missing from it. SQLite gives the transaction: two processes cannot both
take the last of a budget, and a process killed in between leaves the old ledger or the new one.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from eyelid.errors import InputError, Refused
from eyelid.privacy.composition import sequential
from eyelid.privacy.gaussian import check_delta, check_epsilon
from eyelid.privacy.guarantee import Guarantee
from eyelid.privacy.unit import PERSON
from eyelid.spelling import spelt_alike

_SCHEMA = (
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
_LATER = {
    "pseudonym": "CREATE TABLE IF NOT EXISTS pseudonym (origin TEXT, person TEXT, pseudonym TEXT, "
    "PRIMARY KEY (origin, person), UNIQUE (origin, pseudonym))",
    "incomplete": "CREATE TABLE IF NOT EXISTS incomplete (origin TEXT PRIMARY KEY)",
    "run": "CREATE TABLE IF NOT EXISTS run (id TEXT PRIMARY KEY, debit INTEGER NOT NULL, "
    "ended INTEGER NOT NULL DEFAULT 0)",
}
_FORMAT = "eyelid/ledger/1"


@dataclass(frozen=True)
class Debit:
    """One release that was paid for.

    Attributes:
        id: its place in the ledger.
        made_at: when it was debited (UTC).
        mechanism: its name.
        guarantee: the person-level total of that release.
        crowd: names the set of people it touched.
        people: how many they are.
        what: a remark by which the owner knows it.
        alike: whether nothing released as it is told these people apart.
    """

    id: int
    made_at: str
    mechanism: str
    guarantee: Guarantee
    crowd: str
    people: int
    what: str
    alike: bool


@dataclass(frozen=True)
class Allowance:
    """The most that may be spent on a person."""

    epsilon: float
    delta: float

    def covers(self, total: Guarantee) -> bool:
        """Whether a person may have come to this total; it is to be one at this δ."""
        # Sums of decimal epsilons must meet a decimal limit exactly.
        most = 1 + 1e-9
        return (
            total.holds
            and (total.epsilon or 0.0) <= self.epsilon * most
            and (total.delta or 0.0) <= self.delta * most
        )


@dataclass(frozen=True)
class Balance:
    """What one group of people, who were in the same releases, has spent.

    Attributes:
        people: how many people.
        total: over every release; ``holds`` is false when one of them was unbounded.
        sound: over the releases that hold, or None when there is none.
        debits: the releases.
    """

    people: int
    total: Guarantee
    sound: Guarantee | None
    debits: tuple[Debit, ...]


class Ledger:
    """A ledger file; several studies may share one.

    >>> import tempfile
    >>> from eyelid.privacy.guarantee import Guarantee, Kind
    >>> from eyelid.privacy.unit import PERSON, Neighbours, Trust
    >>> one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger.create(Path(folder) / "study.ledger")
    ...     ledger.register("origin")
    ...     for _ in range(2):
    ...         _ = ledger.debit("origin", ["ann", "bob"], "laplace", one)
    ...     print(ledger.balances("origin")[0].total.epsilon)
    2.0
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise InputError(
                f"the ledger {self.path} is missing: bring it back, or say where it is with "
                "--ledger FILE (spending without it would not be counted)"
            )
        with self._transaction():
            pass

    @classmethod
    def create(cls, path: Path | str) -> Ledger:
        """Open the ledger at ``path``, made if it is not there."""
        path = Path(path)
        if not path.exists():
            try:
                _make(path)
            except (OSError, sqlite3.Error) as error:
                raise InputError(
                    f"cannot write the ledger {path} ({error}): choose another with --ledger FILE"
                ) from None
        return cls(path)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            database = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                self._recognise(database)
                yield database
                database.execute("COMMIT")
            finally:
                # Closing without COMMIT rolls back.
                database.close()
        except sqlite3.Error as error:
            raise InputError(
                f"cannot use the ledger {self.path} ({error}): check the file and its folder"
            ) from None

    def _recognise(self, database: sqlite3.Connection) -> None:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        query = "SELECT value FROM ledger WHERE key = 'format'"
        if "ledger" not in tables or database.execute(query).fetchone() != (_FORMAT,):
            raise InputError(
                f"{self.path} is not a ledger that this eyelid can read: it may have been "
                "emptied; bring back a copy, or say where it is with --ledger FILE"
            )
        for table, statement in _LATER.items():
            if table not in tables:
                database.execute(statement)

    def register(self, origin: str) -> None:
        """Make an origin known, so that its spending can be counted here."""
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO origin VALUES (?)", (origin,))

    def check_knows(self, origin: str) -> None:
        """Fail unless this ledger was made for, or has counted, this origin."""
        with self._transaction() as database:
            _check_known(database, origin, self.path)

    def origin_of_folder(self, folder: str) -> str:
        """The one origin of a folder that came without, the same for whoever asks first."""
        with self._transaction() as database:
            fresh = (folder, secrets.token_hex(16))
            database.execute("INSERT OR IGNORE INTO home VALUES (?, ?)", fresh)
            query = "SELECT origin FROM home WHERE folder = ?"
            (origin,) = database.execute(query, (folder,)).fetchone()
            database.execute("INSERT OR IGNORE INTO origin VALUES (?)", (origin,))
        return str(origin)

    def known_folder(self, folder: str) -> str | None:
        """The origin that a folder was given here, if it was."""
        with self._transaction() as database:
            query = "SELECT origin FROM home WHERE folder = ?"
            row = database.execute(query, (folder,)).fetchone()
        return None if row is None else str(row[0])

    def knows(self, origin: str) -> bool:
        """Whether this ledger was made for, or has counted, this origin."""
        with self._transaction() as database:
            return _is_known(database, origin)

    def mark_incomplete(self, origin: str) -> None:
        """Remember that these people are, or may be, counted in another ledger too."""
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO incomplete VALUES (?)", (origin,))

    def is_incomplete(self, origin: str) -> bool:
        """Whether these people are, or may be, counted in another ledger too."""
        with self._transaction() as database:
            query = "SELECT 1 FROM incomplete WHERE origin = ?"
            return database.execute(query, (origin,)).fetchone() is not None

    def pseudonyms(
        self, origin: str, people: Sequence[str], besides: Iterable[str] = ()
    ) -> dict[str, str]:
        """A pseudonym for each of some people, for ever the same in this ledger.

        Spending is counted under the true name, whichever of the two a study uses.

        Args:
            origin: of the study.
            people: their names.
            besides: names that others keep, and that no pseudonym may be.
        """
        with self._transaction() as database:
            query = "SELECT person, pseudonym FROM pseudonym WHERE origin = ?"
            known = dict(database.execute(query, (origin,)).fetchall())
            wanted = {name: spelt_alike(name) for name in people}
            fresh = sorted(set(wanted.values()) - set(known))
            # In the order of their names, numbers would tell them.
            secrets.SystemRandom().shuffle(fresh)
            counted = {name for (name,) in database.execute("SELECT person FROM crowd")}
            taken = {spelt_alike(n) for n in (*known.values(), *wanted, *besides, *counted)}
            numbers = (f"anon{number:02d}" for number in itertools.count(1))
            free = (name for name in numbers if spelt_alike(name) not in taken)
            rows = [(origin, name, alias) for name, alias in zip(fresh, free, strict=False)]
            database.executemany("INSERT INTO pseudonym VALUES (?, ?, ?)", rows)
        known |= {name: alias for _, name, alias in rows}
        return {name: known[same] for name, same in wanted.items()}

    def fingerprint(self, digest: bytes, debit: int) -> str:
        """A fingerprint of private data for one release, which only the ledger's owner can check.

        A plain hash would let anybody who guesses the data confirm the guess; the same hash in two
        releases would tell whether the data changed in between.

        Args:
            digest: of the data.
            debit: the release's place in the ledger.
        """
        with self._transaction() as database:
            key = database.execute("SELECT value FROM ledger WHERE key = 'key'").fetchone()[0]
        return hmac.new(bytes.fromhex(key), b"%d:%b" % (debit, digest), hashlib.sha256).hexdigest()

    def debit(
        self,
        origin: str,
        people: Iterable[str],
        mechanism: str,
        guarantee: Guarantee,
        what: str = "",
        alike: bool = True,
        run: str | None = None,
    ) -> Debit:
        """Count a release before it is computed.

        Args:
            origin: of the study.
            people: everybody the release touches.
            mechanism: its name.
            guarantee: its person-level total.
            what: a remark by which the owner will know it.
            alike: whether nothing released as it is tells these people apart.
            run: that computes it. One that goes on after a stop has been counted, and is not again.

        Raises:
            Refused: the limit would be exceeded; nothing is counted.
        """
        if guarantee.unit != PERSON:
            raise InputError(f"the ledger counts people, not the unit '{guarantee.unit}'")
        made_at = datetime.now(UTC).isoformat(timespec="seconds")
        with self._transaction() as database:
            _check_known(database, origin, self.path)
            touched = _true_names(database, origin, people)
            crowd = hashlib.sha256(json.dumps(touched).encode()).hexdigest()
            counted = _debit_of_run(database, origin, run)
            if counted is not None:
                if (counted.crowd, counted.mechanism, counted.guarantee) != (
                    crowd, mechanism, guarantee
                ):  # fmt: skip
                    raise InputError(
                        "this run was counted for other people or another promise, and cannot go "
                        "on as this one: start another, into another folder"
                    )
                if _has_ended(database, run):
                    raise InputError(
                        "this run has ended, and what it made is out: what it left, or a copy of "
                        "it, would be a second release; remove it and start another"
                    )
                return counted
            if _are_others(database, origin, touched):
                database.execute("INSERT OR IGNORE INTO incomplete VALUES (?)", (origin,))
            allowance = _allowance(database, origin)
            if allowance is not None:
                _check_allowance(database, origin, touched, guarantee, allowance)
            database.executemany(
                "INSERT OR IGNORE INTO crowd VALUES (?, ?)", [(crowd, name) for name in touched]
            )
            row = database.execute(
                "INSERT INTO debit (origin, crowd, made_at, mechanism, guarantee, what, alike) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (origin, crowd, made_at, mechanism, _pack(guarantee), what, alike),
            )
            number = row.lastrowid or 0
            if run is not None:
                database.execute("INSERT INTO run (id, debit) VALUES (?, ?)", (run, number))
        return Debit(number, made_at, mechanism, guarantee, crowd, len(touched), what, alike)

    def end(self, run: str) -> None:
        """Remember that what a run made is in its place: it cannot go on any more."""
        with self._transaction() as database:
            database.execute("UPDATE run SET ended = 1 WHERE id = ?", (run,))

    def debits(self, origin: str) -> list[Debit]:
        """Every release counted so far, oldest first."""
        with self._transaction() as database:
            return _debits(database, origin)

    def balances(
        self, origin: str, delta: float | None = None, people: Iterable[str] | None = None
    ) -> list[Balance]:
        """What has been spent, a row for each group of people who were in the same releases.

        Args:
            origin: of the study.
            delta: at which ε is stated; that of the limit, or the largest spent, by default.
            people: only these; everybody ever counted by default.

        Returns:
            the groups, the one that has spent most first.
        """
        with self._transaction() as database:
            debits = {d.id: d for d in _debits(database, origin)}
            allowance = _allowance(database, origin)
            wanted = None if people is None else _true_names(database, origin, people)
            groups = _groups(database, origin, wanted)
        if delta is None and allowance is not None:
            delta = allowance.delta
        found = []
        for members, count in groups.items():
            if not members:
                continue
            mine = tuple(debits[i] for i in members)
            every = [d.guarantee for d in mine]
            sound = [g for g in every if g.holds and g.kind.differential]
            found.append(
                Balance(
                    people=count,
                    total=sequential(every, delta),
                    sound=sequential(sound, delta) if sound else None,
                    debits=mine,
                )
            )
        return sorted(found, key=lambda b: (b.total.holds, -(b.total.epsilon or 0.0)))

    def allowance(self, origin: str) -> Allowance | None:
        """The limit, if one was set."""
        with self._transaction() as database:
            return _allowance(database, origin)

    def lift_allowance(self, origin: str) -> None:
        """Remove the limit; spending is still counted."""
        with self._transaction() as database:
            database.execute("DELETE FROM allowance WHERE origin = ?", (origin,))

    def set_allowance(self, origin: str, epsilon: float, delta: float) -> Allowance:
        """Set the most that may be spent on a person; releases above it are refused."""
        allowance = Allowance(check_epsilon(epsilon), check_delta(delta))
        with self._transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO allowance VALUES (?, ?, ?)",
                (origin, allowance.epsilon, allowance.delta),
            )
        return allowance


def _make(path: Path) -> None:
    """Put down a fresh ledger in one step, so that an empty file always is a damaged one."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    try:
        database = sqlite3.connect(draft)
        try:
            # Together: every transaction waits for the disk.
            database.execute("BEGIN")
            for statement in _SCHEMA:
                database.execute(statement)
            fresh = [("format", _FORMAT), ("key", secrets.token_hex(32))]
            database.executemany("INSERT INTO ledger VALUES (?, ?)", fresh)
            database.commit()
        finally:
            database.close()
        # Unlike a rename, a link never replaces what another process put there first.
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _is_known(database: sqlite3.Connection, origin: str) -> bool:
    query = "SELECT 1 FROM origin WHERE id = ?"
    return database.execute(query, (origin,)).fetchone() is not None


def _true_names(database: sqlite3.Connection, origin: str, people: Iterable[str]) -> list[str]:
    """The names under which people are counted, in order; a pseudonym stands for its bearer."""
    query = "SELECT pseudonym, person FROM pseudonym WHERE origin = ?"
    bearers = dict(database.execute(query, (origin,)).fetchall())
    return sorted({bearers.get(name, spelt_alike(name)) for name in people})


def _are_others(database: sqlite3.Connection, origin: str, people: Sequence[str]) -> bool:
    """Whether some people left and others came, who may be the same under other names."""
    query = "SELECT DISTINCT person FROM crowd JOIN debit USING (crowd) WHERE origin = ?"
    before = {spelt_alike(name) for (name,) in database.execute(query, (origin,))}
    return bool(before and before - set(people) and set(people) - before)


def _check_known(database: sqlite3.Connection, origin: str, path: Path) -> None:
    if not _is_known(database, origin):
        raise InputError(
            f"the ledger {path} does not know these people, so it is not theirs: bring theirs "
            "back, or say where it is with --ledger FILE"
        )


def _pack(guarantee: Guarantee) -> str:
    return json.dumps(guarantee.to_dict() | {"slack": guarantee.slack})


def _debits(database: sqlite3.Connection, origin: str) -> list[Debit]:
    rows = database.execute(
        "SELECT id, made_at, mechanism, guarantee, crowd, "
        "(SELECT count(*) FROM crowd WHERE crowd.crowd = debit.crowd), what, alike "
        "FROM debit WHERE origin = ? ORDER BY id",
        (origin,),
    )
    return [
        Debit(i, at, name, Guarantee.from_dict(json.loads(text)), crowd, count, what, bool(alike))
        for i, at, name, text, crowd, count, what, alike in rows
    ]


def _debit_of_run(database: sqlite3.Connection, origin: str, run: str | None) -> Debit | None:
    """What was counted for a run, if it was."""
    row = database.execute("SELECT debit FROM run WHERE id = ?", (run,)).fetchone()
    if row is None:
        return None
    return next((each for each in _debits(database, origin) if each.id == row[0]), None)


def _has_ended(database: sqlite3.Connection, run: str | None) -> bool:
    query = "SELECT 1 FROM run WHERE id = ? AND ended"
    return database.execute(query, (run,)).fetchone() is not None


def _groups(
    database: sqlite3.Connection, origin: str, people: Sequence[str] | None = None
) -> dict[tuple[int, ...], int]:
    """For each set of debits that some person was in: the debits, and how many such people."""
    crowds: dict[str, list[int]] = {}
    for number, crowd in database.execute(
        "SELECT id, crowd FROM debit WHERE origin = ? ORDER BY id", (origin,)
    ):
        crowds.setdefault(crowd, []).append(number)
    of_person: dict[str, list[str]] = {} if people is None else {name: [] for name in people}
    for crowd in crowds:
        names = database.execute("SELECT person FROM crowd WHERE crowd = ?", (crowd,)).fetchall()
        for name in {spelt_alike(name) for (name,) in names}:
            if people is None or name in of_person:
                of_person.setdefault(name, []).append(crowd)
    groups: dict[tuple[int, ...], int] = {}
    for memberships in of_person.values():
        key = tuple(sorted(i for crowd in memberships for i in crowds[crowd]))
        groups[key] = groups.get(key, 0) + 1
    return groups


def _allowance(database: sqlite3.Connection, origin: str) -> Allowance | None:
    row = database.execute(
        "SELECT epsilon, delta FROM allowance WHERE origin = ?", (origin,)
    ).fetchone()
    return Allowance(*row) if row else None


def _check_allowance(
    database: sqlite3.Connection,
    origin: str,
    people: Sequence[str],
    guarantee: Guarantee,
    allowance: Allowance,
) -> None:
    known = {d.id: d.guarantee for d in _debits(database, origin)}
    for members in _groups(database, origin, people):
        before = [known[i] for i in members]
        total = sequential([*before, guarantee], allowance.delta)
        limit = f"the limit of ε = {allowance.epsilon:g}, δ = {allowance.delta:g} per person"
        if not total.holds:
            # Whichever came first would be refused for itself.
            alone = sequential([guarantee])
            which = "any more, after an earlier release" if alone.holds else "by this release"
            raise Refused(
                f"{limit} cannot be kept {which}: {(*alone.reasons, *total.reasons)[0]}. "
                "Nothing was released; 'eyelid budget IN --no-limit' lifts the limit"
            )
        if not allowance.covers(total):
            spent = sequential(before, allowance.delta).numbers() if before else "nothing"
            raise Refused(
                f"this release would bring a person to {total.numbers()}, above {limit}; "
                f"spent so far: {spent}. Nothing was released: ask for less or raise the limit "
                "with 'eyelid budget IN --limit-epsilon E'"
            )

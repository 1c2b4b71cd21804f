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
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from eyelid.errors import InputError, Refused
from eyelid.privacy import accounts, ledger_file
from eyelid.privacy.accounts import Alike, Doubt, Forward, Gap, Joined
from eyelid.privacy.composition import sequential
from eyelid.privacy.gaussian import check_delta, check_epsilon
from eyelid.privacy.guarantee import Guarantee, large_delta
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
    "made": "CREATE TABLE IF NOT EXISTS made (run TEXT PRIMARY KEY, output TEXT NOT NULL)",
} | accounts.TABLES
_TABLES = (*_SCHEMA, *_LATER.values())
_FORMAT = "eyelid/ledger/1"
# The second has joined accounts or doubts, of which earlier versions know nothing.
_FORMATS = (_FORMAT, "eyelid/ledger/2")


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

    def at(self, delta: float) -> Guarantee:
        """The total over every release as a limit compares it: ε at the limit's δ."""
        return sequential([debit.guarantee for debit in self.debits], delta)


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
                "--ledger FILE (spending without it would not be counted); if it is lost for good, "
                "'eyelid budget IN --lost' goes on without a total"
            )
        with self._transaction() as database:
            ledger_file.check_values(database, self.path, _TABLES)
            ledger_file.check_no_copy(database, self.path, _TABLES)
            ledger_file.make_private_once(database, self.path)

    @classmethod
    def create(cls, path: Path | str) -> Ledger:
        """Open the ledger at ``path``, made if it is not there."""
        path = Path(path)
        if not path.exists():
            try:
                facts = [("format", _FORMAT), ("key", secrets.token_hex(32))]
                ledger_file.make(path, _SCHEMA, facts)
            except (OSError, sqlite3.Error) as error:
                raise InputError(
                    f"cannot write the ledger {path} ({error}): choose another with --ledger FILE"
                ) from None
        return cls(path)

    @classmethod
    def counting(cls, path: Path | str, origin: str) -> Ledger:
        """The ledger that counts an origin: the one at ``path``, or the one it was joined into.

        Args:
            path: of the ledger that a study names.
            origin: of the study.
        """
        found, seen = cls(path), set[str]()
        while (forward := found._forward(origin)) is not None:
            places = (found.path.resolve().parent / forward.beside, Path(forward.place))
            books = [cls(place) for place in places if place.is_file()]
            known = [book for book in books if book.name == forward.ledger]
            if not known or forward.ledger in seen:
                raise InputError(
                    f"the people of {path} are counted in {forward.place} since both were joined, "
                    "and that ledger is not there: bring it back, or say where it is with "
                    "--ledger FILE"
                )
            seen.add(forward.ledger)
            found = known[0]
        return found

    @property
    def name(self) -> str:
        """What tells this ledger from others, wherever its file stands."""
        with self._transaction() as database:
            return accounts.name_of(accounts.key_of(database))

    @property
    def exposed(self) -> str:
        """That others on this machine may read the file, and what to do; empty if they may not."""
        return ledger_file.exposed(self.path)

    @contextmanager
    def _transaction(self, other: Path | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction, which may read another ledger's file.

        It never writes both: SQLite makes that whole by a third file, known by its absolute path,
        and a folder that is moved after a kill would be left with half of it.
        """
        try:
            attached = None if other is None else (other, accounts.OTHER)
            with ledger_file.opened(self.path, attached) as database:
                database.execute("PRAGMA synchronous = FULL")
                database.execute("BEGIN IMMEDIATE")
                self._recognise(database)
                if other is not None and not ledger_file.is_ledger(
                    database, _TABLES, accounts.OTHER
                ):
                    raise InputError(f"{other} is not a ledger that this eyelid can read")
                yield database
                # Closing without COMMIT rolls back.
                database.execute("COMMIT")
        except sqlite3.Error as error:
            raise InputError(
                f"cannot use the ledger {self.path} ({error}): check the file and its folder"
            ) from None

    def _recognise(self, database: sqlite3.Connection) -> None:
        query = "SELECT key, value FROM ledger WHERE key IN ('format', 'key')"
        is_one = ledger_file.is_ledger(database, _TABLES)
        known = dict(database.execute(query)) if is_one else {}
        if known.get("format") not in _FORMATS or not _is_key(known.get("key")):
            raise InputError(
                f"{self.path} is not a ledger that this eyelid can read: it may have been "
                "emptied; bring back a copy, or say where it is with --ledger FILE; if there is "
                "none, move the file away and go on without a total by 'eyelid budget IN --lost'"
            )
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        for table, statement in _LATER.items():
            if table not in tables:
                database.execute(statement)

    def register(self, origin: str, people: Iterable[str] = (), gap: Gap | None = None) -> None:
        """Make an origin known, so that its spending can be counted here.

        Args:
            origin: of the study.
            people: whom it has; by their ids other studies of the same people are noticed.
            gap: why releases of them are missing here from the start, if any are.
        """
        with self._transaction() as database:
            _check_stays(database, origin)
            database.execute("INSERT OR IGNORE INTO origin VALUES (?)", (origin,))
            accounts.add_people(database, origin, people)
            if gap is not None:
                accounts.add_gap(database, origin, gap)
                # Where they were joined to is what was lost.
                database.execute("DELETE FROM forward WHERE origin = ?", (origin,))

    def check_knows(self, origin: str) -> None:
        """Fail unless this ledger was made for, or has counted, this origin."""
        with self._transaction() as database:
            _check_known(database, origin, self.path)

    def origin_of_folder(
        self, folder: str, origin: str | None = None, people: Iterable[str] = ()
    ) -> str:
        """The one origin of a folder that came without, the same for every later call.

        Args:
            folder: its name.
            origin: that it gets if it has none yet; a fresh one by default.
            people: whom it has, noted when it gets one. Whether others have the ids of a fresh one
                is to be looked for (`is_unseen`).
        """
        with self._transaction() as database:
            query = "SELECT origin FROM home WHERE folder = ?"
            row = database.execute(query, (folder,)).fetchone()
            if row is not None:
                return str(row[0])
            given = origin or secrets.token_hex(16)
            database.execute("INSERT INTO home VALUES (?, ?)", (folder, given))
            database.execute("INSERT OR IGNORE INTO origin VALUES (?)", (given,))
            accounts.add_people(database, given, people)
            if origin is None:
                accounts.note_unseen(database, given)
        return given

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

    def alike(self, people: Sequence[str], besides: str | None = None) -> list[Alike]:
        """The accounts that have some of these ids, those that share most first.

        Args:
            people: their ids.
            besides: an origin whose own account is left out.
        """
        with self._transaction() as database:
            return accounts.alike(database, people, besides)

    def doubt(self, origin: str, other: str, place: Path, shared: int) -> None:
        """Remember that another study has the same ids, until it is said who they are.

        Args:
            origin: of people whom this ledger counts.
            other: origin of the other study.
            place: of the ledger that counts it.
            shared: how many ids are the same.
        """
        with self._transaction() as database:
            accounts.raise_doubt(database, origin, other, place, shared)

    def doubts(self, origin: str) -> tuple[Doubt, ...]:
        """Other studies with the same ids; nobody has said whether they are the same people."""
        with self._transaction() as database:
            return accounts.doubts(database, origin)

    def is_unseen(self, origin: str) -> bool:
        """Whether nobody has looked yet for other studies with the same ids."""
        with self._transaction() as database:
            return accounts.is_unseen(database, origin)

    def seen(self, origin: str) -> None:
        """Remember that other studies with the same ids were looked for; doubts are noted."""
        with self._transaction() as database:
            accounts.note_seen(database, origin)

    def people(self, origin: str) -> list[str]:
        """The ids of everybody whom an account has, released or not, as they are compared."""
        with self._transaction() as database:
            return sorted(accounts.known_people(database, accounts.family(database, origin)))

    def account(self, origin: str) -> tuple[str, ...]:
        """Every origin that is counted together with one, itself included."""
        with self._transaction() as database:
            return accounts.family(database, origin)

    def true_names(self, origin: str, people: Iterable[str]) -> list[str]:
        """The names under which people are counted; a pseudonym stands for its bearer."""
        with self._transaction() as database:
            return accounts.true_names(database, origin, people)

    def is_apart(self, origin: str, others: Sequence[str]) -> bool:
        """Whether others have the ids of an origin for other people, as their owner has said."""
        with self._transaction() as database:
            return accounts.is_settled(database, origin, others)

    def homes(self) -> dict[str, str]:
        """The recordings and folders that this ledger knows by name, and the origin of each."""
        with self._transaction() as database:
            return dict(database.execute("SELECT folder, origin FROM home ORDER BY folder"))

    def set_apart(self, origin: str, others: Sequence[str]) -> None:
        """Remember that other studies have the same ids for other people.

        Args:
            origin: of people whom this ledger counts.
            others: origins of the other studies.
        """
        with self._transaction() as database:
            accounts.settle_doubt(database, origin, others)

    def join(self, origin: str, other: Ledger, others: Sequence[str]) -> Joined:
        """Count the people of other origins together with those of one: the same id, one person.

        What another ledger has counted of them comes over, and that ledger points here from then
        on. Each file changes in transactions of its own: the other notes that they are leaving and
        counts nothing of them any more, this one copies them, the other points here. After a kill
        in between neither gives a total that lacks anything, and joining again ends it.

        Args:
            origin: of people whom this ledger counts.
            other: the ledger that counts the others; may be this one.
            others: their origins.
        """
        if ledger_file.is_same_file(self.path, other.path):
            with self._transaction() as database:
                _check_known(database, origin, self.path)
                everyone = _families(database, others)
                shared = _shared_ids(database, origin, database, everyone)
                accounts.merge(database, origin, everyone)
                return shared
        if self.name == other.name:
            raise InputError(
                f"{other.path} is a copy of {self.path}, and what both have counted cannot be told "
                "apart: keep the one that has counted more, and mark it with 'eyelid budget IN "
                "--lost' if the other has counted anything since"
            )
        mine, theirs = self.path.resolve(), other.path.resolve()
        beside = Path(os.path.relpath(mine, theirs.parent)).as_posix()
        home = Forward(str(mine), beside, self.name)
        with self._transaction() as database:
            _check_known(database, origin, self.path)
            with other._transaction() as leaving:
                everyone = _families(leaving, others)
                accounts.check_may_leave(leaving, everyone, home)
                shared = _shared_ids(database, origin, leaving, everyone)
            # Before the other counts them no more: from here on this total may lack theirs.
            accounts.reopen_doubt(database, origin, everyone, theirs, shared.shared)
        # One within the other, so that nobody joins them the other way round meanwhile.
        with self._transaction() as database:
            _check_known(database, origin, self.path)
            with other._transaction() as leaving:
                accounts.begin_leaving(leaving, everyone, home)
        with self._transaction(theirs) as database:
            _check_known(database, origin, self.path)
            accounts.bring_over(database, everyone)
            accounts.merge(database, origin, everyone)
        with other._transaction() as leaving:
            accounts.end_leaving(leaving, everyone, home)
        return shared

    def forwards(self) -> list[Forward]:
        """The ledgers that count people of this one since they were joined."""
        with self._transaction() as database:
            query = "SELECT DISTINCT place, beside, ledger FROM forward ORDER BY place"
            return [Forward(*row) for row in database.execute(query)]

    def _forward(self, origin: str) -> Forward | None:
        with self._transaction() as database:
            return accounts.forward_of(database, origin)

    def mark_incomplete(self, origin: str, gap: Gap = Gap.ELSEWHERE) -> None:
        """Remember that releases of these people are, or may be, missing here."""
        with self._transaction() as database:
            accounts.add_gap(database, origin, gap)

    def gaps(self, origin: str) -> tuple[Gap, ...]:
        """Why releases of these people are, or may be, missing here; empty where all are known."""
        with self._transaction() as database:
            return accounts.gaps(database, origin)

    def is_incomplete(self, origin: str) -> bool:
        """Whether releases of these people are, or may be, missing here."""
        return bool(self.gaps(origin))

    def known_at(self, debit: int) -> frozenset[int]:
        """The debits that a release's own ledger had when it was counted, that one included.

        Args:
            debit: the release's place in this ledger.
        """
        with self._transaction() as database:
            return accounts.known_at(database, debit)

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
            # What came from another ledger keeps the fingerprint that it had there.
            query = "SELECT key, number FROM also WHERE debit = ? AND charged"
            row = database.execute(query, (debit,)).fetchone()
            key, number = row or (accounts.key_of(database), debit)
        return hmac.new(bytes.fromhex(key), b"%d:%b" % (number, digest), hashlib.sha256).hexdigest()

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
            touched = accounts.true_names(database, origin, people)
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
                accounts.add_gap(database, origin, Gap.RENAMED)
            accounts.doubt_same_ids(database, origin, touched, self.path.resolve())
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

    def claim(self, run: str, output: str) -> bool:
        """Whether what a run made may be released: once, however many copies of the run there are.

        Args:
            run: that was counted.
            output: a hash of what it made; the same when it goes on after a stop, and another where
                a copy of it drew other noise.
        """
        with self._transaction() as database:
            database.execute("INSERT OR IGNORE INTO made VALUES (?, ?)", (run, output))
            (first,) = database.execute("SELECT output FROM made WHERE run = ?", (run,)).fetchone()
        return bool(first == output)

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
            delta: at which ε is stated; the largest that was spent by default.
            people: only these; everybody ever counted by default.

        Returns:
            the groups, the one that has spent most first.
        """
        with self._transaction() as database:
            debits = {d.id: d for d in _debits(database, origin)}
            wanted = None if people is None else accounts.true_names(database, origin, people)
            groups = _groups(database, origin, wanted)
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
            _forget_allowance(database, origin)

    def set_allowance(self, origin: str, epsilon: float, delta: float) -> Allowance:
        """Set the most that may be spent on a person; releases above it are refused."""
        allowance = Allowance(check_epsilon(epsilon), check_delta(delta))
        with self._transaction() as database:
            _forget_allowance(database, origin)
            database.execute(
                "INSERT OR REPLACE INTO allowance VALUES (?, ?, ?)",
                (origin, allowance.epsilon, allowance.delta),
            )
        return allowance


def _families(database: sqlite3.Connection, origins: Sequence[str]) -> list[str]:
    """Every origin of the accounts that some origins belong to."""
    return sorted({kin for each in origins for kin in accounts.family(database, each)})


def _shared_ids(
    database: sqlite3.Connection, origin: str, other: sqlite3.Connection, others: Sequence[str]
) -> Joined:
    """How many ids the account of an origin shares with others, which another ledger may have."""
    here = accounts.known_people(database, accounts.family(database, origin))
    return accounts.shared_ids(here, accounts.known_people(other, others))


def _is_known(database: sqlite3.Connection, origin: str) -> bool:
    query = "SELECT 1 FROM origin WHERE id = ?"
    found = database.execute(query, (origin,)).fetchone()
    return found is not None or accounts.intent_of(database, origin) is not None


def _check_stays(database: sqlite3.Connection, origin: str) -> None:
    """Fail if an origin is being joined into another ledger."""
    begun = accounts.intent_of(database, origin)
    if begun is not None:
        raise InputError(accounts.stopped_join(begun))


def _are_others(database: sqlite3.Connection, origin: str, people: Sequence[str]) -> bool:
    """Whether some people left and others came, who may be the same under other names."""
    origins = accounts.family(database, origin)
    left = accounts.counted_people(database, origins) - set(people)
    return bool(left and set(people) - accounts.known_people(database, origins))


def _check_known(database: sqlite3.Connection, origin: str, path: Path) -> None:
    _check_stays(database, origin)
    if _is_known(database, origin):
        return
    forward = accounts.forward_of(database, origin)
    if forward is not None:
        raise InputError(
            f"the people of {path} are counted in {forward.place} since both were joined: count "
            f"there, with --ledger {forward.place}"
        )
    raise InputError(
        f"the ledger {path} does not know these people, so it is not theirs: bring theirs "
        "back, or say where it is with --ledger FILE; if it is lost for good, 'eyelid budget IN "
        "--lost' goes on without a total"
    )


def _is_key(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch("(?:[0-9a-f]{2})+", value) is not None


def _unpack(text: str) -> Guarantee:
    """What was counted; of a ledger that others made, it may be anything."""
    try:
        told = json.loads(text)
        for number in ("epsilon", "delta", "mu", "gamma", "slack"):
            float(told.get(number) or 0)
        return Guarantee.from_dict(told)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
        raise InputError(
            "the ledger is damaged, or made by others: it has counted a release whose guarantee "
            "cannot be read; bring back a copy"
        ) from None


def _pack(guarantee: Guarantee) -> str:
    return json.dumps(guarantee.to_dict() | {"slack": guarantee.slack})


def _debits(database: sqlite3.Connection, origin: str) -> list[Debit]:
    origins = accounts.family(database, origin)
    rows = database.execute(
        "SELECT id, made_at, mechanism, guarantee, crowd, "
        "(SELECT count(*) FROM crowd WHERE crowd.crowd = debit.crowd), what, alike "
        f"FROM debit WHERE origin IN {accounts.marks(origins)} ORDER BY id",
        origins,
    )
    return [
        Debit(i, at, name, _unpack(text), crowd, count, what, bool(alike))
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
    origins = accounts.family(database, origin)
    query = f"SELECT id, crowd FROM debit WHERE origin IN {accounts.marks(origins)} ORDER BY id"
    for number, crowd in database.execute(query, origins):
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
    origins = accounts.family(database, origin)
    query = f"SELECT epsilon, delta FROM allowance WHERE origin IN {accounts.marks(origins)}"
    row = database.execute(query, origins).fetchone()
    return Allowance(*row) if row else None


def _forget_allowance(database: sqlite3.Connection, origin: str) -> None:
    origins = accounts.family(database, origin)
    database.execute(f"DELETE FROM allowance WHERE origin IN {accounts.marks(origins)}", origins)


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
            # Of people whose releases are not all known, nobody knows what was spent so far.
            so_far = "counted here" if accounts.gaps(database, origin) else "spent so far"
            warning = large_delta(allowance.delta, len(people))
            raise Refused(
                f"this release would bring a person to {total.numbers()}, above {limit}; "
                f"{so_far}: {spent}. {f'Not protected is {warning}. ' if warning else ''}Nothing "
                "was released: ask for less or raise the limit with 'eyelid budget IN "
                "--limit-epsilon E'"
            )

"""Whose releases add up: people of one or of several studies, known to a ledger by their ids.

An origin is what a study calls its people. Origins that were joined are one account: what is spent
on any of them is spent on the same people.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from eyelid.errors import InputError
from eyelid.privacy.ledger_file import FORMAT_WITH_ACCOUNTS, LedgerFile
from eyelid.spelling import spelt_alike

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

    def stopped(self) -> InputError:
        """What to do about people who are being joined with others, and were not to the end."""
        return InputError(
            f"these people are being joined with those of {self.place}, and that was stopped: "
            "nothing is counted until it is done again, with 'eyelid budget IN --join OTHER' as it "
            f"was begun (IN is counted in {self.place})"
        )


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


def marks(values: Sequence[object]) -> str:
    """Question marks for an IN (…)."""
    return f"({', '.join('?' * len(values))})"


class Accounts(LedgerFile):
    """The people that a ledger counts, and which of them are the same."""

    def key(self, schema: str = "main") -> str:
        """The secret key of the ledger, or of the one that is joined with it."""
        ((key,),) = self.rows(f"SELECT value FROM {schema}.ledger WHERE key = 'key'")
        return str(key)

    @property
    def name(self) -> str:
        """What tells this ledger from others, wherever its file stands."""
        return hashlib.sha256(f"ledger:{self.key()}".encode()).hexdigest()

    # Origins.

    def register(self, origin: str, people: Iterable[str] = (), gap: Gap | None = None) -> None:
        """Make an origin known, so that its spending can be counted here.

        Args:
            origin: of the study.
            people: whom it has; by their ids other studies of the same people are noticed.
            gap: why releases of them are missing here from the start, if any are.
        """
        with self.transaction():
            self._check_stays(origin)
            self._add_origin(origin, people)
            if gap is not None:
                self.mark_incomplete(origin, gap)
                # Where they were joined to is what was lost.
                self.change("DELETE FROM forward WHERE origin = ?", (origin,))

    def _add_origin(self, origin: str, people: Iterable[str]) -> None:
        self.change("INSERT OR IGNORE INTO origin VALUES (?)", (origin,))
        members = [(origin, name) for name in self.true_names(origin, people)]
        self.change("INSERT OR IGNORE INTO member VALUES (?, ?)", *members)

    def knows(self, origin: str) -> bool:
        """Whether this ledger was made for, or has counted, this origin."""
        with self.transaction():
            known = self.row("SELECT 1 FROM origin WHERE id = ?", origin) is not None
            return known or self.intent_of(origin) is not None

    def check_knows(self, origin: str) -> None:
        """Fail unless this ledger was made for, or has counted, this origin."""
        with self.transaction():
            self._check_stays(origin)
            if self.knows(origin):
                return
            forward = self.forward_of(origin)
        if forward is not None:
            raise InputError(
                f"the people of {self.path} are counted in {forward.place} since both were joined: "
                f"count there, with `ledger={forward.place}`"
            )
        raise InputError(
            f"the ledger {self.path} does not know these people, so it is not theirs: bring theirs "
            "back, or say where it is with `ledger=…`; if it is lost for good, 'eyelid budget "
            "IN --lost' goes on without a total"
        )

    def _check_stays(self, origin: str) -> None:
        """Fail if an origin is being joined into another ledger."""
        begun = self.intent_of(origin)
        if begun is not None:
            raise begun.stopped()

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
        with self.transaction():
            known = self.known_folder(folder)
            if known is not None:
                return known
            given = origin or secrets.token_hex(16)
            self.change("INSERT INTO home VALUES (?, ?)", (folder, given))
            self._add_origin(given, people)
            if origin is None:
                # Before anything else: nobody has looked for others with the same ids.
                unseen = "INSERT OR IGNORE INTO doubt VALUES (?, ?, '', 0, 0)"
                self.change(unseen, (given, _UNSEEN))
        return given

    def known_folder(self, folder: str) -> str | None:
        """The origin that a folder was given here, if it was."""
        row = self.row("SELECT origin FROM home WHERE folder = ?", folder)
        return None if row is None else str(row[0])

    def homes(self) -> dict[str, str]:
        """The recordings and folders that this ledger knows by name, and the origin of each."""
        return dict(self.rows("SELECT folder, origin FROM home ORDER BY folder"))

    def account(self, origin: str) -> tuple[str, ...]:
        """Every origin that is counted together with one, itself included."""
        query = (
            "SELECT origin FROM kin WHERE account = (SELECT account FROM kin WHERE origin = ?) "
            "ORDER BY origin"
        )
        return tuple(name for (name,) in self.rows(query, (origin,))) or (origin,)

    # People.

    def true_names(self, origin: str, people: Iterable[str]) -> list[str]:
        """The names under which people are counted, in order; a pseudonym stands for its bearer."""
        query = "SELECT pseudonym, person FROM pseudonym WHERE origin = ?"
        bearers = dict(self.rows(query, (origin,)))
        return sorted({bearers[name] if name in bearers else spelt_alike(name) for name in people})

    def people(self, origin: str) -> list[str]:
        """The ids of everybody whom an account has, released or not, as they are compared."""
        with self.transaction():
            return sorted(self.known_people(self.account(origin)))

    def counted_people(self, origins: Sequence[str]) -> set[str]:
        """The names of everybody of whom something was released."""
        query = (
            "SELECT DISTINCT person FROM crowd WHERE crowd IN "
            f"(SELECT crowd FROM debit WHERE origin IN {marks(origins)})"
        )
        return {spelt_alike(name) for (name,) in self.rows(query, origins)}

    def known_people(self, origins: Sequence[str]) -> set[str]:
        """The names of everybody whom some origins have, released or not."""
        names = self.counted_people(origins)
        for table in ("member", "pseudonym"):
            query = f"SELECT person FROM {table} WHERE origin IN {marks(origins)}"
            names |= {name for (name,) in self.rows(query, origins)}
        return names

    def alike(self, people: Sequence[str], besides: str | None = None) -> list[Alike]:
        """The accounts that have some of these ids, those that share most first.

        Args:
            people: their ids.
            besides: an origin whose own account is left out.
        """
        with self.transaction():
            own = () if besides is None else self.account(besides)
            rows = self.rows(
                "WITH theirs AS (SELECT id FROM (SELECT id FROM origin UNION SELECT origin FROM "
                f"joining) WHERE id NOT IN {marks(own)}) {_EVERYBODY}",
                own,
            )
            # Most ledgers count one account, and spelling takes its time.
            wanted = {spelt_alike(name) for name in people} if rows else set[str]()
            shared_by: dict[str, set[str]] = {}
            for origin, name, person in rows:
                same = name if name in wanted else spelt_alike(name)
                if same in wanted:
                    shared_by.setdefault(origin, set()).add(same if name == person else person)
            together: dict[tuple[str, ...], list[str]] = {}
            for origin in sorted(shared_by, key=lambda one: (-len(shared_by[one]), one)):
                together.setdefault(self.account(origin), []).append(origin)
        shared = [
            Alike(having[0], origins, len(set[str]().union(*(shared_by[one] for one in having))))
            for origins, having in together.items()
        ]
        return sorted(shared, key=lambda one: (-one.shared, one.origin))

    # Doubts: whether the same ids are the same people.

    def doubt_same_ids(self, origin: str, people: Sequence[str]) -> None:
        """Remember, for both, which other accounts of this ledger have ids of people being charged.

        A study grows: that nobody else had its ids when it was made says nothing of those it has
        now.

        Args:
            origin: of the study.
            people: their true names.
        """
        place = self.path.resolve()
        for account in self.alike(people, origin):
            if not self.is_apart(origin, account.origins):
                self.doubt(origin, account.origin, place, account.shared)
                self.doubt(account.origin, origin, place, account.shared)

    def is_apart(self, origin: str, others: Sequence[str]) -> bool:
        """Whether others have the ids of an origin for other people, as their owner has said."""
        query = f"SELECT 1 FROM doubt WHERE settled AND origin = ? AND other IN {marks(others)}"
        return self.row(query, origin, *others) is not None

    def set_apart(self, origin: str, others: Sequence[str]) -> None:
        """Remember that other studies have the same ids for other people.

        Args:
            origin: of people whom this ledger counts.
            others: origins of the other studies.
        """
        with self.transaction():
            pairs = [(mine, other) for mine in self.account(origin) for other in others]
            self.change(
                "INSERT INTO doubt VALUES (?, ?, '', 0, 1) "
                "ON CONFLICT (origin, other) DO UPDATE SET settled = 1",
                *pairs,
            )

    def doubt(self, origin: str, other: str, place: Path, shared: int) -> None:
        """Remember that another study has the same ids, until it is said who they are.

        Args:
            origin: of people whom this ledger counts.
            other: origin of the other study.
            place: of the ledger that counts it.
            shared: how many ids are the same.
        """
        with self.transaction():
            self.change(
                "INSERT OR IGNORE INTO doubt (origin, other, place, shared) VALUES (?, ?, ?, ?)",
                (origin, other, str(place), shared),
            )
            self.close_to_earlier_versions()

    def doubts(self, origin: str) -> tuple[Doubt, ...]:
        """Other studies with the same ids; nobody has said whether they are the same people."""
        with self.transaction():
            own = self.account(origin)
            known = (*own, _UNSEEN)
            query = (
                "SELECT other, place, max(shared) FROM doubt WHERE NOT settled AND origin IN "
                f"{marks(own)} AND other NOT IN {marks(known)} GROUP BY other ORDER BY other"
            )
            rows = self.rows(query, (*own, *known))
        return tuple(Doubt(other, Path(place), shared) for other, place, shared in rows)

    def is_unseen(self, origin: str) -> bool:
        """Whether nobody has looked yet for other studies with the same ids."""
        query = "SELECT 1 FROM doubt WHERE origin = ? AND other = ? AND NOT settled"
        return self.row(query, origin, _UNSEEN) is not None

    def seen(self, origin: str) -> None:
        """Remember that other studies with the same ids were looked for; doubts are noted."""
        self.change("DELETE FROM doubt WHERE origin = ? AND other = ?", (origin, _UNSEEN))

    def close_to_earlier_versions(self) -> None:
        """Have earlier versions refuse the file, since they would count too little."""
        statement = "UPDATE ledger SET value = ? WHERE key = 'format'"
        self.change(statement, (FORMAT_WITH_ACCOUNTS,))

    # Gaps: what may be missing.

    def mark_incomplete(self, origin: str, gap: Gap = Gap.ELSEWHERE) -> None:
        """Remember that releases of these people are, or may be, missing here."""
        with self.transaction():
            # For earlier versions, too, which know no kinds.
            self.change("INSERT OR IGNORE INTO incomplete VALUES (?)", (origin,))
            self.change("INSERT OR IGNORE INTO gap VALUES (?, ?)", (origin, gap))

    def gaps(self, origin: str) -> tuple[Gap, ...]:
        """Why releases of these people are, or may be, missing here; empty where all are known."""
        with self.transaction():
            own = self.account(origin)
            query = f"SELECT DISTINCT kind FROM gap WHERE origin IN {marks(own)} ORDER BY kind"
            kinds = {kind for (kind,) in self.rows(query, own)}
            reasons = [gap for gap in sorted(Gap) if gap in kinds]
            # What earlier versions have noted has no kind, and later ones may know others.
            plain = f"SELECT 1 FROM incomplete WHERE origin IN {marks(own)}"
            if not reasons and (kinds or self.row(plain, *own) is not None):
                reasons.append(Gap.ELSEWHERE)
            stopped = any(self.intent_of(each) is not None for each in own)
            if stopped or self.doubts(origin) or self.is_unseen(origin):
                reasons.append(Gap.SAME_IDS)
        return tuple(reasons)

    def is_incomplete(self, origin: str) -> bool:
        """Whether releases of these people are, or may be, missing here."""
        return bool(self.gaps(origin))

    # Where people are counted whose ledger was joined with another.

    def forward_of(self, origin: str) -> Forward | None:
        """Where an origin is counted since its ledger was joined with another; None where here."""
        row = self.row("SELECT place, beside, ledger FROM forward WHERE origin = ?", origin)
        return None if row is None else Forward(*row)

    def intent_of(self, origin: str) -> Forward | None:
        """The ledger that an origin is being joined into; None unless that was begun, not ended."""
        row = self.row("SELECT place, beside, ledger FROM joining WHERE origin = ?", origin)
        return None if row is None else Forward(*row)

    def forwards(self) -> list[Forward]:
        """The ledgers that count people of this one since they were joined."""
        query = "SELECT DISTINCT place, beside, ledger FROM forward ORDER BY place"
        return [Forward(*row) for row in self.rows(query)]

"""What has been spent on each person, in a file that survives crashes and crowds.

A debit is written before a release is computed, so a killed release is counted and nothing that
went through the ledger is missing from it. Whose debits add up is in `accounts`, the file and its
transactions in `ledger_file`.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
import math
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from eyelid.errors import InputError, Refused
from eyelid.privacy import joins, ledger_file
from eyelid.privacy.accounts import Accounts, Gap, Joined, marks
from eyelid.privacy.composition import sequential
from eyelid.privacy.gaussian import check_delta, check_epsilon
from eyelid.privacy.guarantee import Guarantee, Kind, large_delta
from eyelid.privacy.unit import PERSON, Neighbours, Trust
from eyelid.spelling import spelt_alike


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


class Ledger(Accounts):
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

    @classmethod
    def create(cls, path: Path | str) -> Ledger:
        """Open the ledger of a file, made if it is not there."""
        path = Path(path)
        if not path.exists():
            try:
                ledger_file.make(path)
            except (OSError, sqlite3.Error) as error:
                raise InputError(
                    f"cannot write the ledger {path} ({error}): choose another with `ledger=…`"
                ) from None
        return cls(path)

    @classmethod
    def counting(cls, path: Path | str, origin: str) -> Ledger:
        """The ledger that counts an origin: the one named, or the one that it was joined into.

        Args:
            path: of the ledger that a study names.
            origin: of the study.
        """
        found, seen = cls(path), set[str]()
        while (forward := found.forward_of(origin)) is not None:
            places = (found.path.resolve().parent / forward.beside, Path(forward.place))
            books = [cls(place) for place in places if place.is_file()]
            known = [book for book in books if book.name == forward.ledger]
            if not known or forward.ledger in seen:
                raise InputError(
                    f"the people of {path} are counted in {forward.place} since both were joined, "
                    "and that ledger is not there: bring it back, or say where it is with "
                    "`ledger=…`"
                )
            seen.add(forward.ledger)
            found = known[0]
        return found

    def join(self, origin: str, other: Ledger, others: Sequence[str]) -> Joined:
        """Count the people of other origins together with those of one: the same id, one person.

        What another ledger has counted of them comes over, and that ledger points here from then
        on.

        Args:
            origin: of people whom this ledger counts.
            other: the ledger that counts the others; may be this one.
            others: their origins.
        """
        return joins.join(self, origin, other, others)

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
        with self.transaction():
            query = "SELECT person, pseudonym FROM pseudonym WHERE origin = ?"
            known = dict(self.rows(query, (origin,)))
            wanted = {name: spelt_alike(name) for name in people}
            fresh = sorted(set(wanted.values()) - set(known))
            # In the order of their names, numbers would tell them.
            secrets.SystemRandom().shuffle(fresh)
            counted = {name for (name,) in self.rows("SELECT person FROM crowd")}
            taken = {spelt_alike(n) for n in (*known.values(), *wanted, *besides, *counted)}
            numbers = (f"anon{number:02d}" for number in itertools.count(1))
            free = (name for name in numbers if spelt_alike(name) not in taken)
            rows = [(origin, name, alias) for name, alias in zip(fresh, free, strict=False)]
            self.change("INSERT INTO pseudonym VALUES (?, ?, ?)", *rows)
        known |= {name: alias for _, name, alias in rows}
        return {name: known[same] for name, same in wanted.items()}

    def fingerprint(self, digest: bytes, debit: int) -> str:
        """A fingerprint of private data for one release, which only the ledger's owner can check.

        A plain hash would let anyone who guesses the data confirm the guess; the same hash in two
        releases would tell whether the data changed in between.

        Args:
            digest: of the data.
            debit: the release's place in the ledger.
        """
        with self.transaction():
            # What came from another ledger keeps the fingerprint that it had there.
            key, number = self._brought_from(debit) or (self.key(), debit)
        return hmac.new(bytes.fromhex(key), b"%d:%b" % (number, digest), hashlib.sha256).hexdigest()

    def _brought_from(self, debit: int) -> tuple[str, int] | None:
        """The key of the ledger that first counted a release, and its place there; None if here."""
        row = self.row("SELECT key, number FROM also WHERE debit = ? AND charged", debit)
        return None if row is None else (row[0], row[1])

    def known_at(self, debit: int) -> frozenset[int]:
        """The debits that a release's own ledger had when it was counted, that one included.

        Ledgers that were joined later have others, which no certificate of that time can tell of.

        Args:
            debit: the release's place in this ledger.
        """
        with self.transaction():
            there = self._brought_from(debit)
            if there is None:
                rows = self.rows("SELECT id FROM debit WHERE id <= ?", (debit,))
            else:
                rows = self.rows("SELECT debit FROM also WHERE key = ? AND number <= ?", there)
        return frozenset(number for (number,) in rows)

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
        with self.transaction() as database:
            self.check_knows(origin)
            touched = self.true_names(origin, people)
            crowd = hashlib.sha256(json.dumps(touched).encode()).hexdigest()
            counted = self._debit_of_run(origin, run)
            if counted is not None:
                if (counted.crowd, counted.mechanism, counted.guarantee) != (
                    crowd, mechanism, guarantee
                ):  # fmt: skip
                    raise InputError(
                        "this run was counted for other people or another promise, and cannot go "
                        "on as this one: start another, into another folder"
                    )
                if self.row("SELECT 1 FROM run WHERE id = ? AND ended", run) is not None:
                    raise InputError(
                        "this run has ended, and what it made is out: what it left, or a copy of "
                        "it, would be a second release; remove it and start another"
                    )
                return counted
            self._note_who_is_missing(origin, touched)
            self._check_allowance(origin, touched, guarantee)
            members = [(crowd, name) for name in touched]
            self.change("INSERT OR IGNORE INTO crowd VALUES (?, ?)", *members)
            row = database.execute(
                "INSERT INTO debit (origin, crowd, made_at, mechanism, guarantee, what, alike) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (origin, crowd, made_at, mechanism, _pack(guarantee), what, alike),
            )
            number = row.lastrowid or 0
            if run is not None:
                self.change("INSERT INTO run (id, debit) VALUES (?, ?)", (run, number))
        return Debit(number, made_at, mechanism, guarantee, crowd, len(touched), what, alike)

    def _debit_of_run(self, origin: str, run: str | None) -> Debit | None:
        """What was counted for a run, if it was."""
        row = self.row("SELECT debit FROM run WHERE id = ?", run)
        if row is None:
            return None
        return next((debit for debit in self.debits(origin) if debit.id == row[0]), None)

    def _note_who_is_missing(self, origin: str, people: Sequence[str]) -> None:
        """Remember where a total may lack something: people renamed, or known to others, too."""
        origins = self.account(origin)
        left = self.counted_people(origins) - set(people)
        # Some people left and others came, who may be the same under other names.
        if left and set(people) - self.known_people(origins):
            self.mark_incomplete(origin, Gap.RENAMED)
        self.doubt_same_ids(origin, people)

    def claim(self, origin: str, run: str, output: str) -> bool:
        """Whether what a run made may be released: once, however many copies of the run there are.

        Args:
            origin: of the study; refused where another ledger counts it, which copies would ask.
            run: that was counted.
            output: a hash of what it made; the same when it goes on after a stop, and another where
                a copy of it drew other noise.
        """
        with self.transaction():
            self.check_knows(origin)
            self.change("INSERT OR IGNORE INTO made VALUES (?, ?)", (run, output))
            ((first,),) = self.rows("SELECT output FROM made WHERE run = ?", (run,))
        return bool(first == output)

    def end(self, run: str) -> None:
        """Remember that what a run made is in its place: it cannot go on any more."""
        self.change("UPDATE run SET ended = 1 WHERE id = ?", (run,))

    def debits(self, origin: str) -> list[Debit]:
        """Every release counted so far, oldest first."""
        with self.transaction():
            origins = self.account(origin)
            rows = self.rows(
                "SELECT id, made_at, mechanism, guarantee, crowd, "
                "(SELECT count(*) FROM crowd WHERE crowd.crowd = debit.crowd), what, alike "
                f"FROM debit WHERE origin IN {marks(origins)} ORDER BY id",
                origins,
            )
        return [
            Debit(i, at, name, _unpack(text), crowd, count, what, bool(alike))
            for i, at, name, text, crowd, count, what, alike in rows
        ]

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
        with self.transaction():
            debits = {debit.id: debit for debit in self.debits(origin)}
            wanted = None if people is None else self.true_names(origin, people)
            groups = self._groups(origin, wanted)
        found = []
        for members, count in groups.items():
            if not members:
                continue
            mine = tuple(debits[i] for i in members)
            every = [debit.guarantee for debit in mine]
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

    def _groups(
        self, origin: str, people: Sequence[str] | None = None
    ) -> dict[tuple[int, ...], int]:
        """For each set of debits that some person was in: the debits, and how many such people."""
        crowds: dict[str, list[int]] = {}
        origins = self.account(origin)
        query = f"SELECT id, crowd FROM debit WHERE origin IN {marks(origins)} ORDER BY id"
        for number, crowd in self.rows(query, origins):
            crowds.setdefault(crowd, []).append(number)
        of_person: dict[str, list[str]] = {name: [] for name in people or ()}
        for crowd in crowds:
            names = self.rows("SELECT person FROM crowd WHERE crowd = ?", (crowd,))
            for name in {spelt_alike(name) for (name,) in names}:
                if people is None or name in of_person:
                    of_person.setdefault(name, []).append(crowd)
        return Counter(
            tuple(sorted(i for crowd in memberships for i in crowds[crowd]))
            for memberships in of_person.values()
        )

    # Limits.

    def allowance(self, origin: str) -> Allowance | None:
        """The limit, if one was set."""
        with self.transaction():
            origins = self.account(origin)
            query = f"SELECT epsilon, delta FROM allowance WHERE origin IN {marks(origins)}"
            row = self.row(query, *origins)
        return None if row is None else Allowance(*row)

    def lift_allowance(self, origin: str) -> None:
        """Remove the limit; spending is still counted."""
        with self.transaction():
            origins = self.account(origin)
            self.change(f"DELETE FROM allowance WHERE origin IN {marks(origins)}", origins)

    def set_allowance(self, origin: str, epsilon: float, delta: float) -> Allowance:
        """Set the most that may be spent on a person; releases above it are refused."""
        allowance = Allowance(check_epsilon(epsilon), check_delta(delta))
        with self.transaction():
            self.lift_allowance(origin)
            row = (origin, allowance.epsilon, allowance.delta)
            self.change("INSERT OR REPLACE INTO allowance VALUES (?, ?, ?)", row)
        return allowance

    def _check_allowance(self, origin: str, people: Sequence[str], guarantee: Guarantee) -> None:
        """Refuse a release after which a person would be above the limit, if there is one."""
        allowance = self.allowance(origin)
        if allowance is None:
            return
        known = {debit.id: debit.guarantee for debit in self.debits(origin)}
        for members in self._groups(origin, people):
            before = [known[i] for i in members]
            total = sequential([*before, guarantee], allowance.delta)
            limit = f"the limit of ε = {allowance.epsilon:g}, δ = {allowance.delta:g} per person"
            if not total.holds:
                # Whichever came first would be refused for itself.
                alone = sequential([guarantee])
                which = "any more, after an earlier release" if alone.holds else "by this release"
                raise Refused(
                    f"{limit} cannot be kept {which}: {(*alone.reasons, *total.reasons)[0]}. "
                    "Nothing is left. Nothing was released; 'eyelid budget IN --no-limit' lifts "
                    "the limit"
                )
            if not allowance.covers(total):
                earlier = sequential(before, allowance.delta) if before else None
                spent = "nothing" if earlier is None else earlier.numbers()
                room = earlier is None or allowance.covers(earlier)
                remedy = "ask for less or raise" if room else "no release fits, raise"
                # Of people whose releases are not all known, nobody knows what was spent so far.
                so_far = "counted here" if self.gaps(origin) else "spent so far"
                warning = large_delta(allowance.delta, len(people))
                besides = f"Not protected is {warning}. " if warning else ""
                raise Refused(
                    f"this release would bring a person to {total.numbers()}, above {limit}; "
                    f"{so_far}: {spent}; {_left(before, allowance)}. {besides}Nothing was "
                    f"released: {remedy} the "
                    "limit with 'eyelid budget IN --limit-epsilon E'"
                )


def _left(before: Sequence[Guarantee], allowance: Allowance) -> str:
    """The largest ε that a release without a δ may still have; rounded down."""
    pure = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL)
    fits, above = 0.0, allowance.epsilon
    for _ in range(12):
        tried = replace(pure, epsilon=(fits + above) / 2)
        if allowance.covers(sequential([*before, tried], allowance.delta)):
            fits = (fits + above) / 2
        else:
            above = (fits + above) / 2
    # What is spent exactly up to a decimal limit leaves a decimal ε.
    whole = round(allowance.epsilon - sum(each.epsilon or 0.0 for each in before), 9)
    if fits < whole <= above and all(each.kind is Kind.PURE for each in before):
        fits = whole
    down = math.floor(round(fits * 100, 6)) / 100
    return f"ε = {down:g} is left" if down else "nothing is left"


def _unpack(text: str) -> Guarantee:
    """What was counted; of a ledger that others made, it may be anything."""
    try:
        content = json.loads(text)
        for number in ("epsilon", "delta", "mu", "gamma", "slack"):
            float(content.get(number) or 0)
        return Guarantee.from_dict(content)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError):
        raise InputError(
            "the ledger is damaged, or made by others: it has counted a release whose guarantee "
            "cannot be read; bring back a copy"
        ) from None


def _pack(guarantee: Guarantee) -> str:
    return json.dumps(guarantee.to_dict() | {"slack": guarantee.slack})

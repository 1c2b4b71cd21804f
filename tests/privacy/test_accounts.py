"""People of several studies: joined they add up, apart they do not, in doubt there is no total."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from eyelid.errors import InputError, Refused
from eyelid.privacy import PERSON, Guarantee, Kind, Ledger, Neighbours, Trust
from eyelid.privacy.accounts import Gap


def pure(epsilon):
    return Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon, 0.0)


def made(path, origin, *people):
    ledger = Ledger.create(path)
    ledger.register(origin, people)
    return ledger


@pytest.fixture
def here(tmp_path):
    return made(tmp_path / "here.ledger", "a", "ann", "bob", "cyd")


@pytest.fixture
def there(tmp_path):
    return made(tmp_path / "there.ledger", "b", "Ann", "bob", "dan")


def totals(ledger, origin):
    return sorted((b.people, b.total.epsilon) for b in ledger.balances(origin))


def test_joined_ledgers_add_up_person_by_person(here, there):
    here.debit("a", ["ann", "bob", "cyd"], "laplace", pure(1.0))
    there.debit("b", ["ann", "bob", "dan"], "laplace", pure(2.0))
    found = here.join("a", there, ["b"])
    assert (found.shared, found.here, found.there) == (2, 1, 1)
    for origin in ("a", "b"):
        assert totals(here, origin) == [(1, 1.0), (1, 2.0), (2, 3.0)]
        assert not here.is_incomplete(origin)


def test_a_ledger_that_was_joined_cannot_be_spent_from_and_points_to_the_other(here, there):
    here.join("a", there, ["b"])
    with pytest.raises(InputError, match=r"counted in \S+here.ledger since both were joined"):
        there.debit("b", ["ann"], "laplace", pure(1.0))
    found = Ledger.counting(there.path, "b")
    assert found.path == here.path
    found.debit("b", ["dan"], "laplace", pure(1.0))
    found.debit("b", ["ann"], "laplace", pure(1.0))
    here.debit("a", ["ann"], "laplace", pure(1.0))
    assert totals(here, "a") == [(1, 1.0), (1, 2.0)]


def test_a_folder_with_both_ledgers_can_be_moved(here, there, tmp_path):
    here.join("a", there, ["b"])
    (tmp_path / "moved").mkdir()
    for book in (here, there):
        shutil.move(book.path, tmp_path / "moved")
    found = Ledger.counting(tmp_path / "moved" / "there.ledger", "b")
    assert found.path.samefile(tmp_path / "moved" / "here.ledger")
    found.path.unlink()
    with pytest.raises(InputError, match="since both were joined, and that ledger is not there"):
        Ledger.counting(tmp_path / "moved" / "there.ledger", "b")
    # Another ledger in its place is not it.
    made(tmp_path / "moved" / "here.ledger", "b", "ann")
    with pytest.raises(InputError, match="that ledger is not there"):
        Ledger.counting(tmp_path / "moved" / "there.ledger", "b")


def test_the_stricter_limit_is_kept(here, there):
    here.set_allowance("a", 5.0, 1e-6)
    there.set_allowance("b", 3.0, 1e-5)
    there.debit("b", ["ann"], "laplace", pure(2.0))
    here.join("a", there, ["b"])
    assert (here.allowance("b").epsilon, here.allowance("a").delta) == (3.0, 1e-6)
    with pytest.raises(Refused):
        here.debit("a", ["ann"], "laplace", pure(1.5))
    here.lift_allowance("b")
    assert here.allowance("a") is None
    here.set_allowance("b", 2.0, 1e-6)
    assert here.allowance("a").epsilon == 2.0


def test_people_without_a_common_id_are_not_joined(here, tmp_path):
    other = made(tmp_path / "other.ledger", "c", "eve", "fay")
    other.debit("c", ["eve"], "laplace", pure(1.0))
    with pytest.raises(InputError, match=r"no id is in both \(3 here, 2 there\)"):
        here.join("a", other, ["c"])
    assert other.knows("c")
    assert totals(other, "c") == [(1, 1.0)]
    assert not here.knows("c")


def test_two_origins_of_one_ledger_are_joined_in_place(here):
    here.register("b", ["ann"])
    here.debit("a", ["ann"], "laplace", pure(1.0))
    here.debit("b", ["ann"], "laplace", pure(1.0))
    assert totals(here, "a") == [(1, 1.0)]
    here.join("a", here, ["b"])
    assert totals(here, "a") == totals(here, "b") == [(1, 2.0)]


def test_pseudonyms_of_both_still_stand_for_their_bearers(here, there):
    mine = here.pseudonyms("a", ["ann", "bob"])
    theirs = there.pseudonyms("b", ["bob", "dan", "ann"])
    here.join("a", there, ["b"])
    here.debit("a", [mine["bob"]], "laplace", pure(1.0))
    here.debit("b", [theirs["bob"]], "laplace", pure(2.0))
    assert totals(here, "a") == [(1, 3.0)]
    assert Ledger(here.path).pseudonyms("b", ["dan"]) == {"dan": theirs["dan"]}


def test_fingerprints_and_histories_of_releases_stay_what_they_were(here, there):
    """A certificate tells of the ledger of its time, whatever was joined since."""
    mine = here.debit("a", ["ann"], "laplace", pure(1.0))
    theirs = [there.debit("b", ["ann"], "laplace", pure(1.0)) for _ in range(2)]
    marks = [there.fingerprint(b"data", debit.id) for debit in theirs]
    here.join("a", there, ["b"])
    later = here.debit("a", ["ann"], "laplace", pure(1.0))
    first, *moved, last = here.debits("a")
    assert [here.fingerprint(b"data", debit.id) for debit in moved] == marks
    assert here.known_at(first.id) == {mine.id}
    assert [len(here.known_at(debit.id)) for debit in moved] == [1, 2]
    assert here.known_at(last.id) == {debit.id for debit in here.debits("a")}
    assert last == later


def test_ledgers_joined_one_after_the_other_and_back_count_everything_once(here, there, tmp_path):
    third = made(tmp_path / "third.ledger", "c", "ann")
    for book, origin in ((here, "a"), (there, "b"), (third, "c")):
        book.debit(origin, ["ann"], "laplace", pure(1.0))
    marks = {book.path: book.fingerprint(b"data", 1) for book in (here, there, third)}
    here.join("a", there, ["b"])
    third.join("c", here, ["a"])
    assert totals(third, "b") == [(1, 3.0)]
    assert Ledger.counting(there.path, "b").path == third.path
    assert {third.fingerprint(b"data", d.id) for d in third.debits("c")} == set(marks.values())
    assert [len(third.known_at(d.id)) for d in third.debits("a")] == [1, 1, 1]
    third.debit("a", ["ann"], "laplace", pure(1.0))
    # Back to where some of it was before: nothing is counted twice.
    fresh = made(tmp_path / "fresh.ledger", "d", "ann")
    fresh.join("d", third, ["b"])
    there.register("e", ["ann"])
    there.join("e", fresh, ["d"])
    assert totals(there, "b") == totals(there, "e") == [(1, 4.0)]
    assert Ledger.counting(here.path, "a").path == there.path
    assert there.knows("b")


def test_a_run_that_was_begun_before_goes_on_after_and_is_counted_once(here, there):
    there.debit("b", ["ann"], "laplace", pure(1.0), run="run")
    here.join("a", there, ["b"])
    Ledger.counting(there.path, "b").debit("b", ["ann"], "laplace", pure(1.0), run="run")
    assert totals(here, "b") == [(1, 1.0)]


def test_what_a_run_has_made_is_known_after_a_join(here, there):
    """A copy of the run would be a second release of what was counted once."""
    there.debit("b", ["ann"], "laplace", pure(1.0), run="run")
    assert there.claim("b", "run", "output")
    here.join("a", there, ["b"])
    assert not here.claim("b", "run", "other noise")
    assert here.claim("b", "run", "output")


def test_a_run_that_ended_after_a_join_does_not_go_on_where_it_was_begun(here, there):
    """Its people come back to the ledger that first counted them, which has its debit."""
    there.debit("b", ["ann"], "laplace", pure(1.0), run="run")
    here.join("a", there, ["b"])
    assert here.claim("b", "run", "output")
    here.end("run")
    there.register("e", ["ann"])
    there.join("e", here, ["a"])
    assert not there.claim("b", "run", "other noise")
    with pytest.raises(InputError, match="this run has ended"):
        there.debit("b", ["ann"], "laplace", pure(1.0), run="run")


def test_nothing_is_let_out_by_a_ledger_that_was_joined(here, there):
    """Copies of the run would ask the other one."""
    there.debit("b", ["ann"], "laplace", pure(1.0), run="run")
    here.join("a", there, ["b"])
    with pytest.raises(InputError, match="since both were joined"):
        there.claim("b", "run", "output")


def test_a_copy_is_not_joined(here, tmp_path, copies_count):
    shutil.copy(here.path, tmp_path / "copy.ledger")
    with pytest.raises(InputError, match="is a copy of"):
        here.join("a", Ledger(tmp_path / "copy.ledger"), ["a"])


def test_what_is_missing_stays_missing_after_a_join(here, there):
    there.mark_incomplete("b", Gap.LOST)
    here.join("a", there, ["b"])
    assert here.gaps("a") == (Gap.LOST,)


def test_a_ledger_that_was_lost_and_is_found_brings_its_releases_back(here, tmp_path):
    here.debit("a", ["ann"], "laplace", pure(1.0))
    here.set_allowance("a", 2.0, 1e-6)
    found = Ledger(here.path.rename(tmp_path / "found.ledger"))
    begun = Ledger.create(tmp_path / "here.ledger")
    begun.register("a", ["ann"], Gap.LOST)
    begun.debit("a", ["ann"], "laplace", pure(1.0))
    begun.join("a", found, ["a"])
    assert totals(begun, "a") == [(1, 2.0)]
    assert begun.gaps("a") == (Gap.LOST,)
    assert begun.allowance("a").epsilon == 2.0
    assert Ledger.counting(found.path, "a").path == begun.path


def test_in_doubt_nothing_is_complete_until_somebody_has_said_who_they_are(here, there):
    here.doubt("a", "b", there.path, 2)
    there.doubt("b", "a", here.path, 2)
    assert here.gaps("a") == there.gaps("b") == (Gap.SAME_IDS,)
    (doubt,) = here.doubts("a")
    assert (doubt.other, doubt.place, doubt.shared) == ("b", there.path, 2)
    there.set_apart("b", ["a"])
    assert there.gaps("b") == ()
    here.join("a", there, ["b"])
    assert here.gaps("a") == ()
    assert here.doubts("b") == ()


def test_people_who_are_apart_are_not_doubted_again(here, there):
    here.set_apart("a", ["b"])
    here.doubt("a", "b", there.path, 2)
    assert not here.is_incomplete("a")


def test_ids_are_compared_as_they_are_counted(here):
    here.pseudonyms("a", ["Ann"])
    (found,) = here.alike(["ANN ", "eve"])
    assert (found.origin, found.shared) == ("a", 1)
    (found,) = here.alike(["anon01"])
    assert found.shared == 1
    assert here.alike(["ann"], besides="a") == []
    assert here.alike(["eve"]) == []


def test_earlier_versions_refuse_what_they_would_count_wrongly(here, there):
    """They know nothing of joined accounts, and would find too little spent."""

    def format_of(book):
        with sqlite3.connect(book.path) as database:
            (found,) = database.execute("SELECT value FROM ledger WHERE key = 'format'").fetchone()
        database.close()
        return found

    assert format_of(here) == "eyelid/ledger/1"
    here.join("a", there, ["b"])
    assert format_of(here) == "eyelid/ledger/2"
    with sqlite3.connect(there.path) as database:
        assert database.execute("SELECT id FROM origin").fetchall() == []
    database.close()


KILLED = """
import os, sqlite3, sys
from pathlib import Path
from eyelid.privacy import Ledger
here, there, most = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
books, done, ends = (Ledger(here), Ledger(there)), 0, []

class Counting(sqlite3.Connection):
    def counted(self, what, statement, *values):
        global done
        if done == most:
            os._exit(9)
        done += 1
        found = what(statement, *values)
        # Little memory, so that what is half done is on the disk.
        if statement.startswith("BEGIN"):
            super().execute("PRAGMA main.cache_size = 1")
        if statement == "COMMIT":
            ends.append(done)
        return found

    def execute(self, *words):
        return self.counted(super().execute, *words)

    def executemany(self, *words):
        return self.counted(super().executemany, *words)

connect = sqlite3.connect
sqlite3.connect = lambda *words, **more: connect(*words, **more, factory=Counting)
books[0].join("a", books[1], ["b"])
print(*ends)
"""


@pytest.fixture
def killed_join(here, there, tmp_path):
    """Two ledgers whose join is killed after some statements, in a folder renamed since."""
    there.register("b", [f"x{number}" for number in range(40)])
    for number in range(40):
        # Enough to be written down before the end.
        there.debit("b", ["ann", f"x{number}"], "laplace", pure(0.5), what="release " * 40)
    here.debit("a", ["ann"], "laplace", pure(1.0))
    before = {book.path.name: book.path.read_bytes() for book in (here, there)}
    for book in (here, there):
        # Beside them, others would be copies.
        book.path.unlink()

    def join(statements):
        folder = tmp_path / f"after {statements}"
        folder.mkdir()
        for name, content in before.items():
            (folder / name).write_bytes(content)
        words = (folder / "here.ledger", folder / "there.ledger", statements)
        done = subprocess.run(
            [sys.executable, "-c", KILLED, *map(str, words)],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == (9 if statements >= 0 else 0), done.stderr
        return folder.rename(tmp_path / f"moved {statements}"), done.stdout

    return join


def known_totals(folder):
    """What both ledgers of a folder say of the one person who is in all; None where no total."""
    found = []
    for name, origin in (("here", "a"), ("there", "b")):
        book = Ledger.counting(folder / f"{name}.ledger", origin)
        most = max(b.total.epsilon for b in book.balances(origin))
        found.append(None if book.gaps(origin) else most)
    return tuple(found)


def test_a_kill_while_ledgers_are_joined_and_a_folder_renamed_since_leave_no_half(killed_join):
    folder, ends = killed_join(-1)
    assert known_totals(folder) == (21.0, 21.0)
    # The last five: noted here, noted there, nothing, copied, and pointed to.
    noted, left, _, copied, whole = map(int, ends.split()[-5:])
    states = {
        noted - 1: (1.0, 20.0),
        noted: (None, 20.0),
        left - 1: (None, 20.0),
        left: (None, None),
        copied - 20: (None, None),
        copied - 1: (None, None),
        copied: (21.0, None),
        whole - 1: (21.0, None),
    }
    hot = 0
    for statements, expected in states.items():
        folder, _ = killed_join(statements)
        hot += len(list(folder.glob("*-journal")))
        assert known_totals(folder) == expected, statements
        here, there = Ledger(folder / "here.ledger"), Ledger(folder / "there.ledger")
        if expected[1] is None:
            assert there.knows("b")
            for spend in (
                lambda book=there: book.debit("b", ["ann"], "laplace", pure(1.0)),
                lambda book=there: book.register("b", ["eve"]),
            ):
                with pytest.raises(InputError, match="being joined with those of"):
                    spend()
        # Joined again, everything is counted once.
        here.join("a", there, ["b"])
        assert known_totals(folder) == (21.0, 21.0)
        assert not there.knows("b")
        assert len(here.debits("a")) == 41
    assert hot > 0


def test_people_whose_join_was_stopped_are_joined_with_no_third(killed_join):
    folder, ends = killed_join(-1)
    left = int(ends.split()[-4])
    folder, _ = killed_join(left)
    third = made(folder / "third.ledger", "c", "ann")
    there = Ledger(folder / "there.ledger")
    with pytest.raises(InputError, match="was stopped"):
        third.join("c", there, ["b"])
    with pytest.raises(InputError, match="was stopped"):
        there.join("b", third, ["c"])
    assert third.gaps("c") == ()
    (found,) = there.alike(["ann"])
    assert found.origin == "b"


def test_a_release_that_is_under_way_is_not_counted_in_a_ledger_that_was_joined(here, there):
    """It has opened the ledger before, and pays after."""
    opened = Ledger(there.path)
    here.join("a", there, ["b"])
    with pytest.raises(InputError, match="`ledger"):
        opened.debit("b", ["ann"], "laplace", pure(1.0))
    assert Path(opened.path) == there.path


def test_a_study_that_grows_by_ids_of_another_account_has_no_total(tmp_path):
    book = made(tmp_path / "recordings.ledger", "wave1", "P01", "P02")
    book.register("wave2", ["P05"])
    book.debit("wave1", ["P01", "P02"], "laplace", pure(3.0))
    book.debit("wave2", ["P05"], "laplace", pure(1.0))
    assert book.gaps("wave1") == book.gaps("wave2") == ()
    book.debit("wave2", ["P05", " p01"], "laplace", pure(1.0))
    for origin, other in (("wave1", "wave2"), ("wave2", "wave1")):
        assert book.gaps(origin) == (Gap.SAME_IDS,)
        (doubt,) = book.doubts(origin)
        assert (doubt.other, doubt.shared) == (other, 1)
    book.join("wave1", book, ["wave2"])
    assert book.gaps("wave2") == ()
    assert max(b.total.epsilon for b in book.balances("wave2")) == 4.0


def test_a_study_that_grows_is_not_doubted_where_its_owner_has_set_it_apart(tmp_path):
    book = made(tmp_path / "recordings.ledger", "one", "P01")
    book.register("two", ["P01"])
    book.set_apart("one", ["two"])
    book.set_apart("two", ["one"])
    book.debit("two", ["P01", "P02"], "laplace", pure(1.0))
    book.debit("one", ["P01", "P02"], "laplace", pure(1.0))
    assert book.gaps("one") == book.gaps("two") == ()


def test_pseudonyms_of_two_accounts_are_no_common_ids_when_charged(tmp_path):
    book = made(tmp_path / "recordings.ledger", "one", "ann")
    book.register("two", ["bob"])
    assert book.pseudonyms("one", ["ann"]) == {"ann": "anon01"}
    assert book.pseudonyms("two", ["bob"]) == {"bob": "anon01"}
    book.debit("two", ["anon01"], "laplace", pure(1.0))
    assert book.gaps("one") == book.gaps("two") == ()
    # Without a bearer of its own, it is another's.
    book.register("three")
    book.debit("three", ["anon01"], "laplace", pure(1.0))
    assert book.gaps("three") == (Gap.SAME_IDS,)

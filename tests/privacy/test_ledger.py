import json
import sqlite3
import subprocess
import sys

import pytest

from eyelid.errors import InputError, Refused
from eyelid.privacy import PERSON, RECORDING, Guarantee, Kind, Ledger, Neighbours, Trust
from eyelid.privacy.gaussian import gaussian_mu


def pure(epsilon, unit=PERSON):
    return Guarantee(Kind.PURE, unit, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon, 0.0)


def gaussian(epsilon, delta=1e-6):
    mu = gaussian_mu(epsilon, delta)
    return Guarantee(
        Kind.APPROXIMATE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon, delta, mu
    )


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "study.ledger")
    for origin in ("o", "one", "two"):
        ledger.register(origin)
    return ledger


def test_spending_adds_up_per_person_not_per_release(ledger):
    ledger.debit("o", ["ann", "bob"], "laplace", pure(1.0))
    ledger.debit("o", ["bob", "cat"], "laplace", pure(2.0))
    worst, *others = ledger.balances("o")
    assert (worst.people, worst.total.epsilon) == (1, 3.0)
    assert sorted((b.people, b.total.epsilon) for b in others) == [(1, 1.0), (1, 2.0)]


def test_origins_are_counted_apart(ledger):
    ledger.debit("one", ["ann"], "laplace", pure(1.0))
    ledger.debit("two", ["ann"], "laplace", pure(2.0))
    assert ledger.balances("one")[0].total.epsilon == 1.0
    assert ledger.balances("three") == []


def test_above_the_limit_is_refused_and_nothing_is_counted(ledger):
    ledger.set_allowance("o", 2.5, 1e-6)
    ledger.debit("o", ["ann"], "laplace", pure(1.0))
    ledger.debit("o", ["ann"], "laplace", pure(1.5))
    with pytest.raises(Refused, match=r"above the limit of ε = 2\.5"):
        ledger.debit("o", ["ann", "bob"], "laplace", pure(0.1))
    assert len(ledger.debits("o")) == 2
    ledger.debit("o", ["bob"], "laplace", pure(2.5))


def test_a_refusal_asks_for_less_only_where_less_would_fit(ledger):
    ledger.set_allowance("o", 2.0, 1e-6)
    ledger.debit("o", ["ann"], "laplace", pure(1.0))
    with pytest.raises(Refused, match="ask for less or raise the limit"):
        ledger.debit("o", ["ann"], "laplace", pure(1.5))
    ledger.set_allowance("o", 0.5, 1e-6)
    with pytest.raises(Refused, match="no release fits, raise the limit"):
        ledger.debit("o", ["ann"], "laplace", pure(0.01))


def test_ten_tenths_fit_into_one(ledger):
    ledger.set_allowance("o", 1.0, 1e-6)
    for _ in range(10):
        ledger.debit("o", ["ann"], "laplace", pure(0.1))
    with pytest.raises(Refused):
        ledger.debit("o", ["ann"], "laplace", pure(0.1))


def test_gaussians_are_cheaper_together_than_their_sum(ledger):
    ledger.set_allowance("o", 2.0, 1e-6)
    for _ in range(3):
        ledger.debit("o", ["ann"], "gaussian", gaussian(1.0))
    assert ledger.balances("o")[0].total.epsilon < 2.0


def test_a_delta_beyond_the_limit_is_refused(ledger):
    ledger.set_allowance("o", 10.0, 1e-9)
    loose = Guarantee(Kind.APPROXIMATE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, 1.0, 1e-6)
    with pytest.raises(Refused):
        ledger.debit("o", ["ann"], "other", loose)


def test_a_release_without_guarantee_is_counted_as_unbounded_and_never_fits_a_limit(ledger):
    ledger.debit("o", ["ann"], "laplace", pure(1.0))
    ledger.debit("o", ["ann"], "laplace", pure(1.0).broken("seeded"))
    balance = ledger.balances("o")[0]
    assert not balance.total.holds
    assert balance.sound.epsilon == 1.0
    ledger.set_allowance("o", 100.0, 1e-6)
    with pytest.raises(Refused, match="seeded"):
        ledger.debit("o", ["ann"], "laplace", pure(0.1))


def test_an_infinite_epsilon_survives_the_file(ledger):
    ledger.debit("o", ["ann"], "laplace", pure(float("inf")))
    assert ledger.balances("o")[0].total.epsilon == float("inf")


def test_only_person_level_totals_are_taken(ledger):
    with pytest.raises(InputError, match="counts people"):
        ledger.debit("o", ["ann"], "laplace", pure(1.0, RECORDING))


def test_a_missing_ledger_is_an_error_not_a_fresh_start(tmp_path):
    with pytest.raises(InputError, match="is missing: bring it back"):
        Ledger(tmp_path / "gone.ledger")


def test_an_emptied_ledger_is_not_a_fresh_one(tmp_path):
    (tmp_path / "cut.ledger").touch()
    for open_it in (Ledger, Ledger.create):
        with pytest.raises(InputError, match="may have been emptied"):
            open_it(tmp_path / "cut.ledger")


def test_a_limit_can_be_lifted(ledger):
    ledger.set_allowance("o", 0.5, 1e-6)
    ledger.lift_allowance("o")
    ledger.debit("o", ["ann"], "laplace", pure(1.0))
    assert ledger.allowance("o") is None


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00broken"])
def test_a_damaged_ledger_is_named(tmp_path, content):
    path = tmp_path / "bad.ledger"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.ledger"):
        Ledger(path)


def test_somebody_elses_database_is_left_alone(tmp_path):
    path = tmp_path / "other.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE mine (x)")
    database.commit()
    database.close()
    with pytest.raises(InputError, match="not a ledger"):
        Ledger(path)


def test_a_ledger_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(InputError, match="cannot write the ledger"):
        Ledger.create(tmp_path / "no" / "such" / "folder.ledger")


def test_fingerprints_are_keyed_so_that_a_guess_cannot_be_confirmed(tmp_path):
    one = Ledger.create(tmp_path / "one.ledger")
    two = Ledger.create(tmp_path / "two.ledger")
    assert one.fingerprint(b"data", 1) == one.fingerprint(b"data", 1)
    assert one.fingerprint(b"data", 1) != two.fingerprint(b"data", 1)
    assert one.fingerprint(b"data", 1) != one.fingerprint(b"data", 2)


def test_the_file_holds_no_more_than_it_must(ledger):
    ledger.debit("o", ["ann"], "laplace", pure(1.0))
    database = sqlite3.connect(ledger.path)
    (text,) = database.execute("SELECT guarantee FROM debit").fetchone()
    database.close()
    assert json.loads(text)["epsilon"] == 1.0


SPEND = """
import sys
from pathlib import Path
from eyelid.errors import Refused
from eyelid.privacy import PERSON, Guarantee, Kind, Ledger, Neighbours, Trust
ledger = Ledger(Path(sys.argv[1]))
one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, 1.0, 0.0)
for _ in range(int(sys.argv[2])):
    try:
        ledger.debit("o", ["ann", "bob"], "laplace", one)
    except Refused:
        continue
    print("paid", flush=True)
"""


def spender(ledger, tries):
    words = [sys.executable, "-c", SPEND, str(ledger.path), str(tries)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def test_several_processes_cannot_all_take_the_last_of_a_budget(ledger):
    ledger.set_allowance("o", 7.0, 1e-6)
    crowd = [spender(ledger, 5) for _ in range(3)]
    paid = sum(process.communicate()[0].count("paid") for process in crowd)
    assert paid == 7
    assert len(ledger.debits("o")) == 7


def test_a_killed_process_leaves_a_ledger_that_counts_everything_it_confirmed(ledger):
    for confirmed in (1, 4, 9):
        before = len(ledger.debits("o"))
        process = spender(ledger, 10**6)
        for _ in range(confirmed):
            assert process.stdout.readline() == "paid\n"
        process.kill()
        paid = confirmed + process.communicate()[0].count("paid")
        # The one under way may or may not be in; nothing confirmed is lost.
        assert paid <= len(ledger.debits("o")) - before <= paid + 1


def test_a_ledger_that_does_not_know_the_people_counts_nothing_for_them(ledger):
    with pytest.raises(InputError, match="does not know these people"):
        ledger.debit("another person", ["ann"], "laplace", pure(1.0))
    ledger.register("another person")
    ledger.debit("another person", ["ann"], "laplace", pure(1.0))


def test_a_folder_has_one_origin_whoever_asks(ledger):
    first = ledger.origin_of_folder("mine")
    assert ledger.origin_of_folder("mine") == first
    assert Ledger(ledger.path).origin_of_folder("mine") == first
    assert ledger.origin_of_folder("yours") != first
    ledger.check_knows(first)


def test_pseudonyms_stay_the_same_and_spending_follows_the_person(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    ledger.register("o")
    first = ledger.pseudonyms("o", ["ann", "bob"])
    assert sorted(first.values()) == ["anon01", "anon02"]
    again = Ledger(tmp_path / "l").pseudonyms("o", ["bob", "cyd"])
    assert again == {"bob": first["bob"], "cyd": "anon03"}
    ledger.debit("o", ["ann"], "laplace", pure(1.0))
    ledger.debit("o", [first["ann"]], "laplace", pure(1.0))
    assert [(b.people, b.total.epsilon) for b in ledger.balances("o")] == [(1, 2.0)]
    assert ledger.balances("o", people=[first["ann"]])[0].total.epsilon == 2.0


def test_a_pseudonym_is_never_somebodys_name(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    found = ledger.pseudonyms("o", ["anon01", "ann"])
    assert "anon01" not in found.values()


def test_a_ledger_of_the_first_version_learns_pseudonyms(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    with sqlite3.connect(tmp_path / "l") as database:
        database.execute("DROP TABLE IF EXISTS pseudonym")
    assert ledger.pseudonyms("o", ["ann"]) == {"ann": "anon01"}


def test_a_pseudonym_is_never_a_name_that_was_counted(ledger):
    ledger.debit("o", ["anon01"], "laplace", pure(1.0))
    assert ledger.pseudonyms("o", ["ann"]) == {"ann": "anon02"}


def test_a_run_that_goes_on_is_counted_once(ledger):
    first = ledger.debit("o", ["ann", "bob"], "laplace", pure(1.0), "features", run="run")
    assert ledger.debit("o", ["bob", "ann"], "laplace", pure(1.0), "features", run="run") == first
    assert ledger.balances("o")[0].total.epsilon == 1.0
    ledger.debit("o", ["ann", "bob"], "laplace", pure(1.0), run="another run")
    assert ledger.balances("o")[0].total.epsilon == 2.0


def test_a_run_that_was_counted_goes_on_under_a_limit_that_came_later(ledger):
    ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run")
    ledger.set_allowance("o", 0.5, 1e-6)
    assert ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run").id == 1


@pytest.mark.parametrize(
    ("people", "mechanism", "promise"),
    [
        (["ann", "bob"], "laplace", pure(1.0)),
        (["ann"], "gaussian", pure(1.0)),
        (["ann"], "laplace", pure(0.5)),
    ],
)
def test_a_run_cannot_go_on_as_something_that_was_not_paid(ledger, people, mechanism, promise):
    ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run")
    with pytest.raises(InputError, match="counted for other people or another promise"):
        ledger.debit("o", people, mechanism, promise, run="run")


def test_a_refused_run_is_not_counted_and_may_come_again(ledger):
    ledger.set_allowance("o", 0.5, 1e-6)
    with pytest.raises(Refused):
        ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run")
    ledger.lift_allowance("o")
    assert ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run").id == 1


def test_a_run_that_has_ended_does_not_go_on(ledger):
    """A person brought back a copy of what it had left: a second release for one debit."""
    ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run")
    ledger.end("run")
    with pytest.raises(InputError, match="this run has ended"):
        ledger.debit("o", ["ann"], "laplace", pure(1.0), run="run")
    assert len(ledger.debits("o")) == 1

"""Ledgers that others made: nothing of yours changes, nothing runs, and nothing is endless."""

import itertools
import os
import sqlite3
import struct
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from eyelid.errors import InputError
from eyelid.privacy import Ledger
from eyelid.privacy.guarantee import Guarantee, Kind
from eyelid.privacy.unit import PERSON, Neighbours, Trust

MAGIC = bytes.fromhex("d9d505f920a163d7")
PAGE = 4096
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")


def change(path, *statements):
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def hot_journal(pages=(), naming=None, of=1):
    """A journal that puts pages back and, naming a file, has SQLite remove that one."""
    head = MAGIC + struct.pack(">IIIII", len(pages), 0, of, 512, PAGE)
    body = b""
    for number, page in pages:
        check = sum(page[place] for place in range(PAGE - 200, 0, -200)) & 0xFFFFFFFF
        body += struct.pack(">I", number) + page + struct.pack(">I", check)
    end = b""
    if naming is not None:
        name = os.fsencode(naming)
        end = struct.pack(">I", (1 << 30) // PAGE + 1) + name
        end += struct.pack(">II", len(name), sum(name)) + MAGIC
    return head.ljust(512, b"\0") + body + end


@pytest.fixture
def hostile(tmp_path):
    """A ledger as others may have made it."""
    (tmp_path / "of others").mkdir()
    return Ledger.create(tmp_path / "of others" / "x.ledger").path


@pytest.fixture
def thesis(tmp_path):
    """A file of yours."""
    file = tmp_path / "thesis.txt"
    file.write_bytes(b"\0my only copy")
    return file


def beside(path, suffix):
    return Path(f"{path}{suffix}")


@pytest.mark.parametrize("spelling", ["absolute", "from here"])
def test_a_journal_that_names_a_file_of_yours_does_not_remove_it(
    hostile, thesis, monkeypatch, spelling
):
    monkeypatch.chdir(thesis.parent)
    name = thesis if spelling == "absolute" else thesis.name
    beside(hostile, "-journal").write_bytes(
        hot_journal(naming=name, of=hostile.stat().st_size // PAGE)
    )
    with pytest.raises(InputError, match="which names a further file"):
        Ledger(hostile)
    assert thesis.exists()
    assert beside(hostile, "-journal").exists()


def test_a_ledger_that_says_where_it_was_leads_to_no_journal_that_removes_a_file(hostile, thesis):
    (hostile.parent / "trap").write_bytes(hostile.read_bytes())
    beside(hostile.parent / "trap", "-journal").write_bytes(
        hot_journal(naming=thesis, of=hostile.stat().st_size // PAGE)
    )
    trap = hostile.parent / "trap"
    change(hostile, f"UPDATE ledger SET value = '{trap}' WHERE key = 'place'")
    Ledger(hostile)
    assert thesis.exists()


def test_a_ledger_that_leads_to_another_leads_to_no_journal_that_removes_a_file(hostile, thesis):
    trap = hostile.parent / "trap"
    change(trap, "CREATE TABLE t (a)")
    beside(trap, "-journal").write_bytes(hot_journal(naming=thesis, of=2))
    change(hostile, f"INSERT INTO forward VALUES ('o', '{trap}', 'trap', 'x')")
    with pytest.raises(InputError, match="which names a further file"):
        Ledger.counting(hostile, "o")
    assert thesis.exists()


def test_what_a_kill_left_of_a_ledgers_own_transaction_is_undone(hostile):
    before = hostile.read_bytes()
    pages = [
        (number + 1, before[number * PAGE : (number + 1) * PAGE])
        for number in range(len(before) // PAGE)
    ]
    change(hostile, "INSERT INTO origin VALUES ('half')")
    assert Ledger(hostile).knows("half")
    beside(hostile, "-journal").write_bytes(hot_journal(pages, of=len(pages)))
    assert not Ledger(hostile).knows("half")
    assert not beside(hostile, "-journal").exists()


@posix
def test_a_second_name_of_a_file_of_yours_is_not_written_through_a_journal(hostile, thesis):
    page = hostile.read_bytes()[:PAGE]
    hostile.unlink()
    thesis.write_bytes(b"my only copy".ljust(PAGE))
    os.link(thesis, hostile)
    beside(hostile, "-journal").write_bytes(hot_journal([(1, page)]))
    with pytest.raises(InputError, match="has another name"):
        Ledger(hostile)
    assert thesis.read_bytes() == b"my only copy".ljust(PAGE)


@posix
@pytest.mark.parametrize("kind", ["second name", "link", "pipe", "folder"])
def test_a_journal_that_is_a_file_of_yours_is_not_written(hostile, thesis, kind, request):
    journal = beside(hostile, "-journal")

    def pipe():
        os.mkfifo(journal)
        # Who opens it for reading would wait for one who writes.
        request.addfinalizer(partial(os.close, os.open(journal, os.O_RDWR | os.O_NONBLOCK)))

    {
        "second name": lambda: os.link(thesis, journal),
        "link": lambda: journal.symlink_to(thesis),
        "pipe": pipe,
        "folder": journal.mkdir,
    }[kind]()
    change_in = (hostile.stat().st_mtime_ns, hostile.read_bytes())
    with pytest.raises(InputError, match="which is a link, or no file"):
        Ledger(hostile).register("o", ["ann"])
    assert thesis.read_bytes() == b"\0my only copy"
    assert (hostile.stat().st_mtime_ns, hostile.read_bytes()) == change_in


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_a_log_beside_a_ledger_is_not_played(hostile, thesis, suffix):
    beside(hostile, suffix).symlink_to(thesis)
    with pytest.raises(InputError, match="which eyelid never makes"):
        Ledger(hostile)
    assert thesis.read_bytes() == b"\0my only copy"


def test_a_ledger_whose_header_asks_for_a_log_is_refused_and_leaves_none(hostile):
    with closing(sqlite3.connect(hostile)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(InputError, match="is not a ledger that this eyelid can read"):
        Ledger(hostile)
    assert [file.name for file in hostile.parent.iterdir()] == ["x.ledger"]


def test_a_journal_that_makes_the_header_ask_for_a_log_is_no_way_around(hostile):
    before = hostile.read_bytes()
    page = bytearray(before[:PAGE])
    page[18:20] = b"\2\2"
    beside(hostile, "-journal").write_bytes(hot_journal([(1, bytes(page))], of=len(before) // PAGE))
    with pytest.raises(InputError, match="is not a ledger that this eyelid can read"):
        Ledger(hostile)
    assert [file.name for file in hostile.parent.iterdir()] == ["x.ledger"]


@posix
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_a_ledger_that_is_no_file_is_not_opened(tmp_path, kind):
    path = tmp_path / "x.ledger"
    {
        "pipe": lambda: os.mkfifo(path),
        "folder": path.mkdir,
        "device": lambda: path.symlink_to("/dev/zero"),
    }[kind]()
    with pytest.raises(InputError, match="is no file"):
        Ledger(path)


def test_a_ledger_that_is_a_long_view_is_none(hostile):
    # Finite, so that this fails where it is believed, and does not hang.
    change(
        hostile,
        "DROP TABLE ledger",
        "CREATE VIEW ledger AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c "
        "LIMIT 1000000) SELECT 'k' || x AS key, x AS value FROM c UNION ALL "
        "SELECT 'format', 'eyelid/ledger/1' UNION ALL SELECT 'key', 'ab'",
    )
    with pytest.raises(InputError, match="is not a ledger that this eyelid can read"):
        Ledger(hostile)


REPLACED = "DROP TABLE home"


@pytest.mark.parametrize(
    "statements",
    [
        ("CREATE TRIGGER t AFTER INSERT ON origin BEGIN DELETE FROM debit; END",),
        ("CREATE VIEW v AS SELECT * FROM origin",),
        ("CREATE INDEX i ON debit (length(what))",),
        ("CREATE UNIQUE INDEX i ON origin (id) WHERE id <> 'o'",),
        ("ALTER TABLE home ADD COLUMN more AS (abs(1)) VIRTUAL",),
        ("ALTER TABLE home ADD COLUMN more TEXT DEFAULT (hex(randomblob(9)))",),
        (REPLACED, "CREATE TABLE home (folder TEXT PRIMARY KEY CHECK (abs(1)), origin TEXT)"),
        (REPLACED, "CREATE TABLE HOME (folder, origin CHECK (abs(1)))"),
        (REPLACED, "CREATE VIEW home AS SELECT id AS folder, id AS origin FROM origin"),
        (REPLACED, "CREATE VIRTUAL TABLE home USING fts5(folder, origin)"),
    ],
    ids=[
        "trigger", "view", "computed index", "partial index", "computed column", "default",
        "constraint", "constraint in capitals", "view in place of a table", "virtual table",
    ],
)  # fmt: skip
def test_a_ledger_that_would_run_something_is_none(hostile, statements):
    change(hostile, *statements)
    with pytest.raises(InputError, match="is not a ledger that this eyelid can read"):
        Ledger(hostile)


def test_tables_of_later_versions_do_no_harm(hostile):
    change(hostile, "CREATE TABLE later (a TEXT)", "CREATE INDEX later_a ON later (length(a))")
    with pytest.raises(InputError):
        Ledger(hostile)
    change(hostile, "DROP INDEX later_a")
    assert Ledger(hostile).homes() == {}


def test_pages_that_are_each_the_child_of_many_do_not_make_a_ledger_endless(hostile):
    """Three pages with 250 children each, all the same one, are a table of millions of rows."""
    fill = f"CREATE TABLE fill AS SELECT hex(zeroblob({PAGE * 8})) AS a"
    change(hostile, "INSERT INTO home VALUES ('a', 'o')", fill)
    with closing(sqlite3.connect(hostile)) as database:
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'home'"
        (root,) = database.execute(query).fetchone()
    content = bytearray(hostile.read_bytes())
    last = len(content) // PAGE
    pages = [root, last, last - 1, last - 2]

    def put(number, page):
        content[(number - 1) * PAGE : number * PAGE] = page

    put(pages[-1], content[(root - 1) * PAGE : root * PAGE])
    for number, child in itertools.pairwise(pages):
        cells = [struct.pack(">I", child) + b"\1"] * 250
        start = PAGE - 5 * len(cells)
        head = struct.pack(">BHHHBI", 5, 0, len(cells), start, 0, child)
        places = b"".join(struct.pack(">H", start + 5 * n) for n in range(len(cells)))
        put(number, (head + places).ljust(start, b"\0") + b"".join(cells))
    hostile.write_bytes(content)
    with pytest.raises(InputError, match="takes longer than a ledger of its size"):
        Ledger(hostile).homes()


def test_a_key_that_interrupts_a_long_look_is_no_fault_of_the_ledger(hostile, monkeypatch):
    def pressed(self, database):
        database.set_progress_handler(lambda: 1 / 0, 1)

    monkeypatch.setattr("eyelid.privacy.ledger_file._Steps.count", pressed)
    with pytest.raises(KeyboardInterrupt):
        Ledger(hostile)


def test_a_ledger_that_was_at_a_relative_place_is_opened(hostile, monkeypatch):
    monkeypatch.chdir(hostile.parent)
    Path("was").write_bytes(hostile.read_bytes())
    change(hostile, "UPDATE ledger SET value = 'was' WHERE key = 'place'")
    Ledger(hostile)
    change(hostile, "UPDATE ledger SET value = 'a' || char(0) WHERE key = 'place'")
    Ledger(hostile)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO member VALUES ('o', x'00')",
        "INSERT INTO home VALUES (NULL, 'o')",
        "INSERT INTO allowance VALUES ('o', 'much', 0)",
        "INSERT INTO forward VALUES ('o', x'2f', 'a', 'b')",
        "DELETE FROM ledger WHERE key = 'key'",
        "UPDATE ledger SET value = 'no key' WHERE key = 'key'",
        "UPDATE ledger SET value = x'00' WHERE key = 'place'",
    ],
)
def test_values_that_no_ledger_has_are_refused_in_one_line(hostile, statement):
    change(hostile, statement)
    with pytest.raises(InputError, match=r"values that are none of a ledger|is not a ledger"):
        Ledger(hostile)


@pytest.mark.parametrize(
    "guarantee",
    ["no json", "null", "[]", "{}", "[" * 100_000, '{"epsilon": 1e999}', '{"slack": [1]}',
     '{"epsilon": 1' + "0" * 400 + "}"],
    ids=["text", "null", "list", "empty", "deep", "infinite", "list in it", "large"],
)  # fmt: skip
def test_a_guarantee_that_cannot_be_read_is_one_line(hostile, guarantee):
    one = Guarantee(Kind.PURE, PERSON, Neighbours.REPLACE_ONE, Trust.LOCAL, epsilon=1.0)
    ledger = Ledger(hostile)
    ledger.register("o", ["ann"])
    ledger.debit("o", ["ann"], "laplace", one)
    change(hostile, f"UPDATE debit SET guarantee = '{guarantee}'")
    with pytest.raises(InputError, match="whose guarantee cannot be read"):
        Ledger(hostile).balances("o")


def test_a_gap_of_an_unknown_kind_is_a_gap(hostile):
    change(hostile, "INSERT INTO origin VALUES ('o')")
    ledger = Ledger(hostile)
    change(hostile, "INSERT INTO gap VALUES ('o', 'of a later version')")
    assert ledger.is_incomplete("o")


@pytest.mark.parametrize("name", ["a?mode=memory", "a#b", "50%41", "file:a", "a b", "ä;&'\""])
def test_no_letter_of_a_path_is_an_order_to_sqlite(tmp_path, monkeypatch, name):
    if os.name == "nt" and set(name) & set('?:"'):
        pytest.skip("Windows has no such names")
    monkeypatch.chdir(tmp_path)
    here, there = Ledger.create(name), Ledger.create(f"{name}.other")
    for ledger, origin in ((here, "o"), (there, "p")):
        ledger.register(origin, ["ann"])
    assert here.join("o", there, ["p"]).shared == 1
    assert {file.name for file in tmp_path.iterdir()} == {name, f"{name}.other"}

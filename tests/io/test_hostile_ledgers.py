"""Ledgers in folders of others: inside of recordings, beside them, and named by a study.json."""

import json
import os
import sqlite3
import struct
from contextlib import closing

import pytest

from eyelid.errors import InputError
from eyelid.io.convert import convert
from eyelid.privacy import Ledger

MAGIC = bytes.fromhex("d9d505f920a163d7")
MAP = 'file = "{person}"\nunits = "px"\ntime_unit = "ms"\n[columns]\ntime="t"\nx="x"\ny="y"\n'


def recorded(folder, *people):
    folder.mkdir(parents=True)
    rows = "".join(f"{10 * row},{row % 7},{row % 5}\n" for row in range(50))
    for name in people or ("P1", "P2", "P3"):
        (folder / f"{name}.csv").write_text(f"t,x,y\n{rows}")
    (folder / "map.toml").write_text(MAP)
    return folder


def trap(ledger, victim):
    """A database whose journal names a file, for SQLite to remove."""
    with closing(sqlite3.connect(ledger)) as database:
        database.execute("CREATE TABLE t (a)")
        database.commit()
    name = os.fsencode(victim)
    head = MAGIC + struct.pack(">IIIII", 0, 0, ledger.stat().st_size // 4096, 512, 4096)
    end = struct.pack(">I", (1 << 30) // 4096 + 1) + name
    end += struct.pack(">II", len(name), sum(name)) + MAGIC
    ledger.with_name(f"{ledger.name}-journal").write_bytes(head.ljust(512, b"\0") + end)


@pytest.fixture
def thesis(tmp_path):
    """A file of yours."""
    file = tmp_path / "home" / "thesis.txt"
    file.parent.mkdir()
    file.write_text("my only copy")
    return file


def test_a_hidden_ledger_inside_recordings_removes_no_file_of_yours(tmp_path, thesis, eyelid):
    source = recorded(tmp_path / "recordings")
    trap(source / ".x.ledger", thesis)
    assert eyelid("convert", source, tmp_path / "out").code == 0
    assert thesis.exists()


def test_a_ledger_beside_recordings_removes_no_file_of_yours(tmp_path, thesis, eyelid):
    source = recorded(tmp_path / "recordings")
    trap(tmp_path / "recordings.ledger", thesis)
    for words in (["budget", source], ["convert", source, tmp_path / "out"]):
        assert eyelid(*words).code == 2
    assert thesis.exists()


@pytest.mark.parametrize("command", ["budget", "convert"])
def test_a_study_that_names_a_ledger_removes_no_file_of_yours(
    features_folder, tmp_path, thesis, eyelid, command
):
    file = features_folder / "study.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"ledger": ".x.ledger"}))
    trap(features_folder / ".x.ledger", thesis)
    out = [] if command == "budget" else [tmp_path / "out"]
    assert eyelid(command, features_folder, *out).code == 2
    assert thesis.exists()


def test_a_ledger_inside_recordings_that_is_a_long_view_holds_no_conversion_up(tmp_path):
    source = recorded(tmp_path / "recordings")
    with closing(sqlite3.connect(source / "x.ledger")) as database:
        database.execute(
            "CREATE VIEW ledger AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c "
            "LIMIT 1000000) SELECT 'k' || x AS key, x AS value FROM c"
        )
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        connect = sqlite3.connect

        def watched(*words, **more):
            database = connect(*words, **more)
            database.set_trace_callback(seen.append)
            return database

        patch.setattr(sqlite3, "connect", watched)
        with pytest.raises(InputError, match="is not a ledger"):
            Ledger(source / "x.ledger")
    assert not [statement for statement in seen if "FROM ledger" in statement]
    convert(source, tmp_path / "out")


def test_a_lost_ledger_is_not_begun_where_a_study_of_others_says(
    features_folder, tmp_path, thesis, eyelid
):
    file = features_folder / "study.json"
    for named in ("../home/new.ledger", "new.ledger"):
        file.write_text(json.dumps(json.loads(file.read_text()) | {"ledger": named}))
        done = eyelid("budget", features_folder, "--lost")
        assert done.code == 2
        assert "say with --ledger FILE" in done.err
        assert [each.name for each in thesis.parent.iterdir()] == ["thesis.txt"]
        assert not (features_folder / "new.ledger").exists()
    done = eyelid("budget", features_folder, "--lost", "--ledger", tmp_path / "new.ledger")
    assert done.code == 0
    assert Ledger(tmp_path / "new.ledger").gaps(json.loads(file.read_text())["origin"])


@pytest.mark.parametrize("way", ["link", "forward"])
def test_ledgers_inside_recordings_lead_to_no_ledger_of_yours(tmp_path, thesis, way):
    mine = thesis.parent / "mine.ledger"
    Ledger.create(mine).register("mine", ["P1", "P2", "P3"])
    source = recorded(tmp_path / "recordings")
    if way == "link":
        (source / "x.ledger").symlink_to(mine)
    else:
        Ledger.create(source / "x.ledger")
        with closing(sqlite3.connect(source / "x.ledger")) as database:
            database.execute("INSERT INTO forward VALUES ('o', ?, ?, 'guess')", [str(mine)] * 2)
            database.commit()
    before = mine.read_bytes()
    convert(source, tmp_path / "out")
    assert mine.read_bytes() == before


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"keep_names": True}, "called like a pseudonym"), ({"to": "bids"}, "none for fixations")],
)
def test_a_refused_conversion_leaves_no_ledger_with_names(tmp_path, asked, why):
    source = recorded(tmp_path / "work" / "recordings", "anna mueller", "anon01")
    if "to" in asked:
        rows = "".join(f"{100 * row},{row % 7},{row % 5},80\n" for row in range(50))
        (source / "anna mueller.csv").write_text(f"t,x,y,duration_ms\n{rows}")
        (source / "anon01.csv").write_text(f"t,x,y,duration_ms\n{rows}")
        text = MAP.replace("file", 'kind = "fixations"\nfile', 1)
        (source / "map.toml").write_text(f'{text}duration="duration_ms"\n')
    with pytest.raises(InputError, match=why):
        convert(source, tmp_path / "work" / "out", **asked)
    assert [each.name for each in source.parent.iterdir()] == ["recordings"]

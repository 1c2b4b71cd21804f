"""The file of a ledger: for its owner's eyes, and told from its copies."""

import os
import shutil
import sqlite3
import stat

import pytest

from eyelid.errors import InputError
from eyelid.io import write
from eyelid.privacy import Ledger, ledger_file

posix = pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such modes")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777], ids=oct, indirect=True)
@pytest.mark.usefixtures("umask")
def test_others_cannot_read_a_ledger_its_journal_or_its_draft(tmp_path, monkeypatch):
    seen, link = [], os.link

    def watched(draft, path):
        seen.append(mode_of(draft))
        link(draft, path)

    monkeypatch.setattr("eyelid.privacy.ledger_file.os.link", watched)
    ledger = Ledger.create(tmp_path / "l")
    assert seen == [0o600]
    assert mode_of(ledger.path) == 0o600
    with ledger.transaction() as database:
        database.execute("INSERT INTO origin VALUES ('o')")
        (journal,) = tmp_path.glob("l-*")
        assert mode_of(journal) == 0o600
    assert ledger.exposed == ""


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022], ids=oct, indirect=True)
@pytest.mark.usefixtures("umask")
def test_others_cannot_read_the_ledger_of_a_study(make_table, tmp_path):
    write(make_table().study(), tmp_path / "study")
    assert mode_of(tmp_path / "study.ledger") == 0o600


@posix
def test_a_ledger_of_an_earlier_version_is_closed_once(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    with sqlite3.connect(ledger.path) as database:
        database.execute("DELETE FROM ledger WHERE key = 'private'")
    database.close()
    ledger.path.chmod(0o644)
    Ledger(ledger.path)
    assert mode_of(ledger.path) == 0o600
    # Its owner shares it with colleagues.
    ledger.path.chmod(0o660)
    assert "others on this machine may open" in Ledger(ledger.path).exposed
    assert mode_of(ledger.path) == 0o660


def test_a_copy_beside_the_original_does_not_count_and_a_moved_one_does(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    shutil.copy(ledger.path, tmp_path / "copy")
    with pytest.raises(InputError, match=r"copy is a copy of \S+l, which counts these people"):
        Ledger(tmp_path / "copy")
    moved = ledger.path.rename(tmp_path / "moved")
    Ledger(moved)
    # From now on the moved one is the original, wherever copies are.
    for name in ("copy", "l"):
        shutil.copy(moved, tmp_path / name)
        with pytest.raises(InputError, match=r"is a copy of \S+moved"):
            Ledger(tmp_path / name)
    Ledger(moved)


def test_a_backup_that_is_put_back_counts(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    shutil.copy(ledger.path, tmp_path / "backup")
    ledger.path.unlink()
    shutil.copy(tmp_path / "backup", ledger.path)
    Ledger(ledger.path)


def test_links_to_a_ledger_are_no_copies(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    (tmp_path / "soft").symlink_to(ledger.path)
    os.link(ledger.path, tmp_path / "hard")
    for name in ("soft", "hard", "l"):
        Ledger(tmp_path / name)


def test_what_stands_where_a_ledger_was_need_not_be_one(tmp_path):
    ledger = Ledger.create(tmp_path / "l")
    moved = ledger.path.rename(tmp_path / "moved")
    (tmp_path / "l").write_text("a note")
    Ledger(moved)
    Ledger(moved)


def test_two_paths_are_one_file_however_they_are_spelt(tmp_path):
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    assert ledger_file.is_same_file(tmp_path / "a", tmp_path / "." / "a")
    assert not ledger_file.is_same_file(tmp_path / "a", tmp_path / "b")
    assert not ledger_file.is_same_file(tmp_path / "a", tmp_path / "none")

"""What was measured is found again, whatever became of the process."""

import os

import pytest

from eyelid.comparisons.journal import journal
from eyelid.errors import InputError

WORK = "0123456789abcdef"


def stopped(folder, *keys):
    """A person who notes these and is stopped."""
    with pytest.raises(KeyboardInterrupt), journal(folder, WORK) as notes:
        for key in keys:
            notes.add(key, {"named": {"ε, →": [0.1, 1 / 3]}})
        raise KeyboardInterrupt
    (file,) = folder.glob(".eyelid-compare-*")
    return file


def found(folder, work=WORK):
    with pytest.raises(KeyboardInterrupt), journal(folder, work) as notes:
        done = notes.done
        raise KeyboardInterrupt
    return done


def test_what_was_noted_comes_back_to_the_last_digit(tmp_path):
    stopped(tmp_path, "a", "b")
    assert found(tmp_path) == {key: {"named": {"ε, →": [0.1, 1 / 3]}} for key in "ab"}


def test_nobody_else_can_read_it(tmp_path):
    before = os.umask(0o022)
    try:
        assert stopped(tmp_path, "a").stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_nothing_is_left_when_the_work_is_done(tmp_path):
    stopped(tmp_path, "a")
    with journal(tmp_path, WORK) as notes:
        notes.add("b", {})
    assert list(tmp_path.iterdir()) == []


def test_other_work_finds_nothing(tmp_path):
    stopped(tmp_path, "a")
    assert found(tmp_path, "fedcba9876543210") == {}


@pytest.mark.parametrize(
    "damage", [b'["b", {"na', b'["b", {}]', b"[1, 2]\n", b"\xff\xfe\n", b'["b", 3]\n["c", {}]\n']
)
def test_a_cut_or_damaged_line_is_thrown_away_and_written_anew(tmp_path, damage):
    file = stopped(tmp_path, "a")
    whole = file.read_bytes()
    file.write_bytes(whole + damage)
    assert list(found(tmp_path)) == ["a"]
    assert file.read_bytes() == whole
    stopped(tmp_path, "b")
    assert list(found(tmp_path)) == ["a", "b"]


def test_two_at_once_are_refused(tmp_path):
    with (
        journal(tmp_path, WORK),
        pytest.raises(InputError, match="running already"),
        journal(tmp_path, WORK),
    ):
        pass


@pytest.mark.parametrize("folder", ["absent", "file/inside"])
def test_a_folder_that_cannot_be_written_is_done_without(tmp_path, folder):
    (tmp_path / "file").write_text("")
    with journal(tmp_path / folder, WORK) as notes:
        notes.add("a", {})
        assert notes.done == {}


def test_without_a_folder_nothing_is_kept():
    with journal(None, WORK) as notes:
        notes.add("a", {})

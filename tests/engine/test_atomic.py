import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from eyelid.engine.atomic import check_new, new_folder, write_file
from eyelid.errors import InputError


def test_a_folder_appears_whole_when_the_block_ends(tmp_path):
    with new_folder(tmp_path / "deep" / "out") as folder:
        (folder / "data").write_text("x")
        assert not (tmp_path / "deep" / "out").exists()
    assert [p.name for p in (tmp_path / "deep" / "out").iterdir()] == ["data"]
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["out"]


def test_a_failure_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), new_folder(tmp_path / "out") as folder:
        (folder / "data").write_text("x")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_is_kept_and_named(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError, match=r"out exists already: choose another"):
        check_new(tmp_path / "out")


def test_an_output_below_a_file_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is not a folder"):
        check_new(tmp_path / "file" / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_output_without_permission_is_an_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="no permission"):
        check_new(tmp_path / "out")


def test_two_runs_into_one_folder_cannot_both_win(tmp_path):
    with (
        pytest.raises(InputError, match="cannot put the result"),
        new_folder(tmp_path / "out") as late,
    ):
        (late / "data").write_text("late")
        with new_folder(tmp_path / "out") as early:
            (early / "data").write_text("early")
    assert (tmp_path / "out" / "data").read_text() == "early"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


KILLED = """
import os, signal, sys
from pathlib import Path
from eyelid.engine.atomic import new_folder
with new_folder(Path(sys.argv[1])) as folder:
    (folder / "data").write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_leaves_is_hidden_and_removed_by_the_next(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "out")], check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".out.")
    with new_folder(tmp_path / "out"):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_run_at_work_is_not_taken_for_an_abandoned_one(tmp_path):
    with new_folder(tmp_path / "out") as mine:
        with pytest.raises(RuntimeError), new_folder(tmp_path / "out"):
            raise RuntimeError
        assert mine.exists()


def test_a_file_is_replaced_whole(tmp_path):
    write_file(tmp_path / "a", "old")
    write_file(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "new"
    with pytest.raises(InputError, match="cannot write"):
        write_file(tmp_path / "no" / "a", "x")


@pytest.mark.parametrize("which", ["file", "folder"])
def test_a_durable_file_is_kept_by_its_folder_too_or_refused(tmp_path, monkeypatch, which):
    synced = []

    def kept(handle):
        folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        synced.append("folder" if folder else "file")
        if synced[-1] == failing:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", kept)
    failing = ""
    write_file(tmp_path / "a", "old", durable=True)
    write_file(tmp_path / "a", "old")
    assert synced == ["file", "folder"] * 2
    failing = which
    with pytest.raises(InputError, match="Input/output error"):
        write_file(tmp_path / "a", "new", durable=True)
    write_file(tmp_path / "b", "new")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    assert (tmp_path / "a").read_text() == ("old" if which == "file" else "new")


def test_folders_that_cannot_be_told_to_keep_things_are_let_be(tmp_path, monkeypatch):
    def unable(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", unable)
    write_file(tmp_path / "a", "new", durable=True)
    assert (tmp_path / "a").read_text() == "new"


def test_a_place_that_takes_no_folders_is_found_out_before_the_block(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "mkdir", refuse)
    refused = pytest.raises(InputError, match=r"cannot write .*out: No such file or directory")
    with refused, new_folder(tmp_path / "out"):
        pytest.fail("there is nowhere to write")


def test_looking_whether_there_is_room_leaves_nothing(tmp_path):
    check_new(tmp_path / "out")
    check_new(tmp_path / "deep" / "er" / "out")
    assert list(tmp_path.iterdir()) == []

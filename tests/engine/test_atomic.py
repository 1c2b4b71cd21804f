import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from eyelid.engine.atomic import (
    _exchanged,
    check_file,
    check_new,
    new_folder,
    outside,
    private_folder,
    whole_around,
    write_file,
)
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


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_is_replaced_by_a_private_one(tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr("eyelid.engine.atomic._exchanged", lambda one, other: False)
    checked = []
    for content in ("old", "new"):
        with private_folder(tmp_path / "out", checked.append) as folder:
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            (folder / content).write_text(content)
            assert not (tmp_path / "out" / content).exists()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["new"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert checked == [tmp_path / "out"] * 4


def test_where_folders_can_be_exchanged_one_of_them_is_always_there(tmp_path, monkeypatch):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("")
    if not _exchanged(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this system cannot exchange folders")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["other"]

    def never(*words):
        raise AssertionError("the folder would be gone for a moment")

    monkeypatch.setattr(Path, "rename", never)
    with private_folder(tmp_path / "one", lambda path: None) as folder:
        (folder / "new").write_text("")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["new"]


def test_a_folder_that_cannot_be_put_in_its_place_leaves_the_old_one(tmp_path, monkeypatch):
    monkeypatch.setattr("eyelid.engine.atomic._exchanged", lambda one, other: False)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("")
    rename = Path.rename

    def once(path, target):
        if (path / "new").exists():
            raise OSError(errno.EIO, "input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", once)
    with (
        pytest.raises(InputError, match="cannot put the result"),
        private_folder(tmp_path / "out", lambda path: None) as folder,
    ):
        (folder / "new").write_text("")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("known", ["study.json", "certificate.json"])
def test_nothing_is_put_into_a_folder_that_is_kept_or_shared_as_a_whole(tmp_path, known):
    whole = tmp_path / "whole"
    (whole / "deep").mkdir(parents=True)
    (whole / known).write_text("{}")
    (tmp_path / "link").symlink_to(whole / "deep", target_is_directory=True)
    for place in (whole / "out", whole / "deep" / "out", tmp_path / "link" / "out"):
        with pytest.raises(InputError, match=f"which has a {known} of its own"):
            check_new(place)
        with pytest.raises(InputError, match=f"which has a {known} of its own"):
            check_file(place, {".html"})
    assert whole_around(tmp_path / "out") is None
    assert outside(whole / "deep") == tmp_path
    assert outside(tmp_path) == tmp_path

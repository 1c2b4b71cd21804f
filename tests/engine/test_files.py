"""Pipes, devices and large files in the place of small ones: refused, never waited for."""

import os
from pathlib import Path

import pytest

from eyelid.engine.files import UnfitFile, check_file, content_of, opened
from eyelid.engine.runs import running, unfinished


@pytest.fixture
def hostile(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link to a pipe").symlink_to("pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", ["pipe", "link to a pipe", "device", "folder"])
@pytest.mark.parametrize("way", [check_file, opened, content_of])
def test_what_is_no_file_is_refused_without_waiting(hostile, name, way):
    with pytest.raises(UnfitFile, match="it is no file"):
        way(hostile / name)


def test_a_device_that_takes_the_place_of_a_file_is_refused(hostile, monkeypatch):
    monkeypatch.setattr("eyelid.engine.files.check_file", lambda path: None)
    for name in ("pipe", "device"):
        with pytest.raises(UnfitFile, match="it is no file"):
            opened(hostile / name)


def test_a_description_that_is_a_large_file_is_refused(tmp_path):
    (tmp_path / "small").write_bytes(b"12345")
    assert content_of(tmp_path / "small", 5) == b"12345"
    with pytest.raises(UnfitFile, match="larger than"):
        content_of(tmp_path / "small", 4)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UnfitFile, match="larger than 16 MiB"):
        content_of(tmp_path / "sparse")


def test_links_to_files_are_followed(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to("file")
    assert content_of(tmp_path / "link") == b"content"
    with opened(Path(tmp_path / "link")) as file:
        assert file.read() == b"content"


@pytest.mark.parametrize("name", ["run.json", "kept"])
def test_an_unfinished_run_whose_notes_are_pipes_is_not_waited_for(tmp_path, name):
    home = unfinished(tmp_path / "out")
    home.mkdir(mode=0o700)
    os.mkfifo(home / name)
    with running(tmp_path / "out", "key") as run:
        run.put(run.output / "a", lambda path: path.write_text("whole"))
    assert (tmp_path / "out" / "a").read_text() == "whole"

"""A pipe that its reader has closed: no failure, and no finding, wherever it is met."""

import os
import subprocess
import sys

import pytest

from eyelid.cli import main
from eyelid.cli.standard_streams import Forgiving
from eyelid.io import write


@pytest.fixture
def closed_pipe():
    """The writing end of a pipe whose reader left before anything was written."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.fixture
def into_a_closed_pipe(closed_pipe, monkeypatch):
    """Run a command whose output nobody reads; its exit code.

    A buffer of one line has the pipe found closed at the first word, a larger one by whatever
    flushes it first: rich, or the end.
    """

    def run(*words, buffering, errors_too=False):
        monkeypatch.setattr(sys, "argv", ["eyelid", *[str(word) for word in words]])
        with (
            open(closed_pipe, "w", buffering=buffering, closefd=False) as out,
            open(closed_pipe, "w", buffering=1, closefd=False) as err,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdout", out)
            if errors_too:
                patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as stopped:
                main()
        return int(stopped.value.code or 0)

    return run


@pytest.fixture
def leaking(make_table, tmp_path):
    """A study that lint has something to say about."""
    table = make_table()
    people = table.people.with_columns(table.people["person"].alias("e_mail") + "@lab.test")
    write(table.study().derive(people=people), tmp_path / "leaking")
    return tmp_path / "leaking"


@pytest.mark.parametrize("errors_too", [False, True], ids=["output", "output and errors"])
@pytest.mark.parametrize("buffering", [1, 2, 2**20], ids=["line", "byte", "all"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["mechanisms"], 0),
        (["mechanisms", "--json"], 0),
        (["inspect", "STUDY"], 0),
        (["inspect", "STUDY", "--json"], 0),
        (["lint", "LEAKING"], 1),
        (["lint", "LEAKING", "--json"], 1),
        (["inspect", "nothing"], 2),
        (["inspect"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_closed_pipe_changes_no_exit_code(
    into_a_closed_pipe, features_folder, leaking, words, code, buffering, errors_too
):
    places = {"STUDY": features_folder, "LEAKING": leaking}
    said = [places.get(word, word) for word in words]
    assert into_a_closed_pipe(*said, buffering=buffering, errors_too=errors_too) == code


def test_a_closed_pipe_is_no_refutation(into_a_closed_pipe, features_folder):
    words = ["audit", features_folder, "--attackers", "means"]
    assert into_a_closed_pipe(*words, buffering=2**20) == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_silent_to_the_very_end_of_the_process(closed_pipe, unbuffered):
    command = [sys.executable, "-m", "eyelid", "mechanisms"]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(command, stdout=closed_pipe, stderr=subprocess.PIPE, env=env)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a disk that is always full")
@pytest.mark.parametrize(
    ("redirected", "code", "lines"),
    [(">/dev/full", 2, 1), (">&-", 0, 0), (">&- 2>&-", 0, 0), ("2>/dev/full", 0, 0)],
)
def test_output_that_cannot_be_written_ends_in_its_own_code(redirected, code, lines):
    script = f"{sys.executable} -m eyelid --version {redirected}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stderr.count("\n") == lines


def test_a_pipe_of_something_else_that_breaks_is_not_forgiven(eyelid, features_folder, monkeypatch):
    """A worker's, say: the work was not done."""

    def broken(*words, **more):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("eyelid.engine.progress.shown", broken)
    done = eyelid("lint", features_folder)
    assert done.code == 2
    assert "Broken pipe" in done.err


def test_what_is_written_to_a_reader_reaches_it(tmp_path):
    with open(tmp_path / "file", "w+") as file:
        stream = Forgiving(file, lambda error: False)
        assert stream.write("ε") == 1
        stream.writelines(["a", "b"])
        stream.flush()
        assert (tmp_path / "file").read_text() == "εab"
        assert stream.encoding == file.encoding

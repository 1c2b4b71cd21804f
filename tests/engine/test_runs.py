"""Runs into one folder: each part once, all there or not there, and on from where they stopped."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eyelid.engine.runs import GOES_ON, running, unfinished
from eyelid.errors import InputError


def text(content):
    return lambda path: path.write_text(content)


def begun(out, key="key", **parts):
    """A run that was stopped when it had these parts."""
    with pytest.raises(KeyboardInterrupt) as stop, running(out, key) as run:
        run.keep()
        for name, content in parts.items():
            run.put(run.output / name, text(content))
        raise KeyboardInterrupt
    return run, stop.value


def test_what_was_stopped_goes_on_with_the_parts_that_are_there(tmp_path):
    out = tmp_path / "out"
    first, stop = begun(out, one="first")
    assert stop.__notes__ == [GOES_ON.format(first.home)]
    assert not out.exists()
    with running(out, "key") as run:
        assert run.resumed
        assert run.id == first.id
        assert not run.put(run.output / "one", text("second"))
        assert run.put(run.output / "two", text("second"))
    assert {p.name: p.read_text() for p in out.iterdir()} == {"one": "first", "two": "second"}
    assert list(tmp_path.iterdir()) == [out]


def test_what_had_nothing_to_lose_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError) as stop, running(tmp_path / "out", "key"):
        raise ZeroDivisionError
    assert not hasattr(stop.value, "__notes__")
    assert not list(tmp_path.iterdir())


def test_an_unfinished_run_of_other_settings_is_neither_taken_up_nor_thrown_away(tmp_path):
    out = tmp_path / "out"
    begun(out, one="first")
    with pytest.raises(InputError, match="unfinished run of other data or settings"):
        running(out, "other").__enter__()
    with running(out, "key") as run:
        assert (run.output / "one").read_text() == "first"


def test_a_run_that_was_never_kept_makes_room_for_another(tmp_path):
    home = unfinished(tmp_path / "out")
    home.mkdir(mode=0o700)
    (home / "output").mkdir()
    (home / "output" / "one").write_text("left")
    with running(tmp_path / "out", "key") as run:
        assert not run.resumed
        assert not list(run.output.iterdir())


def test_a_run_whose_output_was_put_in_its_place_is_over(tmp_path):
    """Killed between the rename and the tidying up: the next one is another release."""
    out = tmp_path / "out"
    first, _ = begun(out, one="first")
    first.output.rename(out)
    out.rename(tmp_path / "shared with others")
    with running(out, "key") as run:
        assert run.id != first.id
        assert run.put(run.output / "one", text("second"))


def test_two_runs_into_one_folder_are_one_too_many(tmp_path):
    out = tmp_path / "out"
    with running(out, "key") as run:
        with pytest.raises(InputError, match="another run is writing"):
            running(out, "key").__enter__()
        run.put(run.output / "one", text("first"))
    assert (out / "one").read_text() == "first"


KILLED = """
import sys
from pathlib import Path
from eyelid.engine.runs import running
with running(Path(sys.argv[1]), "key") as run:
    run.keep()
    run.put(run.output / "one", lambda path: path.write_text("first"))
    (run.scratch / ".half.partial").write_text("ha")
    print(run.id, flush=True)
    sys.stdin.read()
"""


def test_a_killed_run_lets_go_and_its_half_written_parts_are_nowhere(tmp_path):
    out = tmp_path / "out"
    words = [sys.executable, "-c", KILLED, str(out)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        name = other.stdout.readline().strip()
        with pytest.raises(InputError, match="another run"):
            running(out, "key").__enter__()
        other.kill()
    with running(out, "key") as run:
        assert run.id == name
    assert [p.name for p in out.rglob("*")] == ["one"]
    assert list(tmp_path.iterdir()) == [out]


def test_of_two_who_write_a_part_the_first_wins(tmp_path):
    with running(tmp_path / "out", "key") as run:
        part = run.output / "parts" / "one"

        def late(draft):
            draft.write_text("late")
            run.put(part, text("quick"))

        assert not run.put(part, late)
        assert part.read_text() == "quick"
        assert [p.name for p in run.scratch.iterdir()] == []


def test_where_there_are_no_links_the_first_wins_too(tmp_path, monkeypatch):
    def none(*_):
        raise PermissionError(errno.EPERM, "no links")

    monkeypatch.setattr(os, "link", none)
    with running(tmp_path / "out", "key") as run:
        assert run.put(run.output / "one", text("first"))
        assert not run.put(run.output / "one", text("second"))
    assert (tmp_path / "out" / "one").read_text() == "first"


def test_a_full_disk_is_told_in_a_line_and_the_run_goes_on_when_there_is_room(tmp_path):
    def full(draft: Path):
        draft.write_text("ha")
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "out"
    with pytest.raises(InputError, match="No space left") as stop, running(out, "key") as run:
        run.keep()
        run.put(run.output / "one", text("first"))
        run.put(run.output / "two", full)
    assert stop.value.__notes__ == [GOES_ON.format(run.home)]
    with running(out, "key") as run:
        assert run.put(run.output / "two", text("second"))
    assert sorted(p.name for p in out.iterdir()) == ["one", "two"]


def test_somebody_slow_puts_nothing_into_a_run_that_has_ended(tmp_path):
    with running(tmp_path / "out", "key") as run:
        run.put(run.output / "one", text("first"))
    with pytest.raises(InputError, match="cannot write"):
        run.put(run.output / "two", text("late"))
    assert [p.name for p in tmp_path.rglob("*")] == ["out", "one"]


def test_what_comes_late_of_a_run_that_was_given_up_is_put_into_no_other(tmp_path):
    """A worker that was lost may be slow: its part is of other settings, perhaps of none."""
    out = tmp_path / "out"
    given_up, _ = begun(out, one="first")
    shutil.rmtree(given_up.home)
    with running(out, "other") as run:
        with pytest.raises(InputError, match="its run was given up"):
            given_up.put(given_up.output / "two", text("late"))
        assert run.put(run.output / "one", text("second"))
    assert {p.name: p.read_text() for p in out.iterdir()} == {"one": "second"}


def test_a_copy_of_an_unfinished_run_does_not_go_on_and_a_moved_one_does(tmp_path):
    begun(tmp_path / "out", one="first")
    shutil.copytree(unfinished(tmp_path / "out"), unfinished(tmp_path / "copy"))
    unfinished(tmp_path / "copy").chmod(0o700)
    with pytest.raises(InputError, match="a copy of a run into another folder"):
        running(tmp_path / "copy", "key").__enter__()
    (tmp_path / "elsewhere").mkdir()
    unfinished(tmp_path / "out").rename(unfinished(tmp_path / "elsewhere" / "out"))
    with running(tmp_path / "elsewhere" / "out", "key") as run:
        assert run.resumed


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_nobody_else_can_look_into_a_run(tmp_path, mode):
    out = tmp_path / "out"
    with running(out, "key") as run:
        assert run.home.stat().st_mode & 0o777 == 0o700
    unfinished(out).mkdir()
    unfinished(out).chmod(mode)
    shutil.rmtree(out)
    with pytest.raises(InputError, match="is not a folder of yours alone"):
        running(out, "key").__enter__()


def test_what_stops_when_all_is_in_its_place_has_nothing_to_go_on_with(tmp_path, monkeypatch):
    out = tmp_path / "out"
    removed = shutil.rmtree

    def stopped(path, **options):
        removed(path, **options)
        if Path(path) == unfinished(out):
            raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", stopped)
    with pytest.raises(KeyboardInterrupt) as stop, running(out, "key") as run:
        run.keep()
        run.put(run.output / "one", text("first"))
    assert not hasattr(stop.value, "__notes__")
    assert (out / "one").read_text() == "first"


def test_a_kill_while_scratch_is_removed_leaves_all_of_it_or_none(tmp_path, monkeypatch):
    out = tmp_path / "out"
    removed = shutil.rmtree

    def stopped(path, **options):
        next(Path(path).iterdir()).unlink()
        monkeypatch.setattr(shutil, "rmtree", removed)
        raise KeyboardInterrupt

    monkeypatch.setattr(shutil, "rmtree", stopped)
    with pytest.raises(KeyboardInterrupt), running(out, "key") as run:
        run.keep()
        for name in ("one", "two"):
            run.put(run.scratch / name, text("private"))
    with running(out, "key") as run:
        assert run.resumed
        assert [path.name for path in run.scratch.iterdir()] == []
    assert list(tmp_path.iterdir()) == [out]


def test_something_that_cannot_be_done_beforehand_leaves_nothing_and_a_stop_leaves_all(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError), running(out, "key") as run, run.beforehand():
        raise InputError("no such unit")
    assert not list(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt), running(out, "key") as run, run.beforehand():
        run.put(run.scratch / "one", text("first"))
        raise KeyboardInterrupt
    with running(out, "key") as run:
        assert (run.scratch / "one").read_text() == "first"


def test_what_was_counted_is_kept_whatever_cannot_be_done_afterwards(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt), running(out, "key") as run:
        run.keep(note="it was counted")
        raise KeyboardInterrupt
    with pytest.raises(InputError) as stop, running(out, "key") as run, run.beforehand():
        raise InputError("the data are gone")
    assert stop.value.__notes__[0].startswith("it was counted; the same command goes on")
    assert run.kept


def test_what_goes_elsewhere_is_not_made_in_a_folder_that_may_be_shared(tmp_path, monkeypatch):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "certificate.json").write_text("{}")
    monkeypatch.chdir(tmp_path / "private")
    with (
        pytest.raises(InputError, match=r"which has a certificate\.json of its own"),
        running(Path(f"memory://{tmp_path.name}/out"), "key"),
    ):
        pass
    assert [path.name for path in (tmp_path / "private").iterdir()] == ["certificate.json"]

"""Work in processes of their own: every item once, in order where order is asked for."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from eyelid.engine.cores import alone, cores
from eyelid.engine.engines import as_done, shared, spread
from eyelid.engine.files import own_folder
from eyelid.errors import EyelidError


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch):
    monkeypatch.setattr("eyelid.engine.cores.cores", lambda: 2)


def named(number):
    return number, os.getpid(), cores()


def late_first(mark, number):
    """The first waits until there is a mark."""
    while number == 0 and not mark.exists():
        time.sleep(0.01)
    if number == 3:
        mark.touch()
    return number


def added(handle, number):
    return sum(handle.get()) + number


def added_up(handles, number):
    return sum(sum(handle.get()) for handle in handles) + number


def killed_once_with(handle, marks, number):
    return killed_once(marks, sum(handle.get()) + number - 7) + 7


def failing(number):
    if number == 2:
        raise ValueError("no")
    return number


def killed(number):
    os._exit(9)


def test_every_item_comes_once_in_processes_of_their_own():
    found = dict(as_done(named, range(6), "waiting"))
    assert sorted(found) == list(range(6))
    assert all(found[place][0] == place for place in found)
    assert os.getpid() not in {process for _, process, _ in found.values()}


def test_whoever_is_done_first_comes_first_and_spread_keeps_the_order(tmp_path):
    late = partial(late_first, tmp_path / "seen")
    places = []
    for place, _ in as_done(late, range(3), "waiting"):
        places.append(place)
        # Not before the second has come: a person who looks late finds several done.
        (tmp_path / "seen").touch()
    assert places.index(1) < places.index(0)
    assert list(spread(partial(late_first, tmp_path / "last"), range(4), "waiting")) == [0, 1, 2, 3]


def test_a_worker_has_one_core():
    assert {one for _, _, one in spread(named, range(1, 4), "waiting")} == {1}


def test_something_large_is_given_to_workers_when_they_ask_and_lies_in_no_file(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with shared([1, 2, 3]) as handle:
        assert list(spread(partial(added, handle), range(9), "adding")) == list(range(6, 15))
        assert handle.get() == [1, 2, 3]
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_work_may_need_more_shared_values_than_a_worker_keeps():
    with shared([1]) as one, shared([2]) as two, shared([3]) as three, shared([4]) as four:
        work = partial(added_up, (one, two, three, four))
        assert list(spread(work, range(6), "adding")) == list(range(10, 16))


def test_killed_workers_are_followed_by_others_that_are_given_what_is_shared(tmp_path):
    with shared([7]) as handle:
        work = partial(killed_once_with, handle, tmp_path)
        assert list(spread(work, range(6), "dying")) == [7 + number for number in range(6)]


def test_an_error_comes_through():
    with pytest.raises(ValueError, match="no"):
        list(spread(failing, range(4), "failing"))


def test_one_core_or_one_item_need_no_process(monkeypatch):
    assert next(spread(named, [1], "alone"))[1] == os.getpid()
    monkeypatch.setattr("eyelid.engine.cores.cores", cores)
    with alone():
        assert {one for _, one, _ in spread(named, [1, 2], "alone")} == {os.getpid()}


GIVER = """
import sys
from functools import partial
from eyelid.engine import cores, engines
from tests_of_processes import slow
cores.cores = lambda: 2
with engines.shared([1]) as handle:
    for _, worker in engines.as_done(partial(slow, handle), range(4), "waiting"):
        print(worker, flush=True)
"""
SLOW = """
import os, time
from pathlib import Path
def slow(handle, number):
    handle.get()
    # Whichever comes first is done, and all others are under way until they are killed.
    try:
        Path(__file__).with_name("first").mkdir()
    except FileExistsError:
        time.sleep(600)
    return os.getpid()
"""


def test_a_kill_leaves_no_workers_with_what_was_shared(tmp_path):
    (tmp_path / "tests_of_processes.py").write_text(SLOW)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    words = [sys.executable, "-c", GIVER]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as giver:
        worker = int(giver.stdout.readline())
        giver.kill()
    # Long enough for any machine: it only ends what hangs.
    last = time.monotonic() + 300
    while _runs(worker) and time.monotonic() < last:
        time.sleep(0.05)
    assert not _runs(worker)


STUCK = """
import os, threading
def _wait():
    os.write(1, f"{os.getpid()}\\n".encode())
    threading.Event().wait()
class Stuck:
    # A worker gets no further than to unpickle what it is to do.
    def __reduce__(self):
        return _wait, ()
def nothing(item):
    return item
"""
EARLY = """
from eyelid.engine import cores, engines
from tests_of_processes import Stuck, nothing
cores.cores = lambda: 2
list(engines.as_done(nothing, [Stuck(), Stuck()], "waiting"))
"""


def test_a_kill_while_workers_start_leaves_none_that_was_given_no_work_yet(tmp_path):
    (tmp_path / "tests_of_processes.py").write_text(STUCK)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    words = [sys.executable, "-c", EARLY]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as giver:
        worker = int(giver.stdout.readline())
        giver.kill()
    try:
        # Long enough for any machine: it only ends what hangs.
        last = time.monotonic() + 100
        while _runs(worker) and time.monotonic() < last:
            time.sleep(0.05)
        assert not _runs(worker)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)


ALONE = """
import time
from eyelid.engine import engines
from eyelid.engine.files import own_folder
with engines.shared([1]), own_folder() as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def test_being_asked_to_end_leaves_nothing_on_one_core_either():
    words = [sys.executable, "-c", ALONE]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as giver:
        folder = Path(giver.stdout.readline().strip())
        assert folder.is_dir()
        giver.terminate()
    assert giver.returncode == 128 + signal.SIGTERM
    assert not folder.exists()


def test_what_a_kill_left_is_removed_by_the_next_and_what_is_in_use_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left, young = (tmp_path / f"eyelid-shared-{name}" for name in ("left", "young"))
    for folder in (left, young):
        folder.mkdir()
    os.utime(young, (time.time() + 3600,) * 2)
    with own_folder() as used:
        for folder in (left, used):
            os.utime(folder, (0, 0))
        with own_folder():
            assert not left.exists()
            assert used.exists()
            assert young.exists()


def test_what_is_to_happen_when_asked_to_end_is_as_before_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with shared([1]):
        pass
    assert signal.getsignal(signal.SIGTERM) == before


def _runs(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A person who has ended and is not yet collected runs no more.
    status = Path(f"/proc/{process}/status")
    return not status.exists() or "zombie" not in status.read_text()


def killed_once(marks, number):
    if number in (1, 4) and not (marks / str(number)).exists():
        (marks / str(number)).touch()
        os._exit(9)
    return number


def test_what_killed_workers_had_is_done_by_others(tmp_path):
    assert list(spread(partial(killed_once, tmp_path), range(6), "dying")) == list(range(6))
    assert len(list(tmp_path.iterdir())) == 2


def test_workers_killed_without_end_are_told_in_a_line():
    with pytest.raises(EyelidError, match="killed again and again"):
        list(as_done(killed, range(4), "dying"))

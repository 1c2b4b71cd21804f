"""The fuzz of the readers sees what it looks for: what takes long, fills the memory or dies."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from proofs import readers
from proofs.beginnings import Beginning, beginnings

from eyelid.errors import InputError

ROOT = Path(__file__).parents[2]
PLAIN = Beginning("table", b"x")
KINDS = readers.Kinds([PLAIN], [PLAIN], [PLAIN])


def tally_of(monkeypatch, tmp_path, look):
    monkeypatch.setattr(readers, "BATCH", 5)
    monkeypatch.setattr(readers, "_looked_at", look)
    return readers._batch(tmp_path, KINDS, 0, 0, SimpleNamespace(value=0), fresh=True)


def test_a_reader_that_takes_for_ever_is_a_fault(monkeypatch, tmp_path):
    monkeypatch.setattr(readers, "SLOWEST_CPU_S", 0.05)
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)

    def for_ever(*_):
        while True:
            pass

    found = tally_of(monkeypatch, tmp_path, for_ever)
    assert len(found.faults) == 5
    assert all("TimeoutError" in fault for fault in found.faults)
    assert found.slowest[0] > 0.04


def test_an_error_of_two_lines_and_a_traceback_are_faults(monkeypatch, tmp_path):
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    errors = iter([MemoryError(), InputError("one\ntwo"), RecursionError(), InputError("one")])

    def fails(*_):
        for error in errors:
            raise error

    found = tally_of(monkeypatch, tmp_path, fails)
    assert found.outcomes == Counter({"refused": 2, "read table": 1})
    told = ["MemoryError", "more than one line", "RecursionError"]
    assert [word in fault for word, fault in zip(told, found.faults, strict=True)] == [True] * 3


def test_memory_that_files_before_took_is_held_against_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr("resource.setrlimit", lambda *_: None)
    monkeypatch.setattr(os, "_exit", sys.exit)
    errors = iter([None, MemoryError()])

    def fails(*_):
        error = next(errors)
        if error is not None:
            raise error

    with pytest.raises(SystemExit):
        tally_of(monkeypatch, tmp_path, fails)


DYING = """
import os, signal
from collections import Counter
from proofs import readers
from proofs.beginnings import Beginning

readers.BATCH = 6
one = Beginning("table", b"x")

def dies(home, kinds, place, tell):
    batch, first = tell.recv()
    for place.value in range(first, readers.BATCH):
        if place.value in (1, 4, 5):
            os.kill(os.getpid(), signal.SIGXCPU if place.value == 1 else signal.SIGKILL)
    tell.send(readers.Tally(Counter(done=1), []))
    tell.recv()

if __name__ == "__main__":
    readers._reads = dies
    readers.kinds_of_files = lambda: readers.Kinds([one], [one], [one])
    for tally in readers._in_processes(1):
        print(dict(tally.outcomes), *[fault[:40] for fault in tally.faults], sep="\\n")
"""


def test_files_that_end_the_process_are_named_and_the_others_read(tmp_path):
    (tmp_path / "dying.py").write_text(DYING)
    own = [str(ROOT / "src"), str(ROOT)]
    done = subprocess.run(
        [sys.executable, tmp_path / "dying.py"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(own)},
        capture_output=True,
        text=True,
        check=True,
    )
    ends = ["SIGXCPU", "SIGKILL", "SIGKILL"]
    assert done.stdout.splitlines() == [
        "{'read again in a fresh process': 3}",
        *[f"table: the process ended by {end} for " for end in ends],
    ]


@pytest.mark.parametrize("beginning", list(beginnings()), ids=lambda each: each.kind)
def test_every_beginning_can_be_read(beginning, tmp_path):
    readers._read(beginning, beginning.content, tmp_path, linted=True)

"""Engines: the same items, the same results, whoever works."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest

from eyelid.engine import dask_cluster
from eyelid.engine.cores import cores
from eyelid.engine.engines import as_done, current, shared, spread, using
from eyelid.errors import EyelidError, InputError


@pytest.fixture(scope="module")
def dask():
    """A real cluster of two workers, which gives up soon on what kills them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_cluster, "_MOST_KILLED", 1)
        with dask_cluster.dask_engine(workers=2) as engine:
            yield engine


@pytest.fixture(scope="module")
def several_threads():
    """The address of a scheduler with one worker of four threads, as others set them up."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=4,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster.scheduler_address


def slowly_described(handle, number):
    time.sleep(0.01 * (number % 3))
    return sum(handle.get()) + number


def described(handle, number):
    return sum(handle.get()) + number, cores()


def killed_once(marks, number):
    if number in (1, 4) and not (marks / str(number)).exists():
        (marks / str(number)).touch()
        os._exit(9)
    return number


def killed(number):
    os._exit(9)


def failing(number):
    if number == 2:
        raise InputError("no")
    return number


def waited(marks, number):
    (marks / str(number)).touch()
    while number == 0 and not (marks / "2").exists():
        time.sleep(0.01)
    return number


def pid(marks, number):
    """The process that has this item, once two of them have one."""
    (marks / f"pid-{os.getpid()}").touch()
    while len(list(marks.glob("pid-*"))) < 2:
        time.sleep(0.01)
    return os.getpid()


def test_dask_gives_what_processes_give(dask, monkeypatch):
    monkeypatch.setattr("eyelid.engine.cores.cores", lambda: 2)
    found = []
    for engine in (dask, "local"):
        with using(engine), shared([1, 2, 3]) as handle:
            found.append(list(spread(partial(described, handle), range(40), "adding")))
    assert found[0] == found[1] == [(6 + number, 1) for number in range(40)]


def test_several_work_on_dask_and_whoever_is_done_comes_first(dask, tmp_path):
    with using(dask):
        found = set(spread(partial(pid, tmp_path), range(12), "waiting"))
        assert len(found - {os.getpid()}) == 2
        places = [place for place, _ in as_done(partial(waited, tmp_path), range(4), "waiting")]
    assert sorted(places) == list(range(4))
    assert places.index(1) < places.index(0)


def test_what_killed_dask_workers_had_is_done_by_others(dask, tmp_path):
    with using(dask), shared([7]) as handle:
        assert list(spread(partial(killed_once, tmp_path), range(6), "dying")) == list(range(6))
        assert len(list(tmp_path.iterdir())) == 2
        # What was shared came back with the workers.
        assert list(spread(partial(described, handle), [0, 1], "adding")) == [(7, 1), (8, 1)]


def test_an_error_on_dask_comes_through_in_its_own_words(dask):
    with using(dask), pytest.raises(InputError, match="no"):
        list(spread(failing, range(4), "failing"))


def test_dask_workers_killed_without_end_are_told_in_a_line(dask, monkeypatch):
    monkeypatch.setattr(dask_cluster, "_MOST_KILLED", 0)
    with using(dask), pytest.raises(EyelidError, match="killed again and again"):
        list(spread(killed, [0], "dying"))


def test_workers_that_do_not_see_a_folder_are_named(dask, tmp_path, monkeypatch):
    dask.check_sees(tmp_path)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(dask_cluster, "_there", "".startswith)
    with pytest.raises(InputError, match="does not see"):
        dask.check_sees(tmp_path)


def test_the_cluster_of_ones_own_is_closed_to_others(dask):
    address = dask._client.scheduler.address
    assert address.startswith("tls://127.0.0.1:")


def test_a_running_scheduler_is_used_and_left_running(several_threads):
    for _ in range(2):
        told = []
        with using(f"dask:{several_threads}", tell=told.append) as engine:
            assert engine.name == f"dask:{several_threads}"
            assert list(spread(abs, [-1, -2, -3], "measuring")) == [1, 2, 3]
        assert told[0].startswith("1 Dask worker")


def test_a_scheduler_that_is_not_there_or_of_another_version_is_told(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_ANSWER_S", 0.3)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        using("dask:tcp://127.0.0.1:1").__enter__()


@pytest.mark.parametrize("address", ["localhost", "http://127.0.0.1:8787", "127.0.0.1:8786"])
def test_what_is_no_address_is_told_at_once(address):
    with pytest.raises(InputError, match="is no address of a Dask scheduler"):
        using(f"dask:{address}").__enter__()


def test_an_encrypted_scheduler_needs_certificates():
    with pytest.raises(InputError, match="needs certificates"):
        using("dask:tls://127.0.0.1:8786").__enter__()


ELSEWHERE = """
import sys
from functools import partial
from eyelid.engine.engines import shared, spread, using
with using("dask:" + sys.argv[1]), shared([1, 2, 3]) as handle:
    print(sum(spread(partial(pow, 2), range(8), "raising")))
"""


def test_a_scheduler_is_used_by_a_process_that_knows_no_other(several_threads):
    words = [sys.executable, "-c", ELSEWHERE, several_threads]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["255"]
    assert not done.stderr


def test_threads_of_one_worker_share_what_is_shared(several_threads):
    with using(f"dask:{several_threads}"), shared([1, 2, 3]) as handle:
        found = list(spread(partial(slowly_described, handle), range(24), "adding"))
        assert found == [6 + number for number in range(24)]
        assert handle.get() == [1, 2, 3]


def test_workers_that_do_not_see_the_input_are_named(dask, tmp_path, monkeypatch):
    dask.check_reads(tmp_path)
    with pytest.raises(InputError, match="does not see"):
        dask.check_reads(tmp_path / "not there")


def test_workers_of_another_version_are_refused(several_threads, monkeypatch):
    monkeypatch.setattr(dask_cluster, "__version__", "another")
    monkeypatch.setattr(dask_cluster, "_version", lambda: "0.0.1")
    with pytest.raises(InputError, match=r"has eyelid 0\.0\.1, this is another"):
        using(f"dask:{several_threads}").__enter__()


@pytest.mark.parametrize("name", ["dusk", "dask:", "local:4", ""])
def test_engines_that_nobody_knows_are_refused(name):
    with pytest.raises(InputError, match="unknown engine"):
        using(name, 1).__enter__()


def test_workers_of_nobody_or_of_a_scheduler_are_refused():
    with pytest.raises(InputError, match="at least 1 worker, got 0"):
        using("local", 0).__enter__()
    with pytest.raises(InputError, match="its own workers"):
        using("dask:tcp://127.0.0.1:1", 3).__enter__()


def test_the_engine_of_the_moment_is_the_last_one_asked_for():
    assert current().name == "local"
    with using("local", 3) as engine:
        assert current() is engine
        with using() as same:
            assert same is engine
    assert current() is not engine


def test_large_items_are_sent_without_a_word(dask):
    large = [bytes(12 << 20), bytes(2)]
    with using(dask):
        assert list(spread(len, large, "measuring")) == [12 << 20, 2]

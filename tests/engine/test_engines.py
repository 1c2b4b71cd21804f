"""Engines: the same items, the same results, whoever works."""

import os
import time
from functools import partial

import pytest

from eyelid.engine import dask_cluster
from eyelid.engine.engines import as_done, current, shared, spread, using
from eyelid.engine.parallel import cores
from eyelid.errors import EyelidError, InputError


@pytest.fixture(scope="module")
def dask():
    """A real cluster of two workers, which gives up soon on what kills them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_cluster, "_MOST_KILLED", 1)
        with dask_cluster.dask_engine(workers=2) as engine:
            yield engine


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


def pid(number):
    time.sleep(0.05)
    return os.getpid()


def test_dask_gives_what_processes_give(dask, monkeypatch):
    monkeypatch.setattr("eyelid.engine.processes.cores", lambda: 2)
    found = []
    for engine in (dask, "local"):
        with using(engine), shared([1, 2, 3]) as handle:
            found.append(list(spread(partial(described, handle), range(40), "adding")))
    assert found[0] == found[1] == [(6 + number, 1) for number in range(40)]


def test_several_work_on_dask_and_whoever_is_done_comes_first(dask, tmp_path):
    with using(dask):
        assert len(set(spread(pid, range(12), "waiting")) - {os.getpid()}) == 2
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
    monkeypatch.setattr(dask_cluster, "_reads", "{}".format)
    with pytest.raises(InputError, match="does not see"):
        dask.check_sees(tmp_path)


def test_the_cluster_of_ones_own_is_closed_to_others(dask):
    address = dask._client.scheduler.address
    assert address.startswith("tls://127.0.0.1:")


def test_a_running_scheduler_is_used_and_left_running(dask):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        address = cluster.scheduler_address
        told = []
        with using(f"dask:{address}", tell=told.append) as engine:
            assert engine.name == f"dask:{address}"
            assert list(spread(abs, [-1, -2, -3], "measuring")) == [1, 2, 3]
        assert told[0].startswith("1 Dask worker")
        assert cluster.scheduler.workers


def test_a_scheduler_that_is_not_there_or_of_another_version_is_told(monkeypatch):
    monkeypatch.setattr(dask_cluster, "_ANSWER_S", 0.3)
    with pytest.raises(InputError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        using("dask:tcp://127.0.0.1:1").__enter__()


def test_workers_of_another_version_are_refused(monkeypatch):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        monkeypatch.setattr(dask_cluster, "__version__", "another")
        monkeypatch.setattr(dask_cluster, "_version", lambda: "0.0.1")
        with pytest.raises(InputError, match=r"has eyelid 0\.0\.1, this is another"):
            using(f"dask:{cluster.scheduler_address}").__enter__()


@pytest.mark.parametrize("name", ["dusk", "dask:", "local:4", ""])
def test_engines_that_nobody_knows_are_refused(name):
    with pytest.raises(InputError, match="unknown engine"):
        using(name, 1).__enter__()


def test_workers_of_nobody_or_of_a_scheduler_are_refused():
    with pytest.raises(InputError, match="at least 1 worker, got 0"):
        using("local", 0).__enter__()
    with pytest.raises(InputError, match="its own workers"):
        using("dask:tcp://127.0.0.1:1", 3).__enter__()


def test_without_dask_the_way_to_get_it_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'eyelid\[dask\]'"):
        using("dask").__enter__()


def test_the_engine_of_the_moment_is_the_last_one_asked_for():
    assert current().name == "local"
    with using("local", 3) as engine:
        assert current() is engine
        with using() as same:
            assert same is engine
    assert current() is not engine

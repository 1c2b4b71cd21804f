"""A comparison by Dask: the table that processes make, whoever is killed on the way."""

import os
import signal

import pytest

from eyelid.comparisons.compare import compare
from eyelid.comparisons.journal import Journal
from eyelid.engine.cores import alone
from eyelid.engine.engines import spread, using

ASKED = (["gaussian", "ksame"], [1.0], {"k": [2]}, 1)


@pytest.fixture(scope="module")
def done(small):
    with alone():
        return compare(small, *ASKED, fast=True).to_dict()


def _pid(_):
    return os.getpid()


def test_dask_measures_what_processes_measure_also_when_a_worker_is_killed(
    small, dask, done, monkeypatch
):
    killed = []

    def add(self, key, outcome):
        if not killed:
            killed.append(min(workers))
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Journal, "add", add)
    with using(dask):
        workers = set(spread(_pid, range(20), "asking")) - {os.getpid()}
        assert compare(small, *ASKED, fast=True).to_dict() == done
    assert killed


def test_what_was_stopped_on_dask_goes_on_elsewhere(small, dask, done, tmp_path, monkeypatch):
    noted = []

    def add(self, key, outcome):
        note(self, key, outcome)
        noted.append(key)
        if len(noted) == 2:
            raise KeyboardInterrupt

    note = Journal.add
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "add", add)
        with using(dask), pytest.raises(KeyboardInterrupt):
            compare(small, *ASKED, fast=True, resume=tmp_path)
    told = []
    with alone():
        went_on = compare(
            small, *ASKED, fast=True, resume=tmp_path, engine="local", tell=told.append
        )
    assert told == ["2 of 3 runs were done already"]
    assert went_on.to_dict() == done

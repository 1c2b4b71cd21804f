"""An audit by other engines: the same figures, to the last digit."""

import os
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.utility import utility
from eyelid.engine.cores import Processes
from eyelid.engine.engines import Engine, spread, using
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.io import write
from eyelid.releases.audits.audit import audit
from eyelid.releases.release import release

pytestmark = pytest.mark.usefixtures("quick_audits", "no_pictures")


class OfCopies(Processes):
    """This process, which gets its data by way of a file, as others would."""

    with_data = Engine.with_data


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("audit")
    rng = np.random.default_rng(2)
    values = rng.uniform(0.1, 0.9, (8, 1, 1, 5)) + rng.normal(0, 0.1, (8, 3, 20, 5))
    features = [Feature(f"feature_{j}", "", "", 0.0, 1.0) for j in range(5)]
    table = table_from_arrays(np.clip(values, 0, 1), features)
    gender = pl.Series("gender", ["f", "m"] * 4)
    write(replace(table, people=table.people.with_columns(gender)).study(), home / "features")
    # With a seed nothing is promised, and no canaries need be sent through it.
    release(home / "features", home / "private", mechanism="laplace", epsilon=50.0, seed=1)
    return home


def test_figures_do_not_depend_on_who_works(folders, dask, monkeypatch):
    monkeypatch.setattr("eyelid.releases.audits.records.utility", partial(utility, models=["svm"]))
    asked = {"attackers": ["svm", "lda"], "protocols": ["raw->release", "release->raw"]}
    told = {}
    engines = {"a thread": "local", "two threads": "local", "copies": OfCopies(1), "dask": dask}
    for name, engine in engines.items():
        threads = 2 if name == "two threads" else 1
        monkeypatch.setattr("eyelid.engine.cores.cores", lambda threads=threads: threads)
        with using(engine):
            audit(folders / "features", folders / "private", **asked)
        told[name] = (folders / "private-audit" / "audit.json").read_bytes()
    assert set(told.values()) == {told["a thread"]}


@dataclass(frozen=True)
class Elsewhere:
    """Notes which process attacks; names nobody."""

    notes: str
    name: str = "elsewhere"

    def learn(self, known, seed):
        return partial(self.recognise)

    def recognise(self, shown):
        with open(self.notes, "a") as file:
            file.write(f"{os.getpid()}\n")
        return np.zeros((len(shown.owner), len(shown.people)))


def test_an_attacker_of_ones_own_attacks_where_the_engine_is(folders, dask, tmp_path):
    notes = tmp_path / "notes"
    with using(dask):
        found = audit(folders / "features", attackers=[Elsewhere(str(notes))])
        workers = set(spread(_pid, range(20), "asking"))
    assert [f.attacker for f in found.identification] == ["elsewhere"]
    assert {int(pid) for pid in notes.read_text().split()} <= workers - {os.getpid()}


def _pid(_):
    return os.getpid()


def test_an_engine_that_there_is_not_is_refused_before_anything_is_read(folders):
    with pytest.raises(InputError, match="unknown engine 'spark'"):
        audit(folders / "nowhere", engine="spark")

"""What a stopped run left in its folder is read as data: whoever put it there runs no code."""

import os
import pickle

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.engine.runs import running, unfinished
from eyelid.errors import InputError
from eyelid.gaze.study import Feature, Origin
from eyelid.gaze.table import FeatureTable
from eyelid.io import write
from eyelid.releases import pipeline
from eyelid.releases.kinds.features import release
from eyelid.releases.kinds.features.preparation import is_kept, keep_table, kept_table

EARLIER = ("facts-000000.pickle", "facts-000001.pickle", "shown.pickle", "whole.pickle")


class Bomb:
    """Code to whoever unpickles it."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("moment", ["charged", "made_private", "write_manifest"])
@pytest.mark.parametrize("mechanism", ["laplace", "groupmean"])
def test_a_pickle_in_the_folder_of_an_unfinished_run_is_not_loaded(
    tmp_path, make_table, monkeypatch, mechanism, moment
):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 100)
    source, out = tmp_path / "features", tmp_path / "out"
    write(make_table(people=4, recordings=2, rows=8).study(), source)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pipeline if moment == "charged" else release, moment, stop)
        eyelid.release(source, out, mechanism=mechanism, epsilon=1.0)
    left = unfinished(out)
    bomb = pickle.dumps(Bomb(tmp_path / "ran"))
    for file in [*left.rglob("*"), *[left / "scratch" / name for name in EARLIER]]:
        if file.parent != left and not file.is_dir() and "output" not in file.parts:
            file.write_bytes(bomb)
    with pytest.raises(InputError, match="to give the run up"):
        eyelid.release(source, out, mechanism=mechanism, epsilon=1.0)
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def run(tmp_path):
    with running(tmp_path / "out", "key") as run:
        yield run


def test_a_table_comes_back_bit_by_bit(run, make_table, tmp_path):
    made = make_table()
    table = FeatureTable(
        data=made.data.with_columns(
            pl.lit(float("nan")).alias("pupil"),
            pl.Series("label_event", ["a", None] * 60, pl.Enum(["a", "b"])),
        ),
        features=(Feature("fixation_rate", "1/s", "", -np.inf, 0.1 + 0.2), made.features[1]),
        people=made.people.with_columns(age=pl.lit(3, pl.Int8)),
        step_ms=1 / 3,
        window_ms=None,
        planned_rows=np.int64(7),
        origin=Origin("id", tmp_path / "a.ledger"),
        simulated=True,
    )
    assert not is_kept(run, "mine")
    keep_table(run, "mine", table, {"n": np.float64(0.1)})
    keep_table(run, "mine", make_table(people=2))
    assert is_kept(run, "mine")
    found, more = kept_table(run, "mine")
    assert found.data.equals(table.data, null_equal=True)
    assert found.data.schema == table.data.schema
    assert found.people.equals(table.people)
    assert found.people.schema == table.people.schema
    names = ("features", "step_ms", "window_ms", "planned_rows", "origin", "simulated", "released")
    assert [getattr(found, name) for name in names] == [getattr(table, name) for name in names]
    assert more == {"n": 0.1}


def test_the_name_of_a_part_leads_to_no_other_folder(run, make_table):
    keep_table(run, "mine", make_table())
    about = run.scratch / "mine.json"
    about.write_text(about.read_text().replace('"token": "', '"token": "../../'))
    with pytest.raises(InputError, match="to give the run up"):
        kept_table(run, "mine")

"""Files are read by their very names: no name is a pattern, and none is a person's home."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import eyelid
from eyelid.errors import Refused
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.io.derivations import derive_features
from eyelid.io.detection import derive_events
from eyelid.io.lint import lint
from eyelid.io.parquet import rows_of, scan
from eyelid.io.pieces import in_pieces
from eyelid.privacy import Ledger

pytestmark = pytest.mark.usefixtures("tried_elsewhere")

HOSTILE = ["stud[y]", "stud?", "*", "s{tud}y", "~", "study[!a]"]


@pytest.fixture
def siblings(tmp_path, make_table, monkeypatch):
    """A study of sevens, whose limit is reached, beside one of threes whose name is a pattern."""
    monkeypatch.chdir(tmp_path)

    def make(name, value):
        table = make_table(people=3, recordings=1, rows=4)
        values = table.data.with_columns(pl.lit(value).alias("fixation_rate"))
        return write(table.study().derive(data=values), tmp_path / name)

    victim = make("study", 7.0)
    Ledger(victim.origin.ledger).set_allowance(victim.origin.id, 0.1, 0.0)
    monkeypatch.setenv("HOME", str(tmp_path / "study"))
    return lambda name: make(name, 3.0)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_study_whose_name_is_a_pattern_reads_no_sibling(siblings, name):
    siblings(name)
    assert set(read(name).data["fixation_rate"]) == {3.0}
    assert set(in_pieces(Path(name)).whole().data["fixation_rate"]) == {3.0}


def test_a_study_whose_name_is_a_pattern_releases_no_sibling_past_its_limit(siblings):
    with pytest.raises(Refused):
        eyelid.release("study", "out", mechanism="laplace", epsilon=1e6)
    siblings("stud[y]")
    made = eyelid.release("stud[y]", "out[1]", mechanism="laplace", epsilon=1e6)
    assert np.allclose(made.table.data["fixation_rate"], 3.0, atol=0.1)
    assert np.allclose(read("out[1]").data["fixation_rate"], 3.0, atol=0.1)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_recording_whose_name_is_a_pattern_is_read_itself(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "study"))
    rows = pl.DataFrame({"person": ["P1"] * 3, "time_ms": [0.0, 1, 2], "y": [0.0] * 3})
    for folder, x, remark in (("study", 7.0, "ann@example.org"), (name, 3.0, "nobody")):
        Path(folder).mkdir()
        table = rows.with_columns(x=pl.lit(x), note=pl.lit(remark))
        table.write_parquet(os.path.abspath(f"{folder}/P1.parquet"))
    said = {"units": "px"}
    assert set(read(f"{name}/P1.parquet", said).data["x"]) == {3.0}
    assert "ann@example.org" not in str(lint(f"{name}/P1.parquet", said))
    convert(name, "made[1]", map=said)
    shutil.copytree("made[1]", "made1")
    assert set(read("made[1]").data["x"]) == {3.0}


def test_what_is_derived_into_a_name_that_is_a_pattern_is_no_siblings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1000)
    study = write(simulate(people=2, tasks=("comic",), minutes=0.6, rate_hz=30.0), "s[t]")
    write(study.derive(data=study.data.with_columns(x=0.0), origin=None), "st")
    for derive, file in ((derive_events, "events.parquet"), (derive_features, "data.parquet")):
        derive("st", Path(f"{file}-o"))
        derive("s[t]", Path(f"{file}-[o]"))
        assert not read(f"{file}-[o]").data.equals(read(f"{file}-o").data)
    made = read("events.parquet-[o]")
    assert made.events.equals(rows_of(Path("events.parquet-[o]/events.parquet")))
    assert json.loads(Path("data.parquet-[o]/study.json").read_text())["parts"]


def test_rows_of_files_come_one_after_the_other(tmp_path):
    for name in ("[a]", "a"):
        pl.DataFrame({"x": [name]}).write_parquet(tmp_path / name)
    files = [tmp_path / "[a]", tmp_path / "a"]
    assert rows_of(*files)["x"].to_list() == scan(*files).collect()["x"].to_list() == ["[a]", "a"]

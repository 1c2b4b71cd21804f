"""Whom of a study a command is about."""

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.io.derivations import derive_features
from eyelid.io.people_choice import (
    chosen_in,
    chosen_of,
    people_choice,
)
from eyelid.io.pieces import in_pieces
from eyelid.privacy.ledger import Ledger


@pytest.fixture(scope="module")
def study():
    """Five people; the second lacks a task, the third alone saw a picture more."""
    made = simulate(people=5, tasks=("comic", "image"), minutes=0.6, rate_hz=30.0, seed=2)
    lacks = (pl.col("person") == "P02") & (pl.col("task") == "image")
    more = (pl.col("person") == "P03") & (pl.col("time_ms") > 20_000.0)
    data = made.data.filter(~lacks).with_columns(
        pl.when(more).then(pl.lit("extra")).otherwise(pl.col("stimulus")).alias("stimulus")
    )
    return made.derive(data=data)


def whom(study):
    return study.data["person"].unique(maintain_order=True).to_list()


@pytest.mark.parametrize(
    ("said", "people", "remembered"),
    [
        ("P04, P01", ["P01", "P04"], "list"),
        (["P05"], ["P05"], "list"),
        ("every-task", ["P01", "P03", "P04", "P05"], "every-task"),
        ("saw:extra", ["P03"], "saw:extra"),
    ],
)
@pytest.mark.parametrize("rows", [1 << 21, 20_000])
def test_a_choice_is_the_same_in_memory_and_in_pieces(
    study, tmp_path, monkeypatch, said, people, remembered, rows
):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", rows)
    write(study, tmp_path / "study")
    inside = chosen_of(study, said)
    cut = chosen_in(in_pieces(tmp_path / "study"), said)
    assert whom(inside) == cut.people == people
    assert cut.whole().data.equals(inside.data)
    assert inside.people["person"].to_list() == cut.head.people["person"].to_list() == people
    assert inside.chosen == cut.head.chosen == (remembered,)
    assert cut.entering.people["person"].to_list() == study.people["person"].to_list()
    held = chosen_in(in_pieces(study), said)
    assert held.whole().data.equals(inside.data)


def test_a_list_may_be_a_file(study, tmp_path):
    names = tmp_path / "list.txt"
    names.write_text("P02\n\n P05 \n", encoding="utf-8")
    assert whom(chosen_of(study, f"@{names}")) == ["P02", "P05"]
    assert whom(chosen_of(study, names)) == ["P02", "P05"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("P01,P9", "unknown person 'P9'"),
        ("saw:nothing", "unknown stimulus 'nothing'"),
        ("saw:", "needs the name of a stimulus"),
        (" , ", "the list of people is empty"),
        ("@no/such/list.txt", "cannot read the list of people"),
    ],
)
def test_whom_nobody_knows_is_refused(study, said, text):
    with pytest.raises(InputError, match=text):
        chosen_of(study, said)


def test_without_tasks_nobody_has_them_all(study):
    bare = study.derive(data=study.data.with_columns(pl.lit("").alias("task")))
    with pytest.raises(InputError, match="names no task"):
        chosen_of(bare, "every-task")


def test_derived_studies_remember_the_choice_and_the_ledger_knows_everybody(study, tmp_path):
    write(study, tmp_path / "study")
    made = derive_features(tmp_path / "study", tmp_path / "few", people="every-task")
    assert made.people == 4
    few = read(tmp_path / "few")
    assert few.chosen == ("every-task",)
    assert few.people["person"].to_list() == ["P01", "P03", "P04", "P05"]
    assert few.origin == read(tmp_path / "study").origin


@pytest.mark.parametrize("to", ["study", "bids", "csv"])
@pytest.mark.parametrize("rows", [1 << 21, 20_000])
def test_converted_studies_remember_the_choice(study, tmp_path, monkeypatch, to, rows):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", rows)
    write(study, tmp_path / "study")
    done = convert(tmp_path / "study", tmp_path / "few", to, people="every-task")
    assert done.recordings == 8
    few = read(tmp_path / "few")
    assert few.chosen == done.head.chosen == ("every-task",)
    assert few.people["person"].to_list() == whom(few) == ["P01", "P03", "P04", "P05"]
    again = convert(tmp_path / "few", tmp_path / "two", people=["P05", "P01"])
    assert again.study.chosen == ("every-task", "list")
    assert whom(again.study) == ["P01", "P05"]


@pytest.fixture
def raw(study, tmp_path):
    """Files of three people that are called like them."""
    (tmp_path / "raw").mkdir()
    names = {"P01": "AnnaSmith", "P02": "BertJones", "P03": "CleoBrown"}
    for person, name in names.items():
        rows = study.data.filter((pl.col("person") == person) & (pl.col("task") == "comic"))
        shown = pl.lit(f"/home/CleoBrown/{name}.png").alias("stimulus")
        rows.select("time_ms", "x", "y", shown).write_csv(tmp_path / "raw" / f"{name}.csv")
    return tmp_path / "raw"


RAW = "file={person},time=time_ms,x=x,y=y,units=deg"


def test_recordings_are_chosen_by_the_names_that_their_files_have(raw, tmp_path):
    """Afterwards they are pseudonyms, which nobody can type beforehand."""
    made = derive_features(raw, tmp_path / "out", map=RAW, people="AnnaSmith,CleoBrown")
    assert made.people == 2
    assert all(name.startswith("anon") for name in made.recordings["person"])


def test_the_ledger_knows_those_too_who_are_not_converted(raw, tmp_path):
    with pytest.raises(InputError, match="unknown person 'Anna'"):
        convert(raw, tmp_path / "out", map=RAW, people="Anna")
    assert [*tmp_path.glob("*.ledger")] == []
    done = convert(raw, tmp_path / "out", map=RAW, people="AnnaSmith,CleoBrown")
    assert (len(done.head.people), done.recordings, done.people_renamed) == (2, 2, 2)
    origin = done.head.origin
    assert "bertjones" in Ledger.counting(origin.ledger, origin.id).people(origin.id)
    everybody = convert(raw, tmp_path / "all", map=RAW).head.people["person"]
    assert set(done.head.people["person"]) < set(everybody)
    assert len(everybody) == 3


def test_a_stimulus_is_remembered_by_the_name_that_is_written(raw, tmp_path):
    done = convert(raw, tmp_path / "out", map=RAW, people="saw:/home/CleoBrown/AnnaSmith.png")
    (remembered,) = done.study.chosen
    assert remembered == f"saw:{done.study.data['stimulus'][0]}"
    assert "Smith" not in remembered


def test_a_choice_of_a_choice_is_remembered_whole():
    assert people_choice(None) is None
    study = simulate(people=3, tasks=("comic",), minutes=0.1, seed=1)
    twice = chosen_of(chosen_of(study, "every-task"), ["P01", "P02"])
    assert twice.chosen == ("every-task", "list")

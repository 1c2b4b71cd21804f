"""Attacks by a certificate that anyone can write: what is a release is decided by its data."""

import json
import os
import shutil
import signal

import numpy as np
import polars as pl
import pytest
from tests.written import write_csv

from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Study
from eyelid.io import read, study_folder, write
from eyelid.io.convert import convert
from eyelid.io.lint import lint, looked_at
from eyelid.io.pieces import in_pieces
from eyelid.io.reading import is_heatmap
from eyelid.io.release_folder import (
    NOT_OF_THESE_DATA,
    UNPROVEN,
    arrays_digest,
    earlier_output_digest,
    is_certified,
    output_digest,
    statement,
)
from eyelid.mechanisms.groups.partition import group_names
from eyelid.mechanisms.groups.public_groups import EVERYBODY
from eyelid.mechanisms.synthetic.recordings import MADE_UP
from eyelid.releases.inspection import inspect
from eyelid.releases.release import release

PEOPLE = ("anna_mueller", "bob_smith", "carla_diaz")
CENTRAL = {"guarantee": {"trust": "central"}}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A study of simulated participants, and what was released of it."""
    home = tmp_path_factory.mktemp("forged")
    study = write(simulate(people=6, tasks=("comic",), minutes=0.7, seed=2), home / "study")
    features = {"mechanism": "laplace", "epsilon": 1.0}
    release(study, home / "features", **features, ledger=home / "study.ledger")
    # As `eyelid heatmap` writes them; tests/cli/test_released_folders.py has one of its own.
    arrays = {"map": np.ones((1, 4, 4), np.float32), "layers": np.array(["all"])}
    (home / "map").mkdir()
    np.savez_compressed(home / "map" / "map.npz", **arrays)
    certify(home / "map", genuine(home) | {"map": {}, "output_sha256": arrays_digest(arrays)})
    return home


@pytest.fixture
def raw(tmp_path):
    """A study folder of raw gaze, of people under their names."""
    return raw_of(PEOPLE, tmp_path / "raw")


def raw_of(people, folder):
    rows = pl.DataFrame(
        {
            "person": [name for name in people for _ in range(50)],
            "recording": ["r1"] * 50 * len(people),
            "time_ms": [float(10 * row) for _ in people for row in range(50)],
            "x": [float(row % 7) for _ in people for row in range(50)],
            "y": [float(row % 5) for _ in people for row in range(50)],
        }
    )
    write(Study("samples", rows, pl.DataFrame({"person": people}), units="deg"), folder)
    return folder


def certify(folder, told):
    (folder / "certificate.json").write_text(json.dumps(told))


def says_released(folder):
    file = folder / "study.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"released": True}))


def genuine(home, kind="features"):
    return json.loads((home / kind / "certificate.json").read_text())


FORGED = {
    "two bytes": lambda _: {},
    "a trust": lambda _: CENTRAL,
    "a list": lambda _: [1],
    "another release's": genuine,
    "a heatmap's": lambda home: genuine(home, "map"),
    "no hash": lambda home: genuine(home) | {"output_sha256": None},
    "not of eyelid": lambda home: genuine(home) | {"schema": "other/1"},
    "no guarantee": lambda home: genuine(home) | {"guarantee": {"trust": "central"}},
}


@pytest.mark.parametrize("forgery", FORGED)
@pytest.mark.parametrize("itself", [False, True], ids=["", "study.json says released"])
def test_a_typed_certificate_makes_no_release_of_raw_gaze(forgery, itself, home, raw):
    """It was called a release that is made to be shared, and the names in it were not shown."""
    before = {finding for finding in lint(raw) if finding.where == "raw, person"}
    assert {finding.value for finding in before} == set(PEOPLE)
    certify(raw, FORGED[forgery](home))
    if itself:
        says_released(raw)
    assert not read(raw).released
    assert not in_pieces(raw).head.released
    assert NOT_OF_THESE_DATA in read(raw).notes
    assert inspect(read(raw))["quasi_identifiers"]
    found = lint(raw)
    assert {each.value for each in found if each.where == "raw, person"} == set(PEOPLE)
    assert "a certificate that is not of these data" in {each.what for each in found}


@pytest.mark.parametrize("forgery", ["a trust", "another release's"])
@pytest.mark.parametrize("itself", [False, True], ids=["", "study.json says released"])
def test_no_command_takes_a_typed_certificate_for_a_release(
    forgery, itself, home, raw, eyelid, tmp_path
):
    certify(raw, FORGED[forgery](home))
    if itself:
        says_released(raw)
    done = eyelid("inspect", raw)
    assert NOT_OF_THESE_DATA in done.err
    assert "release" not in done.out.replace("eyelid release", "").replace("which release fits", "")
    assert eyelid("lint", raw, "--json").code == 1
    assert "release" not in eyelid("lint", raw).out.lower().replace("no release", "")
    done = eyelid("convert", raw, tmp_path / "out")
    assert (done.code, NOT_OF_THESE_DATA in done.err) == (0, True)
    assert not (tmp_path / "out" / "certificate.json").exists()
    assert not json.loads((tmp_path / "out" / "study.json").read_text())["released"]


@pytest.mark.parametrize("forgery", FORGED)
def test_people_renamed_to_synthetic_names_are_not_said_not_to_exist(
    forgery, home, tmp_path, eyelid
):
    people = [f"{MADE_UP}{number}" for number in (1, 2, 3)]
    folder = raw_of(people, tmp_path / "renamed")
    certify(folder, FORGED[forgery](home))
    told = eyelid("inspect", folder).out
    assert "synthetic" not in told
    assert "Quasi-identifiers" in told
    assert {each.value for each in lint(folder)} >= set(people)


def test_a_study_that_says_released_of_itself_is_not_said_to_be_a_release(raw, eyelid, tmp_path):
    says_released(raw)
    study = read(raw)
    assert study.released
    assert not is_certified(study)
    done = eyelid("inspect", raw)
    assert UNPROVEN in done.err
    assert "It says of itself that it is a released dataset or made of one" in done.out
    assert "Quasi-identifiers" in done.out
    assert {each.value for each in lint(raw)} >= set(PEOPLE)
    done = eyelid("convert", raw, tmp_path / "out")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "says of itself that it is a release already" in done.err
    write_csv(study, tmp_path / "csv")
    assert UNPROVEN in read(tmp_path / "csv").notes


def test_a_changed_value_makes_a_release_raw_data(home, tmp_path, monkeypatch):
    shutil.copytree(home / "features", tmp_path / "out")
    data = pl.read_parquet(tmp_path / "out" / "data.parquet")
    name = data.columns[-1]
    data.with_columns(pl.col(name) + 1e-9).write_parquet(tmp_path / "out" / "data.parquet")
    assert read(home / "features").released
    assert not read(tmp_path / "out").released
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1000)
    cut = in_pieces(home / "features")
    assert len(cut.pieces) > 1
    assert cut.head.released
    assert not in_pieces(tmp_path / "out").head.released


def test_events_which_no_hash_covers_make_a_release_raw_data(home, tmp_path):
    shutil.copytree(home / "features", tmp_path / "out")
    person, recording = read(tmp_path / "out").data.select("person", "recording").row(0)
    rows = {"person": [person], "recording": [recording], "name": ["seen"]}
    events = pl.DataFrame(rows | {"onset_ms": [0.0], "offset_ms": [10.0]})
    events.write_parquet(tmp_path / "out" / "events.parquet")
    assert not read(tmp_path / "out").released
    assert not in_pieces(tmp_path / "out").head.released


def test_a_certificate_of_an_earlier_version_is_of_its_data(home, tmp_path, monkeypatch):
    shutil.copytree(home / "features", tmp_path / "out")
    study = read(home / "features")
    certify(tmp_path / "out", genuine(home) | {"output_sha256": earlier_output_digest(study)})
    assert read(tmp_path / "out").released
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1000)
    assert in_pieces(tmp_path / "out").head.released


@pytest.mark.parametrize("told", [{"map": {}}, None], ids=["typed", "copied"])
def test_a_certificate_of_a_map_hides_no_recordings(told, home, tmp_path, eyelid):
    """Recordings beside it were said to have nobody's gaze in them, and were not read."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "anna_mueller.csv").write_text("time_ms,x,y\n" + "0,1,2\n10,1,2\n")
    certify(folder, told or genuine(home, "map"))
    assert is_heatmap(home / "map")
    assert not is_heatmap(folder)
    assert eyelid("inspect", folder, "--map", "units=px").code == 0
    found = {(each.what, each.value) for each in lint(folder, {"units": "px"})}
    assert ("what may be a name", "anna_mueller") in found
    assert ("a certificate that is not of these data", "") in found


def test_a_map_that_is_not_that_of_the_certificate_is_no_heatmap(home, tmp_path):
    shutil.copytree(home / "map", tmp_path / "map")
    assert lint(tmp_path / "map") == []
    (tmp_path / "map" / "map.npz").unlink()
    assert not is_heatmap(tmp_path / "map")
    assert "a certificate that is not of these data" in {
        each.what for each in lint(tmp_path / "map")
    }


def test_recordings_in_a_genuine_heatmap_are_found(home, tmp_path):
    shutil.copytree(home / "map", tmp_path / "map")
    (tmp_path / "map" / "gaze.csv").write_text("time_ms,x,y\n0,1,2\n")
    assert [(each.where, each.what) for each in lint(tmp_path / "map")] == [
        ("gaze.csv", "what no release has")
    ]
    with pytest.raises(InputError, match="by its certificate"):
        read(tmp_path / "map")


def test_of_a_certificate_and_a_hash_that_are_both_forged_eyelid_says_nothing_itself(
    home, raw, eyelid
):
    groups = {"kind": "means", "by": "who", "groups": {"bob_smith": 3}}
    told = genuine(home) | {"output_sha256": output_digest(read(raw)), "released_as": groups}
    certify(raw, told)
    assert read(raw).released
    done = eyelid("inspect", raw)
    assert "Its certificate, which is of these data, says that this is a released" in done.out
    assert "Quasi-identifiers" in done.out
    done = eyelid("lint", raw)
    assert done.code == 1
    assert "By its certificate" in done.out
    # Of the names, the certificate lists one as that of a public group.
    names = {each.value for each in lint(raw) if each.where == "raw, person"}
    assert names == set(PEOPLE) - {"bob_smith"}
    with pytest.raises(InputError, match="a release already, by its certificate"):
        convert(raw, raw.with_name("out"))


def test_a_pipe_called_certificate_json_is_not_waited_for(raw):
    os.mkfifo(raw / "certificate.json")
    signal.alarm(60)
    try:
        assert not looked_at(raw).release
        assert statement(raw) is None
    finally:
        signal.alarm(0)


def test_columns_that_cannot_be_hashed_make_no_release(home, raw):
    data = pl.read_parquet(raw / study_folder.DATA)
    lists = data.with_columns(pl.concat_list("x", "y").alias("label_both"))
    lists.write_parquet(raw / study_folder.DATA)
    certify(raw, genuine(home))
    with pytest.raises(InputError, match="lists or records"):
        read(raw)


def test_the_names_that_eyelid_gives_are_those_of_its_mechanisms(home):
    stated = statement(home / "features")
    for name in (EVERYBODY, MADE_UP, f"{MADE_UP}07", *group_names(12)):
        assert stated.has_named(name)
    for name in ("synthetic1b", "group", "anon01", "anna"):
        assert not stated.has_named(name)

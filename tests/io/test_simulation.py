"""Synthetic studies written piece by piece: what `simulate` gives, whoever works."""

from __future__ import annotations

import json

import pytest

from eyelid.engine.engines import using
from eyelid.gaze.simulator import Crowd, simulate
from eyelid.io import read, write
from eyelid.io.simulation import write_simulated
from eyelid.privacy.ledger import Ledger

ASKED = {"people": 5, "tasks": ("comic", "image"), "minutes": 0.1}


@pytest.fixture
def small_pieces(monkeypatch):
    """Two people each."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 14_000)


def content(folder):
    """All that a study folder holds but for its origin, byte for byte."""
    found = {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }
    about = json.loads(found.pop("study.json"))
    return found, {key: value for key, value in about.items() if key not in ("origin", "ledger")}


def test_a_small_study_is_what_simulate_gives_byte_for_byte(tmp_path):
    write(simulate(**ASKED, seed=4), tmp_path / "whole")
    assert write_simulated(tmp_path / "out", **ASKED, seed=4) == read(tmp_path / "out").data.height
    assert (tmp_path / "out" / "data.parquet").is_file()
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.usefixtures("small_pieces", "two_cores")
def test_people_are_the_same_in_pieces_and_whoever_makes_them_up(tmp_path, dask):
    whole = simulate(**ASKED, seed=4)
    for name, engine in (("local", "local"), ("dask", dask)):
        with using(engine):
            samples = write_simulated(tmp_path / name, **ASKED, seed=4)
        made = read(tmp_path / name)
        assert samples == whole.data.height
        assert made.data.equals(whole.data)
        assert made.events.equals(whole.events)
        assert made.people.equals(whole.people)
        assert made.simulated
        Ledger(made.origin.ledger).check_knows(made.origin.id)
    assert len(content(tmp_path / "local")[1]["parts"]) == 3
    assert content(tmp_path / "local") == content(tmp_path / "dask")


@pytest.mark.usefixtures("small_pieces")
def test_a_stopped_run_goes_on_with_the_same_people_without_a_seed_too(tmp_path, monkeypatch):
    given, asked = Crowd.recordings, []

    def interrupted(crowd, places):
        asked.append((crowd.entropy, places))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return given(crowd, places)

    def at_the_end(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(Crowd, "recordings", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_simulated(tmp_path / "out", **ASKED)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("eyelid.engine.runs.settle", at_the_end)
        write_simulated(tmp_path / "out", **ASKED)
    unfinished = tmp_path / ".out.unfinished"
    before = content(unfinished / "output")
    write_simulated(tmp_path / "out", **ASKED)
    assert content(tmp_path / "out") == before
    assert not unfinished.exists()
    assert [places for _, places in asked] == [range(2), range(2, 4), range(2, 4), range(4, 5)]
    assert len({entropy for entropy, _ in asked}) == 1
    made = read(tmp_path / "out")
    people = [f"P0{number}" for number in range(1, 6)]
    assert made.people["person"].to_list() == people
    assert made.data["person"].unique(maintain_order=True).to_list() == people

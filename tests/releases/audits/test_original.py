"""Gaze that stays on disk: the same tables, some people at a time."""

import pytest

from eyelid.engine.engines import using
from eyelid.io import write
from eyelid.io.pieces import StudyInPieces
from eyelid.mechanisms.features import windows_of
from eyelid.releases.audits.original import gaze_in, summarised
from eyelid.releases.audits.pairing import audit_target


@pytest.fixture(scope="module")
def folder(simulated, tmp_path_factory):
    place = tmp_path_factory.mktemp("recorded") / "study"
    write(simulated, place)
    return place


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1)


def test_pieces_make_the_table_of_the_whole(folder, simulated, simulated_table, small_pieces, dask):
    cut = gaze_in(folder)
    assert len(cut.pieces) == len(simulated.people)
    for engine in ("local", dask):
        with using(engine):
            made = summarised(cut, windows_of)
        assert made.data.equals(simulated_table.data)
        assert made.people.equals(simulated.people)
        assert made.features == simulated_table.features
    assert cut.whole().data.equals(simulated.data)


def test_features_are_no_gaze(features_folder, tmp_path):
    assert gaze_in(features_folder) is None
    assert gaze_in(tmp_path) is None


def test_an_audit_has_nobodys_gaze_in_memory(folder, simulated_table, small_pieces, monkeypatch):
    monkeypatch.setattr(StudyInPieces, "whole", lambda cut: pytest.fail("all of it was read"))
    monkeypatch.setattr("eyelid.io.study_folder.read_study", lambda path: pytest.fail("read"))
    subject = audit_target(folder)
    assert subject.original.data.equals(simulated_table.data)
    assert subject.samples is None

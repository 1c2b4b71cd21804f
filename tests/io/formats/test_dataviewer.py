"""Fixation reports of the EyeLink Data Viewer."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.io import read

CONTENT = """\
RECORDING_SESSION_LABEL,TRIAL_INDEX,CURRENT_FIX_X,CURRENT_FIX_Y,CURRENT_FIX_PUPIL,\
CURRENT_FIX_DURATION,CURRENT_FIX_INTEREST_AREA_ID,CURRENT_FIX_INTEREST_AREA_LABEL,page
ann,1,59.5,125.5,1430.0,220,,,a
ann,1,348.5,182.0,1375.0,180,24,"long, word",a
ann,2,300.0,180.0,.,200,7,short,b
bob,1,310.0,190.0,1200.0,250,8,other,a
"""


@pytest.fixture
def file(tmp_path):
    def write(content: str = CONTENT):
        (tmp_path / "report.csv").write_text(content)
        return tmp_path / "report.csv"

    return write


def test_sessions_are_people_and_trials_are_recordings(file):
    study = read(file())
    assert study.kind == "fixations"
    assert (study.units, study.xy_origin, study.pupil_unit) == ("px", "top-left", "arbitrary")
    keys = study.data.select("person", "recording").unique(maintain_order=True).rows()
    assert keys == [("ann", "1"), ("ann", "2"), ("bob", "1")]
    assert study.data["duration_ms"].to_list() == [220.0, 180.0, 200.0, 250.0]
    assert study.data["pupil"].to_list() == [1430.0, 1375.0, None, 1200.0]


def test_without_starts_a_fixation_begins_when_those_before_it_have_ended(file):
    study = read(file())
    assert study.data["time_ms"].to_list() == [0.0, 220.0, 0.0, 0.0]
    assert any("CURRENT_FIX_START" in note for note in study.notes)


def test_starts_are_kept_where_there_are_some(file):
    lines = CONTENT.splitlines()
    starts = ["CURRENT_FIX_START", "35", "290", "12", "40"]
    content = "\n".join(f"{a},{b}" for a, b in zip(lines, starts, strict=True)) + "\n"
    study = read(file(content))
    assert study.data["time_ms"].to_list() == [35.0, 290.0, 12.0, 40.0]
    assert len(study.notes) == 1
    assert "session label" in study.notes[0]


def test_the_eye_that_was_used_is_kept(file):
    lines = CONTENT.splitlines()
    eyes = ["EYE_USED", "LEFT", "LEFT", "RIGHT", "RIGHT"]
    content = "\n".join(f"{a},{b}" for a, b in zip(lines, eyes, strict=True)) + "\n"
    assert read(file(content)).data["eye"].to_list() == ["left", "left", "right", "right"]


def test_what_was_read_does_not_enter_the_data(file):
    data = read(file()).data
    assert data["label_interest_area"].to_list() == [None, "24", "7", "8"]
    assert "long, word" not in str(data.rows())


def test_tabs_and_decimal_commas_are_understood(file):
    head, *rows = CONTENT.splitlines()
    cells = [row.replace('"long, word"', "long").split(",") for row in rows]
    lines = ["\t".join(cell.replace(".", ",") for cell in row) for row in cells]
    content = "\n".join([head.replace(",", "\t"), *lines]) + "\n"
    assert read(file(content)).data["x"].to_list() == [59.5, 348.5, 300.0, 310.0]


def test_a_header_without_rows_is_an_error(file):
    with pytest.raises(InputError, match="no rows"):
        read(file(CONTENT.splitlines()[0] + "\n"))


def test_a_report_that_was_cut_short_is_an_error(file):
    with pytest.raises(InputError, match="middle of a line"):
        read(file(CONTENT[:-10]))


def test_a_duration_that_is_no_number_is_named(file):
    with pytest.raises(InputError, match="CURRENT_FIX_DURATION' is 'soon'"):
        read(file(CONTENT.replace("220", "soon")))


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives(CONTENT.encode(), data)


def test_the_published_report_is_read(real_data):
    file = real_data / "vendor_samples" / "pymovements_examples" / "18sat_fixfinal.csv"
    if not file.exists():
        pytest.skip("the SB-SAT report is not in EYELID_DATA")
    study = read(file)
    published = pl.read_csv(file, infer_schema_length=None)
    assert study.data["x"].to_list() == published["CURRENT_FIX_X"].to_list()
    assert study.data["duration_ms"].sum() == published["CURRENT_FIX_DURATION"].sum()
    pages = published.select("RECORDING_SESSION_LABEL", "TRIAL_INDEX").n_unique()
    assert study.data.select("person", "recording").n_unique() == pages

"""MPIIPrivacEye: tables of features, in the layout that is confirmed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import mpiiprivaceye
from eyelid.io.layout import NOTHING_SAID


def content(rows: int = 3, columns: int = 60, separator: str = ",") -> str:
    values = np.arange(rows * columns).reshape(rows, columns) / 8
    return "".join(separator.join(map(str, row)) + "\n" for row in values.tolist())


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "MPIIPrivacEye" / "Features_and_Ground_Truth"
    home.mkdir(parents=True)
    for person in (10, 2):
        for recording in (2, 1):
            (home / f"P{person}_R{recording}_data.csv").write_text(content(rows=recording + 2))
    return tmp_path / "MPIIPrivacEye"


def test_the_folder_is_a_study_of_the_first_52_columns(folder):
    study = read(folder)
    assert study.kind == "features"
    assert len(study.features) == 52
    assert study.data["feature_1"].head(3).to_list() == [0.0, 7.5, 15.0]
    assert study.data["feature_52"][0] == 51 / 8
    order = study.data.select("person", "recording").unique(maintain_order=True).rows()
    assert order == [("P2", "R1"), ("P2", "R2"), ("P10", "R1"), ("P10", "R2")]
    assert read(folder / "Features_and_Ground_Truth").data.equals(study.data)


def test_rows_have_a_place_and_no_time(folder):
    study = read(folder)
    assert study.data.filter(person="P2", recording="R2")["time_ms"].to_list() == [0, 1, 2, 3]
    assert (study.rate_hz, study.step_ms) == (None, None)
    assert any("place in order" in note for note in study.notes)


def test_features_without_bounds_are_a_table_that_nobody_can_release_yet(folder):
    table = FeatureTable.of(read(folder))
    assert not np.isfinite([f.span for f in table.features]).any()


def test_other_folders_are_not_taken_for_it(tmp_path):
    (tmp_path / "P1_R1_data.csv").write_text(content())
    assert not mpiiprivaceye.recognises_folder(tmp_path)
    (tmp_path / "Features_and_Ground_Truth").mkdir()
    assert not mpiiprivaceye.recognises_folder(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [(content(columns=51), "no column '52'"), (content()[:-30], "middle of a line"), ("", "empty")],
)
def test_a_file_with_too_little_in_it_is_an_error(folder, text, said):
    (folder / "Features_and_Ground_Truth" / "P3_R1_data.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read(folder)


def read_one(path):
    return mpiiprivaceye.read(head_of(path), NOTHING_SAID)


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives(content(rows=2, columns=53).encode(), data, "P1_R1_data.csv", read_one)

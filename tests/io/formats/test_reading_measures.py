"""Reading measures of words, as in CopCo."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write

CONTENT = """\
part,trialId,speechId,paragraphId,sentenceId,wordId,word,char_IA_ids,landing_position,\
word_first_fix_dur,word_total_fix_dur,number_of_fixations
1,11,79,0,612,0,Once,[1],,,,0
1,11,79,0,612,1,upon,"[2, 3]",3.0,120.0,720.5,3
1,12,79,1,613,0,a,[12],0.0,200.0,200.0,1
2,11,79,0,612,0,Once,[1],1.0,250.0,250.0,1
"""


@pytest.fixture
def file(tmp_path):
    def write_text(content: str = CONTENT):
        (tmp_path / "P1.csv").write_text(content)
        return tmp_path / "P1.csv"

    return write_text


def test_words_are_rows_of_features(file):
    study = read(file())
    assert study.kind == "features"
    assert [feature.name for feature in study.features] == [
        "landing_position",
        "word_first_fix_dur",
        "word_total_fix_dur",
        "number_of_fixations",
    ]
    assert study.data["word_total_fix_dur"].to_list() == [None, 720.5, 200.0, 250.0]
    keys = study.data.select("person", "recording").unique(maintain_order=True).rows()
    assert keys == [("1", "11"), ("1", "12"), ("2", "11")]


def test_time_is_the_place_of_a_word(file):
    study = read(file())
    assert study.data["time_ms"].to_list() == [0.0, 1.0, 0.0, 0.0]
    assert any("no time" in note for note in study.notes)
    assert (study.rate_hz, study.step_ms) == (None, None)


def test_the_words_themselves_are_not_kept(file):
    data = read(file()).data
    assert data["label_word_id"].to_list() == ["0", "1", "0", "0"]
    assert "upon" not in str(data.rows())


def test_features_have_no_bounds_before_somebody_gives_them(file, tmp_path):
    study = read(file())
    assert {(f.lower, f.upper) for f in study.features} == {(-math.inf, math.inf)}
    write(study, tmp_path / "study")
    again = FeatureTable.of(read(tmp_path / "study"))
    assert again.features == study.features


def test_inspect_asks_for_bounds(file, eyelid):
    done = eyelid("inspect", file())
    assert done.code == 0
    assert "bounds" in done.out + done.err


def test_a_header_without_rows_is_an_error(file):
    with pytest.raises(InputError, match="no rows"):
        read(file(CONTENT.splitlines()[0] + "\n"))


def test_a_file_that_was_cut_short_is_an_error(file):
    with pytest.raises(InputError, match="middle of a line"):
        read(file(CONTENT[:-8]))


def test_a_measure_that_is_no_number_is_named(file):
    with pytest.raises(InputError, match="word_first_fix_dur' is 'long'"):
        read(file(CONTENT.replace("120.0", "long")))


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives(CONTENT.encode(), data)


def test_published_measures_are_read(real_data):
    file = real_data / "vendor_samples" / "pymovements_examples" / "copco_rm_dummy.csv"
    if not file.exists():
        pytest.skip("the CopCo rows are not in EYELID_DATA")
    study = read(file)
    assert len(study.features) == 9
    assert study.data["number_of_fixations"].null_count() == 0
    skipped = study.data.filter(number_of_fixations=0.0)
    assert skipped["word_total_fix_dur"].null_count() == len(skipped)

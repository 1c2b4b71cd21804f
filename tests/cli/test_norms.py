"""``eyelid norms``: the table, one measure in full, JSON, a picture, and one's own."""

import json

import pytest

from eyelid.gaze.norms import norms
from eyelid.io.norms import HEADER


def test_the_table_has_every_norm_with_grade_and_source(eyelid):
    done = eyelid("norms")
    assert done.code == 0
    rows = [line.split() for line in done.out.splitlines()]
    for norm in norms():
        row = next(r for r in rows if r[:2] == [norm.measure, norm.task])
        assert {f"{norm.mean:g}", f"{norm.between:g}", norm.grade} <= set(row)
        assert norm.source.short.split()[0] in row
    assert "assumed: a source that was opened gives a typical value" in done.out
    assert "None is known of small_saccade_rate" in done.out


def test_a_measure_is_shown_as_its_source_prints_it(eyelid):
    out = eyelid("norms", "blink_rate").out
    assert "The overall SEBR was 10.3 ± 3.1 eyeblinks/min (±SD)" in out
    assert "at: 10.1097/00006324-200207000-00013" in out
    assert "± 2 SD: 4.1 to 16.5 1/min" in out
    assert "computed: median and quartiles" in out


def test_a_log_scale_is_called_so(eyelid):
    out = eyelid("norms", "wpm", "--task", "silent-reading").out
    assert "geometric mean 266.6 words/min, standard deviation between people 0.225 (ln)" in out
    assert "reading-aloud" not in out


def test_medians_are_called_so(eyelid):
    assert "mean of people's medians 3.7 deg" in eyelid("norms", "saccade_amplitude").out


def test_json_is_one_object_with_what_has_no_norm(eyelid):
    found = json.loads(eyelid("norms", "--json").out)
    assert len(found["norms"]) == len(norms())
    first = found["norms"][0]
    assert first["source"]["printed"].startswith("159.56")
    assert {"measure", "task", "unit", "mean", "between", "within", "scale", "grade"} <= set(first)
    assert "wb1_max" in found["none"]
    assert "blink_rate" not in found["none"]


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_picture_is_written(eyelid, tmp_path, kind):
    path = tmp_path / f"norms.{kind}"
    done = eyelid("norms", "gaze_duration", "--picture", path)
    assert done.code == 0
    assert path.stat().st_size > 1000
    assert f"Open {path}" in done.out


def test_ones_own_norms_stand_first(eyelid, tmp_path):
    mine = tmp_path / "mine.csv"
    mine.write_text(f"{HEADER}\nblink_rate,search,1/min,9,3,,,Us 2024\nmood,any,1,5,1,,,Us\n")
    found = json.loads(eyelid("norms", "blink_rate", "--norms", mine, "--json").out)["norms"]
    assert [norm["grade"] for norm in found][:2] == ["own", "measured"]
    assert "mood, any" in eyelid("norms", "mood", "--norms", mine).out
    assert "Us 2024" in eyelid("norms", "--norms", mine).out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["blnk_rate"], "did you mean 'blink_rate'"),
        (["--task", "reading"], "unknown kind of task 'reading'"),
        (["wb1_max"], "no norm of wb1_max is published that eyelid knows: give your own"),
        (["gaze_duration", "--task", "vr"], "(there are norms for silent-reading)"),
        (["--picture", "norms.gif"], "a picture ends in .svg, .png or .pdf"),
        (["--norms", "none.csv"], "cannot read the norms 'none.csv'"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(eyelid, words, told):
    done = eyelid("norms", *words)
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert told in done.err

"""Norms of one's own, from a file: what it may say, and what is wrong with it in one line."""

import pytest

from eyelid.errors import InputError
from eyelid.gaze.features import window_feature_set
from eyelid.gaze.norms import norm_for
from eyelid.io.norms import HEADER, read_norms

CSV = f"""{HEADER}
FFD,silent-reading,ms,210,30,12,linear,"Our lab, 2023, Table 2"
reading_rate,silent-reading,words/min,240,0.2,,log,Handbook 2020
"""
TOML = """
[[norms]]
measure = "FFD"
task = "silent-reading"
unit = "ms"
mean = 210
between = 30
within = 12
source = "Our lab, 2023, Table 2"

[[norms]]
measure = "reading_rate"
task = "silent-reading"
unit = "words/min"
mean = 240
between = 0.2
scale = "log"
source = "Handbook 2020"
"""


@pytest.fixture
def file(tmp_path):
    def written(text, name="mine.csv"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return written


@pytest.mark.parametrize(("text", "name"), [(CSV, "mine.csv"), (TOML, "mine.toml")])
def test_a_file_gives_norms_with_their_sources(file, text, name):
    first, second = read_norms(file(text, name))
    assert (first.measure, first.mean, first.between, first.within) == (
        "first_fixation_duration",
        210.0,
        30.0,
        12.0,
    )
    assert first.source.text == "Our lab, 2023, Table 2"
    assert (second.scale, second.within, second.grade) == ("log", None, "own")


def test_a_table_of_toml_is_named_after_its_measure(file):
    (found,) = read_norms(
        file(
            '[blink_rate]\ntask = "any"\nunit = "1/min"\nmean = 9\nbetween = 3\nsource = "Us"\n',
            "mine.toml",
        )
    )
    assert (found.measure, found.mean) == ("blink_rate", 9.0)


def test_ones_own_is_used_before_what_is_published(file):
    own = read_norms(file(f"{HEADER}\nblink_rate,search,1/min,9,3,,,Us 2024\n"))
    feature = {f.name: f for f in window_feature_set()}["blink_rate"]
    assert norm_for(feature, "search", own).mean == 9 / 60
    assert norm_for(feature, "search").grade == "assumed"


def test_measures_of_a_study_are_known_too_and_others_are_a_slip(file):
    path = file(f"{HEADER}\ncomprehension,any,%,80,10,,,Us 2024\n")
    assert read_norms(path)[0].measure == "comprehension"
    assert read_norms(path, ["comprehension"])[0].measure == "comprehension"
    with pytest.raises(InputError, match="unknown measure 'comprehension': did you mean 'comp"):
        read_norms(path, ["comprehensions"])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("blink_rate,any,1/min,few,3,,,Us", "mean of the norm of blink_rate is 'few', no number"),
        ("blink_rate,any,1/min,9,3,x,,Us", "within of the norm of blink_rate is 'x', no number"),
        ("blink_rate,any,1/min,9,,,,Us", "the norm of blink_rate has no between"),
        ("blink_rate,any,1/min,9,3,,,", "the norm of blink_rate has no source: .* read off the"),
        ("blink_rate,any,,9,3,,,Us", "the norm of blink_rate has no unit"),
        ("blink_rate,,1/min,9,3,,,Us", "the norm of blink_rate has no task"),
        (",any,1/min,9,3,,,Us", "a norm has no measure"),
        ("blink_rate,any,1/min,9,-3,,,Us", "between of the norm of blink_rate is -3"),
        ("blink_rate,film,1/min,9,3,,,Us", "unknown task of a norm of blink_rate 'film'"),
        ("blink_rate,any,1/min,9,3,,,Us, 2024", "write a source that holds commas in quotes"),
        ("blink_rate,any,1/min,0,3,,log,Us", "a geometric mean is positive"),
        ("", "has no norms"),
        (
            "blink_rate,any,1/min,9,3,,,Us\nblink_rate,any,1/s,9,3,,,Them",
            "two norms of blink_rate for any",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_the_file(file, line, words):
    path = file(f"{HEADER}\n{line}\n")
    with pytest.raises(InputError, match=words) as error:
        read_norms(path)
    assert "\n" not in str(error.value)
    assert "mine.csv" in str(error.value)


def test_a_column_that_norms_do_not_have_is_said(file):
    with pytest.raises(InputError, match=r"unknown entry of a norm .* 'sd'"):
        read_norms(file(f"{HEADER},sd\nblink_rate,any,1/min,9,3,,,Us,4\n"))


@pytest.mark.parametrize("text", ["", "name,mean\nblink_rate,9\n"])
def test_a_file_without_the_column_of_measures_is_told_its_first_line(file, text):
    with pytest.raises(InputError, match=f"has no column measure: its first line is '{HEADER}'"):
        read_norms(file(text))


def test_a_file_that_is_not_there_or_no_text_is_said(file, tmp_path):
    with pytest.raises(InputError, match="cannot read the norms"):
        read_norms(tmp_path / "none.csv")
    with pytest.raises(InputError, match="cannot read the norms"):
        read_norms(file("[[norms]", "mine.toml"))


def test_people_s_medians_may_have_a_norm_beside_their_means(file):
    head = f"{HEADER},statistic"
    lines = "blink_rate,any,1/min,9,3,,,Us,\nblink_rate,any,1/min,8,3,,,Us,median"
    assert [norm.statistic for norm in read_norms(file(f"{head}\n{lines}\n"))] == ["mean", "median"]
    with pytest.raises(InputError, match="unknown statistic of a norm of blink_rate 'mode'"):
        read_norms(file(f"{head}\nblink_rate,any,1/min,9,3,,,Us,mode\n"))

"""csv with lists of samples in its cells, as jsPsych exports it."""

import csv
import json

import pytest

from eyelid.errors import InputError
from eyelid.io import read

MAP = "person=subject_id,recording=trial_index,time=t,time_unit=ms,units=px"
HEADER = ("rt", "stimulus", "trial_type", "trial_index", "time_elapsed", "subject_id")
SAMPLES = [{"x": 10.5 * i, "y": 20, "t": 33 * i} for i in range(20)]


def gaze(person, number, samples=SAMPLES):
    cell = samples if isinstance(samples, str) else json.dumps(samples)
    return ("412", "<p>\nRead, please</p>", "image", str(number), "9000", person, cell)


def instructions(person, number=0):
    return ("null", "<p>Hello</p>", "html", str(number), "12", person, "")


@pytest.fixture
def exported(tmp_path):
    def write(*trials, name="data.csv", header=(*HEADER, "webgazer_data")):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_ALL).writerows([header, *trials])
        return tmp_path / name

    return write


@pytest.mark.parametrize("column", ["webgazer_data", "my_samples"])
def test_lists_in_cells_are_the_samples(exported, column):
    trials = [instructions("ann"), gaze("ann", 1), gaze("ann", 2), gaze("bob", 1, SAMPLES * 0)]
    study = read(exported(*trials, header=(*HEADER, column)), MAP)
    assert study.read_as == ("table with JSON in its cells",)
    rows = study.data.filter(person="ann")
    assert rows["recording"].unique(maintain_order=True).to_list() == ["1", "2"]
    assert rows["time_ms"].to_list() == [33.0 * i for i in range(20)] * 2
    assert rows["x"].to_list() == [10.5 * i for i in range(20)] * 2


def test_a_map_that_names_no_column_beside_the_lists_will_do(exported):
    """Nothing of what stands beside was needed, and the reader failed."""
    home = exported(gaze("ann", 1), name="ann.csv").parent
    study = read(home, "file={person},time=t,time_unit=ms,units=px")
    assert study.people["person"].to_list() == ["ann"]
    assert study.data.height == 20


def test_whose_trials_have_no_samples_counts_in_order(exported):
    study = read(exported(instructions("bob"), gaze("ann", 1), gaze("zoe", 2, "[]")), MAP)
    assert study.people["person"].to_list() == ["bob", "ann", "zoe"]
    assert study.data.filter(person="zoe")["x"].to_list() == [None]
    assert any("but none of gaze" in note for note in study.notes)


def test_files_without_trials_or_gaze_are_recordings_without_values(exported, tmp_path):
    exported(gaze("ann", 1), name="p1.csv")
    exported(name="p2.csv")
    exported(instructions("zoe"), name="p3.csv")
    study = read(tmp_path, "file={person},time=t,time_unit=ms,units=px")
    assert study.people["person"].to_list() == ["p1", "p2", "p3"]
    assert study.data.filter(person="p2")["x"].to_list() == [None]
    assert study.data.filter(person="p3")["x"].to_list() == [None]


def test_a_table_whose_columns_are_gaze_stays_one(exported):
    rows = [(str(i), "1", "2", '[{"a": 1}]') for i in range(5)]
    study = read(exported(*rows, header=("time_ms", "x", "y", "seen")), "units=px")
    assert study.read_as == ("table",)
    assert len(study.data) == 5


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("[{", "row 1 of column 'webgazer_data' is no JSON"),
        ("[{'x': 1}]", "row 1 of column 'webgazer_data' is no JSON"),
        ("[" * 100_000, "is no JSON: it is nested too deep"),
        (json.dumps([{"x": "left", "y": 1, "t": 0}] * 2), "'left', no number"),
        (json.dumps([{"x": 1, "y": 1, "t": 10**400}] * 2), "row 1"),
        (json.dumps([{f"x{i}_{j}": 1 for j in range(15)} for i in range(4000)]), "more than"),
        ("[[]]", "no samples in them"),
        (json.dumps([{"a": 1}]), "it has the columns .*webgazer|name.* `map='x=COLUMN"),
    ],
    ids=["cut", "Python", "deep", "text", "huge", "wide", "empty", "no gaze"],
)
def test_what_cannot_be_read_is_told_in_a_line(exported, cell, said):
    with pytest.raises(InputError, match=said) as error:
        read(exported(gaze("ann", 1, cell)), MAP)
    assert "\n" not in str(error.value)


def test_long_lists_repeat_only_what_is_needed(exported):
    """Thousands of columns beside a list would be copied into each of its rows."""
    many = [f"c{i}" for i in range(5000)]
    samples = [{"x": 1, "y": 2, "t": i} for i in range(20_000)]
    trial = (*gaze("ann", 1, samples), *many)
    study = read(exported(trial, header=(*HEADER, "webgazer_data", *many)), MAP)
    assert len(study.data) == 20_000


def test_a_column_of_two_lines_is_told_in_one(exported):
    file = exported(gaze("ann", 1, '[{"x": '), header=(*HEADER, "webgazer\n_data"))
    with pytest.raises(InputError, match=r"is no JSON") as error:
        read(file, MAP)
    assert "\n" not in str(error.value)

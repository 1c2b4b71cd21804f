"""JSON: samples in a list somewhere inside, in one document or one a line."""

import json

import pytest

from eyelid.errors import InputError
from eyelid.io import read

SAMPLES = [{"time_ms": 10 * i, "gaze": {"x": 1.0 * i, "y": 2.0}} for i in range(20)]
COLUMNS = {"time_ms": [10 * i for i in range(20)], "x": [1.0 * i for i in range(20)]}
COLUMNS["y"] = [2.0] * 20


@pytest.fixture
def file(tmp_path):
    def write(*documents, name="P1.json"):
        text = "\n".join(each if isinstance(each, str) else json.dumps(each) for each in documents)
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


@pytest.mark.parametrize(
    "documents",
    [
        [SAMPLES],
        SAMPLES,
        [{"samples": SAMPLES, "made": {"by": "a tracker"}}],
        [{"trial": {"data": {"samples": SAMPLES}}, "events": [{"name": "start"}]}],
        [COLUMNS],
        [{"data": COLUMNS, "calibration": [0.1, 0.2]}],
        [[{**sample, "gaze_px": [1, 2]} for sample in SAMPLES]],
    ],
    ids=["list", "lines", "in an object", "deep", "columns", "columns inside", "short lists"],
)
def test_samples_are_found_wherever_they_are(file, documents):
    said = {} if documents != [{"data": COLUMNS, "calibration": [0.1, 0.2]}] else DATA
    study = read(file(*documents), said)
    assert study.read_as == ("JSON",)
    assert study.data["time_ms"].to_list() == [10.0 * i for i in range(20)]
    assert study.data["x"].to_list() == [1.0 * i for i in range(20)]


DATA = {"time": "data.time_ms", "x": "data.x", "y": "data.y", "time_unit": "ms"}


def test_what_stands_above_samples_is_in_each_of_their_rows(file):
    trials = [{"participant": "ann", "n": n, "samples": SAMPLES} for n in (1, 2)]
    for documents in (trials, [trials], [{"trials": trials}]):
        study = read(file(*documents), "recording=n")
        assert study.people["person"].to_list() == ["ann"]
        assert study.data["recording"].unique(maintain_order=True).to_list() == ["1", "2"]
        assert len(study.data) == 40


def test_trials_count_whatever_else_is_said_of_them(file):
    """A key that only some trials have is no reason to leave the others out."""
    trials = [
        {"n": 1, "seen": {"a": 1}, "gaze_data": SAMPLES},
        {"n": 2, "seen": None, "correct": True, "gaze_data": SAMPLES},
        {"n": 3, "gaze_data": [{**sample, "pupil": 3.0} for sample in SAMPLES]},
    ]
    for documents in (trials, [trials], [{"trials": trials}]):
        study = read(file(*documents), "recording=n,x=gaze.x,y=gaze.y")
        assert study.data["recording"].unique(maintain_order=True).to_list() == ["1", "2", "3"]
        assert len(study.data) == 60


def test_whose_trials_have_no_samples_counts(file):
    trials = [
        {"participant": who, "n": 1, "samples": s} for who, s in (("bob", []), ("ann", SAMPLES))
    ]
    for documents in (trials, [trials], [{"trials": trials}]):
        study = read(file(*documents), "recording=n,x=gaze.x,y=gaze.y")
        assert study.people["person"].to_list() == ["bob", "ann"]


def test_lists_that_are_left_out_are_named(file):
    mouse = [{"x": 1, "y": 2, "button": 0}]
    study = read(file({"gaze": SAMPLES, "mouse": mouse}), "x=gaze.x,y=gaze.y")
    assert study.notes == ("of the lists in JSON the longest is read; left out: mouse",)


def test_an_empty_list_is_a_recording_without_values(file, tmp_path):
    file(SAMPLES)
    file([], name="P2.json")
    study = read(tmp_path, "file={person}")
    assert study.people["person"].to_list() == ["P1", "P2"]
    assert study.data.filter(person="P2")["x"].to_list() == [None]


def test_short_lists_are_numbered_columns(file):
    study = read(file([{"t": i, "eye_px": [i, 5]} for i in range(9)]), MAP)
    assert study.data["x"].to_list() == [float(i) for i in range(9)]
    assert set(study.data["y"]) == {5.0}


MAP = "time=t,x=eye_px.1,y=eye_px.2,time_unit=ms,units=px"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"meta": 1}', r"without a list of samples in it: it begins with '\{\"meta\": 1\}'"),
        ('{"samples": [', "is no JSON"),
        (json.dumps({"a": 1}) + '\n{"a": ', "line 2 is no JSON"),
        ("[" * 100_000, "is no JSON: it is nested too deep"),
        (json.dumps([{"time_ms": i, "x": "left", "y": 1} for i in range(5)]), "'left', no number"),
        (json.dumps([{"time_ms": 10**400, "x": 1, "y": 1}] * 3), "row 1"),
        (json.dumps([{"t": i} for i in range(5)]), "it has the columns t"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_line(file, text, said):
    with pytest.raises(InputError, match=said):
        read(file(text))


def test_json_is_read_where_there_is_nothing_else(file, tmp_path):
    file(SAMPLES)
    file(SAMPLES, name="P2.json")
    assert read(tmp_path, "file={person}").people["person"].to_list() == ["P1", "P2"]
    (tmp_path / "P3.csv").write_text("time_ms,x,y\n0,1,2\n")
    assert read(tmp_path, "file={person}").people["person"].to_list() == ["P3"]


def test_the_first_letters_of_a_long_line_are_shown(tmp_path):
    (tmp_path / "long.txt").write_text("word" * 50_000)
    with pytest.raises(InputError, match="it begins with 'wordword"):
        read(tmp_path / "long.txt")


@pytest.mark.parametrize("objects", [600, 4000], ids=["mostly empty", "too many columns"])
def test_objects_with_keys_of_their_own_take_no_memory(file, objects):
    """Rows × columns would be quadratic in the size of the file."""
    rows = [{"time_ms": i, **{f"x{i}_{j}": 1 for j in range(15)}} for i in range(objects)]
    with pytest.raises(InputError, match=r"different keys|more than"):
        read(file(rows))

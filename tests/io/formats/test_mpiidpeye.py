"""MPIIDPEye: pupil positions of 20 people reading three documents."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.features.catalogue import window_feature_set
from eyelid.io import read
from eyelid.io.files import head_of
from eyelid.io.formats import mpiidpeye

CONTENT = """\
0.400000;0.300000;100.000000;0.900000;80.000000
0.410000;0.310000;100.033000;0.700000;81.000000
0.000000;0.000000;100.066000;0.000000;0.000000
0.430000;0.330000;100.099000;1.000000;83.500000
"""


@pytest.fixture
def file(tmp_path):
    def write(name: str = "Data_P3_R2.csv", content: str = CONTENT):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    return write


def test_a_file_is_known_by_its_numbers_and_its_name_says_whose_it_is(file):
    study = read(file())
    first = study.data.row(0, named=True)
    assert (first["person"], first["recording"], first["task"]) == ("P3", "newspaper", "newspaper")
    assert (study.units, study.xy_origin, study.pupil_unit) == ("normalised", "bottom-left", "px")
    assert study.rate_hz == 30.0
    assert study.data["time_ms"].to_list() == pytest.approx([100000, 100033, 100066, 100099])
    assert study.data["confidence"].to_list() == [0.9, 0.7, 0.0, 1.0]


def test_a_file_of_another_name_is_one_persons(file):
    assert read(file("mine.csv")).people["person"].to_list() == ["mine"]


def test_where_no_pupil_was_found_there_is_none(file):
    row = read(file()).data.row(2, named=True)
    assert (row["x"], row["y"], row["pupil"], row["confidence"]) == (None, None, None, 0.0)


@pytest.mark.parametrize(
    "content",
    [
        "x;y;t;c;d\n" + CONTENT,
        "1;2;3;4\n",
        "0.4;0.3;100.0;1.5;80.0\n",
        "640;480;100.0;0.9;80.0\n",
        CONTENT.replace(";", ","),
    ],
)
def test_other_tables_are_not_taken_for_it(file, content):
    assert not mpiidpeye.recognises(head_of(file(content=content)))


def test_the_folder_is_one_study_in_order_of_people_and_documents(file, tmp_path):
    for person in (10, 2):
        for number in (3, 1):
            file(f"MPIIDPEye/Eye_Tracking_Data/Data_P{person}_R{number}.csv")
    file("MPIIDPEye/Ground_Truth.csv", "Participant,Gender\n1,male\n2,female\n10,male\n")
    file("MPIIDPEye/Readme.txt", "Read me; first.\n")
    study = read(tmp_path / "MPIIDPEye")
    assert study.people.rows() == [("P2", "female"), ("P10", "male")]
    assert study.people.columns == ["person", "gender"]
    order = study.data.select("person", "recording").unique(maintain_order=True).rows()
    assert order == [("P2", "comic"), ("P2", "textbook"), ("P10", "comic"), ("P10", "textbook")]
    inner = read(tmp_path / "MPIIDPEye" / "Eye_Tracking_Data")
    assert inner.data.equals(study.data)
    assert inner.people.equals(study.people)


def test_the_folder_needs_no_list_of_people(file, tmp_path):
    file("set/Data_P1_R1.csv")
    assert read(tmp_path / "set").people.columns == ["person"]


def test_a_broken_file_of_the_folder_is_named(file, tmp_path):
    file("set/Data_P1_R1.csv")
    file("set/Data_P2_R1.csv", CONTENT[:-20])
    with pytest.raises(InputError, match=r"Data_P2_R1\.csv"):
        read(tmp_path / "set")


def test_a_file_that_was_cut_short_is_an_error(file):
    with pytest.raises(InputError, match="in the middle of a line"):
        read(file(content=CONTENT[:-20]))


@given(data=st.data())
def test_damage_is_an_error_of_one_line(survives, data):
    survives(CONTENT.encode(), data)


def test_the_published_folder_is_20_people_with_three_documents_each(real_data):
    folder = real_data / "MPIIDPEye"
    if not folder.exists():
        pytest.skip("MPIIDPEye is not in EYELID_DATA")
    study = read(folder)
    assert study.people["person"].to_list() == [f"P{number}" for number in range(1, 21)]
    assert study.people["gender"].value_counts().sort("gender").rows() == [
        ("female", 10),
        ("male", 10),
    ]
    assert study.data.select("person", "recording").n_unique() == 60
    assert (study.rate_hz, study.units) == (30.0, "normalised")
    published = pl.read_csv(
        folder / "Eye_Tracking_Data" / "Data_P7_R3.csv",
        separator=";",
        has_header=False,
        new_columns=["x", "y", "time_s", "confidence", "pupil"],
    )
    found = study.data.filter(person="P7", recording="textbook")
    assert found["time_ms"].equals(published["time_s"] * 1000.0)
    seen = published.filter(pl.col("confidence") > 0)
    assert found["x"].drop_nulls().to_list() == seen["x"].to_list()
    assert found["pupil"].drop_nulls().to_list() == seen["pupil"].to_list()


@pytest.mark.parametrize("name", ["Readme.txt", "Ground_Truth.csv"])
def test_what_lies_beside_the_recordings_is_refused_in_one_line(real_data, eyelid, name):
    done = eyelid("inspect", real_data / "MPIIDPEye" / name)
    assert done.code == 2
    assert done.err.count("\n") == 1


def features(rows: int, separator: str = ",", columns: int = 52) -> str:
    return "".join(
        separator.join(str(row + column / 64) for column in range(columns)) + "\n"
        for row in range(rows)
    )


@pytest.fixture
def with_features(file, tmp_path):
    """The authors' features of two people, beside a list of people."""
    for person in (10, 2):
        for number in (3, 1):
            name = f"Data_P{person}_R{number}_Pami_Features_52.csv"
            file(f"MPIIDPEye/Eye_Movement_Features/{name}", features(number + 1))
    file("MPIIDPEye/Ground_Truth.csv", "Participant,Gender\n2,female\n10,male\n")
    return tmp_path / "MPIIDPEye"


def test_a_folder_with_the_authors_features_alone_is_a_study_of_windows(with_features):
    study = read(with_features)
    assert (study.kind, study.step_ms, study.window_ms) == ("features", 500.0, 30_000.0)
    assert [f.name for f in study.features] == [f.name for f in window_feature_set("normalised")]
    order = study.data.select("person", "task").unique(maintain_order=True).rows()
    assert order == [("P2", "comic"), ("P2", "textbook"), ("P10", "comic"), ("P10", "textbook")]
    mine = study.data.filter(person="P2", task="textbook")
    assert mine["time_ms"].to_list() == [0.0, 500.0, 1000.0, 1500.0]
    assert mine["fixation_rate"].to_list() == [0.0, 1.0, 2.0, 3.0]
    assert mine["wb4_var"].to_list() == [n + 51 / 64 for n in range(4)]
    assert study.people.rows() == [("P2", "female"), ("P10", "male")]
    assert any("no bounds" in note for note in study.notes)
    assert read(with_features / "Eye_Movement_Features").data.equals(study.data)


def test_semicolons_part_features_as_well(file, tmp_path):
    file("Data_P1_R1_Pami_Features_52.csv", features(2, ";"))
    assert read(tmp_path).data["wb4_var"].to_list() == [51 / 64, 1 + 51 / 64]


def test_beside_recordings_the_features_are_named_and_the_recordings_are_read(file, with_features):
    for person in (10, 2):
        file(f"MPIIDPEye/Eye_Tracking_Data/Data_P{person}_R1.csv")
    study = read(with_features)
    assert study.kind == "samples"
    assert any("Eye_Movement_Features: name that folder" in note for note in study.notes)
    assert read(with_features / "Eye_Movement_Features").kind == "features"


@pytest.mark.parametrize(
    ("text", "said"),
    [(features(2, columns=51), "no column '52'"), ("", "empty")],
)
def test_a_file_of_features_with_too_little_in_it_is_an_error(file, with_features, text, said):
    file("MPIIDPEye/Eye_Movement_Features/Data_P3_R1_Pami_Features_52.csv", text)
    with pytest.raises(InputError, match=said):
        read(with_features)

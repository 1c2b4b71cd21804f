"""A table with a row a trial becomes a study of features, on the command line alone."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from eyelid.io import read
from eyelid.io.lint import lint

FILE = """name,unit,lower,upper,definition,column
duration,ms,0,1000,"mean fixation duration, all",fix.dur
skipping,,0,1,,skip
"""
MAP = ["--map", "person=subject,task=condition,attributes=lang;age"]


def trials(people=5, rows=3):
    """A csv with a row a trial, two conditions, a missing cell, and columns that nobody maps."""
    rng = np.random.default_rng(1)
    lines = ['subject,condition,lang,age,word,fix.dur,skip,"x, raw"']
    for person in range(people):
        for condition in ("easy", "hard"):
            for _ in range(rows):
                duration = 200 + 10 * person + rng.normal(0, 20)
                lang, age = "de" if person % 2 else "en", 20 + person // 2
                lines.append(
                    f"Maria {person},{condition},{lang},{age},tree,{duration:.1f},"
                    f"{rng.uniform(0, 0.5):.3f},3"
                )
    lines[2] = lines[2].rsplit(",", 2)[0] + ",,3"
    lines[3] = "Maria 0,easy,en,20,tree,1200.5,0.1,3"
    return "\n".join(lines) + "\n"


@pytest.fixture
def source(tmp_path):
    (tmp_path / "features.csv").write_text(FILE)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "trials.csv").write_text(trials())
    return tmp_path / "in" / "trials.csv"


@pytest.fixture
def convert(eyelid, source, tmp_path):
    """Convert the table, with other features, another table or another map."""

    def run(features=FILE, table=None, said=(*MAP,), name="features.csv", out="study"):
        (tmp_path / name).write_text(features)
        if table is not None:
            source.write_text(table)
        return eyelid("convert", source, tmp_path / out, *said, "--features", tmp_path / name)

    return run


def test_a_table_of_trials_becomes_a_study_of_features(convert, tmp_path):
    done = convert()
    assert done.code == 0, done.err
    study = read(tmp_path / "study")
    assert study.kind == "features"
    assert [f.name for f in study.features] == ["duration", "skipping"]
    assert study.features[0].definition == "mean fixation duration, all"
    assert (study.features[0].lower, study.features[0].upper) == (0.0, 1000.0)
    assert study.data["recording"].unique().sort().to_list() == ["easy", "hard"]
    assert study.data.columns[-2:] == ["duration", "skipping"]
    assert study.people.columns == ["person", "lang", "age"]
    assert study.people["age"].dtype == pl.Int64
    assert study.people["lang"].value_counts(sort=True).rows() == [("en", 3), ("de", 2)]
    # A missing cell stays missing, and what is out of bounds is kept.
    assert study.data["skipping"].null_count() == 1
    assert study.data["duration"].max() == 1200.5


def test_people_get_pseudonyms_an_origin_and_a_ledger(convert, tmp_path):
    assert convert().code == 0
    study = read(tmp_path / "study")
    assert study.people["person"][0] == "anon01"
    assert study.origin is not None
    assert study.origin.ledger.exists()
    assert b"Maria" not in b"".join(p.read_bytes() for p in (tmp_path / "study").iterdir())
    assert not [f for f in lint(tmp_path / "study") if f.where.endswith((", person", "recording"))]


def test_what_is_out_of_bounds_or_left_out_is_said_to_the_owner_alone(convert, tmp_path):
    done = convert()
    assert "1 of 30 values of duration lie outside of its bounds, 0 to 1000 ms" in done.err
    assert "left out: word, x, raw" in done.err
    assert "counted in the raw data" in done.err
    written = (tmp_path / "study" / "study.json").read_text()
    assert "outside" not in written
    assert "word" not in written


def test_a_unit_that_is_another_than_the_table_s_is_asked_for(convert):
    done = convert(features=FILE.replace("0,1000", "0,1"))
    assert "30 of 30 values of duration" in done.err
    assert "is its unit that of the table?" in done.err


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_bounds_that_are_not_public_are_refused(convert, tmp_path, end):
    line = "duration,ms,,1000" if end == "lower" else "duration,ms,0,"
    done = convert(features=FILE.replace("duration,ms,0,1000", line))
    assert done.code == 2
    assert f"feature 'duration' has no {end} bound: bounds are public facts" in done.err
    assert "the most extreme participant's value" in done.err
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ("", "has no column name"),
        ("name,lower,upper\n", "names no features"),
        ("name,lower,upper\nskip,0,inf\n", "the upper bound of feature 'skip' is inf: bounds are"),
        ("name,lower,upper\nskip,zero,1\n", "is 'zero', no number"),
        ("name,lower,upper\nskip,1,0\n", "the lower bound of feature 'skip' is 1"),
        ("name,lower,upper\nskip,0,1\nskip,0,1\n", "names feature 'skip' twice"),
        ("name,lower,uper\nskip,0,1\n", "did you mean 'upper'?"),
        ("name,lower,upper\nperson,0,1\n", "a feature cannot be called 'person'"),
        ("name,lower,upper\nskp,0,1\n", "has no column 'skp' (which"),
        ("name,lower,upper\nskp,0,1\n", "did you mean 'skip'?"),
        ("name,lower,upper\nword,0,1\n", "row 1 of column 'word' is 'tree', no number"),
        (
            "name,lower,upper\nskip,0,1,share, all\n",
            "write a definition that holds commas in quotes",
        ),
    ],
)
def test_a_file_of_features_that_is_wrong_is_refused_in_a_line(convert, tmp_path, features, words):
    done = convert(features=features)
    assert done.code == 2
    assert words in done.err
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    "toml",
    [
        '["fix.dur"]\nunit = "ms"\nlower = 0\nupper = 1000\n',
        '[[features]]\nname = "fix.dur"\nunit = "ms"\nlower = 0\nupper = 1000\n',
    ],
)
def test_features_may_be_named_in_toml(convert, tmp_path, toml):
    done = convert(features=toml, name="features.toml")
    assert done.code == 0, done.err
    (feature,) = read(tmp_path / "study").features
    assert (feature.name, feature.unit, feature.upper) == ("fix.dur", "ms", 1000.0)


def test_a_file_of_bounds_is_a_file_of_features(convert, tmp_path):
    assert convert(features="feature,lower,upper\nskip,0,1\n").code == 0
    assert [f.name for f in read(tmp_path / "study").features] == ["skip"]


def test_a_feature_may_be_called_like_a_role_of_gaze(convert, tmp_path):
    text = "name,lower,upper,column\nx,0,1000,fix.dur\npupil,0,1,skip\n"
    assert convert(features=text).code == 0
    assert read(tmp_path / "study").data.columns[-2:] == ["x", "pupil"]


def test_quoted_names_with_commas_are_columns(convert, tmp_path):
    features = 'name,lower,upper,column\nraw,0,9,"x, raw"\n'
    done = convert(features=features, said=["--map", 'person=subject,label_raw="x, raw"'])
    assert done.code == 0, done.err
    assert read(tmp_path / "study").data["raw"].unique().to_list() == [3.0]


def test_a_table_without_a_person_is_refused(convert):
    done = convert(said=["--map", "task=condition"], table=trials().replace("subject", "who", 1))
    assert done.code == 2
    assert "name the column with --map person=COLUMN; it has the columns who" in done.err


def test_an_attribute_that_differs_within_a_person_is_refused(convert):
    done = convert(said=["--map", "person=subject,attributes=condition"])
    assert done.code == 2
    assert "has several values of attribute 'condition' (easy, hard)" in done.err


def test_rows_of_the_same_time_are_refused_with_what_to_do(convert):
    done = convert(said=["--map", "person=subject,task=condition,time=age"])
    assert done.code == 2
    assert "rows 1 and 2 are both person 'Maria 0', task 'easy'" in done.err
    assert "--map recording=COLUMN" in done.err


def test_a_number_without_a_unit_is_an_order(convert, tmp_path):
    table = "subject,n,fix.dur,skip\na,2,250,0.2\na,1,150,0.1\nb,1,100,0.3\nb,2,90,0.1\n"
    done = convert(table=table, said=["--map", "person=subject,time=n"])
    assert done.code == 0, done.err
    rows = read(tmp_path / "study").data.partition_by("person", maintain_order=True)
    # Pseudonyms come in an order of their own.
    assert sorted(each["duration"].to_list() for each in rows) == [[100.0, 90.0], [150.0, 250.0]]


def test_tsv_parquet_and_folders_of_tables_are_read_alike(eyelid, convert, source, tmp_path):
    assert convert().code == 0
    expected = read(tmp_path / "study").data
    table = pl.read_csv(source)
    features = tmp_path / "features.csv"
    (tmp_path / "tsv").mkdir()
    table.write_csv(tmp_path / "tsv" / "trials.tsv", separator="\t")
    (tmp_path / "parquet").mkdir()
    table.write_parquet(tmp_path / "parquet" / "trials.parquet")
    (tmp_path / "folder").mkdir()
    for name in ("easy", "hard"):
        part = table.filter(pl.col("condition") == name)
        part.write_csv(tmp_path / "folder" / f"{name}.csv")
    # The file of features may lie beside the tables.
    (tmp_path / "folder" / "features.csv").write_text(FILE)
    for name in ("tsv/trials.tsv", "parquet/trials.parquet", "folder"):
        if name == "folder":
            features = tmp_path / "folder" / "features.csv"
        out = tmp_path / f"out-{name.split('/')[0]}"
        done = eyelid("convert", tmp_path / name, out, *MAP, "--features", features)
        assert done.code == 0, done.err
        assert "1 of 30 values of duration" in done.err
        found = read(out).data.drop("person").sort(pl.all())
        assert found.equals(expected.drop("person").sort(pl.all())), name


def test_two_files_of_the_same_tasks_are_told_apart_by_their_names(eyelid, source, tmp_path):
    folder = tmp_path / "sessions"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"session{number}.csv").write_text(source.read_text())
    words = ["convert", folder, tmp_path / "study", *MAP, "--features", tmp_path / "features.csv"]
    done = eyelid(*words)
    assert done.code == 2
    assert "are both recording 'easy'" in done.err
    done = eyelid(*words, "--map", "file=session{recording}")
    assert done.code == 0, done.err
    assert read(tmp_path / "study").data.select("person", "recording").n_unique() == 20


@pytest.mark.parametrize("said", [[], ["--map", "person=subject"]])
@pytest.mark.parametrize("measure", ["fix.dur", "duration_ms"])
def test_a_table_without_gaze_leads_to_features(eyelid, source, tmp_path, said, measure):
    source.write_text(f"subject,age,{measure}\na,20,250\nb,21,300\n")
    for command in (["convert", source, tmp_path / "out"], ["inspect", source]):
        done = eyelid(*command, *said)
        assert done.code == 2
        assert "--features features.csv" in done.err
        assert "name,unit,lower,upper,definition" in done.err
        assert ",UNIT,LOWER,UPPER," in done.err


def test_the_way_to_features_keeps_the_task_that_was_said(eyelid, source, tmp_path):
    done = eyelid("convert", source, tmp_path / "out", "--map", "person=subject,task=condition")
    assert done.code == 2
    assert "--map person=subject,task=condition --features features.csv" in done.err


def test_a_study_folder_has_its_features_already(eyelid, convert, tmp_path):
    assert convert().code == 0
    features = tmp_path / "features.csv"
    done = eyelid("convert", tmp_path / "study", tmp_path / "o", "--features", features)
    assert done.code == 2
    assert "--features is for a csv, tsv or Parquet table" in done.err


@pytest.mark.parametrize("rows", [0, 1.5, "few"])
def test_a_planned_number_of_rows_is_whole(convert, rows):
    done = convert(said=[*MAP, "--map", f"planned_rows={rows}"])
    assert done.code == 2
    assert "planned_rows must be a" in done.err


@pytest.mark.usefixtures("quick_audits")
@pytest.mark.parametrize(
    "options",
    [
        ["--mechanism", "laplace", "--epsilon", "1"],
        ["--mechanism", "ksame", "--set", "k=2"],
        ["--mechanism", "groupmean", "--epsilon", "1"],
        ["--mechanism", "synthetic", "--epsilon", "4", "--set", "carry=1"],
    ],
    ids=lambda options: options[1],
)
def test_trials_of_one_row_go_from_csv_to_a_release_and_its_audit(
    eyelid, convert, tmp_path, options
):
    done = convert(
        table=trials(people=4, rows=2), said=[*MAP, "--map", "recording=fix.dur,planned_rows=1"]
    )
    assert done.code == 0, done.err
    assert json.loads((tmp_path / "study" / "study.json").read_text())["planned_rows"] == 1
    assert eyelid("inspect", tmp_path / "study").code == 0
    done = eyelid("cost", tmp_path / "study", *options, "--json")
    assert done.code == 0, done.err
    done = eyelid("release", tmp_path / "study", tmp_path / "out", *options)
    assert done.code == 0, done.err
    done = eyelid("audit", tmp_path / "study", tmp_path / "out", "--json")
    assert done.code == 0, done.err


def test_trials_of_one_row_are_compared(eyelid, convert, tmp_path):
    assert convert(said=[*MAP, "--map", "planned_rows=3"]).code == 0
    done = eyelid("compare", tmp_path / "study", "--mechanisms", "ksame", "--json")
    assert done.code == 0, done.err


@pytest.mark.parametrize("time", ["", ",time=trial"])
def test_trials_that_are_numbered_anew_in_each_task_are_recordings_of_their_own(
    eyelid, convert, tmp_path, time
):
    rows = [
        f"s{person},{task},{trial},{200 + 300 * (task == 'hard') + person}"
        for person in range(6)
        for task in ("easy", "hard")
        for trial in range(3)
    ]
    table = "\n".join(["subject,condition,trial,fix.dur", *rows, ""])
    said = ("--map", f"person=subject,task=condition,recording=trial{time}")
    features = "\n".join(FILE.splitlines()[:2]) + "\n"
    done = convert(features=features, table=table, said=said)
    assert "several tasks" not in done.err
    study = read(tmp_path / "study")
    assert study.data.select("person", "recording").n_unique() == len(rows)
    eyelid("release", tmp_path / "study", tmp_path / "out", "--mechanism", "ksame", "--set", "k=3")
    means = read(tmp_path / "out").data.group_by("task").agg(pl.col("duration").mean())
    assert dict(means.rows()) == pytest.approx({"easy": 202.5, "hard": 502.5})


def test_tasks_that_differ_in_spelling_alone_are_refused(convert):
    table = trials().replace("Maria 1,easy,", "Maria 1,Easy ,")
    done = convert(table=table)
    assert done.code == 2
    assert "tasks 'easy' and 'Easy ' differ only in how their names are written" in done.err


@pytest.mark.parametrize("missing", ["#N/A", "#NULL!", "NULL", "NA", "N/A"])
def test_what_a_spreadsheet_writes_for_nothing_is_missing(convert, tmp_path, missing):
    lines = trials().splitlines()
    cells = lines[1].split(",")
    cells[5] = missing
    done = convert(table="\n".join([lines[0], ",".join(cells), *lines[2:], ""]))
    assert done.code == 0
    assert read(tmp_path / "study").data["duration"].null_count() == 1


def test_entries_of_a_list_in_json_are_told_to_count_from_one(eyelid, tmp_path):
    (tmp_path / "gaze.json").write_text(
        "\n".join(f'{{"user": "u{n}", "t": {n}, "dir": [0.0, 0.1, 1.0]}}' for n in range(3))
    )
    said = "person=user,gaze_x=dir.0,gaze_y=dir.1,gaze_z=dir.2"
    done = eyelid("inspect", tmp_path / "gaze.json", "--map", said)
    assert "entries of a list count from 1: the first is 'dir.1'" in done.err
    bare = eyelid("inspect", tmp_path / "gaze.json", "--map", "person=user").err
    assert "such as 'NAME,UNIT,LOWER,UPPER" in bare


@pytest.mark.parametrize("command", ["lint", "budget"])
def test_commands_that_only_tell_can_be_quiet(command, eyelid, convert, tmp_path):
    convert()
    done = eyelid(command, tmp_path / "study", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")

"""Folders of recordings: whose they are is said, never guessed."""

import os
import zipfile

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.io import read
from eyelid.io.convert import convert
from eyelid.io.layout import NOTHING_SAID
from eyelid.io.recordings import joined

MAP = {"units": "px", "file": "{person}_{task}"}


@pytest.fixture
def recordings(tmp_path):
    folder = tmp_path / "recordings"
    folder.mkdir()
    for person in ("ann", "bob"):
        for task in ("comic", "newspaper"):
            rows = "\n".join(f"{10 * i},{i},{i + 1}" for i in range(5))
            (folder / f"{person}_{task}.csv").write_text(f"time_ms,x,y\n{rows}\n")
    (folder / "README.md").write_text("about these")
    return folder


def test_a_folder_becomes_one_study(recordings):
    study = read(recordings, MAP)
    keys = study.data.select("person", "recording", "task").unique(maintain_order=True)
    assert keys.rows() == [
        ("ann", "comic", "comic"),
        ("ann", "newspaper", "newspaper"),
        ("bob", "comic", "comic"),
        ("bob", "newspaper", "newspaper"),
    ]
    assert study.rate_hz == 100.0
    assert study.people["person"].to_list() == ["ann", "bob"]


def test_files_that_do_not_say_whose_they_are_are_refused(recordings):
    with pytest.raises(InputError, match="does not say whose it is"):
        read(recordings, "units=px")


def test_a_single_file_is_one_persons(recordings):
    study = read(recordings / "ann_comic.csv", "units=px")
    assert study.people["person"].to_list() == ["ann_comic"]


@pytest.mark.parametrize(
    "text",
    [
        "participant,gender,age\nann,f,30\nbob,m,41\n",
        "participant_id\tgender\tage\nsub-ann\tf\t30\nsub-bob\tm\t41\n",
        "gender,age,Participant_ID\nf,30,ann\nm,41,bob\n",
    ],
    ids=["csv", "BIDS", "last"],
)
def test_attributes_come_from_a_csv(recordings, text):
    people = recordings / "people.csv"
    people.write_text(text)
    study = read(recordings, MAP | {"people": people})
    assert study.people.rows() == [("ann", "f", 30), ("bob", "m", 41)]


def test_people_who_are_in_no_recording_are_no_match(recordings):
    people = recordings / "people.csv"
    people.write_text("person,gender\n1,f\n2,m\n")
    with pytest.raises(InputError, match=r"nobody in .*people\.csv"):
        read(recordings, MAP | {"people": people})


def test_two_files_of_the_same_recording_are_named(recordings):
    with pytest.raises(InputError, match=r"ann_comic\.csv and .*ann_newspaper\.csv are both"):
        read(recordings, {"units": "px", "file": "{person}_*", "task": "x", "recording": "x"})


def test_one_bad_file_is_named_and_the_rest_is_kept_only_when_asked(recordings):
    (recordings / "bob_diary.csv").write_text("time_ms,x,y\n0,one,two\n")
    with pytest.raises(
        InputError, match=r"bob_diary\.csv.*one of 5 files.*--skip-unreadable of convert"
    ):
        read(recordings, MAP)
    study = read(recordings, MAP, skip_unreadable=True)
    assert study.data.select("person", "recording").n_unique() == 4
    assert any("left out" in note and "bob_diary.csv" in note for note in study.notes)


EMPTY = {
    "csv": "time_ms,x,y\n",
    "tsv": "time_ms\tx\ty",
    "no byte": "",
    "Tobii": "Recording timestamp\tSensor\tGaze point X\tGaze point Y\n",
    "GazePoint": "MEDIA_ID,TIME(2023/01/01 10:00:00.000),BPOGX,BPOGY,BPOGV\n",
}


@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY)
def test_whoever_has_no_rows_counts_all_the_same(recordings, tmp_path, content):
    (recordings / "bea_comic.txt").write_text(content)
    study = read(recordings, MAP)
    assert study.people["person"].to_list() == ["ann", "bea", "bob"]
    assert study.rate_hz == 100.0
    (row,) = study.data.filter(person="bea").to_dicts()
    assert row["task"] == "comic"
    assert (row["x"], row["y"]) == (None, None)
    (note,) = study.notes
    assert "1 of 5 files has no rows (bea_comic.txt), and counts as a recording" in note
    done = convert(recordings, tmp_path / "out", map=MAP, keep_names=True)
    assert done.study.data.equals(study.data)
    assert done.head.notes[0] == note


def test_a_file_without_rows_makes_no_task_of_its_own(recordings, tmp_path):
    for file in recordings.glob("*.csv"):
        task = pl.lit(file.stem.split("_")[1]).alias("task")
        pl.read_csv(file).with_columns(task).write_csv(file)
    (recordings / "bea_1.csv").write_text("time_ms,x,y,task\n")
    said = {"units": "px", "file": "{person}_{recording}"}
    study = read(recordings, said)
    assert study.data.filter(person="bea")["task"].to_list() == ["comic"]
    done = convert(recordings, tmp_path / "out", map=said, keep_names=True)
    assert done.study.data.drop("recording").equals(study.data.drop("recording"))


def test_a_file_without_rows_that_does_not_say_whose_it_is_is_named(recordings, tmp_path):
    for file in recordings.glob("*.csv"):
        person, table = file.name.split("_")[0], pl.read_csv(file)
        table.with_columns(pl.lit(person).alias("participant_id")).write_csv(file)
    (recordings / "bea_comic.csv").write_text("participant_id,time_ms,x,y\n")
    with pytest.raises(InputError, match=r"bea_comic\.csv has a header and no rows, and does not"):
        read(recordings, "units=px")
    done = convert(recordings, tmp_path / "out", map="units=px", skip_unreadable=True)
    assert len(done.head.people) == 2
    assert "its person would be missing" in done.head.notes[-1]


def test_files_of_which_none_has_rows_are_no_study(tmp_path):
    for name in ("ann.csv", "bob.csv"):
        (tmp_path / name).write_text("time_ms,x,y\n")
    with pytest.raises(InputError, match=r"ann\.csv has no rows, nor has any other of 2 files"):
        read(tmp_path, "units=px,file={person}")


def test_people_of_whom_no_file_can_be_read_are_told(recordings):
    (recordings / "bea_comic.csv").write_text("time_ms,x,y\n0,one,two\n")
    study = read(recordings, MAP, skip_unreadable=True)
    assert study.notes[-1].startswith("1 person has no other file (bea), and will be missing")


def test_a_folder_without_anything_readable(tmp_path):
    with pytest.raises(InputError, match="has no recordings"):
        read(tmp_path)
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    with pytest.raises(InputError, match="it is binary"):
        read(tmp_path, "file={person}")
    with pytest.raises(InputError, match="none of the 1 files"):
        read(tmp_path, "file={person}", skip_unreadable=True)


def test_gaze_off_the_screen_is_a_remark_and_a_little_of_it_is_none(recordings):
    for name in ("ann", "bob"):
        rows = "".join(f"{i},{1500 if i < 2 else 100},100\n" for i in range(10))
        (recordings / f"{name}_comic.csv").write_text(f"time_ms,x,y\n{rows}")
    comic = MAP | {"glob": "*_comic.csv"}
    (note,) = read(recordings, comic | {"screen": "1024x768"}).notes
    assert note.startswith("20% of gaze lies off the screen of 1024 × 768 px")
    assert read(recordings, comic | {"screen": "1920x1080"}).notes == ()


def test_the_reason_of_most_files_is_not_hidden_behind_a_stray_one(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    for name in "bcd":
        (tmp_path / f"{name}.csv").write_text("time_ms,x,y\n5,1,2\n4,1,2\n3,1,2\n")
    with pytest.raises(
        InputError, match=r"b\.csv.*backwards.*and 2 more like it\); .*it is binary"
    ):
        read(tmp_path, "file={person}", skip_unreadable=True)


def test_a_glob_chooses_files(recordings):
    study = read(recordings, MAP | {"glob": "*_comic.csv"})
    assert study.data["task"].unique().to_list() == ["comic"]


def test_rates_that_differ_are_noted_and_none_is_claimed(recordings):
    (recordings / "bob_comic.csv").write_text("time_ms,x,y\n0,1,1\n2,1,1\n4,1,1\n")
    study = read(recordings, MAP)
    assert study.rate_hz is None
    assert any("rates differ" in note for note in study.notes)


def test_units_that_differ_are_refused(recordings):
    (recordings / "bob_comic.csv").write_text("time_ms,x_px,y_px\n0,1,1\n2,1,1\n")
    with pytest.raises(InputError, match="differ in units"):
        read(recordings, {"file": "{person}_{task}"})


def test_a_file_with_another_kind_of_row_is_refused(recordings):
    (recordings / "bob_comic.csv").write_text("time_ms,x,y,duration_ms\n0,1,1,5\n2,1,1,5\n")
    with pytest.raises(InputError, match="differ in kind"):
        read(recordings, MAP)


def test_degrees_need_geometry_and_say_so(recordings):
    with pytest.raises(InputError, match=r"degrees need to know screen \(its size in px\)"):
        read(recordings, MAP, units="deg")
    geometry = "screen=1000x500,screen_m=1x0.5,distance_m=0.5,xy_origin=top-left"
    study = read(recordings, f"units=px,file={{person}}_{{task}},{geometry}", units="deg")
    assert (study.units, study.xy_origin) == ("deg", "centre")
    assert study.data["x"][0] == pytest.approx(-45.0)


def test_other_units_than_degrees_are_not_made(recordings):
    with pytest.raises(InputError, match="unknown units to turn x and y into 'px'"):
        read(recordings, MAP, units="px")


def test_nothing_makes_no_study():
    with pytest.raises(InputError, match="nothing to read"):
        joined([], NOTHING_SAID)


def test_events_are_found_in_the_better_eye(tmp_path):
    from eyelid.gaze.events import gaze_of

    data = pl.DataFrame(
        {
            "time_ms": [float(i) for i in range(4)] * 2,
            "eye": ["left"] * 4 + ["right"] * 4,
            "x": [None, None, 1.0, 1.0, 2.0, 2.0, None, 2.0],
            "y": [0.0] * 8,
        }
    )
    data.write_csv(tmp_path / "a.csv")
    study = read(tmp_path / "a.csv", "units=deg")
    assert [recording.eye for recording, _ in gaze_of(study)] == ["right"]


def test_a_pattern_does_not_swallow_the_people_of_a_file(recordings):
    (recordings / "bob_comic.csv").write_text("person,time_ms,x,y\n1,0,1,1\n2,0,1,1\n")
    with pytest.raises(InputError, match=r"bob_comic\.csv holds several people \(1, 2"):
        read(recordings, MAP)


def test_a_rate_that_changes_inside_a_file_is_not_claimed(tmp_path):
    rows = [f"a,{i},1,1" for i in range(50)] + [f"b,{2 * i},1,1" for i in range(20)]
    (tmp_path / "P1.csv").write_text("\n".join(["recording,time_ms,x,y", *rows, ""]))
    study = read(tmp_path / "P1.csv", "units=px")
    assert study.rate_hz is None
    assert "rates differ: 500 to 1000 Hz" in study.notes


def test_a_row_of_units_under_the_header_is_called_that(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("time,x,y\nms,px,px\n0,1,2\n16,2,3\n")
    with pytest.raises(InputError, match=r"looks like a row of units.*header=no,skip_lines=2"):
        read(file, "units=px")
    said = "units=px,header=no,skip_lines=2,time=1,x=2,y=3,time_unit=ms"
    assert read(file, said).data["time_ms"].to_list() == [0.0, 16.0]


def test_a_first_row_that_is_no_unit_is_not_called_one(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("time,x,y\n0,lost,2\n16,2,3\n")
    with pytest.raises(InputError, match=r"is 'lost', no number$"):
        read(file, "units=px,time_unit=ms")


@pytest.mark.parametrize(
    ("column", "step"),
    [
        ("timestamp_us", 16_000),
        ("timestamp_ns", 16_000_000),
        ("timestamp_s", 0.016),
        ("timestamp_ms", 16),
        ("time_us", 16_000),
        ("Timestamp [us]", 16_000),
    ],
)
def test_a_time_stamp_with_its_unit_in_its_name_is_time(tmp_path, column, step):
    file = tmp_path / "a.csv"
    file.write_text(f"{column},x,y\n0,1,2\n{step},2,3\n")
    assert read(file, "units=px").data["time_ms"].to_list() == pytest.approx([0.0, 16.0])


@pytest.mark.parametrize(
    ("name", "inside", "advice"),
    [
        ("a.zip", "r.csv", "unpack it"),
        ("a.xlsx", "xl/workbook.xml", "export its sheet as csv"),
        ("a.npz", "x.npy", "write them as columns"),
    ],
)
def test_what_is_packed_gets_advice(tmp_path, name, inside, advice):
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        archive.writestr(inside, b"\0" * 100)
    with pytest.raises(InputError, match=advice):
        read(tmp_path / name)


def test_one_file_is_not_one_of_one(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.dat").write_bytes(b"\0\0\0")
    with pytest.raises(InputError, match=r"it is binary\)$"):
        read(tmp_path / "in")


def test_how_many_files_were_skipped_is_said(tmp_path):
    (tmp_path / "in").mkdir()
    for name in "ab":
        (tmp_path / "in" / f"{name}.csv").write_text("time_ms,x,y\n0,1,2\n16,2,3\n")
    (tmp_path / "in" / "c.csv").write_bytes(b"\0\0\0")
    study = read(tmp_path / "in", "units=px,file={person}", skip_unreadable=True)
    assert "1 of 3 files could not be read, and are left out" in study.notes


def test_nobody_is_lost_in_silence_with_a_link_that_leads_nowhere(tmp_path):
    """Whoever had a pipe, a device or a broken link for a recording was left out without a word."""
    raw = tmp_path / "raw"
    raw.mkdir()
    for person in ("p1", "p2"):
        (raw / f"{person}.csv").write_text("time_ms,x,y\n0,1,1\n10,1,2\n")
    said = {"file": "{person}", "units": "px"}
    assert read(raw, said).people["person"].to_list() == ["p1", "p2"]
    (raw / "p3.csv").symlink_to(tmp_path / "not fetched.csv")
    os.mkfifo(raw / "p4.csv")
    with pytest.raises(InputError, match=r"cannot read .*p3\.csv"):
        read(raw, said)
    told = " ".join(read(raw, said, skip_unreadable=True).notes)
    assert "2 of 4 files could not be read" in told
    assert "2 people have no other file (p3, p4)" in told
    (raw / "p5.csv").symlink_to(raw / "p5.csv")
    with pytest.raises(InputError, match="cannot read 3 of 5 files"):
        convert(raw, tmp_path / "out", map=said)
    done = convert(raw, tmp_path / "out", map=said, skip_unreadable=True)
    assert "3 people have no other file (p3, p4, p5)" in " ".join(done.head.notes)


def test_an_empty_file_that_does_not_tell_its_stimulus_is_told_of(tmp_path):
    """Its record has another stimulus than everybody's, which showed that the file was empty."""
    raw = tmp_path / "raw"
    raw.mkdir()
    for person in ("p1", "p2"):
        (raw / f"{person}.csv").write_text("time_ms,x,y,stimulus\n0,1,1,A\n10,1,2,A\n")
    (raw / "p3.csv").write_text("")
    (note,) = read(raw, "file={person},units=px").notes
    assert "1 of them does not say which stimulus was shown" in note
    names = tmp_path / "names.csv"
    names.write_text("file,person,stimulus\np1.csv,p1,A\np2.csv,p2,A\np3.csv,p3,A\n")
    study = read(raw, {"names": names, "units": "px"})
    assert study.data["stimulus"].unique().to_list() == ["A"]
    assert not any("stimulus" in note for note in study.notes)


def test_the_recording_of_an_empty_file_is_not_left_behind(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "p1.csv").write_text("time_ms,x,y\n0,1,1\n10,1,2\n")
    (tmp_path / "raw" / "p2.csv").write_text("")
    done = convert(tmp_path / "raw", tmp_path / "out", map="file={person},units=px")
    assert (done.recordings, done.removed) == (2, ())

"""Leaks are found wherever they stand, and shown with what convert does about them."""

import contextlib
import gzip
import json
import os
import sqlite3
import zipfile

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import write
from eyelid.io.lint import leaks_of, lint
from eyelid.releases.release import release

ASC = """** CONVERTED FROM D:\\data\\ann.edf using edfapi 4.2
** DATE: Wed Jul  5 13:13:12 2023
** TYPE: EDF_FILE BINARY EVENT SAMPLE TAGGED
** VERSION: EYELINK II 1
** SERIAL NUMBER: CLU-DBC07
**
MSG\t100 DISPLAY_COORDS 0 0 1279 1023
MSG\t100 participant looked tired
START\t100 \tLEFT\tSAMPLES\tEVENTS
SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2
100\t 64.3\t 41.5\t 28.0\t...
101\t 64.3\t 41.5\t 28.0\t...
END\t102 \tSAMPLES
"""
TOBII = (
    "Recording timestamp [ms]\tParticipant name\tRecording name\tRecording date\t"
    "Recording start time\tRecording duration\tGaze point X\tGaze point Y\n"
    "0\tAnn\tRecording 1\t2023-07-05\t13:13:12.000\t1324752\t100\t200\n"
    "17\tAnn\tRecording 1\t2023-07-05\t13:13:12.000\t1324752\t101\t201\n"
)
SMI = (
    "## [iView]\n## Converted from:\tD:\\IDF\\n3296\\salmov1.idf\n## Date:\t03.08.2009 11:50:02\n"
    "## Sample Rate:\t50\n## Subject:\tsalmov1\n"
    "Time\tType\tTrial\tL POR X [px]\tL POR Y [px]\n"
    "1000\tSMP\t1\t10.0\t20.0\n21000\tSMP\t1\t11.0\t21.0\n"
)
NEON = (
    "timestamp [ns],gaze x [px],gaze y [px]\n"
    "1689081190000000000,1.0,2.0\n1689081190005000000,1.0,2.0\n"
)
GAZEPOINT = (
    "MEDIA_ID,MEDIA_NAME,TIME(2021/07/13 09:21:09.801),BPOGX,BPOGY,BPOGV,\n"
    "0,page,0.01,0.5,0.5,1,\n0,page,0.02,0.5,0.5,1,\n"
)


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (ASC, {"where a file came from", "a date or time of day", "a serial number", "free text"}),
        (TOBII, {"a name", "a date or time of day", "a precise recording length"}),
        (SMI, {"where a file came from", "a date or time of day", "a name"}),
        (NEON, {"a date or time of day"}),
        (GAZEPOINT, {"a date"}),
        ("time_ms,x,y,worker_id\n0,1,2,A2MJ8CN0P4XQ1Z\n", {"a crowd worker's id"}),
        ("time_ms,x,y,remark\n0,1,2,see ann@lab.example\n", {"an e-mail address"}),
    ],
    ids=["eyelink", "tobii", "smi", "neon", "gazepoint", "worker", "mail"],
)
def test_what_each_format_leaks(tmp_path, content, kinds):
    path = tmp_path / "P1"
    path.write_text(content)
    found = lint(path)
    assert kinds <= {finding.what for finding in found}
    assert all(finding.where and finding.remedy for finding in found)


@pytest.mark.parametrize("name", ["ann@lab.example.csv", "P1_2023-07-05.csv"])
def test_names_of_files_leak(tmp_path, name):
    path = tmp_path / name
    path.write_text("time_ms,x,y\n0,1,2\n")
    assert any(finding.where.endswith("its name") for finding in lint(path))


def test_gzip_headers_leak(tmp_path):
    path = tmp_path / "P1"
    with open(path, "wb") as file, gzip.GzipFile("ann_lee.csv", "wb", fileobj=file) as packed:
        packed.write(b"time_ms,x,y\n0,1,2\n")
    found = {finding.value for finding in lint(path) if "gzip" in finding.where}
    assert found == {"time of packing", "ann_lee.csv"}
    path.write_bytes(gzip.compress(b"time_ms,x,y\n0,1,2\n", mtime=0))
    assert not [finding for finding in lint(path) if "gzip" in finding.where]


def test_a_clean_table_has_no_findings(tmp_path):
    path = tmp_path / "P1"
    path.write_text("person,recording,time_ms,x,y,label_event\n1,1,0,1,2,fixation\n")
    assert lint(path) == []


def test_a_simulated_study_has_no_findings(tmp_path, simulated):
    write(simulated, tmp_path / "study")
    assert lint(tmp_path / "study") == []


def test_many_of_a_kind_are_counted_and_shown_a_few_times(tmp_path, eyelid):
    rows = "".join(f"{i},1,2,p{i}@lab.example\n" for i in range(50))
    (tmp_path / "P1").write_text("time_ms,x,y,remark\n" + rows)
    assert len(lint(tmp_path / "P1")) == 50
    assert "… 47 more" in eyelid("lint", tmp_path / "P1").out


def test_a_damaged_file_does_not_hide_what_the_others_give_away(tmp_path):
    packed = gzip.compress(b"person,time,x,y\n" + b"1,1,2,3\n" * 5000)
    (tmp_path / "1.csv.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "2.csv").write_text("time,x,y,mail\n1,2,3,ann@lab.example\n")
    found = {finding.where: finding.what for finding in lint(tmp_path)}
    assert found["2.csv, column mail"] == "an e-mail address"
    assert found["1.csv.gz"] == "not looked at: it cannot be read"
    (tmp_path / "2.csv").unlink()
    with pytest.raises(InputError, match="end-of-stream"):
        lint(tmp_path)


def test_what_cannot_be_read_is_still_looked_at(tmp_path):
    (tmp_path / "list.csv").write_text("who,mail\nann,ann@lab.example\n")
    rest, mail = lint(tmp_path / "list.csv")
    assert mail.what == "an e-mail address"
    # A person who reads the list must not take it for all there is.
    assert "no study could be read" in rest.what
    assert "columns say nothing known" in rest.value


def test_the_command_exits_with_1_when_it_found_something(tmp_path, eyelid, simulated):
    (tmp_path / "export.tsv").write_text(TOBII)
    done = eyelid("lint", tmp_path / "export.tsv")
    assert done.code == 1
    assert "Participant name" in done.out
    shown = json.loads(eyelid("lint", tmp_path / "export.tsv", "--json").out)
    assert not shown["clean"]
    assert {"where", "what", "value", "remedy", "severity"} == set(shown["findings"][0])
    write(simulated, tmp_path / "study")
    done = eyelid("lint", tmp_path / "study", "--json")
    assert (done.code, json.loads(done.out)["findings"]) == (0, [])


def test_what_cannot_be_read_is_an_error_and_no_finding(tmp_path, eyelid):
    (tmp_path / "a.txt").write_text("hello")
    assert eyelid("lint", tmp_path / "a.txt").code == 2


def test_real_files_leak_what_their_vendors_write(real_data):
    samples = real_data / "vendor_samples"
    if not samples.exists():
        pytest.skip("vendor_samples is not in EYELID_DATA")
    eyelink = {f.what for f in lint(samples / "eyelink" / "sp_tool_binocular_1000hz.asc")}
    assert {"where a file came from", "a date or time of day", "a serial number"} <= eyelink
    lab = lint(samples / "tobii" / "GazePlotter_TobiiProLab_testMobileTsvData.tsv")
    columns = {f.where.rsplit("column ")[-1] for f in lab}
    named = {"Participant name", "Recording name", "Recording start time", "Recording duration"}
    assert named <= columns
    smi = {f.what for f in lint(samples / "smi" / "sp_tool_iview_50hz_Samples.txt")}
    assert {"where a file came from", "a date or time of day", "a name"} <= smi


def test_a_large_parquet_file_is_looked_at_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr("eyelid.io.text_columns.ROWS_AT_ONCE", 3)
    note = ["nothing"] * 8 + ["by ann@x.example", "nothing"]
    rows = {"person": ["P1"] * 10, "word": note, "utc_time": [1.7e12 + i for i in range(10)]}
    pl.DataFrame(rows).write_parquet(tmp_path / "gaze.parquet")
    found = {(finding.where, finding.what) for finding in leaks_of(tmp_path / "gaze.parquet", None)}
    assert found == {
        ("gaze.parquet, column word", "an e-mail address"),
        ("gaze.parquet, column utc_time", "a date or time of day"),
    }


def test_an_audit_that_lies_in_what_is_shared_is_found_under_any_name(tmp_path):
    """Earlier versions wrote audits, made of raw data, into the release itself."""
    folder = tmp_path / "private"
    rows = {"person": ["1"], "recording": ["1"], "time_ms": [0.0], "x": [1.0], "y": [1.0]}
    people = pl.DataFrame({"person": ["1"]})
    write(Study("samples", pl.DataFrame(rows), people, units="deg"), folder)
    assert lint(folder) == []
    figures = '{"schema": "eyelid/audit/1", "identification": [{"rate": 0.95}]}'
    page = "<!doctype html>\n<html>\n<head>\n<title>eyelid audit: These data name people</title>"
    (folder / "sub").mkdir()
    for name, text in {"audit.json": figures, "report.html": page, "sub/old.htm": page}.items():
        (folder / name).write_text(text)
    found = {finding.where: finding for finding in lint(folder)}
    assert set(found) == {"audit.json", "report.html", "sub/old.htm"}
    for finding in found.values():
        assert "figures of raw data" in finding.what
        assert "remove it" in finding.remedy


def test_a_wide_table_of_short_rows_is_not_held_cell_by_cell(tmp_path, monkeypatch):
    """9,000 columns and rows of three cells were as many cells in memory as columns times rows."""
    header = "time_ms,x,y,email," + ",".join(f"c{number:x}" for number in range(9_000))
    rows = "".join(f"{number},1,2\n" for number in range(1_000))
    (tmp_path / "P1.csv").write_text(f"{header}\n{rows}0,1,2,,see ann@lab.example\n")

    def held(*_):
        raise AssertionError("columns are held")

    monkeypatch.setattr("eyelid.io.file_leaks.text_columns", held)
    found = {(finding.where, finding.what) for finding in leaks_of(tmp_path / "P1.csv", None)}
    assert found == {
        ("P1.csv", "an e-mail address"),
        ("P1.csv, column email", "an e-mail address"),
    }


def test_a_key_of_json_is_not_repeated_with_each_of_its_leaves(tmp_path):
    """A key of 100 kB over 100,000 leaves was 10 GB."""
    leaves = {f"a{number}": f"p{number}@lab.example" for number in range(50)}
    deep = {"k" * 20_000: {"l" * 20_000: {"m" * 20_000: leaves}}}
    (tmp_path / "about.json").write_text(json.dumps(deep))
    found = leaks_of(tmp_path / "about.json", None)
    assert len(found) == 50
    assert max(len(finding.where) for finding in found) < 300
    assert found[7].where.endswith(".a7")


def test_what_stands_in_a_key_of_json_leaks_too(tmp_path):
    (tmp_path / "about.json").write_text('{"people": {"ann@lab.example": true, "b.c": {"dob": 1}}}')
    found = {(finding.where, finding.what) for finding in leaks_of(tmp_path / "about.json", None)}
    assert found == {
        ("about.json, people.ann@lab.example", "an e-mail address"),
        ("about.json, people.b.c.dob", "a date or time of day"),
    }


def test_the_name_of_a_column_is_not_repeated_with_each_of_its_values(tmp_path):
    """A name of 400 kB and 20,000 dates took a minute."""
    dates = [f"2023-01-{number % 28 + 1:02d} {number}" for number in range(50)]
    pl.DataFrame({"c" * 20_000: dates}).write_parquet(tmp_path / "P1.parquet")
    found = leaks_of(tmp_path / "P1.parquet", None)
    assert found
    assert max(len(finding.where) for finding in found) < 200


SECRET = "name,email,date\nAnna Mueller,anna.mueller@lab.example,2024-03-05\n"
MAIL = "anna.mueller@lab.example"


def zipped(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("names.csv", SECRET * 100)


def sqlite(path):
    with contextlib.closing(sqlite3.connect(path)) as book:
        book.execute("create table crowd(person)")
        book.execute("insert into crowd values(?)", [MAIL])
        book.commit()


HIDING = {
    "originals.zip": zipped,
    "old.db": sqlite,
    ".names.csv": lambda path: path.write_text(SECRET),
    ".raw/names.csv": lambda path: path.write_text(SECRET),
    "utf-16.csv": lambda path: path.write_bytes(SECRET.encode("utf-16-le")),
    "utf-16-be.csv": lambda path: path.write_bytes(SECRET.encode("utf-16-be")),
    "nul.csv": lambda path: path.write_bytes(SECRET.encode() + b"\0"),
    "nul.csv.gz": lambda path: path.write_bytes(gzip.compress(SECRET.encode() + b"\0", mtime=0)),
}


@pytest.mark.parametrize("name", HIDING)
def test_originals_that_hide_in_a_release_are_found(name, tmp_path, features_folder, eyelid):
    """They lay in files that lint did not look into, and it called the release clean."""
    release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    done = eyelid("lint", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    assert "Its certificate, which is of these data, says" in done.out
    (tmp_path / "out" / name).parent.mkdir(exist_ok=True)
    HIDING[name](tmp_path / "out" / name)
    assert eyelid("lint", tmp_path / "out").code == 1
    found = lint(tmp_path / "out")
    strange = ".raw/" if name.startswith(".raw") else name
    assert (strange, "what no release has") in {(each.where, each.what) for each in found}
    unseen = {each.where for each in found if each.what.startswith("not looked at")}
    assert unseen == (set() if "names.csv" in name else {name})
    if name != "originals.zip":
        assert MAIL in {each.value for each in found}


def test_what_no_release_has_is_found_among_its_parts(tmp_path, features_folder, monkeypatch):
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 300)
    release(features_folder, tmp_path / "out", mechanism="laplace", epsilon=1.0)
    assert (tmp_path / "out" / "data.parquet").is_dir()
    assert lint(tmp_path / "out") == []
    os.mkfifo(tmp_path / "out" / "pipe")
    (tmp_path / "out" / "data.parquet" / "raw.bak").write_text("1")
    found = {each.where for each in lint(tmp_path / "out")}
    assert found == {"pipe", "data.parquet/raw.bak"}


def test_hidden_files_of_recordings_are_looked_at(tmp_path):
    (tmp_path / "P1.csv").write_text("time_ms,x,y\n0,1,2\n10,1,2\n")
    (tmp_path / ".names.csv").write_text(SECRET)
    (found,) = {each.where for each in lint(tmp_path, {"units": "px"}) if each.value == MAIL}
    assert found.startswith(".names.csv")


def test_a_large_binary_file_is_searched_up_to_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr("eyelid.io.file_leaks._MOST_BINARY", 100_000)
    noise = bytes(range(256)) * 300
    (tmp_path / "a.bin").write_bytes(noise + MAIL.encode() + noise * 10 + b"bob@lab.example")
    found = {each.value for each in leaks_of(tmp_path / "a.bin", None)}
    assert found == {"", MAIL}


@pytest.mark.parametrize("said", ["Serial number SN0043217", "HMD-77 SN0043217", "S/N: 77-A1234"])
def test_a_serial_number_in_words_is_found(said, tmp_path):
    rows = [{"user": f"u{n}", "x": n, "y": 1, "device": said} for n in range(3)]
    (tmp_path / "gaze.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "gaze.csv").write_text(f"x,y,device\n1,2,{said}\n2,2,{said}\n")
    found = {(each.where, each.what) for each in lint(tmp_path)}
    assert ("gaze.jsonl, device", "a serial number") in found
    assert ("gaze.csv, column device", "a serial number") in found


def test_words_that_are_no_serial_number_are_none(tmp_path):
    (tmp_path / "P1.csv").write_text("time_ms,x,y,says\n0,1,2,serial position 12\n1,2,2,SN 2021\n")
    assert not [each for each in lint(tmp_path) if each.what == "a serial number"]


def test_a_number_of_a_user_is_no_name(tmp_path):
    (tmp_path / "gaze.csv").write_text("person,time_ms,x,y\nu000,0,1,2\nu001,0,1,2\n")
    found = {each.what for each in lint(tmp_path / "gaze.csv", {"units": "px"})}
    assert "what may be a name" not in found

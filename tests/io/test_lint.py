"""Leaks are found wherever they stand, and shown with what convert does about them."""

import gzip
import json

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import write
from eyelid.io.lint import leaks_of, lint

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
    # Whoever reads the list must not take it for all there is.
    assert "no study could be read" in rest.what
    assert "columns say nothing known" in rest.value


def test_the_command_exits_with_1_when_it_found_something(tmp_path, eyelid, simulated):
    (tmp_path / "export.tsv").write_text(TOBII)
    done = eyelid("lint", tmp_path / "export.tsv")
    assert done.code == 1
    assert "Participant name" in done.out
    shown = json.loads(eyelid("lint", tmp_path / "export.tsv", "--json").out)
    assert not shown["clean"]
    assert {"where", "what", "value", "remedy"} == set(shown["findings"][0])
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
    monkeypatch.setattr("eyelid.io.lint.ROWS_AT_ONCE", 3)
    note = ["nothing"] * 8 + ["by ann@x.example", "nothing"]
    rows = {"person": ["P1"] * 10, "word": note, "utc_time": [1.7e12 + i for i in range(10)]}
    pl.DataFrame(rows).write_parquet(tmp_path / "gaze.parquet")
    found = {(finding.where, finding.what) for finding in leaks_of(tmp_path / "gaze.parquet", None)}
    assert found == {
        ("gaze.parquet, column word", "an e-mail address"),
        ("gaze.parquet, column utc_time", "a date or time of day"),
    }


@pytest.mark.parametrize("known", ["study.json", "certificate.json"])
def test_an_audit_that_lies_in_what_is_shared_is_found_under_any_name(tmp_path, known):
    """Earlier versions wrote audits, made of raw data, into the release itself."""
    folder = tmp_path / "private"
    if known == "study.json":
        rows = {"person": ["1"], "recording": ["1"], "time_ms": [0.0], "x": [1.0], "y": [1.0]}
        people = pl.DataFrame({"person": ["1"]})
        write(Study("samples", pl.DataFrame(rows), people, units="deg"), folder)
        (folder / "certificate.json").write_text('{"schema": "eyelid/certificate/1"}')
    else:
        folder.mkdir()
        (folder / "certificate.json").write_text('{"map": {}}')
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

"""Every file is looked at by itself, whether or not it is a recording."""

import gzip
import json
import os
import re
import shlex

import polars as pl
import pytest

from eyelid.io.leaks import LEAK, WARNING, leaks_in_name
from eyelid.io.lint import leaks_of, lint, looked_at

IDS = {
    "A2MJ8CN0P4XQ1Z_reading.json": "a crowd worker's id",
    "data_A2MJ8CN0P4XQ1Z.csv": "a crowd worker's id",
    "5f3c2a9b1e4d5f6a7b8c9d0e_1.txt": "a crowd worker's id",
    "P1_ann.smith@lab.example.csv": "an e-mail address",
    "smith_050723.asc": "a date",
    "rec20230705131312.csv": "a date or time of day",
    "rec_20230705131312.csv": "a date or time of day",
    "webcam-1646834400123.json": "a date or time of day",
    "s1234567.csv": "what may be a personal number",
    "20211234567_block1.csv": "what may be a personal number",
    "student_3045127.csv": "what may be a personal number",
    "9f86d081884c7d659a2f.csv": "a unique id",
    "k3J9x0Qp2Zr7.tsv": "a unique id",
    "3-Mar-2021_reading.csv": "a date",
    "smith_03Mar21.csv": "a date",
    "March_3_2021.txt": "a date",
    "p1_2021-Mrz-03.csv": "a date",
    "03.März.2021.csv": "a date",
    "03.Ma\u0308rz.2021.csv": "a date",
    "1er_mars_2021.csv": "a date",
    "03082009_read.csv": "a date or time of day",
    "01234567_read.csv": "what may be a personal number",
    "s0123456.csv": "what may be a personal number",
}
PLAIN = [
    *("p01", "sub-03", "subject12", "P1_R2", "Data_P10_R1", "S_1002_S1_TEX", "000123", "12"),
    *("sub-03_ses-2_task-reading_run-1_eyetrack", "s01r02t03b04", "session1trial12", "P01S02T3"),
    *("UH21_video_BergoDalbana_labelled_MN", "reading_1920x1080", "webgazer2023", "task_100101a"),
    *("GazePlotter_TobiiProLab_testMobileTsvData", "participants", "101112", "stimuli_v2_final"),
    *("0042_read", "0000123", "00012345", "trial_003", "sub-001", "000000397133", "marker12_2021"),
    *("12_marks_2021", "sept7_v12", "may", "3_decisions_1999", "maria_12", "junction3"),
    *("part-000017", "Experiment2B", "block12345", "eyetools_P107_Exp6_t_x_y_trial", "I2MC_TX300"),
]


@pytest.mark.parametrize("name", IDS)
def test_ids_in_names_of_files_that_are_no_recordings_are_found(tmp_path, name):
    """332 worker ids stood in names of files, and lint missed all of them."""
    what = IDS[name]
    assert what in dict(leaks_in_name(name))
    (tmp_path / name).write_text('{"answers": [1, 2]}' if name.endswith("json") else "hello\n")
    found = [(each.where, each.what) for each in lint(tmp_path)]
    assert (f"{name}, its name", what) in found
    (tmp_path / name).rename(tmp_path / "p1.txt")
    (tmp_path / name).mkdir()
    (tmp_path / "p1.txt").rename(tmp_path / name / "p1.txt")
    assert (f"{name}, its name", what) in [(each.where, each.what) for each in lint(tmp_path)]


@pytest.mark.parametrize("name", PLAIN)
def test_pseudonyms_and_tasks_in_names_of_files_are_no_leaks(name):
    assert list(leaks_in_name(f"{name}.csv")) == []
    assert list(leaks_in_name(name)) == []


def test_names_of_stimuli_are_long_numbers_without_a_person(tmp_path):
    assert list(leaks_in_name("1234567.png")) == []
    assert list(leaks_in_name("A2MJ8CN0P4XQ1Z.png"))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("t", [1646834400123, 1646834400156]),
        ("whatever", [1646834400123456, 1646834400156456]),
        ("ns", [1646834400123456789, 1646834400156456789]),
        ("timestamp", [1646834400.123, 1646834400.156]),
        ("ts", [1646834400, 1646834401, 1646834402]),
        ("unix", [1646834400, 1646934400]),
        ("session", [20220309, 20220310, 20220401]),
        ("when", ["2022-03-09T14:00:00Z", "2022-03-09T14:00:01Z"]),
        ("day", ["9.3.2022", "10.3.2022"]),
        ("began", ["9-Mar-2022", "March 10, 2022"]),
        ("begann", ["9. März 2022", "10. Dezember 2022"]),
        ("debut", ["9 de marzo de 2022", "1er août 2022"]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet", "txt"])
def test_absolute_times_are_found_in_any_file(tmp_path, column, values, ending):
    frame = pl.DataFrame({"trial": range(len(values)), column: values})
    path = tmp_path / f"answers.{ending}"
    if ending == "parquet":
        frame.write_parquet(path)
    elif ending == "json":
        path.write_text(json.dumps(frame.to_dicts()))
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    else:
        frame.write_csv(path, separator="," if ending == "csv" else "\t")
    found = [(each.where, each.what) for each in leaks_of(path, None)]
    assert any(column in where and what.startswith("a date") for where, what in found), found


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("Eyetracker timestamp", [1646834400, 1646838567, 1646842734]),
        ("time_us", [19991231, 20191231, 20200131]),
        ("x", [512.5, 640.0]),
        ("count", [20121231]),
        ("duration_ms", [16468, 16467]),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_counters_of_trackers_are_no_absolute_times(tmp_path, column, values, ending):
    values = [*values, *(value + 1500 for value in values)]
    frame = pl.DataFrame({"trial": range(len(values)), column: values})
    path = tmp_path / f"P1.{ending}"
    (frame.write_csv if ending == "csv" else frame.write_parquet)(path)
    assert leaks_of(path, None) == []


NOTES = """Thursday
P1 was late, call her back: ann.smith@lab.example
second session on 2023-07-05, see /home/smith/recordings

P2 fine
"""


@pytest.mark.parametrize("name", ["notes.txt", "NOTES.md", "notes"])
def test_text_that_is_no_table_is_read_to_the_end_of_each_line(tmp_path, name):
    """Words beyond the number of words in the first line were not looked at."""
    (tmp_path / name).write_text(NOTES)
    kinds = {each.what for each in leaks_of(tmp_path / name, None)}
    assert kinds == {"an e-mail address", "a date", "a path"}


def test_cells_beyond_the_last_column_are_looked_at(tmp_path):
    rows = "".join(f"{n},1,2\n" for n in range(200))
    (tmp_path / "P1.csv").write_text(f"time_ms,x,y\n{rows}200,1,2,see ann@lab.example\n{rows}")
    assert {each.value for each in leaks_of(tmp_path / "P1.csv", None)} == {"ann@lab.example"}


def test_numbers_of_any_size_do_not_stop_the_look_at_json(tmp_path):
    large = {"a": 10**400, "b": [float("nan"), float("inf")], "t": [1646834400123], "c": "x"}
    (tmp_path / "a.json").write_text(json.dumps(large))
    (found,) = leaks_of(tmp_path / "a.json", None)
    assert (found.where, found.value) == ("a.json, t", "1646834400123")


def test_a_line_that_is_no_json_hides_nothing_in_the_others(tmp_path):
    lines = ['{"a": 1}', "{broken bob@lab.example", '{"mail": "ann@lab.example"}']
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    found = {each.value for each in leaks_of(tmp_path / "log.jsonl", None)}
    assert found == {"ann@lab.example", "bob@lab.example"}


def test_who_recorded_an_eyelink_file_is_a_leak(tmp_path):
    line = "** RECORDED BY Ann Smith"
    (tmp_path / "P1.asc").write_text(f"{line}\n**\nMSG\t100 DISPLAY_COORDS 0 0 1279 1023\n")
    (found,) = leaks_of(tmp_path / "P1.asc", None)
    assert (found.what, found.value) == ("where a file came from", "Ann Smith")


def test_days_of_a_licence_are_no_leaks(tmp_path):
    text = "Licence\nVersion 3, of 29 June 2007\n\nEverybody may copy it and change it.\n"
    for name in ("LICENSE", "CHANGELOG.md"):
        (tmp_path / name).write_text(text)
        assert leaks_of(tmp_path / name, None) == []
    (tmp_path / "notes.txt").write_text(text)
    assert leaks_of(tmp_path / "notes.txt", None)


def test_convert_is_advised_only_where_it_reads_the_data(tmp_path, eyelid, monkeypatch):
    """A table that convert refused was to be mended by convert."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.csv").write_text("who,mail\nann,ann@lab.example\n")
    done = eyelid("lint", "list.csv")
    assert (done.code, "eyelid convert" in done.out) == (1, False)
    (tmp_path / "my gaze.csv").write_text("when,x,y,mail\n0,1,2,ann@lab.example\n10,1,2,\n")
    said = ["--map", "time=when,time_unit=ms,units=px"]
    done = eyelid("lint", "my gaze.csv", *said)
    assert done.code == 1
    advice = "eyelid convert 'my gaze.csv' study --map time=when,time_unit=ms,units=px"
    assert f"Mend it: {advice}" in done.out
    assert eyelid("convert", "my gaze.csv", "study", *said).code == 0
    assert eyelid("lint", "study").code == 0


def test_a_gate_does_not_pass_what_could_not_be_read(tmp_path, eyelid):
    """Full names in columns of a table that is no study were warnings alone."""
    people = [("Ann", "Orr"), ("Bo", "Ek"), ("Cy", "Fu"), ("Di", "Gom")]
    rows = "".join(f"{i},{a},{b},{20 + i}\n" for i, (a, b) in enumerate(people))
    (tmp_path / "participants.csv").write_text("participant,Vorname,Nachname,age\n" + rows)
    found = eyelid("lint", tmp_path)
    assert found.code == 1
    assert json.loads(eyelid("lint", tmp_path, "--json").out)["clean"] is False


@pytest.mark.parametrize(
    "column",
    [
        *("Vorname", "Nachname", "first_name", "Last name", "Surname", "Prénom", "nom de famille"),
        *("Apellidos", "cognome", "voornaam", "Achternaam", "Příjmení", "Фамилия", "subject_name"),
    ],
)
def test_names_are_found_by_what_columns_call_them(tmp_path, column):
    (tmp_path / "t.csv").write_text(f"trial,{column},rt\n1,Ann,300\n2,Bo,310\n")
    (found,) = leaks_of(tmp_path / "t.csv", None)
    assert (found.what, found.value, found.severity) == ("a name", "Ann", LEAK)
    (tmp_path / "t.csv").unlink()
    (tmp_path / "t.json").write_text(json.dumps([{"trial": 1, column: "Ann"}]))
    assert [each.what for each in leaks_of(tmp_path / "t.json", None)] == ["a name"]


@pytest.mark.parametrize("column", ["name", "nom", "nombre", "naam"])
def test_a_mere_name_is_somebodys_beside_what_only_people_have(tmp_path, column):
    def kinds(other, *values):
        rows = "".join(f"{value},{20 + at}\n" for at, value in enumerate(values))
        (tmp_path / "t.csv").write_text(f"{column},{other}\n{rows}")
        return [each.what for each in leaks_of(tmp_path / "t.csv", None)]

    assert kinds("age", "Ann", "Bo") == ["a name"]
    assert kinds("Geschlecht", "Ann", "Bo") == ["a name"]
    # Of pictures, and numbers of participants.
    assert kinds("width_px", "house", "tree") == []
    assert kinds("age", "P1", "P2") == []


AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/115.0"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("P1.csv", f'time_ms,x,y,user_agent\n0,1,2,"{AGENT}"\n10,1,2,\n'),
        ("P1.csv", f'time_ms,x,y,system\n0,1,2,"{AGENT}"\n10,1,2,\n'),
        ("P1.csv", "time_ms,x,y,browser,screen_width\n0,1,2,Chrome,1366\n10,1,2,Chrome,1366\n"),
        ("P1.json", json.dumps({"meta": {"userAgent": AGENT}, "rt": [1, 2]})),
        ("P1.json", json.dumps({"meta": {"browser": "Chrome", "screen": {"width": 1366}}})),
        ("log.txt", f"started\nby {AGENT} as every day\n\nall went well\n"),
    ],
)
def test_what_a_browser_tells_is_a_quasi_identifier(tmp_path, name, content):
    """The day in every Firefox's name for itself was a leak, and the name nothing."""
    (tmp_path / name).write_text(content)
    (found,) = leaks_of(tmp_path / name, None)
    assert (found.what, found.severity) == ("a quasi-identifier", WARNING)
    assert "browser" in found.value


def test_addresses_of_computers_are_leaks_and_versions_are_none(tmp_path):
    rows = "time_ms,x,y,from,version\n0,1,2,84.112.5.7,1.2.3.4\n10,1,2,2001:4860:4860::8888,\n"
    (tmp_path / "P1.csv").write_text(rows + "20,1,2,192.168.0.12,120.0.0\n")
    found = leaks_of(tmp_path / "P1.csv", None)
    assert [each.value for each in found] == ["84.112.5.7", "2001:4860:4860::8888"]
    assert {each.what for each in found} == {"an IP address"}
    (tmp_path / "P1.json").write_text('{"client": {"ip": "84.112.5.7"}}')
    assert [each.what for each in leaks_of(tmp_path / "P1.json", None)] == ["an IP address"]


GOOD = "time_ms,x,y\n" + "".join(f"{10 * i},{i},{i}\n" for i in range(20))


@pytest.mark.parametrize("blank", ["", " \n\n"])
def test_an_empty_file_is_named_and_the_others_are_looked_at(tmp_path, eyelid, blank):
    """One empty file hid what the study of the others gives away."""
    home = tmp_path / "recordings"
    home.mkdir()
    for name in ("p01", "p02", "p03"):
        (home / f"{name}.csv").write_text(GOOD)
    (home / "p04.csv").write_text(blank)
    (home / ".gitkeep").write_text("")
    said = ["--map", "file={person},units=px"]
    done = eyelid("lint", home, *said)
    assert done.code == 0
    assert "no leaks and 2 warnings" in done.out
    told = json.loads(eyelid("lint", home, *said, "--json").out)
    # Whose file is empty counts, and is alone with its length.
    assert [(each["where"], each["what"]) for each in told["findings"]] == [
        ("p04.csv", "an empty file"),
        ("recordings, people", "a quasi-identifier"),
    ]
    (home / "ann.csv").write_text(GOOD)
    done = eyelid("lint", home, *said)
    assert done.code == 1
    assert "what may be a name" in done.out
    # What is not empty and cannot be read is no pass.
    (home / "ann.csv").write_text("hello\n")
    done = eyelid("lint", home, *said)
    assert done.code == 2
    assert "not every file could be read" in done.out
    for name in ("p01", "p02", "p03", "ann"):
        (home / f"{name}.csv").write_text(blank)
    assert eyelid("lint", home, *said).code == 2


def test_a_table_of_trials_is_looked_at_like_any_other(tmp_path, eyelid, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "features.csv").write_text("name,unit,lower,upper,definition\nrt,ms,0,999,time\n")
    header = "subject,task,rt,Datum,remark\n"
    rows = "".join(f"{who},read,300,{{}}\n" for who in ("anna", "bert", "cleo"))
    (tmp_path / "trials.csv").write_text(
        header + rows.format(*["3. Mai 2021,to ann@x.example"] * 3)
    )
    kinds = ["what may be a name"] * 3 + ["a date or time of day", "an e-mail address"]
    assert [each.what for each in leaks_of(tmp_path / "trials.csv", None)] == kinds
    said = ["--map", "person=subject,task=task", "--features", "features.csv"]
    done = eyelid("lint", "trials.csv", *said)
    assert done.code == 1
    (mend,) = re.findall("Mend it: (.*)", done.out)
    assert eyelid(*shlex.split(mend)[1:]).code == 0
    assert eyelid("lint", "study").code == 0
    # Numbers in the place of names, and nothing beside the measures.
    plain = "subject,task,rt\n" + "".join(f"p{n},read,300\n" for n in range(3))
    (tmp_path / "trials.csv").write_text(plain)
    assert eyelid("lint", "trials.csv", *said).code == 0
    assert eyelid("lint", "trials.csv").code == 2


@pytest.mark.parametrize("what", ["link", "circle", "pipe", "gzip"])
def test_what_cannot_be_opened_hides_no_leak_of_others(tmp_path, what):
    """It ended lint, or was passed over without a word."""
    for person in ("p1", "p2"):
        text = "time_ms,x,y,email\n" + "".join(f"{n},1,{n},ann@uni.at\n" for n in range(3))
        (tmp_path / f"{person}.csv").write_text(text)
    odd = tmp_path / "p3.csv"
    if what == "link":
        odd.symlink_to(tmp_path / "nowhere")
    elif what == "circle":
        odd.symlink_to(odd)
    elif what == "pipe":
        os.mkfifo(odd)
    else:
        odd.write_bytes(gzip.compress(b"time_ms,x,y\n" * 99)[:20])
    seen = looked_at(tmp_path, "file={person},units=px")
    assert {"p1.csv", "p2.csv"} <= {each.where.split(",")[0] for each in seen.leaks}
    assert "p3.csv" in {each.where for each in seen.findings}
    assert seen.unread

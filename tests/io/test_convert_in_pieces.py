"""Inputs larger than memory: the same output whoever works, and stopped runs go on."""

import errno
import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from eyelid.engine.engines import using
from eyelid.engine.runs import running, unfinished
from eyelid.errors import InputError
from eyelid.gaze.study import Study
from eyelid.io import read, write
from eyelid.io.convert import convert
from eyelid.io.lint import lint
from eyelid.io.reading import Place

TARGETS = ["study", "bids", "csv"]
MAP = "file={task}_{person},units=px"
PEOPLE = ["cydonia", "annabel", "P4", "roberta"]
# Columns of a file that hold a number in one and text in another, or are in one alone.
EXTRA = {"annabel": ("label_seen,eye", "yes,left"), "roberta": ("label_seen", "20230705")}
PIECE_VALUES, BUNDLE_BYTES = 700, 1


@pytest.fixture
def recordings(tmp_path):
    """Four people who did two things each, a file for each; whose files do not stand together."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    for number, person in enumerate(PEOPLE):
        names, values = EXTRA.get(person, ("label_seen", "7"))
        for task in ("comic", "diary"):
            rows = [f"{9000 + 10 * i},{i + number},{i % 7},{values}" for i in range(60)]
            text = "\n".join([f"time_ms,x,y,{names}", *rows, ""])
            (folder / f"{task}_{person}.csv").write_text(text)
    (folder / "README.md").write_text("recorded on 2021-03-04")
    return folder


@pytest.fixture
def small(monkeypatch):
    """Pieces of one person, and files that are given away one by one."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", PIECE_VALUES)
    monkeypatch.setattr("eyelid.io.many_files.BUNDLE_BYTES", BUNDLE_BYTES)


def content(folder: Path) -> dict[str, str]:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def left_beside(out: Path) -> list[str]:
    return [found.name for found in out.parent.iterdir() if found.name.startswith(".")]


@pytest.mark.parametrize("to", TARGETS)
def test_pieces_make_the_whole(recordings, tmp_path, monkeypatch, to):
    at_once = convert(recordings, tmp_path / "whole", to, MAP)
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", PIECE_VALUES)
    monkeypatch.setattr("eyelid.io.many_files.BUNDLE_BYTES", BUNDLE_BYTES)
    done = convert(recordings, tmp_path / "pieces", to, MAP)
    assert (done.rows, done.recordings, done.people_renamed) == (480, 8, 3)
    assert done.removed == at_once.removed
    assert done.study.data.equals(at_once.study.data)
    assert left_beside(tmp_path / "pieces") == []
    if to == "study":
        assert len(list((tmp_path / "pieces" / "data.parquet").iterdir())) == 4
        assert (tmp_path / "whole" / "data.parquet").is_file()
    else:
        assert lint(tmp_path / "pieces") == []
        assert content(tmp_path / "pieces") == content(tmp_path / "whole")


def test_what_was_read_at_once_is_written_the_same(recordings, tmp_path, small):
    study = convert(recordings, tmp_path / "out", map=MAP, keep_names=True).study
    raw = read(recordings, MAP)
    assert study.people["person"].to_list() == raw.people["person"].to_list()
    for name in ("person", "recording", "x", "eye"):
        assert study.data[name].equals(raw.data[name])
    # A number in one file is text beside the text of another, and gives a day away.
    assert raw.data["label_seen"].dtype == pl.String
    assert study.labels == []


def test_a_late_number_that_is_text_in_another_file_is_seen(recordings, tmp_path, small):
    for file in recordings.glob("*_roberta.csv"):
        file.unlink()
        seen = [20230705 if i == 50 else i % 5 for i in range(60)]
        times = pl.Series("time_ms", range(0, 600, 10))
        rows = pl.DataFrame(
            [times, times.alias("x"), times.alias("y"), pl.Series("label_seen", seen)]
        )
        rows.write_parquet(file.with_suffix(".parquet"))
    assert read(recordings, MAP).labels == ["label_seen"]
    assert convert(recordings, tmp_path / "out", map=MAP).study.labels == []


def test_two_processes_write_the_same(recordings, tmp_path, small, two_cores):
    convert(recordings, tmp_path / "two", map=MAP)
    with using("local", workers=1):
        convert(recordings, tmp_path / "one", map=MAP)
    assert content(tmp_path / "two") == content(tmp_path / "one")


@pytest.mark.parametrize("to", TARGETS)
def test_dask_writes_the_same(recordings, tmp_path, small, dask, to):
    convert(recordings, tmp_path / "here", to, MAP)
    with using(dask):
        convert(recordings, tmp_path / "dask", to, MAP)
    assert content(tmp_path / "dask") == content(tmp_path / "here")


@pytest.fixture
def study_folder(tmp_path):
    """Three people by name, whose pseudonyms come in another order, with events."""
    rows = [
        (person, task, task, "", 1e12 + 10.0 * i, float(i), i + 0.5)
        for person in ("cydonia", "annabel", "roberta")
        for task in ("comic", "diary")
        for i in range(50)
    ]
    names = ["person", "recording", "task", "stimulus", "time_ms", "x", "y"]
    data = pl.DataFrame(rows, names, orient="row")
    start = data.group_by("person", "recording", maintain_order=True).agg(pl.col("time_ms").min())
    events = start.select(
        "person",
        "recording",
        name=pl.lit("fixation"),
        onset_ms="time_ms",
        offset_ms=pl.col("time_ms") + 200.0,
        duration_ms=pl.lit(200.0),
    )
    people = data.select("person").unique(maintain_order=True)
    write(Study("samples", data, people, "deg", events=events), tmp_path / "named")
    return tmp_path / "named"


@pytest.mark.parametrize("to", TARGETS)
def test_a_study_folder_in_pieces(study_folder, tmp_path, monkeypatch, dask, to):
    whole = convert(study_folder, tmp_path / "whole", to)
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", PIECE_VALUES)
    with using(dask):
        done = convert(study_folder, tmp_path / "pieces", to)
    assert done.people_renamed == 3
    assert done.study.people["person"].to_list() == ["anon01", "anon02", "anon03"]
    assert done.study.data.equals(whole.study.data)
    assert done.study.events.equals(whole.study.events)
    assert done.study.people.equals(whole.study.people)
    if to == "study":
        assert len(list((tmp_path / "pieces" / "data.parquet").iterdir())) == 3
    else:
        assert content(tmp_path / "pieces") == content(tmp_path / "whole")


def test_degrees_in_pieces(study_folder, tmp_path, monkeypatch):
    about = json.loads((study_folder / "study.json").read_text())
    screen = {"width_px": 100, "height_px": 50, "width_m": 1, "height_m": 0.5, "distance_m": 0.5}
    about |= {"units": "px", "xy_origin": "top-left", "screen": screen}
    (study_folder / "study.json").write_text(json.dumps(about))
    whole = convert(study_folder, tmp_path / "whole", units="deg").study
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", PIECE_VALUES)
    done = convert(study_folder, tmp_path / "pieces", units="deg").study
    assert (done.units, done.xy_origin) == ("deg", "centre")
    assert done.data.equals(whole.data)


ASC = """MSG\t100 DISPLAY_COORDS 0 0 1279 1023
START\t100 \tLEFT\tSAMPLES\tEVENTS
SAMPLES\tGAZE\tLEFT\tRATE\t1000.00\tTRACKING\tCR\tFILTER\t2
{rows}
EFIX L   {start}\t{end}\t2\t  512.3\t  384.2\t    811
END\t300 \tSAMPLES\tEVENTS
"""


def test_events_of_many_files(tmp_path, small):
    folder = tmp_path / "recordings"
    folder.mkdir()
    for start, name in enumerate(["1_cydonia", "1_P2", "2_cydonia", "2_P2"], 100):
        rows = "\n".join(f"{start + i}\t 64.{i}\t 41.5\t 28.0\t..." for i in range(40))
        text = ASC.format(rows=rows, start=start + 3, end=start + 5)
        (folder / f"{name}.asc").write_text(text)
    done = convert(folder, tmp_path / "out", map="file={recording}_{person}").study
    fixations = done.events.filter(pl.col("name") == "fixation")
    assert fixations.select("person", "recording").rows() == [
        ("P2", "1"),
        ("P2", "2"),
        ("anon01", "1"),
        ("anon01", "2"),
    ]
    assert fixations["onset_ms"].to_list() == [3.0] * 4
    assert len(list((tmp_path / "out" / "data.parquet").iterdir())) == 2


KILLED = f"""
import os, signal, sys
from pathlib import Path
from eyelid.engine.engines import using
from eyelid.engine.runs import Run
from eyelid.io import many_files, pieces
from eyelid.io.convert import convert

source, out, to, map, wanted, count = sys.argv[1:]
pieces.PIECE_VALUES, many_files.BUNDLE_BYTES = {PIECE_VALUES}, {BUNDLE_BYTES}
put, left = Run.put, int(count)

def counted(run, path, write):
    global left
    if path.match(wanted):
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
    return put(run, path, write)

Run.put = counted
with using("local", workers=1):
    convert(source, out, to, map)
"""


def killed(source: Path, out: Path, to: str, wanted: str, after: int) -> None:
    """Convert, and be killed before one more of some files is put down."""
    words = [str(source), str(out), to, MAP, wanted, str(after)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == -9, done.stderr


@pytest.fixture
def files_read(monkeypatch):
    """The names of all files that are read."""
    names = []

    def noted(place, path):
        names.append(path.stem)
        return read_file(place, path)

    read_file = Place.read_file
    monkeypatch.setattr(Place, "read_file", noted)
    return names


def test_a_killed_run_goes_on_without_reading_again(recordings, tmp_path, small, files_read):
    killed(recordings, tmp_path / "out", "study", "file-*.json", 3)
    assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="an unfinished run of other data or settings"):
        convert(recordings, tmp_path / "out", "csv", MAP)
    convert(recordings, tmp_path / "out", map=MAP)
    assert sorted(files_read) == ["comic_roberta", *(f"diary_{name}" for name in sorted(PEOPLE))]
    assert left_beside(tmp_path / "out") == []
    convert(recordings, tmp_path / "again", map=MAP)
    assert content(tmp_path / "out") == content(tmp_path / "again")


@pytest.mark.parametrize(
    ("to", "wanted"),
    [("study", "part-*.parquet"), ("csv", "data-*.csv"), ("bids", "*_physio.json")],
)
def test_a_run_that_was_killed_while_writing_goes_on(
    recordings, tmp_path, small, files_read, to, wanted
):
    killed(recordings, tmp_path / "out", to, wanted, 2)
    home = unfinished(tmp_path / "out")
    written = {file: file.stat().st_ino for file in (home / "output").rglob(wanted)}
    convert(recordings, tmp_path / "out", to, MAP)
    assert files_read == []
    for file, number in written.items():
        assert (tmp_path / "out" / file.relative_to(home / "output")).stat().st_ino == number
    convert(recordings, tmp_path / "again", to, MAP)
    assert content(tmp_path / "out") == content(tmp_path / "again")


@pytest.mark.parametrize(("to", "number"), [("study", 3), ("study", 20), ("bids", 3)])
def test_a_full_disk_is_one_line_and_the_same_command_goes_on(
    recordings, tmp_path, small, monkeypatch, eyelid, to, number
):
    words = ["convert", recordings, tmp_path / "out", "--to", to, "--map", MAP]
    written = 0

    def full(frame, file, **settings):
        nonlocal written
        written += 1
        if written == number:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_parquet(frame, file, **settings)

    write_parquet = pl.DataFrame.write_parquet
    with monkeypatch.context() as patch:
        patch.setattr(pl.DataFrame, "write_parquet", full)
        failed = eyelid(*words)
    assert (failed.code, failed.err.count("\n")) == (2, 1)
    assert "No space left on device" in failed.err
    assert "the same command goes on" in failed.err
    assert not (tmp_path / "out").exists()
    assert eyelid(*words).code == 0
    convert(recordings, tmp_path / "again", to, MAP)
    assert content(tmp_path / "out") == content(tmp_path / "again")


def test_polars_tells_of_a_full_disk_in_its_own_way(recordings, tmp_path, small, monkeypatch):
    def full(frame, file, **settings):
        raise pl.exceptions.ComputeError("parquet: No space left on device (os error 28)")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
        convert(recordings, tmp_path / "out", map=MAP)


def test_two_runs_into_one_folder(recordings, tmp_path, eyelid):
    with running(tmp_path / "out", "another person's"):
        refused = eyelid("convert", recordings, tmp_path / "out", "--map", MAP)
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "another run is writing" in refused.err


def test_all_unreadable_files_are_named_at_once(recordings, tmp_path, small, dask):
    (recordings / "comic_annabel.csv").write_bytes(b"\x00\x01")
    (recordings / "diary_P4.csv").write_text("time_ms,x,y\n0,one,two\n")
    with using(dask), pytest.raises(InputError) as refused:
        convert(recordings, tmp_path / "out", map=MAP)
    said = str(refused.value)
    assert said.startswith("cannot read 2 of 8 files: ")
    assert "comic_annabel.csv is no recording" in said
    assert "diary_P4.csv" in said
    assert "--skip-unreadable" in said
    assert left_beside(tmp_path / "out") == []
    done = convert(recordings, tmp_path / "out", map=MAP, skip_unreadable=True)
    assert done.recordings == 6
    assert [note.partition(":")[0] for note in done.head.notes][1:] == ["left out"] * 2


@pytest.mark.parametrize("kind", ["cut gzip", "false gzip", "cut parquet"])
def test_a_damaged_file_can_be_left_out(recordings, tmp_path, small, kind):
    packed = bytearray(gzip.compress((recordings / "diary_P4.csv").read_bytes()))
    damaged = recordings / ("diary_P4.parquet" if kind == "cut parquet" else "diary_P4.csv.gz")
    if kind == "cut parquet":
        pl.DataFrame({"time_ms": [0.0], "x": [1.0], "y": [1.0]}).write_parquet(damaged)
        damaged.write_bytes(damaged.read_bytes()[:-20])
    else:
        # The last bytes hold a checksum.
        packed[-8] ^= kind == "false gzip"
        damaged.write_bytes(packed if kind == "false gzip" else packed[: len(packed) // 2])
    (recordings / "diary_P4.csv").unlink()
    with pytest.raises(InputError, match=r"diary_P4.*--skip-unreadable"):
        convert(recordings, tmp_path / "out", map=MAP)
    done = convert(recordings, tmp_path / "out", map=MAP, skip_unreadable=True)
    assert done.recordings == 7
    total, note = done.head.notes
    assert total.startswith("1 of 8 files could not be read")
    assert note.startswith("left out: ")


def test_many_unreadable_files_are_named_with_one_reason(recordings, tmp_path, small):
    bad = sorted(recordings.glob("*.csv"))[:7]
    for file in bad:
        file.write_text("time_ms,x,y\n0,one,two\n")
    with pytest.raises(InputError) as refused:
        convert(recordings, tmp_path / "out", map=MAP)
    assert all(file.name in str(refused.value) for file in bad)
    assert str(refused.value).count("'one'") == 1
    sorted(recordings.glob("*.csv"))[7].unlink()
    with pytest.raises(InputError, match="none of the 7 files"):
        convert(recordings, tmp_path / "out", map=MAP, skip_unreadable=True)


def test_rows_that_no_study_can_have_are_told_with_their_file(recordings, tmp_path, small):
    (recordings / "diary_P4.csv").write_text("time_ms,x,y\n0,1,2\n5,1,2\n5,2,3\n")
    with pytest.raises(InputError, match=r"diary_P4\.csv: .*more than one row at time_ms 5"):
        convert(recordings, tmp_path / "out", map=MAP, skip_unreadable=True)
    assert left_beside(tmp_path / "out") == []
    assert not (tmp_path / "recordings.ledger").exists()


def test_all_files_with_rows_that_no_study_can_have_are_named(recordings, tmp_path, small):
    for name in ("comic_P4", "diary_annabel"):
        file = recordings / f"{name}.csv"
        lines = file.read_text().splitlines()
        file.write_text("\n".join([*lines, lines[-1], ""]))
    with pytest.raises(InputError, match=r"^2 of 8 files are not .*comic_P4.csv.*diary_annabel"):
        convert(recordings, tmp_path / "out", map=MAP)
    assert not (tmp_path / "out").exists()


def test_the_output_may_stand_among_the_recordings(recordings, small, monkeypatch):
    monkeypatch.chdir(recordings)
    killed(Path(), Path("study"), "study", "part-*.parquet", 1)
    done = convert(".", "study", map=MAP)
    assert done.rows == 480
    assert sorted({finding.what for finding in done.removed}) == ["a date", "what may be a name"]


def test_the_command_with_an_engine_and_json(recordings, tmp_path, small, eyelid):
    words = ["convert", recordings, tmp_path / "out", "--map", MAP, "--engine", "local"]
    done = eyelid(*words, "--workers", "1", "--json", "--quiet")
    shown = json.loads(done.out)
    assert (shown["out"], shown["people"], shown["recordings"]) == (str(tmp_path / "out"), 4, 8)
    assert done.err == ""
    refused = eyelid("convert", recordings, tmp_path / "o", "--map", MAP, "--engine", "spark")
    assert "unknown engine 'spark'" in refused.err

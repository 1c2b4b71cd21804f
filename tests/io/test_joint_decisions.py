"""Nobody's rows decide how everybody else's are read: it is the same, or refused with a remedy."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Screen, Study, check
from eyelid.io import read

KEYS = ["person", "recording", "task", "time_ms"]


def _others(study: Study, replaced: str = "s00") -> pl.DataFrame:
    return study.data.filter(pl.col("person") != replaced)


def _table(folder: Path, *, restarts: bool, column: str = "task", **more: str) -> Path:
    """One table of three people, who do two tasks one after the other; no recording is named."""
    rows = []
    for number, person in enumerate(("s00", "s01", "s02")):
        time_ms = 0.0
        for name in ("comic", "newspaper") if number % 2 else ("newspaper", "comic"):
            if restarts and person == "s00":
                time_ms = 0.0
            for _ in range(4):
                rows.append({"person": person, column: name, **more, "time_ms": time_ms})
                time_ms += 300.0
    table = pl.DataFrame(rows).with_columns(duration_ms=200.0, x=5.0, y=pl.int_range(pl.len()))
    folder.mkdir()
    table.write_csv(folder / "gaze.csv")
    return folder / "gaze.csv"


def test_whose_clock_starts_anew_with_a_task_does_not_cut_others_recordings(tmp_path):
    goes_on, restarts = (
        read(_table(tmp_path / str(new), restarts=new), "units=px") for new in (False, True)
    )
    assert _others(goes_on).equals(_others(restarts))
    for study in (goes_on, restarts):
        takes = study.data.select("recording", "task").unique().sort("task")
        assert takes.rows() == [("comic", "comic"), ("newspaper", "newspaper")]


def test_whose_clock_starts_anew_with_a_stimulus_is_cut_alone(tmp_path):
    goes_on, restarts = (
        read(_table(tmp_path / str(new), restarts=new, column="stimulus"), "units=px")
        for new in (False, True)
    )
    assert _others(goes_on).equals(_others(restarts))
    assert _others(restarts)["recording"].unique().to_list() == ["gaze"]
    own = restarts.data.filter(pl.col("person") == "s00")
    assert own["recording"].unique(maintain_order=True).to_list() == ["newspaper", "comic"]


def test_tasks_within_a_recording_that_is_named_become_recordings_of_their_own(tmp_path):
    path = _table(tmp_path / "one", restarts=False, session="first")
    study = read(path, "units=px,recording=session")
    found = study.data.select("recording", "task").unique().sort("task").rows()
    assert found == [("first-comic", "comic"), ("first-newspaper", "newspaper")]


def test_a_folder_of_tables_keeps_its_files_apart(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("monday", "tuesday"):
        table = pl.read_csv(_table(tmp_path / name, restarts=False))
        table.write_csv(folder / f"{name}.csv")
    study = read(folder, "units=px")
    assert study.data["recording"].n_unique() == 4
    assert "monday-comic" in study.data["recording"]


def _files(folder: Path, *, pupil: tuple[str, ...] = ()) -> Path:
    folder.mkdir()
    for person in ("s00", "s01", "s02"):
        table = pl.DataFrame({"time_ms": [0, 16], "x": [1.0, 2.0], "y": [1.0, 2.0]})
        if person in pupil:
            table = table.with_columns(pupil=3.5)
        table.write_csv(folder / f"{person}.csv")
    return folder


def test_a_measure_that_one_file_has_is_given_to_nobody_unless_somebody_says(tmp_path):
    said = "units=px,file={person}"
    neighbours = _files(tmp_path / "a"), _files(tmp_path / "b", pupil=("s00",))
    read(neighbours[0], said)
    with pytest.raises(
        InputError, match=r"s00\.csv has pupil, and s01\.csv has not.*without=pupil"
    ):
        read(neighbours[1], said)
    one, other = (read(each, f"{said},without=pupil") for each in neighbours)
    assert one.data.equals(other.data)
    everybody = read(_files(tmp_path / "c", pupil=("s00", "s01", "s02")), said)
    assert "pupil" in everybody.data.columns


def test_a_file_without_rows_lacks_no_measure(tmp_path):
    folder = _files(tmp_path / "a", pupil=("s01", "s02"))
    (folder / "s00.csv").write_text("time_ms,x,y\n", encoding="utf-8")
    assert "pupil" in read(folder, "units=px,file={person}").data.columns


def test_what_is_left_out_must_be_a_measure(tmp_path):
    with pytest.raises(InputError, match="measure"):
        read(_files(tmp_path / "a"), "units=px,file={person},without=time")


def _eyelink(path: Path, width: int) -> None:
    lines = [
        f"MSG\t1000 DISPLAY_COORDS 0 0 {width - 1} 767",
        "START\t1000 \tRIGHT\tSAMPLES\tEVENTS",
        "SAMPLES\tGAZE\tRIGHT\tRATE\t 250.00\tTRACKING\tCR",
        *(f"{1000 + 4 * n}\t 200.0\t 200.0\t 900.0\t..." for n in range(5)),
        "END\t1020 \tSAMPLES\tEVENTS\tRES\t 30.0\t 30.0",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _screens(folder: Path, widths: tuple[int, ...]) -> Path:
    folder.mkdir()
    for number, width in enumerate(widths):
        _eyelink(folder / f"s0{number}.asc", width)
    return folder


def test_one_file_does_not_take_the_screen_from_everybody(tmp_path):
    said = "file={person}"
    alike, other = (
        _screens(tmp_path / "a", (1024,) * 3),
        _screens(tmp_path / "b", (1600, 1024, 1024)),
    )
    assert read(alike, said).screen == Screen(1024, 768)
    with pytest.raises(InputError, match=r"s00\.asc and s01\.asc differ in their screen"):
        read(other, said)
    for each in (alike, other):
        assert read(each, f"{said},screen=1024x768").screen == Screen(1024, 768)
        assert read(each, f"{said},screen=each").screen is None


def test_files_of_several_screens_become_degrees_each_by_its_own(tmp_path):
    said = "file={person},screen=each"
    folder = _screens(tmp_path / "b", (1600, 1024, 1024))
    with pytest.raises(InputError, match="degrees need to know"):
        read(folder, said, units="deg")


def _json(path: Path, **first: object) -> Path:
    """Trials of two people, one line each; the first has more besides."""
    gaze = [{"x": 1.0, "y": 2.0, "time_ms": 10.0 * n} for n in range(4)]
    pupils = [{**row, "pupil": 3.0} for row in gaze]
    trials = [
        {"person": "s00", "gaze": pupils if first.get("pupil") else gaze},
        {"person": "s01", "gaze": gaze},
    ]
    if first.get("mouse"):
        trials[0]["mouse"] = [{"x": 0.0, "y": 0.0, "time_ms": 1.0 * n, "b": 0} for n in range(40)]
    path.write_text(json.dumps(trials), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("more", "why"), [("pupil", "some people have 'pupil'"), ("mouse", "the longest is read")]
)
def test_one_persons_json_does_not_say_what_all_are_measured_by(tmp_path, more, why):
    assert len(read(_json(tmp_path / "a.json"), "units=px").data) == 8
    with pytest.raises(InputError, match=why):
        read(_json(tmp_path / "b.json", **{more: True}), "units=px")


def test_the_date_of_one_person_does_not_move_the_times_of_others():
    def study(began: datetime) -> Study:
        starts = {"s00": began, "s01": datetime(2026, 1, 1, 9)}
        rows = [
            (who, at + timedelta(microseconds=16_667 * n))
            for who, at in starts.items()
            for n in range(3)
        ]
        frame = pl.DataFrame(rows, schema=["person", "date"], orient="row")
        frame = frame.with_columns(x=1.0, y=1.0)
        return Study.from_frame(frame, person="person", time="date", units="px")

    one, other = study(datetime(2026, 1, 1, 8)), study(datetime(1901, 1, 1))
    assert _others(one).equals(_others(other))
    assert other.data["time_ms"].to_list() == [0.0, 16.667, 33.334] * 2


def _study(times: list[float], task: list[str] | None = None) -> Study:
    tasks = task or ["a"] * len(times)
    data = pl.DataFrame({"person": "s00", "recording": "1", "task": tasks, "time_ms": times})
    data = data.with_columns(stimulus=pl.lit(""), x=1.0, y=1.0)
    return Study("samples", data, pl.DataFrame({"person": ["s00"]}), units="px")


@pytest.mark.parametrize(
    ("last", "why"),
    [(1.7e12, "2 days"), (float("inf"), "no time"), (float("nan"), "no time"), (16.0, "")],
)
def test_a_time_stamp_that_is_none_is_refused_by_name(last, why):
    if not why:
        check(_study([0.0, last]))
        return
    with pytest.raises(InputError, match=rf"person s00, recording 1 .*{why}"):
        check(_study([0.0, last]))


def test_a_recording_of_several_tasks_does_not_count_for_the_first_in_silence():
    with pytest.raises(InputError, match="another task, 'b', than it began with"):
        check(_study([0.0, 1.0], ["a", "b"]))

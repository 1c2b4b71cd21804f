"""Events and features by pieces: what the whole study gives, whoever works and whatever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import polars as pl
import pytest

from eyelid.engine.engines import using
from eyelid.engine.runs import unfinished
from eyelid.errors import InputError
from eyelid.gaze.events import detect_events
from eyelid.gaze.features import event_features, window_features
from eyelid.gaze.features.windows import windows_and_omissions
from eyelid.gaze.simulator import SCREEN, simulate
from eyelid.gaze.study import Derivation
from eyelid.gaze.table import FeatureTable
from eyelid.io import (
    derivations as deriving,
)
from eyelid.io import (
    read,
    write,
)
from eyelid.io.derivations import derive_features
from eyelid.io.detection import derive_events
from eyelid.version import __version__

WINDOW = {"window_s": 10.0}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """One or two people each."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 25_000)


@pytest.fixture(scope="module")
def study():
    return simulate(people=5, tasks=("comic", "image"), minutes=0.3, seed=3)


@pytest.fixture
def folder(study, tmp_path):
    write(study, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture(params=["inline", "processes", "dask"])
def engine(request):
    """A person who can work; the first one in this very process."""
    if request.param == "processes":
        request.getfixturevalue("two_cores")
    with using(request.getfixturevalue("dask") if request.param == "dask" else "local"):
        yield request.param


def content(folder):
    """All that a study folder holds, byte for byte."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def in_one_process(make, *words):
    with using("local", 1):
        return make(*words)


def test_events_are_those_of_the_whole_study(study, folder, tmp_path, engine):
    made = derive_events(folder, tmp_path / "out", "ivt")
    written, whole = read(tmp_path / "out"), detect_events(study, "ivt")
    assert len(json.loads((tmp_path / "out" / "study.json").read_text())["parts"]) == 5
    assert written.events.equals(whole)
    assert written.data.equals(study.data)
    assert written.people.equals(study.people)
    assert written.origin == read(folder).origin
    assert (made.people, made.recordings, made.events) == (5, 10, whole.height)
    in_one_process(derive_events, folder, tmp_path / "again", "ivt")
    assert content(tmp_path / "out") == content(tmp_path / "again")


def test_windows_are_those_of_the_whole_study(study, folder, tmp_path, engine):
    made = derive_features(folder, tmp_path / "out", settings=WINDOW)
    whole = window_features(study, **WINDOW)
    written = FeatureTable.of(read(tmp_path / "out"))
    assert (tmp_path / "out" / "data.parquet").is_dir()
    assert written.data.equals(whole.data)
    assert written.features == made.features == whole.features
    assert (written.step_ms, written.window_ms) == (whole.step_ms, whole.window_ms)
    assert made.recordings.equals(whole.recordings)
    assert (made.rows, made.count, made.doubt) == ("windows", whole.data.height, None)
    in_one_process(derive_features, folder, tmp_path / "again", None, None, WINDOW)
    assert content(tmp_path / "out") == content(tmp_path / "again")


@pytest.mark.parametrize("kind", ["fixations", "saccades"])
def test_single_events_are_those_of_the_whole_study(study, folder, tmp_path, kind):
    derive_features(folder, tmp_path / "out", kind)
    assert read(tmp_path / "out").data.equals(event_features(study, kind).data)


def test_features_are_chosen_piece_by_piece_too(study, folder, tmp_path, monkeypatch):
    whole = window_features(study, **WINDOW).only("blink_rate")
    derive_features(folder, tmp_path / "all", settings=WINDOW)
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 5_000)
    made = derive_features(tmp_path / "all", tmp_path / "few", only=["blink_rate"])
    written = FeatureTable.of(read(tmp_path / "few"))
    assert (tmp_path / "few" / "data.parquet").is_dir()
    assert written.data.equals(whole.data)
    assert (written.features, written.window_ms) == (whole.features, 10_000.0)
    assert made.rows == "windows"


def on_a_screen(study):
    """Two eyes in pixels, no pupil of the first person, who has directions instead."""
    first = pl.col("person") == "P01"
    pixels = study.data.with_columns(pl.col("x") * 40, pl.col("y") * 40)
    data = pixels.with_columns(
        pupil=pl.when(~first).then("pupil"),
        gaze_x=pl.when(first).then(0.1),
        gaze_y=pl.when(first).then(0.2),
        gaze_z=pl.when(first).then(0.97),
    )
    eyes = pl.concat([data.with_columns(eye=pl.lit(eye)) for eye in ("left", "right")])
    both = eyes.with_columns(
        x=pl.when((pl.col("eye") == "left") & (pl.int_range(pl.len()) % 3 > 0))
        .then("x")
        .otherwise(pl.when(pl.col("eye") == "right").then("x"))
    )
    return study.derive(data=both, units="px", screen=SCREEN, events=None)


def into_space(study):
    """Directions of everybody but one, whose are all lost; nobody has places."""
    angle = np.radians(study.data["x"].fill_null(np.nan).to_numpy() - 22.0)
    lost = pl.col("person") == "P03"
    data = study.data.drop("x", "y").with_columns(
        gaze_x=pl.Series(np.sin(angle)).fill_nan(None),
        gaze_y=0.0,
        gaze_z=pl.Series(np.cos(angle)).fill_nan(None),
    )
    seen = [pl.when(~lost).then(name).alias(name) for name in ("gaze_x", "gaze_y", "gaze_z")]
    return study.derive(data=data.with_columns(seen), units=None, screen=None, events=None)


@pytest.mark.parametrize("changed", [on_a_screen, into_space])
def test_one_persons_data_do_not_decide_how_others_are_read(study, tmp_path, changed):
    write(changed(study), tmp_path / "study")
    whole = read(tmp_path / "study")
    derive_events(tmp_path / "study", tmp_path / "events")
    derive_features(tmp_path / "study", tmp_path / "windows", settings=WINDOW)
    assert read(tmp_path / "events").data.equals(whole.data)
    assert read(tmp_path / "events").events.equals(detect_events(whole))
    table = window_features(whole, **WINDOW)
    written = FeatureTable.of(read(tmp_path / "windows"))
    assert written.data.equals(table.data)
    assert written.features == table.features


def test_recordings_get_pseudonyms_before_they_are_cut(study, tmp_path):
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    names = ("Ada", "Bob", "Cyd", "Dan", "Eve")
    for name, person in zip(names, study.people["person"], strict=True):
        rows = study.data.filter(person=person, recording="comic")
        rows.select("time_ms", "x", "y").write_csv(recordings / f"{name} Doe_comic.csv")
    said = "file={person}_{task},units=deg,time_unit=ms"
    derive_events(recordings, tmp_path / "out", map=said)
    made = read(tmp_path / "out")
    people = made.people["person"].to_list()
    assert people == sorted(people) == made.data["person"].unique(maintain_order=True).to_list()
    assert not any("Doe" in person for person in people)
    assert made.events.equals(detect_events(made))


def test_counts_and_medians_are_exact(study, folder, tmp_path):
    made = derive_events(folder, tmp_path / "out")
    events = read(tmp_path / "out").events
    wanted = events.group_by("name", maintain_order=True).agg(
        pl.len(), pl.col("duration_ms").median()
    )
    assert [(kind.name, kind.count, kind.median_ms) for kind in made.kinds] == wanted.rows()


def test_the_slowest_recording_is_doubted_wherever_it_is(study, tmp_path):
    slow = pl.col("person") == "P04"
    data = study.data.filter(~slow | (pl.int_range(pl.len()) % 5 == 0))
    write(study.derive(data=data), tmp_path / "study")
    made = derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    assert "at down to 12 Hz" in made.doubt


def dying_once(marks, kind, only, settings, study):
    """Take the whole process along, the first time that a person in the middle comes up."""
    if "P03" in study.people["person"]:
        try:
            (marks / "died").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os._exit(9)
    return windows_and_omissions(study, **settings)


def counting(marks, kind, only, settings, study):
    (marks / study.people["person"][0]).touch(exist_ok=False)
    if study.people["person"][0] == "P04" and not (marks / "ended").exists():
        (marks / "ended").touch()
        raise KeyboardInterrupt
    return windows_and_omissions(study, **settings)


@pytest.mark.parametrize("engine", ["processes", "dask"], indirect=True)
def test_a_killed_worker_changes_nothing(folder, tmp_path, engine, monkeypatch):
    in_one_process(derive_features, folder, tmp_path / "whole", None, None, WINDOW)
    (tmp_path / "marks").mkdir()
    monkeypatch.setattr(deriving, "_table_of", partial(dying_once, tmp_path / "marks"))
    derive_features(folder, tmp_path / "out", settings=WINDOW)
    assert (tmp_path / "marks" / "died").exists()
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_a_stopped_run_goes_on_and_does_nothing_twice(folder, tmp_path, monkeypatch):
    derive_features(folder, tmp_path / "whole", settings=WINDOW)
    (tmp_path / "marks").mkdir()
    monkeypatch.setattr(deriving, "_table_of", partial(counting, tmp_path / "marks"))
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt) as stopped:
        derive_features(folder, out, settings=WINDOW)
    assert "goes on where this was stopped" in stopped.value.__notes__[0]
    assert not out.exists()
    with pytest.raises(InputError, match="unfinished run of other data or settings"):
        derive_features(folder, out, settings={"window_s": 12.0})
    (tmp_path / "marks" / "P04").unlink()
    derive_features(folder, out, settings=WINDOW)
    assert content(out) == content(tmp_path / "whole")
    assert not unfinished(out).exists()


def test_a_run_that_ended_but_for_the_last_step_takes_it(study, tmp_path, monkeypatch):
    slow = study.data.filter(pl.int_range(pl.len()) % 5 == 0)
    write(study.derive(data=slow), tmp_path / "study")
    whole = derive_features(tmp_path / "study", tmp_path / "whole", settings=WINDOW)

    def at_the_end(*paths):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("eyelid.engine.runs.settle", at_the_end)
        derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    again = derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    assert again.recordings.equals(whole.recordings)
    assert whole.doubt is not None
    assert again.doubt == whole.doubt
    assert content(tmp_path / "out") == content(tmp_path / "whole")


COORDINATOR = textwrap.dedent(
    """
    import sys, time
    from pathlib import Path
    from eyelid.engine import cores
    from eyelid.gaze.features.windows import windows_and_omissions
    from eyelid.io import derivations, pieces

    def slow(kind, only, settings, study):
        if "P04" in study.people["person"]:
            time.sleep(600)
        return windows_and_omissions(study, **settings)

    pieces.PIECE_VALUES = 25_000
    cores.cores = lambda: 1
    derivations._table_of = slow
    derivations.derive_features(Path(sys.argv[1]), Path(sys.argv[2]), settings={"window_s": 10.0})
    """
)


def test_a_killed_coordinator_is_taken_up_where_it_was(folder, tmp_path):
    derive_features(folder, tmp_path / "whole", settings=WINDOW)
    out = tmp_path / "out"
    parts = unfinished(out) / "output" / "data.parquet"
    coordinator = subprocess.Popen([sys.executable, "-c", COORDINATOR, folder, out])
    try:
        while len(list(parts.glob("part-*"))) < 3:
            assert coordinator.poll() is None
            time.sleep(0.02)
    finally:
        coordinator.send_signal(signal.SIGKILL)
        coordinator.wait()
    before = {part.name: part.stat().st_mtime_ns for part in parts.iterdir()}
    assert len(before) == 3
    derive_features(folder, out, settings=WINDOW)
    written = {part.name: part for part in (out / "data.parquet").iterdir()}
    assert {name: written[name].stat().st_mtime_ns for name in before} == before
    assert content(out) == content(tmp_path / "whole")


def short_of(study, person="P05"):
    """The study, one of whose people broke off after five seconds."""
    late = (pl.col("person") == person) & (pl.col("time_ms") > 5_000.0)
    return study.derive(data=study.data.filter(~late))


def test_recordings_that_do_not_do_leave_nothing_behind(study, tmp_path):
    write(study, tmp_path / "study")
    with pytest.raises(InputError, match=r"no recording can be summarised.*`window_s`"):
        derive_features(tmp_path / "study", tmp_path / "out", settings={"window_s": 1e5})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["study", "study.ledger"]
    derive_features(tmp_path / "study", tmp_path / "out", settings={"window_s": 4.0})


def test_one_recording_shorter_than_a_window_stops_nothing(study, tmp_path):
    write(short_of(study), tmp_path / "study")
    made = derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    everybody = study.data["person"].n_unique()
    assert made.people == everybody
    assert made.omitted.to_dict() == {
        "recordings": 2, "short": 2, "slow": 0, "empty": 0, "people": 1
    }  # fmt: skip
    assert "from the raw data, never in a release: 2 of 10 recordings" in made.left_out
    assert "1 person has no other, and counts all the same" in made.left_out
    table = FeatureTable.of(read(tmp_path / "out"))
    assert table.recordings["person"].n_unique() == everybody
    rows = table.data.filter(pl.col("person") == "P05").select(table.names).rows()
    assert [set(row) for row in rows] == [{None}] * 2
    others = window_features(study, **WINDOW).data.filter(pl.col("person") != "P05")
    assert table.data.filter(pl.col("person") != "P05").equals(others)


def test_who_broke_off_is_left_out_in_pieces_and_after_a_stop(study, tmp_path, monkeypatch):
    """A run that goes on counts what is left out of pieces that were done before."""
    monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 25_000)
    write(short_of(study), tmp_path / "study")

    def at_the_end(*paths):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("eyelid.engine.runs.settle", at_the_end)
        derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    made = derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    assert made.omitted.count == 2
    assert made.people == study.data["person"].n_unique()


def test_a_recording_of_a_few_samples_a_second_stops_nothing(study, tmp_path):
    """At 6 Hz the shortest fixation that detectors find has no two samples."""
    mine = pl.col("person") == "P05"
    slow = study.data.filter(~mine | (pl.int_range(pl.len()) % 10 == 0))
    write(study.derive(data=slow), tmp_path / "study")
    made = derive_features(tmp_path / "study", tmp_path / "out", settings=WINDOW)
    assert (made.omitted.short, made.omitted.slow) == (0, 2)
    assert "2 below 10 samples a second" in made.left_out
    assert made.doubt is None, "what is left out is no doubt about the rest"
    write(study.derive(data=slow.filter(mine)), tmp_path / "slow")
    with pytest.raises(InputError, match="no fixation can be told at such a rate"):
        derive_features(tmp_path / "slow", tmp_path / "none", settings=WINDOW)


def test_a_recording_without_an_event_stops_nothing(study, tmp_path):
    still = study.data.with_columns(
        pl.when(pl.col("person") == "P05").then(None).otherwise(pl.col("x")).alias("x")
    )
    write(study.derive(data=still), tmp_path / "study")
    made = derive_features(tmp_path / "study", tmp_path / "out", "saccades")
    assert made.omitted.empty == 2
    assert made.people == study.data["person"].n_unique()


def test_min_seconds_sets_the_limit(study, tmp_path):
    write(short_of(study), tmp_path / "study")
    few = derive_features(
        tmp_path / "study", tmp_path / "few", settings={"window_s": 4.0}, min_seconds=6.0
    )
    assert few.omitted.short == 2
    assert few.left_out.count("shorter than 6 s") == 1
    all_of_them = derive_features(tmp_path / "study", tmp_path / "all", settings={"window_s": 4.0})
    assert all_of_them.omitted.count == 0
    with pytest.raises(InputError, match="min_seconds must be at least 10, the length of one"):
        derive_features(tmp_path / "study", tmp_path / "no", settings=WINDOW, min_seconds=6.0)


def test_a_derived_study_says_how_it_was_made(study, tmp_path):
    write(study, tmp_path / "study")
    settings = {**WINDOW, "method": "ivt", "threshold_per_s": 25.0}
    derive_features(tmp_path / "study", tmp_path / "out", settings=settings, min_seconds=11.0)
    derived = read(tmp_path / "out").derived
    assert derived == Derivation(
        "windows", "ivt", {"threshold_per_s": 25.0}, 11.0, 10.0, 0.5, __version__
    )
    derive_features(tmp_path / "out", tmp_path / "fewer", only=["blink_rate"])
    assert read(tmp_path / "fewer").derived == derived


def test_a_full_disk_leaves_what_was_done(folder, tmp_path, monkeypatch):
    whole = derive_events(folder, tmp_path / "whole")
    given = pl.DataFrame.write_parquet
    count = iter(range(100))

    def full(frame, file, **options):
        if next(count) == 5:
            raise OSError(28, "No space left on device")
        return given(frame, file, **options)

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    out = tmp_path / "out"
    with pytest.raises(InputError, match="No space left on device") as stopped:
        derive_events(folder, out)
    assert "goes on" in stopped.value.__notes__[0]
    assert derive_events(folder, out) == whole
    assert content(out) == content(tmp_path / "whole")


def test_a_part_that_is_not_what_was_written_is_named(folder, tmp_path):
    derive_events(folder, tmp_path / "parts")
    part = tmp_path / "parts" / "data.parquet" / "part-000002.parquet"
    spoilt = bytearray(part.read_bytes())
    spoilt[len(spoilt) // 2] ^= 255
    part.write_bytes(spoilt)
    with pytest.raises(InputError, match=r"1 of 5 parts .*part-000002.parquet: its content is not"):
        derive_features(tmp_path / "parts", tmp_path / "out", settings=WINDOW)
    assert not (tmp_path / "out").exists()


def test_a_file_that_breaks_off_in_the_middle_is_named(folder, tmp_path):
    file = folder / "data.parquet"
    spoilt = bytearray(file.read_bytes())
    schema = pl.read_parquet_schema(file)
    assert list(schema)[5] == "x"
    # The keys, which are looked at first, are at the beginning; gaze is after them.
    middle = len(spoilt) // 2
    spoilt[middle : middle + 4000] = bytes(4000)
    file.write_bytes(spoilt)
    with pytest.raises(InputError, match=r"cannot read .*data.parquet"):
        derive_features(folder, tmp_path / "out", settings=WINDOW)
    assert not (tmp_path / "out").exists()

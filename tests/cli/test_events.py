"""``eyelid events`` as a person meets it."""

from __future__ import annotations

import json

import polars as pl
import pytest

from eyelid.gaze.events import detect_events
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write


@pytest.fixture
def study_folder(tmp_path):
    write(simulate(people=2, tasks=("comic",), minutes=0.5, seed=3), tmp_path / "study")
    return tmp_path / "study"


@pytest.mark.parametrize("method", ["robust", "ivt", "idt", "ek", "is5t"])
def test_writes_the_study_with_other_events(eyelid, study_folder, tmp_path, method):
    done = eyelid("events", study_folder, tmp_path / "out", "--method", method)
    assert done.code == 0, done.err
    before, after = read(study_folder), read(tmp_path / "out")
    assert after.data.equals(before.data)
    assert after.events.equals(detect_events(before, method))
    assert f"{len(after.events):,} events of 2 recordings by {method}" in done.out


def test_the_new_study_is_counted_with_the_old_one(eyelid, study_folder, tmp_path):
    assert eyelid("events", study_folder, tmp_path / "out").code == 0
    assert read(tmp_path / "out").origin == read(study_folder).origin
    features = tmp_path / "features"
    assert eyelid("features", tmp_path / "out", features, "--window", 10).code == 0
    words = ["--mechanism", "gaussian", "--epsilon", "1"]
    assert eyelid("release", features, tmp_path / "private", *words).code == 0
    assert json.loads(eyelid("budget", study_folder, "--json").out)["releases"] == 1


def test_settings_reach_the_detector(eyelid, study_folder, tmp_path):
    words = ["--method", "ivt", "--set", "threshold_per_s=90", "--set", "velocity=neighbors"]
    assert eyelid("events", study_folder, tmp_path / "out", *words).code == 0
    found = detect_events(read(study_folder), "ivt", threshold_per_s=90.0, velocity="neighbors")
    assert read(tmp_path / "out").events.equals(found)


def test_recordings_are_scrubbed_and_people_get_pseudonyms(eyelid, study_folder, tmp_path):
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    data = read(study_folder).data
    for name, person in (("Ada Lovelace", "P01"), ("Alan Turing", "P02")):
        rows = data.filter(pl.col("person") == person).select("time_ms", "x", "y")
        rows.write_csv(recordings / f"{name}_comic.csv")
    said = ["--map", "file={person}_{task}", "--map", "units=deg,time_unit=ms"]
    done = eyelid("events", recordings, tmp_path / "out", *said)
    assert done.code == 0, done.err
    made = read(tmp_path / "out")
    people = set(made.people["person"])
    assert set(made.events["person"]) == set(made.data["person"]) == people
    assert not any("Ada" in person or "Turing" in person for person in people)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--method", "itv"], "unknown method 'itv': did you mean 'ivt'?"),
        (["--set", "threshold=30"], "unknown setting of robust 'threshold': did you mean"),
        (["--set", "method=ivt"], "unknown setting of robust 'method'"),
        (["--set", "units=px"], "unknown setting of robust 'units'"),
        (["--set", "threshold_per_s=fast"], "must be a number from 0 to a million, got fast"),
        (["--set", "threshold_per_s"], "--set takes KEY=VALUE, got 'threshold_per_s'"),
        (["--method", "ivt", "--set", "velocity=neighbours"], "did you mean 'neighbors'?"),
    ],
)
def test_says_what_is_wrong_in_one_line(eyelid, study_folder, tmp_path, words, text):
    done = eyelid("events", study_folder, tmp_path / "out", *words)
    assert done.code == 2
    assert text in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_features_have_no_events_to_detect(eyelid, features_folder, tmp_path):
    done = eyelid("events", features_folder, tmp_path / "out")
    assert done.code == 2
    assert "study of features" in done.err


def test_help_has_examples(eyelid):
    done = eyelid("events", "--help")
    assert done.code == 0
    assert "eyelid events study with-events --method ivt" in done.out
    assert "--engine dask" in done.out


def test_machines_get_one_object_and_whoever_wants_quiet_gets_it(eyelid, study_folder, tmp_path):
    done = eyelid("events", study_folder, tmp_path / "out", "--json")
    events = read(tmp_path / "out").events
    told = json.loads(done.out)
    assert (told["people"], told["recordings"], told["events"]) == (2, 2, len(events))
    blinks = events.filter(name="blink")["duration_ms"]
    assert told["kinds"]["blink"] == {"events": len(blinks), "median_ms": blinks.median()}
    done = eyelid("events", study_folder, tmp_path / "again", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")

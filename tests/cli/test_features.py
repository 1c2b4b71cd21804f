from __future__ import annotations

import json

import polars as pl
import pytest

from eyelid.gaze.simulator import simulate
from eyelid.gaze.table import FeatureTable
from eyelid.io import read, write


@pytest.fixture
def study(tmp_path):
    write(simulate(people=2, tasks=("comic", "image"), minutes=0.6, seed=1), tmp_path / "study")
    return tmp_path / "study"


@pytest.mark.parametrize(("kind", "count"), [("windows", 52), ("fixations", 14), ("saccades", 47)])
def test_every_kind_is_written_and_counted(eyelid, study, tmp_path, kind, count):
    done = eyelid("features", study, tmp_path / "out", "--kind", kind)
    assert done.code == 0, done.err
    table = FeatureTable.of(read(tmp_path / "out"))
    assert len(table.features) == count
    assert f"{count} features of {len(table.data):,} {kind}." in done.out
    assert "comic" in done.out
    assert "image" in done.out
    assert "Next: eyelid cost" in done.out
    assert done.err == ""


def test_a_detector_can_be_chosen(eyelid, study, tmp_path):
    for method in ("robust", "idt"):
        assert eyelid("features", study, tmp_path / method, "--method", method).code == 0
    robust, idt = (read(tmp_path / method).data for method in ("robust", "idt"))
    assert not robust.equals(idt)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--kind", "blinks"], "unknown kind of features 'blinks'"),
        (["--kind", "saccades", "--step", "1"], "--window and --step are for windows"),
        (["--method", "magic"], "unknown method 'magic'"),
        (["--window", "60"], "shorter than 60 s"),
        (["--set", "threshold=30"], "unknown setting of robust 'threshold'"),
        (["--set", "window=10"], "window has an option of its own: write --window 10"),
        (["--set", "step_s=10"], "step_s has an option of its own: write --step 10"),
        (["--min-seconds", "5"], "min_seconds must be at least 30"),
    ],
)
def test_says_what_is_wrong_and_writes_nothing(eyelid, study, tmp_path, options, text):
    done = eyelid("features", study, tmp_path / "out", *options)
    assert done.code == 2
    assert text in done.err
    assert not (tmp_path / "out").exists()


def test_features_can_be_chosen_from_samples_and_from_features(eyelid, study, tmp_path):
    chosen = ["--only", "blink_rate, fixation_rate"]
    assert eyelid("features", study, tmp_path / "all").code == 0
    done = eyelid("features", study, tmp_path / "few", *chosen)
    assert done.code == 0, done.err
    assert "2 features of" in done.out
    done = eyelid("features", tmp_path / "all", tmp_path / "few2", *chosen)
    assert done.code == 0, done.err
    assert done.err == ""
    assert "windows" in done.out
    everything, few, again = (FeatureTable.of(read(tmp_path / n)) for n in ("all", "few", "few2"))
    assert few.names == again.names == ["fixation_rate", "blink_rate"]
    assert few.data.equals(again.data)
    assert few.features == tuple(f for f in everything.features if f.name in few.names)
    assert (again.step_ms, again.window_ms) == (500.0, 30_000.0)


def test_what_is_spent_on_chosen_features_is_counted_for_the_same_people(eyelid, study, tmp_path):
    eyelid("features", study, tmp_path / "all")
    assert eyelid("features", tmp_path / "all", tmp_path / "one", "--only", "blink_rate").code == 0
    assert read(tmp_path / "one").origin == read(study).origin
    assert not (tmp_path / "one.ledger").exists()
    told = {}
    for name in ("all", "one"):
        done = eyelid("cost", tmp_path / name, "--mechanism", "laplace", "--epsilon", 1, "--json")
        told[name] = json.loads(done.out)["expected_error"]["rmse_of_span"]
    assert told["one"] == pytest.approx(told["all"] / 52, rel=0.01)
    asked = ["--mechanism", "laplace", "--epsilon", 2]
    assert eyelid("release", tmp_path / "one", tmp_path / "private", *asked).code == 0
    assert "ε = 2" in eyelid("budget", study).out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--only", "blink_rat"], "unknown feature 'blink_rat': did you mean 'blink_rate'?"),
        (["--only", ","], "no feature is named"),
        ([], "has features already: choose of them with --only"),
        (["--only", "blink_rate", "--step", "1"], "has features already"),
        (["--only", "blink_rate", "--kind", "windows"], "has features already"),
    ],
)
def test_features_that_cannot_be_chosen_are_named(eyelid, study, tmp_path, options, text):
    eyelid("features", study, tmp_path / "all")
    done = eyelid("features", tmp_path / "all", tmp_path / "out", *options)
    assert done.code == 2
    assert text in done.err
    assert not (tmp_path / "out").exists()


def test_features_of_a_release_are_not_chosen(eyelid, features_folder, tmp_path):
    asked = ["--mechanism", "laplace", "--epsilon", 1]
    assert eyelid("release", features_folder, tmp_path / "private", *asked).code == 0
    done = eyelid("features", tmp_path / "private", tmp_path / "out", "--only", "pupil")
    assert done.code == 2
    assert "is a release already" in done.err


def test_a_slow_tracker_is_told_what_it_cannot_tell(eyelid, tmp_path):
    fast = simulate(people=2, tasks=("comic",), rate_hz=30.0, minutes=0.6, seed=1)
    slow = fast.derive(data=fast.data.filter(pl.int_range(pl.len()) % 2 == 0), rate_hz=15.0)
    write(slow, tmp_path / "slow")
    done = eyelid("features", tmp_path / "slow", tmp_path / "out")
    assert done.code == 0
    assert "at down to 15 Hz, below 20: saccade durations, speeds and acc" in done.err


def test_machines_get_one_object_and_whoever_wants_quiet_gets_it(eyelid, study, tmp_path):
    done = eyelid("features", study, tmp_path / "out", "--json", "--only", "blink_rate")
    told = json.loads(done.out)
    assert told == {
        "out": str(tmp_path / "out"),
        "people": 2,
        "recordings": 4,
        "rows": len(read(tmp_path / "out").data),
        "features": ["blink_rate"],
        "left_out": {"recordings": 0, "short": 0, "slow": 0, "empty": 0, "people": 0},
    }
    done = eyelid("features", study, tmp_path / "again", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_an_engine_that_does_not_exist_is_named_before_anything_is_written(eyelid, study, tmp_path):
    done = eyelid("features", study, tmp_path / "out", "--engine", "spark")
    assert done.code == 2
    assert "unknown engine 'spark'" in done.err
    assert not (tmp_path / "out").exists()


def test_help_has_examples(eyelid):
    assert "eyelid features study features --engine dask" in eyelid("features", "--help").out


@pytest.mark.parametrize("inner", [(), ("groupmean", "inner=prewindow")])
def test_bins_of_recordings_are_released_as_those_of_a_study(eyelid, tmp_path, inner):
    """Recordings are summarised before people get pseudonyms, and must not be a second time."""
    study = simulate(people=3, tasks=("comic",), minutes=0.8, rate_hz=60.0, seed=3)
    study.data.drop("stimulus").write_csv(tmp_path / "gaze.csv")
    mechanism, *settings = inner or ("prewindow",)
    said = ["--set", settings[0]] if settings else []
    done = eyelid(
        "release", tmp_path / "gaze.csv", tmp_path / "out", "--mechanism", mechanism, *said,
        "--epsilon", "1", "--map", "person=person,recording=recording,task=task,units=deg",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "certificate.json").exists()

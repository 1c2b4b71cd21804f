"""A study one of whose people broke off: every command goes on, and no folder shows who it was."""

import json

import polars as pl
import pytest

from eyelid.comparisons.compare import compare
from eyelid.errors import InputError
from eyelid.gaze.simulator import simulate
from eyelid.io import read, write
from eyelid.io.derivations import derive_features
from eyelid.releases.audits.audit import audit
from eyelid.releases.cost import cost
from eyelid.releases.inspection import inspect
from eyelid.releases.release import release

pytestmark = pytest.mark.usefixtures("quick_audits")

RAW = "from the raw data, never in a release: 3 of 12 recordings have no value"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six people, one of whom has ten seconds of each task, and another of one task."""
    made = simulate(people=6, tasks=("comic", "image"), minutes=0.7, rate_hz=30.0, seed=4)
    short = (pl.col("person") == "P03") | (
        (pl.col("person") == "P05") & (pl.col("task") == "comic")
    )
    late = short & (pl.col("time_ms") > 10_000.0)
    home = tmp_path_factory.mktemp("short")
    write(made.derive(data=made.data.filter(~late)), home / "study")
    return home / "study"


@pytest.mark.parametrize(
    "settings",
    [
        {"mechanism": "laplace", "epsilon": 1.0},
        {"mechanism": "groupmean", "epsilon": 1.0},
        {"mechanism": "ksame", "k": 2},
        {"mechanism": "prewindow", "epsilon": 1.0},
        {"mechanism": "synthetic", "epsilon": 4.0, "carry": 1},
    ],
    ids=lambda settings: settings["mechanism"],
)
def test_who_broke_off_still_counts_in_a_release(folder, tmp_path, settings):
    told = []
    done = release(folder, tmp_path / "out", tell=told.append, **settings)
    assert done.certificate.people == 6
    assert any(line.startswith(RAW) for line in told)
    shown = "".join(
        file.read_text(errors="replace") for file in (tmp_path / "out").iterdir() if file.is_file()
    )
    assert "raw data, never in a release" not in shown
    if settings["mechanism"] == "laplace":
        rows = read(tmp_path / "out").data.group_by("person").len()
        assert rows["len"].n_unique() == 1
        assert rows.height == 6


@pytest.mark.parametrize("mechanism", ["laplace", "groupmean"])
def test_a_release_with_who_broke_off_is_audited(folder, tmp_path, mechanism):
    release(folder, tmp_path / "out", mechanism=mechanism, epsilon=1.0)
    found = audit(folder, tmp_path / "out", attackers=["means"] if mechanism == "laplace" else None)
    assert found.target.inconsistencies == ()
    assert not found.refuted
    assert json.loads((tmp_path / "out-audit" / "audit.json").read_text())


def test_groups_with_who_broke_off_are_found_and_compared_with_what_was_measured(folder, tmp_path):
    release(folder, tmp_path / "out", mechanism="ksame", k=2)
    rows = read(tmp_path / "out").data.group_by("person", "recording").len()["len"]
    assert rows.min() > 1
    found = audit(folder, tmp_path / "out", attackers=["means"])
    assert found.target.groups is not None
    assert not found.target.groups.fresh
    assert found.target.inconsistencies == ()
    assert not found.refuted
    assert any("nothing of them is attacked" in note for note in found.target.notes)
    # A person who has no recording that could be shown is still one of those who could be meant.
    assert "P03" not in found.target.groups.seen.data["person"]
    tested = next(f for f in found.identification if f.protocol == "release→raw")
    assert tested.rate.people == 5


def test_rows_that_stand_for_recordings_are_no_windows(folder, tmp_path):
    made = derive_features(folder, tmp_path / "features")
    study = read(tmp_path / "features")
    assert made.count == len(study.data) - 3
    found = inspect(study)
    assert (found["people"], found["recordings"], found["rows"]) == (6, 12, made.count)
    assert found["quality"]["missing_fixation_rate"] == 0.0
    assert found["duration_s"]["shortest"] > 0.0
    assert any(note.startswith(RAW) for note in found["notes"])
    shortest = made.recordings["rows"].to_numpy()
    assert cost("ksame", study, k=2).facts.length == shortest[shortest > 0].min()
    padded = release(study, mechanism="laplace", epsilon=1.0, length=40).rows
    missing = 40 * 3 + int((40 - shortest[shortest > 0]).clip(0).sum())
    assert f"({missing:,} of them are padding)" in padded
    grouped = release(study, mechanism="ksame", k=2, length="shortest").rows
    assert f"of the people's {made.count:,} rows" in grouped


def test_the_original_with_who_broke_off_is_audited(folder):
    found = audit(folder, attackers=["means"])
    assert found.target.people == 5
    assert any("they were not attacked" in note for note in found.target.notes)


def test_who_broke_off_stops_no_comparison(folder):
    told = []
    found = compare(folder, ["laplace", "prewindow"], [1.0], repeats=1, fast=True, tell=told.append)
    assert not found.skipped
    assert any("they are not compared" in line for line in told)


def test_the_cost_counts_who_broke_off(folder):
    quote = cost("laplace", folder, epsilon=1.0)
    assert quote.facts.people == 6
    assert any(line.startswith(RAW) for line in quote.notes)


def test_min_seconds_is_refused_where_rows_are_no_gaze_by_cost_too(make_table):
    with pytest.raises(InputError, match="min_seconds is for gaze samples"):
        cost("laplace", make_table(people=4).study(), epsilon=1.0, min_seconds=5.0)


def test_min_seconds_of_a_release_is_a_limit(folder, tmp_path):
    with pytest.raises(InputError, match=r"no recording can be summarised.*`min_seconds`"):
        release(folder, tmp_path / "out", mechanism="laplace", epsilon=1.0, min_seconds=1e4)
    assert not (tmp_path / "out").exists()

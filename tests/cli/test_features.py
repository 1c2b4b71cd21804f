from __future__ import annotations

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
        (["--window", "60"], "less than one window of 60 s"),
    ],
)
def test_says_what_is_wrong_and_writes_nothing(eyelid, study, tmp_path, options, text):
    done = eyelid("features", study, tmp_path / "out", *options)
    assert done.code == 2
    assert text in done.err
    assert not (tmp_path / "out").exists()


def test_a_slow_tracker_is_told_what_it_cannot_tell(eyelid, tmp_path):
    fast = simulate(people=2, tasks=("comic",), rate_hz=30.0, minutes=0.6, seed=1)
    slow = fast.derive(data=fast.data.filter(pl.int_range(pl.len()) % 2 == 0), rate_hz=15.0)
    write(slow, tmp_path / "slow")
    done = eyelid("features", tmp_path / "slow", tmp_path / "out")
    assert done.code == 0
    assert "at down to 15 Hz, below 20: saccade durations, speeds and acc" in done.err

"""--map on a study folder says what study.json lacks, and is never ignored."""

import json
import re

import pytest

from eyelid.gaze.simulator import simulate
from eyelid.gaze.study import Screen
from eyelid.io import read, write

SAID = "units=deg,xy_origin=centre,pupil_unit=mm,rate_hz=60,screen=1920x1080,distance_m=0.6"


@pytest.fixture(params=[False, True], ids=["whole", "in pieces"])
def silent(request, tmp_path, monkeypatch):
    """A study folder that says nothing of units, screen, origin and rate."""
    study = simulate(people=3, tasks=("comic",), minutes=0.6, rate_hz=60.0, seed=2)
    facts = dict.fromkeys(("units", "screen", "xy_origin", "pupil_unit", "rate_hz"))
    write(study.derive(**facts, events=None), tmp_path / "sd")
    if request.param:
        monkeypatch.setattr("eyelid.io.pieces.PIECE_VALUES", 1)
    return tmp_path / "sd"


def facts_of(study):
    return study.units, study.xy_origin, study.pupil_unit, study.rate_hz, study.screen


WHOLE = ("deg", "centre", "mm", 60.0, Screen(1920, 1080, distance_m=0.6))


def test_map_on_a_study_folder_is_not_silently_ignored_by_features(eyelid, silent, tmp_path):
    assert eyelid("features", silent, tmp_path / "none").code == 2
    done = eyelid("features", silent, tmp_path / "fd", "--map", SAID)
    assert done.code == 0, done.err
    assert read(tmp_path / "fd").kind == "features"


@pytest.mark.parametrize("command", ["convert", "events"])
def test_map_on_a_study_folder_is_kept_by_what_is_written(eyelid, silent, tmp_path, command):
    done = eyelid(command, silent, tmp_path / "sdd", "--map", SAID)
    assert done.code == 0, done.err
    assert facts_of(read(tmp_path / "sdd")) == WHOLE
    assert facts_of(read(silent)) == (None,) * 5


def test_map_on_a_study_folder_reaches_inspect_and_release(eyelid, silent, tmp_path):
    told = json.loads(eyelid("inspect", silent, "--map", "units=deg", "--json").out)
    assert told["units"] == "deg"
    said = ["--mechanism", "laplace", "--epsilon", "1"]
    assert eyelid("release", silent, tmp_path / "none", *said).code == 2
    assert eyelid("release", silent, tmp_path / "out", *said, "--map", SAID).code == 0


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ("units=px", "says units=deg, and --map says px"),
        ("screen=800x600", "says screen=1920, and --map says 800"),
        ("distance_m=0.7", "says distance_m=0.6, and --map says 0.7"),
        ("x=gx,y=gy", "is a study folder, whose columns and people are known: .* and not x, y"),
        ("file={person}", "and not file"),
        ("kind=fixations", "says kind=samples, and --map says fixations"),
    ],
)
@pytest.mark.parametrize("command", ["inspect", "convert", "features"])
def test_a_map_that_contradicts_a_study_folder_is_refused_in_one_line(
    eyelid, tmp_path, said, what, command
):
    units, origin, pupil, rate, screen = WHOLE
    facts = {"units": units, "xy_origin": origin, "pupil_unit": pupil, "screen": screen}
    study = simulate(people=2, tasks=("comic",), minutes=0.2, rate_hz=rate, seed=2)
    write(study.derive(**facts), tmp_path / "sd")
    out = [] if command == "inspect" else [tmp_path / "out"]
    done = eyelid(command, tmp_path / "sd", *out, "--map", said)
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert re.search(what, done.err)
    assert not (tmp_path / "out").exists()
    # What it says itself may be said again.
    assert eyelid("inspect", tmp_path / "sd", "--map", "units=deg,kind=samples").code == 0


def test_a_map_of_features_is_refused_in_one_line(eyelid, silent, tmp_path):
    assert eyelid("features", silent, tmp_path / "fd", "--map", SAID).code == 0
    done = eyelid("inspect", tmp_path / "fd", "--map", "units=px")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "is a study of features, to which --map has nothing to add" in done.err

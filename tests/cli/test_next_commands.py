"""Whatever is printed behind ``Next:`` works on this very study, as it stands."""

import os
import re
import shlex
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from eyelid.gaze.study import Feature, Screen, Study
from eyelid.io import write
from eyelid.releases.budget import budget
from eyelid.releases.inspection import inspect
from eyelid.releases.release import release

SCREEN = Screen(1000, 800, 0.5, 0.4, 0.6)
PLACEHOLDERS = re.compile(r"\bA,B\b|=W\b|=R\b|X0,Y0|=…|\bIN\b|\bOUT\b")


def people(count: int) -> pl.DataFrame:
    return pl.DataFrame({"person": [f"{number:03d}" for number in range(1, count + 1)]})


def gaze(count=3, takes=1, samples=1100, stimuli=("page",), **facts) -> Study:
    rng = np.random.default_rng(4)
    frames = [
        pl.DataFrame(
            {
                "person": [name] * samples,
                "recording": [str(take)] * samples,
                "time_ms": np.arange(samples) * 1000 / 30,
                "x": 500 + np.cumsum(rng.normal(0, 2, samples)),
                "y": 400 + np.cumsum(rng.normal(0, 2, samples)),
                "stimulus": [stimuli[take % len(stimuli)]] * samples,
            }
        )
        for name in people(count)["person"]
        for take in range(takes)
    ]
    told = {"units": "px", "xy_origin": "top-left", "screen": SCREEN, "rate_hz": 30.0} | facts
    return Study("samples", pl.concat(frames), people(count), **told)


def fixations(count=3, **facts) -> Study:
    study = gaze(count, samples=40, **facts)
    data = study.data.with_columns(pl.col("time_ms") * 9, duration_ms=pl.lit(200.0))
    return Study(
        "fixations", data, study.people, **{"units": "px", "xy_origin": "top-left"} | facts
    )


def features(count: int, upper: float = 10.0, many: int = 2) -> Study:
    rng = np.random.default_rng(4)
    names = [f"rate {number}" for number in range(many)]
    frames = [
        pl.DataFrame(
            {"person": [name] * 5, "recording": ["1"] * 5, "time_ms": np.arange(5) * 500.0}
            | {feature: rng.uniform(2, 4, 5) for feature in names}
        )
        for name in people(count)["person"]
    ]
    told = tuple(Feature(name, "1/s", "events per second", 0.0, upper) for name in names)
    return Study("features", pl.concat(frames), people(count), features=told)


ODD = {
    "samples without a screen": lambda: gaze(screen=None),
    "degrees without a screen": lambda: gaze(units="deg", xy_origin=None, screen=None),
    "no origin of x and y": lambda: gaze(xy_origin=None),
    "no units": lambda: gaze(units=None),
    "fractions": lambda: gaze(units="fraction", screen=None),
    "in an eye camera": lambda: gaze(units="normalised", xy_origin=None, screen=None),
    "it's \"odd\" $HOME; 'twice'": lambda: gaze(stimuli=("a b's", "c"), takes=2),
    "one person": lambda: gaze(1),
    "two people": lambda: gaze(2),
    "five seconds each": lambda: gaze(samples=160),
    "less than a second each": lambda: gaze(samples=20),
    "fixations": fixations,
    "fixations on a screen": lambda: fixations(screen=SCREEN),
    "features of one person": lambda: features(1),
    "features of two people": lambda: features(2, many=4),
    "features of seven people": lambda: features(7),
    "features of 300 people": lambda: features(300),
    "features without bounds": lambda: features(6, upper=float("inf")),
}


@pytest.fixture
def works(eyelid, plain_pictures):
    """Run a command, and everything that it, and what follows from that, says to do next."""

    def run(*words, deep=2, codes=(0,)):
        done = eyelid(*words)
        assert done.code in codes, (words, done.err)
        commands = re.findall(r"^(?:Next|Mend it|If that is .*?): (.*)$", done.out, re.MULTILINE)
        for command in commands:
            assert not PLACEHOLDERS.search(command), command
            program, *said = shlex.split(command)
            assert program == "eyelid"
            if deep:
                run(*said, deep=deep - 1, codes=(0, 1) if said[0] == "lint" else (0,))
        return commands

    return run


@pytest.mark.parametrize("name", ODD)
def test_every_command_that_is_advised_for_an_odd_study_works(name, tmp_path, monkeypatch, works):
    monkeypatch.chdir(tmp_path)
    write(ODD[name](), tmp_path / name)
    commands = works("inspect", name)
    works("lint", name, codes=(0, 1))
    works("convert", name, f"{name} again", deep=1)
    told = inspect(ODD[name]())["release"]
    assert not re.search(r"\bA,B\b|=W\b|X0,Y0", told)
    if "person" in name or name == "no units":
        assert not commands
    # Names that are taken are not advised a second time.
    assert len(set(commands)) == len(commands)


def test_a_release_and_a_folder_of_exports_get_commands_that_work(
    tmp_path, monkeypatch, works, eyelid
):
    monkeypatch.chdir(tmp_path)
    write(features(7), tmp_path / "seven")
    release("seven", tmp_path / "my groups", mechanism="ksame", k=3)
    assert works("inspect", "my groups") == []
    assert works("lint", "my groups") == []
    (tmp_path / "raw files").mkdir()
    for name in ("ann lee", "bob"):
        one = gaze(1).data.drop("person", "recording", "stimulus")
        one.write_csv(tmp_path / "raw files" / f"{name}_read.csv")
    said = ["--map", "file={person}_{task},units=px", "--map", "xy_origin=top-left,screen=1000x800"]
    commands = works("inspect", "raw files", *said, deep=1)
    assert {command.split()[1] for command in commands} == {"features", "heatmap"}
    assert len(works("lint", "raw files", *said, codes=(1,), deep=1)) == 1
    # Without a map nobody can read them: no command is advised that fails as well.
    done = eyelid("inspect", "raw files")
    assert done.code == 2
    assert "'eyelid" not in done.err


def test_features_events_and_simulate_advise_what_works(tmp_path, monkeypatch, works):
    monkeypatch.chdir(tmp_path)
    short = ["--people", 2, "--tasks", "comic", "--minutes", 0.6, "--seed", 1]
    assert works("simulate", "made up", *short, deep=1)
    assert works("events", "made up", "their events", deep=1)
    commands = works("features", "made up", "their features", deep=1)
    # A mean over two people says nothing.
    assert [command.split()[1] for command in commands] == ["cost"]
    budget("made up", limit_epsilon=1.0)
    commands = works("features", "made up", "more features", deep=0)
    assert [command.split()[1] for command in commands] == ["cost", "budget"]
    write(gaze(1), tmp_path / "one")
    assert works("features", "one", "its features") == []


def test_a_release_that_a_limit_may_refuse_is_not_advised(tmp_path, monkeypatch, works):
    monkeypatch.chdir(tmp_path)
    write(features(7), tmp_path / "seven")
    assert any("eyelid release" in command for command in works("inspect", "seven", deep=0))
    budget("seven", limit_epsilon=1.0)
    commands = works("inspect", "seven")
    assert [command.split()[1] for command in commands] == ["summary", "cost", "budget"]


def test_a_dry_run_is_advised_before_a_heatmap_and_leads_to_it(
    tmp_path, monkeypatch, eyelid, plain_pictures
):
    """Advice was to spend at once, and a dry run led nowhere."""
    monkeypatch.chdir(tmp_path)
    study = gaze(2, samples=160, stimuli=("a b's", "OUT"), takes=2)
    write(study, tmp_path / "IN")
    (advised,) = re.findall("Next: (eyelid heatmap .*)", eyelid("inspect", "IN").out)
    # What stands for a study or a new folder may be the name of a stimulus, too.
    assert advised == "eyelid heatmap IN heatmap --stimulus OUT --level good --dry-run"
    more = ["--stimulus", "a b's", "--grid", "3x2", "--at", "-5,0", "--seed", "1"]
    dry = eyelid(*shlex.split(advised)[1:], *more)
    assert dry.code == 0
    (real,) = re.findall("(?:Next|price): (eyelid .*)", dry.out)
    said = shlex.split(real)
    assert sorted(said) == sorted([*shlex.split(advised)[:-1], *more])
    done = eyelid(*said[1:])
    assert (done.code, (tmp_path / "heatmap" / "certificate.json").exists()) == (0, True)
    # A limit may refuse it, and the dry run spends nothing.
    budget("IN", limit_epsilon=9.0)
    assert "--dry-run" in eyelid("inspect", "IN").out
    dry = eyelid("heatmap", "IN", "again", "--stimulus", "OUT", "--level", "good", "--dry-run")
    assert re.findall("(?:Next|price): (.*)", dry.out) == ["eyelid budget IN"]


def test_what_comes_next_is_of_the_people_who_were_chosen(tmp_path, monkeypatch, works):
    monkeypatch.chdir(tmp_path)
    write(features(7), tmp_path / "seven")
    commands = works("inspect", "seven", "--people", "001,002,003,004,005,006")
    assert [command.split()[1] for command in commands] == ["summary", "release"]
    assert all(command.endswith("--people 001,002,003,004,005,006") for command in commands)
    few = works("inspect", "seven", "--people", "001,002,003")
    assert not any("eyelid release" in command for command in few)


def test_rows_of_real_people_are_advised_only_where_people_are_enough(tmp_path, eyelid):
    """Fewer rows were advised to seven people, of whom even one row needs hundreds."""
    write(features(7), tmp_path / "seven")
    few = eyelid("cost", tmp_path / "seven", "--mechanism", "seeded", "--epsilon", 1)
    assert few.code == 2
    assert "--set rows" not in few.err
    assert "--epsilon" not in few.err
    write(features(300), tmp_path / "many")
    asked = ["cost", tmp_path / "many", "--mechanism", "seeded"]
    many = eyelid(*asked, "--epsilon", 1)
    assert many.code == 2
    advised = re.findall(r"--epsilon [\d.]+|--set rows=\d+", many.err)
    assert advised
    for option in advised:
        rest = [] if option.startswith("--epsilon") else ["--epsilon", 1]
        assert eyelid(*asked, *rest, *option.split()).code == 0


def test_real_participants_are_not_said_to_be_no_simulated_ones(tmp_path, eyelid, simulated):
    write(gaze(), tmp_path / "real")
    assert "simulated" not in eyelid("inspect", tmp_path / "real").out
    write(simulated, tmp_path / "made")
    assert "simulated" in eyelid("inspect", tmp_path / "made").out


def test_a_doubt_about_people_names_the_other_study(tmp_path):
    write(features(4), tmp_path / "first study")
    (note,) = write(features(4), tmp_path / "second").notes
    assert "with 4 ids of these (first study)" in note
    ledger = shlex.quote(str(tmp_path / "first study.ledger"))
    assert f"eyelid budget IN --join {ledger}" in note


def test_help_is_there_where_python_drops_docstrings():
    said = [sys.executable, "-OO", "-m", "eyelid"]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    every = subprocess.run([*said, "--help"], capture_output=True, text=True, env=environment)
    assert "Find names, dates, serial numbers" in every.stdout
    one = subprocess.run([*said, "lint", "--help"], capture_output=True, text=True, env=environment)
    assert "The answer shows what it found" in " ".join(one.stdout.split())


def test_what_comes_next_passes_over_what_inspect_passed_over(tmp_path, eyelid, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    rows = "time_ms,x,y\n" + "".join(f"{10 * i},{i},{i}\n" for i in range(50))
    for name in ("p01", "p02", "p03"):
        (tmp_path / "data" / f"{name}.csv").write_text(rows if name != "p02" else "")
    said = "data", "--map", "file={person},units=px"
    found = eyelid("inspect", *said, "--skip-unreadable")
    commands = [line.removeprefix("Next: ") for line in found.out.splitlines() if "Next: " in line]
    assert len(commands) == 1
    assert eyelid(*shlex.split(commands[0])[1:]).code == 0

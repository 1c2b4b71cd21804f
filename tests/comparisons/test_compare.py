"""The whole comparison: the same table however it is run, stopped, or spread over cores."""

import subprocess
import sys
import time
from dataclasses import replace

import polars as pl
import pytest

import eyelid
from eyelid.comparisons.compare import compare, remarks_on
from eyelid.comparisons.settings import settings_of
from eyelid.engine.cores import alone
from eyelid.errors import InputError
from eyelid.io import write

ASKED = (["gaussian", "gaussian:record", "ksame", "groupmean", "seeded"], [1.0], {"k": [2]})


@pytest.fixture(scope="module")
def done(small):
    with alone():
        return compare(small, *ASKED, 1, fast=True)


def test_totals_of_people_are_what_cost_says(small, done):
    for row in done.ran:
        said = eyelid.cost(row.setting.mechanism, small, **dict(row.setting.parameters))
        assert row.promise.person_level == said.person_level, row.name
        assert row.promise.guarantee == said.guarantee, row.name


def test_what_cannot_take_the_data_is_skipped_with_the_reason(done):
    (skipped,) = done.skipped
    assert skipped.name == "seeded, ε = 1, k = 2"
    assert "too small for epsilon 1" in skipped.skipped
    assert len(done.ran) == 4


def test_a_setting_gives_the_same_figures_whatever_else_is_asked(small, done):
    with alone():
        alone_in_it = compare(small, ["ksame"], sweep={"k": [2]}, repeats=1, fast=True)
    assert alone_in_it.records()[1] == done.records()[3]


KILLED = """
import sys, time
from eyelid.comparisons.compare import compare
from eyelid.comparisons.journal import Journal
from eyelid.engine import cores
cores.cores = lambda: 2
add = Journal.add
def some(self, key, outcome, noted=[]):
    add(self, key, outcome)
    noted.append(key)
    # Until it is killed.
    time.sleep(600 if len(noted) == 2 else 0)
Journal.add = some
compare(sys.argv[1], ["laplace", "ksame"], [1.0], {"k": [2]}, 4, fast=True, resume=sys.argv[2])
"""


def test_a_run_killed_on_two_cores_goes_on_on_one_to_the_same_table(make_table, tmp_path):
    study, notes = tmp_path / "study", tmp_path / "notes"
    notes.mkdir()
    write(make_table(people=5).study(), study)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(study), str(notes)])
    try:
        while process.poll() is None and _lines(notes) < 2:
            time.sleep(0.005)
    finally:
        process.kill()
        process.wait()
    noted = _lines(notes)
    assert noted == 2
    told = []
    asked = (study, ["laplace", "ksame"], [1.0], {"k": [2]}, 4)
    with alone():
        went_on = compare(*asked, fast=True, resume=notes, tell=told.append)
        whole = compare(*asked, fast=True)
    assert told == [f"{noted} of 9 runs were done already"]
    assert went_on.records() == whole.records()
    assert list(notes.iterdir()) == []


def _lines(folder):
    return sum(file.read_bytes().count(b"\n") for file in folder.glob(".eyelid-compare-*"))


def test_a_folder_that_cannot_be_written_is_done_without(small, tmp_path):
    with alone():
        found = compare(small, ["laplace"], [1.0], repeats=1, fast=True, resume=tmp_path / "absent")
    assert len(found.ran) == 1


def test_other_data_do_not_go_on_where_these_were(small, done, tmp_path, monkeypatch):
    """Another person's runs must never fill a table."""
    calls = []

    def stopped(*words):
        calls.append(words)
        raise KeyboardInterrupt

    monkeypatch.setattr("eyelid.comparisons.compare.measured", stopped)
    shifted = replace(small, data=small.data.with_columns(pl.col(small.names[0]) + 1e-9))
    first, *others = small.features
    wider = replace(small, features=(replace(first, upper=first.upper * 2), *others))
    labelled = [
        replace(small, data=small.data.with_columns(label_x=pl.lit(label))) for label in "ab"
    ]
    asked = [(small, 1.0), (small, 1.0), (shifted, 1.0), (wider, 1.0), (small, 1.00000001)]
    for table, epsilon in (*asked, *((one, 1.0) for one in labelled)):
        with alone(), pytest.raises(KeyboardInterrupt):
            compare(table, ["laplace"], [epsilon], repeats=1, fast=True, resume=tmp_path)
    assert len(list(tmp_path.iterdir())) == 6


def test_a_mechanism_that_makes_its_own_rows_of_recordings_gets_recordings(simulated):
    with alone():
        found = compare(simulated, ["prewindow"], [1.0], repeats=1, fast=True)
    assert [row.name for row in found.ran] == ["prewindow, ε = 1"]


def test_the_command_to_repeat_it_says_what_was_chosen(small):
    with alone():
        found = compare(small, ["laplace", "ksame"], [0.5, 2], {"k": [2]}, 1, fast=True, seed=3)
    assert found.command("study").replace(" \\\n ", "") == (
        "eyelid compare study --mechanisms laplace,ksame --epsilons 0.5,2 --sweep k=2 --repeats 1 "
        "--seed 3 --fast"
    )


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"repeats": 0}, "repeats must be at least 1"),
        ({"seed": -1}, "seed must not be negative"),
        ({"target": "taks"}, "did you mean 'task'"),
        ({"attributes": ["gendr"]}, "unknown attribute"),
        ({"report": "absent/page.html"}, "there is no folder"),
        ({"picture": "plane.gif"}, "ends in .svg, .pdf or .png"),
        ({"mechanisms": ["seeded"], "epsilons": [1.0]}, "none of these can be released: seeded"),
        ({"mechanisms": ["ksame"], "sweep": {"k": [0]}}, "none of these can be released: ksame"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(small, asked, words, monkeypatch):
    monkeypatch.setattr("eyelid.comparisons.compare._job", lambda *words: pytest.fail("it ran"))
    with pytest.raises(InputError, match=words):
        compare(small, **asked)


def test_a_release_and_two_people_are_refused(small, make_table):
    with pytest.raises(InputError, match="a release already"):
        compare(replace(small, released=True), ["laplace"])
    with pytest.raises(InputError, match="at least 3 people"):
        compare(make_table(people=2), ["laplace"])


def test_what_is_not_as_it_may_seem_is_remarked():
    grid = settings_of(["dct", "ksame"], [1.0], {"k": [2]})
    assert remarks_on(grid, {}, "task") == ()
    one_task, coefficients = remarks_on(grid, {"k": [2]}, None)
    assert "no two tasks to tell apart" in one_task
    assert "of dct it is the number of coefficients" in coefficients


@pytest.mark.parametrize("utility", ["contrasts", "sizes", "relations"])
def test_conclusions_of_tasks_can_be_the_axis(small, utility):
    with alone():
        found = compare(
            small, ["ksame", "gaussian"], [0.1], {"k": [2]}, 2, fast=True, utility=utility
        )
    assert found.raw.used(found.used_chance).rate == 1.0
    ksame, gaussian = (row.used(found.used_chance) for row in found.ran)
    # Means of groups keep what much noise does not.
    assert ksame.rate > gaussian.rate
    assert ksame.rate <= 1.0
    assert found.used_chance == {"contrasts": 0.5, "sizes": 0.0, "relations": 0.0}[utility]
    assert found.to_dict()["model"] == utility
    assert any("limits are over runs alone" in note for note in found.notes)
    assert f"--utility {utility}" in found.command()


def test_a_single_run_of_a_conclusion_has_no_limits(small):
    with alone():
        found = compare(small, ["gaussian"], [1.0], repeats=1, fast=True, utility="contrasts")
    (row,) = found.ran
    assert row.one_draw
    assert not found.useful(row)
    assert found.records()[1]["used"]["low"] is None
    assert not found.raw.one_draw


@pytest.mark.parametrize("utility", ["svm", "logistic"])
def test_other_classifiers_can_be_the_axis(small, utility):
    with alone():
        found = compare(small, ["ksame"], sweep={"k": [2]}, repeats=1, fast=True, utility=utility)
        forest = compare(small, ["ksame"], sweep={"k": [2]}, repeats=1, fast=True)
    assert found.ran[0].used(found.used_chance) is not None
    assert found.raw.runs[0].used != forest.raw.runs[0].used
    assert found.raw.runs[0].named == forest.raw.runs[0].named


def test_what_cannot_be_the_axis_is_refused(small):
    with pytest.raises(InputError, match="unknown utility 'tree'"):
        compare(small, ["ksame"], utility="tree")
    with pytest.raises(InputError, match="compares tasks, and needs two"):
        compare(small, ["ksame"], utility="contrasts", target="gender")

"""`eyelid compare` as a person runs it."""

import json

import pytest

from eyelid.engine.cores import alone
from eyelid.io import write


@pytest.fixture(scope="module", autouse=True)
def _one_core():
    with alone():
        yield


@pytest.fixture
def study(make_table, tmp_path, monkeypatch):
    """Five people on disk, and a folder to work in."""
    write(make_table(people=5).study(), tmp_path / "study")
    monkeypatch.chdir(tmp_path)
    return "study"


SOME = ("--mechanisms", "laplace,ksame,seeded", "--epsilons", "1", "--sweep", "k=2", "--fast")


def test_a_table_and_a_page_and_a_picture_for_people(eyelid, study, tmp_path):
    pages = ("--report", "c.html", "--picture", "plane.png")
    done = eyelid("compare", study, *SOME, *pages, "--verbose")
    assert done.code == 0
    for words in ("laplace, ε = 1", "means of groups", "Not possible with these data", "Open"):
        assert words in done.out
    # Whole, with the remedy, on both.
    for told in (done.out, (tmp_path / "c.html").read_text()):
        assert "choose a larger ε" in told
    assert "error: root mean square of fixation_rate, in its unit" in " ".join(done.out.split())
    assert (tmp_path / "plane.png").exists()
    assert "no certificate covers these figures" in done.err
    assert not list(tmp_path.glob(".eyelid-compare-*"))
    assert not list(tmp_path.glob("*.ledger/*")), "comparing counts nothing"


def test_json_is_one_object_with_whole_reasons(eyelid, study):
    done = eyelid("compare", study, *SOME, "--json", "--quiet")
    told = json.loads(done.out)
    assert done.err == ""
    rows = {row["setting"]: row for row in told["rows"]}
    assert rows["ksame, k = 2"]["rank1_bound"] == 0.5
    assert rows["seeded, ε = 1, k = 2"]["skipped"].endswith("choose a larger ε")
    assert told["schema"] == "eyelid/comparison/1"
    assert told["report"] is None


def test_whoever_goes_on_is_told_how_much_was_done(eyelid, study, monkeypatch):
    asked = ("compare", study, "--mechanisms", "laplace", "--epsilons", "1,2", "--fast", "--json")
    whole = eyelid(*asked).out
    with monkeypatch.context() as broken:
        broken.setattr("eyelid.comparisons.compare.measured", _stop)
        stopped = eyelid(*asked)
    assert stopped.code == 130
    assert "the same command in the same folder goes on" in stopped.err
    again = eyelid(*asked)
    assert "1 of 3 runs were done already" in again.err
    assert again.out == whole


def _stop(*words):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--epsilons", "0"], "epsilon must be positive and finite, got 0"),
        (["--epsilons", "-1,2"], "epsilon must be positive and finite, got -1"),
        (["--epsilons", "one"], "--epsilons takes numbers with commas between them, got 'one'"),
        (["--epsilons", "1,,2"], "--epsilons takes values with commas between them, got '1,,2'"),
        (["--epsilons", ""], "--epsilons takes values with commas between them, got ''"),
        (["--sweep", "k"], "--sweep takes KEY=VALUE,VALUE,…, got 'k'"),
        (["--sweep", "k=2", "--sweep", "k=4"], "--sweep k is given twice"),
        (["--sweep", "k="], "--sweep k takes values with commas between them"),
        (["--mechanisms", "ksame", "--sweep", "k=0"], "none of these can be released: ksame"),
        (["--mechanisms", "ksame", "--sweep", "k=two"], "none of these can be released: ksame"),
        (["--mechanisms", "ksame:row"], "ksame does not hide a row: it offers person"),
        (["--mechanisms", "dct", "--sweep", "k=2"], "sweep that as dct.k"),
        (["--mechanisms", "nosuch"], "unknown mechanism 'nosuch'"),
        (["--picture", "plane.jpg"], "a picture ends in .svg, .pdf or .png, got 'plane.jpg'"),
        (["--report", "absent/c.html"], "there is no folder"),
        (["--repeats", "0"], "repeats must be at least 1, got 0"),
        (["--engine", "spark"], "unknown engine 'spark'"),
        (["--target", "label_x"], "unknown target 'label_x'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(eyelid, study, words, told):
    done = eyelid("compare", study, *words, "--fast")
    assert (done.code, done.out) == (2, "")
    assert told in done.err
    assert len(done.err.splitlines()) == 1

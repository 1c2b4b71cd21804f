"""`eyelid audit` as a person runs it."""

import json
import shutil
from dataclasses import replace

import polars as pl
import pytest

from eyelid.io import read, write
from eyelid.releases.release import release

pytestmark = pytest.mark.usefixtures("quick_audits", "no_pictures")


@pytest.fixture(scope="module")
def home(tmp_path_factory, simulated_table, same_noise):
    """A few features of six simulated people, and a release of them."""
    home = tmp_path_factory.mktemp("audit")
    table = replace(simulated_table, features=simulated_table.features[:8])
    write(table.study(), home / "features")
    with same_noise(1):
        release(home / "features", home / "private", mechanism="laplace", epsilon=1.0)
    return home


def test_an_original_is_told_with_tables_and_a_verdict(eyelid, home, tmp_path):
    page = tmp_path / "risk.html"
    done = eyelid("audit", home / "features", "--attackers", "means,lda", "--report", page)
    assert done.code == 0
    for words in (
        "Re-identified participants",
        "People at risk",
        "What it is good for",
        "Features at risk",
    ):
        assert words in done.out
    assert "for the owner" in page.read_text()


def test_a_release_is_told_beside_what_is_allowed(eyelid, home):
    done = eyelid("audit", home / "features", home / "private", "--attackers", "means")
    assert done.code == 0
    assert "allowed" in done.out
    assert "none contradicts the guarantee" in " ".join(done.out.split())
    assert "no certificate covers them" in done.out
    assert (home / "private-audit" / "audit.json").exists()


def test_json_is_one_object_and_the_same_as_the_file(eyelid, home):
    done = eyelid("audit", home / "features", home / "private", "--attackers", "means", "--json")
    assert json.loads(done.out) == json.loads((home / "private-audit" / "audit.json").read_text())


def test_whoever_wants_quiet_gets_the_files_alone(eyelid, home, tmp_path):
    page, beside = tmp_path / "page.html", home / "private-audit"
    shutil.rmtree(beside, ignore_errors=True)
    asked = ("--attackers", "means", "--report", page, "--workers", 2, "--quiet")
    done = eyelid("audit", home / "features", home / "private", *asked)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert page.exists()
    assert json.loads((beside / "audit.json").read_text())["verdict"]
    assert not (beside / "report.html").exists()


def test_a_refuted_certificate_has_exit_code_one(eyelid, make_table, tmp_path):
    rows = make_table(people=15, recordings=2, rows=20, seed=1)
    own = pl.col("person").cast(pl.Float64) / 15
    table = rows.data.with_columns(
        (2 + 5 * own).alias("pupil"), (1 + 8 * own).alias("fixation_rate")
    )
    write(rows.study().derive(data=table), tmp_path / "features")
    release(tmp_path / "features", tmp_path / "bare", mechanism="laplace", epsilon=1e6)
    certificate = tmp_path / "bare" / "certificate.json"
    told = json.loads(certificate.read_text())
    told["person_level"]["epsilon"] = 1.0
    certificate.write_text(json.dumps(told))
    done = eyelid("audit", tmp_path / "features", tmp_path / "bare", "--attackers", "means")
    assert done.code == 1
    assert "refuted" in done.out
    assert "REFUTES" in done.out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nowhere"], "nowhere"),
        (["features", "--attackers", "mean"], "did you mean 'means'"),
        (["features", "private", "--protocols", "raw->relase"], "did you mean 'raw→release'"),
        (["features", "--targets", "tusk"], "tusk"),
        (["features", "--report", "nowhere/page.html"], "there is no folder"),
        (
            ["private", "features"],
            "private is a release, and no original: give what it was made of first",
        ),
        (["features", "--engine", "spark"], "unknown engine 'spark'"),
    ],
)
def test_bad_input_is_one_clear_line(eyelid, home, monkeypatch, words, text):
    monkeypatch.chdir(home)
    done = eyelid("audit", *words)
    assert done.code == 2
    assert text in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_an_original_as_a_release_of_itself_promises_nothing(eyelid, home):
    done = eyelid("audit", home / "features", home / "features", "--attackers", "means")
    assert done.code == 0
    assert "Nothing is promised about this release" in done.out
    assert not (home / "features" / "audit.json").exists()
    assert not (home / "features-audit").exists()


def test_a_study_with_one_class_only_is_audited_and_says_what_it_left_out(eyelid, home, tmp_path):
    study = read(home / "features")
    people = study.people.with_columns(pl.lit("f").alias("gender"))
    write(study.derive(people=people), tmp_path / "same")
    done = eyelid("audit", tmp_path / "same", "--attackers", "means")
    assert done.code == 0
    assert "gender was not inferred: everybody has the same value" in done.err


def test_names_with_brackets_are_names(eyelid, make_table, tmp_path):
    table = make_table(people=4)
    odd = {"0": "[/b]", "1": "[red]", "2": "a [x]", "3": "b"}
    data = table.data.with_columns(pl.col("person").replace_strict(odd))
    people = table.people.with_columns(pl.col("person").replace_strict(odd))
    write(table.study().derive(data=data, people=people), tmp_path / "names")
    done = eyelid("audit", tmp_path / "names", "--attackers", "means")
    assert done.code == 0
    assert all(name in done.out for name in odd.values())

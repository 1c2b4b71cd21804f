"""``eyelid reproduce`` as a person meets it."""

from __future__ import annotations

import json

import pytest

from eyelid.papers.liu2019 import complexity, observers


@pytest.fixture(autouse=True)
def small_and_without_data(monkeypatch):
    """Simulated participants, on small pictures, and run times of small maps."""
    monkeypatch.delenv("EYELID_DATA", raising=False)
    monkeypatch.setattr(observers, "_SIZE_PX", (126, 84))
    # What the clock says of them is not looked at.
    monkeypatch.setattr(complexity, "_PIXELS", 400)


QUICK = ("reproduce", "liu2019", "--fast", "--repeats", 1)


def test_people_get_a_page_and_machines_one_object_that_say_the_same(eyelid, tmp_path):
    out = tmp_path / "out"
    done = eyelid(*QUICK, "--out", out)
    assert done.code == 0, done.err
    assert {"report.html", "reproduction.json", "numbers.csv", "figure-2-surfaces.svg"} <= {
        path.name for path in out.iterdir()
    }
    assert "0.0986 " in done.out
    assert "0.085378" in done.out
    assert f"Open {out / 'report.html'}" in done.out
    assert "It took " in done.out
    assert "simulated data" in done.err
    assert "Simulated data" in (out / "report.html").read_text()

    told = json.loads(eyelid(*QUICK, "--out", tmp_path / "again", "--json").out)
    assert told["report"] == str(tmp_path / "again" / "report.html")
    assert told["data"]["simulated"] is True
    assert told.pop("seconds") > 0
    del told["report"]
    # The same seed: the same file, but for what is measured by the clock.
    kept = json.loads((out / "reproduction.json").read_text())
    assert not told["exhibits"][0]["timed"]
    for one in (told, kept):
        one["exhibits"] = [exhibit for exhibit in one["exhibits"] if not exhibit["timed"]]
    assert told == kept


def test_the_datasets_of_a_paper_are_printed_with_those_at_hand(eyelid, tmp_path):
    (tmp_path / "OpenNEEDS").mkdir()
    words = ("reproduce", "davidjohn2022", "--datasets", "--data", tmp_path)
    done = eyelid(*words)
    assert done.code == 0, done.err
    assert "VR-Saliency" in done.out
    assert "Free Exploration" in done.out
    told = json.loads(eyelid(*words, "--json").out)["datasets"]
    assert [one["name"] for one in told if one["at_hand"]] == ["OpenEDS"]
    assert told[0]["printed"]["# Ppts."] == "20"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["liu2020"], "unknown paper 'liu2020': did you mean 'liu2019'?"),
        (["liu2019", "--repeats", 0], "repeats must be at least 1, got 0"),
        (["liu2019", "--seed", -1], "seed must be 0 or more, got -1"),
        (["liu2019", "--full"], "nothing of liu2019 is left out by default: leave out full"),
        (["bozkir2021", "--full", "--fast"], "fast and full are opposites: choose one"),
        (
            ["liu2019", "--data", "nowhere"],
            "nowhere is no folder: give the one with the papers' datasets",
        ),
        (["liu2019", "--data", "."], "holds none of the datasets of this paper (OSIE)"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(eyelid, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    done = eyelid("reproduce", *words)
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_environment_names_the_data_too(eyelid, tmp_path, monkeypatch):
    monkeypatch.setenv("EYELID_DATA", str(tmp_path))
    done = eyelid(*QUICK, "--out", tmp_path / "out")
    assert done.code == 2
    assert "EYELID_DATA" in done.err


def test_an_output_that_exists_is_refused_before_any_work(eyelid, tmp_path):
    done = eyelid("reproduce", "liu2019", "--repeats", 1_000_000, "--out", tmp_path)
    assert done.code == 2
    assert "exists already" in done.err


def test_an_output_that_cannot_be_written_is_refused_before_any_work(eyelid, tmp_path):
    (tmp_path / "file").touch()
    done = eyelid("reproduce", "liu2019", "--repeats", 1_000_000, "--out", tmp_path / "file" / "o")
    assert done.code == 2
    assert "is not a folder" in done.err

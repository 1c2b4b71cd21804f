import json

import pytest

from eyelid.gaze.simulator import simulate
from eyelid.io import write

OPTIONS = ["--mechanism", "kaleido", "--epsilon", "4", "--set", "window=30", "--set", "radius=2"]


@pytest.fixture(autouse=True)
def _not_compiled(monkeypatch):
    """To compile filters takes longer than what tests let them do; it has tests of its own."""
    monkeypatch.setattr("eyelid.mechanisms.streams.filter_run.compiled", lambda kernel: None)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    home = tmp_path_factory.mktemp("streams")
    write(simulate(people=3, tasks=("comic", "textbook"), minutes=0.7, seed=2), home / "study")
    return home / "study"


def test_gaze_is_released_counted_and_refused_above_a_limit(eyelid, study, tmp_path):
    done = eyelid("release", study, tmp_path / "out", *OPTIONS)
    assert done.code == 0
    assert "6 recordings" in done.out
    assert "Any 30 samples in a row of one recording, each moved by at most 2: ε = 4." in done.out
    assert "formal only: it rules out almost nothing" in done.out
    assert "kaleido" in eyelid("budget", study).out
    assert eyelid("budget", study, "--limit-epsilon", "10").code == 0
    again = eyelid("release", study, tmp_path / "two", *OPTIONS)
    assert again.code == 3
    assert "limit" in again.err
    assert eyelid("budget", study, "--no-limit").code == 0


def test_a_price_is_told_before(eyelid, study):
    told = eyelid("cost", study, *OPTIONS)
    assert told.code == 0
    assert "30 samples in a row" in told.out
    assert "On simulated gaze (60 Hz" in told.out
    found = json.loads(eyelid("cost", study, *OPTIONS, "--json").out)
    assert found["guarantee"]["unit"] == "event:30:2.0"
    wanting = eyelid("cost", study, *OPTIONS[:6])
    assert wanting.code == 2
    assert "--set radius=" in wanting.err


@pytest.mark.usefixtures("plain_pictures")
def test_released_gaze_is_attacked_by_events_places_and_without_any_gaze(eyelid, study, tmp_path):
    assert eyelid("release", study, tmp_path / "out", *OPTIONS).code == 0
    options = ["--attackers", "means", "--protocols", "raw->release,white-box"]
    done = eyelid("audit", study, tmp_path / "out", *options)
    assert done.code == 0
    assert "Whether it still resembles gaze" in done.out
    told = json.loads((tmp_path / "out-audit" / "audit.json").read_text())
    assert told["refuted"] == []
    assert {(one["protocol"], one["attacker"]) for one in told["identification"]} == {
        (protocol, attacker)
        for protocol in ("raw→release", "white-box")
        for attacker in ("means", "means of places")
    }
    # Time stamps and losses tell people apart: no bound speaks of them.
    assert all(one["bound"] is None for one in told["identification"])
    assert "told apart by what is not protected" in told["verdict"]
    assert "no filter hides these" in told["verdict"]
    assert {"time_stamps_alone", "lost_samples_alone"} <= set(told["controls"])
    assert told["streams"]["units"] == "deg"
    assert "Released gaze beside the original’s" in (tmp_path / "out-audit/report.html").read_text()


def test_filters_are_not_compared_with_mechanisms_for_features(eyelid, study):
    for command in (["compare"], ["recommend", "--goal", "epsilon<=4"]):
        refused = eyelid(*command, study, "--mechanisms", "kaleido")
        assert refused.code == 2
        assert "kaleido takes samples, not features: 'eyelid release' runs it" in refused.err


def test_inspect_says_what_a_release_of_gaze_would_take(eyelid, study):
    told = " ".join(eyelid("inspect", study).out.split())
    assert "--mechanism sample --epsilon 4 --set window=30" in told
    # e⁴/(1 + e⁴): hardly hidden, and no word says that it is.
    assert "guessed right in at most 98.3% of cases, in place of 50%" in told
    assert "hides" not in told

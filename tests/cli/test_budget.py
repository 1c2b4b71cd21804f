"""``eyelid budget``: of the people of a study, and of a stream."""

import json
import os

import pytest

from eyelid.errors import Refused
from eyelid.privacy.guarantee import large_delta
from eyelid.privacy.ledger import Ledger
from eyelid.releases.budget import budget
from eyelid.releases.cost import cost
from eyelid.releases.release import release
from eyelid.stream import Gatekeeper


@pytest.fixture
def spend(tmp_path):
    """A function that spends on a person; gives the file."""

    def run(samples=90, **more):
        path = tmp_path / "anna.budget"
        known = {"epsilon": 2.0, "window": 60, "radius": 50.0, "scene": (0, 0, 300, 400)}
        with Gatekeeper("sample", budget=path, **known, **more) as gate:
            gate.push_many(range(samples), [5.0] * samples, [5.0] * samples)
        return path

    return run


def test_what_a_stream_has_spent_is_told_without_streaming(eyelid, spend):
    # Two windows begun, 500/50 radii each, 2 for a radius.
    done = eyelid("budget", spend())
    assert done.code == 0
    assert "Spent on this person, in all: ε = 40." in done.out
    assert "60 samples" in done.out
    assert "50 px" in done.out
    told = json.loads(eyelid("budget", spend(60 * 1000 - 90), "--json").out)
    assert told["person_epsilon"] == pytest.approx(20_000)
    assert told["holds"]
    assert told["left_in_order"]
    assert "in all: ε over 1,000 (no practical protection)." in eyelid("budget", told["file"]).out


def test_it_can_be_asked_for_while_a_gatekeeper_is_at_work(eyelid, tmp_path):
    path = tmp_path / "anna.budget"
    known = {"epsilon": 2.0, "window": 60, "radius": 50.0, "scene": (0, 0, 300, 400)}
    with Gatekeeper("sample", budget=path, **known) as gate:
        gate.push(0.0, 5.0, 5.0)
        assert "at work, or was killed" in eyelid("budget", path).out


def test_repeatable_noise_has_no_bound(eyelid, spend):
    path = spend(seed=1)
    done = eyelid("budget", path)
    assert done.out.startswith("No bound")
    assert "ε" not in done.out
    assert json.loads(eyelid("budget", path, "--json").out)["person_epsilon"] is None


def test_a_limit_is_given_where_it_streams(eyelid, spend):
    done = eyelid("budget", spend(), "--limit-epsilon", "3")
    assert done.code == 2
    assert "eyelid stream --limit" in done.err


def test_a_budget_that_cannot_be_read_is_no_study(eyelid, spend):
    path = spend()
    path.write_text(path.read_text().replace("window", "widow"))
    done = eyelid("budget", path)
    assert done.code == 2
    assert "no budget that eyelid can read" in done.err


def test_a_total_is_not_stated_at_the_delta_of_a_limit(eyelid, features_folder, tmp_path):
    """A limit with δ = 0.4 made ε = 0 of whatever was spent."""
    release(features_folder, tmp_path / "a", mechanism="gaussian", epsilon=1.0, delta=1e-6)
    before = json.loads(eyelid("budget", features_folder, "--json").out)["spent"]
    told = eyelid("budget", features_folder, "--limit-epsilon", 5, "--limit-delta", 0.4)
    assert "ε = 1, δ = 1e-06" in told.out
    assert large_delta(0.4, 4) in told.out
    after = json.loads(eyelid("budget", features_folder, "--json").out)
    assert after["spent"] == before
    assert (before["epsilon"], before["delta"]) == (pytest.approx(1.0), 1e-6)
    assert after["warnings"] == [large_delta(0.4, 4)]
    assert [group["delta"] for group in after["groups"]] == [1e-6]
    done = release(features_folder, tmp_path / "b", mechanism="gaussian", epsilon=1.0, delta=1e-6)
    assert done.certificate.total.delta == 1e-6
    assert done.certificate.total.epsilon > 1.0
    quote = cost("gaussian", features_folder, epsilon=1.0, delta=1e-6)
    assert quote.total.delta == 1e-6
    assert quote.to_dict()["ledger"]["total"]["epsilon"] > done.certificate.total.epsilon


def test_a_limit_still_compares_at_its_own_delta(features_folder):
    budget(features_folder, limit_epsilon=1.5, limit_delta=1e-3)
    release(features_folder, mechanism="gaussian", epsilon=1.0, delta=1e-6)
    # At δ = 1e-6 two of them are above, at the limit's they are not.
    release(features_folder, mechanism="gaussian", epsilon=1.0, delta=1e-6)
    state = budget(features_folder)
    assert state.sound.epsilon > 1.4
    assert not state.exceeded
    assert not cost("laplace", features_folder, epsilon=0.1).refused
    assert "δ = 0.001" in cost("laplace", features_folder, epsilon=3.0).refused
    with pytest.raises(Refused, match="spent so far"):
        release(features_folder, mechanism="laplace", epsilon=3.0)


def test_a_large_delta_is_warned_of_wherever_it_is_stated(eyelid, features_folder, tmp_path):
    warning = large_delta(0.3, 4)
    words = ("release", features_folder, tmp_path / "a", "--mechanism", "gaussian")
    assert warning in eyelid(*words, "--epsilon", 1, "--delta", 0.3).out
    # Later releases have a small δ, and their total has not.
    done = release(features_folder, tmp_path / "b", mechanism="laplace", epsilon=1.0).certificate
    assert done.total.delta == 0.3
    assert warning in done.unprotected
    shown = eyelid("budget", features_folder)
    assert "δ = 0.3" in shown.out
    assert warning in shown.out
    words = ("cost", features_folder, "--mechanism", "gaussian", "--epsilon", 1)
    assert warning in eyelid(*words, "--delta", 0.3).out
    assert json.loads(eyelid(*words, "--json").out)["warnings"] == [warning]
    budget(features_folder, limit_epsilon=0.1, limit_delta=0.3)
    with pytest.raises(Refused, match="publishes one outright"):
        release(features_folder, mechanism="laplace", epsilon=1.0)
    assert warning in cost("laplace", features_folder, epsilon=1.0).refused


def test_a_ledger_that_does_not_know_all_has_no_total_anywhere(eyelid, features_folder, tmp_path):
    release(features_folder, tmp_path / "a", mechanism="laplace", epsilon=1.0)
    origin = budget(features_folder)
    assert origin.to_dict()["complete"]
    (tmp_path / "features.ledger").unlink()
    eyelid("budget", features_folder, "--lost")
    for name in ("b", "c"):
        release(features_folder, tmp_path / name, mechanism="laplace", epsilon=1.0)
    told = eyelid("budget", features_folder, "--limit-epsilon", 3)
    assert "There is no total" in told.out
    assert "What is counted here is ε = 2 in 2 releases, which does not bound" in told.out
    assert "which is kept for what is counted here and nothing else" in told.out
    assert "at most" not in told.out
    found = json.loads(eyelid("budget", features_folder, "--json").out)
    assert (found["complete"], found["counted"], found["releases"]) == (False, True, 2)
    assert found["spent"]["epsilon"] is found["spent"]["delta"] is None
    assert found["spent"]["bounded"] is False
    assert [group["epsilon"] for group in found["groups"]] == [None]
    # That it is not exceeded nobody knows.
    assert found["limit"]["exceeded"] is None
    quote = cost("laplace", features_folder, epsilon=1.0)
    assert quote.total is None
    assert quote.to_dict()["ledger"]["total"] is None
    assert set(quote.rank1_bound.values()) == {None}
    words = ("cost", features_folder, "--mechanism", "laplace", "--epsilon", 1)
    assert "not known (2 other releases" in eyelid(*words).out
    with pytest.raises(Refused, match="counted here: ε = 2") as refused:
        release(features_folder, mechanism="laplace", epsilon=2.0)
    said = [told.out, eyelid(*words).out, str(refused.value)]
    words = ("release", features_folder, tmp_path / "d", "--mechanism", "laplace", "--epsilon", 1)
    shown = eyelid(*words)
    assert shown.code == 0
    said += [shown.out, (tmp_path / "d" / "DATACARD.md").read_text()]
    assert not any("so far" in text for text in said)
    assert json.loads((tmp_path / "d" / "certificate.json").read_text())["ledger_total"] is None
    budget(features_folder, limit_epsilon=1.0)
    found = json.loads(eyelid("budget", features_folder, "--json").out)
    assert found["limit"]["exceeded"] is True


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no such modes")
def test_others_who_can_open_the_ledger_are_told_of(eyelid, features_folder, tmp_path):
    Ledger(tmp_path / "features.ledger")
    (tmp_path / "features.ledger").chmod(0o644)
    told = eyelid("budget", features_folder)
    assert "others on this machine may open the ledger" in told.err
    assert "chmod 600" in told.err


def test_the_help_has_an_example_of_every_way_to_keep_count(eyelid):
    told = eyelid("budget", "--help").out
    for option in ("--limit-epsilon", "--join", "--apart", "--lost", "--ledger moved"):
        assert option in told.partition("Examples:")[2]


def test_what_is_for_studies_is_not_for_streams(eyelid, spend):
    for words in (["--lost"], ["--join", "x"], ["--apart", "x"]):
        assert eyelid("budget", spend(), *words).code == 2

"""``eyelid budget`` for the budget of a stream."""

import json

import pytest

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
    assert "ε = 20,000." in eyelid("budget", told["file"]).out


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

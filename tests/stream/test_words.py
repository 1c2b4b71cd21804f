"""What operators and apps are told of a promise."""

import math

import pytest

from eyelid.stream.words import hello_of, honest, promise_lines, verdict


def test_what_holds_is_told_as_a_guess(make_gate):
    gate = make_gate(seed=None, epsilon=math.log(3))
    told = hello_of(gate, 120.0)
    assert (told["verdict"], told["holds"]) == ("Protected", True)
    # e^ε / (1 + e^ε) = 3/4.
    assert "is right at most 75" in told["guarantee"]
    assert "next to nothing" not in told["guarantee"]


@pytest.mark.parametrize(("epsilon", "words"), [(4.5, "Protected"), (4.7, "Hardly protected")])
def test_beyond_99_percent_a_promise_is_one_in_name(make_gate, epsilon, words):
    assert verdict(make_gate(seed=None, epsilon=epsilon)) == words


def test_a_guess_is_never_rounded_down_or_up_to_certainty(make_gate):
    told = hello_of(make_gate(seed=None, epsilon=50.0), None)["guarantee"]
    assert "at most 100% of the time, not 50: next to nothing is hidden" in told


def test_of_a_seeded_run_no_number_is_told_that_promises_something(make_gate):
    gate = make_gate(seed=7)
    gate.push(0.0, 1.0, 1.0)
    told = hello_of(gate, 120.0)
    assert (told["verdict"], told["holds"]) == ("Not protected", False)
    assert [told[name] for name in ("epsilon", "window", "radius", "window_cost")] == [None] * 4
    meter = vars(honest(gate.meter(), gate))
    assert {value for name, value in meter.items() if "epsilon" in name} == {math.inf}
    assert not [line for line in promise_lines(gate, 120.0, 180.0) if "ε" in line]


def test_without_a_rate_the_most_that_is_let_in_is_told(make_gate):
    lines = promise_lines(make_gate(seed=None, window=20), None, 2000.0)
    # 2202.907 / 50 for a window of 20; 60.5 s of 2000 Hz.
    assert "which is at most 266,600 a minute at the 2000 Hz that are let in" in lines[1]


def test_a_window_over_two_runs_is_promised_only_where_they_share_a_budget_file(
    make_gate, tmp_path
):
    twice = "20 samples in a row over two runs may cost twice as much"
    alone = promise_lines(make_gate(seed=None, window=20), None, 2000.0)
    assert twice in " ".join(alone)
    with make_gate(seed=None, window=20, budget=tmp_path / "anna") as gate:
        assert twice not in " ".join(promise_lines(gate, None, 2000.0))


def test_what_was_killed_is_said_at_the_start(make_gate, tmp_path):
    budget = tmp_path / "anna"
    first = make_gate(seed=None, budget=budget)
    first.push(0.0, 1.0, 1.0)
    first.abandon()
    with make_gate(seed=None, budget=budget) as gate:
        lines = promise_lines(gate, 120.0, 180.0)
    assert "the last run was killed" in lines[-1]
    assert "29 samples" in lines[-1]

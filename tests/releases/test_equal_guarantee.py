"""A small version of the table that `python -m proofs equal_guarantee` makes of 1000 people."""

from dataclasses import replace

import pytest
from proofs.equal_guarantee import OURS, TASKS, compare, first, judged, simulated

EPSILON = 4.0
FEW, MANY = 12, 40


@pytest.fixture(scope="module")
def rows():
    crowd = simulated(MANY)
    return [
        row for people in (FEW, MANY) for row in compare(first(crowd, people), (EPSILON,), draws=1)
    ]


def errors(rows, released, people, mechanism):
    wanted = (released, people, mechanism)
    return [r.rmse_of_span for r in rows if (r.released, r.people, r.mechanism) == wanted]


def test_at_the_same_promise_ours_are_nearer_and_cost_foresees_where_a_constant_wins(rows):
    found = judged(rows)
    assert found.passed, found.figures
    assert found.figures["constant_wins"] > 0


def test_it_would_have_been_noticed_had_cost_foreseen_nothing(rows):
    assert not judged([replace(row, expected=0.0) for row in rows]).passed


def test_it_would_have_been_noticed_had_ours_been_no_better(rows):
    worse = [replace(r, rmse_of_span=0.9) if r.mechanism in OURS else r for r in rows]
    assert not judged(worse).passed


def test_one_feature_of_one_recording_is_read_where_everything_together_is_not(rows):
    for people in (FEW, MANY):
        one = errors(rows, "one", people, "dct")
        everything = errors(rows, "all", people, "dct")
        assert len(one) == len(everything) == len(TASKS)
        assert max(one) < min(everything)


def test_more_people_make_a_mean_nearer(rows):
    for released in ("one", "all"):
        few, many = (sum(errors(rows, released, people, "dct")) for people in (FEW, MANY))
        assert many < few

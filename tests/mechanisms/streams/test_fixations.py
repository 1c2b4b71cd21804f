"""Fixations from a stream: what is found, what is told, and what it costs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.events import StreamEvent
from eyelid.mechanisms.streams.fixations import Fixations
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON
from eyelid.verification.fixations import fuzz_fixations
from eyelid.verification.game import play

SURE = 1e9
"""An ε with which there is next to no noise."""


def detector(**parameters: Any) -> Fixations:
    told = {"epsilon": 8.0, "window": 10, "radius": 10.0, "scene": "0,0,1000,600", "span": 6}
    return Fixations(**(told | parameters))


def gaze(samples: int, seed: int = 0, lost: float = 0.1) -> np.ndarray:
    """Fixations of some 20 samples, anywhere, with lost samples."""
    rng = np.random.default_rng(seed)
    places = rng.uniform([100, 100], [900, 500], (samples // 10, 2))
    points = np.repeat(places, rng.integers(5, 30, len(places)), axis=0)[:samples]
    points = points + rng.normal(0, 4, points.shape)
    points[rng.random(len(points)) < lost] = np.nan
    return points


def test_one_by_one_or_together_is_the_same_stream() -> None:
    # Long enough for compiled code, where there is any.
    mechanism, points = detector(areas="middle:300,200,700,400"), gaze(2_600)
    single, pieces, whole = (mechanism.start(randomness(7)) for _ in range(3))
    one_by_one = np.array([single.push(x, y) for x, y in points.tolist()])
    in_pieces = np.concatenate([np.stack(pieces.push_many(*p.T), 1) for p in np.split(points, 26)])
    together = np.stack(whole.push_many(*points.T), axis=1)
    assert np.array_equal(one_by_one, in_pieces)
    assert np.array_equal(one_by_one, together)
    assert single.take_events() == pieces.take_events() == whole.take_events()
    assert single.spent_parts == pieces.spent_parts == whole.spent_parts


def plain_fixations(mechanism: Fixations, points: np.ndarray) -> list[tuple[int, bool]]:
    """When fixations start and end without noise, by the definition."""
    found, fixating = [], False
    for i in range(0, len(points), mechanism.slot_samples):
        last = points[max(0, i - mechanism.span + 1) : i + 1]
        seen = last[~np.isnan(last[:, 0])]
        if not len(seen):
            rests = False
        elif len(seen) < mechanism.fewest:
            rests = fixating
        else:
            rests = math.sqrt(seen.var(axis=0).sum()) <= mechanism.threshold
        if rests != fixating:
            found.append((i, rests))
        fixating = rests
    return found


def test_without_noise_it_finds_what_its_definition_says() -> None:
    mechanism = detector(epsilon=SURE, window=1)
    run, points = mechanism.start(randomness(7)), gaze(3_000, lost=0.3)
    points[500:540] = np.nan
    run.push_many(*points.T)
    told = [(event.sample, event.name == "fixation started") for event in run.take_events()]
    assert told == plain_fixations(mechanism, points)
    assert len(told) > 50


def test_events_tell_cells_areas_and_when_one_is_entered() -> None:
    mechanism = detector(epsilon=SURE, window=1, areas="logo:0,0,100,100", cell=200.0, skip=6)
    run = mechanism.start(randomness(7))
    visits = np.repeat([[50.0, 50.0], [450.0, 250.0], [60.0, 60.0], [20.0, 20.0]], 12, axis=0)
    run.push_many(*visits.T)
    assert run.take_events() == [
        StreamEvent("fixation started", 6, 50.0, 50.0, "logo"),
        StreamEvent("area entered", 6, 50.0, 50.0, "logo"),
        StreamEvent("fixation ended", 12, 50.0, 50.0, "logo"),
        StreamEvent("fixation started", 18, 500.0, 300.0, "row 2, column 3"),
        StreamEvent("fixation ended", 24, 500.0, 300.0, "row 2, column 3"),
        StreamEvent("fixation started", 30, 50.0, 50.0, "logo"),
        StreamEvent("area entered", 30, 50.0, 50.0, "logo"),
    ]
    assert run.take_events() == []
    assert run.push(20.0, 20.0) == (50.0, 50.0)


def test_lost_gaze_ends_a_fixation_and_spends_nothing() -> None:
    run = detector(epsilon=SURE, window=1, skip=1).start(randomness(7))
    run.push_many(*np.full((6, 2), 300.0).T)
    before = run.spent_parts
    for _ in range(3):
        run.push(math.nan, math.nan)
    few_seen = run.spent_parts
    run.push_many(*np.full((9, 2), np.nan).T)
    assert before < few_seen == run.spent_parts
    assert [event.name for event in run.take_events()] == ["fixation started", "fixation ended"]


POINTS = st.tuples(st.floats(-1, 1), st.floats(-1, 1))


@given(st.lists(st.tuples(POINTS, st.floats(0, 1), st.floats(0, 7)), min_size=2, max_size=12))
def test_spread_and_middle_move_by_no_more_than_each_sample(samples) -> None:
    one = np.array([place for place, _, _ in samples]) * 5
    by = np.array([[r * math.cos(a), r * math.sin(a)] for _, r, a in samples])
    spreads = [math.sqrt(points.var(axis=0).sum()) for points in (one, one + by)]
    middles = [points.mean(axis=0) for points in (one, one + by)]
    assert abs(spreads[1] - spreads[0]) <= 1 + 1e-12
    assert np.hypot(*(middles[1] - middles[0])) <= 1 + 1e-12


RUNS_OF_GAZE = st.lists(
    st.tuples(st.sampled_from(["rest", "move", "lost"]), st.integers(1, 9)), min_size=3, max_size=25
)


@settings(max_examples=30)
@given(RUNS_OF_GAZE, st.integers(1, 7), st.integers(2, 6), st.integers(1, 5), st.integers(0, 99))
def test_no_w_samples_reach_tests_that_spend_more_than_epsilon(
    stretches, window, span, skip, seed
) -> None:
    mechanism = detector(epsilon=2.0, window=window, span=span, skip=min(skip, span), fewest=2)
    run, rng = mechanism.start(randomness(seed)), np.random.default_rng(seed)
    spent = []
    for kind, count in stretches:
        for _ in range(count):
            place = rng.uniform(0, 600, 2) if kind == "move" else (300.0, 300.0)
            before = run.spent_parts
            run.push(*(place if kind != "lost" else (math.nan, math.nan)))
            spent.append(run.spent_parts - before)
    # Sample i is looked at by tests from i on, and until span - 1 samples after it.
    reached = [sum(spent[i : i + window - 1 + span]) for i in range(len(spent))]
    assert max(reached) <= WHOLE
    assert run.worst_parts == max(
        sum(spent[max(0, i - mechanism.apart) : i + 1]) for i in range(len(spent))
    )


def test_no_outcome_loses_more_than_epsilon_and_budgets_are_used() -> None:
    for mechanism in Fixations.set_for_games():
        found = fuzz_fixations(mechanism, 60, randomness(7))
        assert not found.refuted
    assert found.reached > 0.95


def test_a_game_certifies_a_good_part_of_the_claim_and_no_more() -> None:
    mechanism = next(Fixations.set_for_games())
    found = play(mechanism, mechanism.unit, 6_000, randomness(7))
    assert 0.6 < found.lower_bound < found.claimed == 2.0


def test_scores_are_the_likelihoods_of_what_happens() -> None:
    mechanism = next(Fixations.set_for_games())
    pair = next(mechanism.neighbour_pairs(mechanism.unit))
    runs = 20_000
    odds = np.exp(mechanism.score(mechanism.play(pair.one, pair.facts, runs, randomness(7)), pair))
    # The mean of a likelihood ratio is 1; five standard errors are missed once in two million.
    assert abs(odds.mean() - 1) < 5 * odds.std() / math.sqrt(runs)
    assert odds.std() > 0.1


def test_what_is_saved_has_no_gaze_and_goes_on() -> None:
    mechanism, points = detector(epsilon=40.0), gaze(400)
    run = mechanism.start(randomness(7))
    run.push_many(*points.T)
    saved = json.loads(json.dumps(run.saved()))
    raw = set(np.rint(points[~np.isnan(points)] / mechanism.step).tolist())
    assert not raw & set(saved["state"])
    again = mechanism.start(randomness(8))
    again.restore(saved)
    assert again.spent_parts == run.spent_parts
    assert again.push(math.nan, math.nan) == run.push(math.nan, math.nan)


def test_a_pause_keeps_changed_samples_apart() -> None:
    mechanism = detector(window=10, span=6)
    assert mechanism.apart == 10 + 6 - 2


def test_a_person_costs_every_window_times_the_scene() -> None:
    mechanism = detector(epsilon=1.0)
    cost = mechanism.cost(PublicFacts(1, 2, 95, 2, window=1), PERSON)
    assert cost.epsilon == pytest.approx(2 * 10 * math.hypot(1000, 600) / 10)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"span": 1}, "span must be between 2"),
        ({"span": 2.5}, "span must be a whole number"),
        ({"skip": 0}, "skip must be between 1"),
        ({"skip": 0.5}, "skip must be a whole number"),
        ({"fewest": 2.5}, "fewest must be a whole number"),
        ({"skip": 16}, r"w \+ span - 1 = 15"),
        ({"threshold": -1.0}, "threshold must be between 0"),
        ({"fewest": 1}, "fewest must be between 2"),
        ({"cell": 0.0}, "cell must be positive"),
        ({"areas": "logo"}, "is not NAME"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(changes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        detector(**changes)

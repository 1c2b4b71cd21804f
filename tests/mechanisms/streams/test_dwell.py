"""Counters told again and again: the matrix, what moves it, the noise, the horizon."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError, Refused
from eyelid.mechanisms.mechanism import PublicFacts
from eyelid.mechanisms.streams.dwell import Dwell
from eyelid.mechanisms.streams.square_root import square_root, stretch
from eyelid.privacy.gaussian import gaussian_sigma
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON, Unit
from eyelid.verification.dwell import fuzz_dwell
from eyelid.verification.game import play

HORIZON = 1216


def counters(**parameters: Any) -> Dwell:
    told = {
        "epsilon": 2.0,
        "window": 7,
        "every": 5,
        "horizon": 20,
        "scene": "0,0,30,10",
        "areas": "left:0,0,10,10; right:20,0,30,10",
    }
    return Dwell(**(told | parameters))


def gaze(samples: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.uniform([0, 0], [30, 10], (samples, 2))
    points[rng.random(samples) < 0.1] = np.nan
    return points


def triangle(diagonals: np.ndarray) -> np.ndarray:
    size = len(diagonals)
    return np.array(
        [[diagonals[i - j] if i >= j else 0.0 for j in range(size)] for i in range(size)]
    )


def test_the_matrix_squared_adds_up() -> None:
    root = triangle(square_root(50))
    assert np.allclose(root @ root, np.tril(np.ones((50, 50))), atol=1e-12)


def test_one_changed_sample_moves_it_by_the_golden_number() -> None:
    assert stretch(square_root(HORIZON), 1, 1) == pytest.approx(1.824, abs=5e-4)
    norm = np.linalg.norm(square_root(HORIZON))
    assert stretch(square_root(HORIZON), 1, 1) == pytest.approx(norm, rel=1e-12)


@given(st.integers(1, 8), st.integers(1, 30), st.integers(1, 5))
def test_samples_in_a_row_move_it_as_far_as_their_worst_offset(ticks, samples, every) -> None:
    root = triangle(square_root(ticks))
    farthest = 0.0
    for first in range(ticks * every):
        changed = np.zeros(ticks * every)
        changed[first : first + samples] = 1
        counts = changed.reshape(ticks, every).sum(axis=1)
        farthest = max(farthest, np.linalg.norm(root @ counts))
    assert stretch(square_root(ticks), samples, every) == pytest.approx(farthest, rel=1e-12)


def test_turning_back_never_moves_it_farther() -> None:
    root, rng = triangle(square_root(12)), np.random.default_rng(0)
    straight = np.linalg.norm(root @ np.ones(12))
    for signs in rng.choice([-1.0, 0.0, 1.0], (500, 12)):
        assert np.linalg.norm(root @ signs) <= straight + 1e-12


def test_errors_are_less_than_half_of_a_binary_trees() -> None:
    # Both at μ = 1 for one sample of one counter. A tree has a node for every power of two.
    root = square_root(HORIZON)
    ours = np.linalg.norm(root) * np.sqrt(np.cumsum(root**2))
    levels = math.floor(math.log2(HORIZON)) + 1
    nodes = np.array([t.bit_count() for t in range(1, HORIZON + 1)])
    trees = math.sqrt(levels) * np.sqrt(nodes)
    assert ours[-1] == pytest.approx(1.824**2, rel=1e-3)
    assert ours.max() * 3 < trees.max()
    assert ours.mean() * 2.2 < trees.mean()


def test_noise_is_as_strong_as_theory_says() -> None:
    mechanism = counters(horizon=HORIZON, every=1, window=1, areas="left:0,0,10,10", delta=1e-5)
    sigma = gaussian_sigma(2.0, 1e-5) * 1.824
    assert mechanism.standard_errors[0] == pytest.approx(sigma, rel=1e-3)
    assert mechanism.standard_errors[-1] == pytest.approx(sigma * 1.824, rel=1e-3)


def test_one_by_one_or_together_is_what_the_matrix_says() -> None:
    mechanism, points = counters(), gaze(93)
    single, together = (mechanism.start(randomness(7)) for _ in range(2))
    for x, y in points.tolist():
        single.push(x, y)
    together.push_many(*points[:38].T)
    together.push_many(*points[38:].T)
    assert single.counters() == together.counters()
    noise = mechanism.noise.draw((20, 2), randomness(7))[:18]
    counts = mechanism.counts_of(*points.T)[:18]
    measured = triangle(mechanism.steps_of_root[:18]) @ counts + noise
    told = (triangle(mechanism.root[:18]) @ measured * mechanism.step)[-1]
    assert single.counters().dwell_samples == pytest.approx(told, rel=1e-12)
    assert single.counters().samples == 90


def test_counters_are_right_on_average_and_as_far_off_as_they_say() -> None:
    mechanism, points, runs = counters(horizon=4), gaze(20), 4_000
    facts = PublicFacts(1, 1, 20, 2, window=1)
    told = mechanism.play(points[None] / [30, 10], facts, runs, randomness(7)).reshape(runs, 4, 2)
    exact = np.cumsum(mechanism.counts_of(*points.T), axis=0)
    errors = (told - exact) / mechanism.standard_errors[:, None]
    # Five standard errors of eight means and spreads: wrong once in a hundred thousand.
    assert np.abs(errors.mean(axis=0)).max() < 5 / math.sqrt(runs)
    assert np.abs(errors.std(axis=0) - 1).max() < 5 / math.sqrt(2 * runs)


def test_after_the_horizon_nothing_more_is_told() -> None:
    run = counters(horizon=3).start(randomness(7))
    assert run.counters().dwell_samples == (0.0, 0.0)
    run.push_many(*gaze(15).T)
    last = run.counters()
    assert last.finished
    run.push_many(*gaze(40).T)
    run.push(1.0, 1.0)
    assert run.counters() == last
    assert run.samples == 56


def test_the_fuzz_reaches_what_is_declared_and_no_more() -> None:
    assert 0.999 < fuzz_dwell(counters(), 300).reached <= 1
    assert 0.999 < fuzz_dwell(counters(areas="left:0,0,10,10"), 300).reached <= 1


def test_games_certify_most_of_the_claim_of_a_window_and_of_a_person() -> None:
    mechanism = next(Dwell.set_for_games())
    for unit in (mechanism.unit, PERSON):
        found = play(mechanism, unit, 20_000, randomness(7))
        assert 0.85 * found.claimed < found.lower_bound < found.claimed


def test_whoever_is_hidden_costs_what_all_their_samples_move() -> None:
    mechanism = counters()
    facts = PublicFacts(1, 4, 1000, 2, window=1)
    window, person = mechanism.cost(facts, mechanism.unit), mechanism.cost(facts, PERSON)
    assert (window.epsilon, window.delta) == (2.0, 1e-6)
    everything = np.linalg.norm(triangle(mechanism.root) @ np.full(20, 5.0))
    assert person.mu == pytest.approx(2 * everything / mechanism.moved * window.mu, rel=1e-6)
    assert mechanism.cost(facts, Unit("event", 14, 1.0)).epsilon > 2.0
    with pytest.raises(Refused, match="does not offer the unit"):
        mechanism.cost(facts, Unit("record"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"areas": ""}, "needs areas"),
        ({"window": 0}, "window must be a whole number, at least 1, got 0"),
        ({"every": 2.5}, "every must be a whole number, at least 1, got 2.5"),
        ({"horizon": 2.5}, "horizon must be a whole number"),
        ({"horizon": 10_000_000}, "too many"),
        ({"delta": 0.0}, "delta must be above 0"),
        ({"epsilon": 1e18}, "finer steps"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(changes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        counters(**changes)

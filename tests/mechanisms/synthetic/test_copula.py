"""Synthetic participants: correlated signals as in the model, over features, time and tasks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from eyelid.mechanisms.synthetic import copula as module
from eyelid.mechanisms.synthetic.copula import GRID, PARTS, Copula, rates, recall
from eyelid.mechanisms.synthetic.rounds import (
    TRENDS,
)
from eyelid.mechanisms.synthetic.sequences import (
    LENGTH_BINS,
    lags_of,
    length_edges,
)

PARENTS = (-1, 2, 0)
LINKS = np.array([0.0, -0.6, 0.8])
# Person, recording, slow, fast, window.
SHARES = np.array([[0.3, 0.1, 0.2, 0.2, 0.2], [0.0, 0.0, 0.0, 0.0, 1.0], [0.1, 0.3, 0.0, 0.6, 0.0]])
WINDOW = 4


def model(tasks: int = 2, groups: int = 1, **changes: object) -> Copula:
    """One whose values are its signals."""
    lengths = np.zeros((groups, tasks, LENGTH_BINS))
    lengths[..., 10] = 1.0
    plain = Copula(
        quantiles=np.broadcast_to(GRID, (groups, tasks, 3, GRID.size)),
        parents=PARENTS,
        links=LINKS,
        parts=SHARES,
        trends=np.zeros((TRENDS, 3)),
        lengths=lengths,
        window=WINDOW,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def drawn(copula: Copula, people: int, rows: int, seed: int = 1) -> np.ndarray:
    """(people, tasks, rows, features)."""
    tasks = copula.quantiles.shape[1]
    many = np.full((people, tasks), rows)
    blocks = list(copula.drawn(0, many, np.random.default_rng(seed)))
    return np.concatenate(blocks).reshape(people, tasks, rows, -1)


@pytest.fixture(scope="module")
def signals() -> np.ndarray:
    """Of 3000 people: correlations are off by 0.02 where they last for life; tests allow 0.1."""
    return drawn(model(), 3000, 20)


def wanted_memory() -> tuple[np.ndarray, np.ndarray]:
    """What each feature has in common with itself later and in other tasks, by hand."""
    own, life = recall(WINDOW) @ SHARES.T, SHARES[:, 0]
    lags, tasks = np.empty_like(own), np.empty(3)
    for feature in (0, 2, 1):
        parent, r2 = PARENTS[feature], LINKS[feature] ** 2
        above = (lags[:, parent], tasks[parent]) if parent >= 0 else (0.0, 0.0)
        lags[:, feature] = r2 * above[0] + (1 - r2) * own[:, feature]
        tasks[feature] = r2 * above[1] + (1 - r2) * life[feature]
    return lags, tasks


def test_signals_have_mean_zero_and_variance_one_at_every_row(signals):
    flat = signals.reshape(-1, 20, 3)
    assert np.abs(flat.mean(axis=0)).max() < 0.1
    assert np.abs(flat.var(axis=0) - 1).max() < 0.1


def test_features_go_together_along_the_tree(signals):
    found = np.corrcoef(signals.reshape(-1, 3), rowvar=False)
    wanted = np.array([[1, -0.48, 0.8], [-0.48, 1, -0.6], [0.8, -0.6, 1]])
    assert np.abs(found - wanted).max() < 0.05


def test_signals_last_as_long_as_their_parts(signals):
    lags, _ = wanted_memory()
    for number, lag in enumerate(lags_of(WINDOW)):
        for feature in range(3):
            one, later = signals[..., :-lag, feature], signals[..., lag:, feature]
            found = np.corrcoef(one.ravel(), later.ravel())[0, 1]
            assert found == pytest.approx(lags[number, feature], abs=0.06)


def test_people_stay_the_same_over_tasks_as_far_as_their_parts_for_life(signals):
    _, tasks = wanted_memory()
    for feature in range(3):
        one, other = signals[:, 0, :, feature], signals[:, 1, :, feature]
        assert np.corrcoef(one.ravel(), other.ravel())[0, 1] == pytest.approx(
            tasks[feature], abs=0.06
        )


def test_people_have_nothing_to_do_with_each_other(signals):
    one, next_one = signals[:-1, ..., 0].ravel(), signals[1:, ..., 0].ravel()
    assert abs(np.corrcoef(one, next_one)[0, 1]) < 0.06


@pytest.mark.parametrize("window", [1, 4, 60])
def test_recall_is_that_of_each_part_alone(window):
    lags = lags_of(window)
    found = recall(window)
    assert found.shape == (len(lags), PARTS)
    assert (found[:, :2] == 1).all()
    for column, rate in zip((2, 3), rates(window), strict=True):
        assert found[:, column] == pytest.approx([rate**lag for lag in lags])
    assert found[:, 4] == pytest.approx([max(0.0, 1 - lag / window) for lag in lags])


def test_trends_are_followed_and_the_variance_stays_one():
    trends = np.array([[0.8, 0.0, -0.3], [0.0, 0.5, 0.2]])
    signals = drawn(model(1, trends=trends), 4000, 24, seed=2)[:, 0]
    middle = (np.arange(24) + 0.5) / 24
    waves = np.stack([np.cos(np.pi * middle), np.cos(2 * np.pi * middle)])
    assert np.abs(signals.mean(axis=0) - waves.T @ trends).max() < 0.1
    assert np.abs((signals**2).mean(axis=(0, 1)) - 1).max() < 0.06


def test_a_trend_ends_with_its_recording_however_long_that_is():
    """The signal falls from the first row to the last, also of a short recording among long."""
    copula = model(2, trends=np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    rows = np.tile([[10, 40]], (2000, 1))
    values = np.concatenate(list(copula.drawn(0, rows, np.random.default_rng(3))))
    each = values.reshape(2000, 50, 3).mean(axis=0)
    for first, last in ((0, 9), (10, 49)):
        assert each[first] == pytest.approx(np.ones(3), abs=0.1)
        assert each[last] == pytest.approx(-np.ones(3), abs=0.1)


def test_values_are_those_of_their_group_task_and_feature_in_the_order_of_recordings(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_VALUES", 200)
    marks = np.arange(12.0).reshape(2, 2, 3)[..., None] + np.zeros(GRID.size)
    copula = model(2, 2, quantiles=marks)
    rng = np.random.default_rng(4)
    rows = rng.integers(1, 9, (30, 2))
    for group in range(2):
        blocks = list(copula.drawn(group, rows, rng))
        assert len(blocks) > 1
        wanted = np.repeat(np.tile(marks[group, ..., 0], (30, 1)), rows.ravel(), axis=0)
        assert (np.concatenate(blocks) == wanted).all()


def test_lengths_are_drawn_from_their_bins():
    """Two bins with odds of one to three: off by 0.04 at five standard errors."""
    lengths = np.zeros((1, 2, LENGTH_BINS))
    lengths[0, 0, [12, 20]] = 0.25, 0.75
    lengths[0, 1, 0] = 1.0
    found = model(2, lengths=lengths).rows(0, 3000, np.random.default_rng(5))
    edges = length_edges()
    short = (found[:, 0] >= edges[12]) & (found[:, 0] < edges[13])
    long = (found[:, 0] >= edges[20]) & (found[:, 0] < edges[21])
    assert (short | long).all()
    assert short.mean() == pytest.approx(0.25, abs=0.04)
    assert np.ptp(found[long, 0]) > 10
    assert (found[:, 1] == 1).all()


def test_every_bin_of_lengths_gives_at_least_one_row():
    lengths = np.full((1, 1, LENGTH_BINS), 1 / LENGTH_BINS)
    found = model(1, lengths=lengths).rows(0, 2000, np.random.default_rng(6))
    assert found.min() >= 1


def test_the_same_seed_gives_the_same_people():
    assert (drawn(model(), 5, 7, seed=8) == drawn(model(), 5, 7, seed=8)).all()
    assert (drawn(model(), 5, 7, seed=8) != drawn(model(), 5, 7, seed=9)).any()

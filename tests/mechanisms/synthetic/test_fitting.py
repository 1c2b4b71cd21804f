"""From noisy answers to a model, and back to what they were answers about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.synthetic.binning import Bins
from eyelid.mechanisms.synthetic.copula import GRID, PARTS, Copula
from eyelid.mechanisms.synthetic.estimates import halves
from eyelid.mechanisms.synthetic.fitting import (
    Chance,
    correlation,
    fitted,
    lengths_of,
    linked,
    memory,
    quantile_tables,
    recalled,
    tree_memory,
    trends_of,
)
from eyelid.mechanisms.synthetic.rounds import (
    TRENDS,
    whole_waves,
)
from eyelid.mechanisms.synthetic.sequences import (
    BEND,
    LENGTH_BINS,
    length_bin,
    sequences_of,
)
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import randomness


@pytest.mark.parametrize("r", [-0.99, -0.5, 0.0, 0.3, 0.9])
def test_correlations_come_from_signs_as_orthants_have_it(r):
    from scipy.stats import multivariate_normal

    both = multivariate_normal.cdf([0, 0], cov=[[1, r], [r, 1]])
    assert correlation(np.array([4 * both - 1])) == pytest.approx([r], abs=1e-4)
    assert linked(np.array([4 * both - 1])) == pytest.approx([0.0, r], abs=1e-4)


def test_links_stay_below_one_whatever_noise_does():
    found = linked(np.array([-7.0, 1.0, 3.0]))
    assert (np.abs(found) < 1).all()
    assert found[0] == 0


@given(st.integers(0, 10**6), st.sampled_from([1, 4, 60]))
def test_memory_has_the_correlations_that_parts_can_have(seed, window):
    parts = np.random.default_rng(seed).dirichlet(np.full(PARTS, 0.5), 3)
    lags, tasks = recalled(parts, window)
    found = memory(lags, tasks, window)
    assert (found >= 0).all()
    assert found.sum(axis=1) == pytest.approx(1.0)
    again, over_tasks = recalled(found, window)
    assert again == pytest.approx(lags, abs=1e-6)
    assert over_tasks == pytest.approx(tasks, abs=1e-6)


@given(st.integers(0, 10**6))
def test_memory_is_a_model_whatever_is_wanted_of_it(seed):
    rng = np.random.default_rng(seed)
    lags = rng.random((4, 2))
    for tasks in (rng.random(2), None):
        found = memory(lags, tasks, 60)
        assert (found >= 0).all()
        assert found.sum(axis=1) == pytest.approx(1.0)


def test_features_remember_what_is_wanted_of_the_whole_and_not_of_their_own_alone():
    parents, links = (-1, 0, 1), np.array([0.0, 0.7, -0.8])
    own = np.random.default_rng(3).dirichlet(np.full(PARTS, 0.8), 3)
    own_lags, own_tasks = recalled(own, 60)
    lags, tasks = own_lags.copy(), own_tasks.copy()
    for feature in (1, 2):
        r2 = links[feature] ** 2
        lags[:, feature] = r2 * lags[:, feature - 1] + (1 - r2) * own_lags[:, feature]
        tasks[feature] = r2 * tasks[feature - 1] + (1 - r2) * own_tasks[feature]
    found = tree_memory(parents, links, lags, tasks, 60)
    again, over_tasks = recalled(found, 60)
    assert again == pytest.approx(own_lags, abs=1e-6)
    assert over_tasks == pytest.approx(own_tasks, abs=1e-6)


def test_trends_come_from_signs_times_waves():
    """Signals of known waves: 20 000 recordings of 32 rows, within 0.03."""
    wanted = np.array([[0.4, -0.2], [0.0, 0.3]])
    middle = (np.arange(32) + 0.5) / 32
    waves = np.stack([np.cos(np.pi * (k + 1) * middle) for k in range(TRENDS)])
    signal = np.random.default_rng(4).normal(waves.T @ wanted, 1.0, (20_000, 32, 2))
    whole = whole_waves(32)
    means = np.einsum("ptf,kt->kf", np.sign(signal), whole) / 20_000
    found = trends_of(means / np.abs(whole).sum(axis=1)[:, None])
    assert found == pytest.approx(wanted, abs=0.03)


def test_trends_never_have_more_than_half_of_the_variance():
    found = trends_of(np.array([[5.0, 0.0], [-5.0, 0.0]]))
    assert (found**2).sum(axis=0) / 2 == pytest.approx([0.5, 0.0])


def test_quantiles_give_back_the_distribution_they_are_of():
    """Of the Gaussian signal, what lies below the value of each edge is what lies in the bins."""
    from scipy.special import ndtr

    features = [Feature("a", "1", "", 0.0, 9.0), Feature("b", "1", "", -4.0, 4.0)]
    bins = Bins.of(features, 8, BEND)
    shares = 0.9 * np.random.default_rng(5).dirichlet(np.ones(8), (2, 3, 2)) + 0.1 / 8
    tables = quantile_tables(shares, bins)
    assert tables.shape == (2, 3, 2, GRID.size)
    assert (np.diff(tables, axis=-1) >= 0).all()
    edges = bins.values(np.repeat(np.arange(1.0, 8)[:, None], 2, axis=1))
    for group, task, feature in np.ndindex(2, 3, 2):
        signal = np.interp(edges[:, feature], tables[group, task, feature], GRID)
        below = np.cumsum(shares[group, task, feature])[:-1]
        assert ndtr(signal) == pytest.approx(below, abs=0.003)


def test_quantiles_stay_inside_the_bounds():
    bins = Bins(np.array([2.0, 3.0]), np.array([5.0, 3.0]), 4, BEND)
    tables = quantile_tables(np.full((1, 1, 2, 4), 0.25), bins)
    assert tables[0, 0, 0].min() >= 2
    assert tables[0, 0, 0].max() <= 5
    assert (tables[0, 0, 1] == 3).all()


def test_lengths_are_those_that_stand_out_and_their_neighbours():
    counts = np.zeros((1, 1, LENGTH_BINS))
    counts[0, 0, 20:23] = 30.0, 60.0, 10.0
    counts[0, 0, 40] = 5.0
    found = lengths_of(counts, 2.0, 100)[0, 0]
    assert found[20:23] == pytest.approx([0.3, 0.6, 0.1])
    assert found.sum() == pytest.approx(1.0)


def test_a_length_that_noise_hides_is_that_of_all_tasks_or_the_one_otherwise():
    counts = np.zeros((2, 2, LENGTH_BINS))
    counts[..., 30] = 3.0
    # Alone each is below four standard errors of 1, together they are above.
    assert (lengths_of(counts, 1.0, 5)[..., 30] == 1).all()
    hidden = lengths_of(counts, 10.0, 600)
    assert (hidden[..., length_bin(np.array(600))] == 1).all()
    assert hidden.sum(axis=-1) == pytest.approx(1.0)


@given(st.integers(0, 10**6), st.floats(0.1, 100))
def test_lengths_are_shares_whatever_the_noise(seed, noise_sd):
    rng = np.random.default_rng(seed)
    counts = rng.normal(0, 20, (2, 3, LENGTH_BINS))
    found = lengths_of(counts, noise_sd, 600)
    assert (found >= 0).all()
    assert found.sum(axis=-1) == pytest.approx(1.0)


def test_signs_that_agree_by_chance_say_nothing():
    """Of two groups and tasks, what the mean product of signs is where nothing goes together."""
    shares = np.random.default_rng(8).dirichlet(np.full(8, 0.3), (2, 3, 4))
    people = np.array([[10.0, 20.0, 5.0], [1.0, 0.0, 14.0]])
    found = Chance.of(shares, halves(shares), np.repeat(people[..., None], 4, axis=-1))
    one, other = np.array([1, 2]), np.array([0, 3])
    pairs, same, next_task = np.zeros(2), np.zeros(4), np.zeros(4)
    for group, task in np.ndindex(2, 3):
        means = []
        for feature in range(4):
            table, mean, below = shares[group, task, feature], 0.0, 0.0
            for share in table:
                mean += share if below + share / 2 >= 0.5 else -share
                below += share
            means.append(mean)
        assert found.means[group, task] == pytest.approx(means)
    for group, task in np.ndindex(2, 3):
        weight = people[group, task] / 50
        means, last = found.means[group, task], found.means[group, task - 1]
        pairs += weight * means[one] * means[other]
        same += weight * means**2
        next_task += weight * means * last
    assert found.pairs(one, other) == pytest.approx(pairs)
    assert found.same == pytest.approx(same)
    assert found.next_task == pytest.approx(next_task)
    assert found.room == pytest.approx(np.maximum(1 - same, 0.25))


@pytest.mark.parametrize("pairs", ["public", "private"])
def test_without_noise_to_speak_of_the_model_is_the_one_people_came_from(pairs):
    """Drawn from a copula, measured at ε = 10⁵, fitted: the same copula, within 0.1."""
    links = np.array([0.0, 0.7, -0.5])
    own = np.array([[0.3, 0.1, 0.2, 0.4, 0.0]] * 3)
    trends = np.array([[0.4, 0.0, 0.0], [0.0, 0.0, -0.3]])
    source = Copula(
        quantiles=np.broadcast_to(GRID, (1, 2, 3, GRID.size)),
        parents=(-1, 0, 1),
        links=links,
        parts=own,
        trends=trends,
        lengths=np.eye(LENGTH_BINS)[None, [18, 18]],
        window=4,
    )
    people, rows = 1500, 70
    values = np.concatenate(
        list(source.drawn(0, np.full((people, 2), rows), np.random.default_rng(6)))
    ).reshape(people, 2, rows, 3)
    features = [Feature(name, "1", "", -5.0, 5.0) for name in "abc"]
    table = replace(table_from_arrays(values, features), window_ms=2000.0)
    mechanism = Synthetic(epsilon=1e5, delta=1e-6, pairs=pairs)
    facts = mechanism.facts(table)
    bins = Bins.of(features, mechanism.bins_for(facts), BEND)
    _, sequences = sequences_of(table, [0, 1, 2], bins, 32, 4, np.zeros(people, dtype=np.intp))
    measurement = mechanism.measurement(facts)
    answers = measurement.measured(sequences, (-1, 0, 1), randomness(7))
    found = fitted(measurement, answers, bins)
    assert found.parents == (-1, 0, 1)
    assert found.links == pytest.approx(links, abs=0.1)
    assert found.trends == pytest.approx(trends, abs=0.1)
    assert np.abs(found.parts - own).max() < 0.2
    lags, tasks = recalled(found.parts, 4)
    wanted_lags, wanted_tasks = recalled(own, 4)
    assert np.abs(lags - wanted_lags).max() < 0.12
    assert np.abs(tasks - wanted_tasks).max() < 0.12
    # Values are signals here, and quantiles those of a Gaussian, away from the last bins.
    middle = np.abs(GRID) < 1.5
    assert np.abs(found.quantiles[..., middle] - GRID[middle]).max() < 0.15
    assert found.lengths[0, :, length_bin(np.array(rows))] == pytest.approx(1.0, abs=0.05)

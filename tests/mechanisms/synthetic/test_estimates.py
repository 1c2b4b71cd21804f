"""What noisy counts suggest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eyelid.mechanisms.synthetic.estimates import (
    from_the_root,
    halves,
    nearest_shares,
    of_tasks,
    quarters,
    shrunk,
    spanning_tree,
    towards_common,
)

NUMBERS = st.floats(-5, 5).map(lambda number: round(number, 6))


def some_shares(seed: int, *size: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(size[-1], 0.5), size[:-1])


@given(arrays(float, (2, 4), elements=NUMBERS))
def test_the_nearest_shares_are_the_nearest(shares):
    """The level that is taken off, by halving."""
    for found, given_ in zip(nearest_shares(shares), shares, strict=True):
        low, high = given_.min() - 1.0, given_.max()
        for _ in range(80):
            middle = (low + high) / 2
            if np.maximum(given_ - middle, 0).sum() > 1:
                low = middle
            else:
                high = middle
        assert found == pytest.approx(np.maximum(given_ - low, 0), abs=1e-9)
        assert found.sum() == pytest.approx(1.0)
        assert nearest_shares(found) == pytest.approx(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_bin_is_in_the_quarter_and_the_half_of_its_middle(seed):
    levels = some_shares(seed, 3, 16)
    by_quarter, by_half = quarters(levels), halves(levels)
    assert (by_quarter[:, -1] == 4).all()
    assert (by_half[:, -1] == 0).all()
    for row, column in np.ndindex(levels.shape):
        middle = levels[row, :column].sum() + levels[row, column] / 2
        assert by_quarter[row, column] == sum(middle >= end for end in (0.25, 0.5, 0.75))
        assert by_half[row, column] == (1 if middle >= 0.5 else -1)


def test_all_in_one_bin_is_in_one_quarter():
    levels = np.eye(8)[:1]
    assert quarters(levels)[0, 0] == 2
    assert (quarters(levels)[0, 1:8] == 3).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_task_has_its_share_of_each_quarter_and_is_as_all_tasks_within_it(seed):
    levels = 0.5 * some_shares(seed, 2, 3, 16) + 0.5 / 16
    shares = some_shares(seed + 100, 2, 5, 3, 4)
    by_quarter = quarters(levels)
    found = of_tasks(levels, by_quarter, shares)
    assert found.shape == (2, 5, 3, 16)
    for run, task, feature, quarter in np.ndindex(2, 5, 3, 4):
        inside = by_quarter[run, feature, :-1] == quarter
        mine, all_ = found[run, task, feature, inside], levels[run, feature, inside]
        assert mine.sum() == pytest.approx(shares[run, task, feature, quarter], abs=1e-5)
        # Nobody there is still spread as everybody is, a millionth of it.
        assert mine / mine.sum() == pytest.approx(all_ / all_.sum(), abs=1e-6)


def test_a_share_of_a_quarter_without_bins_goes_to_the_others():
    levels = np.array([[0.0, 1.0, 0.0, 0.0]])
    found = of_tasks(levels, quarters(levels), np.array([[[0.3, 0.3, 0.4, 0.0]]]))
    assert found[0, 0] == pytest.approx([0, 1, 0, 0])


def test_numbers_are_kept_without_noise_and_given_up_where_all_is_noise():
    noisy = np.array([0.1, 0.5, -0.3])
    assert shrunk(noisy, 0.0, 0.2) == pytest.approx(noisy)
    assert shrunk(noisy, 1.0, 0.2) == pytest.approx([0.2] * 3)
    spread = np.mean((noisy - 0.2) ** 2)
    half = shrunk(noisy, float(np.sqrt(spread / 2)), 0.2)
    assert half == pytest.approx(0.2 + (noisy - 0.2) / 2)
    assert shrunk(np.zeros(0), 1.0, 0.0).size == 0
    assert (shrunk(np.full(3, 0.2), 1.0, 0.2) == 0.2).all()


def test_shrinking_brings_noisy_numbers_nearer_to_the_truth():
    """A thousand numbers, noise as large as their scatter: half the squared error, ± a tenth."""
    rng = np.random.default_rng(4)
    truth = rng.normal(0.3, 1.0, 1000)
    noisy = truth + rng.normal(0, 1.0, 1000)
    before = np.mean((noisy - truth) ** 2)
    after = np.mean((shrunk(noisy, 1.0, 0.3) - truth) ** 2)
    assert after / before == pytest.approx(0.5, abs=0.1)


def test_conditions_that_differ_by_noise_alone_become_alike_and_others_stay():
    """Squared error of 500 features, before and after: never more, and much less if all noise."""
    rng = np.random.default_rng(6)
    alike = np.broadcast_to(rng.dirichlet(np.ones(4), 500), (3, 500, 4))
    apart = rng.dirichlet(np.ones(4), (3, 500))
    for truth, most in ((alike, 0.8), (apart, 1.02)):
        noisy = truth + rng.normal(0, 0.05, truth.shape)
        found = towards_common(noisy, np.full((3, 500), 0.05))
        assert np.mean((found - truth) ** 2) < most * np.mean((noisy - truth) ** 2)


def test_common_shares_are_kept_and_without_noise_all_are():
    shares = some_shares(7, 2, 3, 5, 4)
    assert towards_common(shares, np.full((2, 3, 5), 1e-9)) == pytest.approx(shares)
    noisy = towards_common(shares, np.full((2, 3, 5), 10.0))
    assert noisy == pytest.approx(np.broadcast_to(shares.mean(axis=1, keepdims=True), shares.shape))
    alone = towards_common(shares[1], np.full((3, 5), 0.1))
    assert alone == pytest.approx(towards_common(shares, np.full((2, 3, 5), 0.1))[1])
    one = shares[:, :1]
    assert towards_common(one, np.full((2, 1, 5), 10.0)) == pytest.approx(one)


@given(st.integers(1, 9), st.integers(0, 10**6))
def test_the_tree_is_the_strongest_there_is(features, seed):
    """As scipy's, of the distances that go with the strengths."""
    from scipy.sparse.csgraph import minimum_spanning_tree

    rng = np.random.default_rng(seed)
    strengths = rng.random((features, features))
    strengths = (strengths + strengths.T) / 2
    parents = spanning_tree(strengths)
    assert parents[0] == -1
    assert sorted(from_the_root(parents)) == list(range(features))
    ours = sum(2 - strengths[child, parents[child]] for child in range(1, features))
    assert ours == pytest.approx(minimum_spanning_tree(2 - strengths).sum())


@given(st.integers(1, 9), st.integers(0, 10**6))
def test_from_the_root_each_comes_after_the_one_it_hangs_on(features, seed):
    rng = np.random.default_rng(seed)
    names = rng.permutation(features)
    parents = np.full(features, -1)
    for place in range(1, features):
        parents[names[place]] = names[rng.integers(place)]
    order = from_the_root(tuple(parents.tolist()))
    assert sorted(order) == list(range(features))
    for number in order:
        parent = parents[number]
        assert parent == -1 or order.index(parent) < order.index(number)

import numpy as np
import pytest
from sklearn.cluster import KMeans

from eyelid.attacks.attackers.rbf_network import GaussianNetwork


def two_rings(seed):
    """People whom no straight line tells apart."""
    rng = np.random.default_rng(seed)
    angle, classes = rng.uniform(0, 2 * np.pi, 200), np.repeat([0, 1], 100)
    radius = np.where(classes == 0, 1.0, 3.0) + rng.normal(0, 0.1, 200)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), classes


def test_rings_are_told_apart():
    network = GaussianNetwork(8, 0).fit(*two_rings(1))
    values, classes = two_rings(2)
    assert np.mean(network.decision_function(values).argmax(axis=1) == classes) > 0.97


def test_with_a_centre_on_every_row_least_squares_meet_their_targets():
    values = np.array([[0.0, 0.0], [0.0, 9.0], [9.0, 0.0], [9.0, 9.0]])
    classes = np.array([0, 1, 1, 0])
    outputs = GaussianNetwork(2, 0).fit(values, classes).decision_function(values)
    assert np.allclose(outputs, np.eye(2)[classes], atol=2e-3)


def test_centres_are_nearly_as_good_as_those_of_scikit_learn():
    """k-means comes to rest in many places: from one start we may end a little worse."""
    values = np.random.default_rng(3).normal(size=(120, 6))
    centres, spread = GaussianNetwork(8, 0)._place(values)
    theirs = KMeans(8, n_init=10, random_state=0).fit(values).inertia_
    ours = ((values[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()
    assert theirs <= ours + 1e-9 <= 1.15 * theirs
    label = ((values[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert ours == pytest.approx(np.bincount(label) @ spread)


def test_the_least_squares_are_those_of_a_plain_ridge():
    values, classes = two_rings(1)
    network = GaussianNetwork(4, 0).fit(values, classes)
    width = 0.5 / network._precision
    active = np.array([
        [np.exp(-np.sum((row - c) ** 2) / (2 * w)) for c, w in zip(network._centres, width,
                                                                  strict=True)]
        for row in values
    ])  # fmt: skip
    ridge = 1e-3 * np.trace(active.T @ active) / active.shape[1]
    padded = np.vstack([active, np.sqrt(ridge) * np.eye(active.shape[1])])
    target = np.vstack([np.eye(2)[classes], np.zeros((active.shape[1], 2))])
    weights = np.linalg.lstsq(padded, target, rcond=None)[0]
    assert np.allclose(network._weights, weights, atol=1e-8)

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans

from eyelid.attacks.attackers import default_attackers, find_attackers
from eyelid.attacks.attackers.rbf_network import GaussianNetwork, SingleVectorNetwork
from eyelid.attacks.identification import decided
from eyelid.attacks.records import records_of
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays


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


def published(values, owner, shown, records, centres):
    """The published network, written down plainly: scikit-learn's k-means, numpy's pseudo-inverse.

    Bumps as wide as the mean distance of their rows; the score of a record is the mean over its
    vectors.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    values, shown = (values - mean) / spread, (shown - mean) / spread
    places, widths = [], []
    for person in np.unique(owner):
        mine = values[owner == person]
        found = KMeans(centres, n_init=1, random_state=0).fit(mine)
        for number, centre in enumerate(found.cluster_centers_):
            places.append(centre)
            away = np.linalg.norm(mine[found.labels_ == number] - centre, axis=1)
            widths.append(away.mean())

    def activated(rows):
        apart = np.linalg.norm(rows[:, None] - np.array(places), axis=2)
        return np.exp(-(apart**2) / (2 * np.array(widths) ** 2))

    weights = np.linalg.pinv(activated(values)) @ np.eye(owner.max() + 1)[owner]
    scores = activated(shown) @ weights
    return np.array([scores[records == record].mean(axis=0) for record in np.unique(records)])


@pytest.fixture(scope="module")
def people():
    """Ten people, two recordings of forty vectors each, who differ and vary."""
    rng = np.random.default_rng(5)
    values = rng.normal(0.5, 0.08, (10, 1, 1, 6)) + rng.normal(0.0, 0.1, (10, 2, 40, 6))
    return table_from_arrays(values, [Feature(f"f{n}", "", "", 0.0, 1.0) for n in range(6)])


def test_the_published_network_is_fed_single_vectors_and_averages_their_scores(people):
    names = people.people["person"].to_list()
    known, shown = (records_of(people, names, pl.col("recording") == which) for which in ("0", "1"))
    (ours,) = decided(SingleVectorNetwork(centres=5), known, [shown], 0)
    theirs = published(known.values, known.person, shown.values, shown.record, 5)
    # k-means comes to rest elsewhere from another start: scores agree nearly, and so do decisions.
    assert np.corrcoef(ours.averaged.ravel(), theirs.ravel())[0, 1] > 0.97
    assert np.mean(ours.averaged.argmax(axis=1) == theirs.argmax(axis=1)) >= 0.8


def test_with_the_same_centres_its_scores_are_those_of_the_plain_formula(people):
    """One centre a person leaves k-means no choice: equal to the plain one but for its ridge."""
    names = people.people["person"].to_list()
    known, shown = (records_of(people, names, pl.col("recording") == which) for which in ("0", "1"))
    (ours,) = decided(SingleVectorNetwork(centres=1), known, [shown], 0)
    theirs = published(known.values, known.person, shown.values, shown.record, 1)
    np.testing.assert_allclose(ours.averaged, theirs, atol=1e-4)


def test_the_published_network_takes_part_where_it_is_named():
    assert find_attackers(["rbf-network-single"])[0].name == "rbf-network-single"
    assert "rbf-network-single" not in [attacker.name for attacker in default_attackers(20)]

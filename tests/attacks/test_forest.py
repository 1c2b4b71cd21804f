"""The forest that grows in threads is scikit-learn's, tree by tree."""

import warnings

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from eyelid.attacks.classifiers import RandomForest
from eyelid.engine.cores import parallel


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    classes = rng.choice([2, 5, 9], 200)
    return rng.normal(size=(200, 6)) + classes[:, None] * 0.1, classes


@pytest.mark.parametrize("settings", [{}, {"min_samples_leaf": 2}])
def test_it_gives_the_same_probabilities_as_scikit_learns(rows, settings):
    theirs = RandomForestClassifier(12, random_state=7, **settings).fit(*rows)
    ours = RandomForest(12, 7, **settings).fit(*rows)
    np.testing.assert_array_equal(ours.predict_proba(rows[0]), theirs.predict_proba(rows[0]))
    np.testing.assert_array_equal(ours.predict(rows[0]), theirs.predict(rows[0]))


def test_growing_in_threads_leaves_the_warning_filters_alone(rows):
    before = list(warnings.filters)
    list(parallel(lambda seed: RandomForest(10, seed).fit(*rows), range(16), "growing"))
    assert list(warnings.filters) == before

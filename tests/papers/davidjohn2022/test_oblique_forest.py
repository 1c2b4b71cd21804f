"""Trees on discriminants tell what single features do not."""

from __future__ import annotations

import numpy as np
import pytest

from eyelid.attacks.classifiers import RandomForest
from eyelid.papers.davidjohn2022.oblique_forest import ObliqueForest, discriminants


def hidden_in_a_difference(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten features that all go up and down together; two classes differ in the first alone."""
    rng = np.random.default_rng(seed)
    classes = np.repeat(["comic", "textbook"], rows)
    values = rng.normal(0.0, 0.3, (2 * rows, 10)) + rng.normal(0.0, 3.0, (2 * rows, 1))
    values[:, 0] += classes == "textbook"
    return values, classes


def test_it_tells_classes_apart_that_differ_in_a_combination_of_features():
    values, classes = hidden_in_a_difference(200, 1)
    shown, truth = hidden_in_a_difference(1000, 2)
    # 2000 rows: an error of a percent either way.
    oblique = ObliqueForest(20, 0, share_of_features=1.0).fit(values, classes).predict(shown)
    plain = RandomForest(20, 0).fit(values, classes).predict(shown)
    assert np.mean(oblique == truth) > 0.9 > 0.85 > np.mean(plain == truth)


def test_discriminants_are_those_of_linear_discriminant_analysis():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    rng = np.random.default_rng(3)
    codes = np.repeat([0, 1, 2], 60)
    values = rng.normal(size=(180, 4)) @ rng.normal(size=(4, 4)) + np.eye(4)[codes]
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(values, codes).coef_
    ours = discriminants(values, codes, 0.0).T
    # Classes are equally frequent: the same but for where directions are measured from.
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-6)


def test_constant_and_doubled_features_do_no_harm():
    values, classes = hidden_in_a_difference(100, 4)
    more = np.column_stack([values, values[:, 0], np.full(len(values), 7.0)])
    found = ObliqueForest(10, 0, share_of_features=1.0).fit(more, classes).predict(more)
    assert np.mean(found == classes) > 0.9


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_probabilities_add_up_and_follow_the_order_of_classes(order):
    values, classes = hidden_in_a_difference(50, 5)
    forest = ObliqueForest(5, 0).fit(values[order], classes[order])
    probabilities = forest.predict_proba(values)
    assert forest.classes_.tolist() == ["comic", "textbook"]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)

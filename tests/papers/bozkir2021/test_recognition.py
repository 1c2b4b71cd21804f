"""What is recognised under which protocol, on releases of which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from eyelid.mechanisms.papers.experiment import paper_features
from eyelid.papers.bozkir2021.methods import Method, noisy, without_signals
from eyelid.papers.bozkir2021.recognition import (
    Question,
    Subject,
    across_tasks,
    of_halves,
    of_others,
)

MODELS = ("knn", "svm", "tree", "forest")


@pytest.fixture
def subject(make_source) -> Subject:
    return Subject.of(make_source().table, ("task", "gender"), every=4, every_of_person=2)


def constant_noise(subject: Subject, seed: int) -> np.ndarray:
    """One draw for every recording and feature, and nothing of the people."""
    drawn = np.random.default_rng(seed).normal(size=(len(subject.owner), 3))
    return drawn[subject.record]


def test_rows_stay_in_the_order_of_the_table(make_source):
    table = make_source().table
    subject = Subject.of(table, (), 4, 2)
    assert subject.raw == pytest.approx(table.data.select(table.names).to_numpy())
    assert subject.targets == {}
    assert of_others(subject, subject.raw, 0) == {}


def test_noise_of_whole_recordings_is_recognised_by_halves_and_not_across_tasks(subject):
    release = constant_noise(subject, seed=1)
    halves = of_halves(subject, release, seed=0)
    assert all(halves["person", "knn", voted, False].mean() == 1 for voted in (True, False))
    # 20 releases of 12 recordings: the rate of guessing, 1/4, has a standard error of 0.03, and
    # four of them are allowed.
    found = across_tasks(subject, [constant_noise(subject, seed) for seed in range(20)], seed=0)
    rate = np.mean([answers["person", "knn", True, True] for answers in found])
    assert rate == pytest.approx(1 / 4, abs=0.12)


def test_a_release_without_noise_says_the_same_under_both_protocols(subject):
    found = of_others(subject, subject.raw, seed=0)
    for target in ("task", "gender"):
        for model in MODELS:
            one, other = (found[target, model, False, honest] for honest in (False, True))
            if model == "knn":
                # Ties between neighbours are settled by lot, row by row.
                assert one == pytest.approx(other, abs=0.2)
            else:
                assert one.tolist() == other.tolist()


def test_trees_are_those_of_scikit_learn_fold_by_fold(subject):
    release = subject.raw + np.random.default_rng(5).normal(0, 1, subject.raw.shape)
    found = of_others(subject, release, seed=7)["task", "tree", False, False]
    kept = subject.row % 4 == 0
    values, owner = release[kept], subject.owner[subject.record][kept]
    task = subject.task[subject.record][kept]
    expected = []
    for person in range(4):
        own = owner == person
        scaler = StandardScaler().fit(values[~own])
        tree = DecisionTreeClassifier(random_state=7).fit(
            scaler.transform(values[~own]), task[~own]
        )
        expected.append((tree.predict(scaler.transform(values[own])) == task[own]).mean())
    assert found == pytest.approx(expected)


def test_noise_of_another_scale_in_each_task_is_recognised_and_is_no_use(subject):
    rng = np.random.default_rng(2)
    loud = np.array([1.0, 30.0, 1000.0])[subject.task][subject.record][:, None]
    found = of_others(subject, loud * rng.normal(size=subject.raw.shape), seed=0)
    assert found["task", "forest", True, False].mean() > 0.8
    assert found["task", "forest", True, True].mean() == pytest.approx(1 / 3, abs=0.1)


def test_what_changes_within_a_recording_is_not_voted_on(make_source):
    table = make_source().table
    rows = np.arange(len(table.data))
    label = np.where(rows % 8 < 4, "private", "public")
    data = table.data.with_columns(label_privacy=label)
    subject = Subject.of(type(table)(data, table.features, table.people), ("label_privacy",), 4, 2)
    found = of_others(subject, subject.raw, seed=0)
    assert Question("label_privacy", "knn", False, False) in found
    assert not any(question.voted for question in found)


def test_with_one_task_nobody_is_looked_for_in_another(make_source):
    subject = Subject.of(make_source(tasks=1).table, ("task", "gender"), 4, 2)
    assert set(subject.targets) == {"gender"}
    assert across_tasks(subject, [subject.raw], seed=0) == [{}]


def test_real_readers_are_named_by_their_noise_alone(real_windows):
    subject = Subject.of(paper_features(real_windows), (), 60, 60)
    tasks = [without_signals(Method("FPA").noise_of(signals)) for signals in subject.signals]
    first = np.zeros((48, 1), dtype=np.intp)
    release = subject.flat([noisy(task, first, 0.01, [1, n]) for n, task in enumerate(tasks)])
    assert of_halves(subject, release, seed=0)["person", "knn", True, False].mean() == 1
    (honest,) = across_tasks(subject, [release], seed=0)
    # By chance 3 of 60 recordings; more than 12 with a probability below 1e-4.
    assert honest["person", "knn", True, True].mean() <= 0.2

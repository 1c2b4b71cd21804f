"""What is recognised under which protocol, on releases of which the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from eyelid.papers.bozkir2021.experiment import paper_features
from eyelid.papers.bozkir2021.methods import Method, noisy, without_signals
from eyelid.papers.bozkir2021.recognition import (
    Question,
    Subject,
    across_tasks,
    by_means,
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
            one, other = (found[target, model, False, leak_free] for leak_free in (False, True))
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
    assert by_means(subject, [subject.raw], seed=0) == [{}]


def test_noise_that_sums_to_nothing_hides_nobody_from_who_looks_at_means(subject):
    noise = np.random.default_rng(3).normal(0, 1000, subject.raw.shape)
    counts = np.bincount(subject.record)[:, None]
    sums = np.zeros((len(subject.owner), noise.shape[1]))
    np.add.at(sums, subject.record, noise)
    balanced = subject.raw + noise - (sums / counts)[subject.record]
    hidden, found, plain = by_means(subject, [constant_noise(subject, 1), balanced, subject.raw], 0)
    named = ("person", "means, trusted", True, True)
    assert found[named].tolist() == plain[named].tolist()
    assert found[named].mean() == 1
    assert hidden[named].mean() < 0.6
    assert len(found) == 4


def test_the_nearest_mean_is_that_of_a_plain_search(subject):
    release = subject.raw + np.random.default_rng(8).normal(0, 8, subject.raw.shape)
    (found,) = by_means(subject, [release], seed=0)
    scale = subject.raw.std(axis=0)
    raw, shown = (
        np.array([values[subject.record == n].mean(axis=0) / scale for n in range(12)])
        for values in (subject.raw, release)
    )
    usual = np.array([raw[subject.task == task].mean(axis=0) for task in range(3)])[subject.task]
    raw, shown = raw - usual, shown - usual
    right = np.zeros(4)
    for task in range(3):
        known = subject.task != task
        centres = np.array([raw[known & (subject.owner == one)].mean(axis=0) for one in range(4)])
        spread = sum(
            ((raw[known & (subject.owner == one)] - centres[one]) ** 2).sum(axis=0)
            for one in range(4)
        ) / (8 - 4) * 1.5  # fmt: skip
        spread += 1e-4 * centres.var(axis=0).mean()
        for number in np.flatnonzero(~known):
            apart = ((shown[number] - centres) ** 2 / spread).sum(axis=1)
            right[subject.owner[number]] += apart.argmin() == subject.owner[number]
    assert 0 < right.sum() < 12
    assert found["person", "means, trusted", True, True] == pytest.approx(right / 3)


def test_real_readers_are_named_by_their_noise_alone(real_windows):
    subject = Subject.of(paper_features(real_windows), (), 60, 60)
    tasks = [without_signals(Method("FPA").noise_of(signals)) for signals in subject.signals]
    first = np.zeros((48, 1), dtype=np.intp)
    release = subject.flat([noisy(task, first, 0.01, [1, n]) for n, task in enumerate(tasks)])
    assert of_halves(subject, release, seed=0)["person", "knn", True, False].mean() == 1
    (leak_free,) = across_tasks(subject, [release], seed=0)
    # By chance 3 of 60 recordings; more than 12 with a probability below 1e-4.
    assert leak_free["person", "knn", True, True].mean() <= 0.2


def test_real_readers_are_named_by_means_that_get_no_noise(real_windows):
    subject = Subject.of(paper_features(real_windows), (), 60, 60)
    method = Method("CFPA", 32, noisy_mean=False)
    tasks = [method.noise_of(signals) for signals in subject.signals]
    first = [np.zeros(task.sensitivity.shape, dtype=np.intp) for task in tasks]
    release = subject.flat(
        [noisy(task, k, 0.01, [1, n]) for n, (task, k) in enumerate(zip(tasks, first, strict=True))]
    )
    (found,) = by_means(subject, [release], seed=0)
    assert found["person", "whitened, trusted", True, True].mean() > 0.6

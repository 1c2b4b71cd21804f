from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eyelid.attacks.classifiers import lots
from eyelid.attacks.protocols import Material
from eyelid.attacks.records import values_of
from eyelid.attacks.utility import utility
from eyelid.errors import InputError
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import randomness


def found(uses):
    return {(use.target, use.model, use.protocol): use for use in uses}


@pytest.fixture(scope="module")
def noisy(simulated_table):
    mechanism = mechanism_named("gaussian", epsilon=256.0, unit="record")
    return Material(simulated_table, mechanism.apply(simulated_table, randomness(3)))


def test_raw_documents_are_recognised_and_nothing_is_said_of_a_release(simulated_table):
    uses = utility(Material(simulated_table), models=["svm", "forest"])
    assert {use.protocol for use in uses} == {"leave-one-person-out", "halves"}
    for use in uses:
        assert use.target == "task"
        assert use.rate is None
        assert use.votes is None
        assert use.raw.low > use.raw.chance
        assert use.raw_votes > use.raw.rate


def test_a_release_for_the_whole_person_teaches_nothing(simulated_table):
    mechanism = mechanism_named("laplace", epsilon=0.1)
    released = mechanism.apply(simulated_table, randomness(3))
    for use in utility(Material(simulated_table, released)):
        assert use.rate.low <= use.rate.chance + 0.05
        assert use.raw.rate > 0.6


def test_whoever_averages_learns_more_than_the_paper_s_protocol_shows(noisy):
    uses = found(utility(noisy, models=["svm"]))
    honest = uses["task", "svm", "leave-one-person-out"]
    paper = uses["task", "svm", "paper-lopo"]
    assert honest.rate.rate > paper.rate.rate + 0.1
    assert honest.raw == paper.raw


def test_rates_are_those_of_a_plain_loop(simulated_table, noisy):
    """kNN-11 by hand: means of 10 released windows known, the middle raw window shown."""
    use = found(utility(noisy, models=["knn"], every=10))["task", "knn", "leave-one-person-out"]
    stretches, middles, owner, task = [], [], [], []
    for (person, _), raw in simulated_table.data.group_by(
        ["person", "recording"], maintain_order=True
    ):
        recording = raw["recording"][0]
        mine = noisy.released.data.filter(person=person, recording=recording)
        ours = values_of(simulated_table, raw)[: len(mine)]
        theirs = values_of(simulated_table, mine)[: len(ours)]
        for start in range(0, len(ours), 10):
            stretches.append(theirs[start : start + 10].mean(axis=0))
            middles.append(ours[start + len(ours[start : start + 10]) // 2])
            owner.append(person)
            task.append(raw["task"][0])
    stretches, middles, owner = np.array(stretches), np.array(middles), np.array(owner)
    codes = np.unique(task, return_inverse=True)[1]
    shares = []
    for person in sorted(set(owner)):
        known, shown = owner != person, owner == person
        fitted = make_pipeline(StandardScaler(), KNeighborsClassifier(11))
        votes = fitted.fit(stretches[known], codes[known]).predict_proba(middles[shown])
        answer = (np.rint(11 * votes) + lots(*votes.shape, 0)).argmax(axis=1)
        shares.append((answer == codes[shown]).mean())
    assert use.rate.rate == pytest.approx(np.mean(shares))
    assert use.rate.people == 6


def test_chance_is_the_share_of_the_commonest_class(simulated_table):
    rare = pl.when(pl.col("task") == "comic").then(pl.lit("yes")).otherwise(pl.lit("no"))
    table = replace(simulated_table, data=simulated_table.data.with_columns(label_comic=rare))
    use = found(utility(Material(table), ["label_comic"], ["knn"]))[
        "label_comic", "knn", "leave-one-person-out"
    ]
    assert use.raw.chance == pytest.approx(2 / 3, abs=0.02)


def test_labels_are_recognised_but_not_by_vote_where_they_change(simulated_table):
    rate = simulated_table.names[0]
    busy = pl.col(rate) > pl.col(rate).median()
    table = replace(simulated_table, data=simulated_table.data.with_columns(label_busy=busy))
    uses = found(utility(Material(table), models=["forest"]))
    assert {target for target, _, _ in uses} == {"task", "label_busy"}
    label = uses["label_busy", "forest", "leave-one-person-out"]
    assert label.raw.low > 0.7
    assert label.raw_votes is None


def test_what_never_changes_within_people_is_not_tested_by_halves(simulated_table):
    people = simulated_table.people.with_columns(
        group=pl.Series(["a", "b"] * 3), age=pl.Series(range(20, 26)) * 2.5
    )
    uses = utility(Material(replace(simulated_table, people=people)), ["group", "task"], ["knn"])
    assert {use.protocol for use in uses if use.target == "group"} == {"leave-one-person-out"}
    assert {use.protocol for use in uses if use.target == "task"} >= {"halves"}


def test_labels_by_lot_are_found_at_chance(simulated_table):
    """The null control: limits of 95% over people, one comparison a model, a fixed seed."""
    lot = pl.Series("label_lot", np.random.default_rng(8).integers(0, 2, len(simulated_table.data)))
    table = replace(simulated_table, data=simulated_table.data.with_columns(lot))
    for use in utility(Material(table), ["label_lot"]):
        assert use.raw.low < use.raw.chance


def test_recordings_too_short_for_halves_are_left_whole(simulated_table):
    first = pl.int_range(pl.len()).over("person", "recording") < 40
    short = replace(simulated_table, data=simulated_table.data.filter(first))
    assert {u.protocol for u in utility(Material(short), models=["knn"])} == {
        "leave-one-person-out"
    }


def test_stretches_longer_than_a_half_leave_recordings_whole(simulated_table):
    uses = utility(Material(simulated_table), models=["knn"], every=10_000)
    assert {use.protocol for use in uses} == {"leave-one-person-out"}


def test_a_label_that_one_person_has_cannot_be_tested_on_others(simulated_table):
    first = pl.when(pl.col("person") == "P01").then(pl.col("task"))
    table = replace(simulated_table, data=simulated_table.data.with_columns(label_own=first))
    uses = utility(Material(table), ["label_own"], ["knn"])
    assert {use.protocol for use in uses} == {"halves"}


def test_bad_targets_are_named(simulated_table):
    with pytest.raises(InputError, match="unknown target 'tsk': did you mean 'task'"):
        utility(Material(simulated_table), ["tsk"])
    people = simulated_table.people.with_columns(city=pl.lit("Rome"))
    with pytest.raises(InputError, match="nothing to recognise in city"):
        utility(Material(replace(simulated_table, people=people)), ["city"])


def test_one_task_alone_is_no_use(simulated_table):
    one = replace(simulated_table, data=simulated_table.data.filter(task="comic"))
    assert utility(Material(one)) == []


def test_documents_of_real_people_are_recognised(real_windows):
    uses = utility(Material(real_windows), models=["svm"])
    assert all(use.raw.rate > 0.8 for use in uses)

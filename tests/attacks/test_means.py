"""Attacks on means over people: they see what is there, and nothing where there is nothing."""

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.means import audit_means, true_means
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import PERSON, randomness

FEATURES = (Feature("rate", "1/s", "", 0.0, 10.0), Feature("pupil", "mm", "", 1.5, 9.0))


def people_of(people=12, recordings=30, seed=0):
    """Everybody has an own level in every recording, so that there is much to tell them by."""
    rng = np.random.default_rng(seed)
    own = rng.uniform([2.0, 3.0], [8.0, 7.0], (people, recordings, 1, 2))
    values = own + rng.normal(0, 0.3, (people, recordings, 6, 2))
    table = table_from_arrays(values, FEATURES)
    group = pl.Series("group", ["a", "b"] * (people // 2))
    return replace(table, people=table.people.with_columns(group))


@cache
def audited(epsilon, inner="dct", **parameters):
    table = people_of()
    mechanism = mechanism_named("groupmean", epsilon=epsilon, inner=inner, **parameters)
    released = mechanism.apply(table, randomness(1))
    claim = mechanism.cost(mechanism.facts(table), PERSON)
    return audit_means(mechanism, table, table, released, claim)


@pytest.mark.parametrize("inner", ["dct", "laplace", "envelope", "dct:law=spherical"])
def test_small_epsilon_hides_who_is_in_it_and_large_does_not(inner):
    strong, weak = audited(0.1, inner), audited(4e3, inner)
    # 1000 decisions: four standard errors are 0.13.
    assert abs(strong.membership.advantage.rate) < 0.13
    assert strong.membership.bound < 0.11
    assert not strong.membership.refutes
    assert weak.membership.advantage.rate > 0.4
    assert weak.membership.advantage.rate == pytest.approx(weak.positive.advantage.rate, abs=0.15)
    assert abs(weak.null.advantage.rate) < 0.13


def test_a_false_claim_is_refuted():
    table = people_of()
    mechanism = mechanism_named("groupmean", epsilon=1e4)
    modest = mechanism_named("groupmean", epsilon=0.1)
    claim = modest.cost(modest.facts(table), PERSON)
    released = mechanism.apply(table, randomness(1))
    assert audit_means(mechanism, table, table, released, claim).membership.refutes


def test_whoever_knows_all_others_gets_the_last_one_only_without_noise():
    assert audited(1e6, "laplace").subtraction.rmse_of_span < 1e-3
    hidden = audited(0.1).subtraction
    assert not hidden.learned
    assert hidden.people == 12


def test_the_error_is_that_of_the_means_and_stands_beside_a_constant():
    near = audited(1e6, "laplace", by="group")
    assert near.error.rmse_of_span < 1e-4
    assert near.beats_constant
    assert near.sizes == [("a", 6), ("b", 6)]
    far = audited(0.01, "laplace")
    assert not far.beats_constant
    table, middle = people_of(), np.array([5.0, 5.25])
    mechanism = mechanism_named("groupmean", epsilon=1.0)
    truth = true_means(
        mechanism, mechanism.groups(table), table, mechanism.apply(table, randomness(1))
    )
    off = (truth.data.select("rate", "pupil").to_numpy() - middle) / [10.0, 7.5]
    assert far.constant_rmse_of_span == pytest.approx(np.sqrt(np.mean(off**2)))


def test_true_means_are_over_whoever_has_a_value():
    table = people_of(people=2, recordings=2)
    data = table.data.filter((pl.col("person") != "0") | (pl.col("task") != "1"))
    gap = pl.when((pl.col("person") == "1") & (pl.col("time_ms") == 0)).then(None)
    table = replace(table, data=data.with_columns(gap.otherwise("rate").alias("rate")))
    mechanism = mechanism_named("groupmean", epsilon=1.0, length=6)
    truth = true_means(
        mechanism, mechanism.groups(table), table, mechanism.apply(table, randomness(1))
    ).data
    alone = table.data.filter((pl.col("person") == "1") & (pl.col("task") == "1"))
    second = truth.filter(pl.col("task") == "1")
    assert second["pupil"].to_list() == alone["pupil"].to_list()
    assert second["rate"][0] is None
    first = truth.filter(pl.col("task") == "0")
    other = table.data.filter((pl.col("person") == "0") & (pl.col("task") == "0"))
    assert first["rate"][0] == other["rate"][0]


def test_few_people_are_not_asked_who_is_in_it():
    table = people_of(people=4)
    mechanism = mechanism_named("groupmean", epsilon=1.0)
    found = audit_means(mechanism, table, table, mechanism.apply(table, randomness(1)))
    assert found.membership is None
    assert found.positive is None
    assert found.subtraction.people == 4

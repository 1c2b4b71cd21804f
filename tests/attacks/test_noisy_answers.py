"""Neighbouring studies, told apart by all noisy answers about them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from eyelid.attacks import synthetic as noisy_answers
from eyelid.attacks.override import override
from eyelid.attacks.synthetic import membership_by_answers
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms.synthetic.synthetic import Synthetic
from eyelid.privacy.noise import randomness
from eyelid.privacy.rank1 import advantage_bound
from eyelid.privacy.unit import PERSON
from eyelid.verification.synthetic import each_row_a_person

FEATURES = [Feature(name, "", "", 0.0, 1.0) for name in "ab"]
LAW = Synthetic(epsilon=4.0, delta=1e-5, carry=2, records=4, bins=8)


def people(count=16, spread=0.3, seed=0):
    """Each is like themselves in two tasks and unlike others."""
    rng = np.random.default_rng(seed)
    own = rng.uniform(0.5 - spread, 0.5 + spread, (count, 1, 1, 2))
    table = table_from_arrays(own + rng.uniform(-0.1, 0.1, (count, 2, 8, 2)) * spread, FEATURES)
    task = pl.col("recording").replace_strict(["0", "1"], ["read", "watch"])
    group = pl.Series("team", np.resize(["x", "y", "y"], count))
    known = table.people.with_columns(group)
    return replace(table, data=table.data.with_columns(task=task), people=known)


def told(table, mechanism, seed=0):
    claim = LAW.cost(LAW.facts(table), PERSON)
    return membership_by_answers(table, mechanism, claim, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def table():
    return people()


@pytest.mark.parametrize("settings", [{}, {"pairs": "private"}, {"by": "team"}, {"rows": 4}])
def test_people_are_told_without_noise_and_with_it_not_beyond_the_bound(table, settings):
    found = told(table, replace(LAW, **settings))
    assert found.among == 16
    assert found.positive.advantage.low > 0.5
    assert found.membership.bound == advantage_bound(LAW.cost(LAW.facts(table), PERSON)) < 0.5
    # Of 400 decisions the advantage has a standard error of at most 0.05: five of them.
    assert found.membership.advantage.rate < found.membership.bound + 0.25
    assert not found.membership.refutes


def test_the_epsilon_of_a_row_sold_as_a_persons_is_refuted(table):
    found = told(table, override(LAW, each_row_a_person())).membership
    assert found.advantage.low > found.bound
    assert found.refutes


def test_of_people_at_opposite_bounds_the_advantage_is_that_of_two_gaussians(monkeypatch):
    """Levels and shares tell them with all of their μ², 0.7 of it; signs of constants do not.

    Six standard errors of 2000 decisions; who is compared with whom is a share of its own.
    """
    monkeypatch.setattr(noisy_answers, "_DECISIONS", 2000)
    low_or_high = np.arange(40) % 2
    table = table_from_arrays(np.tile(low_or_high[:, None, None, None], (1, 1, 4, 1)), FEATURES[:1])
    settings = {"carry": 1, "records": 4, "bins": 4, "rows": 4, "pairs": "public"}
    mechanism = Synthetic(epsilon=16.0, delta=1e-5, **settings)
    claim = mechanism.cost(mechanism.facts(table), PERSON)
    found = membership_by_answers(table, mechanism, claim, np.random.default_rng(0)).membership
    apart = 2 * norm.cdf(np.sqrt(0.7) * claim.mu / 2) - 1
    assert found.bound == pytest.approx(2 * norm.cdf(claim.mu / 2) - 1, abs=1e-6)
    assert found.advantage.rate == pytest.approx(apart / 2, abs=6 * 0.0224)


def test_people_who_are_all_alike_are_told_by_nobody():
    alike = people(spread=0.0)
    found = told(alike, LAW)
    assert found.membership.advantage.rate == found.positive.advantage.rate == 0


def test_of_many_people_fewer_decisions_are_made_and_then_some_are_measured(monkeypatch, table):
    each = 2 * (2 * 4 * 4 * 2)
    monkeypatch.setattr(noisy_answers, "_FEWEST_DECISIONS", 16)
    monkeypatch.setattr(noisy_answers, "_MOST_CODES", 64 * 16 * each)
    found = told(table, LAW)
    assert (found.among, found.membership.decisions) == (16, 64)
    monkeypatch.setattr(noisy_answers, "_MOST_CODES", 16 * 10 * each)
    found = told(table, LAW)
    assert (found.among, found.membership.decisions) == (10, 16)


@pytest.mark.parametrize("settings", [{}, {"pairs": "private"}, {"by": "team"}])
@pytest.mark.parametrize("who", [0, 15])
def test_the_ratio_of_one_persons_counts_is_that_of_everybodys(table, settings, who):
    mechanism = replace(LAW, **settings)
    _, everybody = mechanism.sequences(table)
    place = np.arange(16)
    place[who] = 7
    instead = replace(everybody, codes=everybody.codes[place])
    measurement = mechanism.measurement(mechanism.facts(table))
    answers = measurement.measured(everybody, [-1, 0], randomness(0), (5,))
    found = noisy_answers._log_ratio(measurement, answers, everybody, instead, who)
    one, other = (measurement.log_mass(answers, people) for people in (everybody, instead))
    np.testing.assert_allclose(found, one - other, atol=1e-6)

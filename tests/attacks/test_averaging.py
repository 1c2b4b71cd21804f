"""Averaging releases: noise goes, the bound grows with it, and a bound that does not is refuted."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.attacks.attackers.means import Means
from eyelid.attacks.averaging import averaging
from eyelid.attacks.protocols import Material
from eyelid.errors import InputError
from eyelid.gaze.study import Feature
from eyelid.gaze.table import table_from_arrays
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import PERSON, randomness, rank1_bounds

FEATURES = [Feature(f"f{j}", "", "", 0.0, 1.0) for j in range(6)]


@pytest.fixture(scope="module")
def people():
    """Twenty people who are quite unlike each other, three recordings each of four rows."""
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 1, (20, 1, 1, 6)) + rng.normal(0, 0.02, (20, 3, 4, 6))
    return table_from_arrays(np.clip(values, 0, 1), FEATURES)


def attacked(table, mechanism, counts, claim=None, seed=2):
    noise = randomness(seed)

    def again(original):
        return mechanism.apply(original, noise)

    promised = mechanism.cost(mechanism.facts(table), PERSON) if claim is None else claim
    return averaging(Material(table, again(table), again), promised, counts)


def test_averaging_brings_people_back(people):
    mechanism = mechanism_named("laplace", epsilon=3.0, unit="record")
    found = attacked(people, mechanism, (1, 16, 256))
    rates = [one.finding.rate.rate for one in found]
    assert [one.releases for one in found] == [1, 16, 256]
    assert rates[0] < 0.6 < 0.9 < rates[-1]
    assert rates == sorted(rates)


def test_pure_losses_add_up_and_gaussian_ones_by_their_squares(people):
    pure = attacked(people, mechanism_named("laplace", epsilon=0.1), (1, 4, 16))
    assert [one.total.epsilon for one in pure] == pytest.approx([0.1, 0.4, 1.6])
    gaussian = attacked(people, mechanism_named("gaussian", epsilon=0.5), (1, 4, 16))
    mu = gaussian[0].total.mu
    assert [one.total.mu for one in gaussian] == pytest.approx([mu, 2 * mu, 4 * mu])


def test_each_bound_is_that_of_all_releases_together(people):
    found = attacked(people, mechanism_named("laplace", epsilon=0.1), (1, 4, 16))
    for one in found:
        assert one.finding.bound == rank1_bounds(one.total, 20)["raw_to_release"]
        assert not one.finding.refutes
    assert found[0].finding.bound == pytest.approx(np.exp(0.1) / (np.exp(0.1) + 19))


def test_a_promise_that_does_not_grow_is_far_exceeded(people):
    """The noise of ε = 20 for a row, sold as ε = 0.2 for a person."""
    mechanism = mechanism_named("laplace", epsilon=20.0, unit="record")
    cheap = mechanism_named("laplace", epsilon=0.2)
    claim = cheap.cost(cheap.facts(people), PERSON)
    found = attacked(people, mechanism, (1, 4), claim)
    assert found[-1].finding.rate.low > found[-1].finding.bound


def test_the_mean_is_that_of_all_releases(people):
    """A mechanism that counts its runs: the mean of 1 … m is (m + 1)/2."""
    runs = iter(range(2, 100))
    seen = []

    class Watching:
        name = "watching"

        def learn(self, known, seed):
            recognise = Means().learn(known, seed)

            def watch(shown):
                seen.append(float(shown.values.mean()))
                return recognise(shown)

            return watch

    def constant(table, value):
        columns = [pl.lit(float(value)).alias(name) for name in table.names]
        return replace(table, data=table.data.with_columns(columns))

    material = Material(people, constant(people, 1), lambda table: constant(table, next(runs)))
    averaging(material, None, (1, 4, 9), Watching())
    assert sorted(set(np.round(seen, 9))) == [1.0, 2.5, 5.0]


def test_without_a_promise_there_is_no_bound(people):
    noise = randomness(3)
    mechanism = mechanism_named("laplace", epsilon=1.0)
    material = Material(
        people, mechanism.apply(people, noise), lambda table: mechanism.apply(table, noise)
    )
    (one,) = averaging(material, None, (2,))
    assert (one.total, one.finding.bound, one.finding.p_value) == (None, None, None)
    assert not one.finding.refutes


def test_what_cannot_be_averaged_is_refused(people):
    with pytest.raises(InputError, match="a mechanism that can be run again"):
        averaging(Material(people, people), None)
    with pytest.raises(InputError, match="at least 1, got"):
        averaging(Material(people, people, lambda table: table), None, (0,))
    short = replace(people, data=people.data[:-1])
    with pytest.raises(InputError, match="is this the mechanism that made it"):
        averaging(Material(people, people, lambda _: short), None, (2,))

"""The mechanisms of Liu et al. 2019, as printed."""

from itertools import combinations

import numpy as np
import pytest

from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.grid import Grid
from eyelid.mechanisms import find, mechanism_named
from eyelid.mechanisms.maps.map_mechanism import MapFacts
from eyelid.privacy.noise import randomness
from eyelid.privacy.unit import PERSON

ALL = ["map-noisefree", "map-rs1", "map-rs2", "map-gaussian-paper", "map-laplace-paper"]


def some_counts(people=20, side=12, points=30, seed=0):
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(people), points)
    cell = np.minimum(rng.geometric(0.05, person.size), side * side) - 1
    shape = MapFacts.of(people, 1, Grid.of_pixels(side, side))
    return PersonCounts.added_up(people, side * side, person, cell), shape


@pytest.mark.parametrize("name", ALL)
def test_none_of_them_claims_to_hold(name):
    counts, facts = some_counts()
    mechanism = mechanism_named(name, **({"epsilon": 1.0} if "paper" in name else {}))
    promise = mechanism.cost(facts, PERSON)
    assert not promise.holds
    assert promise.reasons
    assert mechanism.measure(counts, facts, randomness(0)).shape == (1, 12, 12)


def test_the_noise_free_map_is_the_mean_of_the_capped_maps():
    counts, shape = some_counts()
    wanted = np.minimum(counts.dense, 2).mean(axis=0).reshape(1, 12, 12)
    shown = mechanism_named("map-noisefree", cap=2).measure(counts, shape, randomness(0))
    assert np.allclose(shown, wanted, atol=1e-12)


def test_selection_without_replacement_is_the_mean_of_so_many_different_people():
    counts, shape = some_counts(people=6)
    shown = mechanism_named("map-rs1", share=0.5).measure(counts, shape, randomness(1)).ravel()
    maps = counts.dense
    chosen = [c for c in combinations(range(6), 3) if np.allclose(maps[list(c)].mean(0), shown)]
    assert len(chosen) == 1


def test_selection_with_replacement_draws_everybody_as_often():
    mechanism = mechanism_named("map-rs2", share=1.0)
    often = mechanism.draw(5, 20_000, randomness(2))
    assert np.all(often.sum(axis=1) == 5)
    # The mean of 20 000 counts of variance 0.8 is known to 0.0063: five of these.
    assert np.abs(often.mean(axis=0) - 1).max() < 0.032
    assert (often == 0).mean() == pytest.approx((1 - 1 / 5) ** 5, abs=0.01)


@pytest.mark.parametrize("name", ["map-gaussian-paper", "map-laplace-paper"])
def test_the_noise_has_the_printed_spread(name):
    mechanism = mechanism_named(name, epsilon=1.0, cap=3)
    facts = MapFacts.of(40, 1, Grid.of_pixels(150, 150))
    noisy = mechanism.measure(PersonCounts.of_dense(np.zeros((40, 22_500))), facts, randomness(3))
    # √(5/22 500) is 1.5% of the variance: five of these, for the standard deviation.
    assert noisy.std() == pytest.approx(mechanism.cell_sd(facts), rel=0.04)


@pytest.mark.parametrize("cells", [1, 2, 4, 9, 16])
def test_the_printed_gaussian_breaks_its_delta_with_few_cells(cells):
    mechanism = mechanism_named("map-gaussian-paper", epsilon=1.0, delta=1e-6)
    facts = MapFacts.of(100, 1, Grid(cells, 1, cells, 1))
    assert mechanism.true_delta(facts) > 1e-6
    assert "more than the 1e-06 that is printed" in mechanism.cost(facts, PERSON).reasons[0]


@pytest.mark.parametrize("side", [30, 300, 1300])
def test_with_many_cells_it_would_keep_it(side):
    mechanism = mechanism_named("map-gaussian-paper", epsilon=1.0, delta=1e-6)
    facts = MapFacts.of(100, 1, Grid.of_pixels(side, side))
    assert mechanism.true_delta(facts) < 1e-6
    assert "for exact noise and a public cap" in mechanism.cost(facts, PERSON).reasons[0]


def test_the_games_see_that_a_map_without_noise_is_open():
    mechanism = next(find("map-noisefree").set_for_games())
    pair = next(mechanism.neighbour_pairs(PERSON))
    one, other = (
        mechanism.score(mechanism.play(side, pair.facts, 50, randomness(0)), pair)
        for side in (pair.one, pair.other)
    )
    assert (one < other).all()


def test_algorithm_1_reads_the_data_and_says_so():
    counts, facts = some_counts(people=400)
    mechanism = mechanism_named("map-gaussian-paper", epsilon=50.0, cap="paper")
    assert any("Algorithm 1" in reason for reason in mechanism.cost(facts, PERSON).reasons)
    assert mechanism.settled(counts, facts, randomness(0)).cap >= 1


@pytest.mark.parametrize(
    ("name", "word"), [("map-gaussian", "private"), ("map-gaussian-paper", "paper")]
)
def test_a_mechanism_that_chooses_its_cap_may_become_one_with_a_cap_and_no_other(name, word):
    chooses = mechanism_named(name, epsilon=1.0, delta=1e-3, cap=word)
    shape = chooses.facts_of(8, 1, 4, 4)
    counts = PersonCounts.of_dense(np.ones((8, 16)))
    settled = chooses.settled(counts, shape, randomness(3))
    assert chooses.may_become(settled)
    assert not settled.may_become(chooses)
    assert not chooses.may_become(mechanism_named(name, epsilon=2.0, delta=1e-3, cap=1))

"""Attacks on maps of gaze: they see what is there, and nothing where there is nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from eyelid.attacks.maps import (
    attack_map,
    centre_bias,
    map_membership,
    map_noise,
    map_subtraction,
    map_use,
    table_use,
)
from eyelid.attacks.subtraction import subtraction
from eyelid.errors import InputError
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.simulator.scenes import simulated_scene
from eyelid.mechanisms import mechanism_named
from eyelid.privacy import PERSON, randomness

OURS = ("map-grid", "map-gaussian", "map-laplace")
WIDTH, HEIGHT = 168, 105


def scene_of(people=40, seed=1):
    return simulated_scene(people, width_px=WIDTH, height_px=HEIGHT, hotspot_sd_px=6.0, seed=seed)


def measured(name, people=40, seed=2, **parameters):
    mechanism = mechanism_named(name, **({"epsilon": 1.5} | parameters))
    points = scene_of(people)
    facts = mechanism.facts_of(people, 1, WIDTH, HEIGHT)
    counts = points.counts(facts.grid)
    return mechanism, counts, facts, mechanism.measure(counts, facts, randomness(seed))


def test_subtraction_gives_everybody_back_from_a_plain_heatmap():
    mechanism, counts, shape, cells = measured("map-noisefree")
    found = map_subtraction(mechanism, counts, shape, cells)
    assert found.exact
    assert found.learned
    # By hand, of one person: all others' maps taken off.
    dense = counts.dense
    left = 40 * cells.ravel() - np.delete(dense, 7, axis=0).sum(axis=0)
    assert np.array_equal(np.rint(left), dense[7])


@pytest.mark.parametrize("name", OURS)
def test_subtraction_tells_nothing_of_anybody_in_ours(name):
    mechanism, counts, facts, cells = measured(name)
    found = map_subtraction(mechanism, counts, facts, cells)
    assert not found.exact
    assert not found.learned
    # What is left is N times the noise: within five standard errors of its spread.
    noise = 40 * mechanism.cell_sd(facts) / mechanism.largest(facts)
    assert found.rmse_of_span == pytest.approx(noise, rel=5 * np.sqrt(5 / cells.size))


@pytest.mark.parametrize("name", [*OURS, "map-noisefree", "map-gaussian-paper"])
def test_subtraction_without_zeros_is_that_with_them(name):
    """The plain attack on dense maps is the oracle."""
    mechanism, counts, facts, cells = measured(name, grid="9x6")
    found = map_subtraction(mechanism, counts, facts, cells)
    if name in OURS:
        count, span = (
            mechanism.integers(counts, facts) * mechanism.step(facts),
            mechanism.largest(facts),
        )
    else:
        count, span = mechanism.capped(counts).count, min(mechanism.most, 1.0)
    dense = replace(counts, count=count).dense
    slow = subtraction(cells.ravel(), dense, span=span)
    assert found.rmse_of_span == pytest.approx(slow.rmse_of_span, abs=1e-9)
    assert found.largest_of_span == pytest.approx(slow.largest_of_span, abs=1e-9)
    assert found.blind_rmse_of_span == pytest.approx(slow.blind_rmse_of_span)


@pytest.mark.parametrize("name", ["map-rs1", "map-rs2"])
def test_of_people_drawn_at_random_nobody_knows_whom_to_subtract(name):
    mechanism, counts, shape, cells = measured(name)
    assert attack_map(mechanism, counts, shape, cells).subtraction is None
    with pytest.raises(InputError, match="draws people at random"):
        map_subtraction(mechanism, counts, shape, cells)


@pytest.mark.parametrize("name", ["map-grid", "map-laplace"])
def test_who_is_in_it_is_seen_without_noise_and_hidden_under_it(name):
    """1000 decisions: four standard errors of an advantage are 0.13."""
    mechanism, counts, facts, _ = measured(name, grid="14x9")
    found = map_membership(mechanism, counts, facts, mechanism.cost(facts, PERSON))
    assert found["positive"].advantage.rate == 1.0
    assert abs(found["null"].advantage.rate) < 0.13
    assert 0 < found["membership"].advantage.rate < found["membership"].bound + 0.13
    assert not found["membership"].refutes


@pytest.mark.parametrize("name", OURS)
def test_the_game_uses_up_the_bound_where_people_differ_most(name):
    """Half look at the left and half at the right only, so that a pair is as far apart as allowed.

    The advantage of the best test is then 2Φ(μ/2) − 1 for Gaussian noise. Of the trials about half
    have a pair that looks at the same place, and are coin flips: half of the bound is expected, by
    1000 decisions to within 0.13 (four standard errors).
    """
    mechanism = mechanism_named(
        name, epsilon=2.0, grid="2x1", **({"samples": 1} if name != "map-grid" else {})
    )
    facts = mechanism.facts_of(40, 1, WIDTH, HEIGHT)
    counts = PersonCounts.of_dense(np.tile(np.eye(2), (20, 1)))
    found = map_membership(mechanism, counts, facts, mechanism.cost(facts, PERSON))["membership"]
    assert found.advantage.rate == pytest.approx(found.bound * 20 / 39, abs=0.13)


def test_too_little_noise_sold_as_enough_is_refuted_by_who_is_in_it():
    mechanism, counts, facts, _ = measured("map-grid", epsilon=50.0, delta=1e-6, grid="14x9")
    modest = replace(mechanism, epsilon=0.5)
    assert map_membership(mechanism, counts, facts, modest.cost(facts, PERSON))[
        "membership"
    ].refutes


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("people", [8, 40])
def test_sound_noise_is_what_it_is_said_to_be(name, people):
    """A false alarm has a chance below one in a million; the spread has its standard error."""
    mechanism, counts, shape, cells = measured(name, people=people)
    found = map_noise(mechanism, counts, shape, cells)
    assert found.objection is None
    assert found.spread == pytest.approx(1, abs=4 * np.sqrt(5 / cells.size))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (lambda cells, exact: exact, "next to no noise"),
        (lambda cells, exact: exact + 0.01 * (cells - exact), "0.0.* times the noise"),
        (lambda cells, exact: exact + (cells - exact)[:1], "more than once"),
        (lambda cells, exact: cells[::-1], "farther from the original"),
        (lambda cells, exact: np.where(np.arange(cells.shape[-1]) == 3, exact, cells), "next to"),
        (lambda cells, exact: np.full_like(cells, np.nan), "no release has"),
    ],
    ids=["none", "a hundredth", "layers alike", "layers swapped", "a column bare", "missing"],
)
@pytest.mark.parametrize("name", OURS)
def test_noise_that_is_not_there_is_missed(name, fault, said):
    mechanism = mechanism_named(name, epsilon=200.0, grid="8x7")
    points = scene_of(60)
    shape = mechanism.facts_of(60, 2, WIDTH, HEIGHT)
    first = points.counts(shape.grid)
    # Everybody looks at the first layer only.
    counts = replace(first, cells=2 * first.cells)
    exact = mechanism.divided(mechanism.total(counts, shape), shape)
    cells = mechanism.measure(counts, shape, randomness(3))
    assert map_noise(mechanism, counts, shape, cells).objection is None
    found = map_noise(mechanism, counts, shape, fault(cells, exact))
    assert found.objection is not None
    assert re.search(said, found.objection)


def test_a_plain_heatmap_is_attacked_by_subtraction_alone():
    found = attack_map(*measured("map-noisefree"))
    assert found.subtraction.exact
    assert (found.membership, found.noise) == (None, None)


def test_few_people_are_not_asked_who_is_in_it():
    found = attack_map(*measured("map-grid", people=2))
    assert found.membership is None
    assert found.noise.objection is None


def test_a_use_stands_beside_what_anybody_could_draw():
    blob = centre_bias(60, 40)
    found = map_use("page", 7 * blob, blob)
    assert found.released.correlation == pytest.approx(1.0)
    assert found.released.nmse == pytest.approx(0.0, abs=1e-12)
    assert not found.beats_blob
    corner = np.zeros((40, 60))
    corner[:5, :5] = 1.0
    assert map_use("page", corner, corner / corner.sum()).beats_blob
    with pytest.raises(InputError, match="nobody looked at page"):
        map_use("page", np.zeros((4, 6)), np.zeros((4, 6)))


def test_the_public_blob_has_the_spread_it_says():
    blob = centre_bias(400, 300)
    x, y = (np.arange(length) + 0.5 - length / 2 for length in (400, 300))
    across, down = np.log(blob[150]), np.log(blob[:, 200])
    # Half widths of 200 px: in logarithms a parabola of curvature 1/variance.
    assert np.polyfit(x, across, 2)[0] == pytest.approx(-0.5 / (0.22 * 200**2))
    assert np.polyfit(y, down, 2)[0] == pytest.approx(-0.5 / (0.22 * 0.45 * 200**2))
    assert blob.sum() == pytest.approx(1.0)


def test_saying_nothing_is_the_better_of_what_anybody_could_write_down():
    rare, usual = np.array([0.1, 0.0, 0.2]), np.array([2.1, 1.9, 2.0])
    assert table_use("visits", rare, rare, 6).nothing_rmse == pytest.approx(np.sqrt(0.05 / 3))
    assert table_use("visits", usual, usual, 6).nothing_rmse == pytest.approx(np.sqrt(0.02 / 3))
    assert table_use("visits", usual, usual, 6).beats_nothing
    assert not table_use("visits", usual, np.full(3, 2.0), 6).beats_nothing


def test_an_inverted_map_is_worse_than_a_blank_picture():
    corner = np.zeros((4, 6))
    corner[0, 0] = 1.0
    assert not map_use("page", corner, np.full((4, 6), 1 / 24)).worse_than_blank
    assert map_use("page", corner, corner[::-1, ::-1]).worse_than_blank

"""What a map is expected to be worth beside a blob: as on real pictures, by public facts alone."""

from dataclasses import replace

import numpy as np
import pytest

from eyelid.attacks.maps import centre_bias, map_error
from eyelid.gaze.maps.counts import PersonCounts
from eyelid.gaze.maps.gaze_map import gaze_map
from eyelid.gaze.maps.gaze_points import gaze_points_of
from eyelid.gaze.maps.spread import point_spread, spread, spread_error
from eyelid.gaze.simulator import simulate
from eyelid.io import read
from eyelid.mechanisms import mechanism_named
from eyelid.releases.kinds.maps import centre_bias as module
from eyelid.releases.kinds.maps.centre_bias import likeness, outlook
from eyelid.releases.kinds.maps.quote import heatmap_preview

WIDTH, HEIGHT, BLUR = 1680, 1050, 40.0


def expected(people=40, epsilon=1.0, layers=1, name="map-grid", of_tables=None):
    mechanism = mechanism_named(name, epsilon=epsilon)
    shape = mechanism.facts_of(people, layers, WIDTH, HEIGHT, BLUR)
    return outlook(mechanism, shape, BLUR, epsilon=of_tables)


def private(people=40, epsilon=1.0, layers=1, name="map-grid"):
    """How like the truth a map is expected to be, without what would make it better."""
    mechanism = mechanism_named(name, epsilon=epsilon)
    return likeness(
        mechanism, mechanism.facts_of(people, layers, WIDTH, HEIGHT, BLUR), BLUR
    ).private


def test_more_people_a_larger_epsilon_and_fewer_maps_make_a_map_more_like_the_truth():
    assert private() == expected().likeness.private
    assert private(people=15) < private() < private(people=200)
    assert private(epsilon=0.5) < private() < private(epsilon=3.0)
    assert private(layers=4) < private()
    assert private(people=5000) > 0.95


def test_as_many_people_and_as_large_an_epsilon_as_are_said_to_help_do():
    few = expected(people=10)
    assert few.likeness.as_good
    assert not expected(people=few.people_needed).likeness.as_good
    assert expected(people=int(0.6 * few.people_needed)).likeness.as_good
    assert not expected(people=10, epsilon=few.epsilon_needed).likeness.as_good
    assert expected(people=10, epsilon=0.6 * few.epsilon_needed).likeness.as_good


def test_counts_of_few_people_are_no_better_than_a_blob_and_shares_in_cells_would_be():
    found = expected(name="map-gaussian")
    assert found.likeness.as_good
    assert found.coarse == private()
    assert "--mechanism map-grid" in found.sentence
    assert private(people=100_000, name="map-gaussian") > 0.95


def test_areas_are_advised_with_their_error_where_that_is_small():
    mechanism = mechanism_named("aoi-tables", epsilon=2.0, tables="dwell")
    error = mechanism.cell_sd(mechanism.facts_of(40, 6, 4))[0, 0]
    found = expected(layers=6, epsilon=1.0, of_tables=2.0)
    assert found.dwell_error == pytest.approx(error)
    assert f"a standard error of {error:.2g})" in found.sentence
    assert expected(people=5, layers=6).dwell_error is None


def test_what_is_taken_of_simulated_people_is_what_the_mechanism_takes():
    mechanism = mechanism_named("map-grid", epsilon=1.0)
    facts = mechanism.facts_of(20, 1, WIDTH, HEIGHT, BLUR)
    counts = np.random.default_rng(1).poisson(0.2, (3, 20, facts.grid.rows, facts.grid.columns))
    found = module._limited(mechanism, facts, counts.astype(float))
    for own, mean in zip(counts, found, strict=True):
        sparse = PersonCounts.of_dense(own.reshape(20, -1).astype(float))
        limited = mechanism.limited(sparse, facts)
        summed = np.bincount(sparse.cell, weights=limited, minlength=facts.length)
        np.testing.assert_allclose(mean.ravel(), summed / 20)


def test_nothing_is_expected_of_what_the_paper_prints_or_of_maps_without_noise():
    for name in ("map-noisefree", "map-gaussian-paper"):
        mechanism = mechanism_named(name, epsilon=1.0)
        assert outlook(mechanism, mechanism.facts_of(10, 1, 40, 30), 2.0) is None


def test_what_is_expected_depends_on_public_facts_alone():
    one, other = (simulate(people=6, tasks=["comic"], minutes=0.1, seed=seed) for seed in (1, 2))
    first, second = (
        heatmap_preview(each, stimulus="comic", level="good").outlook for each in (one, other)
    )
    assert first == second


def test_with_groups_what_is_true_of_the_smaller_one_is_told():
    study = simulate(people=9, tasks=["comic"], minutes=0.1, seed=9)
    found = heatmap_preview(study, stimulus="comic", level="good", by="gender").outlook
    assert found.people < 5
    assert "each of these maps" in found.sentence
    assert "people in each group at this ε" in found.sentence


def test_real_pictures_are_as_the_simulated_ones_make_believe(real_data):
    """OSIE: ten of its images, a quarter as large; means over them scatter by about 0.05."""
    osie, size, sigma_px = read(real_data / "OSIE"), (200, 150), 6.0
    names = sorted(osie.data["stimulus"].unique())[::70]
    points = gaze_points_of(osie, stimuli=names, width_px=800, height_px=600)
    points = replace(
        points, x_px=points.x_px / 4, y_px=points.y_px / 4, width_px=200, height_px=150
    )
    images = [points.of_layer(name) for name in names]
    truths = [point_spread(gaze_map(image).values, sigma_px) for image in images]
    blob = np.mean([map_error(truth, centre_bias(*size)).correlation for truth in truths])
    rng = np.random.default_rng(4)
    for epsilon in (1.5, 5.0):
        mechanism = mechanism_named("map-grid", epsilon=epsilon)
        facts = mechanism.facts_of(15, 1, *size, sigma_px)
        grid, cell_sd = facts.grid, mechanism.cell_sd(facts)
        found = []
        for image, truth in zip(images, truths, strict=True):
            counts = image.counts(grid)
            clean = np.bincount(counts.cell, mechanism.limited(counts, facts), facts.length) / 15
            for _ in range(8):
                noisy = (clean + rng.normal(0, cell_sd, clean.size)).reshape(grid.rows, -1)
                shown = spread(noisy, grid, sigma_px) - spread_error(grid, sigma_px, cell_sd)
                found.append(map_error(truth, np.maximum(shown, 0.0)).correlation or 0.0)
        simulated = likeness(mechanism, facts, sigma_px)
        assert simulated.private == pytest.approx(np.mean(found), abs=0.12)
        assert simulated.blob == pytest.approx(blob, abs=0.12)

"""The paper's gaze map, by a plain loop; and the map that is made of noisy cells."""

from dataclasses import replace

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.gaze.maps.gaze_map import (
    GazeMap,
    difference,
    difference_standing_out,
    gaze_map,
    mean_map,
    presented,
    standing_out,
)
from eyelid.gaze.maps.gaze_points import gaze_points_from_arrays, gaze_points_of
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.maps.placement import Placement, on_screen
from eyelid.gaze.maps.spread import spread, spread_error
from eyelid.io import read


def touches(people=6, points=400, seed=12, weight=None):
    rng = np.random.default_rng(seed)
    who = [f"p{n}" for n in rng.integers(0, people - 1, points)]
    everybody = [f"p{n}" for n in range(people)]
    x, y = rng.integers(0, 8, points) + 0.5, rng.integers(0, 6, points) + 0.5
    return gaze_points_from_arrays(who, x, y, weight, size=(8, 6), everybody=everybody)


@pytest.mark.parametrize("cap", [None, 1, 2, 2.5, 1000])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_gaze_map_is_the_mean_of_capped_individual_maps(cap, weighted):
    weight = np.random.default_rng(13).random(400) if weighted else None
    looks = touches(weight=weight)
    maps = np.zeros((6, 6, 8))
    rows = zip(looks.person, looks.x_px, looks.y_px, looks.weight, strict=True)
    for person, x, y, heavy in rows:
        maps[person, int(y), int(x)] += heavy
    expected = np.minimum(maps, np.inf if cap is None else cap).sum(axis=0) / 6
    found = gaze_map(looks, cap=cap)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12, atol=1e-15)
    assert (found.people, found.name, found.sigma_px) == (6, "", None)
    assert found.reliable.all()


@pytest.mark.parametrize("cap", [None, 2])
def test_people_who_come_some_at_a_time_make_the_same_map(cap):
    looks = touches()
    blocks = (looks.of_people(first, first + 2) for first in range(0, 6, 2))
    together = mean_map(blocks, cap=cap)
    np.testing.assert_allclose(together.values, gaze_map(looks, cap=cap).values, rtol=1e-12)
    assert together.people == 6


def test_one_observer_s_map_is_their_own():
    one = gaze_points_from_arrays(["a", "a"], [0.0, 1.0], [0.0, 0.0], size=(2, 1))
    assert gaze_map(one).values.tolist() == [[1.0, 1.0]]


def test_an_observer_who_saw_nothing_still_divides():
    looks = gaze_points_from_arrays(["a"], [0.0], [0.0], size=(2, 1), everybody=["a", "b"])
    assert gaze_map(looks).values.tolist() == [[0.5, 0.0]]


def test_a_study_in_degrees_becomes_a_map_of_its_screen(simulated):
    found = gaze_map(simulated, stimulus="comic")
    assert found.values.shape == (1080, 1920)
    assert (found.people, found.name) == (6, "comic")
    # Confidence is never low here, so that all gaze on the screen counts.
    rows = simulated.data.filter(simulated.data["stimulus"] == "comic").drop_nulls(["x", "y"])
    x, y = on_screen(
        rows["x"].to_numpy(), rows["y"].to_numpy(), simulated.screen, "deg", "top-left"
    )
    expected, _, _ = np.histogram2d(y, x, bins=(1080, 1920), range=((0, 1080), (0, 1920)))
    assert found.values.sum() > 1000
    np.testing.assert_allclose(found.values, expected / 6)


def test_a_layer_of_several_must_be_named(simulated):
    looks = gaze_points_of(simulated, stimuli=["comic", "textbook"], width_px=1920, height_px=1080)
    with pytest.raises(InputError, match="at 2 pictures or stretches of time: name one of comic"):
        gaze_map(looks)
    one = gaze_map(looks, stimulus="textbook")
    np.testing.assert_array_equal(one.values, gaze_map(simulated, stimulus="textbook").values)
    with pytest.raises(InputError, match="unknown picture or stretch of time 'text'"):
        gaze_map(looks, stimulus="text")


def test_a_picture_of_unknown_size_is_refused(simulated):
    with pytest.raises(InputError, match="size of the picture is not known"):
        gaze_map(simulated.derive(screen=None), stimulus="comic")
    with pytest.raises(InputError, match="needs its own size"):
        gaze_map(simulated, stimulus="comic", placement=Placement(10.0, 10.0))


@pytest.mark.parametrize("cap", [0, -1, float("nan")])
def test_an_impossible_cap_is_refused(cap):
    with pytest.raises(InputError, match="the cap must be above 0"):
        gaze_map(touches(), cap=cap)


def test_nobody_and_pictures_of_two_sizes_make_no_map():
    with pytest.raises(InputError, match="at least one observer"):
        mean_map([])
    other = gaze_points_from_arrays(["z"], [0.0], [0.0], size=(9, 6))
    with pytest.raises(InputError, match="the same size"):
        mean_map([touches(), other])


GRID = Grid(60, 40, 6, 4)


def test_a_presented_map_is_what_is_above_its_error_scaled_to_one():
    cells = np.zeros((4, 6))
    cells[1, 2], cells[3, 5] = 0.8, -0.3
    found = presented(cells, GRID, 3.0, 0.05, "page", 12)
    measured, error = spread(cells, GRID, 3.0), spread_error(GRID, 3.0, 0.05)
    np.testing.assert_array_equal(found.measured, measured)
    np.testing.assert_array_equal(found.error, error)
    above = np.where(measured > error, measured - error, 0.0)
    np.testing.assert_allclose(found.values, above / above.sum())
    assert found.values.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(found.reliable, measured > 2 * error)
    assert found.reliable[15, 25]
    assert not found.reliable[35, 55]
    assert (found.sigma_px, found.name, found.people) == (3.0, "page", 12)


def test_where_all_is_noise_the_map_is_nothing_and_nothing_is_reliable():
    found = presented(np.full((4, 6), 1e-6), GRID, 3.0, 0.05, "", 12)
    assert not found.values.any()
    assert not found.reliable.any()


def test_cells_without_noise_are_presented_as_they_are():
    cells = np.random.default_rng(14).random((4, 6))
    found = presented(cells, GRID, 2.0, 0.0, "", 1)
    heat = spread(cells, GRID, 2.0)
    np.testing.assert_allclose(found.values, heat / heat.sum())
    assert found.reliable.all()


def test_noise_alone_is_seldom_called_reliable():
    # One px of 300 independent maps is above two errors 6.8 times on average: never with a chance
    # of 0.1%, more than 21 times with one below 1e-5; seed fixed.
    rng = np.random.default_rng(15)
    reliable = np.array(
        [
            presented(rng.normal(0, 0.1, (4, 6)), GRID, 3.0, 0.1, "", 9).reliable[20, 30]
            for _ in range(300)
        ]
    )
    assert 0.0 < reliable.mean() < 0.073


def test_maps_that_are_not_private_are_reliable_everywhere():
    assert GazeMap(np.zeros((2, 3)), "", 5).reliable.all()


def measured(*rows: str, **more) -> GazeMap:
    """One digit a px, of standard error 1; a dash is below nothing."""
    values = np.array([[-3.0 if each == "-" else float(each) for each in row] for row in rows])
    given = {"error": np.ones(values.shape), "measured": values, "sure_errors": 4.0, **more}
    return GazeMap(np.maximum(values, 0), "", 5, 2.0, **given)


def test_places_that_reach_certainty_are_told_from_those_that_may_be_noise():
    some = measured(
        "9500030",
        "3000003",
        "0000000",
        "0639-30",
    )
    # Two of 9 and 5, of 6 and of 9, which are apart above 4; and two of 3, of which one touches
    # itself at a corner only.
    assert standing_out(some) == (3, 2)
    assert some.certain.sum() == 4


def test_where_it_is_not_known_how_high_noise_rises_nothing_is_certain():
    some = measured("905", sure_errors=None)
    assert standing_out(some) == (0, 2)
    assert not some.certain.any()
    assert GazeMap(np.zeros((2, 3)), "", 5).certain.all()


def test_noise_alone_stands_out_for_certain_on_few_maps():
    """2.5% of maps to one side: of 400 more than 27 with a chance of 1e-5; the seed is fixed."""
    rng, grid = np.random.default_rng(21), Grid(96, 54, 8, 5)
    counts = [
        standing_out(presented(rng.normal(0, 0.1, (5, 8)), grid, 3.0, 0.1, "", 9))
        for _ in range(400)
    ]
    certain, perhaps = (np.array(each) for each in zip(*counts, strict=True))
    assert (certain > 0).sum() <= 27
    assert (perhaps > 0).mean() > 0.5


def evenly_viewed(rng, grid, cell_sd, *, mean=1.0, hot=0.0) -> GazeMap:
    """A released map of a page that is looked at evenly but for one cell, if at all."""
    cells = np.full((grid.rows, grid.columns), mean)
    cells[grid.rows // 2, grid.columns // 2] += hot
    return presented(cells + rng.normal(0, cell_sd, cells.shape), grid, 3.0, cell_sd, "", 9)


@pytest.mark.parametrize("mean", [0.0, 0.3, 5.0])
def test_a_page_that_is_looked_at_evenly_has_no_hotspot_however_much_it_is_looked_at(mean):
    """Held against zero, every place of a busy page stood out: marks in at most 1 map of 20.

    Of 400 maps more than 35 with a chance of 1e-3; the seed is fixed.
    """
    rng, grid = np.random.default_rng(22), Grid(96, 54, 8, 5)
    marked = [standing_out(evenly_viewed(rng, grid, 0.1, mean=mean))[0] > 0 for _ in range(400)]
    assert sum(marked) <= 35


def test_a_strong_hotspot_on_a_page_that_is_looked_at_evenly_is_marked():
    rng, grid = np.random.default_rng(23), Grid(96, 54, 8, 5)
    found = [evenly_viewed(rng, grid, 0.1, hot=0.8) for _ in range(40)]
    # Its cell, and nothing else but by noise.
    assert all(each.certain[27, 54] for each in found)
    assert np.mean([standing_out(each)[0] for each in found]) < 1.2


def test_a_place_at_one_and_a_half_times_the_average_is_not_clear_where_noise_makes_as_much():
    """It was: fifteen standard errors from zero, and no more than two from the average."""
    grid = Grid(96, 54, 8, 5)
    cells = np.full((5, 8), 1.0)
    cells[2, 4] = 1.5
    found = presented(cells, grid, 3.0, 0.25, "", 9)
    assert (found.measured / found.error)[27, 54] > 6
    assert not found.certain.any()


@pytest.mark.parametrize("laplace", [False, True])
def test_no_marked_place_is_lower_than_an_unmarked_one_of_the_same_noise(laplace):
    grid = Grid(96, 54, 8, 5)
    for seed in range(20):
        cells = np.random.default_rng(seed).gamma(0.5, 1.0, (5, 8))
        found = presented(cells, grid, 3.0, 0.15, "", 9, laplace=laplace)
        noise = np.round(found.error / found.error.max(), 9)
        assert found.certain.any()
        for same in np.unique(noise):
            marked, unmarked = (
                found.measured[(noise == same) & which] for which in (found.certain, ~found.certain)
            )
            if marked.size and unmarked.size:
                assert marked.min() > unmarked.max()


def test_the_error_of_a_contrast_is_that_of_noise_less_the_average_that_noise_moves_too():
    rng, grid = np.random.default_rng(24), Grid(30, 20, 3, 2)
    drawn = [presented(5 + rng.normal(0, 0.1, (2, 3)), grid, 4.0, 0.1, "", 9) for _ in range(3000)]
    found = np.std([each.contrast.above for each in drawn], axis=0)
    np.testing.assert_allclose(found, drawn[0].contrast.error, rtol=0.08)
    # With six cells the place is a good part of its own average.
    assert (drawn[0].contrast.error < 0.95 * drawn[0].error).all()


def test_a_single_cell_is_its_own_average_and_never_stands_out():
    found = presented(np.array([[9.0]]), Grid(30, 20, 1, 1), 4.0, 0.1, "", 9)
    assert found.reliable.all()
    assert standing_out(found) == (0, 0)


def test_what_stands_out_is_never_under_the_veil():
    # Noise may make an average of less than nothing; nobody looks less than not at all.
    for seed in range(50):
        cells = np.random.default_rng(seed).normal(-0.2, 0.1, (1, 2))
        found = presented(cells, Grid(40, 20, 2, 1), 2.0, 0.1, "", 9)
        assert not (found.perhaps & ~found.reliable).any()


def test_a_difference_is_of_what_was_measured_and_its_errors_add_in_squares():
    one, other = measured("9510"), measured("1290", error=np.full((1, 4), 0.75))
    found = difference(one, other)
    assert found.measured.tolist() == [[8, 3, -8, 0]]
    assert found.values.tolist() == [[8, 3, 0, 0]]
    assert found.error == pytest.approx(np.full((1, 4), 1.25))
    assert (found.people, found.sure_errors) == (10, 4.0)


def test_places_where_maps_differ_count_to_either_side():
    one, other = measured("90003020"), measured("00900000")
    # The error is √2: both of 9 are certain, 3 is above two errors, 2 is not.
    assert difference_standing_out(one, other) == (2, 1)
    assert difference_standing_out(one, replace(other, sure_errors=None)) == (0, 3)
    assert difference_standing_out(one, one) == (0, 0)


def test_maps_of_two_sizes_have_no_difference():
    with pytest.raises(InputError, match="3 × 1 and 2 × 1 px"):
        difference(measured("123"), measured("12"))


def test_osie_s_map_adds_up_to_the_fixations_a_person(real_data):
    osie = read(real_data / "OSIE")
    image = osie.data["stimulus"][0]
    looks = gaze_points_of(osie, stimuli=[image], width_px=800, height_px=600)
    found = gaze_map(osie, stimulus=image)
    assert found.people == 15
    assert found.values.sum() == pytest.approx(len(looks.x_px) / 15)

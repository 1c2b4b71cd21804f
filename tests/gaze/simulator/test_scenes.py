from __future__ import annotations

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.gaze.maps.grid import Grid
from eyelid.gaze.simulator.scenes import simulated_scene


def test_everybody_has_their_fixations_and_those_off_the_picture_are_counted():
    points = simulated_scene(50, hotspot_sd_px=300.0, seed=1)
    assert points.person.size + points.outside == 50 * 30
    assert points.outside > 0
    assert (Grid.of_pixels(1680, 1050).cell_of(points.x_px, points.y_px) >= 0).all()
    assert np.bincount(points.person, minlength=50).max() == 30


def test_gaze_is_one_fifth_anywhere_and_the_rest_within_the_hotspots():
    """Of 30 000 fixations; a share of one fifth has a standard error of 0.0023 (5 of them)."""
    points = simulated_scene(1000, hotspot_sd_px=5.0, seed=2)
    grid = Grid.of_about(1680, 1050, 42 * 26)
    cells = np.bincount(grid.cell_of(points.x_px, points.y_px), minlength=grid.cells)
    # Four hotspots this small lie in some sixteen cells at most, of more than a thousand.
    elsewhere = np.sort(cells)[:-16].sum() / cells.sum()
    assert elsewhere == pytest.approx(0.2 * (1 - 16 / grid.cells), abs=5 * 0.0023)


def test_a_seed_gives_the_same_scene_to_other_people():
    few, many, other = (simulated_scene(n, seed=s) for n, s in ((200, 3), (400, 3), (200, 4)))
    assert np.array_equal(few.x_px, simulated_scene(200, seed=3).x_px)
    grid = Grid(1680, 1050, 12, 8)

    def map_of(points):
        return np.bincount(grid.cell_of(points.x_px, points.y_px), minlength=grid.cells)

    assert np.corrcoef(map_of(few), map_of(many))[0, 1] > 0.98
    assert np.corrcoef(map_of(few), map_of(other))[0, 1] < 0.8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"people": 0}, "people must be at least 1, got 0"),
        ({"people": 2, "hotspots": 0}, "hotspots must be at least 1"),
        ({"people": 2, "uniform": 1.5}, "share between 0 and 1, got 1.5"),
        ({"people": 2, "hotspot_sd_px": 0.0}, "hotspot_sd_px must be above 0"),
    ],
)
def test_what_cannot_be_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        simulated_scene(**wrong)

"""Public regions: areas written as text, cells around them, and which holds a place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.streams.regions import Regions, areas_of, spelled
from eyelid.mechanisms.streams.scene import Scene

SCENE = Scene.of("px", "0,0,100,60")
AREAS = "box:10,10,30,30; corner:20,20,50,20,35,50"
NUMBERS = st.floats(-20, 120)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_one_place_is_where_many_are(places) -> None:
    regions = Regions(SCENE, AREAS)
    x, y = np.array(places).T
    assert regions.areas_at(x, y).tolist() == [regions.area_at(*place) for place in places]


def test_a_place_of_two_areas_is_in_the_first() -> None:
    regions = Regions(SCENE, AREAS)
    assert [regions.area_at(25, 25), regions.area_at(35, 30), regions.area_at(1, 1)] == [0, 1, -1]
    assert regions.area_at(float("nan"), 25.0) == -1


def test_cells_are_whole_and_hold_their_middles() -> None:
    regions = Regions.with_cells(SCENE, "", cell=21.0)
    assert (regions.columns, regions.rows) == (5, 3)
    assert [regions.region_at(*regions.middle(cell)) for cell in range(15)] == list(range(15))
    assert regions.middle(0) == (10.0, 10.0)
    assert regions.name(regions.region_at(100.0, 60.0)) == "row 3, column 5"


def test_areas_come_before_the_cells_around_them() -> None:
    regions = Regions.with_cells(SCENE, AREAS, cell=20.0)
    assert regions.name(regions.region_at(15.0, 15.0)) == "box"
    assert regions.middle(0) == (20.0, 20.0)
    assert regions.name(regions.region_at(99.0, 1.0)) == "row 1, column 5"


def test_text_comes_back_from_areas() -> None:
    areas = areas_of(AREAS)
    again = areas_of(spelled(areas))
    assert [area.name for area in again] == ["box", "corner"]
    assert all(np.array_equal(a.corners, b.corners) for a, b in zip(areas, again, strict=True))


def test_areas_of_directions_are_told_in_degrees() -> None:
    scene = Scene.of("direction")
    regions = Regions(scene, "ahead:-10,-10,10,10")
    x, y = scene.to_plane(*np.array([[np.sin(np.radians(9)), 0.0, np.cos(np.radians(9))]]).T)
    assert regions.areas_at(x, y).tolist() == [0]
    x, y = scene.to_plane(*np.array([[np.sin(np.radians(11)), 0.0, np.cos(np.radians(11))]]).T)
    assert regions.areas_at(x, y).tolist() == [-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("box", "is not NAME:x0,y0,x1,y1"),
        ("box:1,2,3", "is not NAME:x0,y0,x1,y1"),
        ("box:1,2,3,many", "is not NAME:x0,y0,x1,y1"),
        ("box:0,0,1,1; box:2,2,3,3", "are called 'box'"),
        ("box:200,0,300,10", "lies outside the scene"),
    ],
)
def test_what_is_no_area_is_refused(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Regions(SCENE, text)


@pytest.mark.parametrize("cell", [0.0, -1.0, float("nan"), 1e-9])
def test_what_is_no_cell_is_refused(cell: float) -> None:
    with pytest.raises(InputError, match="cell"):
        Regions.with_cells(SCENE, "", cell)

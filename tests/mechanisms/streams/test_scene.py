import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.mechanisms.streams.scene import Scene

part = st.floats(-1, 1)
vector = st.tuples(part, part, part).filter(lambda v: math.hypot(*v) > 1e-3)


def angle_deg(one, other):
    cross = np.linalg.norm(np.cross(one, other))
    return math.degrees(math.atan2(cross, np.dot(one, other)))


@given(vector, vector, st.floats(1e-6, 1e6))
def test_directions_are_never_farther_apart_in_the_plane_than_in_angle(one, other, longer):
    scene = Scene.of("direction")
    here = scene.point(*one)
    # Of any length, to the front or to the back.
    there = scene.point(*(longer * p for p in other))
    assert math.dist(here, there) <= angle_deg(one, other) + 1e-9


def test_near_the_middle_the_plane_is_in_degrees():
    scene = Scene.of("direction")
    turn = math.radians(1.0)
    assert scene.point(math.sin(turn), 0.0, math.cos(turn))[0] == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("length", [0.0, 1e-170, 1e170, 1e300, math.inf, math.nan])
def test_what_has_no_direction_is_lost(length):
    # Squares of such lengths are no numbers, and would put gaze somewhere else.
    scene = Scene.of("direction")
    assert all(map(math.isnan, scene.point(length, 0.0, 0.0)))
    parts = np.array([[length], [0.0], [0.0]])
    assert all(np.isnan(p).all() for p in scene.to_plane(*parts))


def test_single_samples_and_arrays_go_the_same_way():
    scene = Scene.of("direction")
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 50))
    across, up = scene.to_plane(x, y, z)
    single = [scene.point(*v) for v in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
    assert single == list(zip(across, up, strict=True))
    # The corners of a wide plane are beyond the rim of the half sphere.
    back = np.stack(scene.from_plane(1.5 * across, 1.5 * up), axis=1)
    points = zip((1.5 * across).tolist(), (1.5 * up).tolist(), strict=True)
    assert np.allclose(back, [scene.gaze(*p) for p in points], rtol=0, atol=1e-15)
    assert np.allclose(np.linalg.norm(back, axis=1), 1.0)


def test_directions_come_back_as_they_were():
    scene = Scene.of("direction")
    gaze = np.array([0.3, -0.2, math.sqrt(1 - 0.13)])
    assert scene.gaze(*scene.point(*gaze)) == pytest.approx(gaze)


def test_a_scene_says_its_corners_and_its_diameter():
    scene = Scene.of("px", [0, 0, 300, 400])
    assert (str(scene), scene.diameter, scene.spoken_units) == ("0,0,300,400", 500.0, "px")
    seen = Scene.of("direction", "-30,-30,30,30")
    assert seen.plane[2] == pytest.approx(math.degrees(0.5))
    assert seen.spoken_units == "deg"


@pytest.mark.parametrize(
    ("units", "given_as", "text"),
    [
        ("px", None, "a scene in px must be told"),
        ("px", "0,0,1", "is not four numbers"),
        ("px", "0,0,0,5", "has no area"),
        ("px", "0,0,nan,5", "has no area"),
        ("direction", "-95,-10,10,10", "reaches behind the eyes"),
        ("inch", "0,0,1,1", "unknown unit of gaze 'inch'"),
    ],
)
def test_scenes_that_are_none_are_refused(units, given_as, text):
    with pytest.raises(InputError, match=text):
        Scene.of(units, given_as)


def test_directions_have_three_parts():
    with pytest.raises(InputError, match="three parts"):
        Scene.of("direction").point(0.1, 0.2)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.geometry import (
    angles,
    degrees_on_screen,
    direction,
    in_head,
    in_world,
    missing_for_degrees,
)
from eyelid.gaze.study import Screen

SCREEN = Screen(1280, 1024, 0.38, 0.30, 0.68)


def test_pixels_become_the_degrees_that_pymovements_computes():
    import polars as pl
    from pymovements.transforms import pix2deg

    x = np.array([0.0, 100.0, 640.0, 1279.0])
    y = np.array([0.0, 900.0, 512.0, 1023.0])
    peer = pix2deg(
        screen_resolution=(1280, 1024), screen_size=(38.0, 30.0), distance=68.0, n_components=2
    )
    frame = pl.DataFrame({"pixel": np.column_stack([x, y]).tolist()})
    theirs = np.array(frame.select(peer.alias("deg"))["deg"].to_list())
    ours = degrees_on_screen(x, y, SCREEN, "px", "top-left")
    # The peer counts from the middle of the first pixel, and downwards.
    np.testing.assert_allclose(ours[0], theirs[:, 0], atol=0.02)
    np.testing.assert_allclose(ours[1], -theirs[:, 1], atol=0.02)


def test_the_same_place_is_the_same_angle_from_every_corner():
    from_top = degrees_on_screen([320.0], [256.0], SCREEN, "px", "top-left")
    from_bottom = degrees_on_screen([320.0], [768.0], SCREEN, "px", "bottom-left")
    from_centre = degrees_on_screen([-320.0], [256.0], SCREEN, "px", "centre")
    as_fraction = degrees_on_screen([0.25], [0.25], SCREEN, "fraction", "top-left")
    for other in (from_bottom, from_centre, as_fraction):
        np.testing.assert_allclose(np.ravel(from_top), np.ravel(other))
    assert from_top[1][0] > 0


@pytest.mark.parametrize(
    ("screen", "units", "origin", "missing"),
    [
        (None, "px", "top-left", "screen (its size in px)"),
        (Screen(1280, 1024), "px", "top-left", "screen_m"),
        (Screen(1280, 1024, 0.4, 0.3), "px", "top-left", "distance_m"),
        (SCREEN, "px", None, "xy_origin"),
        (SCREEN, "normalised", "top-left", "units"),
    ],
)
def test_what_is_not_known_is_named(screen, units, origin, missing):
    assert missing in missing_for_degrees(screen, units, origin)
    with pytest.raises(InputError, match="not known"):
        degrees_on_screen([0.0], [0.0], screen, units, origin)


def test_fractions_need_no_resolution():
    assert not missing_for_degrees(Screen(None, None, 0.5, 0.3, 0.6), "fraction", "top-left")


def test_directions_are_unit_vectors_with_x_right_y_up_z_ahead():
    np.testing.assert_allclose(direction(0.0, 0.0), [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(direction(90.0, 0.0), [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(direction(0.0, 90.0), [0, 1, 0], atol=1e-15)
    rng = np.random.default_rng(0)
    vectors = direction(rng.uniform(-180, 180, 100), rng.uniform(-90, 90, 100))
    np.testing.assert_allclose(np.sum(np.square(vectors), axis=0), 1.0)


def test_eye_in_head_turns_with_the_head():
    world = direction(40.0, 10.0)
    np.testing.assert_allclose(in_head(world, direction(30.0, 10.0))[0], 0.171, atol=1e-3)
    # A head tilted a quarter turn clockwise sees what is on its right above.
    right = direction(20.0, 0.0)
    x, y, z = in_head(right, direction(0.0, 0.0), 90.0)
    np.testing.assert_allclose([x, y], [0.0, np.sin(np.radians(20.0))], atol=1e-12)
    assert z > 0


def test_eye_in_head_keeps_angles():
    rng = np.random.default_rng(1)
    world = direction(rng.uniform(-180, 180, 50), rng.uniform(-90, 90, 50))
    head = direction(rng.uniform(-180, 180, 50), rng.uniform(-80, 80, 50))
    inside = in_head(world, head, rng.uniform(-40, 40, 50))
    np.testing.assert_allclose(np.sum(np.square(inside), axis=0), 1.0)
    np.testing.assert_allclose(inside[2], sum(w * h for w, h in zip(world, head, strict=True)))


@given(*[st.floats(-179, 179), st.floats(-89, 89)] * 2, st.floats(-180, 180))
def test_what_is_seen_from_the_head_is_seen_from_outside_again(az, el, head_az, head_el, roll):
    gaze, head = direction(az, el), direction(head_az, head_el)
    back = in_world(in_head(gaze, head, roll), head, roll)
    assert np.ravel(back) == pytest.approx(np.ravel(gaze), abs=1e-9)
    assert np.ravel(angles(*direction(az, el))) == pytest.approx([az, el], abs=1e-9)


def test_straight_ahead_of_the_head_is_where_the_head_points():
    heads = direction(np.array([0.0, 90.0, -120.0]), np.array([0.0, 45.0, -80.0]))
    ahead = direction(np.zeros(3), np.zeros(3))
    assert np.stack(in_world(ahead, heads, 20.0)) == pytest.approx(np.stack(heads))

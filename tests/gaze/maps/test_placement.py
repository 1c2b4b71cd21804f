"""Gaze comes to the right px of the picture, whatever units and origin a study has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelid.errors import InputError
from eyelid.gaze.geometry import degrees_on_screen
from eyelid.gaze.maps.placement import Placement, default_sigma_px, on_screen, point_spread_px
from eyelid.gaze.simulator import SCREEN
from eyelid.gaze.study import Screen

PX = st.floats(-500.0, 2500.0)


@given(PX, PX)
def test_degrees_come_back_to_the_px_that_they_were_made_of(x, y):
    right, up = degrees_on_screen([x], [y], SCREEN, "px", "top-left")
    found = on_screen(right, up, SCREEN, "deg", "centre")
    np.testing.assert_allclose(np.ravel(found), [x, y], atol=1e-8)


@pytest.mark.parametrize("units", ["px", "fraction"])
@pytest.mark.parametrize(
    ("xy_origin", "places"),
    [
        ("top-left", [(0, 0), (1000, 500), (250, 100)]),
        ("bottom-left", [(0, 500), (1000, 0), (250, 400)]),
        ("centre", [(-500, 250), (500, -250), (-250, 150)]),
    ],
)
def test_every_origin_finds_the_corners_and_a_place_between(units, xy_origin, places):
    x, y = np.array(places, dtype=float).T
    if units == "fraction":
        x, y = x / 1000, y / 500
    x_px, y_px = on_screen(x, y, Screen(1000, 500), units, xy_origin)
    np.testing.assert_allclose(x_px, [0, 1000, 250])
    np.testing.assert_allclose(y_px, [0, 500, 100])


@pytest.mark.parametrize(("xy_origin", "top"), [("top-left", 0.0), ("bottom-left", 1080.0)])
def test_degrees_from_a_corner_end_at_the_opposite_corner(xy_origin, top):
    wide = 2 * np.degrees(np.arctan(0.53 / 2 / 0.65))
    high = 2 * np.degrees(np.arctan(0.30 / 2 / 0.65))
    x, y = on_screen([0, wide / 2, wide], [0, high / 2, high], SCREEN, "deg", xy_origin)
    np.testing.assert_allclose(x, [0, 960, 1920], atol=1e-9)
    np.testing.assert_allclose(y, [top, 540, 1080 - top], atol=1e-9)


def test_gaze_behind_a_right_angle_does_not_come_back_from_the_other_side():
    x, y = on_screen([100.0, -95.0, np.nan], [0.0, 0.0, 0.0], SCREEN, "deg", "centre")
    assert x[0] == np.inf
    assert x[1] == -np.inf
    assert np.isnan(x[2])
    np.testing.assert_allclose(y, 540)


def test_a_placed_picture_begins_at_its_corner_and_counts_its_own_px():
    x, y = Placement(100, 50, 0.5).on_picture(np.array([100.0, 150.0]), np.array([50.0, 40.0]))
    assert x.tolist() == [0.0, 100.0]
    assert y.tolist() == [0.0, -20.0]


@pytest.mark.parametrize(
    ("screen", "units", "xy_origin", "words"),
    [
        (SCREEN, None, "top-left", "`map='units=px'`"),
        (SCREEN, "normalised", "top-left", "eye camera"),
        (SCREEN, "px", None, "`map='xy_origin=top-left'`"),
        (SCREEN, "miles", "top-left", "unknown units 'miles'"),
        (SCREEN, "px", "middle", "unknown xy_origin 'middle'"),
        (None, "px", "centre", "screen=1920x1080"),
        (None, "fraction", "top-left", "screen=1920x1080"),
        (Screen(1920, 1080), "deg", "centre", "screen_m=0.53x0.30 .* distance_m=0.65"),
    ],
)
def test_what_is_not_known_is_asked_for_and_never_guessed(screen, units, xy_origin, words):
    with pytest.raises(InputError, match=words):
        on_screen([1.0], [1.0], screen, units, xy_origin)


def test_px_from_the_top_left_need_no_screen():
    assert [v.tolist() for v in on_screen([3.0], [4.0], None, "px", "top-left")] == [[3.0], [4.0]]


@pytest.mark.parametrize("placement", [(np.nan, 0, 1), (0, np.inf, 1), (0, 0, 0), (0, 0, -2)])
def test_an_impossible_placement_is_refused(placement):
    with pytest.raises(InputError):
        Placement(*placement)


def test_a_degree_is_as_wide_as_the_screen_says_and_halves_on_a_picture_shown_double():
    middle, beside = degrees_on_screen([960, 960 + 41.1], [540, 540], SCREEN, "px", "top-left")[0]
    assert beside - middle == pytest.approx(1.0, abs=1e-3)
    assert point_spread_px(1.0, SCREEN, Placement()) == pytest.approx(41.1, abs=0.01)
    assert point_spread_px(1.0, SCREEN, Placement(scale=2)) == pytest.approx(20.55, abs=0.01)
    assert default_sigma_px(800, SCREEN) == pytest.approx(41.1, abs=0.01)


def test_without_geometry_the_point_spread_is_a_share_of_the_width():
    assert default_sigma_px(1680, Screen(1680, 1050)) == pytest.approx(40.0)
    assert default_sigma_px(420) == pytest.approx(10.0)

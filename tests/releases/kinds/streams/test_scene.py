import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelid.errors import InputError
from eyelid.gaze.study import Screen
from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.streams.study_scene import scene_of, usual_window
from eyelid.releases.kinds.streams.plan import bounds_of, build_filter

KNOWN = {"epsilon": 1.0, "window": 25, "radius": 40.0}


@pytest.mark.parametrize(
    ("units", "origin", "screen", "scene"),
    [
        ("px", "top-left", Screen(1000, 500), "0,0,1000,500"),
        ("px", "centre", Screen(1000, 500), "-500,-250,500,250"),
        ("px", "top-left", None, ""),
        ("fraction", "top-left", None, "0,0,1,1"),
        ("deg", "centre", Screen(width_m=1.0, height_m=0.5, distance_m=0.5), "-45,"),
        ("deg", "top-left", Screen(width_m=1.0, height_m=0.5, distance_m=0.5), "0,0,90,"),
        ("deg", "centre", Screen(1000, 500), ""),
        ("deg", None, Screen(width_m=1.0, height_m=0.5, distance_m=0.5), ""),
    ],
)
def test_the_scene_is_the_screen_and_never_the_gaze(make_gaze, units, origin, screen, scene):
    study = replace(make_gaze(people=1), units=units, screen=screen, xy_origin=origin)
    found = scene_of(study)
    assert found.startswith(scene) if scene.endswith(",") else found == scene
    # The same wherever people looked.
    data = study.data.with_columns(pl.col("x") * 0.001, pl.col("y") + 7777)
    assert scene_of(replace(study, data=data)) == found


def test_where_no_scene_is_known_it_is_asked_for(make_gaze):
    with pytest.raises(InputError, match=r"a scene in px must be told.*scene=0,0,1920,1080"):
        build_filter("kaleido", make_gaze(screen=None), **KNOWN)
    mechanism = build_filter("kaleido", make_gaze(screen=None), scene="0,0,800,600", **KNOWN)
    assert mechanism.place.diameter == 1000.0


def test_a_window_or_radius_that_is_missing_is_named_with_what_it_could_be(make_gaze):
    with pytest.raises(InputError, match=r"500 ms are 25 samples at 50 Hz, `window=25`"):
        build_filter("kaleido", make_gaze(), epsilon=1.0, radius=40.0)
    with pytest.raises(InputError, match=r"needs radius.*in px: `radius=60`"):
        build_filter("kaleido", make_gaze(), epsilon=1.0, window=25)


@pytest.mark.parametrize("rate_hz", [24.0, 25.0, 59.94, 60.0, 119.5, 1000.0])
def test_any_half_second_fits_into_the_usual_window(rate_hz):
    starts = np.linspace(0, 1, 97)
    samples = np.arange(0, 2, 1 / rate_hz)
    inside = ((samples >= starts[:, None]) & (samples < starts[:, None] + 0.5 - 1e-9)).sum(axis=1)
    assert usual_window(rate_hz) == inside.max()


def test_a_filter_for_other_units_is_refused(make_gaze):
    mechanism = mechanism_named("kaleido", coordinates="deg", scene="-20,-12,20,12", **KNOWN)
    with pytest.raises(InputError, match="set for gaze in deg, and the study has gaze in px"):
        build_filter(mechanism, make_gaze())
    with pytest.raises(InputError, match="set for gaze in deg"):
        build_filter("kaleido", make_gaze(), coordinates="deg", **KNOWN)
    with pytest.raises(InputError, match="does not say the units"):
        build_filter("kaleido", make_gaze(units=None), **KNOWN)


def test_directions_have_a_field_of_view_and_bounds_as_unit_vectors(make_gaze):
    study = make_gaze(people=1)
    data = study.data.select(
        pl.exclude("x", "y"), gaze_x=pl.lit(0.0), gaze_y=pl.lit(0.0), gaze_z=pl.lit(1.0)
    )
    mechanism = build_filter(
        "kaleido", replace(study, data=data), epsilon=1.0, window=25, radius=3.0
    )
    assert mechanism.coordinates == "direction"
    assert bounds_of(mechanism, scene_given=False).values["gaze_x"] == pytest.approx(
        (-math.sin(math.radians(50)), math.sin(math.radians(50)))
    )

"""Whether gaze fits its scene, told to whoever runs the gatekeeper."""

import math

import pytest

from eyelid.mechanisms.streams.scene import Scene
from eyelid.stream.fit import Fit
from eyelid.stream.samples import RawGaze

SCREEN = Scene.of("px", "0,0,1920,1080")


def told(x, y, scene=SCREEN, count=600):
    fit = Fit(scene)
    for _ in range(count):
        fit.add(RawGaze([0.0], [[float(x)], [float(y)]], 0.0))
    return fit.trouble


def test_gaze_outside_of_the_scene_is_told_in_round_numbers():
    fit = Fit(SCREEN)
    fit.add(RawGaze([0.0] * 1000, [[-3.0] * 433 + [800.0] * 567, [5.0] * 1000], 0.0))
    assert fit.trouble.startswith("about 40 % of the first samples lie outside of the scene")


def test_fractions_in_a_scene_of_pixels_are_noticed():
    assert "fractions" in told(0.7, 0.4)


@pytest.mark.parametrize(
    ("x", "y", "scene"),
    [
        (800, 400, SCREEN),
        (math.nan, 0.4, SCREEN),
        (math.nan, math.inf, SCREEN),
        (0.7, 0.4, Scene.of("fraction")),
    ],
)
def test_gaze_that_fits_or_is_lost_is_not_worth_a_word(x, y, scene):
    assert told(x, y, scene) == ""


def test_a_few_samples_are_not_either():
    assert told(-5, 5, count=100) == ""

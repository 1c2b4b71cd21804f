"""Gaze that jumps and is lost, and what slow references of the filters need."""

import math

import mpmath
import numpy as np
import pytest

from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.streams.draws import BLOCK, own_sources
from eyelid.privacy.noise import randomness

WIDTH, HEIGHT = 1024, 768


@pytest.fixture
def filtered():
    """Build a filter by its name."""

    def build(name, **parameters):
        told = {"epsilon": 4.0, "window": 6, "radius": 30.0, "scene": f"0,0,{WIDTH},{HEIGHT}"}
        return mechanism_named(name, **told | parameters)

    return build


@pytest.fixture
def gaze():
    """Fixations of a few samples, some of them lost or outside; samples × 2."""
    rng = np.random.default_rng(3)
    places = rng.uniform([-100, -100], [1124, 868], size=(40, 2))
    points = np.repeat(places, rng.integers(1, 9, size=40), axis=0)
    points += rng.normal(0, 5, size=points.shape)
    points[rng.random(len(points)) < 0.15] = np.nan
    return points


@pytest.fixture
def slowly():
    """Run a filter, and say what it had to work with, in order: gaze in steps, tests, words."""

    def run(mechanism, gaze):
        released = (
            np.stack(mechanism.start(randomness(7)).push_many(*gaze.T), axis=1) / mechanism.step
        )
        again = mechanism.start(randomness(7))
        again.tests.ensure(len(gaze))
        steps = [
            None
            if math.isnan(x)
            else (
                round(min(max(x, 0), WIDTH) / mechanism.step),
                round(min(max(y, 0), HEIGHT) / mechanism.step),
            )
            for x, y in gaze.tolist()
        ]
        _, source = own_sources(randomness(7), 2)
        blocks = [source.words(3 * BLOCK).reshape(3, BLOCK) for _ in range(len(gaze) // BLOCK + 1)]
        planes = iter(np.concatenate(blocks, axis=1).T.tolist())
        return (
            [tuple(point) for point in released.tolist()],
            steps,
            iter(again.tests.lists[0]),
            planes,
        )

    return run


@pytest.fixture
def with_noise():
    """A point under planar noise of a scale, on the grid and inside the scene, to 60 digits."""

    def publish(mechanism, point, scale, words):
        with mpmath.workdps(60):
            one, two, turn = ((mpmath.mpf(word) + 0.5) / 2**64 for word in words)
            radius = -scale * (mpmath.log(one) + mpmath.log(two))
            noise = radius * mpmath.cospi(2 * turn), radius * mpmath.sinpi(2 * turn)
            return tuple(
                int(mpmath.floor(min(max(place + part, 0), size / mechanism.step) + 0.5))
                for place, part, size in zip(point, noise, (WIDTH, HEIGHT), strict=True)
            )

    return publish

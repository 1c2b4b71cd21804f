import numpy as np
import pytest
from scipy import integrate, special, stats

from eyelid.mechanisms import mechanism_named
from eyelid.mechanisms.streams.state import WHOLE
from eyelid.releases.audits.gaze_consistency import (
    ALARM,
    ENOUGH,
    chance_of,
    most_parts,
    nearer,
    nearer_along,
    nearness,
)

KNOWN = {"epsilon": 2.0, "window": 10, "radius": 40.0, "scene": "0,0,100000,100000"}
LAW = mechanism_named("sample", **KNOWN)
# Radius over ε, in steps.
SCALE = 20 / LAW.step


def found(away, looked=None, since=10):
    """What is said of publications that are so far off, in scales."""
    gaze = np.full((len(away), 2), 50_000 / LAW.step)
    released = gaze + np.rint(np.asarray(away) * SCALE)
    return nearness(LAW, gaze, released, np.full(len(away), since), looked or len(away))


def planar(count, scale=1.0, seed=7):
    rng = np.random.default_rng(seed)
    radius, turn = rng.gamma(2, scale, count), rng.uniform(0, 2 * np.pi, count)
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1)


def test_the_chances_are_those_of_planar_laplace_noise():
    far = np.array([1e-9, 1e-4, 0.1, 1.0, 3.0, 10.0])
    np.testing.assert_allclose(nearer(far), stats.gamma(2).cdf(far), rtol=1e-7)
    along = [
        integrate.quad(lambda x: 2 / np.pi * x * special.k1(x), 0, end, epsabs=0)[0] for end in far
    ]
    np.testing.assert_allclose(nearer_along(far), along, rtol=1e-7)


@pytest.mark.parametrize("count", [1, 5, 50])
def test_honest_chances_are_called_unlikely_no_oftener_than_said(count):
    # With 20 000 draws a rate of 5% shows as 6% with a probability below 1e-9.
    draws = np.random.default_rng(7).random((20_000, count))
    said = np.array([chance_of(row, count) for row in draws])
    assert np.mean(said <= 0.05) <= 0.06


@pytest.mark.parametrize("scale", [1.0, 3.0])
@pytest.mark.parametrize("count", [1, ENOUGH, 500])
def test_honest_noise_is_never_too_near(scale, count):
    assert found(planar(count, scale)).chance > 0.01


@pytest.mark.parametrize("count", [1, 2, 5])
def test_raw_gaze_is_found_in_very_few_publications(count):
    assert found(np.full((count, 2), 1e-7 / 20)).chance <= ALARM


def test_a_few_raw_points_among_many_honest_ones_are_found():
    assert found(np.concatenate([planar(2000), np.zeros((2, 2))])).chance <= ALARM


def test_a_tenth_of_the_noise_is_found_with_as_many_as_are_enough():
    # 99.8% of a thousand seeds.
    assert found(planar(ENOUGH, 0.1)).chance <= ALARM
    assert found(planar(3, 0.1)).chance > ALARM


def test_gaze_that_is_exact_across_only_is_found():
    away = planar(ENOUGH)
    assert found(away * [0, 1]).chance <= ALARM
    assert found(away * [1, 0]).chance <= ALARM


def test_what_was_cut_off_at_the_edge_tells_nothing_against_it():
    corner = np.zeros((500, 2))
    told = nearness(LAW, corner, corner, np.full(500, 10), 500)
    assert (told.inside, told.chance) == (0, 1.0)


def test_nothing_published_is_nothing_found():
    assert found(np.empty((0, 2)), looked=5).chance == 1.0


def test_budgets_say_the_least_noise():
    since = np.array([1, 4, 99])
    assert most_parts(LAW, since).tolist() == [WHOLE] * 3
    for name in ("kaleido", "bd"):
        assert most_parts(mechanism_named(name, **KNOWN), since).tolist() == [WHOLE // 4] * 3
    slot = WHOLE // 2 // 10
    assert most_parts(mechanism_named("ba", **KNOWN), since).tolist() == [slot, 4 * slot, 10 * slot]

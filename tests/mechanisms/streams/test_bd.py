import math

import pytest

WHOLE = 2**32


def test_publications_take_half_of_what_is_left_of_half_of_epsilon(
    filtered, gaze, slowly, with_noise
):
    mechanism = filtered("bd")
    released, steps, tests, planes = slowly(mechanism, gaze)
    # Tested against the public middle from the first sample on.
    last, wanted, spent = (512 / mechanism.step, 384 / mechanism.step), [], []
    for i, point in enumerate(steps):
        parts = math.floor((WHOLE // 2 - sum(spent[max(0, i - 5) : i])) / 2)
        spent.append(0)
        if point is not None:
            scale = mechanism.reach_steps * WHOLE / 4.0 / parts
            distance = math.floor(math.dist(point, last))
            if distance > math.floor(2 * scale) + next(tests):
                last = with_noise(mechanism, point, scale, next(planes))
                spent[-1] = parts
        wanted.append(last)
    assert released == wanted
    assert len({parts for parts in spent if parts}) > 2


def test_the_noise_of_a_test_is_2w_radii_over_epsilon(filtered):
    mechanism = filtered("bd")
    assert mechanism.test_scale_steps * mechanism.step == pytest.approx(
        2 * 6 * 30.0 / 4.0, rel=1e-6
    )
    # Rounded up, never down.
    assert mechanism.test_scale_steps * mechanism.step > 2 * 6 * 30.0 / 4.0
    assert mechanism.farthest_test == pytest.approx(2 * 30.0 / (4.0 / 4), rel=1e-6)

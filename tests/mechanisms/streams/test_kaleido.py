import math

import numpy as np
import pytest

from eyelid.errors import InputError
from eyelid.privacy.noise import randomness

WHOLE = 2**32


def test_it_does_what_the_theory_says(filtered, gaze, slowly, with_noise):
    mechanism = filtered("kaleido", skip=2, threshold=45.0)
    released, steps, tests, planes = slowly(mechanism, gaze)
    last, wanted, spent, seen = (512 / mechanism.step, 384 / mechanism.step), [], [], False
    for i, point in enumerate(steps):
        parts = math.floor((WHOLE // 2 - sum(spent[max(0, i - 5) : i])) / 2)
        spent.append(0)
        # Tests are at every second sample, whatever comes of them, lost or not.
        if i % 2 == 0 and point is not None:
            distance = math.floor(math.dist(point, last))
            if not seen or distance > math.floor(45.0 / mechanism.step) + next(tests):
                scale = mechanism.reach_steps * WHOLE / 4.0 / parts
                last, seen = with_noise(mechanism, point, scale, next(planes)), True
                spent[-1] = parts
        wanted.append(last)
    assert released == wanted
    assert len({parts for parts in spent if parts}) > 1


def test_golden_scales(filtered):
    # ε = 4, w = 6, skip = 2: three tests of 4/(2·3) each, noise 30/(2/3) = 45; first ε_i = 1.
    mechanism = filtered("kaleido", skip=2)
    assert mechanism.test_scale_steps * mechanism.step == pytest.approx(45.0, rel=1e-6)
    assert mechanism.scale_parts / (mechanism.publish_parts // 2) * mechanism.step == pytest.approx(
        30.0, rel=1e-6
    )


def test_the_first_sample_is_published_and_counts_as_a_test(filtered):
    mechanism = filtered("kaleido", skip=2)
    run = mechanism.start(randomness(7))
    run.push(5.0, 5.0)
    assert run.window_parts == mechanism.test_parts + mechanism.publish_parts // 2


def test_nothing_is_known_before_the_first_sample_that_is_not_lost(filtered):
    mechanism = filtered("kaleido", skip=3)
    run = mechanism.start(randomness(7))
    x = np.array([np.nan, 1.0, 2.0, np.nan, 3.0, 4.0, 5.0])
    out = np.stack(run.push_many(x, x), axis=1)
    assert np.allclose(out[:6], [512, 384])
    assert not np.allclose(out[6], [512, 384])


@pytest.mark.parametrize(("epsilon", "skip"), [(0.5, 60), (1, 60), (4, 30), (16, 15), (64, 8)])
def test_the_more_epsilon_the_more_tests(filtered, epsilon, skip):
    mechanism = filtered("kaleido", epsilon=float(epsilon), window=60)
    assert mechanism.parameters()["skip"] == skip
    assert mechanism.parameters()["threshold"] == min(30.0 * max(1, 4 / epsilon), 1280)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"skip": 0}, "skip must be a whole number between 1 and w = 6, got 0"),
        ({"skip": 7}, "skip must be a whole number between 1 and w = 6, got 7"),
        ({"threshold": -1.0}, "threshold must be between 0 and the scene's diameter, 1280"),
        ({"threshold": math.inf}, "threshold must be between"),
        ({"threshold": math.nan}, "threshold must be between"),
    ],
)
def test_settings_that_make_no_sense_are_refused(filtered, parameters, text):
    with pytest.raises(InputError, match=text):
        filtered("kaleido", **parameters)

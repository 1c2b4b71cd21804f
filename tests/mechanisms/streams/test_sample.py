import numpy as np
import pytest

from eyelid.privacy.noise import randomness


def test_every_wth_sample_is_published_under_noise_of_a_radius_over_epsilon(
    filtered, gaze, slowly, with_noise
):
    mechanism = filtered("sample")
    released, steps, _, planes = slowly(mechanism, gaze)
    last, wanted = (512 / mechanism.step, 384 / mechanism.step), []
    scale = mechanism.reach_steps / 4.0
    assert scale == pytest.approx(30.0 / 4.0 / mechanism.step, rel=1e-6)
    for i, point in enumerate(steps):
        if i % 6 == 0 and point is not None:
            last = with_noise(mechanism, point, scale, next(planes))
        wanted.append(last)
    assert released == wanted


def test_a_lost_sample_loses_its_slot_and_no_other_has_it(filtered):
    run = filtered("sample", window=3).start(randomness(7))
    x = np.full(7, 100.0)
    x[3] = np.nan
    out, _ = run.push_many(x, x)
    assert len(set(out[:6])) == 1
    assert out[6] != out[5]
    assert run.spent_parts == 2 * 2**32

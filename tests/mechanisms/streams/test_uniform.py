import pytest


def test_every_sample_is_published_under_noise_of_w_radii_over_epsilon(
    filtered, gaze, slowly, with_noise
):
    mechanism = filtered("uniform")
    released, steps, _, planes = slowly(mechanism, gaze)
    last, wanted = (512 / mechanism.step, 384 / mechanism.step), []
    # The theory's scale in steps, but for the rounding that the filter counts.
    scale = mechanism.reach_steps * 2**32 / (4.0 * (2**32 // 6))
    assert scale == pytest.approx(6 * 30.0 / 4.0 / mechanism.step, rel=1e-6)
    for point in steps:
        if point is not None:
            last = with_noise(mechanism, point, scale, next(planes))
        wanted.append(last)
    assert released == wanted


def test_a_window_spends_all_of_epsilon(filtered):
    mechanism = filtered("uniform", window=4)
    assert mechanism.publish_parts * 4 == 2**32
    assert mechanism.test_parts == 0
    assert "tests" not in mechanism.sampler(None)

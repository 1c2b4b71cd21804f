import pytest


def test_every_sample_is_published_under_noise_of_w_radii_over_epsilon(
    filtered, gaze, slowly, with_noise
):
    law = filtered("uniform")
    released, steps, _, planes = slowly(law, gaze)
    last, wanted = (512 / law.step, 384 / law.step), []
    # The theory's scale in steps, but for the rounding that the filter counts.
    scale = law.reach_steps * 2**32 / (4.0 * (2**32 // 6))
    assert scale == pytest.approx(6 * 30.0 / 4.0 / law.step, rel=1e-6)
    for point in steps:
        if point is not None:
            last = with_noise(law, point, scale, next(planes))
        wanted.append(last)
    assert released == wanted


def test_a_window_spends_all_of_epsilon(filtered):
    law = filtered("uniform", window=4)
    assert law.publish_parts * 4 == 2**32
    assert law.test_parts == 0
    assert "tests" not in law.sampler(None)

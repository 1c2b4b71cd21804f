import itertools
import math

import numpy as np
import pytest

from eyelid.mechanisms.streams.draws import Ahead
from eyelid.privacy.noise import SystemRandomness
from eyelid.verification.streams import seen_to_spend

WHOLE = 2**32


def test_publications_take_what_was_not_used_and_silence_as_many(
    filtered, gaze, slowly, with_noise
):
    mechanism = filtered("ba")
    released, steps, tests, planes = slowly(mechanism, gaze)
    slot = WHOLE // 2 // 6
    last, wanted = (512 / mechanism.step, 384 / mechanism.step), []
    # As if one slot had been used just before the first sample.
    latest, taken = -1, 1
    for i, point in enumerate(steps):
        silent = i <= latest + taken - 1
        if point is not None and not silent:
            slots = min(i - (latest + taken - 1), 6)
            scale = mechanism.reach_steps * WHOLE / 4.0 / (slots * slot)
            distance = math.floor(math.dist(point, last))
            if distance > math.floor(2 * scale) + next(tests):
                last = with_noise(mechanism, point, scale, next(planes))
                latest, taken = i, slots
        wanted.append(last)
    assert released == wanted
    assert len(set(wanted)) > 10


class Told(Ahead):
    """Tests that come out as is told, one after the other."""

    def __init__(self, outcomes):
        super().__init__(SystemRandomness())
        self.outcomes = outcomes

    def block(self, source):
        noise = np.where(self.outcomes, -(2.0**60), 2.0**60)
        return (np.concatenate([noise, np.full(512 - len(noise), 2.0**60)]),)


@pytest.mark.parametrize("window", [1, 2, 3, 4])
def test_no_pattern_of_publications_spends_more_than_half_of_epsilon_in_a_window(filtered, window):
    # All that tests can come to in 2w + 3 samples; tests themselves are left out.
    side = 2**22 * 30
    mechanism = filtered("ba", window=window, scene=f"0,0,{side},{side}")
    run = mechanism.start(SystemRandomness())
    gaze = np.tile([1.0, 1.0], (2 * window + 3, 1))
    worst = 0.0
    for outcomes in itertools.product([False, True], repeat=len(gaze)):
        spent = seen_to_spend(run, gaze, Told(list(outcomes)), mechanism.reach_steps, 0.0)
        worst = max(worst, np.convolve(spent, np.ones(window)).max())
        assert run.worst_parts <= WHOLE
    assert worst == pytest.approx(4.0 / 2, rel=1e-5)

"""The scheduler that publishes with half of what is left: at work in `kaleido` and `bd`."""

from __future__ import annotations

import math
from typing import Any

from eyelid.mechanisms.streams.state import (
    CLOCK,
    HEIGHT,
    INDEX,
    LAST_X,
    LAST_Y,
    MEMORY,
    PLANES_USED,
    PUBLISH_PARTS,
    PUBLISHED,
    PUBLISHED_SUM,
    SCALE_PARTS,
    SETTINGS,
    SPENT,
    TEST_PARTS,
    TESTS_USED,
    WIDTH,
    WINDOW,
    WINDOW_SUM,
    WORST,
)


def halving(
    gx: Any,
    gy: Any,
    out_x: Any,
    out_y: Any,
    state: Any,
    of_publications: Any,
    of_all: Any,
    tests: Any,
    planes_x: Any,
    planes_y: Any,
    facts: Any,
) -> None:
    """Repeat what was last released unless gaze has moved, by a noisy test every few samples.

    Settings: samples from test to test; the distance to be exceeded, or a negative number for
    the error that a publication would have.
    """
    window, memory = int(facts[WINDOW]), int(facts[MEMORY])
    skip, threshold = facts[SETTINGS], facts[SETTINGS + 1]
    for i in range(len(gx)):
        index = int(state[INDEX])
        shared, slot = index % memory, index % window
        # What was spent a whole window ago no longer counts.
        state[PUBLISHED_SUM] -= of_publications[shared]
        state[WINDOW_SUM] -= of_all[slot]
        spent = 0.0
        published = 0.0
        if index == 0 or state[CLOCK] >= skip:
            # The clock starts anew at every test, whatever comes of it, lost samples too.
            state[CLOCK] = 0.0
            x, y = gx[i], gy[i]
            if x == x:
                spent = facts[TEST_PARTS]
                parts = float(math.floor((facts[PUBLISH_PARTS] - state[PUBLISHED_SUM]) / 2))
                if parts >= 1.0:
                    scale = facts[SCALE_PARTS] / parts
                    if state[PUBLISHED] == 0.0:
                        moved = True
                    else:
                        across, up = x - state[LAST_X], y - state[LAST_Y]
                        beyond = threshold if threshold >= 0.0 else math.floor(2.0 * scale)
                        test = int(state[TESTS_USED])
                        state[TESTS_USED] += 1.0
                        distance = math.floor(math.sqrt(across * across + up * up))
                        moved = distance > beyond + tests[test]
                    if moved:
                        plane = int(state[PLANES_USED])
                        state[PLANES_USED] += 1.0
                        x = math.floor(x + scale * planes_x[plane] + 0.5)
                        y = math.floor(y + scale * planes_y[plane] + 0.5)
                        state[LAST_X] = min(max(x, 0.0), facts[WIDTH])
                        state[LAST_Y] = min(max(y, 0.0), facts[HEIGHT])
                        state[PUBLISHED] = 1.0
                        published = parts
        state[CLOCK] += 1.0
        of_publications[shared] = published
        spent += published
        of_all[slot] = spent
        state[PUBLISHED_SUM] += published
        state[WINDOW_SUM] += spent
        state[SPENT] += spent
        if state[WINDOW_SUM] > state[WORST]:
            state[WORST] = state[WINDOW_SUM]
        out_x[i] = state[LAST_X]
        out_y[i] = state[LAST_Y]
        state[INDEX] = index + 1.0

"""The detector inside of `fixations`: noisy tests of how far the last samples are spread."""

from __future__ import annotations

import math
from typing import Any

from eyelid.mechanisms.streams.state import (
    HEIGHT,
    INDEX,
    LAST_X,
    LAST_Y,
    MEMORY,
    PLANES_USED,
    PUBLISH_PARTS,
    PUBLISHED,
    PUBLISHED_SUM,
    ROUNDING,
    SCALE_PARTS,
    SLOT,
    SPENT,
    SPENT_WHOLE,
    STATE_SIZE,
    TEST_PARTS,
    TESTS_USED,
    THRESHOLD,
    WHOLE,
    WIDTH,
    WINDOW_SUM,
    WORST,
)

# Behind the common facts: how many samples a test looks back at, and how many it must see.
SPAN = HEIGHT + 1
FEWEST = HEIGHT + 2
LOST = -1.0
"""In the place of a sample that was lost or has not come."""


def detecting(
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
    doubts: Any,
    facts: Any,
    asked: Any,
    start: int,
) -> int:
    """Where the present fixation is, under noise; NaN while there is none.

    The samples that a test looks back at stand behind the common state. What is asked and returned
    is as in `schedule`: where a draw must be settled, nothing else has changed.
    """
    memory, touched = int(facts[MEMORY]), len(of_all)
    skip, span = int(facts[SLOT]), int(facts[SPAN])
    for i in range(start, len(gx)):
        index = int(state[INDEX])
        shared, slot = index % memory, index % touched
        # What can no longer share changed samples with this one does not count any more.
        published_sum = state[PUBLISHED_SUM] - of_publications[shared]
        window_sum = state[WINDOW_SUM] - of_all[slot]
        at = STATE_SIZE + index % span
        if gx[i] == gx[i]:
            state[at], state[at + span] = gx[i], gy[i]
        else:
            state[at] = LOST
        spent = 0.0
        published = 0.0
        test = state[TESTS_USED]
        if index % skip == 0:
            seen, x, y = 0.0, 0.0, 0.0
            for j in range(STATE_SIZE, STATE_SIZE + span):
                if state[j] >= 0.0:
                    seen += 1.0
                    x += state[j]
                    y += state[j + span]
            if seen >= facts[FEWEST]:
                x /= seen
                y /= seen
                squares = 0.0
                for j in range(STATE_SIZE, STATE_SIZE + span):
                    if state[j] >= 0.0:
                        across, up = state[j] - x, state[j + span] - y
                        squares += across * across + up * up
                spent = facts[TEST_PARTS]
                spread = math.floor(math.sqrt(squares / seen))
                still = spread <= facts[THRESHOLD] + tests[int(test)]
                test += 1.0
                parts = float(math.floor((facts[PUBLISH_PARTS] - published_sum) / 2))
                if not still:
                    state[PUBLISHED] = 0.0
                elif state[PUBLISHED] == 0.0 and parts >= 1.0:
                    scale = facts[SCALE_PARTS] / parts
                    plane = int(state[PLANES_USED])
                    doubt = doubts[plane]
                    if doubt < 0.0:
                        to_x, to_y = planes_x[plane], planes_y[plane]
                    else:
                        at_x = min(max(x + scale * planes_x[plane], 0.0), facts[WIDTH])
                        at_y = min(max(y + scale * planes_y[plane], 0.0), facts[HEIGHT])
                        to_x = float(math.floor(at_x + 0.5))
                        to_y = float(math.floor(at_y + 0.5))
                        if doubt > 0.0:
                            doubt = scale * doubt + ROUNDING * (facts[WIDTH] + facts[HEIGHT])
                            sure = 0.5 - doubt
                            if not (abs(at_x - to_x) < sure and abs(at_y - to_y) < sure):
                                asked[0], asked[1], asked[2], asked[3] = plane, x, y, scale
                                return i
                    state[PLANES_USED] += 1.0
                    state[LAST_X] = to_x
                    state[LAST_Y] = to_y
                    state[PUBLISHED] = 1.0
                    published = parts
            elif seen == 0.0:
                # Which samples are lost is released anyway, so that this tells nothing new.
                state[PUBLISHED] = 0.0
        state[TESTS_USED] = test
        of_publications[shared] = published
        spent += published
        of_all[slot] = spent
        state[PUBLISHED_SUM] = published_sum + published
        state[WINDOW_SUM] = window_sum + spent
        if state[WINDOW_SUM] > state[WORST]:
            state[WORST] = state[WINDOW_SUM]
        state[SPENT] += spent
        if state[SPENT] >= WHOLE:
            state[SPENT] -= WHOLE
            state[SPENT_WHOLE] += 1.0
        out_x[i] = state[LAST_X] if state[PUBLISHED] == 1.0 else math.nan
        out_y[i] = state[LAST_Y] if state[PUBLISHED] == 1.0 else math.nan
        state[INDEX] = index + 1.0
    return len(gx)

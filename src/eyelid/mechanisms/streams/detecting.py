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
    facts: Any,
) -> None:
    """Where the present fixation is, under noise; NaN while there is none.

    The samples that a test looks back at stand behind the common state.
    """
    memory, touched = int(facts[MEMORY]), len(of_all)
    skip, span = int(facts[SLOT]), int(facts[SPAN])
    for i in range(len(gx)):
        index = int(state[INDEX])
        shared, slot = index % memory, index % touched
        # What can no longer share changed samples with this one does not count any more.
        state[PUBLISHED_SUM] -= of_publications[shared]
        state[WINDOW_SUM] -= of_all[slot]
        at = STATE_SIZE + index % span
        if gx[i] == gx[i]:
            state[at], state[at + span] = gx[i], gy[i]
        else:
            state[at] = LOST
        spent = 0.0
        published = 0.0
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
                test = int(state[TESTS_USED])
                state[TESTS_USED] += 1.0
                spent = facts[TEST_PARTS]
                still = math.floor(math.sqrt(squares / seen)) <= facts[THRESHOLD] + tests[test]
                parts = float(math.floor((facts[PUBLISH_PARTS] - state[PUBLISHED_SUM]) / 2))
                if not still:
                    state[PUBLISHED] = 0.0
                elif state[PUBLISHED] == 0.0 and parts >= 1.0:
                    scale = facts[SCALE_PARTS] / parts
                    plane = int(state[PLANES_USED])
                    state[PLANES_USED] += 1.0
                    x = min(max(x + scale * planes_x[plane], 0.0), facts[WIDTH])
                    y = min(max(y + scale * planes_y[plane], 0.0), facts[HEIGHT])
                    state[LAST_X] = float(math.floor(x + 0.5))
                    state[LAST_Y] = float(math.floor(y + 0.5))
                    state[PUBLISHED] = 1.0
                    published = parts
            elif seen == 0.0:
                # Which samples are lost is released anyway, so that this tells nothing new.
                state[PUBLISHED] = 0.0
        of_publications[shared] = published
        spent += published
        of_all[slot] = spent
        state[PUBLISHED_SUM] += published
        state[WINDOW_SUM] += spent
        if state[WINDOW_SUM] > state[WORST]:
            state[WORST] = state[WINDOW_SUM]
        state[SPENT] += spent
        if state[SPENT] >= WHOLE:
            state[SPENT] -= WHOLE
            state[SPENT_WHOLE] += 1.0
        out_x[i] = state[LAST_X] if state[PUBLISHED] == 1.0 else math.nan
        out_y[i] = state[LAST_Y] if state[PUBLISHED] == 1.0 else math.nan
        state[INDEX] = index + 1.0

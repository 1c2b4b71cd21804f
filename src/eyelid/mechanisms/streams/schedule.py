"""What filters do with a sample: repeat what they last released, or spend budget on a new point.

One function serves single samples, arrays, and compiled code. Filters differ in which samples are
slots, whether these are tested, and how much a publication may spend: the three rules of `state`.
"""

from __future__ import annotations

import math
from typing import Any

from eyelid.mechanisms.streams.state import (
    ABSORBING,
    CLOCK,
    HALVING,
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
    RULE,
    SCALE_PARTS,
    SLOT,
    SPENT,
    SPENT_WHOLE,
    TEST_PARTS,
    TESTS_USED,
    THRESHOLD,
    USED_UP_TO,
    WHOLE,
    WIDTH,
    WINDOW,
    WINDOW_SUM,
    WORST,
)

# Farther than any distance, and still a whole number in floating point.
_FARTHEST = 2.0**53


def schedule(
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
    """Fill ``out_x`` and ``out_y`` with what is released for each sample, all in steps.

    Whatever decides about a sample but its own place is public or was released before.

    Returns how many samples are done. Where they are not all, floating point leaves a doubt about
    what the next one's noise publishes: draw, place and scale are in ``asked``, nothing else has
    changed, and with that draw settled it goes on from there.
    """
    window, memory = int(facts[WINDOW]), int(facts[MEMORY])
    rule, threshold = facts[RULE], facts[THRESHOLD]
    for i in range(start, len(gx)):
        index = int(state[INDEX])
        shared, slot = index % memory, index % window
        # What was spent a whole window ago no longer counts.
        published_sum = state[PUBLISHED_SUM] - of_publications[shared]
        window_sum = state[WINDOW_SUM] - of_all[slot]
        spent = 0.0
        published = 0.0
        clock, test = state[CLOCK], state[TESTS_USED]
        if clock >= facts[SLOT]:
            # The clock starts anew at every slot, whatever comes of it, lost samples too.
            clock = 0.0
            x, y = gx[i], gy[i]
            if x == x:
                parts = facts[PUBLISH_PARTS]
                if rule == HALVING:
                    parts = float(math.floor((parts - published_sum) / 2))
                elif rule == ABSORBING:
                    parts *= min(max(index - state[USED_UP_TO], 0.0), facts[WINDOW])
                if parts >= 1.0:
                    scale = facts[SCALE_PARTS] / parts
                    spent = facts[TEST_PARTS]
                    moved = True
                    if spent > 0.0 and state[PUBLISHED] > 0.0:
                        beyond = threshold
                        if beyond < 0.0:
                            beyond = float(math.floor(min(2.0 * scale, _FARTHEST)))
                        across, up = x - state[LAST_X], y - state[LAST_Y]
                        distance = math.floor(math.sqrt(across * across + up * up))
                        moved = distance > beyond + tests[int(test)]
                        test += 1.0
                    if moved:
                        plane = int(state[PLANES_USED])
                        doubt = doubts[plane]
                        if doubt < 0.0:
                            to_x, to_y = planes_x[plane], planes_y[plane]
                        else:
                            # Cut off first: far outside there are more steps than whole numbers.
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
                        if rule == ABSORBING:
                            # As many samples as it took are silent from here on, itself counted.
                            state[USED_UP_TO] = index + parts / facts[PUBLISH_PARTS] - 1.0
        state[CLOCK] = clock + 1.0
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
            # Carried over, so that floats hold it exactly however long the stream is.
            state[SPENT] -= WHOLE
            state[SPENT_WHOLE] += 1.0
        out_x[i] = state[LAST_X]
        out_y[i] = state[LAST_Y]
        state[INDEX] = index + 1.0
    return len(gx)

"""Where the kernel keeps what: positions in its lists of numbers, since compiled code has no names.

Budgets are whole numbers of parts of ε, places whole numbers of grid steps, all held as floats.
"""

WHOLE = 2**32
"""Parts of ε in which budgets are counted."""

INDEX = 0
"""How many samples came before."""
CLOCK = 1
"""Samples since the last slot."""
LAST_X = 2
LAST_Y = 3
PUBLISHED = 4
"""Whether there is a point to test against."""
USED_UP_TO = 5
"""The place of absorption's last sample whose budget is spoken for."""
PUBLISHED_SUM = 6
"""What publications have spent in the samples that share their budget."""
WINDOW_SUM = 7
"""What everything has spent in the last w samples."""
WORST = 8
"""The largest such sum so far."""
SPENT_WHOLE = 9
"""What everything has spent since the start, in whole ε."""
SPENT = 10
"""And in parts of the next."""
TESTS_USED = 11
PLANES_USED = 12
STATE_SIZE = 13

ROUNDING = 2.0**-52
"""How far a place plus noise is off, as a share of width and height; the rest is in doubts."""

WINDOW = 0
MEMORY = 1
RULE = 2
SLOT = 3
"""Samples from slot to slot."""
THRESHOLD = 4
"""The distance to be exceeded; negative: the error that a publication would have."""
PUBLISH_PARTS = 5
TEST_PARTS = 6
SCALE_PARTS = 7
"""Scale of planar noise in steps, times the parts of ε that pay for it."""
WIDTH = 8
HEIGHT = 9

FIXED = 0.0
"""Every slot publishes, and spends the same."""
HALVING = 1.0
"""A publication spends half of what those of the last samples have left."""
ABSORBING = 2.0
"""A publication spends what samples before it did not, and silences as many after it."""

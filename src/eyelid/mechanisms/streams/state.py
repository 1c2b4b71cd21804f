"""Where kernels keep what: positions in their lists of numbers, since compiled code has no names.

Budgets are whole numbers of parts of ε, places whole numbers of grid steps, all held as floats.
"""

INDEX = 0
"""How many samples came before."""
CLOCK = 1
"""Samples since the last test; of `ba`, samples that are still nullified."""
LAST_X = 2
LAST_Y = 3
PUBLISHED = 4
"""Whether anything was published; of `ba`, the slot up to which budget was used."""
PUBLISHED_SUM = 5
"""What publications have spent in the samples that share their budget."""
WINDOW_SUM = 6
"""What everything has spent in the last w samples."""
WORST = 7
"""The largest such sum so far."""
SPENT = 8
"""What everything has spent since the start."""
TESTS_USED = 9
PLANES_USED = 10
STATE_SIZE = 11

WINDOW = 0
MEMORY = 1
PUBLISH_PARTS = 2
TEST_PARTS = 3
REACH = 4
SCALE_PARTS = 5
"""Scale of planar noise in steps, times the parts of ε that pay for it."""
WIDTH = 6
HEIGHT = 7
SETTINGS = 8
"""Where a filter's own settings begin."""

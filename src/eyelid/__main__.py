"""``python -m eyelid``."""

import os
import sys

import eyelid

# Python puts the current folder first, where a polars.py may lie of other origin. What
# eyelid itself was found in stays.
if (
    not sys.flags.safe_path
    and sys.path[:1] == [os.getcwd()]
    and os.path.dirname(eyelid.__path__[0]) != sys.path[0]
):
    del sys.path[0]

from eyelid.cli import main

main()

"""``python -m eyelid``."""

from eyelid.cli import main

main()

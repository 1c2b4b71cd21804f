"""Papers done again: their tables and figures beside ours, as they measure and honestly."""
